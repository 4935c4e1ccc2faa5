"""Languages by enumeration: the condition on a label sequence, spelled out.

Expressions are matched by trying all ways to cut a sequence, automata by counting paths.
Neither shares code with the package.
"""

from __future__ import annotations

import itertools
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from hypothesis import strategies as st

from trelliswork.automata.automaton import Automaton
from trelliswork.automata.regex import Both, Concat, Either, Empty, Labels, Node, Not, Repeat

if TYPE_CHECKING:
    from collections.abc import Iterator

NAMES = ("a", "b", "c", "d")


def all_strings(n_labels: int, longest: int) -> Iterator[tuple[int, ...]]:
    for length in range(longest + 1):
        yield from itertools.product(range(n_labels), repeat=length)


def n_paths(automaton: Automaton, string: tuple[int, ...]) -> int:
    """Number of accepting paths, one step after the other."""
    arcs = list(zip(automaton.source, automaton.label, automaton.target, strict=True))
    ways = {s: 1 for s in range(automaton.n_states) if automaton.initial[s] == 0}
    for y in string:
        following: dict[int, int] = {}
        for source, label, target in arcs:
            if label == y and source in ways:
                following[target] = following.get(target, 0) + ways[source]
        ways = following
    return sum(n for s, n in ways.items() if automaton.final[s] == 0)


def members(automaton: Automaton, longest: int) -> set[tuple[int, ...]]:
    strings = all_strings(automaton.n_labels, longest)
    return {string for string in strings if n_paths(automaton, string)}


@st.composite
def languages(draw, n_labels: int = 2, max_states: int = 4) -> Automaton:
    """Any automaton without weights: several initial states, useless states, dead ends."""
    n_states = draw(st.integers(1, max_states))
    every = list(itertools.product(range(n_states), range(n_labels), range(n_states)))
    arcs = draw(st.lists(st.sampled_from(every), unique=True, max_size=12))
    flags = st.lists(st.booleans(), min_size=n_states, max_size=n_states)
    return Automaton(
        n_states,
        n_labels,
        *(np.array([arc[i] for arc in arcs], dtype=int) for i in range(3)),
        initial=np.where(draw(flags), 0.0, -np.inf),
        final=np.where(draw(flags), 0.0, -np.inf),
        labels=NAMES[:n_labels],
    )


def expressions(names: tuple[str, ...] = NAMES) -> st.SearchStrategy[Node]:
    """Trees of regular expressions."""
    some = st.lists(st.sampled_from(names), unique=True, max_size=3).map(tuple)
    leaves = st.one_of(
        st.just(Empty()),
        st.sampled_from(names).map(lambda name: Labels((name,))),
        st.builds(Labels, some, st.booleans()),
    )
    bounds = st.sampled_from(
        [(0, None), (1, None), (0, 1), (2, 2), (0, 0), (2, None), (1, 3), (0, 2)]
    )

    def combined(inner: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
        parts = st.lists(inner, min_size=2, max_size=3).map(tuple)
        return st.one_of(
            st.builds(Concat, parts),
            st.builds(Either, parts),
            st.builds(Both, parts),
            st.builds(Not, inner),
            st.builds(lambda node, pair: Repeat(node, *pair), inner, bounds),
        )

    return st.recursive(leaves, combined, max_leaves=8)


@lru_cache(maxsize=100_000)
def matches(node: Node, string: tuple[str, ...]) -> bool:
    """Whether a tree matches, read off the meaning of each operator: all ways to cut the string."""
    cuts = [(string[:i], string[i:]) for i in range(len(string) + 1)]
    match node:
        case Empty():
            return string == ()
        case Labels(names, negated):
            return len(string) == 1 and (string[0] in names) != negated
        case Either(parts):
            return any(matches(part, string) for part in parts)
        case Both(parts):
            return all(matches(part, string) for part in parts)
        case Not(inner):
            return not matches(inner, string)
        case Concat((first, *rest)):
            if not rest:
                return matches(first, string)
            return any(matches(first, a) and matches(Concat(tuple(rest)), b) for a, b in cuts)
        case Repeat(inner, low, high):
            if string == ():
                return low == 0 or matches(inner, ())
            fewer = Repeat(inner, max(low - 1, 0), None if high is None else high - 1)
            # Copies that match nothing only count towards the least number.
            if high == 0:
                return False
            if any(matches(inner, a) and matches(fewer, b) for a, b in cuts[1:]):
                return True
            return low > 0 and matches(inner, ()) and matches(fewer, string)
    raise TypeError(node)
