"""Findings of the linter as text, and the labellings that satisfy rules, listed."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from trelliswork import LabelSet
from trelliswork.constraints import lint

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trelliswork.constraints import Constraint

LABELS = LabelSet(["author", "title", "year"])


def messages(rules: Any, labels: LabelSet = LABELS, **options: Any) -> list[str]:
    """Return the findings, each after its kind."""
    return [f"{finding.kind}: {finding}" for finding in lint(rules, labels, **options)]


class Satisfied:
    """The labellings of one to three tokens, and of these those that satisfy each rule."""

    def __init__(self, rules: Iterable[Constraint], labels: LabelSet) -> None:
        lengths = (1, 2, 3)
        self.all = frozenset(w for n in lengths for w in itertools.product(labels.names, repeat=n))
        self._by_rule = {
            rule: frozenset(w for w in self.all if rule.violations(w, scheme=labels) == 0)
            for rule in rules
        }

    def __getitem__(self, rule: Constraint) -> frozenset[tuple[str, ...]]:
        return self._by_rule[rule]

    def together(self, rules: Iterable[Constraint]) -> frozenset[tuple[str, ...]]:
        """Return those that satisfy all of some rules."""
        return self.all.intersection(*(self[rule] for rule in rules))
