"""AD3 on random graphs, against enumeration."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from graph_cases import (
    AD3,
    AT_MOST_ONE,
    BRANCH,
    DUAL,
    FRACTIONAL,
    INFEASIBLE,
    KNAPSACK,
    OPTIMAL,
    OR,
    XOR,
    Factor,
    RawGraph,
    graphs,
    solve_raw,
)
from trelliswork import _core


def agrees(answer, graph) -> bool:
    """Whether the values have the score that is said, and so are a solution."""
    values = answer.values.tolist()
    return bool(np.isclose(graph.score(values), answer.score))


@pytest.mark.parametrize("method", [AD3, DUAL])
@settings(max_examples=150, deadline=None)
@given(graph=graphs())
def test_the_bound_is_never_below_the_optimum(method, graph):
    (answer,) = solve_raw([graph], method, max_iterations=300)
    best = graph.optimum()
    allowance = 1e-8 * (1 + abs(best)) if np.isfinite(best) else 0.0
    if answer.status == INFEASIBLE:
        assert best == -np.inf
        assert answer.bound == -np.inf
    else:
        assert answer.bound >= best - allowance
    if np.isfinite(answer.score):
        assert agrees(answer, graph)
        assert answer.score <= best + allowance
    if answer.status == OPTIMAL:
        assert answer.score >= best - allowance
    assert len(answer.leaves) == 1
    assert answer.leaves[0].decisions == []


@settings(max_examples=60, deadline=None)
@given(graph=graphs())
def test_caching_changes_no_answer(graph):
    (kept,) = solve_raw([graph], AD3, max_iterations=300)
    (again,) = solve_raw([graph], AD3, max_iterations=300, caching=False)
    assert again.cached == 0
    # By the last bits of a step, one of the two may end at a limit.
    best = graph.optimum()
    for answer in (kept, again):
        if answer.status == INFEASIBLE:
            assert best == -np.inf
        elif np.isfinite(best):
            assert answer.bound >= best - 1e-8 * (1 + abs(best))
    statuses = {kept.status, again.status}
    if statuses == {OPTIMAL}:
        assert kept.score == pytest.approx(again.score)
    if statuses <= {OPTIMAL, FRACTIONAL}:  # both have reached the relaxation
        assert kept.bound == pytest.approx(again.bound, rel=1e-5, abs=1e-9)


def test_an_odd_cycle_is_a_half_everywhere():
    graph = RawGraph([1.0] * 5, [Factor(AT_MOST_ONE, [i, (i + 1) % 5]) for i in range(5)])
    (answer,) = solve_raw([graph], AD3)
    assert answer.status == FRACTIONAL
    assert answer.relaxed == pytest.approx([0.5] * 5, abs=1e-4)
    assert answer.bound == pytest.approx(2.5, abs=1e-4)
    assert answer.score == 2.0


def test_variables_without_factors():
    (answer,) = solve_raw([RawGraph([2.0, -1.0, 0.0], [])], AD3)
    assert (answer.status, answer.score, answer.bound) == (OPTIMAL, 2.0, 2.0)
    assert answer.values.tolist() == [1, 0, 0]


@pytest.mark.parametrize("kind", [XOR, OR])
def test_factors_that_nothing_satisfies(kind):
    for method in (AD3, BRANCH, DUAL):
        (answer,) = solve_raw([RawGraph([1.0], [Factor(kind, [])])], method)
        assert (answer.status, answer.score, answer.bound) == (INFEASIBLE, -np.inf, -np.inf)


def test_a_relaxation_without_solution_is_infeasible():
    # Two of three, one of three: no fractions satisfy both.
    rules = [Factor(OR, [0, 1]), Factor(OR, [1, 2]), Factor(OR, [0, 2]), Factor(XOR, [0, 1, 2])]
    (answer,) = solve_raw([RawGraph([1.0, -1.0, 0.5], rules)], AD3)
    assert answer.status == INFEASIBLE
    assert answer.bound == -np.inf


def test_scores_of_any_size_take_the_same_steps():
    rules = [Factor(XOR, [0, 1, 2]), Factor(XOR, [3, 4]), Factor(AT_MOST_ONE, [0, 3])]
    scores = np.array([1.0, 0.5, -0.25, 2.0, 1.75])
    small, large = solve_raw([RawGraph((scores * 2.0**e).tolist(), rules) for e in (-30, 30)], AD3)
    assert small.iterations == large.iterations
    assert small.score * 2.0**60 == pytest.approx(large.score)


def test_warm_shares_need_no_iterations():
    rng = np.random.default_rng(3)
    rules = [Factor(XOR, list(range(6 * i, 6 * i + 6))) for i in range(4)]
    rules += [Factor(AT_MOST_ONE, list(range(j, 24, 6))) for j in range(6)]
    graph = RawGraph(rng.normal(size=24).tolist(), rules)
    (cold,) = solve_raw([graph], AD3)
    assert cold.status == OPTIMAL
    (warm,) = solve_raw([graph], AD3, starts=[_core.GraphStart(cold.leaves[0].shares, cold.values)])
    assert warm.status == OPTIMAL
    assert (warm.iterations, warm.score) == (0, cold.score)


def test_warm_shares_that_are_no_numbers_are_refused():
    graph = RawGraph([1.0, 2.0], [Factor(XOR, [0, 1]), Factor(AT_MOST_ONE, [0, 1])])
    for bad in (np.nan, np.inf):
        with pytest.raises(ValueError, match="shares: expected finite"):
            _core.GraphStart(np.array([0.0, bad, 0.0, 0.0]), None)
    # Finite, but not their sum.
    start = _core.GraphStart(np.full(4, 1e308), None)
    (answer,) = solve_raw([graph], AD3, starts=[start])
    assert (answer.status, answer.score) == (OPTIMAL, 2.0)


def test_the_callback_sees_progress_and_stops():
    scores = [1.0, 1.1, 0.9, 1.05, 0.95]
    graph = RawGraph(scores, [Factor(AT_MOST_ONE, [i, (i + 1) % 5]) for i in range(5)])
    seen = []

    def stop_after_three(*progress):
        seen.append(progress)
        return len(seen) == 3

    solve_raw([graph], AD3, callback=stop_after_three)
    assert len(seen) == 3
    assert all(bound >= score for _, _, _, score, bound, _, _ in seen)

    def fail(*progress):
        raise RuntimeError("stop here")

    with pytest.raises(RuntimeError, match="stop here"):
        solve_raw([graph], AD3, callback=fail)


def test_wrong_arrays_are_refused():
    with pytest.raises(ValueError, match="out of range"):
        solve_raw([RawGraph([1.0], [Factor(XOR, [1])])], AD3)
    with pytest.raises(ValueError, match="finite"):
        solve_raw([RawGraph([np.inf], [])], AD3)
    with pytest.raises(ValueError, match="positive"):
        solve_raw([RawGraph([1.0], [Factor(KNAPSACK, [0], [-1.0], 1.0)])], AD3)
