"""A look inside a trained tagger: how large it is, and what it has learned.

>>> from trelliswork import CRFTagger
>>> tagger = CRFTagger(features="word[0]").fit([["a", "b"], ["a"]], [["X", "Y"], ["X"]])
>>> top_features(tagger, "X", 1).positive[0].name
'word[0]=a'
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np


if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from trelliswork.estimators import CRFTagger
    from trelliswork.patterns import Patterns

__all__ = [
    "ModelSizes",
    "TopFeatures",
    "WeighedPatterns",
    "Weighted",
    "top_edge_features",
    "top_features",
    "top_transitions",
]


@dataclass(frozen=True, slots=True)
class ModelSizes:
    """How large a model is.

    Attributes
    ----------
    labels
        ``L``.
    features, edge_features
        Features of tokens and of transitions.
    weights
        Those of pairs of a feature and a label (or a transition), and of transitions that are
        not 0: transitions are kept as a full matrix, where 0 also means "no weight".
    nonzero
        Those that are not 0.
    """

    labels: int
    features: int
    edge_features: int
    weights: int
    nonzero: int

    @classmethod
    def of(cls, tagger: CRFTagger) -> ModelSizes:
        """Measure a trained tagger."""
        model = tagger.model_
        pairs = [model.state] if model.edge is None else [model.state, model.edge]
        transitions = int(np.count_nonzero(model.transitions))
        return cls(
            labels=len(model.labels),
            features=model.state.offsets.size - 1,
            edge_features=0 if model.edge is None else model.edge.offsets.size - 1,
            weights=transitions + sum(p.weights.size for p in pairs),
            nonzero=transitions + sum(int(np.count_nonzero(p.weights)) for p in pairs),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers by name."""
        return asdict(self)


class Weighted(NamedTuple):
    """Something with a weight: a feature, or a transition ``before → after``."""

    name: str
    weight: float


class TopFeatures(NamedTuple):
    """What speaks most for a label and what most against it, strongest first."""

    positive: list[Weighted]
    negative: list[Weighted]


def top_features(
    tagger: CRFTagger, label: str, n: int = 10, *, names: Sequence[str] | None = None
) -> TopFeatures:
    """Return the features with the largest and the smallest weights for a label.

    Parameters
    ----------
    tagger
        A trained tagger.
    label
        The label.
    n
        How many of each sign.
    names
        ``tagger.model_.encoder.feature_names()``, where they are at hand: for large models they
        take longer than the rest.
    """
    model = tagger.model_
    names = model.encoder.feature_names() if names is None else names
    mine = np.flatnonzero(model.state.outputs == model.labels.id(label))
    # Of the pair's place only: `features` of the whole model would be as long as all its weights.
    features = np.searchsorted(model.state.offsets, mine, side="right") - 1
    weights = model.state.weights[mine]
    return TopFeatures(
        [Weighted(names[features[i]], float(weights[i])) for i in _largest(weights, n)],
        [Weighted(names[features[i]], float(weights[i])) for i in _largest(-weights, n)],
    )


class WeighedPatterns(NamedTuple):
    """The label patterns of a model.

    Attributes
    ----------
    patterns
        The ``P`` patterns.
    weights
        Shape ``(P,)``.
    names
        Of the labels that patterns are made of.
    """

    patterns: Patterns
    weights: NDArray[np.float64]
    names: Sequence[str]

    @classmethod
    def of(cls, tagger: CRFTagger) -> WeighedPatterns:
        """Return those of a trained tagger; in a chain of order 1, the transitions."""
        model = tagger.model_
        return cls(model.patterns, model.pattern_weights, model.structure.letter_names)

    def top(self, length: int, n: int = 10) -> TopFeatures:
        """Return the patterns of a length with the largest and with the smallest weights."""
        first, last = np.searchsorted(self.patterns.lengths, [length, length + 1]).tolist()
        weights = self.weights[first:last]

        def weighted(index: int) -> Weighted:
            letters = self.patterns[first + index]
            return Weighted(" → ".join(self.names[y] for y in letters), float(weights[index]))

        return TopFeatures(
            [weighted(i) for i in _largest(weights, n)],
            [weighted(i) for i in _largest(-weights, n)],
        )


def top_transitions(tagger: CRFTagger, n: int = 10) -> TopFeatures:
    """Return the likeliest and the unlikeliest steps from one label to the next."""
    return WeighedPatterns.of(tagger).top(2, n)


def top_edge_features(tagger: CRFTagger, n: int = 10) -> TopFeatures:
    """Return the transition features, with their step, of the largest and smallest weights."""
    model = tagger.model_
    if model.edge is None:
        return TopFeatures([], [])
    names, edge = model.encoder.edge_feature_names(), model.edge

    def weighted(index: int) -> Weighted:
        feature = int(np.searchsorted(edge.offsets, index, side="right")) - 1
        step = _step(model.labels.names, int(edge.outputs[index]))
        return Weighted(f"{names[feature]}  {step}", float(edge.weights[index]))

    return TopFeatures(
        [weighted(i) for i in _largest(edge.weights, n)],
        [weighted(i) for i in _largest(-edge.weights, n)],
    )


def _step(labels: Sequence[str], output: int) -> str:
    before, after = divmod(output, len(labels))
    return f"{labels[before]} → {labels[after]}"


def _largest(weights: NDArray[np.float64], n: int) -> list[int]:
    """Return the places of the `n` largest weights above 0, largest first, ties in order."""
    if n < 1:
        raise ValueError(f"n: expected 1 or more, got {n}.")
    positive = np.flatnonzero(weights > 0)
    order = np.argsort(-weights[positive], kind="stable")[:n]
    return [int(i) for i in positive[order]]
