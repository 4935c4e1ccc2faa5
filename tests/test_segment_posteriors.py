"""Posteriors of tokens from those of segments, against the paths that they are sums over."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from oracle import enumerate_paths, log_sum_exp
from segment_cases import SegmentCase, segment_cases
from trelliswork import inference
from trelliswork.decoding.probabilities import span_probabilities, token_marginals
from trelliswork.inference.segment_posteriors import (
    label_posteriors,
    segment_posteriors,
    tag_posteriors,
)
from trelliswork.inference.trellis import Trellis
from trelliswork.labels.label_set import LabelSet
from trelliswork.labels.segmentation import Segmentation
from trelliswork.planning.plan import Plan


@given(segment_cases(rules=0))
@settings(max_examples=50)
def test_tokens_are_covered_by_segments(case: SegmentCase):
    trellis = case.trellis
    n_letters = case.segmentation.n_letters
    expected = np.zeros((trellis.n_tokens, 2 * n_letters))
    for b, first in enumerate(trellis.offsets[:-1].tolist()):
        paths = enumerate_paths(trellis, b)
        log_z = log_sum_exp([path.score for path in paths])
        for path in paths:
            for t, tag in enumerate(case.tags(path)):
                expected[first + t, tag] += np.exp(path.score - log_z)
    segments = segment_posteriors(trellis, n_jobs=1)
    tags = expected.reshape(-1, 2, n_letters)
    np.testing.assert_allclose(tag_posteriors(segments), tags, atol=1e-9)
    np.testing.assert_allclose(label_posteriors(segments), tags.sum(axis=1), atol=1e-9)
    found = inference.marginals(trellis, n_jobs=1)
    np.testing.assert_array_equal(found.segments, segments)
    np.testing.assert_array_equal(found.tags, tag_posteriors(segments))


def test_sequences_do_not_leak_into_their_neighbours():
    rng = np.random.default_rng(0)
    own = [rng.normal(size=(n, 5, 2)) for n in (3, 1, 0, 4)]
    together = segment_posteriors(Trellis.from_sequences(own))
    alone = [segment_posteriors(Trellis(scores)) for scores in own]
    for of in (label_posteriors, tag_posteriors):
        apart = np.concatenate([of(segments) for segments in alone])
        np.testing.assert_allclose(of(together), apart, atol=1e-12)
    np.testing.assert_allclose(label_posteriors(together).sum(axis=1), 1.0)


def test_only_those_who_ask_pay_for_the_entropy(monkeypatch):
    """It takes a pass arc by arc where weights depend on the position."""
    asked = []
    made = Trellis._batch

    class Watched:
        def __init__(self, batch):
            self.batch = batch

        def posteriors(self, log_z, segments, counts, arcs, entropy):
            asked.append(entropy is not None)
            self.batch.posteriors(log_z, segments, counts, arcs, entropy)

    monkeypatch.setattr(Trellis, "_batch", lambda *args: Watched(made(*args)))
    segmentation = Segmentation(LabelSet(["a", "b"]), (2, 2))
    rules = Plan(segmentation.labels, (), segmentation=segmentation)
    trellis = Trellis(segmentation.blank_scores(3), rules.model)
    inference.max_marginal(trellis)
    token_marginals(rules, trellis)
    span_probabilities(rules, trellis, [[(0, 2, "a")]])
    assert asked == [False] * 3
    assert inference.marginals(trellis).entropy == pytest.approx(inference.entropy(trellis))
    assert asked[3:] == [True, True]
