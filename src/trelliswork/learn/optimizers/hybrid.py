"""Alternate proximal steps, which find the nonzero groups, and a quasi-Newton method on these.

Proximal gradient methods identify the groups that are 0 in a few dozen steps, and then need
hundreds for the weights of the others. But on the *face* of the weights whose groups are all
nonzero, Euclidean norms are smooth:

    F(z) = f(z) + Σ_g λ_g ‖z_g‖ + Σ_k λ_k |z_k|,      ∂‖z_g‖ = z_g / ‖z_g‖

which L-BFGS minimises, or OWL-QN with l1. The methods alternate: SpaRSA may change the face, as
groups become 0 or nonzero, and L-BFGS minimises on it. No turn increases the value.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from trelliswork.learn.optimizers.common import Iteration
from trelliswork.learn.optimizers.lbfgs import minimize_lbfgs
from trelliswork.learn.optimizers.owlqn import minimize_owlqn
from trelliswork.learn.optimizers.proximal import minimize_proximal
from trelliswork.learn.sparsity.regularizer import Regularizer

if TYPE_CHECKING:
    from collections.abc import Callable

    from trelliswork._typing import FloatArray
    from trelliswork.learn.optimizers.common import LowerBound, OptimizeResult, ValueAndGrad


__all__ = ["minimize_hybrid"]

_FIRST_STEPS, _STEPS = 20, 10  # of SpaRSA in the first turn, and in others
_ON_FACE = 40  # iterations of L-BFGS or OWL-QN in a turn


def minimize_hybrid(
    function: ValueAndGrad,
    start: FloatArray,
    regularizer: Regularizer,
    *,
    max_iter: int = 200,
    tol: float = 1e-5,
    scale: FloatArray | None = None,
    lower_bound: LowerBound | None = None,
    gap_tol: float = 0.0,
    callback: Callable[[Iteration], bool] | None = None,
) -> OptimizeResult:
    """Minimise a smooth function plus l1 and Euclidean norms of groups.

    The parameters are those of `trelliswork.learn.optimizers.owlqn.minimize_owlqn` without
    `memory`, and `scale`, the step sizes of L-BFGS. Iterations of both methods are counted. Stops
    when two turns together decrease the value by less than ``tol × value``, or when proximal steps
    make no progress.
    """
    if not regularizer.is_smooth_on_faces:
        raise ValueError("expected Euclidean norms of groups, got others. Use 'sparsa' or 'fista'.")
    turns = _Turns(callback)
    before, bound = np.inf, -np.inf
    found: OptimizeResult | None = None  # result of the last turn, kept after Ctrl-C between turns
    x, n_steps = start, _FIRST_STEPS
    reason: str | None = None
    while reason is None:
        try:
            turn = minimize_proximal(
                function,
                x,
                regularizer,
                max_iter=min(n_steps, max_iter - turns.n_iterations),
                tol=tol,
                lower_bound=lower_bound,
                gap_tol=gap_tol,
                callback=turns.show,
            )
            turns.count(turn)
            found, reason = turn, turn.reason
            if turn.gap is not None:
                bound = max(bound, turn.value - turn.gap)
            # First steps from the end point of another run are slow, even far from the optimum.
            is_over = reason == "max_iter" or (reason == "converged" and not np.isfinite(before))
            if is_over and turns.n_iterations < max_iter:  # the turn is over, not the run
                reason = "converged" if before - turn.value < tol * abs(turn.value) else None
            if reason is not None:
                break
            before = turn.value
            face = _Face(function, turn.x, regularizer)
            on_face = face.descend(min(_ON_FACE, max_iter - turns.n_iterations), tol, scale, turns)
            turns.count(on_face)
            x, n_steps = face.embed(on_face.x), _STEPS
            found = replace(on_face, x=x)
            if on_face.reason in ("stopped", "interrupted"):
                reason = on_face.reason
        except KeyboardInterrupt:
            if found is None:
                raise
            reason = "interrupted"
    assert found is not None
    return replace(
        found,
        n_iterations=turns.n_iterations,
        n_evaluations=turns.n_evaluations,
        reason=reason,
        gap=max(0.0, found.value - bound) if np.isfinite(bound) else None,
    )


class _Turns:
    """Iterations and evaluations of all turns, reported as those of one run."""

    def __init__(self, callback: Callable[[Iteration], bool] | None) -> None:
        self._callback = callback
        self.n_iterations = 0
        self.n_evaluations = 0

    def show(self, own: Iteration, face: _Face | None = None) -> bool:
        """Report an iteration of a turn to the callback."""
        if self._callback is None:
            return False
        return self._callback(
            Iteration(
                self.n_iterations + own.number,
                own.value,
                own.gradient_norm,
                self.n_evaluations + own.n_evaluations,
                own.x if face is None else face.embed(own.x),
            )
        )

    def count(self, turn: OptimizeResult) -> None:
        """Add a finished turn."""
        self.n_iterations += turn.n_iterations
        self.n_evaluations += turn.n_evaluations


class _Face:
    """The weights whose groups are all nonzero at a point, and their objective.

    Parameters
    ----------
    function
        ``f`` of all weights.
    x
        The point, shape ``(n,)``.
    regularizer
        ``Ω``.
    """

    def __init__(self, function: ValueAndGrad, x: FloatArray, regularizer: Regularizer) -> None:
        self._function, self._x = function, x
        self._places = regularizer.face(x)
        self._groups = Regularizer(x.size, 0.0, regularizer.levels)
        # l1 and the bounds are the non-smooth rest.
        self._rest = Regularizer(x.size, regularizer.l1, (), regularizer.nonnegative).take(
            self._places
        )
        self._gradient = np.empty(x.size)

    def embed(self, z: FloatArray) -> FloatArray:
        """Return all weights, with 0 for those off the face."""
        found = np.zeros(self._x.size)
        found[self._places] = z
        return found

    def descend(
        self, max_iter: int, tol: float, scale: FloatArray | None, turns: _Turns
    ) -> OptimizeResult:
        """Minimise on the face for some iterations, starting at the point."""
        start = self._x[self._places]

        def show(iteration: Iteration) -> bool:
            return turns.show(iteration, self)

        if self._rest.l1.any():
            return minimize_owlqn(
                self._evaluate, start, self._rest, max_iter=max_iter, tol=tol, callback=show
            )
        return minimize_lbfgs(
            self._evaluate,
            start,
            max_iter=max_iter,
            tol=tol,
            scale=None if scale is None else scale[self._places],
            nonnegative=self._rest.nonnegative,
            callback=show,
        )

    def _evaluate(self, z: FloatArray, gradient: FloatArray) -> float:
        x = self.embed(z)
        value = self._function(x, self._gradient) + self._groups.value(x)
        gradient[:] = (self._gradient + self._groups.gradient(x))[self._places]
        return value
