"""Taggers trained on the labels of each set of references itself; see ``citations.py``.

All have the templates of the parser. Plain labels become BIOES in training, so that the model has
weights for where a field begins and ends, and are plain again in scoring. Schemes, orders and
strengths were chosen by cross-validation of train.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from citation_scores import Scores

import trelliswork as tw
from trelliswork.citations.learning import parser_templates

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trelliswork.constraints import Constraint


@dataclass(frozen=True)
class Own:
    """How to train on a set.

    Attributes
    ----------
    order : int
        Of the label patterns.
    once : tuple of str
        Fields that a record has once at most.
    apart : tuple of str
        Two fields of which a record has one at most.
    max_iter : int
        Most iterations.
    """

    order: int
    once: tuple[str, ...]
    apart: tuple[str, str]
    max_iter: int = 150

    @property
    def rules(self) -> list[Constraint]:
        """What makes a record possible."""
        return [*(tw.at_most(1, name) for name in self.once), tw.excludes(*self.apart)]


OWN = {
    "cora": Own(1, ("author", "title", "journal", "booktitle", "volume"), ("journal", "booktitle")),
    "umass_citation": Own(
        3, ("title", "journal", "booktitle", "volume", "number"), ("journal", "booktitle")
    ),
    "anystyle": Own(
        1,
        ("author", "title", "journal", "container-title", "volume"),
        ("journal", "container-title"),
    ),
    "grobid_citation": Own(
        1, ("title", "journal", "booktitle", "volume", "issue"), ("journal", "booktitle"), 80
    ),
}
L1 = L2 = 0.1


def train_own(
    name: str, train: Sequence[tw.Sentence], scored: Sequence[tw.Sentence], *, quick: bool
) -> dict[str, Scores]:
    """Train on a set and score on another part of it, with and without rules."""
    how = OWN[name]
    gold = [[str(label) for label in reference.labels or ()] for reference in scored]
    plain = not any(label[1:2] == "-" for label in gold[0])

    def as_trained(reference: tw.Sentence) -> list[str]:
        labels = [str(label) for label in reference.labels or ()]
        return tw.convert(labels, "plain", "bioes") if plain else labels

    tagger = tw.CRFTagger(
        features=parser_templates(),
        order=how.order,
        l1=L1,
        l2=L2,
        max_iter=20 if quick else how.max_iter,
        n_jobs=2,
    )
    tagger.fit([list(one.tokens) for one in train], [as_trained(one) for one in train])
    tagger.n_jobs = 1
    found = {}
    for title, rules in (("trained, no rules", []), ("trained", how.rules)):
        began = time.perf_counter()
        ruled = tagger.with_constraints(rules)
        answers = ruled.predict([list(one.tokens) for one in scored])
        seconds = time.perf_counter() - began
        broken = sum(
            any(rule.violations(labels, scheme=tagger.labels_) for rule in how.rules)
            for labels in answers
        )
        if plain:
            answers = [[label[2:] for label in labels] for labels in answers]
        report = tw.report(gold, answers, scheme="plain" if plain else "bio")
        whole = sum(a == b for a, b in zip(gold, answers, strict=True)) / len(gold)
        found[title] = Scores(
            report.token_accuracy, report.f1, whole, broken / len(gold), len(gold) / seconds
        )
    return found
