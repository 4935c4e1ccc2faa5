"""Encoders: from what users have (text, dicts, matrices) to sparse features, and back from a file.

All encoders follow :class:`Encoder`. ``fit`` learns the features and encodes the training data;
``transform`` encodes with the features known, leaves unknown ones out, changes nothing and may be
called from many threads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

import numpy as np

from trelliswork import _core
from trelliswork.features.bundles import resolve
from trelliswork.features.matrix import EncodedFeatures, FeatureMatrix
from trelliswork.features.templates import Templates
from trelliswork.parallel import resolve_jobs

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import ArrayLike, NDArray

T = TypeVar("T")


class Encoder(Protocol):
    """What an estimator needs of a way to make features."""

    kind: str

    def fit(
        self, sequences: Iterable[object], *, min_count: int = 1, n_jobs: int | None = 1
    ) -> EncodedFeatures:
        """Learn the features that occur at least ``min_count`` times, and encode."""

    def transform(self, sequences: Iterable[object], *, n_jobs: int | None = 1) -> EncodedFeatures:
        """Encode with the features learned."""

    def select(self, keep_state: ArrayLike, keep_edge: ArrayLike | None = None) -> Encoder:
        """Return an encoder of the kept features only, renumbered in order."""

    def feature_names(self) -> list[str]:
        """Return a readable name for every feature of tokens."""

    def edge_feature_names(self) -> list[str]:
        """Return a readable name for every feature of transitions."""

    def settings(self) -> dict[str, object]:
        """Return what is not an array, as JSON values."""

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Return the vocabulary as arrays."""


class TemplateEncoder:
    r"""Features of tokens by templates.

    A sentence is a list or tuple of token strings, a list of ``(token, …)`` rows, or an object with
    ``tokens`` and ``columns`` (a mapping from names to sequences of strings).

    Parameters
    ----------
    templates : Templates, str or None
        As for :func:`~trelliswork.features.bundles.resolve`.

    Examples
    --------
    >>> encoder = TemplateEncoder("word[0]\nsuffix(word, 1..2)")
    >>> encoder.fit([["the", "cat"]]).state.shape
    (2, 6)
    >>> encoder.feature_names()[:3]
    ['word[0]=the', 'suffix(word[0], 1)=e', 'suffix(word[0], 2)=he']
    """

    kind = "templates"

    def __init__(self, templates: Templates | str | None = None) -> None:
        self.templates = resolve(templates)
        self._index: _core.FeatureIndex | None = None
        columns = self.templates.program.columns
        self._keys = list(columns)
        named = [column for column in columns if isinstance(column, str)]
        numbered = any(isinstance(column, int) for column in columns)
        # In (token, tag) rows the only named column can only be the tag.
        place_of_name = 1 if len(named) == 1 and not numbered else -1
        self._in_rows = [
            0 if key is None else key if isinstance(key, int) else place_of_name for key in columns
        ]

    def fit(
        self, sequences: Iterable[object], *, min_count: int = 1, n_jobs: int | None = 1
    ) -> EncodedFeatures:
        """Learn the features of sentences; ``n_jobs`` is there for uniformity: one thread works."""
        check_min_count(min_count)
        resolve_jobs(n_jobs)
        batch = self._read(sequences)
        program = self.templates.program.native
        self._index, arrays = _core.FeatureIndex.fit(program, batch, min_count)
        return self._encoded(batch, arrays)

    def transform(self, sequences: Iterable[object], *, n_jobs: int | None = 1) -> EncodedFeatures:
        """Encode sentences with the features learned; unknown features are left out."""
        batch = self._read(sequences)
        return self._encoded(batch, fitted(self._index).transform(batch, resolve_jobs(n_jobs)))

    def select(self, keep_state: ArrayLike, keep_edge: ArrayLike | None = None) -> TemplateEncoder:
        """Return an encoder of the kept features only, renumbered in order."""
        index = fitted(self._index)
        edge = np.ones(index.n_edge, bool) if keep_edge is None else keep_edge
        smaller = TemplateEncoder(self.templates)
        smaller._index = index.select(as_mask(keep_state), as_mask(edge))
        return smaller

    def feature_names(self) -> list[str]:
        """Return the names of the token features, such as ``word[-1]=the|word[0]=cat``."""
        return fitted(self._index).names(edge=False)

    def edge_feature_names(self) -> list[str]:
        """Return the names of the transition features."""
        return fitted(self._index).names(edge=True)

    def settings(self) -> dict[str, object]:
        """Return the templates as JSON values."""
        return {"kind": self.kind, "templates": dict(self.templates.to_dict())}

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Return the vocabulary as arrays."""
        return fitted(self._index).arrays()

    @classmethod
    def restore(
        cls, settings: Mapping[str, object], arrays: Mapping[str, NDArray[np.generic]]
    ) -> TemplateEncoder:
        """Rebuild an encoder from :meth:`settings` and :meth:`arrays`."""
        templates = settings.get("templates")
        if not isinstance(templates, dict):
            raise ValueError("expected the templates of the encoder in its settings.")
        encoder = cls(Templates.from_dict(templates))
        encoder._index = _core.FeatureIndex.from_arrays(
            encoder.templates.program.native,
            stored_array(arrays, "value_bytes", np.uint8),
            stored_array(arrays, "value_offsets", np.int64),
            stored_array(arrays, "value_counts", np.int64),
            stored_array(arrays, "ngram_keys", np.uint64),
            stored_array(arrays, "ngram_counts", np.int64),
            stored_array(arrays, "feature_rows", np.int32),
            stored_array(arrays, "n_features", np.int64),
        )
        return encoder

    def __reduce__(self) -> tuple[object, ...]:
        if self._index is None:
            return TemplateEncoder, (self.templates,)
        return TemplateEncoder.restore, (self.settings(), self.arrays())

    def _read(self, sequences: Iterable[object]) -> _core.TokenBatch:
        return _core.TokenBatch(as_list(sequences), self._keys, self._in_rows)

    def _encoded(
        self,
        batch: _core.TokenBatch,
        arrays: tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64], NDArray[np.int32]],
    ) -> EncodedFeatures:
        index = fitted(self._index)
        state_indptr, state_indices, edge_indptr, edge_indices = arrays
        state = FeatureMatrix(state_indptr, state_indices, None, index.n_state)
        edge = None
        if self.templates.has_edges:
            edge = FeatureMatrix(edge_indptr, edge_indices, None, index.n_edge)
        return EncodedFeatures(batch.offsets(), state, edge)


def fitted(index: T | None) -> T:
    """Return the index, or say that there is none yet."""
    if index is None:
        raise ValueError("this encoder has learned no features yet: call fit first.")
    return index


def as_list(sequences: Iterable[object]) -> list[object]:
    """Return the sequences as a list; a single string is a mistake worth naming."""
    if isinstance(sequences, str):
        raise TypeError("expected a list of sentences, got one str.")
    return sequences if isinstance(sequences, list) else list(sequences)


def as_mask(keep: ArrayLike) -> NDArray[np.uint8]:
    """Return what to keep as the core reads it."""
    return np.ascontiguousarray(keep, dtype=bool).view(np.uint8)


def check_min_count(min_count: int) -> None:
    """Refuse thresholds that would keep features nobody has seen."""
    if min_count < 1:
        raise ValueError(f"expected min_count of at least 1, got {min_count}.")


S = TypeVar("S", bound=np.generic)


def stored_array(
    arrays: Mapping[str, NDArray[np.generic]], name: str, dtype: type[S]
) -> NDArray[S]:
    """Take an array of a stored model, checking that it is there and of the right kind."""
    array = arrays.get(name)
    if array is None:
        raise ValueError(f"the array {name!r} of the feature vocabulary is missing.")
    if array.dtype != dtype or array.ndim != 1:
        raise ValueError(
            f"expected the array {name!r} with one dimension of {np.dtype(dtype)}, "
            f"got {array.ndim} of {array.dtype}."
        )
    return np.ascontiguousarray(array, dtype=dtype)
