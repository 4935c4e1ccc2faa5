"""Regularizers against a conic solver: proximal points, dual norms, parts of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from conic import proximal_point
from regularizer_cases import KINDS, points, regularizers
from trelliswork.learn.sparsity.group_norms import GroupNorms
from trelliswork.learn.sparsity.regularizer import Regularizer

SIZES = st.integers(1, 9)
STEPS = st.sampled_from([0.3, 1.0, 2.5])


@st.composite
def cases(draw, kinds=KINDS):
    size = draw(SIZES)
    return draw(regularizers(size, kinds)), draw(points(size))


def objective(regularizer: Regularizer, z: np.ndarray, v: np.ndarray, step: float) -> float:
    return 0.5 * float((z - v) @ (z - v)) + step * regularizer.value(z)


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data(), step=STEPS)
@settings(max_examples=40)
def test_proximal_points_are_those_of_a_conic_solver(kind, data, step):
    regularizer, v = data.draw(cases((kind,)))
    before = v.copy()
    found = regularizer.prox(v, step)
    expected = proximal_point(v, regularizer.times(step))
    np.testing.assert_array_equal(v, before)
    assert (found[regularizer.nonnegative] >= 0.0).all()
    # Both are at the minimum, to which the solver is closer than to the point.
    values = [objective(regularizer, z, v, step) for z in (found, expected.x)]
    expected.check(*values, slack=1e-8 + 1e-7 * abs(values[1]))
    rounding = (1e-12 if regularizer.is_tree else 1e-10) * (1.0 + v @ v)
    assert values[0] <= values[1] + rounding
    # The problem is strongly convex: P(z) ≥ P(z*) + ½ ‖z − z*‖² for every z, the solver's too.
    apart = found - expected.x
    assert 0.5 * float(apart @ apart) <= values[1] - values[0] + rounding


@given(cases(("none", "groups", "tree", "tree of three", "partial tree")), STEPS)
def test_zeros_are_exact(case, step):
    regularizer, v = case
    if not regularizer.is_tree:  # an l2 norm within an l∞ norm: the rest is a matter of rounds
        return
    # Where a norm is as large as its threshold, rounding decides; a little less, and it is 0.
    found = regularizer.prox((1.0 - 1e-9) * v, step)
    assert np.abs(found[found != 0.0]).min(initial=1.0) > 1e-13 * np.abs(v).max()


@given(cases())
def test_steps_of_length_zero_only_keep_the_bounds(case):
    regularizer, v = case
    expected = v.copy()
    expected[regularizer.nonnegative] = np.maximum(expected[regularizer.nonnegative], 0.0)
    np.testing.assert_allclose(regularizer.prox(v, 0.0), expected, atol=1e-12)


@given(cases())
def test_the_dual_norm_is_the_least_step_that_leaves_nothing(case):
    regularizer, u = case
    needed = regularizer.dual_norm(u)
    if needed == np.inf:
        assert regularizer.prox(u, 1e6).any()
        return
    left = regularizer.prox(u, needed * (1.0 + 1e-9))
    # Where groups cross, the point is the last of some rounds, as near as their gap proves.
    nothing = 0.0 if regularizer.is_tree else np.sqrt(2e-12 * (u @ u))
    assert np.sqrt(left @ left) <= nothing
    if needed > 1e-9:
        assert regularizer.prox(u, needed * (1.0 - 1e-4)).any()
        # Hölder's inequality, the use of a dual norm.
        rng = np.random.default_rng(0)
        x = rng.normal(size=(20, u.size))
        x[:, regularizer.nonnegative] = np.abs(x[:, regularizer.nonnegative])
        for one in x:
            assert float(u @ one) <= needed * regularizer.value(one) * (1 + 1e-6) + 1e-9


@given(cases(), STEPS, st.data())
def test_a_part_is_the_whole_with_the_rest_at_zero(case, step, data):
    regularizer, v = case
    chosen = data.draw(st.sets(st.integers(0, v.size - 1)))
    places = np.array(sorted(chosen), dtype=np.int64)
    part = regularizer.take(places)
    inside = np.zeros(v.size)
    inside[places] = v[places]
    assert part.size == places.size
    assert part.value(v[places]) == pytest.approx(regularizer.value(inside))
    np.testing.assert_allclose(
        part.prox(v[places], step), regularizer.prox(inside, step)[places], atol=1e-5
    )


@given(cases(), STEPS, STEPS)
def test_a_multiple_is_a_longer_step(case, step, factor):
    regularizer, v = case
    scaled = regularizer.times(factor)
    assert scaled.value(v) == pytest.approx(factor * regularizer.value(v))
    np.testing.assert_allclose(scaled.prox(v, step), regularizer.prox(v, factor * step), atol=1e-5)


@given(cases())
def test_the_value_is_the_sum_of_all_norms(case):
    regularizer, x = case
    total = float(np.sum(regularizer.l1 * np.abs(x)))
    for level in regularizer.levels:
        for group, strength in enumerate(level.strengths):
            own = np.abs(x[level.groups == group])
            if own.size:
                total += strength * (np.sqrt(own @ own) if level.norm == "l2" else own.max())
    assert regularizer.value(x) == pytest.approx(total)


@given(cases(("none", "groups", "tree", "tree of three", "partial tree")), st.data())
def test_trees_are_known_as_such(case, data):
    regularizer, _ = case
    norm = data.draw(st.sampled_from(["l2", "linf"]))
    levels = [GroupNorms(own.groups, own.strengths, norm) for own in regularizer.levels]
    assert Regularizer(regularizer.size, 0.5, levels).is_tree


def test_tree_detection():
    def level(*groups):
        return GroupNorms(np.array(groups, dtype=np.int32), np.ones(max(groups) + 1))

    coarse, fine, other = level(0, 0, 0, 1), level(0, 0, 1, 2), level(0, 1, 1, 1)
    assert Regularizer(4, 0.0, [coarse, fine]).is_tree
    assert [one is fine for one in Regularizer(4, 0.0, [coarse, fine]).levels] == [True, False]
    assert Regularizer(4, 0.0, [coarse, level(-1, 0, -1, -1)]).is_tree
    assert Regularizer(4, 0.0, [level(0, 0, -1, -1), level(-1, -1, 0, 0)]).is_tree
    # Each is within two others; only one order has each within all later ones.
    parts = [level(-1, 0, 1, -1), level(0, -1, -1, 0), level(1, 0, 0, -1)]
    assert Regularizer(4, 0.0, parts).is_tree == Regularizer(4, 0.0, parts[::-1]).is_tree
    assert not Regularizer(4, 0.0, [coarse, other]).is_tree
    assert not Regularizer(4, 0.0, [level(0, 0, -1, -1), level(-1, 0, 0, -1)]).is_tree
    largest = GroupNorms(coarse.groups, coarse.strengths, "linf")
    assert not Regularizer(4, 0.0, [largest, fine]).is_tree
    assert Regularizer(4, 0.0, [coarse, GroupNorms(fine.groups, np.ones(3), "linf")]).is_tree
    assert Regularizer(4, 1.0).is_separable
    assert not Regularizer(4, 1.0, [coarse]).is_separable


@given(points(7), STEPS, st.permutations(range(3)))
def test_groups_that_are_nested_one_way_here_and_another_there(v, step, order):
    """Any two groups are nested or disjoint, but no order of the levels fits all of them."""
    levels = [
        GroupNorms(np.array(groups, dtype=np.int32), np.array([1.0, 0.5]))
        for groups in (
            [0, 0, -1, -1, -1, 1, -1],
            [-1, -1, 0, -1, -1, 1, 1],
            [0, -1, 1, 1, -1, -1, -1],
        )
    ]
    regularizer = Regularizer(7, 0.0, [levels[i] for i in order])
    expected = proximal_point(v, regularizer.times(step))
    values = [objective(regularizer, z, v, step) for z in (regularizer.prox(v, step), expected.x)]
    expected.check(*values, slack=1e-6 * (1.0 + abs(values[1])))  # ties slow the rounds down


def test_weights_without_a_penalty_are_left_alone():
    regularizer = Regularizer(3, np.array([0.0, 1.0, 0.0]), nonnegative=np.array([2]))
    assert regularizer.prox(np.array([4.0, 0.5, -1.0]), 1.0).tolist() == [4.0, 0.0, 0.0]
    assert regularizer.dual_norm(np.array([0.0, 3.0, -1.0])) == 3.0
    assert regularizer.dual_norm(np.array([0.1, 3.0, -1.0])) == np.inf


def test_small_groups_beside_large_ones():
    level = GroupNorms(np.array([0, 1, 1], np.int32), np.array([1.0, 1.0]), "linf")
    np.testing.assert_array_equal(level.prox(np.array([1e17, 3.0, 1.0]), 1.0)[1:], [2.0, 1.0])
