"""Knapsacks: weights of true literals add up to a limit at most."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from trelliswork.factor_base import FREE, Factor, Rows, one_row
from trelliswork.graph_variables import codes_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    BoolArray = NDArray[np.bool_]
    FloatArray = NDArray[np.float64]
    FixedArray = NDArray[np.int8]

__all__ = ["Knapsack"]

ROUNDING = 1e-9  # a sum of weights that passes the limit by so little is within it, as in the core


class Knapsack(Factor):
    """The weights of true literals add up to `limit` at most, ``Σ_k w_k l_k ≤ b``.

    A negative weight becomes a positive one of the negated literal, ``w l = w + |w| (1 − l)``, and
    literals of weight 0 are left out: ``codes``, ``weights`` and ``limit`` are what is left.

    Parameters
    ----------
    literals
        Literals, ``K`` of them.
    weights
        Finite numbers, shape ``(K,)``, or one for all.
    limit
        A finite number.
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
        if not (np.isfinite(given).all() and np.isfinite(limit)):
            raise ValueError("Knapsack: expected finite weights and a finite limit.")
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

    def best(self, scores: FloatArray, fixed: FixedArray) -> float:
        """Return the best sum of scores, from all sums that no other one beats."""
        on = fixed == 1
        room = self.limit + self._slack - float(self.weights[on].sum())
        if room < 0.0:
            return -np.inf
        used, sums = np.zeros(1), np.array([float(scores[on].sum())])
        for k in np.flatnonzero((fixed == FREE) & (scores > 0.0)):
            used = np.concatenate([used, used + self.weights[k]])
            sums = np.concatenate([sums, sums + scores[k]])
            order = np.lexsort((-sums, used))
            used, sums = used[order], sums[order]
            before = np.maximum.accumulate(np.concatenate([[-np.inf], sums[:-1]]))
            keep = (sums > before) & (used <= room)
            used, sums = used[keep], sums[keep]
        return float(sums.max())

    def implied(self, fixed: FixedArray) -> FixedArray | None:
        """Return `fixed` with those at 0 that are too heavy for the room that is left."""
        room = self.limit + self._slack - float(self.weights[fixed == 1].sum())
        if room < 0.0:
            return None
        return np.where((fixed == FREE) & (self.weights > room), np.int8(0), fixed)

    def rows(self) -> Rows:
        """Return one row."""
        return one_row(self.weights, -np.inf, self.limit)

    @property
    def _slack(self) -> float:
        return ROUNDING * max(1.0, abs(self.limit))

    def _details(self) -> str:
        return f"; weights {self.weights.tolist()}, limit {self.limit:g}"
