"""Penalties in the likelihood, against enumeration and finite differences."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from soft_term_cases import problems


@given(problems().filter(bool), st.sampled_from([1, 2]))
@settings(max_examples=100)
def test_loss_and_gradient_of_weights_and_penalties(problem, n_jobs):
    objective, parameters = problem.objective, problem.parameters
    assert objective.n_penalties >= 1
    gradient = np.empty(objective.n_parameters)
    value = objective.value_and_grad(parameters, gradient, n_jobs=n_jobs)
    assert value == pytest.approx(problem.loss(), abs=1e-8)
    scratch = np.empty_like(gradient)
    for k in range(objective.n_parameters):
        shift = np.zeros_like(parameters)
        shift[k] = 1e-5
        up = objective.value_and_grad(parameters + shift, scratch)
        down = objective.value_and_grad(parameters - shift, scratch)
        assert gradient[k] == pytest.approx((up - down) / 2e-5, abs=1e-5)


@given(problems().filter(bool))
@settings(max_examples=30)
def test_ranges_of_sequences_add_up(problem):
    objective, parameters = problem.objective, problem.parameters
    whole = np.empty(objective.n_parameters)
    value = objective.value_and_grad(parameters, whole)
    total = float(np.sum(objective.l2 * parameters**2))
    gradient = 2 * objective.l2 * parameters
    for b in range(objective.n_sequences):
        part = np.empty_like(gradient)
        total += objective.value_and_grad(parameters, part, sequences=range(b, b + 1))
        gradient += part
    assert total == pytest.approx(value, abs=1e-9)
    np.testing.assert_allclose(gradient, whole, atol=1e-9)
