"""One level of group norms: sums of norms of disjoint groups, and proximal operators.

    Ω(w) = Σ_g λ_g ‖w_g‖,     prox(v) = argmin_z ½ ‖z − v‖² + τ Ω(z)

group by group: for the Euclidean norm ``z_g = (1 − τ λ_g / ‖v_g‖)₊ v_g``; for the largest absolute
value (l∞) ``z_g = v_g − (projection of v_g onto the l1 ball of radius τ λ_g)``, which cuts the
largest entries down to a common level. ``n`` weights, ``G`` groups.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from trelliswork._typing import FloatArray, IdArray, IntArray


__all__ = ["GroupNorms", "Norm"]

Norm: TypeAlias = Literal["l2", "linf"]

_SMALLEST_NORM = 1e-3


@dataclass(frozen=True, eq=False)
class GroupNorms:
    """One level of groups: a partition of some of the weights.

    Attributes
    ----------
    groups : numpy.ndarray
        Group of each weight, −1 for those in none, shape ``(n,)``.
    strengths : numpy.ndarray
        ``λ`` of each group, shape ``(G,)``.
    norm : {"l2", "linf"}
        The norm of a group.

    Examples
    --------
    >>> norms = GroupNorms(np.array([0, 0, 1]), np.array([5.0, 1.0]))
    >>> norms.value(np.array([3.0, 4.0, -2.0]))
    27.0
    >>> norms.prox(np.array([6.0, 8.0, -0.5]), 1.0)
    array([ 3.,  4., -0.])
    """

    groups: IdArray
    strengths: FloatArray
    norm: Norm = "l2"

    def value(self, x: FloatArray) -> float:
        """Return ``Ω(x)``."""
        return float(self.strengths @ self.norms(x))

    def norms(self, x: FloatArray) -> FloatArray:
        """Return ``‖x_g‖`` of each group, shape ``(G,)``."""
        if self.norm == "l2":
            return np.sqrt(self._sums(x * x))
        found = np.zeros(self.strengths.size)
        if self._members.size:
            found[self._present] = np.maximum.reduceat(np.abs(x[self._members]), self._starts)
        return found

    def prox(self, x: FloatArray, step: float | FloatArray) -> FloatArray:
        """Return the proximal point of ``x`` for ``step × Ω``; `x` is not modified.

        Steps of shape ``(G,)`` apply to the norms of the groups one by one.
        """
        radii = step * self.strengths
        if self.norm == "linf":
            return self._clip(x, radii)
        norms = self.norms(x)
        shrink = np.zeros(norms.size)
        alive = norms > radii
        shrink[alive] = 1.0 - radii[alive] / norms[alive]
        return self._multiply(x, shrink)

    def gradient(self, x: FloatArray) -> FloatArray:
        """Return the gradient of ``Ω`` along nonzero groups, for Euclidean norms."""
        norms = self.norms(x)
        factors = np.divide(self.strengths, norms, out=np.zeros(norms.size), where=norms > 0)
        factors = np.append(factors, 0.0)  # of weights in no group
        return np.asarray(x * factors[self.groups])

    def dual_norms(self, u: FloatArray) -> FloatArray:
        """Return the dual norm of each group, shape ``(G,)``: l2 for l2, l1 for l∞."""
        return self.norms(u) if self.norm == "l2" else self._sums(np.abs(u))

    def dual_norm(self, u: FloatArray) -> float:
        """Return the dual norm of ``u``: the least ``τ`` for which ``prox(u, τ)`` is 0.

        It is infinite if a weight in no group is not 0.
        """
        if (u[self.groups < 0] != 0.0).any():
            return np.inf
        duals = self.dual_norms(u)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = np.where(duals > 0, duals / self.strengths, 0.0)
        return float(ratios.max(initial=0.0))

    def is_within(self, other: GroupNorms) -> bool:
        """Return whether every group lies within one group of the other level, or outside all."""
        if not self._members.size:
            return True
        outer = other.groups[self._members]
        low = np.minimum.reduceat(outer, self._starts)
        high = np.maximum.reduceat(outer, self._starts)
        return bool((low == high).all())

    def take(self, places: IntArray) -> GroupNorms:
        """Return the norms restricted to some weights; strengths are unchanged."""
        return GroupNorms(np.ascontiguousarray(self.groups[places]), self.strengths, self.norm)

    def adapted(self, x: FloatArray) -> GroupNorms:
        """Return adaptive norms: strengths divided by the relative norms of an initial fit.

        Norms are relative to their mean, and at least a thousandth of it.
        """
        norms = self.norms(x)
        mean = float(norms.mean()) if norms.size else 0.0
        if mean == 0.0:
            return self
        factors = mean / np.maximum(norms, _SMALLEST_NORM * mean)
        return GroupNorms(self.groups, factors * self.strengths, self.norm)

    def times(self, factor: float) -> GroupNorms:
        """Return the norms with other strengths."""
        return GroupNorms(self.groups, factor * self.strengths, self.norm)

    def _sums(self, values: FloatArray) -> FloatArray:
        """Return the sum of each group, shape ``(G,)``."""
        # Bin 0 is for weights in no group.
        sums = np.bincount(self._shifted, values, minlength=self.strengths.size + 1)
        return np.asarray(sums[1:], dtype=np.float64)

    def _multiply(self, x: FloatArray, factors: FloatArray) -> FloatArray:
        return np.asarray(x * np.append(1.0, factors)[self._shifted])

    def _clip(self, x: FloatArray, radii: FloatArray) -> FloatArray:
        """Clip ``|x_g|`` at the level ``θ_g`` with ``Σ (|x_i| − θ_g)₊ = radius``, or at 0.

        With the entries of a group in descending order and ``c_j`` the sum of the first ``j``, the
        level is ``(c_j − radius) / j`` for the last ``j`` whose entry lies above it.
        """
        if not self._members.size:
            return x.copy()
        sizes = np.abs(x[self._members])
        owner = np.repeat(np.arange(self._starts.size), self._counts)
        order = np.lexsort((-sizes, owner))
        falling = sizes[order]
        # Scaled by its largest entry, no group is lost to rounding in the cumulative sum.
        largest = falling[self._starts]
        units = np.where(largest > 0.0, largest, 1.0)
        falling = falling / units[owner]
        sums = np.cumsum(falling)
        before = np.concatenate([[0.0], sums])[self._starts]
        rank = np.arange(falling.size) - self._starts[owner] + 1
        levels = (sums - before[owner] - (radii[self._present] / units)[owner]) / rank
        last = np.bincount(owner[falling > levels], minlength=self._starts.size)
        level = units * np.maximum(0.0, levels[self._starts + np.maximum(last, 1) - 1])
        found = x.copy()
        mine = x[self._members]
        found[self._members] = np.clip(mine, -level[owner], level[owner])
        return found

    @cached_property
    def _shifted(self) -> IntArray:
        return self.groups.astype(np.int64) + 1

    @cached_property
    def _members(self) -> IntArray:
        """Indices of the weights in a group, group by group."""
        order = np.argsort(self.groups, kind="stable")
        return order[np.searchsorted(self.groups[order], 0) :]

    @cached_property
    def _present(self) -> IdArray:
        """The groups that have members, in order."""
        return np.unique(self.groups[self._members])

    @cached_property
    def _starts(self) -> IntArray:
        """The first position of each present group among the members."""
        return np.searchsorted(self.groups[self._members], self._present).astype(np.int64)

    @cached_property
    def _counts(self) -> IntArray:
        return np.diff(np.append(self._starts, self._members.size))
