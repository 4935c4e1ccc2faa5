r"""Regular expressions whose letters are labels.

    B-PER          this label; a label is any run of characters other than white space and
                   ( ) [ ] { } | & ~ * + ? ^ ' " \
    'odd label'    a label in single or double quotes, with \ before a quote or another \
    .              any label (a label . needs quotes; in LOC.x the dot is part of the name)
    [a b]          one of these labels; [] is none, and matches nothing
    [^a b]         any label but these
    a b            one after the other
    a | b          either
    a & b          both: what a and b match
    ~a             every sequence that a does not match
    a* a+ a?       any number of times, at least once, at most once
    a{m} a{m,n}    m times; m to n times; also a{m,} and a{,n}
    ( )            group; () alone is the empty sequence

Repetition binds tightest, then ``~``, then concatenation, ``&`` and ``|``: ``~a* b | c & d`` reads
``((~(a*)) b) | (c & d)``. White space separates labels and means nothing else.

An expression becomes its *position automaton* (Glushkov): one state for the start and one for each
label or class in the expression, without empty steps. ``&`` and ``~`` go through deterministic
automata. `compile_regex` keeps the smallest unambiguous automaton that it finds.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from trelliswork import _core
from trelliswork._utils.tables import shorten
from trelliswork.automata.algebra import MAX_STATES, from_core, smallest_unambiguous, within_budget
from trelliswork.automata.automaton import Automaton, checked_names
from trelliswork.automata.regex_syntax import error_at, parse, unknown_label
from trelliswork.automata.regex_tree import (
    Both,
    Concat,
    Either,
    Empty,
    Labels,
    Node,
    Not,
    Repeat,
    simplify,
)
from trelliswork.errors import RegexError, TooLargeError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trelliswork._typing import IdArray

__all__ = [
    "Both",
    "Concat",
    "Either",
    "Empty",
    "Labels",
    "Node",
    "Not",
    "Repeat",
    "compile_node",
    "compile_regex",
    "parse",
]

ARCS_A_STATE = 100  # budget of arcs: this many for every state that is allowed


class Fragment(NamedTuple):
    """A part of a position automaton, seen from its borders.

    Attributes
    ----------
    nullable
        Whether the part matches the empty sequence.
    first
        The arcs into it: labels and targets, shape ``(2, K)``.
    last
        The states in which it may end.
    """

    nullable: bool
    first: IdArray
    last: IdArray


NOTHING = Fragment(True, np.zeros((2, 0), dtype=np.int32), np.zeros(0, dtype=np.int32))


class Builder:
    """Builds the position automaton of an expression. State 0 is the start."""

    def __init__(self, labels: tuple[str, ...], expression: str | None, max_states: int) -> None:
        self.labels = labels
        self.expression = expression
        self.max_states = max_states
        self.ids = {name: i for i, name in enumerate(labels)}
        self.inner: dict[Node, _core.Language] = {}  # of & and ~, made once
        self.n_states = 1
        self.n_arcs = 0
        self.arcs: list[IdArray] = []  # (3, K): sources, labels, targets

    def language(self, node: Node) -> _core.Language:
        """Return the position automaton of a tree, trimmed."""
        node = simplify(node)
        self.refuse_many(self.size(node), "states")
        whole = self.build(node)
        self.link(np.zeros(1, dtype=np.int32), whole.first)
        source, label, target = np.concatenate(
            [np.zeros((3, 0), dtype=np.int32), *self.arcs], axis=1
        )
        initial = np.zeros(self.n_states, dtype=np.uint8)
        final = np.zeros(self.n_states, dtype=np.uint8)
        initial[0], final[0] = 1, whole.nullable
        final[whole.last] = 1
        made = _core.Language(
            self.n_states, len(self.labels), source, label, target, initial, final
        )
        return made.trim()

    def size(self, node: Node) -> int:
        """Return the number of states that a tree needs, so that large ones are refused early."""
        match node:
            case Labels():
                return 1
            case Concat(parts) | Either(parts):
                return sum(map(self.size, parts))
            case Repeat(inner, low, high):
                return self.size(inner) * max(low, 1 if high is None else high)
            case Both() | Not():
                return self.inner_language(node).n_states
            case _:
                return 0

    def refuse_many(self, size: int, what: str) -> None:
        """Raise a `TooLargeError` beyond the budget."""
        allowed = self.max_states * (1 if what == "states" else ARCS_A_STATE)
        if size > allowed:
            raise TooLargeError(
                f"The expression{self.quoted()} needs {size:,} {what} before it is made smaller; "
                f"{allowed:,} are allowed. Use smaller numbers in {{m,n}}, or raise max_states."
            )

    def quoted(self) -> str:
        """Return the expression for a message, shortened."""
        return f" {shorten(self.expression)!r}" if self.expression else ""

    def build(self, node: Node) -> Fragment:
        """Add the states and inner arcs of a tree."""
        match node:
            case Labels():
                ids = self.label_ids(node)
                first = np.array([ids, np.full(len(ids), self.n_states)], dtype=np.int32)
                self.n_states += 1
                return Fragment(False, first, first[1, :1])
            case Concat(parts):
                whole = NOTHING
                for part in parts:
                    whole = self.concatenated(whole, self.build(part))
                return whole
            case Either(parts):
                built = [self.build(part) for part in parts]
                return Fragment(
                    any(part.nullable for part in built),
                    np.concatenate([part.first for part in built], axis=1),
                    np.concatenate([part.last for part in built]),
                )
            case Repeat(inner, low, high):
                return self.repeated(inner, low, high)
            case Both() | Not():
                return self.embedded(self.inner_language(node))
            case _:
                return NOTHING

    def link(self, last: IdArray, first: IdArray) -> None:
        """Add an arc from every state of `last` for every entry of `first`."""
        self.n_arcs += last.size * first.shape[1]
        self.refuse_many(self.n_arcs, "arcs")
        self.arcs.append(np.concatenate([
            np.repeat(last, first.shape[1])[None], np.tile(first, (1, last.size))
        ]))  # fmt: skip

    def concatenated(self, one: Fragment, other: Fragment) -> Fragment:
        """Return two fragments in a row."""
        self.link(one.last, other.first)
        enter, leave = [one.first], [other.last]
        if one.nullable:
            enter.append(other.first)
        if other.nullable:
            leave.append(one.last)
        nullable = one.nullable and other.nullable
        return Fragment(nullable, np.concatenate(enter, axis=1), np.concatenate(leave))

    def repeated(self, inner: Node, low: int, high: int | None) -> Fragment:
        """Return `high` copies in a row, of which those after `low` are optional.

        No copy counts as empty: where one may be, `low` is 0 (see `simplify`), and leaving copies
        out says the same with fewer arcs.
        """
        copies = [self.build(inner) for _ in range(max(low, 1) if high is None else high)]
        for one, other in pairwise(copies):
            self.link(one.last, other.first)
        if high is None:
            self.link(copies[-1].last, copies[-1].first)
        ends = [copy.last for copy in copies[max(low, 1) - 1 :]]
        return Fragment(low == 0, copies[0].first, np.concatenate(ends))

    def embedded(self, language: _core.Language) -> Fragment:
        """Add the states and arcs of an automaton whose initial states have no entering arcs."""
        source, label, target, initial, final = language.arrays()
        shift = self.n_states
        self.n_states += language.n_states
        self.arcs.append(np.stack([source + shift, label, target + shift]))
        starts = initial[source] != 0
        return Fragment(
            language.has_empty_string,
            np.stack([label[starts], target[starts] + shift]),
            np.flatnonzero(final).astype(np.int32) + np.int32(shift),
        )

    def inner_language(self, node: Both | Not) -> _core.Language:
        """Return the automaton of an intersection or a complement, minimal if within budget."""
        if node not in self.inner:
            made = self.complemented(node) if isinstance(node, Not) else self.intersected(node)
            self.inner[node] = made.minimise(self.max_states) or made
        return self.inner[node]

    def complemented(self, node: Not) -> _core.Language:
        inner = self.separately(node.inner)
        made = inner.complement(self.max_states)
        if made is None:  # the mirror image may be smaller
            backward = inner.reverse().complement(self.max_states)
            made = None if backward is None else backward.reverse()
        what = f"The complement {shorten(str(node))}, either way round,"
        return within_budget(made, self.max_states, what)

    def intersected(self, node: Both) -> _core.Language:
        first, *others = (self.separately(part) for part in node.parts)
        for other in others:
            both = first.intersect(other, self.max_states)
            first = within_budget(both, self.max_states, f"The intersection {shorten(str(node))}")
        return first

    def separately(self, node: Node) -> _core.Language:
        made = Builder(self.labels, self.expression, self.max_states).language(node)
        return made.minimise(self.max_states) or made

    def label_ids(self, node: Labels) -> list[int]:
        """Return the ids that a node reads; point at names that do not exist."""
        for i, name in enumerate(node.names):
            if name not in self.ids:
                message = unknown_label(name, self.labels)
                if self.expression is None or i >= len(node.columns):
                    raise RegexError(f"{message[0].upper()}{message[1:]}")
                raise error_at(self.expression, node.columns[i], message)
        chosen = {self.ids[name] for name in node.names}
        return [y for y in range(len(self.labels)) if (y in chosen) != node.negated]


def compile_node(
    node: Node,
    labels: Sequence[str],
    *,
    expression: str | None = None,
    max_states: int = MAX_STATES,
) -> Automaton:
    """Return the automaton of a parsed expression; `expression` is its text, for messages."""
    names = checked_names(labels, len(labels))
    built = Builder(names, expression, max_states)
    language = built.language(node)
    what = f"the automaton of the expression{built.quoted()}"
    return from_core(smallest_unambiguous(language, max_states, what), names)


def compile_regex(
    expression: str, labels: Sequence[str], *, max_states: int = MAX_STATES
) -> Automaton:
    """Return a small unambiguous automaton of an expression over `labels`.

    Examples
    --------
    >>> compile_regex("(a | b)* c", "a b c".split()).accepts(["a", "c"])
    True
    """
    return compile_node(parse(expression), labels, expression=expression, max_states=max_states)
