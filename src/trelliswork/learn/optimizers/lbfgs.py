"""Limited-memory BFGS for large, smooth problems.

Some parameters may be bounded below by 0. Parameters at 0 with a positive gradient are fixed for an
iteration and ignored for the direction and the convergence test. Steps are projected onto the
bounds.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import numpy as np

from trelliswork.learn.optimizers.common import (
    Iteration,
    OptimizeResult,
    Stopping,
    norm_of,
    refuse_start,
)
from trelliswork.learn.optimizers.history import History

if TYPE_CHECKING:
    from collections.abc import Callable

    from trelliswork._typing import FloatArray, IntArray
    from trelliswork.learn.optimizers.common import ValueAndGrad


__all__ = ["minimize_lbfgs"]

logger = logging.getLogger(__name__)

_SUFFICIENT_DECREASE = 1e-4
_CURVATURE = 0.9
_MAX_LINE_SEARCH = 25


class _Bounds:
    """Parameters that are bounded below by 0, by index."""

    def __init__(self, indices: IntArray | None) -> None:
        self.indices = np.zeros(0, dtype=np.int64) if indices is None else indices

    def project(self, x: FloatArray) -> bool:
        """Project onto the bounds, in place; return whether anything changed."""
        own = x[self.indices]
        if not (own < 0.0).any():
            return False
        x[self.indices] = np.maximum(own, 0.0)
        return True

    def projected_gradient(self, x: FloatArray, gradient: FloatArray) -> FloatArray:
        """Return the gradient, 0 for parameters at 0 that would have to become negative."""
        held = self.indices[(x[self.indices] <= 0.0) & (gradient[self.indices] > 0.0)]
        if not held.size:
            return gradient
        found = gradient.copy()
        found[held] = 0.0
        return found

    def hold(self, x: FloatArray, gradient: FloatArray, direction: FloatArray) -> None:
        """Remove components of a direction that lead below 0 immediately, in place.

        Components that `projected_gradient` removes go as well, so that it stays a descent
        direction.
        """
        at_zero = self.indices[x[self.indices] <= 0.0]
        down = (gradient[at_zero] > 0.0) | (direction[at_zero] < 0.0)
        direction[at_zero[down]] = 0.0


def minimize_lbfgs(
    function: ValueAndGrad,
    start: FloatArray,
    *,
    max_iter: int = 200,
    tol: float = 1e-5,
    memory: int = 6,
    scale: FloatArray | None = None,
    nonnegative: IntArray | None = None,
    callback: Callable[[Iteration], bool] | None = None,
) -> OptimizeResult:
    """Minimise a smooth function.

    Stops when the value has decreased by less than ``tol × value`` over the last ten iterations, or
    when ``‖∇f‖ < tol × max(1, ‖x‖)`` for the projected gradient.

    Parameters
    ----------
    function
        ``f(x, gradient) -> value``, which overwrites ``gradient``.
    start
        Initial parameters, shape ``(n,)``; not modified.
    max_iter
        Maximum number of iterations.
    tol
        Tolerance of both tests.
    memory
        Number of stored pairs, ``m``; they take ``8 m n`` bytes.
    scale
        Positive step sizes, shape ``(n,)``: the problem is solved in ``x / scale``.
    nonnegative
        Indices of the (few) parameters bounded below by 0. Default: none.
    callback
        Called after every iteration; stops if it returns true.

    Returns
    -------
    OptimizeResult
        The best point found. After Ctrl-C, the last point.
    """
    sizes = np.ones(start.size) if scale is None else scale
    gradient = np.empty(start.size)
    raw_gradient = np.empty(start.size)
    n_evaluations = 0

    def evaluate(x: FloatArray, out: FloatArray) -> float:
        nonlocal n_evaluations
        n_evaluations += 1
        value = function(x, raw_gradient)
        np.multiply(raw_gradient, sizes, out=out)
        return value

    x = np.array(start, dtype=np.float64)
    bounds = _Bounds(nonnegative)
    bounds.project(x)
    history = History(start.size, memory)
    stopping = Stopping(tol, 0.0, None, max_iter)
    number = 0
    value = evaluate(x, gradient)
    norm = norm_of(bounds.projected_gradient(x, raw_gradient))
    refuse_start(value, norm)
    reason = stopping.before_first(x, value, gradient, norm)
    try:
        while reason is None:
            direction = history.direction(bounds.projected_gradient(x, gradient))
            bounds.hold(x, gradient, direction)
            found = _line_search(evaluate, x, value, gradient, direction, sizes, bounds)
            if found is None:
                if not history.slots:
                    reason = "precision"
                    break
                history = History(start.size, memory)
                continue
            step, new_x, new_value, new_gradient = found
            history.add(step, new_gradient - gradient)
            x, value, gradient = new_x, new_value, new_gradient
            norm = norm_of(bounds.projected_gradient(x, raw_gradient))
            number += 1
            logger.debug("iteration %d: value %.6g, gradient %.3g", number, value, norm)
            if callback is not None and callback(Iteration(number, value, norm, n_evaluations, x)):
                reason = "stopped"
                break
            reason = stopping.after_iteration(x, value, gradient, value, norm)
    except KeyboardInterrupt:
        reason = "interrupted"
    assert reason is not None
    return OptimizeResult(x, value, norm, number, n_evaluations, reason)


def _line_search(
    evaluate: Callable[[FloatArray, FloatArray], float],
    x: FloatArray,
    value: float,
    gradient: FloatArray,
    direction: FloatArray,
    sizes: FloatArray,
    bounds: _Bounds,
) -> tuple[FloatArray, FloatArray, float, FloatArray] | None:
    """Find a step that satisfies the weak Wolfe conditions.

    The bracket is halved or doubled (Lewis and Overton 2013), with a quadratic guess after an
    insufficient decrease. Projected steps need sufficient decrease only. Returns None if no step
    decreases the value.

    Returns
    -------
    step, x, value, gradient
        The step in ``x / sizes``, and the new point.
    """
    slope = float(gradient @ direction)
    if not slope < 0.0:
        return None
    move = sizes * direction
    low, high, step = 0.0, np.inf, 1.0
    for _ in range(_MAX_LINE_SEARCH):
        new_x = x + step * move
        is_cut = bounds.project(new_x)
        moved = (new_x - x) / sizes if is_cut else step * direction
        expected = float(gradient @ moved) if is_cut else step * slope
        new_gradient = np.empty_like(gradient)
        new_value = evaluate(new_x, new_gradient)
        if not new_value <= value + _SUFFICIENT_DECREASE * min(expected, 0.0):
            high = step
            guess = -slope * step * step / (2.0 * (new_value - value - slope * step))
            inside = low + 0.1 * (high - low) <= guess <= low + 0.7 * (high - low)
            step = guess if inside else 0.5 * (low + high)
        elif not is_cut and float(new_gradient @ direction) < _CURVATURE * slope:
            low = step
            step = 0.5 * (low + high) if np.isfinite(high) else 3.0 * low
        else:
            return moved, new_x, new_value, new_gradient
    return None
