"""Inspect a trained tagger: its size, and its largest and smallest weights.

>>> from trelliswork import CRFTagger
>>> tagger = CRFTagger(features="word[0]").fit([["a", "b"], ["a"]], [["X", "Y"], ["X"]])
>>> top_features(tagger, "X", 1).positive[0].name
'word[0]=a'
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from trelliswork.errors import LabelError
from trelliswork.features import ObservationEncoder
from trelliswork.models.structure import length_buckets

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from trelliswork._typing import FloatArray
    from trelliswork.automata.patterns import Patterns
    from trelliswork.models.model import CRFModel
    from trelliswork.models.pair_weights import PairWeights
    from trelliswork.taggers.base import Tagger

__all__ = [
    "ModelSizes",
    "NamedWeight",
    "PatternWeights",
    "TopFeatures",
    "feature_names",
    "top_edge_features",
    "top_features",
    "top_transitions",
]


@dataclass(frozen=True, slots=True)
class ModelSizes:
    """Sizes of a model.

    Attributes
    ----------
    labels
        Number of labels.
    features, edge_features, segment_features
        Number of features of tokens, of transitions, and of segments (first token, last token,
        length and whole segment).
    patterns
        Number of label patterns; in a chain of order 1, of all transitions.
    weights
        Number of weights: of pairs of a feature and a label (or pattern), and of label patterns.
        The transitions of a chain are a full matrix, in which zeros are not counted.
    nonzero
        Number of nonzero weights.
    """

    labels: int
    features: int
    edge_features: int
    segment_features: int
    patterns: int
    weights: int
    nonzero: int

    @classmethod
    def of(cls, tagger: Tagger) -> ModelSizes:
        """Return the sizes of a trained tagger."""
        model = tagger.model_
        of_segments = [part for part in _segment_parts(model) if part is not None]
        parts = [part for part in (model.state, model.edge, *of_segments) if part is not None]
        nonzero = int(np.count_nonzero(model.pattern_weights))
        return cls(
            labels=len(model.labels),
            features=model.state.offsets.size - 1,
            edge_features=0 if model.edge is None else model.edge.offsets.size - 1,
            segment_features=sum(part.offsets.size - 1 for part in of_segments),
            patterns=len(model.patterns),
            weights=(nonzero if model.patterns.is_chain else len(model.patterns))
            + sum(part.weights.size for part in parts),
            nonzero=nonzero + sum(int(np.count_nonzero(part.weights)) for part in parts),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as a dictionary."""
        return asdict(self)

    def spell_features(self) -> str:
        """Return the numbers of features as text: ``12 of tokens, 3 of segments``."""
        counts = {
            "tokens": self.features,
            "transitions": self.edge_features,
            "segments": self.segment_features,
        }
        shown = [f"{n:,} of {of}" for of, n in counts.items() if n or of == "tokens"]
        return ", ".join(shown)


class NamedWeight(NamedTuple):
    """The weight of a feature, or of a transition ``before → after``."""

    name: str
    weight: float


class TopFeatures(NamedTuple):
    """The largest and the smallest weights for a label, strongest first."""

    positive: list[NamedWeight]
    negative: list[NamedWeight]


def feature_names(tagger: Tagger) -> list[Sequence[str]]:
    """Return the names of the features of tokens, and of the four parts of segments."""
    model = tagger.model_
    encoder = model.encoder
    if model.segmentation is None:
        return [encoder.feature_names(), (), (), (), ()]
    buckets = length_buckets(model.structure.n_durations)
    shortest = 1 + np.searchsorted(buckets, np.arange(buckets[-1] + 1))
    longest = np.searchsorted(buckets, np.arange(buckets[-1] + 1), side="right")
    return [
        encoder.feature_names(),
        encoder.begin_feature_names(),
        encoder.end_feature_names(),
        encoder.segment_feature_names(),
        [
            f"length {low}" if low == high else f"length {low}–{high}"
            for low, high in zip(shortest.tolist(), longest.tolist(), strict=True)
        ],
    ]


def top_features(
    tagger: Tagger, label: str, n: int = 10, *, names: Sequence[Sequence[str]] | None = None
) -> TopFeatures:
    """Return the features with the largest and the smallest weights for a label.

    For a hidden Markov model: the most probable observations, with ``P(o | y)``.

    Parameters
    ----------
    tagger
        A trained tagger.
    label
        The label; in a semi-Markov model, the name of segments.
    n
        How many of each sign.
    names
        The result of `feature_names`, if known: for large models it takes longer than the rest.
    """
    model = tagger.model_
    letters = model.structure.letter_names
    if label not in letters:
        raise LabelError(f"Unknown label {label!r}. The labels are {', '.join(letters)}.")
    names = feature_names(tagger) if names is None else names
    found = []
    for part, own in zip((model.state, *_segment_parts(model)), names, strict=True):
        if part is None:
            continue
        mine = np.flatnonzero(part.outputs == letters.index(label))
        # For these pairs only: `part.features` would be as long as all weights.
        features = np.searchsorted(part.offsets, mine, side="right") - 1
        found.append((own, features, part.weights[mine]))
    weights = _as_shown(model, np.concatenate([own for _, _, own in found]))
    ends = np.cumsum([own.size for _, _, own in found])

    def named_weight(index: int) -> NamedWeight:
        part = int(np.searchsorted(ends, index, side="right"))
        own, features, _ = found[part]
        place = index - int(ends[part]) + features.size
        return NamedWeight(own[features[place]], float(weights[index]))

    return _signs(weights, named_weight, n)


class PatternWeights(NamedTuple):
    """The label patterns of a model.

    Attributes
    ----------
    patterns
        The ``P`` patterns.
    weights
        Shape ``(P,)``.
    names
        Names of the labels in the patterns.
    """

    patterns: Patterns
    weights: FloatArray
    names: Sequence[str]

    @classmethod
    def of(cls, tagger: Tagger) -> PatternWeights:
        """Return the patterns of a trained tagger; in a chain of order 1, the transitions."""
        model = tagger.model_
        weights = _as_shown(model, model.pattern_weights)
        return cls(model.patterns, weights, model.structure.letter_names)

    def top(self, length: int, n: int = 10) -> TopFeatures:
        """Return the patterns of a length with the largest and smallest weights."""
        first, last = np.searchsorted(self.patterns.lengths, [length, length + 1]).tolist()
        weights = self.weights[first:last]
        return _signs(weights, lambda i: NamedWeight(self.spell(first + i), float(weights[i])), n)

    def spell(self, pattern: int) -> str:
        """Return the labels of a pattern, with arrows between them."""
        return " → ".join(self.names[y] for y in self.patterns[pattern])


def top_transitions(tagger: Tagger, n: int = 10) -> TopFeatures:
    """Return the transitions between labels with the largest and smallest weights."""
    return PatternWeights.of(tagger).top(2, n)


def top_edge_features(tagger: Tagger, n: int = 10) -> TopFeatures:
    """Return the transition features, each with its transition, with the most extreme weights."""
    model = tagger.model_
    if model.edge is None:
        return TopFeatures([], [])
    names, edge = model.encoder.edge_feature_names(), model.edge
    patterns = PatternWeights.of(tagger)

    def named_weight(index: int) -> NamedWeight:
        feature = int(np.searchsorted(edge.offsets, index, side="right")) - 1
        step = patterns.spell(int(edge.outputs[index]))
        return NamedWeight(f"{names[feature]}  {step}", float(edge.weights[index]))

    return _signs(edge.weights, named_weight, n)


def _as_shown(model: CRFModel, weights: FloatArray) -> FloatArray:
    """Return weights for display: those of a hidden Markov model as probabilities."""
    return np.exp(weights) if isinstance(model.encoder, ObservationEncoder) else weights


def _segment_parts(model: CRFModel) -> tuple[PairWeights | None, ...]:
    """Return the weights of features of segments, in the order of `feature_names`."""
    return model.begin, model.end, model.segment, model.length


def _signs(weights: FloatArray, named_weight: Callable[[int], NamedWeight], n: int) -> TopFeatures:
    return TopFeatures(
        [named_weight(i) for i in _largest(weights, n)],
        [named_weight(i) for i in _largest(-weights, n)],
    )


def _largest(weights: FloatArray, n: int) -> list[int]:
    """Return the indices of the `n` largest positive weights, in descending order."""
    if n < 1:
        raise ValueError(f"n: expected 1 or more, got {n}.")
    positive = np.flatnonzero(weights > 0)
    order = np.argsort(-weights[positive], kind="stable")[:n]
    return [int(i) for i in positive[order]]
