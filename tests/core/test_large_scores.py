"""Scores of any size: sums that are right to 1e-6, or refused by name."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from oracle import enumerate_paths, exact_shares
from strategies import large_scores, sparse_chain, trellises
from trelliswork import inference
from trelliswork.errors import PrecisionError
from trelliswork.inference.sums import log_ratio, log_sums
from trelliswork.inference.trellis import Trellis


@settings(max_examples=400)
@given(trellis=trellises(elements=large_scores), n_jobs=st.sampled_from([1, 2]))
def test_sums_are_right_or_refused(trellis, n_jobs):
    for b in range(trellis.n_sequences):
        own = one_sequence(trellis, b)
        paths = enumerate_paths(own)
        try:
            found = inference.marginals(own, arcs=True, n_jobs=n_jobs)
        except PrecisionError:
            with pytest.raises(PrecisionError, match="sequence 0"):
                inference.log_partition(own)
            continue
        for kind in (found.segments, found.labels, found.arcs):
            assert kind is not None
            assert ((kind >= 0.0) & (kind <= 1.0 + 1e-12)).all()
        if not paths:
            assert found.log_partition[0] == -np.inf
            continue
        shares, log_z = exact_shares(paths)
        assert found.log_partition[0] == pytest.approx(log_z, rel=1e-6, abs=1e-6)
        expected = np.zeros(own.scores.shape)
        for path, p in zip(paths, shares, strict=True):
            for t, d, y in path.segments:
                expected[t, d - 1, y] += p
        np.testing.assert_allclose(found.segments, expected, atol=2e-6)
        entropy = -sum(p * np.log(p) for p in shares if p > 0.0)
        assert found.entropy[0] == pytest.approx(entropy, abs=1e-5)


@given(trellis=trellises(elements=large_scores), seed=st.integers(0, 100))
def test_samples_are_likely_or_refused(trellis, seed):
    for b in range(trellis.n_sequences):
        own = one_sequence(trellis, b)
        paths = enumerate_paths(own)
        try:
            labels, begins = inference.sample(own, 3, random_state=seed)
        except PrecisionError:
            continue
        if not paths:
            assert (labels == -1).all()
            continue
        drawn: dict[tuple, float] = {}
        for path, p in zip(paths, exact_shares(paths)[0], strict=True):
            key = (path.labels, path.begins)
            drawn[key] = drawn.get(key, 0.0) + p
        for y, begin in zip(labels, begins, strict=True):
            assert drawn[tuple(y.tolist()), tuple(begin.tolist())] > 1e-9


def one_sequence(trellis: Trellis, b: int) -> Trellis:
    return inference.trellis.derive(trellis, sequences=np.array([b]))


@pytest.mark.parametrize("size", [1e12, 1e16, 1e17, 1e20, 1e300])
def test_weights_that_no_path_takes_cost_no_digits(size):
    segments = Trellis([[[-0.13, 0.64], [0.0, 0.0]]], weights=np.full((2, 2), size))
    assert inference.log_partition(segments)[0] == pytest.approx(1.0204980462)
    # Label 1 is forbidden after the first token, so that nobody leads to it.
    phi = np.array([[0.5, -1.0], [0.2, -np.inf], [0.1, -np.inf]])
    weights = np.array([[0.3, size], [0.1, -0.2]])
    for automaton, psi in ((None, weights), (sparse_chain(2), [*weights.ravel(), 0.0])):
        trellis = Trellis(phi, automaton, weights=psi)
        _, log_z = exact_shares(enumerate_paths(trellis))
        found = inference.marginals(trellis)
        assert found.log_partition[0] == pytest.approx(log_z)
        np.testing.assert_allclose(found.labels.sum(axis=1), 1.0)


def test_what_a_path_takes_and_gives_back_costs_the_others_no_digits():
    weights = [[0.0, 1e17], [-1e17, 0.0]]
    phi = [[0.25, -np.inf], [0.5, 0.125], [0.75, -np.inf]]
    for automaton, psi in ((None, weights), (sparse_chain(2), [*np.ravel(weights), 0.0])):
        found = inference.marginals(Trellis(phi, automaton, weights=psi))
        assert found.log_partition[0] == pytest.approx(np.log(np.exp(1.5) + np.exp(1.125)))
        assert found.labels[1, 1] == pytest.approx(1.0 / (1.0 + np.exp(0.375)))


def test_the_share_of_a_part_has_digits_where_the_sums_have_none():
    trellis = Trellis([[1e17, 1e17], [0.25, -0.25]])
    inside = log_sums(trellis, allowed=[[True, True], [True, False]])
    total = log_sums(trellis)
    share = 1.0 / (1.0 + np.exp(-0.5))
    assert log_ratio(inside, total)[0] == pytest.approx(np.log(share))
    assert np.exp(inference.log_probability(trellis, [1, 0]))[0] == pytest.approx(share / 2)


@pytest.mark.parametrize("verb", [inference.log_partition, inference.marginals, inference.entropy])
def test_lost_digits_are_refused_by_name(verb):
    trellis = Trellis([[0.0, 1.0], [1e30, 1e30], [-1e30, 0.5]], offsets=[0, 1, 3])
    with pytest.raises(PrecisionError, match=r"sequence 1: .* scores as large as 1e\+30") as caught:
        verb(trellis)
    assert caught.value.sequence == 1
    with pytest.raises(PrecisionError, match="sequence 1"):
        inference.sample(trellis, 1)
    assert inference.viterbi(trellis).labels.tolist() == [1, 0, 1]


def test_start_and_end_scores_that_cancel_keep_their_digits():
    trellis = Trellis([[1e17, 0.3], [0.1, -1e17]], start=[-1e17, 0.25], end=[0.75, 1e17])
    shares, log_z = exact_shares(enumerate_paths(trellis))
    assert inference.log_partition(trellis)[0] == pytest.approx(log_z)
    assert sorted(shares)[-2] > 0.1
