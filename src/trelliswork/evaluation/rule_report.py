"""Violations of rules by labellings."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trelliswork._utils.tables import percent, shorten, text_table
from trelliswork.constraints.given import as_constraints
from trelliswork.constraints.reading import judge
from trelliswork.constraints.soft import Soft, spell_penalty
from trelliswork.errors import DataError
from trelliswork.labels.label_set import LabelSet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trelliswork.constraints import Constraint
    from trelliswork.data.sentence import Label
    from trelliswork.labels.schemes import Scheme

__all__ = ["RuleViolations", "count_violations", "rule_table"]


@dataclass(frozen=True, slots=True)
class RuleViolations:
    """Violations of one rule.

    Attributes
    ----------
    rule
        The rule.
    sentences
        Number of complete labellings.
    broken
        Number of these that break the rule.
    degree
        Sum of their violations.
    example
        Index of the first labelling that breaks the rule; None without one.
    """

    rule: Constraint
    sentences: int
    broken: int
    degree: int
    example: int | None

    @property
    def share(self) -> float:
        """The share of labellings that break the rule."""
        return self.broken / self.sentences if self.sentences else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as plain values."""
        return {
            "rule": repr(self.rule),
            "sentences": self.sentences,
            "broken": self.broken,
            "share": self.share,
            "degree": self.degree,
            "example": self.example,
        }


def count_violations(
    rules: Any,
    labellings: Sequence[Sequence[Label]],
    *,
    scheme: Scheme | LabelSet,
    outside: str | None = None,
    sentences: Sequence[Any] | None = None,
) -> tuple[RuleViolations, ...]:
    """Count the violations of rules by labellings.

    Parameters
    ----------
    rules
        A rule, or a sequence of rules.
    labellings
        One sequence of labels per sentence; incomplete ones are left out.
    scheme
        The scheme of the labels.
    outside
        The plain label of tokens outside segments.
    sentences
        The sentences of the labels; needed for rules that test tokens.
    """
    constraints = as_constraints(rules)
    if sentences is not None and len(sentences) != len(labellings):
        raise DataError(
            f"sentences: expected one for each of the {len(labellings)} label sequences, got "
            f"{len(sentences)}."
        )
    complete = {
        index: names
        for index, labels in enumerate(labellings)
        if len(names := [label for label in labels if isinstance(label, str)]) == len(labels)
    }
    if scheme == "plain" and outside is not None:
        known = {label for names in complete.values() for label in names} | {outside}
        known.update(name for rule in constraints for name, _ in rule.names)
        scheme = LabelSet(sorted(known), scheme, outside)
    judged = {
        index: judge(
            constraints, names, None if sentences is None else sentences[index], scheme=scheme
        )
        for index, names in complete.items()
    }
    found = []
    for place, rule in enumerate(constraints):
        degrees = {index: of_rules[place] for index, of_rules in judged.items()}
        broken = [index for index, degree in degrees.items() if degree]
        found.append(
            RuleViolations(
                rule, len(complete), len(broken), sum(degrees.values()), next(iter(broken), None)
            )
        )
    return tuple(found)


def rule_table(
    sides: Sequence[tuple[str, Sequence[RuleViolations]]],
) -> str:
    """Return a table of the sentences that break each rule, for one or more sets of labellings.

    Parameters
    ----------
    sides
        The name of each set and its counts, for the same rules.
    """
    columns = (column for name, _ in sides for column in (name, f"% of {name}"))
    header = ["rule", "penalty", *columns]
    rows = [
        [
            shorten(repr(counts[0].rule.hard)),
            _penalty(counts[0].rule),
            *(cell for count in counts for cell in (str(count.broken), percent(count.share))),
        ]
        for counts in zip(*(found for _, found in sides), strict=True)
    ]
    return text_table(header, rows)


def _penalty(rule: Constraint) -> str:
    """Return the penalty of a rule as text."""
    if not isinstance(rule, Soft):
        return spell_penalty(math.inf)
    return spell_penalty(math.nan if rule.penalty is None else rule.penalty)
