"""Factors agree in all their forms: values, best configurations, implied values, rows."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse
from hypothesis import given, settings, strategies as st

import trelliswork as tw
from factor_graph_cases import chain_factors, logic_factors, pair_factors, span_factors
from strategies import arrays, ordinary
from trelliswork.graphs.factor import FREE, Factor
from trelliswork.graphs.factors import (
    AtMostOne,
    Budget,
    Chain,
    Imply,
    Knapsack,
    NoOverlap,
    Or,
    OrOut,
    Pair,
    Xor,
    XorOut,
)


@st.composite
def factors(draw) -> Factor:
    graph = tw.FactorGraph()
    z = graph.binary(5, name="z")
    n_tokens, n_values = draw(st.sampled_from([(1, 1), (1, 3), (2, 2), (3, 2), (2, 3)]))
    x = graph.categorical(n_tokens, n_values, name="x")
    makers = [
        lambda: logic_factors(draw, z),
        lambda: logic_factors(draw, z),
        lambda: span_factors(draw, z),
        lambda: pair_factors(draw, z, [x]),
        lambda: chain_factors(draw, x),
    ]
    return draw(st.sampled_from(makers))()


def partly_fixed(size: int) -> st.SearchStrategy[np.ndarray]:
    return st.lists(st.sampled_from([FREE, FREE, FREE, 0, 1]), min_size=size, max_size=size).map(
        lambda values: np.array(values, dtype=np.int8)
    )


def configurations(factor: Factor, fixed: np.ndarray) -> list[np.ndarray]:
    free = [(0, 1) if one == FREE else (int(one),) for one in fixed]
    every = (np.array(z, dtype=bool) for z in product(*free))
    return [z for z in every if factor.accepts(z)]


@given(factor=factors(), data=st.data())
def test_the_best_is_the_best_of_what_is_accepted(factor, data):
    size = factor.codes.size
    fixed, scores = data.draw(partly_fixed(size)), data.draw(arrays((size,), ordinary))
    found = configurations(factor, fixed)
    worth = [scores @ z + factor.value(z) for z in found]
    assert factor.best(scores, fixed) == pytest.approx(max(worth, default=-np.inf), abs=1e-9)
    assert all(factor.lowest(fixed) <= factor.value(z) + 1e-9 for z in found)


@given(factor=factors(), data=st.data())
def test_implied_is_what_all_configurations_agree_on(factor, data):
    fixed = data.draw(partly_fixed(factor.codes.size))
    found = configurations(factor, fixed)
    implied, slowly = factor.implied(fixed), Factor.implied(factor, fixed)
    if not found:
        assert implied is None
        assert slowly is None
        return
    every = np.array(found)
    common = np.where(every.all(axis=0), 1, np.where(every.any(axis=0), FREE, 0))
    np.testing.assert_array_equal(implied, common)
    np.testing.assert_array_equal(slowly, common)


@given(factor=factors(), data=st.data())
def test_the_core_agrees(factor, data):
    size = factor.codes.size
    fixed, scores = data.draw(partly_fixed(size)), data.draw(arrays((size,), ordinary))
    structure = factor.structure()
    if structure is None:
        values = fixed == 1
        accepted = tw._core.accepts_logic(
            factor.kind, values.astype(np.uint8), factor.weights, factor.limit
        )
        assert accepted == factor.accepts(values)
        return
    best, on = structure.maximize(scores, fixed)
    assert best == pytest.approx(factor.best(scores, fixed), abs=1e-9)
    if best > -np.inf:
        assert scores @ on + factor.value(on.astype(bool)) == pytest.approx(best, abs=1e-9)
        assert structure.value(on) == pytest.approx(factor.value(on.astype(bool)), abs=1e-9)


@settings(max_examples=60)
@given(factor=factors(), data=st.data())
def test_rows_have_the_same_integral_points(factor, data):
    rows, size = factor.rows(), factor.codes.size
    scores = data.draw(arrays((size,), ordinary))
    n_columns = size + rows.gains.size
    matrix = scipy.sparse.csr_array(
        (rows.entry, (rows.row, rows.column)), shape=(rows.low.size, n_columns)
    )
    best = factor.best(scores, np.full(size, FREE, dtype=np.int8))
    if not rows.low.size or not n_columns:
        assert size == 0 or best == pytest.approx(np.maximum(scores, 0.0).sum())
        return
    found = scipy.optimize.milp(
        -np.concatenate([scores, rows.gains]),
        integrality=(np.arange(n_columns) < size).astype(int),
        bounds=scipy.optimize.Bounds(0.0, 1.0),
        constraints=scipy.optimize.LinearConstraint(matrix, rows.low, rows.high),
    )
    assert (found.status == 2) == (best == -np.inf)
    if found.status == 0:
        assert -found.fun == pytest.approx(best, abs=1e-6)


def test_each_factor_in_words():
    graph = tw.FactorGraph()
    z = graph.binary(3)

    def accepted(factor: Factor) -> list[str]:
        every = product((False, True), repeat=factor.codes.size)
        return ["".join("01"[v] for v in z) for z in every if factor.accepts(np.array(z))]

    assert accepted(Xor(z)) == ["001", "010", "100"]
    assert accepted(AtMostOne(z)) == ["000", "001", "010", "100"]
    assert accepted(Or(z[:2])) == ["01", "10", "11"]
    assert accepted(OrOut(z[:2], z[2])) == ["000", "011", "101", "111"]
    assert accepted(XorOut(z[:2], z[2])) == ["000", "011", "101"]
    assert accepted(Budget(z[:2], 1)) == ["00", "01", "10"]
    assert accepted(Knapsack(z, [1.0, 2.0, 3.0], 3.0)) == ["000", "001", "010", "100", "110"]
    assert accepted(NoOverlap(z, [(0, 2), (1, 3), (2, 4)])) == ["000", "001", "010", "100", "101"]
    assert accepted(Xor([])) == []
    assert accepted(Or([])) == []
    assert accepted(AtMostOne([])) == [""]
    assert accepted(OrOut([], z[0])) == ["0"]
    implies = Imply(z[:2], z[2])  # its literals are ~a, ~b, c
    assert accepted(implies) == ["001", "010", "011", "100", "101", "110", "111"]


def test_negative_weights_are_positive_ones_of_negated_literals():
    graph = tw.FactorGraph()
    z = graph.binary(3, [1.0, 1.0, 1.0], name="z")
    factor = Knapsack(z, [2.0, -1.5, 0.0], 1.0)
    assert repr(factor) == "Knapsack(z[0], ~z[1]; weights [2.0, 1.5], limit 2.5)"
    graph.add(factor)
    for values in product((0, 1), repeat=3):
        fits = 2.0 * values[0] - 1.5 * values[1] <= 1.0
        assert (graph.value(values) > -np.inf) == fits


def test_sums_of_weights_may_be_off_by_rounding():
    z = tw.FactorGraph().binary(3)
    assert Knapsack(z, 0.1, 0.3).accepts(np.ones(3, dtype=bool))


@pytest.mark.parametrize("unit", [1e-100, 1e-10, 1.0, 1e12, 1e100])
def test_rounding_is_relative_to_weights(unit):
    graph = tw.FactorGraph()
    z = graph.binary(5, [1.0, 2.0, 3.0, 2.5, 1.5])
    factor = Knapsack(z, np.full(5, unit), 2 * unit)
    assert factor.accepts(np.array([1, 1, 0, 0, 0], dtype=bool))
    assert not factor.accepts(np.array([1, 1, 1, 0, 0], dtype=bool))
    graph.add(factor)
    for method in ("milp", "lp"):
        assert tw.solve(graph, method).score == 5.5
    light = Knapsack(z[:2], [unit, 1e-6 * unit], unit)  # too much, if by little
    assert not light.accepts(np.ones(2, dtype=bool))


def test_hard_knapsacks_are_bounded():
    random = np.random.default_rng(0)
    z = tw.FactorGraph().binary(60)
    free = np.full(60, FREE, dtype=np.int8)
    for spread in (0.0, 0.01, 1.0):
        weights = random.random(60)
        scores = weights + spread * random.random(60)
        factor = Knapsack(z, weights, weights.sum() / 2)
        found = scipy.optimize.milp(
            -scores,
            integrality=np.ones(60),
            bounds=scipy.optimize.Bounds(0.0, 1.0),
            constraints=scipy.optimize.LinearConstraint(weights[None], -np.inf, factor.limit),
            options={"node_limit": 100},
        )
        assert found.x is not None
        ratio = np.argsort(-scores / weights)
        heavy, worth = np.cumsum(weights[ratio]), np.cumsum(scores[ratio])
        fraction = np.interp(factor.limit, heavy, worth)
        assert -found.fun - 1e-9 <= factor.best(scores, free) <= fraction + 1e-6


def test_an_automaton_in_a_chain():
    graph = tw.FactorGraph()
    x = graph.categorical(3, 2, [[1.0, 0.0], [1.0, 0.0], [1.0, 0.0]])
    language = tw.Automaton.from_regex("(a b | b a)*", ["a", "b"])
    assert tw.solve(graph)[x].tolist() == [0, 0, 0]
    graph.add(Chain(x[:2], automaton=language))
    assert tw.solve(graph)[x].tolist() in ([0, 1, 0], [1, 0, 0])


def test_factors_do_not_change():
    factor = Xor(tw.FactorGraph().binary(2))
    with pytest.raises(AttributeError, match="do not change"):
        factor.limit = 3.0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda z, x: Budget(z, -1), "whole limit of 0 or more"),
        (lambda z, x: Budget(z, 1.5), "whole limit of 0 or more"),
        (lambda z, x: Knapsack(z, [1.0], 1.0), "one weight a literal"),
        (lambda z, x: Knapsack(z, np.nan, 1.0), "finite weights"),
        (lambda z, x: Knapsack(z, 1.0, np.inf), "finite limit"),
        (lambda z, x: OrOut(z[:2], z), "output: expected one literal, got 3"),
        (lambda z, x: Imply(z[:2], []), "conclusion: expected one literal, got 0"),
        (lambda z, x: Pair(x[0], x[1], np.zeros((2, 3))), r"table: expected shape \(2, 2\)"),
        (lambda z, x: Pair(z[0], z[1], np.full((2, 2), np.nan)), "got nan at"),
        (lambda z, x: Pair(z[0], z[1], np.full((2, 2), np.inf)), "got inf at"),
        (lambda z, x: Pair(z, z[0], np.zeros((2, 2))), "first: expected one categorical"),
        (lambda z, x: Chain(z, np.zeros((2, 2))), "expected categorical variables"),
        (lambda z, x: Chain(x[0], np.zeros((2, 2))), "expected categorical variables"),
        (lambda z, x: Chain(x, np.zeros(3)), r"weights: expected shape \(4,\)"),
        (lambda z, x: Chain(x, start=[0.0]), "start: expected shape"),
        (lambda z, x: Chain(x, automaton=tw.Automaton.chain(3)), "automaton over 2 labels"),
        (lambda z, x: NoOverlap(z, [(0, 1)]), r"of shape \(3, 2\)"),
        (lambda z, x: NoOverlap(z, [(0, 1), (2, 2), (0, 1)]), "start < end"),
        (lambda z, x: NoOverlap(z, np.zeros((3, 2))), "whole numbers"),
    ],
)
def test_wrong_factors_are_refused(make, message):
    graph = tw.FactorGraph()
    with pytest.raises(ValueError, match=message):
        make(graph.binary(3), graph.categorical(2, 2))


def test_literals_are_variables():
    graph = tw.FactorGraph()
    for wrong in (3, graph.categorical(2, 2)):
        with pytest.raises(TypeError, match="expected Variables"):
            Xor(wrong)
