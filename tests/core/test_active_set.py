"""The quadratic subproblem of a structure: no configuration would lower the objective."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from factor_cases import distance_to_hull, vectors
from structure_cases import fixings, structure_cases
from trelliswork import _core
from trelliswork.automata.automaton import Automaton

etas = st.sampled_from([0.01, 0.1, 1.0, 30.0])


def check_minimum(case, found, worth, fixed, point, eta) -> None:
    """Check that ``(z, E[h])`` is in the hull, where it is farthest down the objective."""
    z = np.asarray(found)
    lifted = np.column_stack([case.configurations, case.values])
    assert distance_to_hull(np.append(z, worth), lifted) < 1e-8 * (1.0 + abs(worth))
    slope = np.where(fixed < 0, eta * (point - z), 0.0)
    gains = case.configurations @ slope + case.values - (slope @ z + worth)
    assert gains.max() < 1e-9 * max(1.0, np.abs(case.values).max())
    assert z[fixed >= 0] == pytest.approx(fixed[fixed >= 0], abs=1e-12)


@given(structure_cases, st.data())
def test_minima_are_exact(case, data):
    active, n = _core.ActiveSet(), case.structure.size
    fixed = data.draw(fixings(n))
    # The second and third calls start from the result before, the last with less room.
    for again in range(4):
        if again == 3:
            fixed = data.draw(fixings(n))
        point, eta = data.draw(vectors(n)), data.draw(etas)
        agreeing = case.agreeing(fixed)
        found = active.solve(case.structure, fixed, point, eta)
        if len(agreeing.values) == 0:
            assert found is None
            continue
        check_minimum(agreeing, found, active.expected_value, fixed, point, eta)
        assert active.n_active <= n + 1


def test_a_point_that_does_not_move_costs_one_call():
    rng = np.random.default_rng(5)
    chain = _core.chain_structure(Automaton.chain(4)._core, rng.normal(size=16), None, None, 10)
    active, fixed = _core.ActiveSet(), np.full(40, -1, np.int8)
    point = rng.uniform(size=40)
    first = active.solve(chain, fixed, point, 0.5)
    calls = active.n_oracle_calls
    assert active.solve(chain, fixed, point, 0.5) == pytest.approx(first, abs=1e-12)
    assert active.n_oracle_calls == calls + 1


@pytest.mark.parametrize("seed", range(3))
def test_longer_chains(seed):
    """Too many labellings to list: the best one from the solution on is worth no more than it."""
    rng = np.random.default_rng(seed)
    chain = _core.chain_structure(Automaton.chain(5)._core, rng.normal(size=25), None, None, 20)
    active, fixed = _core.ActiveSet(), np.full(100, -1, np.int8)
    point = rng.uniform(size=100)
    for _ in range(5):
        point = np.clip(point + rng.normal(0.0, 0.05, 100), 0, 1)
        z = active.solve(chain, fixed, point, 2.0)
        slope = 2.0 * (point - z)
        best, _ = chain.maximize(slope, fixed)
        assert best <= slope @ z + active.expected_value + 1e-9
        assert z.reshape(20, 5).sum(axis=1) == pytest.approx(np.ones(20))


def test_configurations_that_depend_on_each_other():
    """Of a table, the corners of a square: two of the four are enough for each margin."""
    pair = _core.pair_structure(np.array([[1.0, 0.0], [0.0, 1.0]]))
    active, fixed = _core.ActiveSet(), np.full(4, -1, np.int8)
    found = active.solve(pair, fixed, np.full(4, 0.5), 0.001)
    assert found == pytest.approx(np.full(4, 0.5))
    assert active.expected_value == pytest.approx(1.0)
    found = active.solve(_core.pair_structure(np.zeros((2, 2))), fixed, np.full(4, 0.5), 1.0)
    assert found == pytest.approx(np.full(4, 0.5))


def test_few_steps_end_inside_the_hull():
    rng = np.random.default_rng(1)
    pair = _core.pair_structure(rng.normal(size=(6, 6)))
    found = _core.ActiveSet(max_steps=3).solve(
        pair, np.full(12, -1, np.int8), np.full(12, 0.2), 9.0
    )
    assert found[:6].sum() == pytest.approx(1.0)
    assert found[6:].sum() == pytest.approx(1.0)
    assert found.min() >= 0.0


def test_eta_is_checked():
    pair = _core.pair_structure(np.zeros((1, 1)))
    with pytest.raises(ValueError, match="eta"):
        _core.ActiveSet().solve(pair, np.full(2, -1, np.int8), np.zeros(2), 0.0)
