"""Factor graphs as flat arrays: what goes to the core."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from trelliswork.graphs.variables import NOTHING

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from trelliswork._core import Structure
    from trelliswork._typing import ByteArray, FloatArray, IntArray
    from trelliswork.graphs.graph import FactorGraph


__all__ = ["GraphArrays"]


class GraphArrays(NamedTuple):
    """A graph as the core takes it.

    Attributes
    ----------
    scores, fixed : numpy.ndarray
        Of variables, ``(N,)``; ``fixed`` is 0 or 1, -1 for free ones.
    kinds, limits : numpy.ndarray
        Of factors, ``(M,)``.
    offsets : numpy.ndarray
        The links of factor ``m`` are ``offsets[m]`` to ``offsets[m + 1]``, ``(M + 1,)``.
    variables, negated, weights : numpy.ndarray
        Of links, ``(K,)``.
    structures : list
        Of factors that have one, in order.
    """

    scores: FloatArray
    fixed: ByteArray
    kinds: ByteArray
    offsets: IntArray
    variables: NDArray[np.int32]
    negated: NDArray[np.uint8]
    weights: FloatArray
    limits: FloatArray
    structures: list[Structure]

    @classmethod
    def of(cls, graph: FactorGraph) -> GraphArrays:
        """Write a graph as arrays."""
        factors = graph.factors
        codes = np.concatenate([NOTHING, *(f.codes for f in factors)])
        sizes = np.array([f.codes.size for f in factors], dtype=np.int64)
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        weights = np.ones(codes.size)
        for m, factor in enumerate(factors):
            if factor.weights is not None:
                weights[offsets[m] : offsets[m + 1]] = factor.weights
        structures = [f.structure() for f in factors]
        return cls(
            graph.scores,
            graph.fixed,
            np.array([f.kind for f in factors], dtype=np.int8),
            offsets,
            (codes >> 1).astype(np.int32),
            (codes & 1).astype(np.uint8),
            weights,
            np.array([f.limit for f in factors], dtype=np.float64),
            [structure for structure in structures if structure is not None],
        )
