"""Constraints on semi-Markov models of any order, against enumeration."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from oracle import log_sum_exp
from segment_cases import SegmentCase, segment_cases
from trelliswork.constraints import (
    at_most,
    changes_only_at,
    contiguous,
    exactly,
    matches,
    only_on,
    token,
    where,
)
from trelliswork.constraints.monitors_on_segments import compile_on_segments
from trelliswork.decoding.describe import describe_batch
from trelliswork.decoding.exact import decode_batch, decode_nbest_batch
from trelliswork.decoding.on_products import constrained_trellis
from trelliswork.errors import InfeasibleError, LabelError, RuleError
from trelliswork.inference.verbs import Trellis, kbest, log_partition, marginals, viterbi
from trelliswork.labels.label_set import LabelSet
from trelliswork.labels.segmentation import Segmentation
from trelliswork.planning.plan import plan

PLAIN = Segmentation(LabelSet(["author", "title", "year"]), (3, 3, 1))
BIO = Segmentation(LabelSet(["B-PER", "I-PER", "O"], scheme="bio"), (3, 1))


def spans(trellis):
    return list(zip(trellis.offsets.tolist(), trellis.offsets[1:].tolist(), strict=False))


@given(segment_cases())
@settings(max_examples=50)
def test_sums_run_over_the_segmentations_that_satisfy_all_rules(case: SegmentCase):
    rules = case.plan
    free = case.trellis
    evidence = rules.evidence(case.sentences, free.offsets)
    together = constrained_trellis(rules, free, evidence)
    found = log_partition(together)
    posterior = marginals(together)
    for b, (first, last) in enumerate(spans(free)):
        paths = case.paths(b)
        expected = log_sum_exp(list(paths.values()))
        assert found[b] == pytest.approx(expected, abs=1e-9)
        tags = np.zeros((last - first, 2 * case.segmentation.n_letters))
        for own, score in paths.items():
            tags[np.arange(last - first), own] += np.exp(score - expected)
        np.testing.assert_allclose(posterior.tags[first:last].reshape(tags.shape), tags, atol=1e-8)


@given(segment_cases(), st.integers(1, 4))
@settings(max_examples=50)
def test_lazy_decoding_finds_the_best_segmentations(case: SegmentCase, k: int):
    rules, free = case.plan, case.trellis
    evidence = rules.evidence(case.sentences, free.offsets)
    paths = [case.paths(b) for b in range(len(case.sentences))]
    if not all(paths):
        with pytest.raises(InfeasibleError):
            decode_batch(rules, free, evidence)
        return
    lazy = decode_nbest_batch(rules, free, evidence, k)
    together = constrained_trellis(rules, free, evidence)
    eager = kbest(together, k)
    np.testing.assert_allclose(viterbi(together).scores, eager.scores[:, 0], atol=1e-9)
    for b, (first, last) in enumerate(spans(free)):
        expected = sorted(paths[b].values(), reverse=True)[:k]
        scores = [rank.scores[b] for rank in lazy if np.isfinite(rank.scores[b])]
        np.testing.assert_allclose(scores, expected, atol=1e-9)
        np.testing.assert_allclose(eager.scores[b][: len(expected)], expected, atol=1e-9)
        for rank, score in zip(lazy, scores, strict=False):
            assert paths[b][tuple(rank.tags[first:last].tolist())] == pytest.approx(score)


@given(segment_cases(), st.data())
@settings(max_examples=40)
def test_rules_accept_what_the_judge_accepts(case: SegmentCase, data):
    rules, free = case.plan, case.trellis
    evidence = rules.evidence(case.sentences, free.offsets)
    drawn = [data.draw(st.sampled_from(case.all_paths(b))) for b in range(len(case.sentences))]
    tags = np.array([t for path in drawn for t in case.tags(path)], dtype=np.int32)
    for i in rules.hard_rules:
        expected = [
            rules.constraints[i].violations(
                case.labels_of(case.tags(path)), sentence, scheme=rules.labels
            )
            == 0
            for path, sentence in zip(drawn, case.sentences, strict=True)
        ]
        assert rules.hard.accepts(i, tags, evidence).tolist() == expected


@given(segment_cases(rules=4))
@settings(max_examples=25)
def test_relaxed_answers_are_the_best_under_what_is_kept(case: SegmentCase):
    rules, free = case.plan, case.trellis
    evidence = rules.evidence(case.sentences, free.offsets)
    found = decode_batch(rules, free, evidence, on_infeasible="relax")
    answers = describe_batch(rules, evidence, found)
    for b, answer in enumerate(answers):
        kept = found.kept.get(b, range(len(rules.constraints)))
        under = SegmentCase(
            case.segmentation,
            case.model,
            tuple(rules.constraints[i] for i in kept),
            case.sentences,
            case.scores,
            case.weights,
        )
        assert answer.score == pytest.approx(max(under.paths(b).values()))
        assert (answer.status == "optimal") == bool(case.paths(b))


def test_expressions_read_segments():
    rules = plan(PLAIN.labels, "author title year?", segmentation=PLAIN)
    assert repr(rules.constraints[0]) == "matches('author title year?', unit='segment')"
    # The more tokens a title has, the better; and authors are better than years.
    scores = PLAIN.blank_scores(6) + np.array([0.0, 0.0, -9.0])
    scores[:, 2, 1] += 5.0
    trellis = Trellis(scores, rules.model)
    evidence = rules.evidence([["x"] * 6], trellis.offsets)
    (answer,) = describe_batch(rules, evidence, decode_batch(rules, trellis, evidence))
    assert answer.labels == ["author"] * 3 + ["title"] * 3
    assert answer.method == "product"


@pytest.mark.parametrize(
    "rule",
    [
        contiguous("author", unit="token"),
        matches("author+ title* year", unit="token"),
        at_most(1, "year", unit="token"),  # a year is one token
        exactly(0, "author", unit="token"),
    ],
)
def test_token_rules_that_do_not_count_inside_segments(rule):
    assert not compile_on_segments(rule, PLAIN, 1000).is_empty


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (at_most(1, "author", unit="token"), "how many tokens a segment of 'author' has"),
        (matches("author title title", unit="token"), "Use unit='segment'"),
        (
            at_most(1, "author") | only_on(token(regex="x"), "title"),
            "asks tests of the tokens inside a segment of 'title'",
        ),
    ],
)
def test_rules_that_depend_on_lengths_are_refused(rule, message):
    with pytest.raises(RuleError, match=message):
        plan(PLAIN.labels, rule, segmentation=PLAIN)


def test_token_names_in_an_expression_over_segments():
    with pytest.raises(LabelError, match="'B-PER' is a token label and no segment"):
        plan(BIO.labels, "B-PER O*", segmentation=BIO)


def test_position_wise_rules_become_masks_of_tags():
    rule = where(token(regex="x")).allow("B-PER")
    rules = plan(BIO.labels, [rule, changes_only_at(token(regex="x"))], segmentation=BIO)
    assert rules.masks == (0,)
    evidence = rules.evidence([["x", "y"]], np.array([0, 2]))
    mask = rules.tag_mask(evidence.mask(rules.masked((0,))))
    assert mask.tolist() == [[[True, False], [False, False]], [[True, True], [True, True]]]
