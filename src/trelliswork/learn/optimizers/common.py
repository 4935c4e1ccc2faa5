"""Common types of the optimisers: functions, iterations, results and stopping tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from trelliswork._typing import FloatArray


__all__ = [
    "PERIOD",
    "Iteration",
    "LowerBound",
    "OptimizeResult",
    "Stopping",
    "ValueAndGrad",
    "norm_of",
    "refuse_start",
]

PERIOD = 10
"""Iterations over which the relative change of the value is measured."""


class ValueAndGrad(Protocol):
    """A smooth function: ``f(x, out)`` returns the value and writes the gradient into ``out``."""

    def __call__(self, x: FloatArray, gradient: FloatArray, /) -> float:
        """Return the value at ``x``."""


class LowerBound(Protocol):
    """A lower bound on the minimum, from a point, the smooth part and its gradient there."""

    def __call__(self, x: FloatArray, smooth: float, gradient: FloatArray, /) -> float:
        """Return the bound at ``x``."""


@dataclass(frozen=True)
class Iteration:
    """State after one iteration, passed to callbacks. Copy `x` to keep it."""

    number: int
    value: float
    gradient_norm: float
    n_evaluations: int
    x: FloatArray


@dataclass(frozen=True)
class OptimizeResult:
    """Result of an optimiser.

    Attributes
    ----------
    x : numpy.ndarray
        The parameters, shape ``(n,)``.
    value : float
        The objective there.
    gradient_norm : float
        Euclidean norm of the projected gradient there.
    n_iterations, n_evaluations : int
        Number of steps, and of evaluations of the objective.
    reason : str
        ``"converged"`` (the value hardly changes), ``"gap"`` (proven to be close to the minimum),
        ``"max_iter"``, ``"stopped"`` (by the callback), ``"interrupted"`` (Ctrl-C) or
        ``"precision"`` (no step decreases the value any further).
    gap : float or None
        Upper bound on the distance of the value from the minimum; None if unknown.
    """

    x: FloatArray
    value: float
    gradient_norm: float
    n_iterations: int
    n_evaluations: int
    reason: str
    gap: float | None = None


class Stopping:
    """Stopping tests: number of iterations, relative change, and duality gap.

    Parameters
    ----------
    tol
        Relative change of the value over ten iterations.
    gap_tol
        Proven relative distance from the minimum.
    lower_bound
        A lower bound on the minimum, evaluated every tenth iteration. Default: none.
    max_iter
        Maximum number of iterations.
    """

    def __init__(
        self, tol: float, gap_tol: float, lower_bound: LowerBound | None, max_iter: int
    ) -> None:
        self._tol, self._gap_tol, self._max_iter = tol, gap_tol, max_iter
        self._lower_bound = lower_bound
        self._bound = -np.inf  # the best so far
        self._values: list[float] = []
        self._n_iterations = 0

    def before_first(
        self, x: FloatArray, smooth: float, gradient: FloatArray, norm: float
    ) -> str | None:
        """Return the reason to stop before the first iteration, or None."""
        self._update_bound(x, smooth, gradient)
        if norm < self._tol * max(1.0, norm_of(x)):
            return "converged"
        return "max_iter" if self._max_iter == 0 else None

    def after_iteration(
        self, x: FloatArray, smooth: float, gradient: FloatArray, value: float, norm: float
    ) -> str | None:
        """Return the reason to stop after another iteration, or None.

        Parameters
        ----------
        x, smooth, gradient
            The point, and value and gradient of the smooth part there.
        value
            The value of the whole objective.
        norm
            The norm of the projected gradient.
        """
        values = self._values
        values.append(value)
        self._n_iterations += 1
        slow = len(values) > PERIOD and values[-1 - PERIOD] - value < self._tol * max(
            abs(value), 1e-300
        )
        is_close = slow or norm < self._tol * max(1.0, norm_of(x))
        is_last = self._n_iterations >= self._max_iter
        if self._n_iterations % PERIOD == 0 or is_close or is_last:
            self._update_bound(x, smooth, gradient)
        gap = self.gap(value)
        if gap is not None and gap <= self._gap_tol * abs(value):
            return "gap"
        if is_close:
            return "converged"
        return "max_iter" if is_last else None

    def begin_again(self) -> None:
        """Restart the test of relative change, as more weights may move."""
        self._values = self._values[-1:]

    def gap(self, value: float) -> float | None:
        """Return an upper bound on the distance of a value from the minimum; None if unknown."""
        return max(0.0, value - self._bound) if np.isfinite(self._bound) else None

    def _update_bound(self, x: FloatArray, smooth: float, gradient: FloatArray) -> None:
        if self._lower_bound is not None:
            self._bound = max(self._bound, self._lower_bound(x, smooth, gradient))


def refuse_start(value: float, norm: float) -> None:
    """Raise if the value or gradient at the start is not finite."""
    if not (np.isfinite(value) and np.isfinite(norm)):
        raise ValueError(
            f"minimize: expected a finite value and gradient at the start, got {value} and a "
            f"gradient of norm {norm}. Are feature values far too large? Scale them to about 1."
        )


def norm_of(x: FloatArray) -> float:
    """Return the Euclidean norm, which may be infinite."""
    with np.errstate(over="ignore"):
        return float(np.linalg.norm(x))
