"""`DictEncoder`: one dict or list of named features a token, as sklearn-crfsuite takes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trelliswork import _core
from trelliswork._utils.threads import resolve_jobs
from trelliswork.features.checks import (
    as_list,
    as_mask,
    check_min_count,
    require_fitted,
    stored_texts,
)
from trelliswork.features.encoder import TokenFeaturesOnly
from trelliswork.features.matrix import EncodedFeatures, FeatureMatrix

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from trelliswork._typing import FloatArray, IdArray, IntArray
    from trelliswork.features.matrix import SegmentSpec


class DictEncoder(TokenFeaturesOnly):
    """Features given by name for every token.

    A token is a dict or a list of names. The type of a value in a dict decides its meaning, as in
    python-crfsuite:

    ============================  ==================================================
    ``{"word": "the"}``           the feature ``word:the``
    ``{"length": 3.0}``           the feature ``length`` with the value 3
    ``{"is_title": True}``        the feature ``is_title``; nothing when false
    ``{"suffix": ["e", "he"]}``   the features ``suffix:e`` and ``suffix:he``
    ``{"left": {"word": "a"}}``   the feature ``left:word:a``
    ``["word:the", "title"]``     these two features
    ============================  ==================================================

    A value of zero says nothing about a token, so it is left out.

    Examples
    --------
    >>> encoder = DictEncoder()
    >>> encoder.fit([[{"word": "the"}, {"word": "cat", "length": 3.0}]]).state.values
    array([1., 1., 3.])
    >>> encoder.feature_names()
    ['word:the', 'word:cat', 'length']
    """

    kind = "dicts"

    def __init__(self) -> None:
        self._index: _core.ItemIndex | None = None

    def fit(
        self,
        sequences: Iterable[object],
        *,
        min_count: int = 1,
        n_jobs: int | None = 1,
        segments: SegmentSpec | None = None,
    ) -> EncodedFeatures:
        """Learn the names and encode; ``n_jobs`` is ignored."""
        del segments  # there is nothing to learn from them
        check_min_count(min_count)
        resolve_jobs(n_jobs)
        batch = _core.ItemBatch(as_list(sequences))
        self._index, arrays = _core.ItemIndex.fit(batch, min_count)
        return self._encoded(batch, arrays)

    def transform(self, sequences: Iterable[object], *, n_jobs: int | None = 1) -> EncodedFeatures:
        """Encode with the learned names; ``n_jobs`` is ignored."""
        resolve_jobs(n_jobs)
        batch = _core.ItemBatch(as_list(sequences))
        return self._encoded(batch, require_fitted(self._index).transform(batch))

    def select(
        self,
        keep_state: ArrayLike,
        keep_edge: ArrayLike | None = None,
        *,
        keep_begin: ArrayLike | None = None,
        keep_end: ArrayLike | None = None,
        keep_segment: ArrayLike | None = None,
    ) -> DictEncoder:
        """Return an encoder with the kept features alone, renumbered in order."""
        self._refuse_to_keep(keep_edge, keep_begin, keep_end, keep_segment)
        smaller = DictEncoder()
        smaller._index = require_fitted(self._index).select(as_mask(keep_state))
        return smaller

    def feature_names(self) -> list[str]:
        """Return the names learned, in the order of their ids."""
        return require_fitted(self._index).names()

    def feature_counts(self) -> dict[str, int]:
        """Return the number of names learned."""
        return {"state": require_fitted(self._index).n_features}

    def feature_templates(self) -> dict[str, tuple[list[str], IdArray]]:
        """Return the keys of the dicts, and the key of each feature.

        Nested keys are joined: ``left:word``. Of a name in a list of names, and of all names after
        loading, the key is what stands before the last ``:`` or ``=``, or else the whole name.
        """
        return {"state": require_fitted(self._index).feature_templates()}

    def settings(self) -> dict[str, object]:
        """Return the kind of the encoder."""
        return {"kind": self.kind}

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Return the names as arrays."""
        return require_fitted(self._index).arrays()

    @classmethod
    def restore(
        cls, settings: Mapping[str, object], arrays: Mapping[str, NDArray[np.generic]]
    ) -> DictEncoder:
        """Rebuild an encoder from :meth:`settings` and :meth:`arrays`."""
        del settings
        encoder = cls()
        encoder._index = _core.ItemIndex(*stored_texts(arrays, "name"))
        return encoder

    def __reduce__(self) -> tuple[object, ...]:
        if self._index is None:
            return DictEncoder, ()
        return DictEncoder.restore, (self.settings(), self.arrays())

    def _encoded(
        self,
        batch: _core.ItemBatch,
        arrays: tuple[IntArray, IdArray, FloatArray | None],
    ) -> EncodedFeatures:
        n_features = require_fitted(self._index).n_features
        return EncodedFeatures(batch.offsets(), FeatureMatrix(*arrays, n_features))
