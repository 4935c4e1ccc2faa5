"""The layout of a parameter vector: which weight is where.

The order is: pairs of a feature and a letter, kind by kind; label patterns; pairs of a feature and
a pattern; penalties of soft constraints. ``K`` pairs of a kind, ``P`` patterns.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from trelliswork._typing import FloatArray, IdArray, IntArray


__all__ = ["PairLayout", "ParameterLayout", "l2_coefficients"]


@dataclass(frozen=True, eq=False)
class PairLayout:
    """Pairs of a feature and an output that have a weight.

    Attributes
    ----------
    n_features : int
        Number of features of this kind, with or without a weight.
    features, outputs : numpy.ndarray
        Feature and output of each pair, shape ``(K,)``.
    """

    n_features: int
    features: IntArray
    outputs: IdArray

    @classmethod
    def table(cls, n_features: int, n_outputs: int) -> PairLayout:
        """Return all pairs, in the order of a table with one row per feature."""
        features = np.repeat(np.arange(n_features), n_outputs)
        return cls(n_features, features, np.tile(np.arange(n_outputs, dtype=np.int32), n_features))

    @property
    def n_pairs(self) -> int:
        """Number of weights, ``K``."""
        return int(self.outputs.size)


@dataclass(frozen=True, eq=False)
class ParameterLayout:
    """The parts of a parameter vector.

    Attributes
    ----------
    parts : dict of PairLayout
        Features of tokens and segments, by kind, in the order of the parameters.
    patterns : numpy.ndarray
        The label patterns that have a weight, by index.
    lengths : numpy.ndarray
        Number of labels of each pattern of the model, shape ``(P,)``.
    edge : PairLayout or None
        Features on patterns.
    n_penalties : int
        Number of learned penalties of soft constraints; they come last.
    """

    parts: Mapping[str, PairLayout]
    patterns: IdArray
    lengths: IntArray
    edge: PairLayout | None
    n_penalties: int

    @property
    def size(self) -> int:
        """Number of parameters."""
        n_pairs = sum(part.n_pairs for part in self.parts.values())
        n_edge = 0 if self.edge is None else self.edge.n_pairs
        return n_pairs + int(self.patterns.size) + n_edge + self.n_penalties

    @property
    def penalties(self) -> IntArray:
        """Indices of the penalties, which are bounded below by 0."""
        return np.arange(self.size - self.n_penalties, self.size)


def l2_coefficients(layout: ParameterLayout, l2: float | Mapping[int, float]) -> FloatArray:
    """Return the l2 coefficient of every parameter, or one for all.

    Parameters
    ----------
    layout
        The layout of the parameters.
    l2
        One number, or one for each order: 0 for features of tokens and segments and for penalties,
        ``k`` for patterns of ``k + 1`` letters and features on them. A missing order takes the
        coefficient of the next lower one.
    """
    if not isinstance(l2, Mapping):
        return np.array([l2], dtype=np.float64)
    orders = np.maximum(layout.lengths - 1, 0)
    by_order = np.array(
        [
            l2[max((k for k in l2 if k <= order), default=min(l2))]
            for order in range(int(orders.max(initial=0)) + 1)
        ],
        dtype=np.float64,
    )
    n_pairs = sum(part.n_pairs for part in layout.parts.values())
    edge = np.zeros(0, np.int64) if layout.edge is None else orders[layout.edge.outputs]
    return np.concatenate(
        [
            np.full(n_pairs, by_order[0]),
            by_order[orders[layout.patterns]],
            by_order[edge],
            np.full(layout.n_penalties, by_order[0]),
        ]
    )
