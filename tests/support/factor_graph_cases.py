"""Small factor graphs of every kind, and all their assignments."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from hypothesis import strategies as st

import trelliswork as tw
from strategies import arrays, automata, ordinary
from trelliswork.graphs.factors import (
    AtMostOne,
    Budget,
    Chain,
    Factor,
    Imply,
    Knapsack,
    NoOverlap,
    Or,
    OrOut,
    Pair,
    Xor,
    XorOut,
)
from trelliswork.graphs.variables import Categorical, Variables

MAX_VARIABLES = 14
whole = st.integers(-3, 3).map(float)  # ties
table_scores = st.one_of(ordinary, ordinary, whole, st.just(-np.inf))


@dataclass
class GraphCase:
    """A graph, and the value of each assignment by the definitions of its factors."""

    graph: tw.FactorGraph

    @cached_property
    def values(self) -> dict[tuple[int, ...], float]:
        """Every assignment that is accepted, with its value."""
        graph = self.graph
        free = [(0, 1) if one < 0 else (int(one),) for one in graph.fixed]
        every = np.array(list(product(*free)), dtype=bool).reshape(-1, graph.n_variables)
        worth = graph.constant + every @ graph.scores
        for factor in graph.factors:
            literals = every[:, factor.codes >> 1] ^ (factor.codes & 1 == 1)
            known: dict[bytes, float] = {}
            for i, on in enumerate(literals):
                if on.tobytes() not in known:
                    known[on.tobytes()] = factor.value(on)
                worth[i] += known[on.tobytes()]
        found = np.flatnonzero(worth > -np.inf)
        return {tuple(every[i].astype(int).tolist()): float(worth[i]) for i in found}

    @property
    def best(self) -> float:
        """The best value; ``-inf`` where there is no assignment."""
        return max(self.values.values(), default=-np.inf)


def literals(draw: Any, z: Variables, least: int = 0, most: int = 5) -> Variables:
    """Different variables of a row, some of them negated."""
    size = draw(st.integers(min(least, z.size), min(most, z.size)))
    chosen = draw(st.permutations(range(z.size)))[:size]
    signs = draw(st.lists(st.booleans(), min_size=size, max_size=size))
    return Variables(z.graph, z.codes[np.array(chosen, dtype=int)] ^ np.array(signs, dtype=int))


def logic_factors(draw: Any, z: Variables) -> Factor:
    kind = draw(st.sampled_from([Xor, AtMostOne, Or, OrOut, XorOut, Imply, Budget, Knapsack]))
    if kind in (OrOut, XorOut, Imply):
        several = literals(draw, z, least=1)
        return kind(several[:-1], several[-1])
    several = literals(draw, z, least=1 if draw(st.integers(0, 9)) else 0)
    if kind is Budget:
        return Budget(several, draw(st.integers(0, 3)))
    if kind is Knapsack:
        weights = draw(arrays((several.size,), st.one_of(st.floats(-3, 3), whole)))
        return Knapsack(several, weights.round(2), round(draw(st.floats(-2, 6)), 2))
    return kind(several)


def span_factors(draw: Any, z: Variables) -> Factor:
    several = literals(draw, z)
    span = st.tuples(st.integers(0, 4), st.integers(1, 3)).map(lambda s: (s[0], s[0] + s[1]))
    return NoOverlap(several, draw(st.lists(span, min_size=several.size, max_size=several.size)))


def pair_factors(draw: Any, z: Variables, several: list[Categorical]) -> Factor:
    ends = [one for x in several for one in x]
    if len(ends) > 1 and draw(st.booleans()):
        first, second = draw(st.permutations(ends))[:2]
        return Pair(first, second, draw(arrays((first.n_values, second.n_values), table_scores)))
    two = literals(draw, z, least=2, most=2)
    return Pair(two[0], two[1], draw(arrays((2, 2), table_scores)))


def chain_factors(draw: Any, x: Categorical) -> Factor:
    n_labels = x.n_values
    if draw(st.booleans()):
        of_labels = st.none() | arrays((n_labels,), table_scores)
        transitions = draw(st.none() | arrays((n_labels, n_labels), table_scores))
        return Chain(x, transitions, start=draw(of_labels), end=draw(of_labels))
    automaton = draw(automata(n_labels))
    return Chain(x, draw(arrays((automaton.n_patterns,), ordinary)), automaton=automaton)


@st.composite
def graphs(draw: Any, structured: bool = True) -> tw.FactorGraph:
    """Binary variables, perhaps a few categorical ones, up to seven factors."""
    graph = tw.FactorGraph()
    scores = draw(st.sampled_from([ordinary, whole]))
    several = []
    if structured and draw(st.booleans()):
        shape = draw(st.sampled_from([(1, 3), (2, 2), (2, 3), (3, 2)]))
        several.append(graph.categorical(*shape, draw(arrays(shape, scores)), name="x"))
    count = draw(st.integers(2, MAX_VARIABLES - graph.n_variables))
    graph.binary(count, draw(arrays((count,), scores)), name="z")
    z = Variables(graph, 2 * np.arange(graph.n_variables))
    makers = [lambda: logic_factors(draw, z)] * 3
    if structured:
        makers += [lambda: span_factors(draw, z), lambda: pair_factors(draw, z, several)]
        if several:
            makers.append(lambda: chain_factors(draw, several[0]))
    for _ in range(draw(st.integers(0, 6))):
        graph.add(draw(st.sampled_from(makers))())
    if draw(st.booleans()):
        graph.add_scores(literals(draw, z, least=1, most=1), draw(scores))
    if not draw(st.integers(0, 3)):
        graph.fix(literals(draw, z, least=1, most=1), draw(st.booleans()))
    return graph


def cases(structured: bool = True) -> st.SearchStrategy[GraphCase]:
    """Graphs with their judge."""
    return graphs(structured).map(GraphCase)


def odd_cycle(length: int) -> tw.FactorGraph:
    """Neighbours on a cycle exclude each other: every variable is ½ in the relaxation."""
    graph = tw.FactorGraph()
    z = graph.binary(length, 1.0, name="z")
    graph.add(*(AtMostOne([z[i], z[(i + 1) % length]]) for i in range(length)))
    return graph


def frustrated(n_variables: int, seed: int) -> tw.FactorGraph:
    """Random logic on three literals each, which a hidden assignment satisfies."""
    random = np.random.default_rng(seed)
    graph = tw.FactorGraph()
    z = graph.binary(n_variables, random.normal(size=n_variables), name="z")
    hidden = random.integers(0, 2, n_variables)
    while len(graph.factors) < 2 * n_variables:
        chosen, flipped = random.choice(n_variables, 3, replace=False), random.integers(0, 2, 3)
        kind = (Or, Xor, AtMostOne)[random.choice(3, p=[0.5, 0.1, 0.4])]
        factor = kind(Variables(graph, z.codes[chosen] ^ flipped))
        if factor.accepts((hidden[chosen] ^ flipped).astype(bool)):
            graph.add(factor)
    return graph
