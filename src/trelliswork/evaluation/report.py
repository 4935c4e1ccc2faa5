"""Reports: agreement of predicted and gold labels, by field."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from trelliswork._utils.tables import percent, text_table
from trelliswork.data.corpus import Corpus
from trelliswork.errors import DataError
from trelliswork.evaluation.confusion import Confusion
from trelliswork.evaluation.rule_report import RuleViolations, count_violations, rule_table
from trelliswork.evaluation.scoring import FieldScore, SegmentReader, known_hits, pair_up, ratio
from trelliswork.evaluation.significance import compare_counts
from trelliswork.labels.schemes import violations

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Sequence

    from trelliswork.data.sentence import Label
    from trelliswork.evaluation.scoring import LabelSequences
    from trelliswork.evaluation.significance import SignificanceTest
    from trelliswork.labels.schemes import Scheme


@dataclass(frozen=True, slots=True)
class SchemeViolations:
    """Violations of the scheme in predictions, such as ``I-x`` after ``O``.

    Attributes
    ----------
    sentences
        Number of sentences with a violation.
    tokens
        Number of tokens with a violation.
    """

    sentences: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Report:
    """Scores of predicted labels; the result of `report`.

    Attributes
    ----------
    scheme, strict, level, outside
        Definition of segments; see `report`.
    sentences, correct_sentences
        Number of sentences with a known gold label, and of those without a wrong token.
    tokens, correct_tokens
        Number of tokens with a known gold label, and of correct ones.
    fields
        One score per field that occurs in gold labels or predictions, sorted by name.
    confusion
        The confusion table of token labels.
    violations
        Violations of the scheme in the predictions.
    rules, gold_rules
        Violations of each given rule, by predictions and by gold labels.
    sentence_counts
        Correct, predicted and gold segments of every sentence; used by `significance`.
    """

    scheme: Scheme
    strict: bool
    level: int | None
    outside: str | None
    sentences: int
    correct_sentences: int
    tokens: int
    correct_tokens: int
    fields: tuple[FieldScore, ...]
    confusion: Confusion
    violations: SchemeViolations
    sentence_counts: tuple[tuple[int, int, int], ...] = field(repr=False)
    rules: tuple[RuleViolations, ...] = ()
    gold_rules: tuple[RuleViolations, ...] = ()

    @property
    def token_accuracy(self) -> float:
        """The share of correct tokens among those with a known gold label."""
        return ratio(self.correct_tokens, self.tokens)

    @property
    def sentence_accuracy(self) -> float:
        """The share of sentences without a wrong token."""
        return ratio(self.correct_sentences, self.sentences)

    @property
    def micro(self) -> FieldScore:
        """The score of all segments together, the overall line of conlleval."""
        return FieldScore(
            "micro",
            sum(f.correct for f in self.fields),
            sum(f.predicted for f in self.fields),
            sum(f.gold for f in self.fields),
        )

    @property
    def f1(self) -> float:
        """Micro F1."""
        return self.micro.f1

    @property
    def macro_precision(self) -> float:
        """The mean precision of all fields, including those on one side only."""
        return _mean([f.precision for f in self.fields])

    @property
    def macro_recall(self) -> float:
        """The mean recall of the fields."""
        return _mean([f.recall for f in self.fields])

    @property
    def macro_f1(self) -> float:
        """The mean F1 of the fields."""
        return _mean([f.f1 for f in self.fields])

    def __getitem__(self, name: str) -> FieldScore:
        """Return the score of a field; zeros if it does not occur."""
        for score in self.fields:
            if score.name == name:
                return score
        return FieldScore(name, 0, 0, 0)

    def significance(
        self, other: Report, *, shuffles: int = 10_000, random_state: int | None = None
    ) -> SignificanceTest:
        """Test the difference in micro F1 to another system on the same gold labels.

        Parameters
        ----------
        other
            The report of the other system.
        shuffles, random_state
            See `trelliswork.evaluation.significance.randomization_test`.
        """
        mine, theirs = (
            np.array(r.sentence_counts, dtype=np.float64).reshape(-1, 3) for r in (self, other)
        )
        if not np.array_equal(mine[:, 2], theirs[:, 2]):
            raise DataError(
                "Expected two reports on the same gold labels, got different gold segments. Score "
                "both systems on one file with one scheme."
            )
        return compare_counts(mine, theirs, shuffles=shuffles, random_state=random_state)

    def __str__(self) -> str:
        header = ("field", "precision", "recall", "F1", "correct", "predicted", "gold")
        macro = map(percent, (self.macro_precision, self.macro_recall, self.macro_f1))
        rows = [*map(_row, self.fields), _row(self.micro), ["macro", *macro, "", "", ""]]
        known_to_conlleval = self.scheme not in ("plain", "path")
        how = "strict" if self.strict else "as conlleval" if known_to_conlleval else "exact"
        broken = self.violations
        obeyed = []
        if self.rules:
            sides = [("predicted", self.rules), ("gold", self.gold_rules)]
            obeyed = ["", "Sentences that break a rule:", rule_table(sides)]
        return "\n".join(
            [
                f"token accuracy     {percent(self.token_accuracy):>6}  "
                f"({self.correct_tokens} of {self.tokens})",
                f"sentence accuracy  {percent(self.sentence_accuracy):>6}  "
                f"({self.correct_sentences} of {self.sentences})",
                f"segments           {self.scheme}, {how}"
                + ("" if self.level is None else f", level {self.level}"),
                f"scheme violations  {broken.tokens} tokens in {broken.sentences} sentences",
                "",
                text_table(header, rows),
                *obeyed,
            ]
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the scores as plain numbers, lists and dictionaries."""
        return {
            "scheme": self.scheme,
            "strict": self.strict,
            "level": self.level,
            "outside": self.outside,
            "sentences": self.sentences,
            "tokens": self.tokens,
            "token_accuracy": self.token_accuracy,
            "sentence_accuracy": self.sentence_accuracy,
            "micro": _scores(self.micro),
            "macro": {
                "precision": self.macro_precision,
                "recall": self.macro_recall,
                "f1": self.macro_f1,
            },
            "fields": {f.name: _scores(f) for f in self.fields},
            "violations": {
                "sentences": self.violations.sentences,
                "tokens": self.violations.tokens,
            },
            "rules": [
                found.to_dict() | {"gold": gold.to_dict()}
                for found, gold in zip(self.rules, self.gold_rules, strict=True)
            ],
            "confusion": {
                "labels": list(self.confusion.labels),
                "counts": [list(row) for row in self.confusion.counts],
            },
        }

    def to_json(self, indent: int | None = 2) -> str:
        """Return `to_dict` as JSON."""
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False)

    def plot(self, path: str | os.PathLike[str]) -> None:
        """Draw F1 by field and the confusion table as a PNG; needs the ``plots`` extra."""
        from trelliswork.evaluation.plots import plot_report

        plot_report(self, path)


def report(
    gold: LabelSequences,
    predicted: LabelSequences,
    *,
    scheme: Scheme | None = None,
    strict: bool = False,
    level: int | None = None,
    outside: str | None = None,
    constraints: Any = (),
    sentences: Sequence[Any] | None = None,
) -> Report:
    """Score predicted labels against gold ones.

    A segment is correct if its start, end and name are. With ``strict=False`` the numbers equal
    those of conlleval, including invalid sequences.

    Tokens whose gold label is ``None`` (unlabelled) are excluded from the accuracies and the
    confusion table, and predicted segments that contain one from the fields. If the gold label is a
    set of alternatives, any of them is correct; otherwise the token counts as unlabelled.

    Parameters
    ----------
    gold, predicted
        A corpus, or one sequence of labels per sentence.
    scheme
        The scheme of the labels; see `LabelSet`. ``None``: inferred from the labels.
    strict
        ``True``: segments with invalid tags are ignored, in predictions and gold labels; see
        `trelliswork.labels.segments.spans`.
    level
        For paths, the level to score: 1 is the outermost. ``None``: all.
    outside
        The plain label of tokens outside segments. ``None``: every maximal run is a segment.
    constraints
        A constraint, or a sequence of constraints, whose violations are counted.
    sentences
        The sentences of the labels, for rules that test tokens. Default: `gold`, if it is a corpus.

    Raises
    ------
    DataError
        If the two sides differ in sentences or tokens; names the sentence.
    LabelError
        If a label is invalid in the scheme.

    Examples
    --------
    >>> report([["B-PER", "O"]], [["B-PER", "B-PER"]])["PER"].precision
    0.5
    """
    pairs = pair_up(gold, predicted)
    reader = SegmentReader.choose(pairs, scheme, strict=strict, level=level, outside=outside)
    counts = [reader.count(pair) for pair in pairs]
    correct, guessed, wanted = (_add_up(c[side] for c in counts) for side in range(3))
    hits = [known_hits(pair) for pair in pairs]
    known = [hit for hit in hits if hit]
    broken = [
        len({v.position for v in violations(pair.predicted, reader.scheme)}) for pair in pairs
    ]
    if sentences is None and isinstance(gold, Corpus):
        sentences = list(gold)

    def broken_by(labels: Sequence[Sequence[Label]]) -> tuple[RuleViolations, ...]:
        return count_violations(
            constraints, labels, scheme=reader.scheme, outside=outside, sentences=sentences
        )

    return Report(
        scheme=reader.scheme,
        strict=strict,
        level=level,
        outside=outside,
        sentences=len(known),
        correct_sentences=sum(map(all, known)),
        tokens=sum(map(len, known)),
        correct_tokens=sum(map(sum, known)),
        fields=tuple(
            FieldScore(name, correct[name], guessed[name], wanted[name])
            for name in sorted(guessed | wanted)
        ),
        confusion=Confusion.of(pairs),
        violations=SchemeViolations(sum(map(bool, broken)), sum(broken)),
        sentence_counts=tuple(count.totals for count in counts),
        rules=broken_by([pair.predicted for pair in pairs]),
        gold_rules=broken_by([pair.gold for pair in pairs]),
    )


def _add_up(counters: Iterable[Counter[str]]) -> Counter[str]:
    total: Counter[str] = Counter()
    for counter in counters:
        total.update(counter)
    return total


def _scores(score: FieldScore) -> dict[str, float]:
    return {
        "precision": score.precision,
        "recall": score.recall,
        "f1": score.f1,
        "correct": score.correct,
        "predicted": score.predicted,
        "gold": score.gold,
    }


def _row(score: FieldScore) -> list[str]:
    shares = map(percent, (score.precision, score.recall, score.f1))
    return [score.name, *shares, str(score.correct), str(score.predicted), str(score.gold)]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
