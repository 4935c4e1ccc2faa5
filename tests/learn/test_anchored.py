"""Learning near an earlier model: its optimum, and its two limits."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

import trelliswork as tw
from trelliswork.learn.anchored import learn_near

X = [["ann", "met", "bob"], ["bob", "met", "ann"], ["the", "nets"]]
Y = [["A", "B", "A"], ["A", "B", "A"], ["B", "B"]]
NEW_X = [["the", "bob"], ["met", "nets", "ann"]]
NEW_Y = [["A", "B"], ["B", "A", "A"]]


@pytest.fixture(scope="module")
def model():
    return tw.CRFTagger(features="word[0]\nword[-1]\nbias", l2=0.3).fit(X, Y).model_


def weights_of(model):
    """Return all weights in a table of features and labels, and the transitions."""
    table = np.zeros((len(model.encoder.feature_names()), 2))
    state = model.state
    for feature in range(len(table)):
        own = slice(state.offsets[feature], state.offsets[feature + 1])
        table[feature, state.outputs[own]] = state.weights[own]
    return table, model.pattern_weights


def negative_log_likelihood(model, sequences, labels, weights):
    from trelliswork.inference.verbs import log_probability

    trellis = model.trellis(sequences)
    ids = model.structure.labels.encode([label for own in labels for label in own])
    return -float(weights @ log_probability(trellis, ids))


def test_the_optimum_of_the_objective(model):
    weights, l2 = np.array([1.0, 0.3]), 0.5
    found = learn_near(model, NEW_X, NEW_Y, l2=l2, weights=weights, max_iter=500, least_move=0.0)
    old_table, old_patterns = weights_of(model)

    def cost(candidate):
        table, patterns = weights_of(candidate)
        moved = np.concatenate([(table - old_table).ravel(), patterns - old_patterns])
        return negative_log_likelihood(candidate, NEW_X, NEW_Y, weights) + l2 * moved @ moved

    best = cost(found)
    assert best < cost(model)
    # Along any line through it, the point found is the lowest.
    from dataclasses import replace

    rng = np.random.default_rng(0)
    for _ in range(20):
        direction = rng.normal(size=found.state.weights.size)
        patterns = rng.normal(size=found.pattern_weights.size)

        def along(step, direction=direction, patterns=patterns):
            state = replace(found.state, weights=found.state.weights + step * direction)
            return cost(
                replace(found, state=state, pattern_weights=found.pattern_weights + step * patterns)
            )

        lowest = minimize(lambda step: along(float(step[0])), [0.1], method="Nelder-Mead")
        assert lowest.fun >= best - 1e-6


def test_a_strong_prior_keeps_the_model(model):
    found = learn_near(model, NEW_X, NEW_Y, l2=1e9)
    np.testing.assert_allclose(weights_of(found)[0], weights_of(model)[0], atol=1e-6)
    assert found.encoder is model.encoder


def test_a_weak_one_learns_the_new_labels(model):
    found = learn_near(model, NEW_X, NEW_Y, l2=1e-3)
    tagger = tw.CRFTagger(features="word[0]\nword[-1]\nbias", l2=0.3).fit(X, Y)
    tagger.model_ = found
    assert tagger.predict(NEW_X) == NEW_Y


def test_unseen_features_keep_their_weights(model):
    found = learn_near(model, [["zebra"]], [["A"]], l2=0.1)
    names = model.encoder.feature_names()
    unseen = [i for i, name in enumerate(names) if "word[0]" in name]
    np.testing.assert_array_equal(weights_of(found)[0][unseen], weights_of(model)[0][unseen])


def test_moves_that_are_next_to_nothing_are_not_made(model):
    whole = learn_near(model, NEW_X, NEW_Y, l2=0.5, least_move=0.0)
    found = learn_near(model, NEW_X, NEW_Y, l2=0.5, least_move=0.25)
    assert found.state.weights.size < whole.state.weights.size
    assert found.state.weights.all()
    old, new = (weights_of(own)[0] for own in (model, found))
    moved = np.abs(new - old)
    assert (moved[moved > 0.0] > 0.25 - 1e-9).all()
    np.testing.assert_allclose(new, weights_of(whole)[0], atol=0.25)
    assert found.encoder is model.encoder
    assert learn_near(found, NEW_X, NEW_Y, l2=0.5).state.weights.size >= found.state.weights.size
