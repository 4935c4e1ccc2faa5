"""Combinations of rules: ``&``, ``|`` and ``~``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from trelliswork.constraints.base import Constraint
from trelliswork.constraints.monitors import lifted_parts, union_of_tests

if TYPE_CHECKING:
    from trelliswork._typing import BoolArray
    from trelliswork.automata.automaton import Automaton
    from trelliswork.constraints.arguments import Unit
    from trelliswork.constraints.reading import Reading
    from trelliswork.constraints.rows import Row
    from trelliswork.constraints.token_tests import SentenceLike, TokenTest
    from trelliswork.labels.label_set import LabelSet

__all__ = ["All", "Either", "Joined", "Not", "both", "either"]


@dataclass(frozen=True, repr=False)
class Joined(Constraint):
    """A combination of several rules."""

    parts: tuple[Constraint, ...]

    @property
    def tests(self) -> tuple[TokenTest, ...]:
        """The token tests that the rule asks."""
        return union_of_tests(part.tests for part in self.parts)

    @property
    def names(self) -> tuple[tuple[str, Unit], ...]:
        """The names that the rule mentions."""
        return tuple(name for part in self.parts for name in part.names)

    def in_segments(self) -> Constraint:
        """Return the rule as a semi-Markov model reads it."""
        return replace(self, parts=tuple(part.in_segments() for part in self.parts))

    def check(self, labels: LabelSet) -> None:
        """Raise a `LabelError` if the rule has a name that the label set does not know."""
        for part in self.parts:
            part.check(labels)


@dataclass(frozen=True, repr=False)
class All(Joined):
    """The conjunction of rules; their violations add up."""

    _builds_unambiguous = True  # as the automata that it intersects

    @property
    def conjuncts(self) -> tuple[Constraint, ...]:
        """The operands of ``&``."""
        return self.parts

    @property
    def rows(self) -> tuple[Row, ...] | None:
        """The rows of all parts, if all have rows."""
        of_parts = [part.rows for part in self.parts]
        if any(rows is None for rows in of_parts):
            return None
        return tuple(row for rows in of_parts for row in rows or ())

    def allowed(self, labels: LabelSet, sentence: SentenceLike) -> BoolArray | None:
        """Return the allowed labels of each token, if every part is such a mask."""
        mask: BoolArray | None = None
        for part in self.parts:
            own = part.allowed(labels, sentence)
            if own is None:
                return None
            mask = own if mask is None else mask & own
        return mask

    def _degree(self, reading: Reading) -> int:
        return sum(part._degree(reading) for part in self.parts)

    def _faults(self, reading: Reading) -> list[str]:
        broken = (part for part in self.parts if part._degree(reading))
        return [fault for part in broken for fault in part._faults(reading)]

    def _build(self, labels: LabelSet, max_states: int) -> Automaton:
        first, *rest = lifted_parts(self, self.parts, labels, max_states)
        for automaton in rest:
            first = first.intersect(automaton, max_states=max_states)
        return first

    def __repr__(self) -> str:
        return f"({' & '.join(part._operand() for part in self.parts)})"


@dataclass(frozen=True, repr=False)
class Either(Joined):
    """The disjunction of rules: at least one holds."""

    def _degree(self, reading: Reading) -> int:
        return int(all(part._degree(reading) for part in self.parts))

    def _faults(self, reading: Reading) -> list[str]:
        reasons = "; ".join(
            " and ".join(fault.rstrip(".") for fault in part._faults(reading))
            for part in self.parts
        )
        return [f"none of {len(self.parts)} alternatives holds: {reasons}."]

    def _build(self, labels: LabelSet, max_states: int) -> Automaton:
        first, *rest = lifted_parts(self, self.parts, labels, max_states)
        for automaton in rest:
            first = first | automaton
        return first

    def __repr__(self) -> str:
        return f"({' | '.join(part._operand() for part in self.parts)})"


@dataclass(frozen=True, repr=False)
class Not(Constraint):
    """The negation of a rule: one violation if the rule is satisfied."""

    _builds_unambiguous = True  # deterministic in one direction
    part: Constraint

    @property
    def tests(self) -> tuple[TokenTest, ...]:
        """The token tests that the rule asks."""
        return self.part.tests

    @property
    def names(self) -> tuple[tuple[str, Unit], ...]:
        """The names that the rule mentions."""
        return self.part.names

    def in_segments(self) -> Constraint:
        """Return the rule as a semi-Markov model reads it."""
        return Not(self.part.in_segments())

    def check(self, labels: LabelSet) -> None:
        """Raise a `LabelError` if the rule has a name that the label set does not know."""
        self.part.check(labels)

    def _degree(self, reading: Reading) -> int:
        return int(self.part._degree(reading) == 0)

    def _faults(self, reading: Reading) -> list[str]:
        return [f"{self.part!r} holds; expected that it does not."]

    def _build(self, labels: LabelSet, max_states: int) -> Automaton:
        part = self.part.compile(labels, max_states=max_states)
        mirrored = part.reverse()
        if mirrored.is_deterministic and not part.is_deterministic:
            return mirrored.complement(max_states=max_states).reverse()
        return part.complement(max_states=max_states)

    def __repr__(self) -> str:
        return f"~{self.part._operand()}"


def both(a: Constraint, b: Constraint) -> All:
    """Return ``a & b``, with the parts of conjunctions on either side spliced in."""
    return All((*_parts(All, a), *_parts(All, b)))


def either(a: Constraint, b: Constraint) -> Either:
    """Return ``a | b``, with the parts of disjunctions on either side spliced in."""
    return Either((*_parts(Either, a), *_parts(Either, b)))


def _parts(kind: type[Joined], rule: Constraint) -> tuple[Constraint, ...]:
    return rule.parts if isinstance(rule, kind) else (rule,)
