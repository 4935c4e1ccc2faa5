"""OWL-QN: optimality conditions of l1 and bounds, and a conic solver."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from conic import minimum
from regularizer_cases import SEEDS, regularizers
from smooth_cases import easy, gradient_of, logistic, quadratic, smooth_functions, uphill
from trelliswork.learn.optimizers.owlqn import minimize_owlqn, pseudo_gradient
from trelliswork.learn.sparsity.group_norms import GroupNorms
from trelliswork.learn.sparsity.regularizer import Regularizer


@st.composite
def cases(draw):
    size = draw(st.integers(1, 8))
    regularizer = draw(regularizers(size, ("none",)))
    start = np.random.default_rng(draw(SEEDS)).normal(size=size) * draw(st.sampled_from([0.0, 1.0]))
    return draw(smooth_functions(size)), regularizer.times(draw(st.sampled_from([1.0, 6.0]))), start


@given(cases())
@settings(max_examples=80)
def test_optimality_conditions(case):
    function, regularizer, start = case
    before = start.copy()
    seen = []
    found = minimize_owlqn(
        function,
        start,
        regularizer,
        max_iter=2000,
        tol=1e-12,
        callback=lambda it: seen.append((it.value, it.x.copy())),
    )
    np.testing.assert_array_equal(start, before)
    gradient = gradient_of(function, found.x)
    x, l1 = found.x, regularizer.l1
    bounded = np.isin(np.arange(x.size), regularizer.nonnegative)
    assert (x[bounded] >= 0.0).all()
    alive = x != 0.0
    scale = 1e-4 * (1.0 + np.abs(gradient).max(initial=0.0) + np.abs(l1).max(initial=0.0))
    np.testing.assert_allclose(gradient[alive], -(l1 * np.sign(x))[alive], atol=scale)
    dead = ~alive
    assert (-gradient[dead] <= l1[dead] + scale).all()
    assert (gradient[dead & ~bounded] <= l1[dead & ~bounded] + scale).all()
    assert found.value == pytest.approx(function(x, gradient) + regularizer.value(x))
    assert all(b <= a for (a, _), (b, _) in itertools.pairwise(seen))
    assert all((point[bounded] >= 0.0).all() for _, point in seen)


def check_quadratic(found, expected, function, regularizer):
    """Compare with a conic solver; the least eigenvalue of the quadratic is 0.5 or more."""
    value = function(expected.x, np.empty(found.x.size)) + regularizer.value(expected.x)
    slack = 1e-8 + 1e-7 * abs(value)
    expected.check(found.value, value, slack)
    apart = found.x - expected.x
    assert 0.25 * float(apart @ apart) <= value - found.value + slack


@given(SEEDS, st.integers(1, 8), st.data())
@settings(max_examples=40)
def test_quadratics_as_a_conic_solver_has_them(seed, size, data):
    function, matrix, linear = quadratic(np.random.default_rng(seed), size)
    regularizer = data.draw(regularizers(size, ("none",)))
    found = minimize_owlqn(function, np.zeros(size), regularizer, max_iter=2000, tol=1e-12)
    check_quadratic(found, minimum(matrix, linear, regularizer), function, regularizer)


@pytest.mark.parametrize(("seed", "size", "l1"), [(13, 6, 0.3), (16, 6, 0.3), (30, 8, 1.0)])
def test_weights_that_were_left_out_move_where_the_others_cannot(seed, size, l1):
    function, matrix, linear = quadratic(np.random.default_rng(seed), size)
    regularizer = Regularizer(size, l1)
    found = minimize_owlqn(function, np.zeros(size), regularizer, max_iter=2000, tol=1e-12)
    check_quadratic(found, minimum(matrix, linear, regularizer), function, regularizer)


def test_a_first_step_may_be_short():
    def steep(x, gradient):
        gradient[:] = 1e18 * (x - 1e-9)
        return 0.5e18 * float((x - 1e-9) @ (x - 1e-9))

    found = minimize_owlqn(steep, np.zeros(1), Regularizer(1, 1e3))
    assert found.x[0] == pytest.approx(1e-9, rel=1e-3)


@pytest.mark.parametrize("max_iter", range(1, 30))
def test_no_more_iterations_than_allowed(max_iter):
    function = logistic(np.random.default_rng(max_iter), 8)
    found = minimize_owlqn(function, np.zeros(8), Regularizer(8, 1.0), max_iter=max_iter, tol=1e-2)
    assert found.n_iterations <= max_iter


@given(cases())
@settings(max_examples=50)
def test_the_pseudo_gradient_is_the_steepest_slope_down(case):
    function, regularizer, start = case
    x = regularizer.prox(start, 0.1)
    slopes = pseudo_gradient(x, gradient_of(function, x), regularizer)
    bounded = np.isin(np.arange(x.size), regularizer.nonnegative)
    unused = np.empty(x.size)
    here = function(x, unused) + regularizer.value(x)
    for k in range(x.size):
        if x[k] != 0.0 and abs(x[k]) < 1e-5:
            continue
        ways = []  # one-sided derivatives, as far as they lead down
        for sign in (1.0, -1.0):
            if bounded[k] and x[k] == 0.0 and sign < 0.0:
                continue
            there = x.copy()
            there[k] += sign * 1e-7
            value = function(there, unused) + regularizer.value(there)
            ways.append(sign * (value - here) / 1e-7)
        down = [slope for sign, slope in zip((1.0, -1.0), ways, strict=False) if sign * slope < 0]
        expected = max(down, key=abs, default=0.0)
        assert slopes[k] == pytest.approx(expected, abs=1e-3, rel=1e-3)


def test_the_result_says_why_it_stopped():
    function, l1 = logistic(np.random.default_rng(1), 6), Regularizer(6, 0.5)
    start = np.zeros(6)
    assert minimize_owlqn(function, start, l1, max_iter=2).reason == "max_iter"
    none = minimize_owlqn(function, start, l1, max_iter=0)
    assert (none.reason, none.n_iterations, none.x.tolist()) == ("max_iter", 0, [0.0] * 6)
    stopped = minimize_owlqn(function, start, l1, callback=lambda it: it.number == 2)
    assert (stopped.reason, stopped.n_iterations) == ("stopped", 2)
    assert minimize_owlqn(function, start, Regularizer(6, 1e4)).reason == "converged"
    best = minimize_owlqn(function, start, l1, max_iter=500, tol=1e-13)
    proven = minimize_owlqn(
        function,
        start,
        l1,
        tol=0.0,
        lower_bound=lambda x, smooth, gradient: best.value * (1.0 - 1e-9),
        gap_tol=1e-3,
    )
    assert proven.reason == "gap"
    assert 0.0 < proven.gap <= 1e-3 * proven.value
    assert best.gap is None
    lost = minimize_owlqn(uphill, np.zeros(2), Regularizer(2, 1.0))
    assert (lost.reason, lost.x.tolist()) == ("precision", [0.0, 0.0])


def test_control_c_keeps_what_was_reached():
    smooth, l1 = logistic(np.random.default_rng(2), 6), Regularizer(6, 0.5)
    calls = 0

    def interrupted(x, gradient):
        nonlocal calls
        calls += 1
        if calls == 6:
            raise KeyboardInterrupt
        return smooth(x, gradient)

    start = np.zeros(6)
    found = minimize_owlqn(interrupted, start, l1, tol=0.0)
    assert found.reason == "interrupted"
    assert 0 < found.n_iterations < 6
    assert found.value == pytest.approx(smooth(found.x, np.empty(6)) + l1.value(found.x))
    assert found.value < smooth(start, np.empty(6))


def test_groups_and_starts_without_a_value_are_refused():
    groups = Regularizer(2, 0.0, [GroupNorms(np.zeros(2, np.int32), np.ones(1))])
    with pytest.raises(ValueError, match="OWL-QN: expected l1 alone, got norms of groups"):
        minimize_owlqn(easy, np.zeros(2), groups)
    with pytest.raises(ValueError, match="expected a finite value and gradient at the start"):
        minimize_owlqn(easy, np.array([0.0, np.nan]), Regularizer(2, 1.0))


def test_a_start_below_a_bound_is_moved_to_it():
    regularizer = Regularizer(2, 0.0, nonnegative=np.array([1]))
    found = minimize_owlqn(easy, np.array([-2.0, -2.0]), regularizer, max_iter=0)
    assert found.x.tolist() == [-2.0, 0.0]
