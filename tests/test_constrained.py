"""Sums, lists and samples under soft constraints, against enumeration."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from oracle import log_sum_exp
from soft_cases import soft_cases
from trelliswork.constraints import at_most, exactly
from trelliswork.decoding.on_products import constrained_trellis, feasible_trellises
from trelliswork.errors import RuleError
from trelliswork.inference.verbs import Trellis, kbest, log_partition, marginals, sample
from trelliswork.labels.label_set import LabelSet
from trelliswork.planning.plan import Plan, plan


@given(soft_cases())
@settings(max_examples=60)
def test_probabilities_are_those_of_priced_scores(case):
    trellis = case.trellis
    planned = Plan(case.labels, case.constraints)
    evidence = planned.evidence(case.sentences, trellis.offsets)
    under = constrained_trellis(planned, trellis, evidence)
    log_z = log_partition(under, n_jobs=1)
    possible = [b for b in range(len(case.sentences)) if case.priced(b)]
    assert np.flatnonzero(np.isfinite(log_z)).tolist() == possible
    for b in possible:
        expected = case.priced(b)
        total = log_sum_exp(list(expected.values()))
        probabilities = {ids: np.exp(score - total) for ids, score in expected.items()}
        one = constrained_trellis(
            planned, Trellis(case.scores[b], weights=case.transitions), evidence.take(np.array([b]))
        )
        found = marginals(one, n_jobs=1).labels
        by_hand = np.zeros_like(found)
        for ids, probability in probabilities.items():
            by_hand[np.arange(len(ids)), list(ids)] += probability
        np.testing.assert_allclose(found, by_hand, atol=1e-9)
        best = kbest(one, 3, n_jobs=1)
        listed = np.exp(best.scores[0] - log_partition(one, n_jobs=1)[0])
        ranked = sorted(probabilities.values(), reverse=True)[:3]
        np.testing.assert_allclose(listed[: len(ranked)], ranked, atol=1e-9)


def test_samples_follow_the_penalty():
    planned = plan(LabelSet(["a", "b"]), at_most(0, "b", unit="token").soft(1.0))
    trellis = Trellis(np.zeros((2, 2)))
    under = constrained_trellis(planned, trellis, planned.evidence([["x", "x"]], trellis.offsets))
    drawn, _ = sample(under, 4000, random_state=0, n_jobs=1)
    share = (drawn == 1).mean()
    assert share == pytest.approx(np.exp(-1) / (1 + np.exp(-1)), abs=0.02)


@pytest.mark.parametrize("how", ["relax", "unconstrained"])
def test_soft_constraints_stay_where_hard_ones_are_relaxed(how):
    labels = LabelSet(["a", "b"])
    rules = [exactly(2, "a"), at_most(0, "b").soft(1.0)]
    planned = plan(labels, rules)
    trellis = Trellis(np.zeros((1, 2)))
    evidence = planned.evidence([["x"]], trellis.offsets)
    (_, whole), (_, relaxed) = feasible_trellises(planned, trellis, evidence, on_infeasible=how)
    assert whole.n_sequences == 0
    chance = marginals(relaxed, n_jobs=1).labels[0]
    weight = np.exp(-1.0) if how == "relax" else 1.0
    np.testing.assert_allclose(chance, [1 / (1 + weight), weight / (1 + weight)])


def test_penalties_that_are_not_known_are_refused():
    planned = plan(LabelSet(["a", "b"]), at_most(0, "b").soft())
    trellis = Trellis(np.zeros((1, 2)))
    with pytest.raises(RuleError, match="No penalty is known"):
        constrained_trellis(planned, trellis, planned.evidence([["x"]], trellis.offsets))


def test_offsets_of_a_batch_stay_apart():
    planned = plan(LabelSet(["a", "b"]), exactly(1, "a").soft(2.0))
    offsets = np.array([0, 0, 1, 3])
    trellis = Trellis(np.zeros((3, 2)), offsets=offsets)
    evidence = planned.evidence([[], ["x"], ["x", "y"]], offsets)
    under = constrained_trellis(planned, trellis, evidence)
    log_z = log_partition(under, n_jobs=1)
    violations = [[1], [0, 1], [0, 0, 0, 1]]  # of all labellings; equal neighbours are a segment
    for b, degrees in enumerate(violations):
        assert log_z[b] - 2.0 * 1 == pytest.approx(log_sum_exp([-2.0 * v for v in degrees]))
