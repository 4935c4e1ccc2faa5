"""Batches: every sequence once, in order, and in no more memory than allowed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from segment_objective_cases import problems
from trelliswork.models import batches
from trelliswork.models.batches import decoded_batches, scored_batches, token_offsets
from trelliswork.planning.plan import Plan


def plan_of(model) -> Plan:
    structure = model.structure
    return Plan(
        structure.labels, (), model=structure.automaton, segmentation=structure.segmentation
    )


@given(problems(), st.integers(1, 60))
def test_batches_cover_all_sequences_in_order(problem, at_once):
    X, _, _, objective, encoder, parameters = problem
    model = objective.model(parameters, encoder)
    structure, segmentation = model.structure, model.segmentation
    size = 0 if segmentation is None else structure.n_durations * structure.n_letters  # a token
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batches, "SCORES_AT_ONCE", at_once)
        found = list(scored_batches(model, plan_of(model), X, 1))
    assert [number for batch in found for number in batch.numbers] == list(range(len(X)))
    assert [tokens for batch in found for tokens in batch.sequences] == X
    whole, first = model.trellis(X).scores, 0
    for batch in found:
        offsets = token_offsets(batch.sequences)
        np.testing.assert_array_equal(batch.trellis.offsets, offsets)
        assert len(batch.numbers) == 1 or offsets[-1] * size <= at_once
        # A batch of short sequences has no scores of longer segments.
        own = batch.trellis.scores
        last = first + own.shape[0]
        np.testing.assert_allclose(own, whole[first:last, : own.shape[1]], rtol=1e-12)
        first = last


@given(problems())
def test_batches_do_not_change_answers(problem):
    X, _, _, objective, encoder, parameters = problem
    model = objective.model(parameters, encoder)
    plan = plan_of(model)

    def scores(at_once: int) -> list[float]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(batches, "SCORES_AT_ONCE", at_once)
            found = decoded_batches(
                model, plan, X, k=1, allowed=None, on_infeasible="error", n_jobs=1
            )
            return [score for _, own in found for score in own[0].scores]

    assert scores(1) == pytest.approx(scores(10**6), abs=1e-9)
