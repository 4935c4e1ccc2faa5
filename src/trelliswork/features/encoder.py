"""The `Encoder` protocol, and `TemplateEncoder`, which extracts features from text.

All encoders follow :class:`Encoder`. ``fit`` learns the features and encodes the training data;
``transform`` encodes with the learned features and skips unknown ones; it has no side effects and
may be called from many threads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from trelliswork import _core
from trelliswork._utils.threads import resolve_jobs
from trelliswork.features.bundles import resolve
from trelliswork.features.checks import as_list, check_min_count, require_fitted
from trelliswork.features.selection import select_features
from trelliswork.features.templates import Templates
from trelliswork.features.vocabulary import TemplateVocabulary

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import ArrayLike, NDArray

    from trelliswork._typing import IdArray
    from trelliswork.features.matrix import EncodedFeatures, SegmentSpec
    from trelliswork.features.program import Column


class Encoder(Protocol):
    """The interface of encoders, as estimators use it."""

    kind: str

    def fit(
        self,
        sequences: Iterable[object],
        *,
        min_count: int = 1,
        n_jobs: int | None = 1,
        segments: SegmentSpec | None = None,
    ) -> EncodedFeatures:
        """Learn the features that occur at least ``min_count`` times, and encode.

        ``segments`` are the gold segments of a semi-Markov model, from which features of segments
        are learned; ``None`` for a chain.
        """

    def transform(self, sequences: Iterable[object], *, n_jobs: int | None = 1) -> EncodedFeatures:
        """Encode with the features learned."""

    def select(
        self,
        keep_state: ArrayLike,
        keep_edge: ArrayLike | None = None,
        *,
        keep_begin: ArrayLike | None = None,
        keep_end: ArrayLike | None = None,
        keep_segment: ArrayLike | None = None,
    ) -> Encoder:
        """Return an encoder of the kept features only, renumbered in order."""

    def feature_names(self) -> list[str]:
        """Return a readable name for every feature of tokens."""

    def edge_feature_names(self) -> list[str]:
        """Return a readable name for every feature of transitions."""

    def begin_feature_names(self) -> list[str]:
        """Return a readable name for every feature of a segment that begins at a token."""

    def end_feature_names(self) -> list[str]:
        """Return a readable name for every feature of a segment that ends at a token."""

    def segment_feature_names(self) -> list[str]:
        """Return a readable name for every feature of whole segments."""

    def feature_counts(self) -> dict[str, int]:
        """Return the number of features of each kind that the encoder describes."""

    def feature_templates(self) -> dict[str, tuple[list[str], IdArray]]:
        """Return the template of each feature; the features of one template belong together.

        For each kind of :meth:`feature_counts`: the names of the templates, and for every feature
        the index of its template, shape ``(F,)``.
        """

    @property
    def max_duration(self) -> int | None:
        """Maximum number of tokens of a segment with features; ``None``: any number."""

    def settings(self) -> dict[str, object]:
        """Return the state apart from the arrays, as JSON values."""

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Return the vocabulary as arrays."""


class TokenFeaturesOnly:
    """Mixin of encoders whose only features are those of tokens."""

    kind: str
    max_duration: int | None = None

    def _refuse_to_keep(self, *others: ArrayLike | None) -> None:
        """Raise a `ValueError` if a mask is given for other features than those of tokens."""
        if any(keep is not None and np.size(keep) for keep in others):
            raise ValueError(
                f"expected a mask for features of tokens alone: {self.kind} has no others."
            )

    def edge_feature_names(self) -> list[str]:
        """Return an empty list: transitions have no features."""
        return []

    def begin_feature_names(self) -> list[str]:
        """Return an empty list: the first token of a segment has no features of its own."""
        return []

    def end_feature_names(self) -> list[str]:
        """Return an empty list: the last token of a segment has no features of its own."""
        return []

    def segment_feature_names(self) -> list[str]:
        """Return an empty list: whole segments have no features."""
        return []


class TemplateEncoder:
    r"""An encoder of sentences by templates.

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
        self._vocabulary: TemplateVocabulary | None = None
        self._keys = list(self.templates.program.columns)
        self._names_in_rows = _has_one_name(self._keys)

    def fit(
        self,
        sequences: Iterable[object],
        *,
        min_count: int = 1,
        n_jobs: int | None = 1,
        segments: SegmentSpec | None = None,
    ) -> EncodedFeatures:
        """Learn the features of sentences.

        Parameters
        ----------
        sequences : iterable of sentences
        min_count : int, optional
            Leave out features seen fewer times; those of whole segments are counted in the gold
            segments.
        n_jobs : int, optional
            Threads that look segments up; one thread learns.
        segments : SegmentSpec, optional
            The gold segments and the longest duration, in a semi-Markov model.
        """
        check_min_count(min_count)
        jobs = resolve_jobs(n_jobs)
        if segments is None and self.templates.has_segments:
            raise ValueError(
                "the templates have rules of segments (begin:, end: or segment:), which a chain "
                "does not use: expected max_segment > 1, or templates without such rules."
            )
        batch = self._read(sequences)
        self._vocabulary, encoded = TemplateVocabulary.fit(
            self.templates.program, batch, min_count, segments, jobs
        )
        return encoded

    def transform(self, sequences: Iterable[object], *, n_jobs: int | None = 1) -> EncodedFeatures:
        """Encode sentences with the learned features; unknown features are skipped."""
        batch = self._read(sequences)
        return require_fitted(self._vocabulary).transform(batch, resolve_jobs(n_jobs))

    def select(
        self,
        keep_state: ArrayLike,
        keep_edge: ArrayLike | None = None,
        *,
        keep_begin: ArrayLike | None = None,
        keep_end: ArrayLike | None = None,
        keep_segment: ArrayLike | None = None,
    ) -> TemplateEncoder:
        """Return an encoder of the kept features only, renumbered in order.

        Templates without kept features are dropped, and no longer read from text; see
        :meth:`~trelliswork.features.templates.Templates.keep` for the few that stay. A part of
        which nothing is kept, other than ``state``, is then no part of the encoder.

        Parameters
        ----------
        keep_state, keep_edge, keep_begin, keep_end, keep_segment : array_like of bool
            One entry a feature; ``None`` keeps all of a part.
        """
        templates, vocabulary = select_features(
            self.templates,
            require_fitted(self._vocabulary),
            {
                "state": keep_state,
                "edge": keep_edge,
                "begin": keep_begin,
                "end": keep_end,
                "segment": keep_segment,
            },
        )
        smaller = TemplateEncoder(templates)
        smaller._vocabulary = vocabulary
        # The only named column left is not the tag where there were others.
        smaller._names_in_rows &= self._names_in_rows
        return smaller

    def feature_names(self) -> list[str]:
        """Return the names of the token features, such as ``word[-1]=the|word[0]=cat``."""
        return require_fitted(self._vocabulary).tokens.names(edge=False)

    def edge_feature_names(self) -> list[str]:
        """Return the names of the transition features."""
        return require_fitted(self._vocabulary).tokens.names(edge=True)

    def begin_feature_names(self) -> list[str]:
        """Return the names of the ``begin:`` features, such as ``begin: lower(word[0])=new``."""
        index = require_fitted(self._vocabulary).begin
        return [] if index is None else index.names(edge=False)

    def end_feature_names(self) -> list[str]:
        """Return the names of the ``end:`` features."""
        index = require_fitted(self._vocabulary).end
        return [] if index is None else index.names(edge=False)

    def segment_feature_names(self) -> list[str]:
        """Return the names of the ``segment:`` features, such as ``segment: text=new york``."""
        index = require_fitted(self._vocabulary).segment
        return [] if index is None else index.names()

    def feature_counts(self) -> dict[str, int]:
        """Return the number of features of each kind that the templates describe."""
        return require_fitted(self._vocabulary).counts()

    def feature_templates(self) -> dict[str, tuple[list[str], IdArray]]:
        """Return the templates of each part as text, and the template of each feature.

        Lines of a CRF++ file that share their features share them with the first: they are its.
        """
        return require_fitted(self._vocabulary).feature_templates(self.templates)

    @property
    def max_duration(self) -> int | None:
        """The most tokens of a segment, learned by :meth:`fit`; ``None`` in a chain."""
        return None if self._vocabulary is None else self._vocabulary.max_duration

    def settings(self) -> dict[str, object]:
        """Return the templates, and the longest segment if there are segments, as JSON values."""
        settings: dict[str, object] = {
            "kind": self.kind,
            "templates": dict(self.templates.to_dict()),
        }
        if self.max_duration is not None:
            settings["max_duration"] = self.max_duration
        if self._names_in_rows != _has_one_name(self._keys):
            settings["names_in_rows"] = self._names_in_rows
        return settings

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Return the vocabulary as arrays."""
        return require_fitted(self._vocabulary).arrays()

    @classmethod
    def restore(
        cls, settings: Mapping[str, object], arrays: Mapping[str, NDArray[np.generic]]
    ) -> TemplateEncoder:
        """Rebuild an encoder from :meth:`settings` and :meth:`arrays`."""
        templates = settings.get("templates")
        if not isinstance(templates, dict):
            raise ValueError("expected the templates of the encoder in its settings.")
        encoder = cls(Templates.from_dict(templates))
        encoder._names_in_rows &= settings.get("names_in_rows") is not False
        max_duration = settings.get("max_duration")
        if max_duration is None and not encoder.templates.has_segments:
            duration = None
        elif isinstance(max_duration, int) and 1 <= max_duration < 2**31:
            duration = max_duration
        else:
            raise ValueError(
                f"expected the most tokens of a segment in max_duration, got {max_duration!r}."
            )
        encoder._vocabulary = TemplateVocabulary.restore(
            encoder.templates.program, arrays, duration
        )
        return encoder

    def __reduce__(self) -> tuple[object, ...]:
        if self._vocabulary is None:
            return TemplateEncoder, (self.templates,)
        return TemplateEncoder.restore, (self.settings(), self.arrays())

    def _read(self, sequences: Iterable[object]) -> _core.TokenBatch:
        of_name = 1 if self._names_in_rows else -1
        in_rows = [0 if k is None else k if isinstance(k, int) else of_name for k in self._keys]
        return _core.TokenBatch(as_list(sequences), self._keys, in_rows)


def _has_one_name(columns: Iterable[Column]) -> bool:
    """Return whether one column has a name: in (token, tag) rows it can only be the tag."""
    others = [column for column in columns if column is not None]
    return len(others) == 1 and isinstance(others[0], str)
