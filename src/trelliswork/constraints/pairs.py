"""Rules on two names: ``precedes``, ``requires`` and ``excludes``."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from trelliswork.constraints.arguments import Unit, call, check_name, check_unit, unless
from trelliswork.constraints.base import Constraint
from trelliswork.constraints.monitors import Symbols, build
from trelliswork.constraints.reading import Reading, segment_names, token_names

if TYPE_CHECKING:
    from collections.abc import Hashable

    from trelliswork.automata.automaton import Automaton
    from trelliswork.labels.label_set import LabelSet


@dataclass(frozen=True, repr=False)
class Pair(Constraint):
    """A rule about two names."""

    a: str
    b: str
    unit: Unit = "segment"

    @property
    def names(self) -> tuple[tuple[str, Unit], ...]:
        """The names that the rule mentions."""
        return ((self.a, self.unit), (self.b, self.unit))

    def _starts(self, reading: Reading, name: str) -> list[int]:
        """Return the positions of a name's tokens, or of its segments' first tokens."""
        if self.unit == "token":
            return reading.tokens_of(name)
        return [span.start for span in reading.segments_of(name)]

    def _symbols(self, labels: LabelSet) -> Symbols:
        """Return whether `a` and whether `b` begins at each token."""
        if self.unit == "token":
            a, b = token_names(labels, self.a), token_names(labels, self.b)
            return Symbols.of_tokens(labels, lambda label: (label in a, label in b))
        a, b = segment_names(labels, self.a), segment_names(labels, self.b)
        return Symbols.of_begins(
            labels, lambda begun: (not a.isdisjoint(begun), not b.isdisjoint(begun))
        )

    def __repr__(self) -> str:
        return call(self.word, self.a, self.b, unit=unless(self.unit, "segment"))


@dataclass(frozen=True, repr=False)
class Precedes(Pair):
    """See `precedes`."""

    word = "precedes"

    def _degree(self, reading: Reading) -> int:
        a, b = self._starts(reading, self.a), self._starts(reading, self.b)
        return int(bool(a and b) and max(a) > min(b))

    def _faults(self, reading: Reading) -> list[str]:
        late, early = max(self._starts(reading, self.a)), min(self._starts(reading, self.b))
        return [
            f"{self.a!r} at token {late} comes after {self.b!r} at token {early}; "
            f"expected every {self.a!r} before."
        ]

    def _build(self, labels: LabelSet, max_states: int) -> Automaton:
        def step(after_b: bool, seen: Hashable, _: int) -> bool | None:
            is_a, is_b = cast("tuple[bool, bool]", seen)
            return None if after_b and is_a else after_b or is_b

        symbols = self._symbols(labels)
        return build(labels, symbols, False, step, lambda _: True, max_states=max_states)


@dataclass(frozen=True, repr=False)
class Together(Pair):
    """A rule on the presence of two names."""

    @abstractmethod
    def _holds(self, present: tuple[bool, bool]) -> bool:
        """Return whether the rule holds, given which of the two occur."""

    def _degree(self, reading: Reading) -> int:
        present = bool(self._starts(reading, self.a)), bool(self._starts(reading, self.b))
        return int(not self._holds(present))

    def _build(self, labels: LabelSet, max_states: int) -> Automaton:
        def step(present: tuple[bool, bool], seen: Hashable, _: int) -> tuple[bool, bool] | None:
            is_a, is_b = cast("tuple[bool, bool]", seen)
            return present[0] or is_a, present[1] or is_b

        start = (False, False)
        symbols = self._symbols(labels)
        return build(labels, symbols, start, step, self._holds, max_states=max_states)


@dataclass(frozen=True, repr=False)
class Requires(Together):
    """See `requires`."""

    word = "requires"

    def _holds(self, present: tuple[bool, bool]) -> bool:
        return not present[0] or present[1]

    def _faults(self, reading: Reading) -> list[str]:
        first = self._starts(reading, self.a)[0]
        return [f"{self.a!r} occurs, at token {first}, without {self.b!r}; expected both."]


@dataclass(frozen=True, repr=False)
class Excludes(Together):
    """See `excludes`."""

    word = "excludes"

    def _holds(self, present: tuple[bool, bool]) -> bool:
        return not all(present)

    def _faults(self, reading: Reading) -> list[str]:
        a, b = self._starts(reading, self.a)[0], self._starts(reading, self.b)[0]
        return [
            f"{self.a!r}, at token {a}, and {self.b!r}, at token {b}, occur together; "
            "expected one of them at most."
        ]


def precedes(a: str, b: str, *, unit: Unit = "segment") -> Constraint:
    """Require that no segment of `a` begins after one of `b` has begun.

    Satisfied where either is missing.

    Parameters
    ----------
    a, b
        Names, as in `at_most`.
    unit
        ``"segment"``, or ``"token"``: no token of `a` after a token of `b`.

    Examples
    --------
    >>> precedes("author", "title").explain(["author", "title", "author"])
    ["'author' at token 2 comes after 'title' at token 1; expected every 'author' before."]
    """
    a, b = _two_names("precedes", a, b, f"Did you mean at_most(1, {a!r})?")
    check_unit("precedes", unit)
    return Precedes(a, b, unit)


def requires(a: str, b: str, *, unit: Unit = "segment") -> Constraint:
    """Require `b` if `a` occurs; `b` may occur alone.

    The parameters are those of `precedes`.
    """
    a, b = _two_names("requires", a, b, f"Did you mean at_least(1, {a!r})?")
    check_unit("requires", unit)
    return Requires(a, b, unit)


def excludes(a: str, b: str, *, unit: Unit = "segment") -> Constraint:
    """Require that `a` and `b` do not both occur.

    The parameters are those of `precedes`.
    """
    a, b = _two_names("excludes", a, b, f"Did you mean at_most(0, {a!r})?")
    check_unit("excludes", unit)
    return Excludes(a, b, unit)


def _two_names(word: str, a: object, b: object, advice: str) -> tuple[str, str]:
    """Return the names; raise an error if one is invalid or both are the same."""
    names = check_name(word, a), check_name(word, b)
    if a == b:
        raise ValueError(f"{word}: expected two different labels, got {a!r} twice. {advice}")
    return names
