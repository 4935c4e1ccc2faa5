"""Groups of factors against the factors one by one."""

from __future__ import annotations

from math import fsum

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from factor_graph_cases import cases
from trelliswork.graphs.bounds import GraphBound
from trelliswork.graphs.counting import precise_sums
from trelliswork.graphs.factor import FREE
from trelliswork.graphs.factor_groups import CountedGroup, group_factors
from trelliswork.graphs.factors import AtMostOne, Or, Xor
from trelliswork.graphs.graph import FactorGraph


@settings(max_examples=80)
@given(case=cases(), seed=st.integers(0, 2**32), n_leaves=st.integers(1, 4))
def test_groups_are_their_factors(case, seed, n_leaves):
    factors = case.graph.factors
    offsets = np.cumsum([0, *(factor.codes.size for factor in factors)])
    random = np.random.default_rng(seed)
    scores = random.normal(size=(n_leaves, offsets[-1])).round(1)
    values = random.choice([FREE, 0, 1], p=[0.6, 0.2, 0.2], size=(n_leaves, case.graph.n_variables))
    found = set()
    for group in group_factors(factors, offsets):
        own, literals = scores[:, group.links], group.literals(values.astype(np.int8))
        best, lowest = group.best(own, literals), group.lowest(literals)
        error = group.error(own, best)
        touched = np.ones(best.shape, dtype=bool)
        closed, is_possible = group.implied(literals, touched)
        for b, m in np.ndindex(best.shape):
            factor = group.factors[m]
            found.add(id(factor))
            expected = factor.best(own[b, m], literals[b, m])
            assert best[b, m] == expected
            assert error[b, m] == factor.error(own[b, m], expected)
            assert lowest[b, m] == factor.lowest(literals[b, m])
            implied = factor.implied(literals[b, m])
            assert is_possible[b, m] == (implied is not None)
            if implied is not None:
                np.testing.assert_array_equal(closed[b, m], implied)
    assert found == {id(factor) for factor in factors}


@settings(max_examples=40)
@given(case=cases(), seed=st.integers(0, 2**32))
def test_leaves_together_are_leaves_one_by_one(case, seed):
    bounds, random = GraphBound(case.graph), np.random.default_rng(seed)
    n_links = sum(factor.codes.size for factor in case.graph.factors)
    leaves = []
    for _ in range(5):
        chosen = random.permutation(case.graph.n_variables)[: random.integers(4)].tolist()
        decisions = tuple((j, bool(random.integers(2))) for j in chosen)
        leaves.append((decisions, random.normal(size=n_links)))
    one_by_one = [bounds.bound(*leaf) for leaf in leaves]
    assert bounds.largest(leaves) == pytest.approx(max(one_by_one), abs=1e-9)


def test_a_large_tree_takes_a_few_operations(monkeypatch):
    """Verification took up to nine times as long as the search on trees of thousands of leaves."""
    graph = FactorGraph()
    z = graph.binary(30, 1.0)
    graph.add(
        *(AtMostOne([z[i], z[(7 * i + 1) % 30]]) for i in range(1, 29)), Xor(z[:9]), Or(z[20:])
    )
    calls = []
    best = CountedGroup.best

    def counted(self, scores, fixed):
        calls.append(scores.shape)
        return best(self, scores, fixed)

    monkeypatch.setattr(CountedGroup, "best", counted)
    random = np.random.default_rng(0)
    n_links = sum(factor.codes.size for factor in graph.factors)
    leaves = [(((j % 30, j % 2 == 0),), random.normal(size=n_links)) for j in range(2_000)]
    GraphBound(graph).largest(leaves)
    assert len(calls) <= 6  # two batches of three sizes of factors


@given(st.lists(st.floats(-1e12, 1e12) | st.sampled_from([1e16, -1e16, 1.0]), max_size=12))
def test_sums_round_once(terms):
    found = float(precise_sums(np.array(terms, dtype=float)))
    assert found == pytest.approx(fsum(terms), rel=1e-15, abs=1e-12)
