"""Sparse features of a batch of sequences, the result of every encoder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy

if TYPE_CHECKING:
    from trelliswork._typing import FloatArray, IdArray, IntArray


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

    indptr: IntArray
    indices: IdArray
    values: FloatArray | None
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
class SegmentMatrix:
    """Sparse features of whole segments, by their last token.

    A segment ``(u, d)`` has the tokens ``u … u + d − 1``. Only segments with a feature are listed;
    every value is 1.

    Attributes
    ----------
    offsets : ndarray of int64, shape (N + 1,)
        The entries of segments whose last token is ``v`` lie at ``offsets[v]:offsets[v + 1]``, by
        rising duration.
    durations : ndarray of int32, shape (nnz,)
        The number of tokens of the segment of each entry, at least 1.
    indices : ndarray of int32, shape (nnz,)
        Feature ids.
    n_features : int
        The number of features.
    """

    offsets: IntArray
    durations: IdArray
    indices: IdArray
    n_features: int

    @property
    def starts(self) -> IntArray:
        """The first token of the segment of each entry, shape ``(nnz,)``."""
        last = np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))
        return last - self.durations + 1


@dataclass(frozen=True, eq=False)
class SegmentSpec:
    """The segments that features are learned from, and the longest ones.

    Attributes
    ----------
    starts, ends : ndarray of int64, shape (M,)
        Gold segments: the tokens ``starts[i]:ends[i]``, counted over the whole batch.
    max_duration : int
        The most tokens of any segment, ``D``.
    """

    starts: IntArray
    ends: IntArray
    max_duration: int


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
    begin, end : FeatureMatrix or None
        Features of a segment that begins, or ends, at each token. ``None`` when there are no such
        templates.
    segment : SegmentMatrix or None
        Features of whole segments. ``None`` when there are no such templates.
    """

    offsets: IntArray
    state: FeatureMatrix
    edge: FeatureMatrix | None = None
    begin: FeatureMatrix | None = None
    end: FeatureMatrix | None = None
    segment: SegmentMatrix | None = None
