"""What each weight of a parameter vector stands for, whoever learns it.

In this order: pairs of a feature and a letter, kind by kind; label patterns; pairs of a feature and
a pattern; penalties of soft constraints. ``K`` pairs of a kind, ``P`` patterns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    IdArray = NDArray[np.int32]
    IntArray = NDArray[np.int64]

__all__ = ["PairLayout", "ParameterLayout"]


@dataclass(frozen=True, eq=False)
class PairLayout:
    """Pairs of a feature and an output that have a weight.

    Attributes
    ----------
    n_features : int
        Features of this kind, with and without a weight.
    features, outputs : numpy.ndarray
        Those of each pair, shape ``(K,)``.
    """

    n_features: int
    features: IntArray
    outputs: IdArray

    @classmethod
    def table(cls, n_features: int, n_outputs: int) -> PairLayout:
        """Return all pairs, as they lie in a table with a row a feature."""
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
        Labels of every pattern of the model, shape ``(P,)``.
    edge : PairLayout or None
        Features on patterns.
    n_penalties : int
        Penalties of soft constraints, which come last.
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
        """Places of the penalties, none of which may be negative."""
        return np.arange(self.size - self.n_penalties, self.size)
