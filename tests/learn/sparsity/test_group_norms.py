"""Norms of groups that do not overlap: values, gradients, proximal points, dual norms."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from conic import proximal_point
from regularizer_cases import SEEDS, points
from trelliswork.learn.sparsity.group_norms import GroupNorms
from trelliswork.learn.sparsity.regularizer import Regularizer


@st.composite
def cases(draw):
    """Groups, some of them perhaps without members, and a point."""
    size, n_groups = draw(st.integers(1, 10)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(SEEDS))
    groups = rng.integers(-1, n_groups, size=size).astype(np.int32)
    strengths = rng.uniform(0.1, 2.0, size=n_groups)
    return GroupNorms(groups, strengths, draw(st.sampled_from(["l2", "linf"]))), draw(points(size))


def members(level, x):
    """Yield the strength and the weights of each group that has any."""
    for group, strength in enumerate(level.strengths):
        own = x[level.groups == group]
        if own.size:
            yield strength, own


@given(cases())
def test_values_and_norms(case):
    level, x = case
    norms = level.norms(x)
    for group in range(level.strengths.size):
        own = np.abs(x[level.groups == group])
        expected = np.sqrt(own @ own) if level.norm == "l2" else own.max(initial=0.0)
        assert norms[group] == pytest.approx(expected)
    assert level.value(x) == pytest.approx(float(level.strengths @ norms))


@given(cases(), st.sampled_from([0.0, 0.4, 1.0, 5.0]))
def test_proximal_points_are_those_of_a_conic_solver(case, step):
    level, x = case
    before = x.copy()
    found = level.prox(x, step)
    expected = proximal_point(x, Regularizer(x.size, 0.0, [level.times(step)]))
    if expected.is_exact:
        np.testing.assert_allclose(found, expected.x, atol=2e-6 * (1.0 + np.abs(x).max()))
    values = [0.5 * (z - x) @ (z - x) + step * level.value(z) for z in (found, expected.x)]
    assert values[0] <= values[1] + 1e-12 * (1.0 + x @ x)
    np.testing.assert_array_equal(x, before)
    np.testing.assert_array_equal(found[level.groups < 0], x[level.groups < 0])
    dead = (level.dual_norms(x) <= step * level.strengths * (1 - 1e-12)) & (step > 0)
    for group in np.flatnonzero(dead):
        assert (found[level.groups == group] == 0.0).all()


@given(cases())
def test_gradients_of_euclidean_norms(case):
    level, x = case
    level = GroupNorms(level.groups, level.strengths)
    x = np.where(np.isin(level.groups, np.flatnonzero(level.norms(x) < 1e-3)), 0.0, x)
    gradient = level.gradient(x)
    for k in range(x.size):
        shift = np.zeros(x.size)
        shift[k] = 1e-6
        slope = (level.value(x + shift) - level.value(x - shift)) / 2e-6
        assert gradient[k] == pytest.approx(slope, abs=1e-5)  # 0 at 0, by symmetry


@given(cases())
def test_the_dual_norm_is_the_least_step_that_leaves_nothing(case):
    level, u = case
    if (u[level.groups < 0] != 0.0).any():
        assert level.dual_norm(u) == np.inf
    u = np.where(level.groups < 0, 0.0, u)
    needed = level.dual_norm(u)
    expected = max(
        (
            (np.linalg.norm(own) if level.norm == "l2" else np.abs(own).sum()) / strength
            for strength, own in members(level, u)
        ),
        default=0.0,
    )
    assert needed == pytest.approx(expected)
    assert not level.prox(u, needed * (1 + 1e-9)).any()
    if needed > 0.0:
        assert level.prox(u, needed * (1 - 1e-6)).any()


def test_a_group_without_a_strength_needs_infinitely_much():
    level = GroupNorms(np.array([0, 1], dtype=np.int32), np.array([0.0, 1.0]))
    assert level.dual_norm(np.array([0.0, 2.0])) == 2.0
    assert level.dual_norm(np.array([1.0, 2.0])) == np.inf


@given(cases(), st.data())
def test_some_weights_keep_the_strengths_of_their_groups(case, data):
    level, x = case
    places = np.array(sorted(data.draw(st.sets(st.integers(0, x.size - 1)))), dtype=np.int64)
    part = level.take(places)
    inside = np.zeros(x.size)
    inside[places] = x[places]
    assert part.value(x[places]) == pytest.approx(level.value(inside))
    np.testing.assert_allclose(part.prox(x[places], 0.7), level.prox(inside, 0.7)[places])
    assert part.dual_norm(x[places]) == pytest.approx(level.dual_norm(inside))


@given(cases(), st.floats(0.0, 3.0))
def test_multiples(case, factor):
    level, x = case
    assert level.times(factor).value(x) == pytest.approx(factor * level.value(x))
    assert level.times(factor).norm == level.norm


def test_which_groups_lie_within_others():
    def level(*groups):
        return GroupNorms(np.array(groups, dtype=np.int32), np.ones(4))

    coarse = level(0, 0, 1, -1)
    assert level(0, 0, 1, 2).is_within(coarse)
    assert level(0, 1, 2, -1).is_within(coarse)
    assert coarse.is_within(coarse)
    assert level(-1, -1, -1, -1).is_within(coarse)
    assert not level(0, 0, 0, 1).is_within(coarse)
    assert not level(-1, -1, 0, 0).is_within(coarse)  # half of it is outside all groups


def test_no_weights_at_all():
    for norm in ("l2", "linf"):
        level = GroupNorms(np.zeros(0, dtype=np.int32), np.ones(2), norm)
        nothing = np.zeros(0)
        assert level.value(nothing) == 0.0
        assert level.prox(nothing, 1.0).size == 0
        assert level.dual_norm(nothing) == 0.0
