"""The objective against enumeration and finite differences."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from objective_cases import loss_by_enumeration, problems
from trelliswork.features import EncodedFeatures, FeatureMatrix
from trelliswork.labels.gold import GoldLabels
from trelliswork.labels.label_set import LabelSet
from trelliswork.learn.objective.objective import Objective
from trelliswork.models.structure import Structure


@settings(max_examples=150)
@given(problem=problems(), n_jobs=st.sampled_from([1, 2]))
def test_value_equals_enumeration(problem, n_jobs):
    *_, objective, parameters = problem
    gradient = np.empty(objective.n_parameters)
    value = objective.value_and_grad(parameters, gradient, n_jobs=n_jobs)
    assert value == pytest.approx(loss_by_enumeration(*problem), abs=1e-8)


@settings(max_examples=150)
@given(problem=problems(), n_jobs=st.sampled_from([1, 2]))
def test_gradient_equals_finite_differences(problem, n_jobs):
    *_, objective, parameters = problem
    gradient = np.empty(objective.n_parameters)
    objective.value_and_grad(parameters, gradient, n_jobs=n_jobs)
    scratch = np.empty_like(gradient)
    step = 1e-5
    for k in range(objective.n_parameters):
        shift = np.zeros_like(parameters)
        shift[k] = step
        up = objective.value_and_grad(parameters + shift, scratch)
        down = objective.value_and_grad(parameters - shift, scratch)
        assert gradient[k] == pytest.approx((up - down) / (2 * step), abs=1e-5)


@given(problem=problems())
def test_ranges_of_sequences_add_up(problem):
    *_, objective, parameters = problem
    whole = np.empty(objective.n_parameters)
    value = objective.value_and_grad(parameters, whole)
    total = float(objective.l2[0]) * float(parameters @ parameters)
    gradient = 2 * objective.l2 * parameters
    for b in range(objective.n_sequences):
        part = np.empty_like(gradient)
        total += objective.value_and_grad(parameters, part, sequences=range(b, b + 1))
        gradient += part
    assert total == pytest.approx(value, abs=1e-9)
    np.testing.assert_allclose(gradient, whole, atol=1e-9)


def test_a_loss_without_digits_is_nan():
    labels = LabelSet(["A", "B"])
    gold = GoldLabels.encode(labels, [["A", "B"]])
    offsets = np.array([0, 2])
    both = FeatureMatrix(np.array([0, 1, 2]), np.zeros(2, dtype=np.int32), None, 1)
    objective = Objective(
        EncodedFeatures(offsets, both, None), gold, Structure.chain(labels), pairs="all"
    )
    gradient = np.empty(objective.n_parameters)
    for size, has_digits in ((1e15, True), (1e30, False)):
        value = objective.value_and_grad(np.full(objective.n_parameters, size), gradient)
        assert np.isfinite(value) == has_digits


def test_the_same_number_of_threads_gives_the_same_bits():
    rng = np.random.default_rng(0)
    n_tokens, n_features = 600, 50
    indices = rng.integers(n_features, size=(n_tokens, 5)).astype(np.int32)
    matrix = FeatureMatrix(
        np.arange(0, 5 * n_tokens + 1, 5, dtype=np.int64), indices.ravel(), None, n_features
    )
    features = EncodedFeatures(np.arange(0, n_tokens + 1, 6, dtype=np.int64), matrix, None)
    gold = GoldLabels(rng.integers(4, size=n_tokens).astype(np.int32), None)
    objective = Objective(features, gold, Structure.chain(LabelSet(list("ABCD"))))
    parameters = rng.normal(size=objective.n_parameters)
    results = []
    for _ in range(3):
        gradient = np.empty_like(parameters)
        value = objective.value_and_grad(parameters, gradient, n_jobs=2)
        results.append((value, gradient.tobytes()))
    assert len(set(results)) == 1


def test_observed_pairs_only_have_weights():
    matrix = FeatureMatrix(
        np.array([0, 1, 2, 3], dtype=np.int64), np.array([0, 1, 0], dtype=np.int32), None, 2
    )
    features = EncodedFeatures(np.array([0, 3], dtype=np.int64), matrix, None)
    labels = LabelSet(["A", "B"])
    gold = GoldLabels.encode(labels, [["A", "B", "A"]])
    chain = Structure.chain(labels)
    # (0, A), (1, B) and the transitions A→B, B→A.
    assert Objective(features, gold, chain).n_parameters == 4
    assert Objective(features, gold, chain, pairs="all", transitions="all").n_parameters == 8


def test_unlabelled_tokens_show_no_pair_but_may_hold_any_transition():
    matrix = FeatureMatrix(
        np.array([0, 1, 2], dtype=np.int64), np.array([0, 1], dtype=np.int32), None, 2
    )
    features = EncodedFeatures(np.array([0, 2], dtype=np.int64), matrix, None)
    labels = LabelSet(["A", "B", "C"])
    gold = GoldLabels.encode(labels, [[None, {"A", "B"}]])
    # Feature 1 with A and with B; the six transitions from anything to A or B.
    assert Objective(features, gold, Structure.chain(labels)).n_parameters == 2 + 6
