"""Logic factors in the core: the nearest point and the best configuration, from definitions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from factor_cases import (
    AT_MOST_ONE,
    BUDGET,
    KINDS,
    KNAPSACK,
    OR,
    OR_OUT,
    XOR,
    XOR_OUT,
    LogicCase,
    distance_to_hull,
    logic_cases,
    numbers,
    vectors,
)
from trelliswork import _core


def project(case: LogicCase, point: np.ndarray) -> np.ndarray:
    return _core.project_logic(case.kind, point, case.weights, case.limit)


def maximize(case: LogicCase, scores: np.ndarray) -> tuple[float, np.ndarray]:
    return _core.maximize_logic(case.kind, scores, case.weights, case.limit)


def check_nearest(point: np.ndarray, found: np.ndarray, corners: np.ndarray) -> None:
    """Check that no corner is on the near side of the plane through `found`, seen from `point`."""
    scale = 1.0 + np.abs(point).max(initial=0.0)
    assert distance_to_hull(found, corners) < 1e-8
    assert ((corners - found) @ (point - found)).max() < 1e-9 * scale


@given(st.data())
def test_projections_are_the_nearest_points(data):
    case = data.draw(logic_cases(largest=6))
    point = data.draw(vectors(case.n))
    given_point = point.copy()
    found = project(case, point)
    check_nearest(point, found, case.vertices())
    assert np.array_equal(point, given_point)
    assert project(case, found) == pytest.approx(found, abs=1e-12)


@given(st.data())
def test_projections_of_far_points(data):
    case = data.draw(logic_cases(largest=5))
    scale = data.draw(st.sampled_from([1e3, 1e7, 1e12]))
    check_nearest(
        point := scale * data.draw(vectors(case.n)), project(case, point), case.vertices()
    )


@given(st.data())
def test_projections_of_many_literals(data):
    """Of a set too large to list: linear in each direction, so that `maximize` finds the corner."""
    kind = data.draw(st.sampled_from([kind for kind in KINDS if kind != KNAPSACK]))
    n = data.draw(st.integers(20, 90))
    case = LogicCase(kind, n, limit=float(data.draw(st.integers(0, n))))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    point = rng.normal(data.draw(st.floats(-1, 1)), data.draw(st.sampled_from([0.1, 1.0, 9.0])), n)
    found = project(case, point)
    best, _ = maximize(case, point - found)
    assert best - (point - found) @ found < 1e-9
    assert found.min() >= 0.0
    assert found.max() <= 1.0 + 1e-12
    total = found[:-1].sum()
    within = {
        XOR: abs(found.sum() - 1.0),
        AT_MOST_ONE: found.sum() - 1.0,
        OR: 1.0 - found.sum(),
        OR_OUT: max(found[:-1].max() - found[-1], found[-1] - total),
        XOR_OUT: abs(total - found[-1]),
        BUDGET: found.sum() - case.limit,
    }
    assert within[kind] < 1e-9


@given(st.integers(0, 2**32 - 1), st.floats(0, 1))
def test_knapsacks_of_many_literals(seed, share):
    rng = np.random.default_rng(seed)
    weights, point = rng.uniform(0.01, 3.0, 60), rng.normal(0.5, 1.0, 60)
    limit = share * weights.sum()
    found = _core.project_logic(KNAPSACK, point, weights, limit)
    # z = clip(a − τ w) with τ ≥ 0, and τ = 0 unless the knapsack is full: the conditions of Kuhn
    # and Tucker, which are enough.
    inside = (found > 1e-9) & (found < 1 - 1e-9)
    tau = np.median((point - found)[inside] / weights[inside]) if inside.any() else 0.0
    if inside.any():
        assert found == pytest.approx(np.clip(point - tau * weights, 0, 1), abs=1e-9)
        assert tau >= -1e-9
    assert weights @ found <= limit + 1e-9
    if weights @ np.clip(point, 0, 1) > limit:
        assert weights @ found == pytest.approx(limit, abs=1e-9)


@pytest.mark.parametrize("kind", [BUDGET, KNAPSACK])
def test_values_of_all_sizes(kind):
    """Values that grow like factorials: sums lose the small ones, which decide."""
    steps = np.array([float(math.factorial(i)) for i in range(2, 40)])
    point = np.concatenate([-steps[::-1], [0.3, 0.6, 0.9], steps])
    case = LogicCase(kind, point.size, np.ones(point.size), 39.0)
    wanted = np.concatenate([np.zeros(38), [1 / 30, 1 / 3, 19 / 30], np.ones(38)])
    assert project(case, point) == pytest.approx(wanted, abs=1e-12)


def test_means_that_drop_a_value_a_pass():
    """Each value just below the mean of those above it and the output."""
    values, gap = [1.0], 1e-15
    while gap < 0.4:
        values.append((sum(values) + 0.0) / (len(values) + 1) - gap)
        gap *= len(values) + 1.5
    point = np.append(values, 0.0)
    found = project(LogicCase(OR_OUT, point.size), point)
    assert found[-1] == pytest.approx(0.5, abs=1e-12)
    assert found[:-1] == pytest.approx(np.minimum(values, 0.5), abs=1e-12)


@given(st.data())
def test_maxima_equal_enumeration(data):
    case = data.draw(logic_cases())
    scores = data.draw(vectors(case.n, st.one_of(numbers, st.just(-np.inf))))
    values = [scores[on == 1].sum() for on in case.configurations()]
    best, on = maximize(case, scores)
    assert best == pytest.approx(max(values), abs=1e-12)
    assert case.accepts(tuple(on.tolist()))
    assert _core.accepts_logic(case.kind, on, case.weights, case.limit)
    if best > -np.inf:
        assert sum(scores[on == 1]) == pytest.approx(best, abs=1e-12)


@given(st.data())
def test_accepted_configurations(data):
    case = data.draw(logic_cases())
    on = data.draw(st.lists(st.integers(0, 1), min_size=case.n, max_size=case.n))
    found = _core.accepts_logic(case.kind, np.array(on, np.uint8), case.weights, case.limit)
    assert found == case.accepts(tuple(on))


@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.booleans())
def test_knapsacks_whose_literals_are_worth_their_weight(seed, n, exactly):
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 9, n).astype(float)
    scores = weights.copy() if exactly else weights + rng.integers(-1, 2, n)
    case = LogicCase(KNAPSACK, n, weights, float(weights.sum() // 2))
    assert maximize(case, scores)[0] == (case.configurations() @ scores).max()


@pytest.mark.parametrize("n", [40, 200])
def test_long_searches_end_with_a_bound(n):
    """Literals that are worth their weight: subsets beyond number come close to the limit."""
    weights = np.random.default_rng(n).uniform(0.5, 2.0, n)
    case = LogicCase(KNAPSACK, n, weights, float(weights.sum() / 2))
    best, on = maximize(case, weights)
    assert _core.accepts_logic(KNAPSACK, on, weights, case.limit)
    assert weights @ on <= best <= case.limit * (1 + 1e-4)
    assert weights @ on == pytest.approx(case.limit, rel=1e-4)


def test_factors_without_literals():
    nothing = np.zeros(0)
    for kind in (AT_MOST_ONE, BUDGET, KNAPSACK):
        assert maximize(LogicCase(kind, 0, nothing), nothing)[0] == 0.0
        assert project(LogicCase(kind, 0, nothing), nothing).size == 0
        assert _core.accepts_logic(kind, np.zeros(0, np.uint8), nothing, 0.0)
    for kind in (XOR, OR):
        assert maximize(LogicCase(kind, 0), nothing)[0] == -np.inf
        assert not _core.accepts_logic(kind, np.zeros(0, np.uint8), None, 0.0)
        with pytest.raises(ValueError, match="no configuration"):
            project(LogicCase(kind, 0), nothing)


@pytest.mark.parametrize("kind", [OR_OUT, XOR_OUT])
def test_an_output_without_inputs_is_false(kind):
    assert maximize(LogicCase(kind, 1), np.array([3.0])) == (0.0, np.array([0]))
    assert project(LogicCase(kind, 1), np.array([3.0])).tolist() == [0.0]


@pytest.mark.parametrize("kind", [BUDGET, KNAPSACK])
def test_limits_below_zero_allow_nothing(kind):
    case = LogicCase(kind, 2, np.ones(2), -1.0)
    assert maximize(case, np.zeros(2))[0] == -np.inf
    with pytest.raises(ValueError, match="no configuration"):
        project(case, np.zeros(2))


@pytest.mark.parametrize("size", [1.0, 1e9, 1e15])
def test_equal_values_share(size):
    point = np.full(4, size)
    for kind in (XOR, AT_MOST_ONE):
        assert project(LogicCase(kind, 4), point) == pytest.approx(np.full(4, 0.25))
    assert project(LogicCase(BUDGET, 4, limit=2.0), point) == pytest.approx(np.full(4, 0.5))
    knapsack = LogicCase(KNAPSACK, 4, np.full(4, 2.0), 4.0)
    assert project(knapsack, point) == pytest.approx(np.full(4, 0.5))
    assert project(LogicCase(XOR_OUT, 5), np.append(point, -size)).tolist() == [0.0] * 5
    assert project(LogicCase(XOR, 4), -point) == pytest.approx(np.full(4, 0.25))


def test_weights_are_checked():
    with pytest.raises(ValueError, match="one a literal"):
        _core.maximize_logic(KNAPSACK, np.zeros(2), None, 1.0)
    with pytest.raises(ValueError, match="above 0"):
        _core.maximize_logic(KNAPSACK, np.zeros(1), np.zeros(1), 1.0)
    with pytest.raises(ValueError, match="no such factor"):
        _core.maximize_logic(7, np.zeros(1), None, 1.0)


@pytest.mark.parametrize("n", [1, 5, 64])
def test_nan_scores_stay_within_bounds(n):
    for kind in (XOR, AT_MOST_ONE):
        _, on = maximize(LogicCase(kind, n), np.full(n, np.nan))
        assert on.sum() <= 1


def test_ties_at_a_full_knapsack_are_exact():
    best, on = _core.maximize_logic(KNAPSACK, np.full(80, 8.0), np.ones(80), 40.0)
    assert (best, on.sum()) == (320.0, 40)


def test_the_slack_of_a_knapsack_is_that_of_its_weights():
    weights = np.full(5, 1e-10)
    best, on = _core.maximize_logic(KNAPSACK, np.ones(5), weights, 2e-10)
    assert (best, on.sum()) == (2.0, 2)
    assert not _core.accepts_logic(KNAPSACK, np.ones(5, np.uint8), weights, 2e-10)
    tenths = np.full(10, 0.1)  # adds up to less than 1, or more
    assert _core.accepts_logic(KNAPSACK, np.ones(10, np.uint8), tenths, 1.0)
