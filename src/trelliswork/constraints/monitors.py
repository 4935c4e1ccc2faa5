"""Automata of rules, built as deterministic monitors that read one letter a token.

A *letter* is a label together with the outcomes of ``k`` token tests: letter ``c * L + y`` is label
``y`` on a token of class ``c``, and bit ``i`` of ``c`` says whether the token passes test ``i``.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from trelliswork.automata.automaton import Automaton
from trelliswork.errors import TooLargeError
from trelliswork.labels.schemes import continued_levels

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

    from trelliswork._typing import FloatArray, IdArray
    from trelliswork.constraints.base import Constraint
    from trelliswork.constraints.token_tests import TokenTest
    from trelliswork.labels.label_set import LabelSet

MAX_TESTS = 6
"""The kernel distinguishes 64 classes of tokens."""

JOIN_TESTS = (
    "Join tests that stand together into one, as in token(...) | token(...), or leave rules out."
)

State = TypeVar("State", bound="Hashable")


class Symbols(NamedTuple):
    """The symbol that a monitor reads at a token: ``values[table[previous + 1, label]]``.

    Attributes
    ----------
    table
        Shape ``(L + 1, L)``; row 0 is the start of the sequence.
    values
        The symbols.
    """

    table: IdArray
    values: Sequence[Hashable]

    @classmethod
    def of_tokens(cls, labels: LabelSet, see: Callable[[str], Hashable]) -> Symbols:
        """Make symbols that depend on the label alone."""
        row = np.arange(len(labels), dtype=np.int32)
        index = np.broadcast_to(row, (len(labels) + 1, len(labels)))
        return cls(index, [see(label) for label in labels])._merged()

    @classmethod
    def of_begins(cls, labels: LabelSet, see: Callable[[tuple[str, ...]], Hashable]) -> Symbols:
        """Make symbols that depend on the names of the segments that begin at a token."""
        index, begins = _begins(labels)
        return cls(index, [see(names) for names in begins])._merged()

    @classmethod
    def of_leaves(cls, labels: LabelSet) -> Symbols:
        """Make symbols for whether a segment of the previous token is left."""
        levels = [labels.parse(label) for label in labels]
        index = [[0] * len(levels)]
        index += [[int(continued_levels(a, b) < len(a)) for b in levels] for a in levels]
        return cls(np.array(index, dtype=np.int32), [False, True])

    def _merged(self) -> Symbols:
        """Return the same symbols with equal values merged."""
        ids = {value: i for i, value in enumerate(dict.fromkeys(self.values))}
        renumbered = np.array([ids[value] for value in self.values], dtype=np.int32)
        return Symbols(renumbered[self.table], list(ids))


@lru_cache(maxsize=1024)
def compile_rule(rule: Constraint, labels: LabelSet, max_states: int) -> Automaton:
    """Return a small unambiguous automaton of a rule; see `Constraint.compile`."""
    rule.check(labels)
    built = rule._build(labels, max_states)
    if built.is_deterministic:
        return built.minimise(max_states=max_states)
    if not rule._builds_unambiguous:
        return built.unambiguous(max_states=max_states)
    try:  # what counts from the end may be exponentially larger when it is deterministic
        smaller = built.minimise(max_states=min(2 * built.n_states, max_states))
    except TooLargeError:
        return built.trim()
    return min(built.trim(), smaller, key=lambda automaton: automaton.n_arcs)


def lifted_parts(
    rule: Constraint, parts: Sequence[Constraint], labels: LabelSet, max_states: int
) -> list[Automaton]:
    """Return the automata of the parts, lifted to the letters of the whole."""
    compiled = ((part, part.compile(labels, max_states=max_states)) for part in parts)
    return [lift(automaton, part.tests, rule.tests, len(labels)) for part, automaton in compiled]


def build(
    labels: LabelSet,
    symbols: Symbols,
    start: State,
    step: Callable[[State, Hashable, int], State | None],
    is_final: Callable[[State], bool],
    *,
    n_tests: int = 0,
    max_states: int,
) -> Automaton:
    """Return the deterministic automaton of a monitor.

    Its states are pairs of a monitor's state and a class of previous labels, those after which all
    labels show the same symbols; only pairs that can be reached are made.

    Parameters
    ----------
    labels
        The labels.
    symbols
        The symbol of each token.
    start
        The state of the monitor before the first token.
    step
        Maps a state, a symbol and the class of the token to the next state, or to ``None`` where
        the rule is broken for good.
    is_final
        Whether the rule holds if the sequence ends in a state.
    n_tests
        The number of token tests, ``k``.
    max_states
        Maximum number of states to try.
    """
    rows, inverse = np.unique(symbols.table, axis=0, return_inverse=True)
    row_of: list[int] = inverse.ravel().tolist()  # NumPy 2.0 gave it the shape of the input
    n_labels = len(labels)
    shown = [row.tolist() for row in rows]
    ids: dict[tuple[State, int], int] = {(start, row_of[0]): 0}
    queue = [(start, row_of[0])]
    arcs: list[tuple[int, int, int]] = []
    for source, (state, row) in enumerate(queue):  # grows while it is read
        for token_class in range(2**n_tests):
            after = [step(state, value, token_class) for value in symbols.values]
            for y, symbol in enumerate(shown[row]):
                if (next_state := after[symbol]) is None:
                    continue
                pair = (next_state, row_of[y + 1])
                if pair not in ids:
                    check_size(len(ids) + 1, max_states)
                    ids[pair] = len(ids)
                    queue.append(pair)
                arcs.append((source, token_class * n_labels + y, ids[pair]))
    return language(
        len(ids), labels, arcs, [0], [i for i, (s, _) in enumerate(queue) if is_final(s)], n_tests
    )


def language(
    n_states: int,
    labels: LabelSet,
    arcs: Sequence[tuple[int, int, int]],
    initial: Iterable[int],
    final: Iterable[int],
    n_tests: int = 0,
) -> Automaton:
    """Return the automaton with these arcs ``(source, letter, target)``."""
    columns = np.array(arcs, dtype=np.int32).reshape(-1, 3).T
    return Automaton(
        n_states,
        len(labels) * 2**n_tests,
        *columns,
        initial=_weights(n_states, initial),
        final=_weights(n_states, final),
        labels=labels.names if n_tests == 0 else None,
    )


def lift(
    automaton: Automaton,
    own: tuple[TokenTest, ...],
    tests: tuple[TokenTest, ...],
    n_labels: int,
) -> Automaton:
    """Return the automaton over the letters of more tests, which it ignores.

    Parameters
    ----------
    automaton
        A language over ``L * 2**len(own)`` letters.
    own
        Its tests.
    tests
        The tests of the result, `own` among them.
    n_labels
        The number of labels, ``L``.
    """
    if own == tests:
        return automaton
    if len(tests) > MAX_TESTS:
        raise TooLargeError(
            f"Expected at most {MAX_TESTS} token tests in one rule, got {len(tests)}. Join tests "
            "that stand together with & and |, or give the parts as rules of their own."
        )
    classes = np.arange(2 ** len(tests))
    narrow = np.zeros_like(classes)  # the bits of each class for the automaton's own tests
    for i, test in enumerate(own):
        narrow |= ((classes >> tests.index(test)) & 1) << i
    own_class, label = np.divmod(automaton.label, n_labels)
    parts = []
    for wide, seen in enumerate(narrow):
        here = own_class == seen
        letters = wide * n_labels + label[here]
        parts.append(np.stack([automaton.source[here], letters, automaton.target[here]]))
    columns = np.concatenate(parts, axis=1)
    return Automaton(
        automaton.n_states,
        n_labels * 2 ** len(tests),
        *columns,
        initial=automaton.initial,
        final=automaton.final,
    )


def union_of_tests(groups: Iterable[tuple[TokenTest, ...]]) -> tuple[TokenTest, ...]:
    """Return the distinct tests of some rules, in order of first occurrence."""
    return tuple(dict.fromkeys(test for group in groups for test in group))


@lru_cache(maxsize=64)
def _begins(labels: LabelSet) -> tuple[IdArray, list[tuple[str, ...]]]:
    """Return the segments that begin at each pair of labels, as ids ``(L + 1, L)`` of tuples."""
    ids: dict[tuple[str, ...], int] = {}
    index = [
        [ids.setdefault(labels.begins(previous, label), len(ids)) for label in labels]
        for previous in (None, *labels)
    ]
    return np.array(index, dtype=np.int32), list(ids)


def _weights(n_states: int, members: Iterable[int]) -> FloatArray:
    weights = np.full(n_states, -np.inf)
    weights[list(members)] = 0.0
    return weights


def check_size(n_states: int, max_states: int) -> None:
    """Raise a `TooLargeError` if an automaton has too many states."""
    if n_states > max_states:
        raise TooLargeError(
            f"The rule needs more than {max_states} states. Raise max_states, or use a smaller "
            "number in the rule."
        )
