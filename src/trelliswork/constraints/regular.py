"""``matches``: any regular language of labels or of segments as a rule."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, cast

import numpy as np

from trelliswork.automata import regex
from trelliswork.automata.automaton import MAX_STATES, Automaton
from trelliswork.constraints.arguments import Unit, call, check_name, check_unit
from trelliswork.constraints.base import Constraint
from trelliswork.constraints.monitors import Symbols, build
from trelliswork.constraints.reading import Reading, segment_names, token_names
from trelliswork.errors import RegexError

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    from trelliswork.automata.regex import Node
    from trelliswork.labels.label_set import LabelSet


@dataclass(frozen=True, repr=False)
class ArcList:
    """An automaton over names as a hashable value, the form in which `matches` keeps one."""

    arcs: tuple[tuple[int, str, int], ...]
    initial: tuple[int, ...]
    final: tuple[int, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names on the arcs."""
        return tuple(dict.fromkeys(name for _, name, _ in self.arcs))

    def __repr__(self) -> str:
        return call("arc_list", list(self.arcs), initial=list(self.initial), final=list(self.final))


@dataclass(frozen=True, repr=False)
class Matches(Constraint):
    """See `matches`."""

    word = "matches"
    expression: str | ArcList
    unit: Unit | None = None

    @property
    def names(self) -> tuple[tuple[str, Unit], ...]:
        """The names that the rule mentions."""
        if isinstance(self.expression, ArcList):
            names = self.expression.names
        else:
            names = tuple(dict.fromkeys(_letters(regex.parse(self.expression))))
        return tuple((name, self._unit) for name in names)

    @property
    def _unit(self) -> Unit:
        """The unit of labels if none is given; a semi-Markov model sets it to segments."""
        return self.unit or "token"

    def in_segments(self) -> Constraint:
        """Return the rule for a semi-Markov model: on segments, unless its unit is tokens."""
        return replace(self, unit=self.unit or "segment")

    def _word(self, reading: Reading) -> list[str]:
        if self._unit == "token":
            return list(reading.labels)
        return [span.name for span in reading.spans]

    def _degree(self, reading: Reading) -> int:
        language = _language(self, reading.label_set, MAX_STATES)
        return int(not language.accepts(self._word(reading)))

    def _faults(self, reading: Reading) -> list[str]:
        word = " ".join(self._word(reading)) or f"the labelling without {self._unit}s"
        what = "the automaton" if isinstance(self.expression, ArcList) else repr(self.expression)
        return [f"{word} does not match {what}."]

    def _build(self, labels: LabelSet, max_states: int) -> Automaton:
        language = _language(self, labels, max_states)
        if self._unit == "token":
            return language
        language = language.determinise(max_states=max_states)
        columns = language.source.tolist(), language.label.tolist(), language.target.tolist()
        steps = {(source, name): target for source, name, target in zip(*columns, strict=True)}
        ids = {name: i for i, name in enumerate(_alphabet(labels, "segment"))}

        def step(state: int, begun: Hashable, _: int) -> int | None:
            for name in cast("tuple[str, ...]", begun):
                after = steps.get((state, ids[name]))
                if after is None:
                    return None
                state = after
            return state

        return build(
            labels,
            Symbols.of_begins(labels, lambda begun: begun),
            int(np.argmax(language.initial)),
            step,
            lambda state: bool(language.final[state] == 0.0),
            max_states=max_states,
        )

    def __repr__(self) -> str:
        return call(self.word, self.expression, unit=self.unit)


def matches(expression: str | Automaton | ArcList, *, unit: Unit | None = None) -> Constraint:
    """Require that the whole labelling is in a regular language.

    Parameters
    ----------
    expression
        A regular expression whose letters are labels (see `trelliswork.automata.regex`), or an
        `Automaton` with label names. A segment name that is not a label stands for all labels of
        tokens inside such a segment: in BIO, ``PER`` is ``[B-PER I-PER]``.
    unit
        ``"token"``: the labels of the tokens are read. ``"segment"``: the names of the segments, in
        order (with paths, outer before inner); tokens outside are skipped. Default: tokens, and
        segments in a semi-Markov model (``max_segment``).

    Examples
    --------
    >>> rule = matches("author+ title year?", unit="segment")
    >>> rule.violations(["author", "author", "title", "title"])
    0
    >>> rule.explain(["author", "year"])
    ["author year does not match 'author+ title year?'."]
    """
    if unit is not None:
        check_unit("matches", unit)
    if isinstance(expression, str):
        try:
            regex.parse(expression)  # errors appear here rather than at the first labelling
        except RegexError as error:
            raise RegexError(f"matches: in the expression, {error}") from None
    elif isinstance(expression, Automaton):
        expression = _arc_list(expression)
    elif not isinstance(expression, ArcList):
        raise TypeError(
            "matches: expected a regular expression or an Automaton, got "
            f"{type(expression).__name__} {expression!r}."
        )
    return Matches(str(expression) if isinstance(expression, str) else expression, unit)


def arc_list(
    arcs: Sequence[Sequence[object]], *, initial: Sequence[int], final: Sequence[int]
) -> ArcList:
    """Return an automaton as a value, for `matches` in rule files.

    Parameters
    ----------
    arcs
        Triples (source, name, target); states are numbers from 0.
    initial, final
        The states to begin and to end in.

    Examples
    --------
    >>> rule = matches(arc_list([(0, "a", 1), (1, "b", 0)], initial=[0], final=[0]))
    >>> rule.violations(["a", "b"]), rule.violations(["a"])
    (0, 1)
    """
    triples = []
    for arc in arcs:
        if len(arc) != 3:
            raise ValueError(f"arc_list: expected (source, name, target), got {tuple(arc)!r}.")
        source, name, target = arc
        triples.append((_state(source), check_name("arc_list", name), _state(target)))
    return ArcList(
        tuple(sorted(set(triples))),
        tuple(sorted(set(map(_state, initial)))),
        tuple(sorted(set(map(_state, final)))),
    )


def as_constraint(rule: Constraint | Automaton | str) -> Constraint:
    """Return a rule unchanged, an automaton or a regular expression as a `matches` rule."""
    return rule if isinstance(rule, Constraint) else matches(rule)


def _arc_list(automaton: Automaton) -> ArcList:
    if automaton.labels is None:
        raise ValueError(
            f"matches: expected an automaton with label names, got {automaton!r}. "
            "Make it with labels=."
        )
    trimmed = automaton.trim()
    return arc_list(
        trimmed.arcs,
        initial=np.flatnonzero(trimmed.initial == 0.0).tolist(),
        final=np.flatnonzero(trimmed.final == 0.0).tolist(),
    )


def _state(state: object) -> int:
    if isinstance(state, bool) or not isinstance(state, int) or state < 0:
        raise ValueError(f"arc_list: expected a state, a number from 0, got {state!r}.")
    return state


def _letters(node: Node) -> Iterator[str]:
    """Yield the names in a regular expression."""
    match node:
        case regex.Labels(names):
            yield from names
        case regex.Concat(parts) | regex.Either(parts) | regex.Both(parts):
            for part in parts:
                yield from _letters(part)
        case regex.Not(inner) | regex.Repeat(inner):
            yield from _letters(inner)


def _alphabet(labels: LabelSet, unit: Unit) -> tuple[str, ...]:
    return labels.names if unit == "token" else labels.segment_names


def _meaning(labels: LabelSet, unit: Unit, name: str) -> frozenset[str]:
    return token_names(labels, name) if unit == "token" else segment_names(labels, name)


@lru_cache(maxsize=1024)
def _language(rule: Matches, labels: LabelSet, max_states: int) -> Automaton:
    """Return the language over the labels, or over the names of segments."""
    alphabet = _alphabet(labels, rule._unit)
    if isinstance(rule.expression, str):
        node = _resolved(regex.parse(rule.expression), labels, rule._unit)
        return regex.compile_node(node, alphabet, max_states=max_states)
    ids = {name: i for i, name in enumerate(alphabet)}
    arcs = {
        (source, ids[letter], target)
        for source, name, target in rule.expression.arcs
        for letter in _meaning(labels, rule._unit, name)
    }
    initial, final = rule.expression.initial, rule.expression.final
    states = {0, *initial, *final, *(s for s, _, _ in arcs), *(t for _, _, t in arcs)}
    weights = np.full((2, max(states) + 1), -np.inf)
    weights[0, list(initial)] = weights[1, list(final)] = 0.0
    return Automaton(
        weights.shape[1],
        len(alphabet),
        *np.array(sorted(arcs), dtype=np.int32).reshape(-1, 3).T,
        initial=weights[0],
        final=weights[1],
        labels=alphabet,
    )


def _resolved(node: Node, labels: LabelSet, unit: Unit) -> Node:
    """Return an expression with every name replaced by the letters that it stands for."""
    match node:
        case regex.Labels(names, negated):
            letters = frozenset[str]().union(*(_meaning(labels, unit, name) for name in names))
            return regex.Labels(tuple(sorted(letters)), negated)
        case regex.Concat(parts) | regex.Either(parts) | regex.Both(parts):
            return replace(node, parts=tuple(_resolved(part, labels, unit) for part in parts))
        case regex.Not(inner) | regex.Repeat(inner):
            return replace(node, inner=_resolved(inner, labels, unit))
    return node
