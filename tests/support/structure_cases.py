"""Factors with a dynamic program inside, and their configurations listed from definitions."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from hypothesis import strategies as st

from factor_cases import numbers
from strategies import automata, sparse_chain
from trelliswork import _core
from trelliswork.automata.automaton import Automaton

if TYPE_CHECKING:
    from collections.abc import Iterator

weights = st.one_of(numbers, st.just(-np.inf))


@dataclass(frozen=True)
class StructureCase:
    """A structure of the core, and all its configurations with their values."""

    structure: _core.Structure
    configurations: np.ndarray  # (Y, n)
    values: np.ndarray  # (Y,)

    def agreeing(self, fixed: np.ndarray) -> StructureCase:
        """Return the case with the configurations that agree with fixed values."""
        keep = ((fixed < 0) | (self.configurations == fixed)).all(axis=1)
        return StructureCase(self.structure, self.configurations[keep], self.values[keep])


def make_case(
    structure: _core.Structure, found: dict[tuple[int, ...], float], n: int
) -> StructureCase:
    kept = {on: value for on, value in found.items() if value > -np.inf}
    listed = np.array(list(kept), dtype=float).reshape(len(kept), n)
    return StructureCase(structure, listed, np.array(list(kept.values())))


def one_hot(values: tuple[int, ...], sizes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(int(y == k) for y, size in zip(values, sizes, strict=True) for k in range(size))


@st.composite
def pair_cases(draw) -> StructureCase:
    shape = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    flat = draw(st.lists(weights, min_size=shape[0] * shape[1], max_size=shape[0] * shape[1]))
    table = np.array(flat, dtype=float).reshape(shape)
    found = {one_hot((i, j), shape): table[i, j] for i, j in np.ndindex(shape)}
    return make_case(_core.pair_structure(table), found, sum(shape))


def path_weights(automaton: Automaton, labels: tuple[int, ...], fired: np.ndarray) -> Iterator:
    """Yield the weights of all paths that have these labels."""
    arcs = [
        (automaton.source[a], automaton.label[a], automaton.target[a], fired[a])
        for a in range(automaton.n_arcs)
    ]
    ways = {(s, w) for s, w in enumerate(automaton.initial)}
    for label in labels:
        ways = {(t, w + more) for s, w in ways for u, y, t, more in arcs if (u, y) == (s, label)}
    yield from (w + automaton.final[s] for s, w in ways)


@st.composite
def chain_cases(draw) -> StructureCase:
    n_labels, n_tokens = draw(st.integers(1, 3)), draw(st.integers(0, 3))
    automaton = draw(
        st.one_of(
            st.just(Automaton.chain(n_labels)),
            st.just(sparse_chain(n_labels)),
            automata(n_labels),
        )
    )
    size = automaton.n_patterns
    patterns = np.array(draw(st.lists(weights, min_size=size, max_size=size)), dtype=float)
    start, end = (
        np.array(draw(st.lists(numbers, min_size=n_labels, max_size=n_labels))) for _ in range(2)
    )
    offsets = automaton.pattern_offsets
    fired = np.array(
        [
            sum(patterns[p] for p in automaton.pattern_ids[offsets[a] : offsets[a + 1]])
            for a in range(automaton.n_arcs)
        ]
    )
    found = {}
    for labels in product(range(n_labels), repeat=n_tokens):
        best = max(path_weights(automaton, labels, fired), default=-np.inf)
        ends = start[labels[0]] + end[labels[-1]] if labels else 0.0
        found[one_hot(labels, (n_labels,) * n_tokens)] = best + ends
    made = _core.chain_structure(automaton._core, patterns, start, end, n_tokens)
    return make_case(made, found, n_tokens * n_labels)


@st.composite
def span_cases(draw) -> StructureCase:
    n_tokens = draw(st.integers(1, 5))
    every = [(i, j) for i in range(n_tokens) for j in range(i + 1, n_tokens + 1)]
    spans = draw(st.lists(st.sampled_from(every), max_size=7))
    found = {}
    for on in product((0, 1), repeat=len(spans)):
        chosen = [span for span, x in zip(spans, on, strict=True) if x]
        covered = [t for start, end in chosen for t in range(start, end)]
        found[on] = 0.0 if len(covered) == len(set(covered)) else -np.inf
    starts, ends = (np.array([span[k] for span in spans], np.int32) for k in (0, 1))
    return make_case(_core.span_structure(n_tokens, starts, ends), found, len(spans))


structure_cases = st.one_of(pair_cases(), chain_cases(), span_cases())


def fixings(n: int) -> st.SearchStrategy[np.ndarray]:
    """Draw which links are fixed: none, few, or any."""
    few = st.sampled_from([-1, -1, -1, -1, 0, 1])
    return st.one_of(
        st.just(np.full(n, -1, np.int8)),
        st.lists(few, min_size=n, max_size=n).map(lambda x: np.array(x, np.int8)),
    )
