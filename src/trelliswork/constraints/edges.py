"""Rules on the first and the last segment or token, and on valid labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from trelliswork.constraints.arguments import Unit, call, check_names, check_unit, either, unless
from trelliswork.constraints.base import Constraint
from trelliswork.constraints.monitors import Symbols, build, language
from trelliswork.constraints.reading import (
    Reading,
    open_segments,
    segment_names,
    token_names,
)
from trelliswork.labels import schemes

if TYPE_CHECKING:
    from collections.abc import Hashable

    from trelliswork.automata.automaton import Automaton
    from trelliswork.labels.label_set import LabelSet


@dataclass(frozen=True, repr=False)
class Edge(Constraint):
    """A rule about the first or the last segment or token."""

    labels: tuple[str, ...]
    unit: Unit = "segment"

    @property
    def names(self) -> tuple[tuple[str, Unit], ...]:
        """The names that the rule mentions."""
        return tuple((name, self.unit) for name in self.labels)

    def _edge(self, reading: Reading) -> int | None:
        """Return the first or last token, or the first or last one that is in a segment."""
        within = range(len(reading))
        if self.unit == "token":
            tokens = list(within)
        else:
            tokens = [t for t in within if open_segments(reading.label_set, reading.labels[t])]
        if not tokens:
            return None
        return tokens[0] if isinstance(self, StartsWith) else tokens[-1]

    def _degree(self, reading: Reading) -> int:
        edge = self._edge(reading)
        if edge is None:
            return 1
        return int(_sees(reading.label_set, self.labels, self.unit, reading.labels[edge]) != "yes")

    def _faults(self, reading: Reading) -> list[str]:
        edge, which = self._edge(reading), "first" if isinstance(self, StartsWith) else "last"
        wanted = f"expected {either(self.labels)}"
        if edge is None:
            return [f"there is no {self.unit} at all; {wanted} as the {which} one."]
        label = reading.labels[edge]
        inside = open_segments(reading.label_set, label)
        came = label if self.unit == "token" else inside[-1]
        return [f"the {which} {self.unit} is {came!r}, at token {edge}; {wanted}."]

    def _symbols(self, labels: LabelSet) -> Symbols:
        return Symbols.of_tokens(labels, lambda y: _sees(labels, self.labels, self.unit, y))

    def __repr__(self) -> str:
        return call(self.word, *self.labels, unit=unless(self.unit, "segment"))


@dataclass(frozen=True, repr=False)
class StartsWith(Edge):
    """See `starts_with`."""

    word = "starts_with"

    def _build(self, labels: LabelSet, max_states: int) -> Automaton:
        def step(state: str, seen: Hashable, _: int) -> str | None:
            if state == "yes":
                return state
            return {"yes": "yes", "outside": "start"}.get(cast("str", seen))

        symbols = self._symbols(labels)
        return build(labels, symbols, "start", step, "yes".__eq__, max_states=max_states)


@dataclass(frozen=True, repr=False)
class EndsWith(Edge):
    """See `ends_with`."""

    word = "ends_with"

    def _build(self, labels: LabelSet, max_states: int) -> Automaton:
        def step(state: str, seen: Hashable, _: int) -> str | None:
            return state if seen == "outside" else cast("str", seen)

        symbols = self._symbols(labels)
        return build(labels, symbols, "start", step, "yes".__eq__, max_states=max_states)


def _sees(labels: LabelSet, names: tuple[str, ...], unit: Unit, label: str) -> str:
    """Return whether a token has one of the names: yes, no, or outside all segments."""
    if unit == "token":
        return "yes" if any(label in token_names(labels, name) for name in names) else "no"
    inside = open_segments(labels, label)
    wanted = frozenset[str]().union(*(segment_names(labels, name) for name in names))
    return ("no" if wanted.isdisjoint(inside) else "yes") if inside else "outside"


@dataclass(frozen=True, repr=False)
class ValidScheme(Constraint):
    """See `valid_scheme`."""

    word = "valid_scheme"

    def _degree(self, reading: Reading) -> int:
        return int(bool(schemes.violations(reading.labels, reading.label_set.scheme)))

    def _faults(self, reading: Reading) -> list[str]:
        scheme = reading.label_set.scheme
        return [
            f"{reading.labels[position]!r} at token {position} breaks {scheme}: {reason}."
            for position, reason in schemes.violations(reading.labels, scheme)
        ]

    def _build(self, labels: LabelSet, max_states: int) -> Automaton:
        """State 0 is the start, and state ``1 + y`` follows label ``y``."""
        start, step, end = labels.transitions
        arcs = [(0, int(y), int(y) + 1) for y in start.nonzero()[0]]
        arcs += [(int(x) + 1, int(y), int(y) + 1) for x, y in zip(*step.nonzero(), strict=True)]
        final = [0, *(int(y) + 1 for y in end.nonzero()[0])]
        return language(len(labels) + 1, labels, arcs, [0], final)

    def __repr__(self) -> str:
        return "valid_scheme()"


def starts_with(*labels: str, unit: Unit = "segment") -> Constraint:
    """Require that the first segment has one of these names.

    A labelling without segments breaks the rule. With paths, several segments may begin at the
    first token that is in one; one of them has to fit.

    Parameters
    ----------
    *labels
        Names, as in `at_most`.
    unit
        ``"segment"``, or ``"token"`` for the first token.

    Examples
    --------
    >>> starts_with("PER", "ORG").violations(["O", "B-PER"])
    0
    >>> starts_with("PER", "ORG", unit="token").explain(["O", "B-PER"])
    ["the first token is 'O', at token 0; expected 'PER' or 'ORG'."]
    """
    check_unit("starts_with", unit)
    return StartsWith(check_names("starts_with", labels), unit)


def ends_with(*labels: str, unit: Unit = "segment") -> Constraint:
    """Require that the last segment has one of these names.

    A labelling without segments breaks the rule. With paths, several segments may end at the last
    token that is in one; one of them has to fit. The parameters are those of `starts_with`.
    """
    check_unit("ends_with", unit)
    return EndsWith(check_names("ends_with", labels), unit)


def valid_scheme() -> Constraint:
    """Require labels that obey their scheme; plain labels always do.

    Examples
    --------
    >>> valid_scheme().explain(["O", "I-PER"])
    ["'I-PER' at token 1 breaks bio: PER begins here and needs B-PER."]
    """
    return ValidScheme()
