"""The features learned by a :class:`~trelliswork.features.encoder.TemplateEncoder`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from trelliswork import _core
from trelliswork.features.checks import stored_array, stored_texts
from trelliswork.features.matrix import EncodedFeatures, FeatureMatrix, SegmentMatrix

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from trelliswork._typing import IdArray, IntArray
    from trelliswork.features.matrix import SegmentSpec
    from trelliswork.features.program import Part
    from trelliswork.features.templates import CompiledTemplates, Templates


@dataclass(frozen=True, eq=False)
class TemplateVocabulary:
    """The learned features of templates, one index a part. Immutable: threads may share one.

    Attributes
    ----------
    tokens : _core.FeatureIndex
        Features of tokens and of transitions.
    begin, end : _core.FeatureIndex or None
        Features of a segment that begins or ends at a token.
    segment : _core.SegmentIndex or None
        Features of whole segments.
    max_duration : int or None
        The most tokens of a segment; ``None`` in a chain.
    """

    tokens: _core.FeatureIndex
    begin: _core.FeatureIndex | None = None
    end: _core.FeatureIndex | None = None
    segment: _core.SegmentIndex | None = None
    max_duration: int | None = None

    @classmethod
    def fit(
        cls,
        program: CompiledTemplates,
        batch: _core.TokenBatch,
        min_count: int,
        segments: SegmentSpec | None,
        n_workers: int,
    ) -> tuple[TemplateVocabulary, EncodedFeatures]:
        """Learn the features of a batch, and encode it.

        ``segments`` may be ``None`` only where no rule describes segments.
        """

        def learn(
            native: _core.FeatureProgram | None,
        ) -> tuple[_core.FeatureIndex | None, FeatureMatrix | None]:
            if native is None:
                return None, None
            index, rows = _core.FeatureIndex.fit(native, batch, min_count)
            return index, FeatureMatrix(rows[0], rows[1], None, index.n_state)

        tokens, rows = _core.FeatureIndex.fit(program.tokens, batch, min_count)
        begin, begin_features = learn(program.begin)
        end, end_features = learn(program.end)
        segment = None
        if program.segment is not None and segments is not None:
            segment = _core.SegmentIndex.fit(
                program.segment,
                batch,
                np.ascontiguousarray(segments.starts, dtype=np.int64),
                np.ascontiguousarray(segments.ends, dtype=np.int64),
                segments.max_duration,
                min_count,
            )
        duration = None if segments is None else segments.max_duration
        learned = cls(tokens, begin, end, segment, duration)
        return learned, EncodedFeatures(
            batch.offsets(),
            *learned._token_matrices(rows),
            begin_features,
            end_features,
            learned._segment_matrix(batch, n_workers),
        )

    def transform(self, batch: _core.TokenBatch, n_workers: int) -> EncodedFeatures:
        """Encode a batch with the learned features."""

        def encode(index: _core.FeatureIndex | None) -> FeatureMatrix | None:
            if index is None:
                return None
            rows = index.transform(batch, n_workers)
            return FeatureMatrix(rows[0], rows[1], None, index.n_state)

        return EncodedFeatures(
            batch.offsets(),
            *self._token_matrices(self.tokens.transform(batch, n_workers)),
            encode(self.begin),
            encode(self.end),
            self._segment_matrix(batch, n_workers),
        )

    def counts(self) -> dict[str, int]:
        """Return the number of features of each part that the templates describe."""
        found: dict[str, int] = {
            part: index.n_edge if edge else index.n_state
            for part, (index, edge) in self.indexes().items()
        }
        if self.segment is not None:
            found["segment"] = self.segment.n_features
        return found

    def indexes(self) -> dict[Part, tuple[_core.FeatureIndex, bool]]:
        """Return the index of each part of templates, and whether it is its ``edge`` features."""
        found: dict[Part, tuple[_core.FeatureIndex, bool]] = {"state": (self.tokens, False)}
        if self.tokens.has_edges:
            found["edge"] = self.tokens, True
        if self.begin is not None:
            found["begin"] = self.begin, False
        if self.end is not None:
            found["end"] = self.end, False
        return found

    def feature_templates(self, templates: Templates) -> dict[str, tuple[list[str], IdArray]]:
        """Return the names of the templates of each part, and the template of each feature."""
        named = list(zip(templates.templates, templates.names, strict=True))
        found: dict[str, tuple[list[str], IdArray]] = {
            part: ([n for t, n in named if t.part == part], index.feature_templates(edge))
            for part, (index, edge) in self.indexes().items()
        }
        if self.segment is not None:
            rules = [rule.name for rule in templates.segment_rules]
            found["segment"] = rules, self.segment.feature_rules()
        return found

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Return all learned features as arrays; those of segments have a prefix."""
        found = dict(self.tokens.arrays())
        for prefix in ("begin", "end", "segment"):
            index: _core.FeatureIndex | _core.SegmentIndex | None = getattr(self, prefix)
            if index is not None:
                found |= {f"{prefix}.{name}": array for name, array in index.arrays().items()}
        return found

    @classmethod
    def restore(
        cls,
        program: CompiledTemplates,
        arrays: Mapping[str, NDArray[np.generic]],
        max_duration: int | None,
    ) -> TemplateVocabulary:
        """Rebuild a vocabulary from :meth:`arrays`."""

        def index(native: _core.FeatureProgram, prefix: str) -> _core.FeatureIndex:
            return _core.FeatureIndex.from_arrays(
                native,
                *stored_texts(arrays, f"{prefix}value"),
                stored_array(arrays, f"{prefix}value_counts", np.int64),
                stored_array(arrays, f"{prefix}ngram_keys", np.uint64),
                stored_array(arrays, f"{prefix}ngram_counts", np.int64),
                stored_array(arrays, f"{prefix}feature_rows", np.int32),
                stored_array(arrays, f"{prefix}n_features", np.int64),
            )

        segment = None
        if program.segment is not None:
            segment = _core.SegmentIndex.from_arrays(
                program.segment,
                *stored_texts(arrays, "segment.word"),
                stored_array(arrays, "segment.word_counts", np.int64),
                stored_array(arrays, "segment.step_keys", np.uint64),
                stored_array(arrays, "segment.step_counts", np.int64),
                stored_array(arrays, "segment.node_features", np.int32),
                stored_array(arrays, "segment.rule_features", np.int32),
            )
        return cls(
            index(program.tokens, ""),
            None if program.begin is None else index(program.begin, "begin."),
            None if program.end is None else index(program.end, "end."),
            segment,
            max_duration,
        )

    def _token_matrices(
        self,
        rows: tuple[IntArray, IdArray, IntArray, IdArray],
    ) -> tuple[FeatureMatrix, FeatureMatrix | None]:
        state_indptr, state_indices, edge_indptr, edge_indices = rows
        state = FeatureMatrix(state_indptr, state_indices, None, self.tokens.n_state)
        if not self.tokens.has_edges:
            return state, None
        return state, FeatureMatrix(edge_indptr, edge_indices, None, self.tokens.n_edge)

    def _segment_matrix(self, batch: _core.TokenBatch, n_workers: int) -> SegmentMatrix | None:
        if self.segment is None or self.max_duration is None:
            return None
        rows = self.segment.transform(batch, self.max_duration, n_workers)
        return SegmentMatrix(*rows, self.segment.n_features)
