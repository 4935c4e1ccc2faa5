"""Sparse weights of (feature, output) pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from trelliswork import _core
from trelliswork._utils.arrays import stored
from trelliswork.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from trelliswork._typing import FloatArray, IdArray, IntArray
    from trelliswork.features import FeatureMatrix


__all__ = ["PairWeights"]


@dataclass(frozen=True, eq=False)
class PairWeights:
    """Weights of (feature, output) pairs, feature by feature.

    Attributes
    ----------
    offsets : numpy.ndarray
        Pairs of feature ``f``: ``offsets[f]`` to ``offsets[f + 1]``; shape ``(F + 1,)``.
    outputs : numpy.ndarray
        Output of each pair, a letter or a pattern, ascending within a feature, shape ``(K,)``.
    weights : numpy.ndarray
        Shape ``(K,)``.
    """

    offsets: IntArray
    outputs: IdArray
    weights: FloatArray

    @classmethod
    def restore(
        cls, kind: str, arrays: Mapping[str, NDArray[Any]], n_features: int, n_outputs: int
    ) -> PairWeights:
        """Read the weights of one kind of features from the arrays of a model file.

        Raises
        ------
        DataError
            If the arrays are not weights of this many features and outputs.
        """
        offsets = stored(arrays, f"{kind}.offsets", np.int64)
        outputs = stored(arrays, f"{kind}.outputs", np.int32)
        weights = stored(arrays, f"{kind}.weights", np.float64)
        rises = offsets.size == n_features + 1 and offsets[0] == 0 and (np.diff(offsets) >= 0).all()
        if not rises or offsets[-1] != outputs.size:
            raise DataError(
                f"{kind}.offsets: expected {n_features + 1} increasing numbers from 0 to "
                f"{outputs.size}, one more than there are features."
            )
        if outputs.size and not 0 <= outputs.min() <= outputs.max() < n_outputs:
            raise DataError(f"{kind}.outputs: expected numbers from 0 to {n_outputs - 1}.")
        found = cls(offsets, outputs, weights)
        same_feature = np.diff(found.features) == 0
        if (np.diff(outputs)[same_feature] <= 0).any():
            raise DataError(
                f"{kind}.outputs: expected strictly increasing output ids within each feature."
            )
        if weights.size != outputs.size:
            raise DataError(f"{kind}.weights: expected {outputs.size} weights, got {weights.size}.")
        return found

    @property
    def features(self) -> IntArray:
        """Feature of each pair, shape ``(K,)``."""
        return np.repeat(np.arange(self.offsets.size - 1), np.diff(self.offsets))

    def score(self, matrix: FeatureMatrix, n_outputs: int, n_jobs: int) -> FloatArray:
        """``X W``, shape ``(N, n_outputs)``."""
        scores = np.empty((matrix.shape[0], n_outputs))
        rows = _core.FeatureRows(matrix.indptr, matrix.indices, matrix.values)
        self._scorer(n_outputs).score(rows, scores, n_jobs)
        return scores

    def _scorer(self, n_outputs: int) -> _core.FeatureScorer:
        scorer: _core.FeatureScorer | None = self.__dict__.get("_cached_scorer")
        if scorer is None:
            scorer = _core.FeatureScorer(n_outputs, self.offsets, self.outputs, self.weights)
            self.__dict__["_cached_scorer"] = scorer
        return scorer
