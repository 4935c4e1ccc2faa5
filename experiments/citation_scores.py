"""Scores of a parser of references on sets that draw the lines between fields elsewhere."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from trelliswork.citations.fields import to_plain
from trelliswork.citations.learning import shipped_rules
from trelliswork.constraints.reading import Reading

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citation_sets import CitationSet

    import trelliswork as tw

Spans = set[tuple[int, int, str]]


@dataclass(frozen=True)
class Scores:
    """What came out on one set, as shares.

    Attributes
    ----------
    tokens : float
        Tokens with the right label.
    fields : float
        F1 of fields: exact runs of tokens.
    references : float
        References without a wrong token.
    impossible : float
        References whose labels break a hard rule: two titles, a journal and a book.
    rate : float
        References tagged a second, on one thread.
    """

    tokens: float
    fields: float
    references: float
    impossible: float
    rate: float

    def row(self) -> list[str]:
        """Return the cells of a table."""
        shares = (self.tokens, self.fields, self.references, self.impossible)
        return [*(f"{100 * share:.2f}" for share in shares), f"{self.rate:,.0f}"]

    def values(self) -> dict[str, Any]:
        """Return the numbers for a JSON file."""
        return asdict(self)


def score_parser(
    tagger: tw.CRFTagger,
    kind: CitationSet,
    references: Sequence[tw.Sentence],
) -> Scores:
    """Score a tagger with the labels of the parser, in the labels in common with a set."""
    cut = [kind.cut(reference.tokens) for reference in references]
    began = time.perf_counter()
    answers = tagger.predict([tokens for tokens, _ in cut])
    seconds = time.perf_counter() - began
    answers = [to_plain(labels, tagger.labels_.scheme) for labels in answers]
    broken = sum(map(breaks_a_hard_rule, answers))
    pairs = [
        (
            kind.gold([str(label) for label in reference.labels or ()]),
            kind.predicted(reference.tokens, [labels[i] for i in starts]),
        )
        for reference, (_, starts), labels in zip(references, cut, answers, strict=True)
    ]
    return scores(pairs, broken / len(pairs), len(pairs) / seconds)


def scores(pairs: Sequence[tuple[list[str], list[str]]], impossible: float, rate: float) -> Scores:
    """Compare gold labels with predicted ones."""
    counts: Counter[str] = Counter()
    for gold, found in pairs:
        right = sum(a == b for a, b in zip(gold, found, strict=True))
        counts.update(tokens=len(gold), right=right, whole=right == len(gold))
        wanted, got = runs(gold), runs(found)
        counts.update(wanted=len(wanted), got=len(got), hit=len(wanted & got))
    return Scores(
        counts["right"] / counts["tokens"],
        2 * counts["hit"] / (counts["wanted"] + counts["got"]),
        counts["whole"] / len(pairs),
        impossible,
        rate,
    )


def runs(labels: Sequence[str]) -> Spans:
    """Return the runs of equal labels, without those that are none."""
    found: Spans = set()
    start = 0
    for label, own in groupby(labels):
        end = start + len(list(own))
        if label != "O":
            found.add((start, end, label))
        start = end
    return found


_HARD = [rule for rule in shipped_rules() if not rule.is_soft]


def breaks_a_hard_rule(labels: Sequence[str]) -> bool:
    """Return whether a record with these labels is impossible."""
    reading = Reading(labels, None, "plain")
    return any(rule.degree(reading) for rule in _HARD)
