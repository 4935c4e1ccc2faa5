"""SpaRSA and FISTA: optimality conditions of every penalty, and agreement with others."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from conic import minimum
from regularizer_cases import KINDS, SEEDS, regularizers
from smooth_cases import easy, gradient_of, logistic, quadratic, smooth_functions, uphill
from trelliswork.learn.optimizers.hybrid import minimize_hybrid
from trelliswork.learn.optimizers.owlqn import minimize_owlqn
from trelliswork.learn.optimizers.proximal import minimize_proximal, proximal_residual
from trelliswork.learn.sparsity.group_norms import GroupNorms
from trelliswork.learn.sparsity.regularizer import Regularizer

METHODS = ("sparsa", "fista")


@st.composite
def cases(draw, kinds=KINDS):
    size = draw(st.integers(1, 8))
    regularizer = draw(regularizers(size, kinds, mixed=False))
    start = np.random.default_rng(draw(SEEDS)).normal(size=size) * draw(st.sampled_from([0.0, 1.0]))
    return draw(smooth_functions(size)), regularizer.times(draw(st.sampled_from([1.0, 4.0]))), start


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("method", METHODS)
@given(data=st.data())
@settings(max_examples=15)
def test_the_end_is_a_fixed_point(method, kind, data):
    function, regularizer, start = data.draw(cases((kind,)))
    before = start.copy()
    seen = []
    found = minimize_proximal(
        function,
        start,
        regularizer,
        method=method,
        max_iter=3000,
        tol=1e-11,
        callback=lambda it: seen.append(it.value),
    )
    np.testing.assert_array_equal(start, before)
    gradient = gradient_of(function, found.x)
    assert (found.x[regularizer.nonnegative] >= 0.0).all()
    scale = 1.0 + float(np.abs(gradient).max())
    assert proximal_residual(found.x, gradient, regularizer) < 1e-4 * scale
    assert found.value == pytest.approx(function(found.x, gradient) + regularizer.value(found.x))
    assert all(b <= a for a, b in itertools.pairwise(seen))


def conditions(x, gradient, level):
    """Yield how far each group is from being optimal."""
    for group, strength in enumerate(level.strengths):
        own = level.groups == group
        w, slope = x[own], gradient[own]
        if not own.any():
            continue
        if not w.any():
            dual = np.linalg.norm(slope) if level.norm == "l2" else np.abs(slope).sum()
            yield max(0.0, dual - strength)
        elif level.norm == "l2":
            yield np.abs(slope + strength * w / np.linalg.norm(w)).max()
        else:
            # All of the strength pulls at the largest weights, each towards 0.
            largest = np.abs(w) >= np.abs(w).max() * (1 - 1e-7)
            yield np.abs(slope[~largest]).max(initial=0.0)
            pulls = -slope[largest] * np.sign(w[largest])
            yield max(0.0, -pulls.min())
            yield abs(pulls.sum() - strength)


@pytest.mark.parametrize("norm", ["l2", "linf"])
@pytest.mark.parametrize("method", METHODS)
@given(data=st.data(), seed=SEEDS)
@settings(max_examples=25)
def test_optimality_conditions_of_groups(method, norm, data, seed):
    rng = np.random.default_rng(seed)
    size = 7
    function = data.draw(smooth_functions(size))
    groups = rng.integers(-1, 3, size=size).astype(np.int32)
    level = GroupNorms(groups, rng.uniform(0.5, 8.0, size=3), norm)
    found = minimize_proximal(
        function,
        np.zeros(size),
        Regularizer(size, 0.0, [level]),
        method=method,
        max_iter=5000,
        tol=1e-13,
    )
    gradient = gradient_of(function, found.x)
    assert np.abs(gradient[groups < 0]).max(initial=0.0) < 1e-3
    assert max(conditions(found.x, gradient, level), default=0.0) < 1e-3


@given(SEEDS, st.integers(1, 8), st.data())
@settings(max_examples=60)
def test_quadratics_as_a_conic_solver_has_them(seed, size, data):
    function, matrix, linear = quadratic(np.random.default_rng(seed), size)
    regularizer = data.draw(regularizers(size, mixed=False))
    expected = minimum(matrix, linear, regularizer)
    value = function(expected.x, np.empty(size)) + regularizer.value(expected.x)
    for method in METHODS:
        found = minimize_proximal(
            function, np.zeros(size), regularizer, method=method, max_iter=3000, tol=1e-11
        )
        expected.check(found.value, value, slack=1e-6 * (1.0 + abs(value)))


@given(cases(("none",)))
@settings(max_examples=40)
def test_all_methods_agree_on_l1(case):
    function, regularizer, start = case
    settled = {"max_iter": 3000, "tol": 1e-10}
    values = [minimize_owlqn(function, start, regularizer, **settled).value]
    values += [
        minimize_proximal(function, start, regularizer, method=method, **settled).value
        for method in METHODS
    ]
    assert max(values) - min(values) <= 1e-6 * max(1.0, abs(values[0]))


@given(cases(("groups", "tree", "tree of three", "crossing")))
@settings(max_examples=30)
def test_both_methods_agree_on_groups(case):
    function, regularizer, start = case
    values = [
        minimize_proximal(
            function, start, regularizer, method=method, max_iter=3000, tol=1e-10
        ).value
        for method in METHODS
    ]
    assert max(values) - min(values) <= 1e-6 * max(1.0, abs(values[0]))


@pytest.mark.parametrize("curvature", [1.0, 10.0, 20.0])
def test_fista_goes_on_where_a_step_from_ahead_leads_back(curvature):
    """The step from the point ahead ends at 0, where it came from; the optimum is at 0.05."""

    def function(x, gradient):
        gradient[:] = curvature * (x - 0.1)
        return 0.5 * curvature * float((x - 0.1) @ (x - 0.1))

    norm = GroupNorms(np.zeros(1, np.int32), np.full(1, 0.05 * curvature))
    found = minimize_proximal(
        function, np.array([3.0]), Regularizer(1, 0.0, [norm]), method="fista", tol=1e-10
    )
    np.testing.assert_allclose(found.x, 0.05, rtol=1e-4)


def groups_of(size, strength):
    return Regularizer(
        size, 0.1, [GroupNorms(np.arange(size, dtype=np.int32) // 2, np.full(size, strength))]
    )


@pytest.mark.parametrize("method", METHODS)
def test_the_result_says_why_it_stopped(method):
    function, start = logistic(np.random.default_rng(1), 6), np.zeros(6)

    def run(strength=0.5, **settings):
        return minimize_proximal(function, start, groups_of(6, strength), method=method, **settings)

    assert run(max_iter=2).reason == "max_iter"
    none = run(max_iter=0)
    assert (none.reason, none.n_iterations, none.x.tolist()) == ("max_iter", 0, [0.0] * 6)
    stopped = run(callback=lambda it: it.number == 2)
    assert (stopped.reason, stopped.n_iterations) == ("stopped", 2)
    nothing = run(1e4)
    assert (nothing.reason, nothing.n_iterations, nothing.x.any()) == ("converged", 0, False)
    best = run(max_iter=2000, tol=1e-13)
    assert best.gap is None
    proven = run(
        tol=0.0,
        lower_bound=lambda x, smooth, gradient: best.value * (1.0 - 1e-9),
        gap_tol=1e-3,
    )
    assert proven.reason == "gap"
    assert 0.0 < proven.gap <= 1e-3 * proven.value
    lost = minimize_proximal(uphill, np.zeros(2), groups_of(2, 1.0), method=method)
    assert lost.reason == "precision"
    assert lost.x == pytest.approx([0.0, 0.0], abs=1e-9)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("last", range(3, 16))
def test_control_c_keeps_what_was_reached(method, last):
    smooth, regularizer = logistic(np.random.default_rng(2), 6), groups_of(6, 0.5)
    calls = 0

    def interrupted(x, gradient):
        nonlocal calls
        calls += 1
        if calls == last:
            raise KeyboardInterrupt
        return smooth(x, gradient)

    start = np.zeros(6)
    found = minimize_proximal(interrupted, start, regularizer, method=method, tol=0.0)
    assert found.reason == "interrupted"
    gradient = np.empty(6)
    assert found.value == pytest.approx(smooth(found.x, gradient) + regularizer.value(found.x))
    assert found.value <= smooth(start, np.empty(6)) * (1.0 + 1e-12)  # but for rounding
    assert found.gradient_norm == pytest.approx(proximal_residual(found.x, gradient, regularizer))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("norm", ["l2", "linf"])
def test_starts_without_a_value_are_refused(method, norm):
    regularizer = Regularizer(2, 0.0, [GroupNorms(np.zeros(2, np.int32), np.ones(1), norm)])
    with pytest.raises(ValueError, match="expected a finite value and gradient at the start"):
        minimize_proximal(easy, np.array([0.0, np.nan]), regularizer, method=method)


def euclidean(regularizer):
    levels = [GroupNorms(own.groups, own.strengths) for own in regularizer.levels]
    return Regularizer(regularizer.size, regularizer.l1, levels, regularizer.nonnegative)


@given(cases(("groups", "tree", "crossing")))
@settings(max_examples=40)
def test_taking_turns_with_quasi_newton_steps_agrees(case):
    function, regularizer, start = case
    regularizer = euclidean(regularizer)
    seen = []
    found = minimize_hybrid(
        function,
        start,
        regularizer,
        max_iter=2000,
        tol=1e-10,
        callback=lambda it: seen.append((it.number, it.value)),
    )
    plain = minimize_proximal(function, start, regularizer, max_iter=2000, tol=1e-10)
    assert found.value == pytest.approx(plain.value, rel=1e-6, abs=1e-6)
    assert [number for number, _ in seen] == list(range(1, found.n_iterations + 1))
    slack = 1e-9 * (1.0 + abs(found.value))
    assert all(b <= a + slack for (_, a), (_, b) in itertools.pairwise(seen))
    gradient = gradient_of(function, found.x)
    assert found.value == pytest.approx(function(found.x, gradient) + regularizer.value(found.x))


@pytest.mark.parametrize("max_iter", [0, 5, 20, 23, 60, 65])
def test_turns_count_towards_the_most_iterations(max_iter):
    function = logistic(np.random.default_rng(3), 12)
    found = minimize_hybrid(function, np.zeros(12), groups_of(12, 0.2), max_iter=max_iter, tol=0.0)
    assert found.n_iterations <= max_iter


@pytest.mark.parametrize("last", range(3, 80, 7))
def test_control_c_keeps_what_turns_have_reached(last):
    # Weak norms: 80 calls are far from the end.
    smooth, regularizer = logistic(np.random.default_rng(2), 12), groups_of(12, 0.05)
    begun = []

    def interrupted(x, gradient):
        begun.append(x)
        if len(begun) == last:
            raise KeyboardInterrupt
        return smooth(x, gradient)

    found = minimize_hybrid(interrupted, np.zeros(12), regularizer, tol=0.0)
    assert found.reason == "interrupted"
    assert found.value == pytest.approx(smooth(found.x, np.empty(12)) + regularizer.value(found.x))


def test_control_c_between_turns():
    smooth, regularizer = logistic(np.random.default_rng(2), 12), groups_of(12, 0.2)

    def interrupted(x, gradient):
        if len(seen) == 20:  # the first call after the first turn, before L-BFGS begins
            raise KeyboardInterrupt
        return smooth(x, gradient)

    seen = []
    found = minimize_hybrid(
        interrupted, np.zeros(12), regularizer, tol=0.0, callback=lambda it: seen.append(it.value)
    )
    assert found.reason == "interrupted"
    assert (found.n_iterations, found.value) == (20, seen[-1])


def steep_valley(x, gradient):
    """Rosenbrock's function, so steep that proximal steps along its floor are tiny."""
    bend = x[1] - x[0] ** 2
    gradient[:] = -4e4 * bend * x[0] - 2.0 * (1.0 - x[0]), 2e4 * bend
    return 1e4 * bend**2 + (1.0 - x[0]) ** 2


def test_slow_first_steps_are_no_optimum():
    start = np.array([-1.0, 1.0])
    regularizer = Regularizer(2, 0.0, [GroupNorms(np.zeros(2, np.int32), np.full(1, 0.001))])
    # Ten steps gain a thirtieth of this tolerance: proximal steps alone end here.
    slow = minimize_proximal(steep_valley, start, regularizer, max_iter=2000, tol=1e-2)
    assert slow.value > 3.9
    found = minimize_hybrid(steep_valley, start, regularizer, tol=1e-2)
    assert found.value < 0.01
