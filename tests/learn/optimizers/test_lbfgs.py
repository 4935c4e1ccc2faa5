from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, strategies as st

from trelliswork.learn.optimizers.lbfgs import minimize_lbfgs


def quadratic(matrix, target):
    def function(x, gradient):
        residual = matrix @ (x - target)
        gradient[:] = residual
        return float(0.5 * (x - target) @ residual)

    return function


@given(
    seed=st.integers(0, 1000),
    size=st.integers(1, 30),
    memory=st.integers(1, 8),
    scaled=st.booleans(),
)
def test_quadratics_are_solved(seed, size, memory, scaled):
    rng = np.random.default_rng(seed)
    basis = np.linalg.qr(rng.normal(size=(size, size)))[0]
    matrix = basis @ np.diag(rng.uniform(0.5, 20, size=size)) @ basis.T
    target = rng.normal(size=size)
    scale = rng.uniform(0.5, 2, size=size) if scaled else None
    start = np.zeros(size)
    found = minimize_lbfgs(
        quadratic(matrix, target), start, max_iter=500, tol=1e-9, memory=memory, scale=scale
    )
    np.testing.assert_allclose(found.x, target, atol=1e-4)
    assert not start.any()


def rosenbrock(x, gradient):
    a, b = 1.0 - x[0], x[1] - x[0] ** 2
    gradient[:] = [-2 * a - 400 * x[0] * b, 200 * b]
    return a * a + 100 * b * b


def test_a_curved_valley_is_followed():
    found = minimize_lbfgs(rosenbrock, np.array([-1.2, 1.0]), max_iter=1000, tol=1e-10)
    np.testing.assert_allclose(found.x, 1.0, atol=1e-4)


def test_values_never_rise():
    values = []
    minimize_lbfgs(
        rosenbrock,
        np.array([-1.2, 1.0]),
        max_iter=100,
        callback=lambda it: values.append(it.value),
    )
    assert all(after <= before for before, after in itertools.pairwise(values))


def test_the_result_says_why_it_stopped():
    start = np.array([-1.2, 1.0])
    assert minimize_lbfgs(rosenbrock, start, max_iter=3).reason == "max_iter"
    assert minimize_lbfgs(rosenbrock, start, max_iter=0).n_iterations == 0
    stopped = minimize_lbfgs(rosenbrock, start, callback=lambda it: it.number == 2)
    assert (stopped.reason, stopped.n_iterations) == ("stopped", 2)
    assert minimize_lbfgs(rosenbrock, np.ones(2)).reason == "converged"


def test_control_c_keeps_what_was_reached():
    calls = 0

    def interrupted(x, gradient):
        nonlocal calls
        calls += 1
        if calls == 8:
            raise KeyboardInterrupt
        return rosenbrock(x, gradient)

    found = minimize_lbfgs(interrupted, np.array([-1.2, 1.0]))
    assert found.reason == "interrupted"
    assert found.value < 24.2  # the value at the start
    assert found.value == pytest.approx(rosenbrock(found.x, np.empty(2)))


def test_a_flat_function_is_left_alone():
    def flat(x, gradient):
        gradient[:] = 0.0
        return 1.0

    assert minimize_lbfgs(flat, np.zeros(3)).reason == "converged"


@given(seed=st.integers(0, 1000), size=st.integers(1, 12), scaled=st.booleans())
def test_bounded_quadratics_are_solved(seed, size, scaled):
    """The minimum is where the gradient is 0, or points below 0 at a bound."""
    rng = np.random.default_rng(seed)
    basis = np.linalg.qr(rng.normal(size=(size, size)))[0]
    matrix = basis @ np.diag(rng.uniform(0.5, 20, size=size)) @ basis.T
    bounded = np.flatnonzero(rng.random(size) < 0.6)
    scale = rng.uniform(0.5, 2, size=size) if scaled else None
    function = quadratic(matrix, rng.normal(size=size))
    seen = []
    found = minimize_lbfgs(
        function,
        rng.normal(size=size),
        max_iter=500,
        tol=1e-9,
        scale=scale,
        nonnegative=bounded,
        callback=lambda it: seen.append((it.value, it.x[bounded].min(initial=0.0))),
    )
    gradient = np.empty(size)
    function(found.x, gradient)
    assert (found.x[bounded] >= 0).all()
    held = np.zeros(size, dtype=bool)
    held[bounded] = (found.x[bounded] == 0) & (gradient[bounded] >= 0)
    np.testing.assert_allclose(gradient[~held], 0.0, atol=1e-3)
    assert all(least >= 0 for _, least in seen)
    assert all(b <= a for (a, _), (b, _) in itertools.pairwise(seen))


def test_a_gradient_that_points_below_a_bound_is_no_reason_to_go_on():
    def function(x, gradient):
        gradient[:] = [1.0, 2 * (x[1] - 1)]
        return float(x[0] + (x[1] - 1) ** 2)

    found = minimize_lbfgs(function, np.array([3.0, 5.0]), tol=1e-8, nonnegative=np.array([0]))
    np.testing.assert_allclose(found.x, [0.0, 1.0], atol=1e-6)
    assert found.reason == "converged"
    assert found.gradient_norm < 1e-6


def test_steps_to_points_without_a_value_are_shortened():
    seen = []

    def function(x, gradient):
        seen.append(float(x[0]))
        value = np.hypot(1.0, x[0] - 3.0)
        gradient[:] = (x - 3.0) / value
        return np.nan if x[0] > 4.0 else float(value)

    found = minimize_lbfgs(function, np.array([-4.0]), max_iter=50, tol=1e-12)
    assert found.x[0] == pytest.approx(3.0)
    assert max(seen) > 4.0
