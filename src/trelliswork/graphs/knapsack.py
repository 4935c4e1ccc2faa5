"""Knapsack factors: the weights of true literals add up to at most a limit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from trelliswork.graphs.factor import FREE, LARGEST, UNIT, Factor, Rows, one_row
from trelliswork.graphs.variables import codes_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from trelliswork._typing import BoolArray, ByteArray, FloatArray


__all__ = ["Knapsack"]

ROUNDING = 1e-9  # of the heaviest weight: the excess of a sum that still fits, as in the core
MAX_SUMS = 5_000  # the most sums that are kept


class Knapsack(Factor):
    """The weights of true literals add up to at most `limit`, ``Σ_k w_k l_k ≤ b``.

    A negative weight becomes a positive one of the negated literal, ``w l = w + |w| (1 − l)``, and
    literals of weight 0 are left out: ``codes``, ``weights`` and ``limit`` describe the result.

    Parameters
    ----------
    literals
        Literals, ``K`` of them.
    weights
        Finite numbers below 1e150, shape ``(K,)``, or one number for all.
    limit
        A finite number below 1e150.
    """

    kind = 6
    weights: FloatArray

    def __init__(self, literals: Any, weights: ArrayLike, limit: float) -> None:
        graph, codes = codes_of(literals)
        given = np.asarray(weights, dtype=np.float64)
        if given.shape not in ((), codes.shape):
            raise ValueError(
                f"Knapsack: expected one weight a literal, shape {codes.shape}, got {given.shape}."
            )
        if not ((np.abs(given) < LARGEST).all() and abs(limit) < LARGEST):
            raise ValueError("Knapsack: expected finite weights and a finite limit, below 1e150.")
        given = np.broadcast_to(given, codes.shape)
        used, negative = given != 0.0, given < 0.0
        self._set(
            graph=graph,
            codes=(codes ^ negative)[used],
            weights=np.abs(given)[used],
            limit=float(limit) - float(given[negative].sum()),
        )

    def accepts(self, values: BoolArray) -> bool:
        """Return whether the weights fit."""
        return float(self.weights[values].sum()) <= self.limit + self._slack

    def best(self, scores: FloatArray, fixed: ByteArray) -> float:
        """Return the best sum of scores, or an upper bound if there are too many sums.

        Literals are added in the order of score per weight. A sum is kept if no other one dominates
        it, and if its best fractional completion is above the best sum so far. With more than
        `MAX_SUMS` sums, the best fractional completion is returned, which is an upper bound.
        """
        on = fixed == 1
        room = self._room - float(self.weights[on].sum())
        if room < 0.0:
            return -np.inf
        used, sums = np.zeros(1), np.array([float(scores[on].sum())])
        best = float(sums[0])
        free = np.flatnonzero((fixed == FREE) & (scores > 0.0))
        ratios = scores[free] / scores.max(initial=0.0) / (self.weights[free] / self._heaviest)
        free = free[np.argsort(-ratios, kind="stable")]
        # Cumulative sums: differences are those of the literals that are left.
        heavy, worth = (np.cumsum([0.0, *of[free]]) for of in (self.weights, scores))
        for k, literal in enumerate(free, start=1):
            used = np.concatenate([used, used + self.weights[literal]])
            sums = np.concatenate([sums, sums + scores[literal]])
            order = np.lexsort((-sums, used))
            used, sums = used[order], sums[order]
            before = np.maximum.accumulate(np.concatenate([[-np.inf], sums[:-1]]))
            keep = (sums > before) & (used <= room)
            used, sums = used[keep], sums[keep]
            weights, gains = heavy[k:] - heavy[k], worth[k:] - worth[k]
            whole = gains[np.searchsorted(weights, room - used, side="right") - 1]
            best = max(best, float((sums + whole).max()))
            upper = sums + np.interp(room - used, weights, gains)
            if used.size > MAX_SUMS:
                return float(upper.max())
            keep = upper > best
            used, sums = used[keep], sums[keep]
            if not used.size:
                break
        return best

    def implied(self, fixed: ByteArray) -> ByteArray | None:
        """Return `fixed` with literals at 0 that are too heavy for the remaining room."""
        room = self._room - float(self.weights[fixed == 1].sum())
        if room < 0.0:
            return None
        return np.where((fixed == FREE) & (self.weights > room), np.int8(0), fixed)

    def rows(self) -> Rows:
        """Return one row, scaled by a power of two: the heaviest weight is from 1 to 2."""
        scale = 2.0 ** np.floor(np.log2(self._heaviest))
        return one_row(self.weights / scale, -np.inf, self.limit / scale)

    @property
    def _heaviest(self) -> float:
        return float(self.weights.max(initial=0.0)) or 1.0

    @property
    def _slack(self) -> float:
        return ROUNDING * float(self.weights.max(initial=0.0))

    @property
    def _room(self) -> float:
        """The limit with slack, so that the order of a sum does not decide whether it fits."""
        rounding = UNIT * (self.weights.size + 1) * float(self.weights.sum())
        return self.limit + self._slack + rounding

    def _details(self) -> str:
        return f"; weights {self.weights.tolist()}, limit {self.limit:g}"
