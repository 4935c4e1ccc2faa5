"""Proximal gradient methods: a smooth function plus any regularizer with a proximal operator.

    minimise F(x) = f(x) + Ω(x),      x⁺ = prox_{Ω/α}(x − ∇f(x) / α)

*SpaRSA* (Wright, Nowak and Figueiredo 2009) takes ``α`` from the last step, ``α = s·y / s·s``
(Barzilai and Borwein), and doubles it until the value decreases enough: it never increases. *FISTA*
(Beck and Teboulle 2009) takes its steps from a point ahead of ``x``, with an ``α`` that only grows,
and restarts from ``x`` if that increases the value (O'Donoghue and Candès 2015).
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from trelliswork.learn.optimizers.common import (
    Iteration,
    OptimizeResult,
    Stopping,
    norm_of,
    refuse_start,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from trelliswork._typing import FloatArray
    from trelliswork.learn.optimizers.common import LowerBound, ValueAndGrad
    from trelliswork.learn.sparsity.regularizer import Regularizer


__all__ = ["ProximalMethod", "minimize_proximal", "proximal_residual"]

logger = logging.getLogger(__name__)

ProximalMethod: TypeAlias = Literal["sparsa", "fista"]

_SUFFICIENT_DECREASE = 1e-2
_MAX_LINE_SEARCH = 60
_LEAST, _MOST = 1e-12, 1e12


def minimize_proximal(
    function: ValueAndGrad,
    start: FloatArray,
    regularizer: Regularizer,
    *,
    method: ProximalMethod = "sparsa",
    max_iter: int = 200,
    tol: float = 1e-5,
    lower_bound: LowerBound | None = None,
    gap_tol: float = 0.0,
    callback: Callable[[Iteration], bool] | None = None,
) -> OptimizeResult:
    """Minimise a smooth function plus a regularizer.

    The parameters are those of `trelliswork.learn.optimizers.owlqn.minimize_owlqn` without
    `memory`, and `method`.

    Returns
    -------
    OptimizeResult
        The best point found. The norm is that of ``x − prox_Ω(x − ∇f(x))``, 0 at an optimum.
    """
    kind = _Sparsa if method == "sparsa" else _Fista
    run = kind(function, regularizer, regularizer.prox(start, 0.0))
    refuse_start(run.at.value, norm_of(run.at.gradient))
    stopping = Stopping(tol, gap_tol, lower_bound, max_iter)
    norm = proximal_residual(run.at.x, run.at.gradient, regularizer)
    reason = stopping.before_first(run.at.x, run.at.smooth, run.at.gradient, norm)
    number = 0
    try:
        while reason is None:
            if not run.advance():
                reason = "precision"
                break
            at = run.at
            norm = proximal_residual(at.x, at.gradient, regularizer)
            number += 1
            logger.debug("iteration %d: value %.6g, residual %.3g", number, at.value, norm)
            iteration = Iteration(number, at.value, norm, run.n_evaluations, at.x)
            if callback is not None and callback(iteration):
                reason = "stopped"
                break
            reason = stopping.after_iteration(at.x, at.smooth, at.gradient, at.value, norm)
    except KeyboardInterrupt:
        reason = "interrupted"
    assert reason is not None
    at = run.at
    gap = stopping.gap(at.value)
    return OptimizeResult(at.x, at.value, norm, number, run.n_evaluations, reason, gap)


def proximal_residual(x: FloatArray, gradient: FloatArray, regularizer: Regularizer) -> float:
    """Return ``‖x − prox_Ω(x − ∇f(x))‖``, which is 0 at an optimum."""
    return norm_of(x - regularizer.prox(x - gradient, 1.0))


@dataclass(frozen=True, eq=False)
class _Point:
    """A point: ``f`` and its gradient there, and ``F = f + Ω``."""

    x: FloatArray
    smooth: float
    gradient: FloatArray
    value: float


class _Run(ABC):
    """Common state of both methods: the objective and the current point."""

    def __init__(self, function: ValueAndGrad, regularizer: Regularizer, x: FloatArray) -> None:
        self._function, self._regularizer = function, regularizer
        self.n_evaluations = 0
        self.at = self._evaluate(x)
        # The first step has length 1 or less.
        self._alpha = max(norm_of(self.at.gradient), _LEAST)

    def _evaluate(self, x: FloatArray) -> _Point:
        gradient = np.empty(x.size)
        smooth = self._function(x, gradient)
        self.n_evaluations += 1
        return _Point(x, smooth, gradient, smooth + self._regularizer.value(x))

    def _step(self, origin: _Point) -> FloatArray:
        alpha = self._alpha
        return self._regularizer.prox(origin.x - origin.gradient / alpha, 1.0 / alpha)

    @abstractmethod
    def advance(self) -> bool:
        """Take one step; return False if no step improves."""


class _Sparsa(_Run):
    def advance(self) -> bool:
        at = self.at
        for _ in range(_MAX_LINE_SEARCH):
            new = self._evaluate(self._step(at))
            moved = new.x - at.x
            squared = float(moved @ moved)
            if squared == 0.0:
                return False
            enough = 0.5 * _SUFFICIENT_DECREASE * self._alpha * squared
            if new.value <= at.value - enough:
                self.at = new
                curvature = float(moved @ (new.gradient - at.gradient)) / squared
                self._alpha = min(max(curvature, _LEAST), _MOST)
                return True
            self._alpha *= 2.0
        return False


class _Fista(_Run):
    def __init__(self, function: ValueAndGrad, regularizer: Regularizer, x: FloatArray) -> None:
        super().__init__(function, regularizer, x)
        self._ahead = self.at
        self._momentum = 1.0

    def advance(self) -> bool:
        new = self._descend(self._ahead)
        # A step from ahead that increases, or only leads back, says nothing about one from `at`.
        stuck = new is not None and (new.value > self.at.value or (new.x == self.at.x).all())
        if stuck and self._ahead is not self.at:
            self._momentum = 1.0
            new = self._descend(self.at)
        if new is None or new.value > self.at.value or not (new.x != self.at.x).any():
            return False
        momentum = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * self._momentum**2))
        ahead = new.x + (self._momentum - 1.0) / momentum * (new.x - self.at.x)
        # Assigned together, so that Ctrl-C leaves a consistent state.
        next_origin = self._evaluate(ahead) if self._momentum > 1.0 else new
        self.at, self._ahead, self._momentum = new, next_origin, momentum
        return True

    def _descend(self, origin: _Point) -> _Point | None:
        """Return the step from a point, with an ``α`` under which the model bounds ``f``."""
        for _ in range(_MAX_LINE_SEARCH):
            new = self._evaluate(self._step(origin))
            moved = new.x - origin.x
            model = origin.smooth + float(origin.gradient @ moved)
            model += 0.5 * self._alpha * float(moved @ moved)
            # Near the optimum both sides agree up to rounding.
            if new.smooth <= model + 1e-12 * abs(model):
                return new
            self._alpha *= 2.0
        return None
