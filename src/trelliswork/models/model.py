"""The trained model: weights of features and label patterns, and the scores they give.

    score(y) = Σ_segments ( φ(u, v, y) + Σ_{patterns z ending there} ( ψ_z + Σ_f e[u, f] V[f, z] ) )
    φ(u, v, y) = Σ_{t = u … v} x[t]·W[:, y] + b[u]·W_b[:, y] + c[v]·W_c[:, y]
               + s[u, v]·W_s[:, y] + W_l[length, y]

with ``x`` the features of tokens, ``b`` and ``c`` those of the first and the last token of a
segment, ``s`` those of the whole segment and ``e`` those of the transition ("edge") into its first
token. In a chain every token is a segment and ``φ = x·W``. Only some (feature, letter) pairs have a
weight; the others are 0. ``F`` features, ``L`` letters, ``K`` pairs, ``P`` patterns.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from trelliswork import _core
from trelliswork._utils.arrays import stored
from trelliswork._utils.threads import resolve_jobs
from trelliswork.decoding.exact import decode_batch
from trelliswork.errors import DataError
from trelliswork.features.matrix import FeatureMatrix
from trelliswork.features.restore import restore as restore_encoder
from trelliswork.inference.trellis import Trellis
from trelliswork.models.pair_weights import PairWeights
from trelliswork.models.structure import Structure, length_buckets, n_length_buckets

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from numpy.typing import NDArray

    from trelliswork._typing import FloatArray
    from trelliswork.automata.automaton import Automaton
    from trelliswork.automata.patterns import Patterns
    from trelliswork.features import EncodedFeatures, Encoder, SegmentMatrix
    from trelliswork.labels.label_set import LabelSet
    from trelliswork.labels.segmentation import Segmentation
    from trelliswork.planning.plan import Plan


__all__ = ["CRFModel", "length_rows", "segment_rows"]

# The kinds of segment features, in the order of their parameters.
SEGMENT_KINDS = ("begin", "end", "segment", "length")


@dataclass(frozen=True, eq=False)
class CRFModel:
    """A trained model. It is immutable and may be shared by threads.

    Attributes
    ----------
    structure : Structure
        Labels, patterns and segments.
    encoder : Encoder
        Turns input into features.
    state : PairWeights
        ``W``, with letters as outputs.
    pattern_weights : numpy.ndarray
        ``ψ``, shape ``(P,)``.
    edge : PairWeights or None
        ``V``, with patterns as outputs.
    begin, end, segment, length : PairWeights or None
        ``W_b``, ``W_c``, ``W_s`` and ``W_l``; None in a chain.
    """

    structure: Structure
    encoder: Encoder
    state: PairWeights
    pattern_weights: FloatArray
    edge: PairWeights | None = None
    begin: PairWeights | None = None
    end: PairWeights | None = None
    segment: PairWeights | None = None
    length: PairWeights | None = None

    @property
    def labels(self) -> LabelSet:
        """The labels of tokens."""
        return self.structure.labels

    @property
    def patterns(self) -> Patterns:
        """The label patterns that have a weight."""
        return self.structure.patterns

    @property
    def segmentation(self) -> Segmentation | None:
        """The correspondence of segments and token labels; None in a chain."""
        return self.structure.segmentation

    @property
    def automaton(self) -> Automaton:
        """The automaton of the patterns."""
        return self.structure.automaton

    @property
    def is_first_order_chain(self) -> bool:
        """Whether the patterns are all transitions between token labels, and no others."""
        return self.segmentation is None and self.patterns.is_chain

    @cached_property
    def transitions(self) -> FloatArray:
        """Weights of the patterns of two letters, shape ``(L, L)``, rows = previous letter."""
        n_letters = self.structure.n_letters
        if self.patterns.is_chain:
            return self.pattern_weights.reshape(n_letters, n_letters)
        matrix = np.zeros((n_letters, n_letters))
        pairs = np.flatnonzero(self.patterns.lengths == 2)
        at = self.patterns.offsets[pairs]
        matrix[self.patterns.letters[at], self.patterns.letters[at + 1]] = self.pattern_weights[
            pairs
        ]
        return matrix

    def encode(self, sequences: Sequence[object], *, n_jobs: int | None = None) -> EncodedFeatures:
        """Return the features of sequences; unknown ones are left out."""
        return self.encoder.transform(sequences, n_jobs=resolve_jobs(n_jobs))

    def trellis(self, sequences: Sequence[object], *, n_jobs: int | None = None) -> Trellis:
        """Return the scores of a batch, for the functions of `trelliswork.inference`."""
        features = self.encode(sequences, n_jobs=n_jobs)
        jobs = resolve_jobs(n_jobs)
        edge_scores = None
        if self.edge is not None and features.edge is not None:
            edge_scores = self.edge.score(features.edge, self.structure.n_edge_patterns, jobs)
        scores = self.state.score(features.state, self.structure.n_letters, jobs)
        if self.segmentation is not None:
            scores = self._segment_scores(features, scores, self.segmentation, jobs)
        return Trellis(
            scores,
            self.automaton,
            offsets=features.offsets,
            weights=self.pattern_weights,
            position_weights=edge_scores,
        )

    def _segment_scores(
        self,
        features: EncodedFeatures,
        token: FloatArray,
        segmentation: Segmentation,
        n_jobs: int,
    ) -> FloatArray:
        """Return ``φ``, shape ``(N, D, L)``, with ``D`` at most the longest sequence."""
        n_letters = self.structure.n_letters
        n_durations = self.structure.durations_of(features.offsets)

        def score(weights: PairWeights | None, rows: FeatureMatrix | None) -> FloatArray | None:
            if weights is None or rows is None:
                return None
            return weights.score(rows, n_letters, n_jobs)

        own = features.segment
        scores = np.empty((token.shape[0], n_durations, n_letters))
        _core.segment_scores(
            features.offsets,
            token,
            score(self.begin, features.begin),
            score(self.end, features.end),
            score(self.length, length_rows(self.structure.n_durations, n_durations)),
            segmentation.longest,
            None if own is None else own.offsets,
            None if own is None else own.durations,
            score(self.segment, None if own is None else segment_rows(own)),
            scores,
            n_jobs,
        )
        return scores

    def decode(
        self, sequences: Sequence[object], plan: Plan, *, n_jobs: int | None = None
    ) -> list[list[str]]:
        """Return the best labelling of each sequence; infeasible constraints are relaxed."""
        trellis = self.trellis(sequences, n_jobs=n_jobs)
        evidence = plan.evidence(sequences, trellis.offsets)
        found = decode_batch(plan, trellis, evidence, on_infeasible="relax", n_jobs=n_jobs)
        names = plan.names(found.tags)
        return [names[first:last] for first, last in pairwise(trellis.offsets.tolist())]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return all arrays of the model, by name; see :meth:`restore`."""
        parts: dict[str, NDArray[Any]] = {}
        for kind in ("state", "edge", *SEGMENT_KINDS):
            weights: PairWeights | None = getattr(self, kind)
            if weights is not None:
                parts[f"{kind}.offsets"] = weights.offsets
                parts[f"{kind}.outputs"] = weights.outputs
                parts[f"{kind}.weights"] = weights.weights
        if self.patterns.is_chain:
            parts["transitions"] = self.transitions
        else:
            parts["pattern_weights"] = self.pattern_weights
        parts |= {f"patterns.{key}": value for key, value in self.structure.arrays().items()}
        return parts | {f"encoder.{key}": value for key, value in self.encoder.arrays().items()}

    def settings(self) -> dict[str, Any]:
        """Return the rest of the model as JSON values."""
        return {**self.structure.settings(), "encoder": self.encoder.settings()}

    @classmethod
    def restore(cls, settings: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> CRFModel:
        """Return the model with these :meth:`settings` and :meth:`arrays`; no code is executed.

        Raises
        ------
        DataError, LabelError, ValueError, TypeError, KeyError
            If they do not describe a valid model.
        """

        def under(name: str) -> dict[str, NDArray[Any]]:
            prefix = f"{name}."
            return {k.removeprefix(prefix): v for k, v in arrays.items() if k.startswith(prefix)}

        structure = Structure.restore(settings, under("patterns"))
        encoder = restore_encoder(settings["encoder"], under("encoder"))
        sizes = _part_sizes(structure, encoder)
        for kind in ("edge", *SEGMENT_KINDS):
            if under(kind) and kind not in sizes:
                raise DataError(f"{kind}.offsets: the model has no such features.")
        parts = {kind: PairWeights.restore(kind, arrays, *size) for kind, size in sizes.items()}
        name = "transitions" if structure.patterns.is_chain else "pattern_weights"
        flat = {name: arrays[name].reshape(-1)} if name in arrays else {}
        weights = stored(flat, name, np.float64)
        if weights.size != len(structure.patterns):
            raise DataError(
                f"{name}: expected {len(structure.patterns)} weights, got {weights.size}."
            )
        return cls(structure, encoder, parts.pop("state"), weights, **parts)

    def __reduce__(self) -> tuple[Any, ...]:
        # Encoder and scorer live in the core, so the content of a model file is pickled instead.
        return CRFModel.restore, (self.settings(), self.arrays())


def _part_sizes(structure: Structure, encoder: Encoder) -> dict[str, tuple[int, int]]:
    """Return the numbers of features and outputs of each kind of weights.

    Raises
    ------
    DataError
        If the encoder does not fit the structure.
    """
    counts = encoder.feature_counts()
    n_letters, segmentation = structure.n_letters, structure.segmentation
    longest = None if segmentation is None else segmentation.max_duration
    if encoder.max_duration not in (None, longest):
        raise DataError(
            f"limits: expected {encoder.max_duration} tokens at most, as in the features, got "
            f"{longest}."
        )
    sizes = {kind: (n_features, n_letters) for kind, n_features in counts.items()}
    edges = sizes.pop("edge", None)
    if edges is not None and structure.n_edge_patterns:
        sizes["edge"] = edges[0], structure.n_edge_patterns
    if longest is not None:
        sizes["length"] = n_length_buckets(longest), n_letters
    return sizes


def length_rows(n_durations: int, n_rows: int) -> FeatureMatrix:
    """Return segment lengths as features, one row per length.

    Parameters
    ----------
    n_durations
        Maximum segment length of the model.
    n_rows
        Maximum segment length of the result.
    """
    buckets = length_buckets(n_durations)
    return FeatureMatrix(
        np.arange(n_rows + 1, dtype=np.int64), buckets[:n_rows], None, int(buckets[-1]) + 1
    )


def segment_rows(segments: SegmentMatrix) -> FeatureMatrix:
    """Return segment features as a matrix with one row per entry."""
    indptr = np.arange(segments.indices.size + 1, dtype=np.int64)
    return FeatureMatrix(indptr, segments.indices, None, segments.n_features)
