"""Rules on the count of one name: ``at_most``, ``at_least``, ``exactly``, ``contiguous``.

Their violations are degrees: how far the count is off.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from trelliswork.constraints.arguments import (
    Unit,
    call,
    check_count,
    check_name,
    check_unit,
    places,
    unless,
)
from trelliswork.constraints.base import Constraint
from trelliswork.constraints.monitors import Symbols, build
from trelliswork.constraints.reading import Reading, segment_names, token_names
from trelliswork.constraints.rows import Row

if TYPE_CHECKING:
    from collections.abc import Hashable

    from trelliswork.automata.automaton import Automaton
    from trelliswork.labels.label_set import LabelSet
    from trelliswork.labels.segments import Span


@dataclass(frozen=True, repr=False)
class Count(Constraint):
    """A bound on the count of a name."""

    n: int
    label: str
    unit: Unit = "segment"

    @property
    def names(self) -> tuple[tuple[str, Unit], ...]:
        """The names that the rule mentions."""
        return ((self.label, self.unit),)

    @abstractmethod
    def _excess(self, count: int) -> int:
        """Return the distance of a count from the allowed ones."""

    @abstractmethod
    def _expected(self) -> str:
        """Return the allowed count as text."""

    def _found(self, reading: Reading) -> list[Span] | list[int]:
        if self.unit == "segment":
            return reading.segments_of(self.label)
        return reading.tokens_of(self.label)

    def _degree(self, reading: Reading) -> int:
        return self._excess(len(self._found(reading)))

    def _faults(self, reading: Reading) -> list[str]:
        found = self._found(reading)
        count = f"{len(found)} {self.unit}{'' if len(found) == 1 else 's'}"
        where = f", at {places(found)}" if found else ""
        return [f"{self.label!r} has {count}{where}; {self._expected()} expected."]

    def _build(self, labels: LabelSet, max_states: int) -> Automaton:
        """Count up to ``n + 1``; larger counts are equivalent."""
        top = self.n + 1

        def step(count: int, more: Hashable, _: int) -> int | None:
            after = min(count + cast("int", more), top)
            # Counts only grow: past the bound, a violation of at_most and exactly is final.
            return None if after == top and self._excess(top) else after

        return build(
            labels,
            _occurrences(labels, self.label, self.unit),
            0,
            step,
            lambda count: self._excess(count) == 0,
            max_states=max_states,
        )

    def __repr__(self) -> str:
        return call(self.word, self.n, self.label, unit=unless(self.unit, "segment"))


@dataclass(frozen=True, repr=False)
class AtMost(Count):
    """See `at_most`."""

    word = "at_most"

    def _excess(self, count: int) -> int:
        return max(0, count - self.n)

    @property
    def rows(self) -> tuple[Row, ...]:
        """The rule as ``count ≤ n``."""
        return (Row(((1, self.label, self.unit),), self.n),)

    def _expected(self) -> str:
        return f"at most {self.n}"


@dataclass(frozen=True, repr=False)
class AtLeast(Count):
    """See `at_least`."""

    word = "at_least"

    def _excess(self, count: int) -> int:
        return max(0, self.n - count)

    @property
    def rows(self) -> tuple[Row, ...]:
        """The rule as ``-count ≤ -n``."""
        return (Row(((-1, self.label, self.unit),), -self.n),)

    def _expected(self) -> str:
        return f"at least {self.n}"


@dataclass(frozen=True, repr=False)
class Exactly(Count):
    """See `exactly`."""

    word = "exactly"

    def _excess(self, count: int) -> int:
        return abs(count - self.n)

    @property
    def rows(self) -> tuple[Row, ...]:
        """The rule as ``count ≤ n`` and ``-count ≤ -n``."""
        return (
            Row(((1, self.label, self.unit),), self.n),
            Row(((-1, self.label, self.unit),), -self.n),
        )

    def _expected(self) -> str:
        return f"exactly {self.n}"


@dataclass(frozen=True, repr=False)
class Contiguous(Constraint):
    """See `contiguous`."""

    word = "contiguous"
    label: str
    unit: Unit = "segment"

    @property
    def names(self) -> tuple[tuple[str, Unit], ...]:
        """The names that the rule mentions."""
        return ((self.label, self.unit),)

    @property
    def rows(self) -> tuple[Row, ...]:
        """The rule as ``count ≤ 1``, of segments or of runs of tokens."""
        return (Row(((1, self.label, "segment" if self.unit == "segment" else "run"),), 1),)

    def _found(self, reading: Reading) -> list[Span] | list[int]:
        if self.unit == "segment":
            return reading.segments_of(self.label)
        tokens = reading.tokens_of(self.label)
        return [token for token in tokens if token - 1 not in set(tokens)]

    def _degree(self, reading: Reading) -> int:
        return max(0, len(self._found(reading)) - 1)

    def _faults(self, reading: Reading) -> list[str]:
        found = self._found(reading)
        kind = "segments, at" if self.unit == "segment" else "runs of tokens, beginning at"
        return [f"{self.label!r} has {len(found)} {kind} {places(found)}; at most 1 expected."]

    def _build(self, labels: LabelSet, max_states: int) -> Automaton:
        if self.unit == "segment":
            return AtMost(1, self.label)._build(labels, max_states)

        def step(state: str, inside: Hashable, _: int) -> str | None:
            if inside:
                return None if state == "after" else "in"
            return "before" if state == "before" else "after"

        return build(
            labels,
            _occurrences(labels, self.label, "token"),
            "before",
            step,
            lambda _: True,
            max_states=max_states,
        )

    def __repr__(self) -> str:
        return call(self.word, self.label, unit=unless(self.unit, "segment"))


def _occurrences(labels: LabelSet, name: str, unit: Unit) -> Symbols:
    """Return the number of occurrences of a name that begin at each token."""
    if unit == "segment":
        segments = segment_names(labels, name)
        return Symbols.of_begins(labels, lambda begun: sum(other in segments for other in begun))
    tokens = token_names(labels, name)
    return Symbols.of_tokens(labels, lambda label: int(label in tokens))


def at_most(n: int, label: str, *, unit: Unit = "segment") -> Constraint:
    """Require at most `n` segments of a name; each further one is a violation.

    Parameters
    ----------
    n
        The bound, 0 or more.
    label
        A segment name; with paths ``authors/person``, or ``**/person`` at any depth.
    unit
        ``"segment"``, or ``"token"`` to count tokens: those with exactly this label or, where it
        is the name of a segment, those inside such a segment.

    Examples
    --------
    >>> rule = at_most(1, "PER")
    >>> rule.violations(["B-PER", "O", "B-PER", "B-PER"])
    2
    >>> rule.explain(["B-PER", "I-PER", "O", "B-PER"])
    ["'PER' has 2 segments, at tokens 0-1 and 3; at most 1 expected."]
    """
    return AtMost(*_checked("at_most", n, label, unit))


def at_least(n: int, label: str, *, unit: Unit = "segment") -> Constraint:
    """Require at least `n` segments of a name; each missing one is a violation.

    The parameters are those of `at_most`.
    """
    return AtLeast(*_checked("at_least", n, label, unit))


def exactly(n: int, label: str, *, unit: Unit = "segment") -> Constraint:
    """Require exactly `n` segments of a name; the violations are the difference.

    The parameters are those of `at_most`.
    """
    return Exactly(*_checked("exactly", n, label, unit))


def contiguous(label: str, *, unit: Unit = "segment") -> Constraint:
    """Require at most one segment of a name; each further one is a violation.

    Parameters
    ----------
    label
        A name, as in `at_most`.
    unit
        ``"segment"``, or ``"token"`` for one unbroken run of tokens with this name, into which
        neighbouring segments fall together.

    Examples
    --------
    >>> contiguous("PER").violations(["B-PER", "B-PER", "O"])
    1
    >>> contiguous("PER", unit="token").violations(["B-PER", "B-PER", "O"])
    0
    """
    check_unit("contiguous", unit)
    return Contiguous(check_name("contiguous", label), unit)


def _checked(word: str, n: int, label: str, unit: Unit) -> tuple[int, str, Unit]:
    check_unit(word, unit)
    return check_count(word, n), check_name(word, label), unit
