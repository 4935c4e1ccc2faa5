"""Findings about linear rules, from the ranges of their sums and without automata.

Rules that add and subtract counts have no automaton for all lengths. The sums of a row over all
labellings still have a least and a largest value, those of cheapest and dearest walks through the
pairs of labels. With ``low`` and ``high`` for them and rows ``a · n ≤ b`` and ``c · n ≤ d``:

    high(a) ≤ b              the row is never broken,
    low(a) > b               it is always broken,
    low(a + c) > b + d       no labelling satisfies both,
    high(a − c) ≤ b − d      the second implies the first.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import numpy as np

from trelliswork.constraints.lint.findings import Finding
from trelliswork.constraints.rows import Row

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trelliswork._typing import IntArray
    from trelliswork.constraints.base import Constraint
    from trelliswork.labels.label_set import LabelSet

__all__ = ["CountLinter", "CountRanges"]


class CountLinter:
    """The linter of linear rules.

    Parameters
    ----------
    rules
        All rules; those with rows are compared with those that count.
    counting
        The rules without an automaton that are to be judged.
    labels, lengths
        See `CountRanges`.
    """

    def __init__(
        self,
        rules: Sequence[Constraint],
        counting: Sequence[Constraint],
        labels: LabelSet,
        lengths: Sequence[int] | None,
    ) -> None:
        self._ranges = CountRanges(labels, lengths)
        self._unchecked = [rule for rule in counting if rule.rows is None]
        self._counting = [rule for rule in counting if rule.rows is not None]
        self._rules = [rule for rule in rules if rule.rows is not None]

    def contradictions(self) -> list[Finding]:
        """Return hard rules, alone and in pairs, that no labelling satisfies."""
        hard = [rule for rule in self._counting if not rule.is_soft]
        alone = [rule for rule in hard if self._ranges.is_always_broken(rule)]
        found = [
            Finding("contradictory", (rule,), f"No labelling satisfies {rule!r}.") for rule in alone
        ]
        for one, other in self._pairs():
            excluded = one in alone or other in alone or one.is_soft or other.is_soft
            if not excluded and self._ranges.contradict(one, other):
                message = f"No labelling satisfies all of {one!r} and {other!r}. Drop one."
                found.append(Finding("contradictory", (one, other), message))
        return found

    def findings(self) -> list[Finding]:
        """Return all findings."""
        found = self.contradictions()
        for rule in self._unchecked:
            message = f"{rule!r} has no automaton, and was not judged."
            found.append(Finding("unchecked", (rule,), message))
        judged = [finding.rules[0] for finding in found]
        for rule in self._counting:
            if rule not in judged and self._ranges.is_never_broken(rule):
                found.append(Finding("dead", (rule,), f"{rule!r} is never broken."))
            elif rule.is_soft and self._ranges.is_always_broken(rule):
                found.append(Finding("broken", (rule,), f"Every labelling breaks {rule!r}."))
            else:
                continue
            judged.append(rule)
        for one, other in self._pairs():
            if one not in judged and other not in judged and (pair := self._compared(one, other)):
                found.append(pair)
                judged.append(pair.rules[0])
        return found

    def _compared(self, one: Constraint, other: Constraint) -> Finding | None:
        """Find rules that are superfluous beside another one, which is hard."""
        for reason, rule in ((one, other), (other, one)):
            if reason.is_soft:
                continue
            if rule.is_soft and self._ranges.contradict(reason, rule):
                message = f"Every labelling that satisfies {reason!r} breaks {rule!r}."
                return Finding("broken", (rule, reason), message)
            if self._ranges.implies(reason, rule):
                how = "given twice" if rule == reason else f"implied by {reason!r}"
                return Finding("implied", (rule, reason), f"{rule!r} is {how}.")
        return None

    def _pairs(self) -> Iterator[tuple[Constraint, Constraint]]:
        """Yield pairs of rules that share a name; at least one of them is linear."""
        for one, other in itertools.combinations(self._rules, 2):
            shared = not set(one.names).isdisjoint(other.names)
            if shared and (one in self._counting or other in self._counting):
                yield one, other


class CountRanges:
    """The ranges of the sums of linear rules, and the questions of `lint` that they answer.

    Parameters
    ----------
    labels
        The labels.
    lengths
        The numbers of tokens to look at, sorted; ``None``: all from 1.
    """

    def __init__(self, labels: LabelSet, lengths: Sequence[int] | None) -> None:
        self._labels = labels
        self._lengths = lengths

    def is_never_broken(self, rule: Constraint) -> bool:
        """Return whether every labelling satisfies a rule with rows."""
        return all(self.range(row)[1] <= row.bound for row in rule.rows or ())

    def is_always_broken(self, rule: Constraint) -> bool:
        """Return whether every labelling breaks the same row of a rule."""
        return any(self.range(row)[0] > row.bound for row in rule.rows or ())

    def contradict(self, one: Constraint, other: Constraint) -> bool:
        """Return whether two rows of two rules are found to exclude each other."""
        return any(
            self._range_of_sum(a, c, 1)[0] > a.bound + c.bound
            for a in one.rows or ()
            for c in other.rows or ()
        )

    def implies(self, one: Constraint, other: Constraint) -> bool:
        """Return whether every row of the other rule is found to follow from a row of the first."""
        return all(
            any(self._range_of_sum(a, c, -1)[1] <= a.bound - c.bound for c in one.rows or ())
            for a in other.rows or ()
        )

    def range(self, row: Row) -> tuple[float, float]:
        """Return the least and the largest left side of a row; infinite if unbounded."""
        table = row.table(self._labels)
        return -_largest(-table, self._lengths), _largest(table, self._lengths)

    def _range_of_sum(self, a: Row, c: Row, sign: int) -> tuple[float, float]:
        terms = tuple((sign * coefficient, name, unit) for coefficient, name, unit in c.terms)
        return self.range(Row(a.terms + terms, 0))


def _largest(table: IntArray, lengths: Sequence[int] | None) -> float:
    """Return the largest sum of ``table[y[t-1] + 1, y[t]]`` over all labellings.

    With ``V[n, y]`` the largest sum of ``n`` tokens that end in ``y``:
    ``V[n + 1, y] = max_p V[n, p] + table[p + 1, y]``.
    """
    value = table[0]
    if lengths is None:
        # Without a cycle of positive sum, the largest sum is reached without repeating a label.
        for _ in range(table.shape[1] + 1):
            longer = np.maximum(value, (value[:, None] + table[1:]).max(axis=0))
            if (longer == value).all():
                return float(value.max())
            value = longer
        return math.inf
    found = [0.0] if 0 in lengths else []
    for n in range(1, lengths[-1] + 1):
        if n > 1:
            value = (value[:, None] + table[1:]).max(axis=0)
        if n in lengths:
            found.append(float(value.max()))
    return max(found)
