"""Pair gold and predicted labels, and count segments sentence by sentence."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, cast

from trelliswork.data.sentence import Sentence
from trelliswork.errors import DataError
from trelliswork.labels.schemes import check_scheme, infer_scheme
from trelliswork.labels.segments import spans

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from trelliswork.data.sentence import Label
    from trelliswork.labels.schemes import Scheme
    from trelliswork.labels.segments import Span

LabelSequences: TypeAlias = "Iterable[Sequence[Label] | Sentence]"
"""A corpus, or one sequence of labels per sentence."""


class Pair(NamedTuple):
    """The gold and the predicted labels of one sentence."""

    gold: tuple[Label, ...]
    predicted: tuple[str, ...]


class Counts(NamedTuple):
    """Numbers of correct, predicted and gold segments of one sentence, by name."""

    correct: Counter[str]
    predicted: Counter[str]
    gold: Counter[str]

    @property
    def totals(self) -> tuple[int, int, int]:
        """The three numbers, summed over names."""
        return self.correct.total(), self.predicted.total(), self.gold.total()


@dataclass(frozen=True, slots=True)
class SegmentReader:
    """Reads segments from label sequences; the fields are those of `report`."""

    scheme: Scheme
    strict: bool = False
    level: int | None = None
    outside: str | None = None

    @classmethod
    def choose(
        cls,
        pairs: Sequence[Pair],
        scheme: Scheme | None,
        *,
        strict: bool = False,
        level: int | None = None,
        outside: str | None = None,
    ) -> SegmentReader:
        """Return a reader for the given scheme, or for the one inferred from the labels."""
        if scheme is None:
            others = {label for pair in pairs for label in pair.predicted}
            scheme = infer_scheme([pair.gold for pair in pairs], others)
        return cls(check_scheme(scheme), strict, level, outside)

    def spans(self, labels: Sequence[Label]) -> list[Span]:
        """Return the segments of a label sequence."""
        return spans(
            labels, self.scheme, strict=self.strict, level=self.level, outside=self.outside
        )

    def count(self, pair: Pair) -> Counts:
        """Count the segments of a sentence; correct ones agree in start, end and name.

        A predicted segment that contains a token without a single gold label (``None`` or a set) is
        not counted.
        """
        gold = set(self.spans(pair.gold))
        predicted = set(self.spans(pair.predicted))
        unknown = {t for t, label in enumerate(pair.gold) if not isinstance(label, str)}
        if unknown:
            predicted = {s for s in predicted if unknown.isdisjoint(range(s.start, s.end))}
        return Counts(_by_name(gold & predicted), _by_name(predicted), _by_name(gold))


@dataclass(frozen=True, slots=True)
class FieldScore:
    """Precision, recall and F1 of the segments of one field.

    Attributes
    ----------
    name
        The field.
    correct, predicted, gold
        Number of correct, predicted and gold segments.
    """

    name: str
    correct: int
    predicted: int
    gold: int

    @property
    def precision(self) -> float:
        """``correct / predicted``; 0 without predictions."""
        return ratio(self.correct, self.predicted)

    @property
    def recall(self) -> float:
        """``correct / gold``; 0 without gold segments."""
        return ratio(self.correct, self.gold)

    @property
    def f1(self) -> float:
        """``2 correct / (predicted + gold)``, the harmonic mean of precision and recall."""
        return ratio(2 * self.correct, self.predicted + self.gold)


def pair_up(gold: LabelSequences, predicted: LabelSequences) -> list[Pair]:
    """Return gold and predicted labels sentence by sentence, checked for equal lengths.

    Raises
    ------
    DataError
        If the numbers of sentences or tokens differ, a sentence has no labels, or a prediction is
        not a label name.
    """
    gold_labels = [_labels_of(item, "gold", i) for i, item in enumerate(gold)]
    predicted_labels = [_labels_of(item, "predicted", i) for i, item in enumerate(predicted)]
    if len(gold_labels) != len(predicted_labels):
        raise DataError(
            f"Expected as many predicted sentences as gold ones ({len(gold_labels)}), got "
            f"{len(predicted_labels)}. Score the predictions of the same file."
        )
    pairs = []
    for index, (right, guess) in enumerate(zip(gold_labels, predicted_labels, strict=True)):
        if len(right) != len(guess):
            raise DataError(
                f"sentence {index}: expected {len(right)} predicted labels, one per gold token, "
                f"got {len(guess)}. Score the predictions of the same file and tokens."
            )
        for position, label in enumerate(guess):
            if not isinstance(label, str):
                raise DataError(
                    f"sentence {index}, token {position}: expected a predicted label, got "
                    f"{label!r}. A prediction is one name; swap gold and predicted if they came "
                    "in the wrong order."
                )
        pairs.append(Pair(right, cast("tuple[str, ...]", guess)))
    return pairs


def is_correct(gold: Label, predicted: str) -> bool:
    """Return whether a prediction is the gold label, or one of its alternatives."""
    return predicted in gold if isinstance(gold, frozenset) else predicted == gold


def known_hits(pair: Pair) -> list[bool]:
    """Return for every token with a known gold label whether it is correct."""
    return [is_correct(g, p) for g, p in zip(*pair, strict=True) if g is not None]


def ratio(numerator: int, denominator: int) -> float:
    """Return a quotient, 0 if the denominator is 0."""
    return numerator / denominator if denominator else 0.0


def _labels_of(item: Sequence[Label] | Sentence, side: str, index: int) -> tuple[Label, ...]:
    labels = item.labels if isinstance(item, Sentence) else item
    if labels is None or isinstance(labels, str):
        raise DataError(
            f"{side}, sentence {index}: expected a sequence of labels, got {labels!r}. Pass a "
            "labelled corpus, or one list of labels per sentence."
        )
    return tuple(frozenset(x) if isinstance(x, set) else x for x in labels)


def _by_name(segments: Iterable[Span]) -> Counter[str]:
    return Counter(segment.name for segment in segments)
