"""Sparse features of a batch of sequences: what every encoder returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class FeatureMatrix:
    """A sparse matrix in compressed rows, one row a token.

    A feature may occur twice in a row (a bag of words, a list with an item twice); it then counts
    twice, as SciPy would add it up.

    Attributes
    ----------
    indptr : ndarray of int64, shape (N + 1,)
        Row ``i`` lies at ``indptr[i]:indptr[i + 1]``.
    indices : ndarray of int32, shape (nnz,)
        Feature ids.
    values : ndarray of float64, shape (nnz,), or None
        ``None`` when every value is 1.
    n_features : int
        The number of columns.
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    values: NDArray[np.float64] | None
    n_features: int

    @property
    def shape(self) -> tuple[int, int]:
        """The number of tokens and of features."""
        return len(self.indptr) - 1, self.n_features

    def to_scipy(self) -> scipy.sparse.csr_array:
        """Return the same matrix as a SciPy array."""
        values = np.ones(len(self.indices)) if self.values is None else self.values
        return scipy.sparse.csr_array((values, self.indices, self.indptr), shape=self.shape)


@dataclass(frozen=True, eq=False)
class EncodedFeatures:
    """The features of a batch of sequences.

    Attributes
    ----------
    offsets : ndarray of int64, shape (B + 1,)
        Sequence ``b`` has the tokens ``offsets[b]:offsets[b + 1]``.
    state : FeatureMatrix
        Features of the tokens.
    edge : FeatureMatrix or None
        Features of the transition *into* each token; the row of a sequence's first token is empty.
        ``None`` when there are no such templates.
    """

    offsets: NDArray[np.int64]
    state: FeatureMatrix
    edge: FeatureMatrix | None = None
