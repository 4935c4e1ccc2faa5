"""The objective of models of any order and over segments, against enumeration.

The oracle below scores a labelling by the formula of `trelliswork.models.model`, from dense weights
and comparisons of letter sequences: it knows neither automata nor the arrays of the core.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from segment_objective_cases import loss_by_enumeration, problems


@settings(max_examples=120)
@given(problem=problems(), n_jobs=st.sampled_from([1, 2]))
def test_value_and_gradient_equal_enumeration(problem, n_jobs):
    *_, objective, _, parameters = problem
    gradient = np.empty_like(parameters)
    value = objective.value_and_grad(parameters, gradient, n_jobs=n_jobs)
    assert value == pytest.approx(loss_by_enumeration(*problem), abs=1e-8)
    rng = np.random.default_rng(0)
    for _ in range(3):
        direction = rng.normal(size=parameters.size)
        step = 1e-5
        unused = np.empty_like(parameters)
        ahead, behind = (
            objective.value_and_grad(parameters + sign * step * direction, unused)
            for sign in (1, -1)
        )
        slope = (ahead - behind) / (2 * step)
        assert float(gradient @ direction) == pytest.approx(slope, rel=1e-5, abs=1e-6)


@given(problem=problems())
def test_ranges_of_sequences_add_up(problem):
    *_, objective, _, parameters = problem
    total, gradient = 0.0, np.zeros_like(parameters)
    for b in range(objective.n_sequences):
        part = np.empty_like(parameters)
        total += objective.value_and_grad(parameters, part, sequences=range(b, b + 1))
        gradient += part
    whole = np.empty_like(parameters)
    value = objective.value_and_grad(parameters, whole)
    penalty = float((objective.l2 * parameters**2).sum())
    assert total + penalty == pytest.approx(value, abs=1e-9)
    np.testing.assert_allclose(gradient + 2 * objective.l2 * parameters, whole, atol=1e-9)
