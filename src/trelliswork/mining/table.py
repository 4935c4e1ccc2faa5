"""Mined rules, best first, as a sequence that prints as a table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from trelliswork._utils.tables import shorten, text_table

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from trelliswork.constraints.soft import Soft
    from trelliswork.mining.families import Template

__all__ = ["MinedRule", "MinedRules"]

HEADER = ("rule", "template", "importance", "penalty", "gold", "predicted", "examples")


@dataclass(frozen=True)
class MinedRule:
    """One mined rule.

    Attributes
    ----------
    constraint
        The rule, soft; without a penalty until it is learned.
    template
        Its family.
    importance
        Ratio of violations in predictions and in gold labels; see `mine`.
    gold_violations, predicted_violations
        Number of sentences whose gold labels or predictions break it.
    examples
        Indices of the first sentences whose prediction breaks it and whose gold labels do not.
    """

    constraint: Soft
    template: Template
    importance: float
    gold_violations: int
    predicted_violations: int
    examples: tuple[int, ...] = ()

    @property
    def penalty(self) -> float | None:
        """The penalty of the rule; ``None`` if not learned yet."""
        return self.constraint.penalty

    def to_dict(self) -> dict[str, Any]:
        """Return the rule as plain values."""
        return {
            "rule": repr(self.constraint.hard),
            "template": self.template,
            "importance": self.importance,
            "penalty": self.penalty,
            "gold_violations": self.gold_violations,
            "predicted_violations": self.predicted_violations,
            "examples": list(self.examples),
        }


class MinedRules(Sequence[MinedRule]):
    """Mined rules, the most important first. Print it for a table.

    Parameters
    ----------
    rules
        The rules, in order.
    """

    __slots__ = ("_rules",)

    def __init__(self, rules: Sequence[MinedRule]) -> None:
        self._rules = tuple(rules)

    @overload
    def __getitem__(self, index: int) -> MinedRule: ...
    @overload
    def __getitem__(self, index: slice) -> MinedRules: ...
    def __getitem__(self, index: int | slice) -> MinedRule | MinedRules:
        return MinedRules(self._rules[index]) if isinstance(index, slice) else self._rules[index]

    def __len__(self) -> int:
        return len(self._rules)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MinedRules) and self._rules == other._rules

    def __hash__(self) -> int:
        return hash(self._rules)

    @property
    def constraints(self) -> tuple[Soft, ...]:
        """The rules as soft constraints for a tagger."""
        return tuple(rule.constraint for rule in self._rules)

    @property
    def active(self) -> MinedRules:
        """The rules whose penalty is not 0, which can change answers."""
        return MinedRules([rule for rule in self._rules if rule.penalty != 0])

    def with_penalties(self, penalties: ArrayLike | Any) -> MinedRules:
        """Return the same rules with penalties.

        Parameters
        ----------
        penalties
            One number per rule; or the tagger that `learn_penalties` returned, where missing rules
            have penalty 0.
        """
        given = getattr(penalties, "constraints", None)
        if given is not None:
            learned = {c.hard: c.penalty for c in given if c.is_soft}
            values = [learned.get(rule.constraint.hard, 0.0) for rule in self._rules]
        else:
            values = np.asarray(penalties, dtype=float).tolist()
        if np.shape(values) != (len(self),):
            raise ValueError(
                f"penalties: expected {len(self)} numbers, one per rule, got shape "
                f"{np.shape(values)}."
            )
        return MinedRules(
            [
                replace(rule, constraint=rule.constraint.hard.soft(value))
                for rule, value in zip(self._rules, values, strict=True)
            ]
        )

    def table(self, limit: int | None = None) -> str:
        """Return the rules as a plain-text table; also ``str(rules)``.

        Parameters
        ----------
        limit
            Maximum number of rules, best first. Default: all.
        """
        shown = text_table(HEADER, [_cells(rule) for rule in self._rules[:limit]])
        left_out = len(self) - len(self._rules[:limit])
        return f"{shown}\n… and {left_out} more" if left_out else shown

    __str__ = table

    def to_markdown(self, limit: int | None = None) -> str:
        """Return the rules as a Markdown table; the parameter is that of `table`."""
        rows = [(f"`{rule}`", *rest) for rule, *rest in map(_cells, self._rules[:limit])]
        align = ("---", "---", *("---:",) * (len(HEADER) - 2))
        return "\n".join(f"| {' | '.join(row)} |" for row in (HEADER, align, *rows))

    def __repr__(self) -> str:
        learned = [rule.penalty for rule in self._rules if rule.penalty is not None]
        zeros = sum(penalty == 0 for penalty in learned)
        about = f"{zeros} of {len(learned)} penalties are 0" if learned else "penalties not learned"
        return f"<MinedRules: {len(self)} rules, {about}>"


def _cells(rule: MinedRule) -> list[str]:
    importance = "inf" if math.isinf(rule.importance) else f"{rule.importance:.2f}"
    return [
        shorten(repr(rule.constraint.hard)),
        rule.template,
        importance,
        "-" if rule.penalty is None else f"{rule.penalty:.3g}",
        str(rule.gold_violations),
        str(rule.predicted_violations),
        ", ".join(map(str, rule.examples)),
    ]
