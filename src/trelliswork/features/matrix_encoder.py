"""`MatrixEncoder`: one ready-made feature matrix a sequence."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np
import scipy

from trelliswork._utils.threads import resolve_jobs
from trelliswork.features.checks import (
    as_list,
    check_min_count,
    require_fitted,
    stored_array,
)
from trelliswork.features.encoder import TokenFeaturesOnly
from trelliswork.features.matrix import EncodedFeatures, FeatureMatrix

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import ArrayLike, NDArray

    from trelliswork._typing import IdArray, IntArray
    from trelliswork.features.matrix import SegmentSpec


class MatrixEncoder(TokenFeaturesOnly):
    """Features given as one matrix a sequence: rows are tokens, columns are features.

    A matrix is a SciPy sparse matrix or array, or anything NumPy reads as two-dimensional. The
    number of columns is fixed by :meth:`fit`.

    Examples
    --------
    >>> MatrixEncoder().fit([[[0.0, 2.0], [1.0, 0.0]]]).state.indices
    array([1, 0], dtype=int32)
    """

    kind = "matrices"

    def __init__(self) -> None:
        # Of the columns given, those used as features: ids in the order of the columns.
        self._kept: IntArray | None = None
        self._n_columns = 0

    def fit(
        self,
        sequences: Iterable[object],
        *,
        min_count: int = 1,
        n_jobs: int | None = 1,
        segments: SegmentSpec | None = None,
    ) -> EncodedFeatures:
        """Fix the columns; those filled in fewer than ``min_count`` rows are left out."""
        del segments  # there is nothing to learn from them
        check_min_count(min_count)
        resolve_jobs(n_jobs)
        matrices = [_as_rows(s, i) for i, s in enumerate(as_list(sequences))]
        if not matrices:
            raise ValueError("expected at least one matrix to learn the number of columns from.")
        self._n_columns = matrices[0].shape[1]
        stacked, offsets = self._stack(matrices)
        counts = np.bincount(stacked.indices, minlength=self._n_columns)
        frequent = np.flatnonzero(counts >= min_count) if min_count > 1 else None
        self._kept = np.arange(self._n_columns) if frequent is None else frequent
        return self._encoded(stacked, offsets)

    def transform(self, sequences: Iterable[object], *, n_jobs: int | None = 1) -> EncodedFeatures:
        """Encode matrices with as many columns as :meth:`fit` saw."""
        require_fitted(self._kept)
        resolve_jobs(n_jobs)
        matrices = [_as_rows(s, i) for i, s in enumerate(as_list(sequences))]
        return self._encoded(*self._stack(matrices))

    def select(
        self,
        keep_state: ArrayLike,
        keep_edge: ArrayLike | None = None,
        *,
        keep_begin: ArrayLike | None = None,
        keep_end: ArrayLike | None = None,
        keep_segment: ArrayLike | None = None,
    ) -> MatrixEncoder:
        """Return an encoder of the kept features only, renumbered in order."""
        self._refuse_to_keep(keep_edge, keep_begin, keep_end, keep_segment)
        kept = require_fitted(self._kept)
        keep = np.asarray(keep_state, bool)
        if keep.shape != kept.shape:
            raise ValueError(f"expected {len(kept)} entries to keep or drop, got {keep.size}.")
        smaller = MatrixEncoder()
        smaller._kept, smaller._n_columns = kept[keep], self._n_columns
        return smaller

    def feature_names(self) -> list[str]:
        """Return the numbers of the columns as text."""
        return [f"column {column}" for column in require_fitted(self._kept).tolist()]

    def feature_counts(self) -> dict[str, int]:
        """Return the number of columns that are features."""
        return {"state": len(require_fitted(self._kept))}

    def feature_templates(self) -> dict[str, tuple[list[str], IdArray]]:
        """Return every feature as a template of its own: columns have no groups."""
        names = self.feature_names()
        return {"state": (names, np.arange(len(names), dtype=np.int32))}

    def settings(self) -> dict[str, object]:
        """Return the kind of the encoder and its number of input columns."""
        require_fitted(self._kept)
        return {"kind": self.kind, "n_columns": self._n_columns}

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Return the columns that are features."""
        return {"kept_columns": require_fitted(self._kept)}

    @classmethod
    def restore(
        cls, settings: Mapping[str, object], arrays: Mapping[str, NDArray[np.generic]]
    ) -> MatrixEncoder:
        """Rebuild an encoder from :meth:`settings` and :meth:`arrays`."""
        encoder = cls()
        n_columns = settings.get("n_columns")
        if not isinstance(n_columns, int) or not 0 <= n_columns < 2**31:
            raise ValueError(f"expected a number of feature columns, got {n_columns!r}.")
        kept = stored_array(arrays, "kept_columns", np.int64)
        in_order = bool(np.all(np.diff(kept) > 0))
        if kept.size and (not in_order or kept[0] < 0 or kept[-1] >= n_columns):
            raise ValueError("the columns kept are out of order or out of range.")
        encoder._kept, encoder._n_columns = kept, n_columns
        return encoder

    def _stack(
        self, matrices: list[scipy.sparse.csr_array]
    ) -> tuple[scipy.sparse.csr_array, IntArray]:
        for i, matrix in enumerate(matrices):
            if matrix.shape[1] != self._n_columns:
                raise ValueError(
                    f"sequence {i}: expected {self._n_columns} feature columns, "
                    f"got {matrix.shape[1]}."
                )
        lengths = [matrix.shape[0] for matrix in matrices]
        offsets = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int64)
        filled = [matrix for matrix in matrices if matrix.shape[0]]
        if not filled:
            return scipy.sparse.csr_array((0, self._n_columns), dtype=np.float64), offsets
        return scipy.sparse.csr_array(scipy.sparse.vstack(filled, format="csr")), offsets

    def _encoded(self, stacked: scipy.sparse.csr_array, offsets: IntArray) -> EncodedFeatures:
        kept = require_fitted(self._kept)
        if len(kept) < self._n_columns:
            stacked = scipy.sparse.csr_array(stacked[:, kept])
        values = None if bool(np.all(stacked.data == 1.0)) else stacked.data.astype(np.float64)
        state = FeatureMatrix(
            stacked.indptr.astype(np.int64), stacked.indices.astype(np.int32), values, len(kept)
        )
        return EncodedFeatures(offsets, state)


def _as_rows(matrix: object, index: int) -> scipy.sparse.csr_array:
    """Return a matrix as compressed rows of finite numbers, without stored zeros."""
    rows: scipy.sparse.csr_array
    if scipy.sparse.issparse(matrix):
        known = cast("scipy.sparse.csr_array", matrix)
        rows = scipy.sparse.csr_array(known.astype(np.float64, copy=True))
    else:
        dense = np.asarray(matrix, dtype=np.float64)
        if dense.ndim != 2:
            raise ValueError(
                f"sequence {index}: expected a matrix of tokens by features, "
                f"got an array with shape {dense.shape}."
            )
        rows = scipy.sparse.csr_array(dense)
    if not np.all(np.isfinite(rows.data)):
        raise ValueError(f"sequence {index}: expected finite numbers, got NaN or infinity.")
    rows.sum_duplicates()
    rows.eliminate_zeros()
    return rows
