"""Structures of the core: the best configuration, and the value of each, by enumeration."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import product

import numpy as np
import pytest
from hypothesis import given, strategies as st

from factor_cases import numbers, vectors
from structure_cases import chain_cases, fixings, pair_cases, span_cases, structure_cases, weights
from trelliswork import _core
from trelliswork.automata.automaton import Automaton


def free(n: int) -> np.ndarray:
    return np.full(n, -1, np.int8)


@pytest.mark.parametrize("cases", [pair_cases(), chain_cases(), span_cases()])
@given(data=st.data())
def test_maxima_equal_enumeration(cases, data):
    case = data.draw(cases)
    n = case.structure.size
    scores = data.draw(vectors(n, weights))
    agreeing = case.agreeing(fixed := data.draw(fixings(n)))
    totals = [
        scores[on == 1].sum() + value
        for on, value in zip(agreeing.configurations, agreeing.values, strict=True)
    ]
    best, on = case.structure.maximize(scores, fixed)
    assert best == pytest.approx(max(totals, default=-np.inf), abs=1e-9)
    if best > -np.inf:
        assert any((on == other).all() for other in agreeing.configurations)
        assert scores[on == 1].sum() + case.structure.value(on) == pytest.approx(best, abs=1e-9)


@given(structure_cases)
def test_configuration_values(case):
    known = {tuple(on): value for on, value in zip(case.configurations, case.values, strict=True)}
    n = case.structure.size
    for on in product((0, 1), repeat=n) if n < 8 else known:
        found = case.structure.value(np.array(on, np.uint8))
        assert found == pytest.approx(known.get(on, -np.inf), abs=1e-9)


@given(structure_cases)
def test_lowest_bounds_the_configuration_values(case):
    worth = [h for h in case.values if h > -np.inf]
    assert case.structure.lowest <= min(worth, default=np.inf) + 1e-9
    assert case.structure.scale >= 0.0


def test_the_scale_of_structures():
    table = np.array([[1.0, -np.inf], [-3.0, 2.0]])
    pair = _core.pair_structure(table)
    assert (pair.lowest, pair.scale) == (-3.0, 3.0)
    nothing = _core.pair_structure(np.full((2, 2), -np.inf))
    assert (nothing.lowest, nothing.scale) == (0.0, 0.0)


@given(span_cases(), st.data())
def test_spans_that_are_worth_nothing_stay_out(case, data):
    scores = data.draw(vectors(case.structure.size, st.sampled_from([0.0, -1.0])))
    best, on = case.structure.maximize(scores, free(scores.size))
    assert best == 0.0
    assert not on.any()


def test_a_fixed_span_is_chosen_at_any_cost():
    spans = _core.span_structure(
        4, np.array([0, 0, 1, 3], np.int32), np.array([4, 2, 3, 4], np.int32)
    )
    scores = np.array([9.0, 1.0, -50.0, 2.0])
    assert spans.maximize(scores, np.array([-1, -1, 1, -1], np.int8)) == (
        -48.0,
        pytest.approx([0, 0, 1, 1]),
    )
    best, _ = spans.maximize(scores, np.array([-1, 1, 1, -1], np.int8))
    assert best == -np.inf


@given(vectors(9, numbers), vectors(12, numbers))
def test_calls_at_the_same_time(transitions, scores):
    chain = _core.chain_structure(Automaton.chain(3)._core, transitions, None, None, 4)
    alone = [chain.maximize(scores * k, free(12)) for k in range(8)]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda k: chain.maximize(scores * k, free(12)), range(8)))
    for one, other in zip(alone, together, strict=True):
        assert one[0] == other[0]
        assert np.array_equal(one[1], other[1])


def test_shapes_are_checked():
    pair = _core.pair_structure(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="one entry a link"):
        pair.maximize(np.zeros(4), free(5))
    with pytest.raises(ValueError, match="a weight a pattern"):
        _core.chain_structure(Automaton.chain(2)._core, np.zeros(3), None, None, 2)
    with pytest.raises(ValueError, match="start < end"):
        _core.span_structure(2, np.array([1], np.int32), np.array([1], np.int32))
