"""The non-smooth part of an objective: l1 and norms of groups on one or more levels.

    Ω(w) = Σ_k λ_k |w_k| + Σ_levels Σ_g λ_g ‖w_g‖        and w_k ≥ 0 for some k

Each level is a partition. If each level refines the next (a tree), the proximal operator is the
composition of those of the levels, from the smallest groups to the largest (Jenatton, Mairal,
Obozinski and Bach 2011). For other overlaps it is computed by Dykstra's splitting (block coordinate
ascent on the dual), stopped at a small duality gap.
"""

from __future__ import annotations

from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from trelliswork._typing import BoolArray, FloatArray, IntArray
    from trelliswork.learn.sparsity.group_norms import GroupNorms

    Prox = Callable[[FloatArray, float], FloatArray]

__all__ = ["Regularizer"]

_MOST_ROUNDS = 1000
_SMALL_GAP = 1e-12  # relative to the squared norm of the argument
_BISECTIONS = 40


class Regularizer:
    """``Ω``: its value, its proximal operator, and its dual norm.

    Parameters
    ----------
    size
        Number of weights, ``n``.
    l1
        ``λ`` of each weight, shape ``(n,)``, or one for all.
    levels
        Norms of groups.
    nonnegative
        Indices of the weights that are bounded below by 0.

    Examples
    --------
    >>> from trelliswork.learn.sparsity.group_norms import GroupNorms
    >>> tree = Regularizer(3, 1.0, [GroupNorms(np.array([0, 0, 0]), np.array([1.0]))])
    >>> tree.prox(np.array([4.0, -5.0, 0.5]), 1.0)
    array([ 2.4, -3.2,  0. ])
    >>> tree.prox(np.array([1.5, -1.2, 0.5]), 1.0)
    array([ 0., -0.,  0.])
    """

    def __init__(
        self,
        size: int,
        l1: float | FloatArray = 0.0,
        levels: Sequence[GroupNorms] = (),
        nonnegative: IntArray | None = None,
    ) -> None:
        self.size = size
        self.l1: FloatArray = np.broadcast_to(np.asarray(l1, dtype=np.float64), (size,))
        self.nonnegative = np.zeros(0, np.int64) if nonnegative is None else nonnegative
        self.levels = _inner_first(levels)

    @cached_property
    def is_tree(self) -> bool:
        """Whether each level refines all later ones, so that proximal operators compose.

        A Euclidean norm within an l∞ norm does not count: clipping the largest weights of the outer
        group changes the direction of the inner one.
        """
        return all(
            inner.is_within(outer) and (inner.norm == "linf" or outer.norm == "l2")
            for inner, outer in combinations(self.levels, 2)
        )

    @property
    def is_separable(self) -> bool:
        """Whether there are no groups: l1 alone."""
        return not self.levels

    @property
    def is_smooth_on_faces(self) -> bool:
        """Whether all group norms are smooth at points without groups of 0."""
        return all(level.norm == "l2" for level in self.levels)

    def face(self, x: FloatArray) -> IntArray:
        """Return the indices of the weights whose groups are all nonzero at a point."""
        lives = np.ones(self.size, dtype=bool)
        for level in self.levels:
            lives &= np.append(level.norms(x) > 0.0, True)[level.groups]
        return np.flatnonzero(lives)

    def gradient(self, x: FloatArray) -> FloatArray:
        """Return the gradient of the group norms along the face of a point, 0 elsewhere."""
        return sum((level.gradient(x) for level in self.levels), start=np.zeros(self.size))

    @property
    def unpenalised(self) -> BoolArray:
        """Which weights have no penalty, shape ``(n,)``."""
        found: BoolArray = self.l1 == 0.0
        for level in self.levels:
            found &= np.append(level.strengths == 0.0, True)[level.groups]  # −1: in no group
        return found

    def value(self, x: FloatArray) -> float:
        """Return ``Ω(x)``, for weights within their bounds."""
        return float(self.l1 @ np.abs(x)) + sum(level.value(x) for level in self.levels)

    def prox(self, x: FloatArray, step: float) -> FloatArray:
        """Return ``argmin_z ½ ‖z − x‖² + step × Ω(z)``, with exact zeros; `x` is not modified."""
        if not self.is_tree:
            return self._prox_by_rounds(x, step)
        found = self._soften(x, step)
        for level in self.levels:
            found = level.prox(found, step)
        return found

    def dual_norm(self, u: FloatArray) -> float:
        """Return the dual norm of ``u``: the least ``τ`` for which ``prox(u, τ)`` is 0.

        It is infinite if an unpenalised weight is not 0.
        """
        held = u.copy()
        held[self.nonnegative] = np.maximum(held[self.nonnegative], 0.0)
        if held[self.unpenalised].any():
            return np.inf
        if not self.levels:
            ratios = np.divide(np.abs(held), self.l1, out=np.zeros(self.size), where=self.l1 > 0)
            return float(ratios.max(initial=0.0))
        if len(self.levels) == 1 and not self.l1.any() and not self.nonnegative.size:
            return self.levels[0].dual_norm(u)
        return self._bisect(u)

    def take(self, places: IntArray) -> Regularizer:
        """Return the regularizer restricted to some weights, the others being 0."""
        inside = np.flatnonzero(np.isin(places, self.nonnegative))
        levels = [level.take(places) for level in self.levels]
        return Regularizer(places.size, self.l1[places], levels, inside)

    def adapted(self, x: FloatArray) -> Regularizer:
        """Return ``Ω`` with the strength of each group divided by its norm at a point."""
        levels = [level.adapted(x) for level in self.levels]
        return Regularizer(self.size, self.l1, levels, self.nonnegative)

    def times(self, factor: float) -> Regularizer:
        """Return ``factor × Ω``."""
        levels = [level.times(factor) for level in self.levels]
        return Regularizer(self.size, factor * self.l1, levels, self.nonnegative)

    def _soften(self, x: FloatArray, step: float) -> FloatArray:
        """Return the proximal point of the l1 part and the bounds."""
        found = x - np.clip(x, -step * self.l1, step * self.l1)
        found[self.nonnegative] = np.maximum(found[self.nonnegative], 0.0)
        return found

    def _prox_by_rounds(self, x: FloatArray, step: float) -> FloatArray:
        """Return the proximal point for overlapping groups, ``x − Σ ξ`` with ``ξ`` in dual balls.

        The dual problem is to maximise ``½ ‖x‖² − ½ ‖x − Σ ξ‖²``.
        """
        parts: list[Prox] = [self._soften, *(level.prox for level in self.levels)]
        taken = np.zeros((len(parts), self.size))  # ξ
        zero = np.zeros((len(parts), self.size), dtype=bool)
        found = x.copy()
        scale = max(float(x @ x), 1e-300)
        rounding = np.finfo(np.float64).eps * float(np.abs(x).max(initial=0.0))
        for _ in range(_MOST_ROUNDS):
            for i, prox in enumerate(parts):
                given = found + taken[i]
                found = prox(given, step)
                taken[i] = given - found
                zero[i] = found == 0.0
            # A weight that one part sets to 0 is 0; the rest is rounding error.
            primal = np.where(zero.any(axis=0) | (np.abs(found) <= rounding), 0.0, found)
            primal[self.nonnegative] = np.maximum(primal[self.nonnegative], 0.0)
            distance = primal - x
            gap = 0.5 * float(distance @ distance) + step * self.value(primal)
            gap -= 0.5 * (float(x @ x) - float(found @ found))
            if gap <= _SMALL_GAP * scale:
                break
        return primal

    def _bisect(self, u: FloatArray) -> float:
        """Return the least ``τ`` with ``prox(u, τ) = 0`` by bisection, rounded up."""
        high = 1.0
        while self.prox(u, high).any():
            high *= 2.0
            if high > 1e18:
                return np.inf
        low = 0.0
        for _ in range(_BISECTIONS):
            middle = 0.5 * (low + high)
            if self.prox(u, middle).any():
                low = middle
            else:
                high = middle
        return high


def _inner_first(levels: Sequence[GroupNorms]) -> list[GroupNorms]:
    """Return levels from inner to outer, if each can refine all later ones."""
    rest, found = list(levels), []
    while rest:
        within = (all(map(level.is_within, rest)) for level in rest)
        found.append(rest.pop(next((i for i, holds in enumerate(within) if holds), 0)))
    return found
