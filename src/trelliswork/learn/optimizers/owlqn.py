"""Orthant-wise limited-memory quasi-Newton (OWL-QN; Andrew and Gao 2007): l1 with exact zeros.

    minimise F(x) = f(x) + Σ_k λ_k |x_k|,      x_k ≥ 0 for some k

Within an orthant the l1 term is linear. Each iteration chooses the orthant of ``x`` and, where
``x_k = 0``, of the descent direction; computes the quasi-Newton direction of ``f`` from the
pseudo-gradient, the steepest of the one-sided derivatives; drops components that are not descent
directions; and searches along the projection onto the orthant, so that weights stop at 0.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import numpy as np

from trelliswork.learn.optimizers.common import (
    PERIOD,
    Iteration,
    OptimizeResult,
    Stopping,
    norm_of,
    refuse_start,
)
from trelliswork.learn.optimizers.history import History

if TYPE_CHECKING:
    from collections.abc import Callable

    from trelliswork._typing import FloatArray
    from trelliswork.learn.optimizers.common import LowerBound, ValueAndGrad
    from trelliswork.learn.sparsity.regularizer import Regularizer


__all__ = ["minimize_owlqn", "pseudo_gradient"]

logger = logging.getLogger(__name__)

_SUFFICIENT_DECREASE = 1e-4
_MAX_LINE_SEARCH = 25
# For the first step, whose length is a guess; shorter steps are lost in rounding.
_MAX_FIRST_SEARCH = 45
_REFRESH = 20  # iterations between two choices of the free weights
_NEAR = 0.8  # weights whose gradient is at least this share of λ are free


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
        Initial parameters, shape ``(n,)``; not modified.
    regularizer
        The l1 term and the bounds; it may have no groups.
    max_iter
        Maximum number of iterations.
    tol
        Stop when the value has decreased by less than ``tol × value`` over ten iterations.
    memory
        Number of stored pairs.
    lower_bound
        A lower bound on the minimum, from ``x`` and the value and gradient of ``f`` there.
    gap_tol
        Stop when the value is proven to be within ``gap_tol × value`` of the minimum.
    callback
        Called after every iteration; stops if it returns true.

    Returns
    -------
    OptimizeResult
        The best point found. The norm is that of the pseudo-gradient.
    """
    if not regularizer.is_separable:
        raise ValueError("OWL-QN: expected l1 alone, got norms of groups. Use 'sparsa' or 'fista'.")
    x = regularizer.prox(start, 0.0)
    gradient = np.empty(x.size)
    smooth = function(x, gradient)
    value = smooth + regularizer.value(x)
    n_evaluations = 1
    norm = norm_of(pseudo_gradient(x, gradient, regularizer))
    refuse_start(value, norm)
    stopping = Stopping(tol, gap_tol, lower_bound, max_iter)
    reason = stopping.before_first(x, smooth, gradient, norm)
    number, step = 0, 1.0
    free = _Free(x, gradient, regularizer)
    history = History(free.places.size, memory)
    try:
        while reason is None:
            slopes = free.slopes(x, gradient)
            direction = history.direction(slopes)
            direction[direction * slopes >= 0.0] = 0.0
            own = x[free.places]
            orthant = np.where(own != 0.0, np.sign(own), -np.sign(slopes))
            # Near the optimum full steps are often too long, so they are tried only sometimes.
            step = 1.0 if number % PERIOD == 0 else max(0.5, step)
            for _ in range(_MAX_LINE_SEARCH if history.slots else _MAX_FIRST_SEARCH):
                new_own = own + step * direction
                new_own[new_own * orthant <= 0.0] = 0.0
                new_x = np.zeros(x.size)
                new_x[free.places] = new_own
                new_gradient = np.empty(x.size)
                new_smooth = function(new_x, new_gradient)
                n_evaluations += 1
                new_value = new_smooth + free.regularizer.value(new_own)
                moved = new_own - own
                if new_value <= value + _SUFFICIENT_DECREASE * float(slopes @ moved):
                    break
                step *= 0.5
            else:
                if not history.slots:
                    if not free.lacks_some(x, gradient):
                        reason = "precision"
                        break
                    free = _Free(x, gradient, regularizer)
                history = History(free.places.size, memory)
                continue
            history.add(moved, (new_gradient - gradient)[free.places])
            x, smooth, value, gradient = new_x, new_smooth, new_value, new_gradient
            norm = norm_of(free.slopes(x, gradient))
            number += 1
            logger.debug("iteration %d: value %.6g, gradient %.3g", number, value, norm)
            iteration = Iteration(number, value, norm, n_evaluations, x)
            if callback is not None and callback(iteration):
                reason = "stopped"
                break
            reason = stopping.after_iteration(x, smooth, gradient, value, norm)
            if reason == "converged" and free.lacks_some(x, gradient):
                reason = "max_iter" if number >= max_iter else None
                stopping.begin_again()
            if reason is None and (number % _REFRESH == 0 or free.is_outgrown):
                free, before = _Free(x, gradient, regularizer), free.places
                history = history.restricted_to(before, free.places, x.size)
    except KeyboardInterrupt:
        reason = "interrupted"
    assert reason is not None
    norm = norm_of(pseudo_gradient(x, gradient, regularizer))
    return OptimizeResult(x, value, norm, number, n_evaluations, reason, stopping.gap(value))


class _Free:
    """The free weights of an iteration: those that are not 0, or are close to leaving 0.

    All others stay 0 until the free weights are chosen again: every few iterations, or at
    convergence. The quasi-Newton method works on the free weights alone, which are few.

    Parameters
    ----------
    x, gradient
        The point, and the gradient of ``f`` there, shape ``(n,)``.
    regularizer
        The l1 term and the bounds of all weights.
    """

    def __init__(self, x: FloatArray, gradient: FloatArray, regularizer: Regularizer) -> None:
        self._whole = regularizer
        self.places = np.flatnonzero((x != 0.0) | (np.abs(gradient) >= _NEAR * regularizer.l1))
        self.regularizer = regularizer.take(self.places)
        self.is_outgrown = False

    def slopes(self, x: FloatArray, gradient: FloatArray) -> FloatArray:
        """Return the pseudo-gradient of the free weights."""
        return pseudo_gradient(x[self.places], gradient[self.places], self.regularizer)

    def lacks_some(self, x: FloatArray, gradient: FloatArray) -> bool:
        """Return, and record, whether some other weight should become free."""
        slopes = pseudo_gradient(x, gradient, self._whole)
        slopes[self.places] = 0.0
        self.is_outgrown = bool(slopes.any())
        return self.is_outgrown


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
