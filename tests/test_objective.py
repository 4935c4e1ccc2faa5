"""The objective against enumeration and finite differences."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracle import enumerate_paths, log_sum_exp
from trelliswork.features import EncodedFeatures, FeatureMatrix
from trelliswork.labels.gold import GoldLabels
from trelliswork.labels.label_set import LabelSet
from trelliswork.learn.objective.objective import Objective
from trelliswork.models.structure import Structure


class NoEncoder:
    """Stands in where only the weights of a model are wanted."""

    def __init__(self, features: EncodedFeatures) -> None:
        self.features = features

    def transform(self, sequences, *, n_jobs=1):
        return self.features


def matrices(draw, n_tokens: int, n_features: int, real: bool) -> FeatureMatrix:
    rows = [
        draw(st.lists(st.integers(0, n_features - 1), max_size=n_features, unique=True))
        for _ in range(n_tokens)
    ]
    indices = np.array([f for row in rows for f in row], dtype=np.int32)
    values = None
    if real:
        values = np.array(
            draw(st.lists(st.floats(-2, 2), min_size=indices.size, max_size=indices.size)),
            dtype=float,
        )
    indptr = np.cumsum([0, *(len(row) for row in rows)]).astype(np.int64)
    return FeatureMatrix(indptr, indices, values, n_features)


@st.composite
def problems(draw):
    names = ["A", "B", "C"][: draw(st.integers(1, 3))]
    lengths = draw(st.lists(st.integers(0, 3), min_size=1, max_size=3))
    n_tokens = sum(lengths)
    some = st.sets(st.sampled_from(names), min_size=1).map(frozenset)
    label = st.one_of(st.sampled_from(names), st.none(), some)
    kind = draw(st.sampled_from([st.sampled_from(names), label]))
    flat = draw(st.lists(kind, min_size=n_tokens, max_size=n_tokens))
    offsets = np.cumsum([0, *lengths]).astype(np.int64)
    features = EncodedFeatures(
        offsets,
        matrices(draw, n_tokens, draw(st.integers(1, 5)), draw(st.booleans())),
        matrices(draw, n_tokens, 2, draw(st.booleans())) if draw(st.booleans()) else None,
    )
    weights = draw(
        st.one_of(
            st.none(), st.lists(st.floats(0, 3), min_size=len(lengths), max_size=len(lengths))
        )
    )
    labels = LabelSet(names)
    sequences = [flat[a:b] for a, b in itertools.pairwise(offsets)]
    gold = GoldLabels.encode(labels, sequences)
    objective = Objective(
        features,
        gold,
        Structure.chain(labels),
        weights=None if weights is None else np.array(weights),
        l2=draw(st.sampled_from([0.0, 0.5])),
        pairs=draw(st.sampled_from(["observed", "all"])),
        transitions=draw(st.sampled_from(["observed", "all"])),
    )
    parameters = np.array(
        draw(
            st.lists(
                st.floats(-2, 2), min_size=objective.n_parameters, max_size=objective.n_parameters
            )
        ),
        dtype=float,
    )
    return features, labels, flat, weights, objective, parameters


def loss_by_enumeration(features, labels, flat, weights, objective, parameters) -> float:
    model = objective.model(parameters, NoEncoder(features))
    trellis = model.trellis([])
    allowed = labels.allowed(flat)
    total = float(objective.l2[0]) * float(parameters @ parameters)
    for b in range(trellis.n_sequences):
        weight = 1.0 if weights is None else weights[b]
        every = log_sum_exp([p.score for p in enumerate_paths(trellis, b)])
        inside = log_sum_exp([p.score for p in enumerate_paths(trellis, b, allowed)])
        total += weight * (every - inside)
    return total


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
