"""The vectorised inner loops, one instruction set at a time, against the sparse path."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from nested_tests import run_tests
from strategies import sparse_chain
from trelliswork import _core, inference, srl_language
from trelliswork.automata.automaton import Automaton
from trelliswork.automata.product import product
from trelliswork.features import EncodedFeatures, FeatureMatrix
from trelliswork.inference.verbs import Trellis
from trelliswork.labels.gold import GoldLabels
from trelliswork.labels.label_set import LabelSet
from trelliswork.learn.objective.objective import Objective
from trelliswork.models.structure import Structure

INSTRUCTION_SETS = ("portable", "avx2", "avx512")  # from the lowest up
# Around every border between whole vectors, and more than one block of columns.
SIZES = (1, 2, 7, 8, 9, 16, 17, 24, 25, 32, 33, 40, 65)


@pytest.mark.parametrize("n_labels", SIZES)
@pytest.mark.parametrize("scale", [1.0, 20.0])
@pytest.mark.parametrize("positional", [False, True])
def test_dense_equals_sparse(n_labels, scale, positional):
    rng = np.random.default_rng(n_labels)
    offsets = [0, 1, 1, 30, 47]
    scores = scale * rng.normal(size=(47, n_labels))
    scores[rng.random(scores.shape) < 0.05] = -np.inf
    scores[:, 0] = np.maximum(scores[:, 0], -5.0)
    weights = scale * rng.normal(size=n_labels * n_labels)
    weights[rng.random(weights.shape) < 0.05] = -np.inf
    weights[0] = 0.0
    by_position = rng.normal(size=(47, weights.size + 1)) if positional else None
    dense = Trellis(
        scores,
        weights=weights,
        offsets=offsets,
        position_weights=None if by_position is None else by_position[:, :-1],
    )
    sparse = Trellis(
        scores,
        sparse_chain(n_labels),
        weights=[*weights, 0.0],
        offsets=offsets,
        position_weights=by_position,
    )
    one, two = inference.marginals(dense), inference.marginals(sparse)
    np.testing.assert_allclose(one.log_partition, two.log_partition, rtol=1e-12, atol=1e-10)
    np.testing.assert_allclose(one.labels, two.labels, atol=1e-10)
    np.testing.assert_allclose(one.pattern_counts, two.pattern_counts[:-1], atol=1e-10)
    best_one, best_two = inference.viterbi(dense), inference.viterbi(sparse)
    np.testing.assert_array_equal(best_one.labels, best_two.labels)
    np.testing.assert_allclose(best_one.scores, best_two.scores, rtol=1e-12)


@pytest.mark.parametrize("n_roles", [1, 3, 4, 7, 11])
@pytest.mark.parametrize("scale", [1.0, 20.0])
def test_packed_arcs_equal_single_arcs(n_roles, scale):
    """Blocks, shared tables and runs of a product, against the same arcs one by one."""
    language = srl_language(
        [f"c{i}" for i in range(min(n_roles, 3))], [f"n{i}" for i in range(n_roles)]
    )
    n_labels = language.n_labels
    rng = np.random.default_rng(n_roles)
    offsets = [0, 1, 1, 20, 31]
    scores = scale * rng.normal(size=(31, n_labels))
    scores[rng.random(scores.shape) < 0.05] = -np.inf
    scores[:, 0] = np.maximum(scores[:, 0], -5.0)
    weights = scale * rng.normal(size=n_labels * n_labels)
    for candidate in (language, language.minimise()):
        automaton = product(Automaton.chain(n_labels), candidate).automaton
        trellis = Trellis(scores, automaton, weights=weights, offsets=offsets)
        packed = inference.marginals(trellis)
        single = inference.marginals(trellis, arcs=True)
        np.testing.assert_allclose(packed.log_partition, single.log_partition, rtol=1e-12)
        np.testing.assert_allclose(packed.labels, single.labels, atol=1e-10)
        np.testing.assert_allclose(packed.pattern_counts, single.pattern_counts, atol=1e-10)
        np.testing.assert_allclose(packed.entropy, single.entropy, atol=1e-8)
        best = inference.viterbi(trellis)
        second = inference.kbest(trellis, 1)
        np.testing.assert_array_equal(best.labels, second.labels[0])
        assert candidate.accepts_batch(best.labels, np.array(offsets)).all()


def test_sources_of_one_context_share_a_row():
    """States 1 and 2 are both entered by b and by c, and go the same ways."""
    arcs = [(0, 0, 3), (0, 1, 1), (0, 2, 1), (3, 1, 2), (3, 2, 2), (3, 0, 3)]
    arcs += [(state, label, 4) for state in (1, 2, 4) for label in range(3)]
    language = Automaton(5, 3, *zip(*arcs, strict=True))
    rng = np.random.default_rng(0)
    trellis = Trellis(
        rng.normal(size=(12, 3)),
        product(Automaton.chain(3), language).automaton,
        weights=rng.normal(size=9),
    )
    packed, single = (inference.marginals(trellis, arcs=arcs) for arcs in (False, True))
    np.testing.assert_allclose(packed.pattern_counts, single.pattern_counts, atol=1e-12)
    np.testing.assert_allclose(packed.labels, single.labels, atol=1e-12)


@pytest.mark.parametrize("n_labels", SIZES)
@pytest.mark.parametrize("real", [False, True])
def test_feature_scores_and_gradients_equal_matrix_products(n_labels, real):
    rng = np.random.default_rng(n_labels)
    n_tokens, n_features = 40, 30
    dense = (rng.random((n_tokens, n_features)) < 0.2) * (
        rng.normal(size=(n_tokens, n_features)) if real else 1.0
    )
    rows, columns = np.nonzero(dense)
    matrix = FeatureMatrix(
        np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n_tokens))]).astype(np.int64),
        columns.astype(np.int32),
        dense[rows, columns] if real else None,
        n_features,
    )
    features = EncodedFeatures(np.array([0, 15, n_tokens], dtype=np.int64), matrix, None)
    # Few labels a feature here, many there: both layouts of the weights are used.
    gold = GoldLabels((rng.random(n_tokens) ** 3 * n_labels).astype(np.int32), None)
    labels = LabelSet([f"y{i}" for i in range(n_labels)])
    objective = Objective(features, gold, Structure.chain(labels))
    parameters = rng.normal(size=objective.n_parameters)
    model = objective.model(parameters, None)
    table = np.zeros((n_features, n_labels))
    table[model.state.features, model.state.outputs] = model.state.weights
    np.testing.assert_allclose(
        model.state.score(matrix, n_labels, 2), dense @ table, rtol=1e-12, atol=1e-12
    )
    gradient = np.empty_like(parameters)
    objective.value_and_grad(parameters, gradient, n_jobs=2)
    trellis = Trellis(dense @ table, weights=model.transitions, offsets=features.offsets)
    signal = inference.marginals(trellis).labels - (gold.ids[:, None] == np.arange(n_labels))
    expected = (dense.T @ signal)[model.state.features, model.state.outputs]
    np.testing.assert_allclose(gradient[: expected.size], expected, atol=1e-10)


@pytest.mark.skipif("TRELLISWORK_ISA" in os.environ, reason="already held to one instruction set")
@pytest.mark.parametrize("wanted", INSTRUCTION_SETS[:-1])
def test_every_instruction_set(wanted):
    """The tests above once more, in a process that is held to a lower instruction set."""
    best = _core.instruction_set()
    done = subprocess.run(
        [sys.executable, "-c", "from trelliswork import _core; print(_core.instruction_set())"],
        env=os.environ | {"TRELLISWORK_ISA": wanted},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    held_to = done.stdout.strip()
    assert held_to == min(wanted, best, key=INSTRUCTION_SETS.index)
    if held_to == best:
        pytest.skip("the tests above have run on it")
    run_tests(__file__, TRELLISWORK_ISA=wanted)
