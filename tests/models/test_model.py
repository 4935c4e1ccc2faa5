"""Models: scores from the formula of `trelliswork.models.model`, and their arrays in files."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest
from hypothesis import given

from oracle import enumerate_paths
from segment_objective_cases import problems, scored_labellings
from trelliswork.models.model import CRFModel


def scores_of(model, tokens) -> dict[tuple[int, ...], float]:
    """Return the score of each labelling, by its tags."""
    n_letters = model.structure.n_letters
    return {
        tuple(
            y if begins else y + n_letters
            for y, begins in zip(path.labels, path.begins, strict=True)
        ): path.score
        for path in enumerate_paths(model.trellis([tokens]))
    }


@given(problems())
def test_scores_are_the_formula(problem):
    X, _, _, objective, encoder, parameters = problem
    model = objective.model(parameters, encoder)
    for tokens in X:
        expected = {tuple(tags): score for tags, score in scored_labellings(model, tokens)}
        assert scores_of(model, tokens) == pytest.approx(expected, abs=1e-9)


@given(problems())
def test_a_stored_model_scores_the_same(problem):
    X, _, _, objective, encoder, parameters = problem
    model = objective.model(parameters, encoder)
    settings = json.loads(json.dumps(model.settings()))
    for other in (CRFModel.restore(settings, model.arrays()), pickle.loads(pickle.dumps(model))):
        assert other.structure == model.structure
        one, two = other.trellis(X), model.trellis(X)
        np.testing.assert_allclose(one.scores, two.scores, rtol=1e-12)
        np.testing.assert_array_equal(one.weights, two.weights)
