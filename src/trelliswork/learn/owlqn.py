"""Orthant-wise limited-memory quasi-Newton (OWL-QN; Andrew and Gao 2007): l1 with exact zeros.

    minimise F(x) = f(x) + Σ_k λ_k |x_k|,      x_k ≥ 0 for some k

Inside an orthant the l1 term is linear. So each iteration chooses one, that of ``x`` and, where
``x_k = 0``, of the way down; takes the quasi-Newton direction of ``f`` from the pseudo-gradient,
the steepest of the one-sided derivatives; leaves out what leads uphill; and searches along the
projection onto the orthant, where what would cross 0 stops there.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import numpy as np

from trelliswork.learn.history import History
from trelliswork.learn.optimize import Iteration, OptimizeResult, Stopping, norm_of, refuse_start

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from trelliswork.learn.optimize import LowerBound, ValueAndGrad
    from trelliswork.learn.regularizer import Regularizer

    FloatArray = NDArray[np.float64]

__all__ = ["minimize_owlqn", "pseudo_gradient"]

logger = logging.getLogger(__name__)

_SUFFICIENT_DECREASE = 1e-4
_MAX_LINE_SEARCH = 25


def minimize_owlqn(
    function: ValueAndGrad,
    start: FloatArray,
    regularizer: Regularizer,
    *,
    max_iter: int = 200,
    tol: float = 1e-5,
    memory: int = 10,
    lower_bound: LowerBound | None = None,
    gap_tol: float = 0.0,
    callback: Callable[[Iteration], bool] | None = None,
) -> OptimizeResult:
    """Minimise a smooth function plus l1.

    Parameters
    ----------
    function
        ``f(x, gradient) -> value``, which overwrites ``gradient``.
    start
        Where to begin, shape ``(n,)``; not changed.
    regularizer
        The l1 term and the bounds; it may have no groups.
    max_iter
        Most iterations.
    tol
        Stop when the value has fallen by less than ``tol × value`` over ten iterations.
    memory
        Number of pairs kept.
    lower_bound
        From ``x``, the value and gradient of ``f`` there, to what the minimum is never below.
    gap_tol
        Stop when the value is proven to be within ``gap_tol × value`` of the minimum.
    callback
        Called after every iteration; returning true stops.

    Returns
    -------
    OptimizeResult
        The best point seen. The norm is that of the pseudo-gradient.
    """
    if not regularizer.is_separable:
        raise ValueError("OWL-QN: expected l1 alone, got norms of groups. Use 'sparsa' or 'fista'.")
    x = regularizer.prox(start, 0.0)
    gradient = np.empty(x.size)
    smooth = function(x, gradient)
    value = smooth + regularizer.value(x)
    n_evaluations = 1
    slopes = pseudo_gradient(x, gradient, regularizer)
    refuse_start(value, norm_of(slopes))
    history = History(x.size, memory)
    stopping = Stopping(tol, gap_tol, lower_bound, max_iter)
    reason = stopping.at_once(x, smooth, gradient, norm_of(slopes))
    number = 0
    try:
        while reason is None:
            direction = history.direction(slopes)
            direction[direction * slopes >= 0.0] = 0.0
            orthant = np.where(x != 0.0, np.sign(x), -np.sign(slopes))
            step = 1.0
            for _ in range(_MAX_LINE_SEARCH):
                new_x = x + step * direction
                new_x[new_x * orthant <= 0.0] = 0.0
                new_gradient = np.empty(x.size)
                new_smooth = function(new_x, new_gradient)
                n_evaluations += 1
                new_value = new_smooth + regularizer.value(new_x)
                moved = new_x - x
                if new_value <= value + _SUFFICIENT_DECREASE * float(slopes @ moved):
                    break
                step *= 0.5
            else:
                if not history.slots:
                    reason = "precision"
                    break
                history = History(x.size, memory)
                continue
            history.add(moved, new_gradient - gradient)
            x, smooth, value, gradient = new_x, new_smooth, new_value, new_gradient
            slopes = pseudo_gradient(x, gradient, regularizer)
            norm = norm_of(slopes)
            number += 1
            logger.debug("iteration %d: value %.6g, gradient %.3g", number, value, norm)
            iteration = Iteration(number, value, norm, n_evaluations, x)
            if callback is not None and callback(iteration):
                reason = "stopped"
                break
            reason = stopping.after(x, smooth, gradient, value, norm)
    except KeyboardInterrupt:
        reason = "interrupted"
    assert reason is not None
    norm = norm_of(slopes)
    return OptimizeResult(x, value, norm, number, n_evaluations, reason, stopping.gap(value))


def pseudo_gradient(x: FloatArray, gradient: FloatArray, regularizer: Regularizer) -> FloatArray:
    """Return the steepest one-sided derivatives of ``f + λ |x|``, shape ``(n,)``; 0 at an optimum.

    Parameters
    ----------
    x, gradient
        The point, and the gradient of ``f`` there.
    regularizer
        The l1 term and the bounds.
    """
    # At 0 the derivatives to the right and to the left are g + λ and g − λ.
    at_zero = gradient - np.clip(gradient, -regularizer.l1, regularizer.l1)
    found = np.where(x == 0.0, at_zero, gradient + np.sign(x) * regularizer.l1)
    bounded = regularizer.nonnegative
    held = bounded[(x[bounded] == 0.0) & (found[bounded] > 0.0)]
    found[held] = 0.0
    return found
