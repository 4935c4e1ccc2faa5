"""Answers of taggers with segments and of high order, against enumeration."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from oracle import enumerate_paths, log_sum_exp
from segment_cases import SegmentCase, segment_cases
from strategies import arrays, ordinary
from trelliswork.automata.patterns import Patterns
from trelliswork.constraints import at_most, starts_with
from trelliswork.errors import InfeasibleError, LabelError
from trelliswork.inference.verbs import Trellis
from trelliswork.labels.label_set import LabelSet
from trelliswork.labels.segmentation import Segmentation
from trelliswork.labels.segments import Span
from trelliswork.models import batches
from trelliswork.planning.plan import Plan
from trelliswork.taggers.base import Tagger


@dataclass
class GivenScores:
    """A model that has the scores of some sentences by heart."""

    plan: Plan
    weights: np.ndarray
    scores: dict[tuple[str, ...], np.ndarray]

    def trellis(self, sequences, *, n_jobs=None) -> Trellis:
        own = [self.scores[tuple(sentence)] for sentence in sequences]
        return Trellis.from_sequences(own, self.plan.model, weights=self.weights)


class GivenTagger(Tagger):
    """A tagger that needs no training."""

    def __init__(self, plan: Plan, weights: np.ndarray, scores: dict) -> None:
        self.plan, self.weights, self.scores = plan, weights, scores
        self.n_jobs, self.decoding_budget, self.on_infeasible = 1, 10_000, "error"

    def fit(self, X=None, y=None) -> GivenTagger:  # noqa: N803
        self.model_ = GivenScores(self.plan, self.weights, self.scores)
        self.labels_, self.plan_, self.metadata_ = self.plan.labels, self.plan, {}
        return self


def tagger_of(case: SegmentCase) -> tuple[GivenTagger, list[list[str]]]:
    """Return a tagger, and the sentences that it has scores for."""
    scores = {tuple(s): phi for s, phi in zip(case.sentences, case.scores, strict=True)}
    return GivenTagger(case.plan, case.weights, scores).fit(), case.sentences


def feasible(case: SegmentCase) -> bool:
    different = len(set(map(tuple, case.sentences))) == len(case.sentences)
    return different and all(case.paths(b) for b in range(len(case.sentences)))


@given(segment_cases(rules=2), st.integers(1, 200))
@settings(max_examples=60)
def test_all_verbs_agree_with_enumeration(case: SegmentCase, at_once: int):
    if not feasible(case):
        return
    tagger, sentences = tagger_of(case)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batches, "SCORES_AT_ONCE", at_once)
        best = tagger.decode(sentences)
        assert tagger.predict(sentences) == [answer.labels for answer in best]
        segments = tagger.predict_segments(sentences)
        marginals = tagger.predict_marginals(sentences)
        nbest = tagger.predict_nbest(sentences, 2)
        likelihood = tagger.log_probability(sentences, [answer.labels for answer in best])
    for b, answer in enumerate(best):
        paths = case.paths(b)
        log_z = log_sum_exp(list(paths.values()))
        assert answer.score == pytest.approx(max(paths.values()))
        same = [s for tags, s in paths.items() if case.labels_of(tags) == answer.labels]
        assert likelihood[b] == pytest.approx(log_sum_exp(same) - log_z, abs=1e-9)
        if not case.segmentation.is_hidden:
            assert segments[b] == tagger.labels_.spans(answer.labels)
        expected = sorted((np.exp(s - log_z) for s in paths.values()), reverse=True)[:2]
        np.testing.assert_allclose([p for _, p in nbest[b]], expected, atol=1e-9)
        by_label = np.zeros((len(sentences[b]), len(tagger.labels_)))
        for tags, score in paths.items():
            ids = tagger.labels_.encode(case.labels_of(tags))
            by_label[np.arange(len(ids)), ids] += np.exp(score - log_z)
        np.testing.assert_allclose(marginals[b], by_label, atol=1e-8)


@given(segment_cases(rules=2))
@settings(max_examples=40)
def test_segments_have_probabilities(case: SegmentCase):
    if not feasible(case):
        return
    tagger, sentences = tagger_of(case)
    spans = [
        [
            (start, end, name)
            for start in range(len(sentence))
            for end in range(start + 1, len(sentence) + 1)
            for name in tagger.labels_.segment_names
        ]
        for sentence in sentences
    ]
    if case.segmentation.is_hidden:
        with pytest.raises(LabelError, match="adjacent=True"):
            tagger.span_probability(sentences, spans)
        return
    found = tagger.span_probability(sentences, spans)
    for b, own in enumerate(spans):
        paths = case.paths(b)
        log_z = log_sum_exp(list(paths.values()))
        for span, probability in zip(own, found[b], strict=True):
            inside = [
                score
                for tags, score in paths.items()
                if Span(*span) in tagger.labels_.spans(case.labels_of(tags))
            ]
            assert probability == pytest.approx(sum(np.exp(s - log_z) for s in inside), abs=1e-8)


@given(st.data())
@settings(max_examples=25)
def test_spans_of_a_chain_of_high_order(data):
    labels = LabelSet(["B-a", "I-a", "O"], scheme="bio")
    letters = st.lists(st.integers(0, 2), min_size=2, max_size=4).map(tuple)
    patterns = Patterns.of(data.draw(st.lists(letters, unique=True, max_size=4)), 3)
    rules = Plan(labels, (at_most(1, "a"),), model=patterns.automaton())
    weights = data.draw(arrays((len(patterns),), ordinary))
    sentence = ["u", "v", "w"]
    scores = {tuple(sentence): data.draw(arrays((3, 3), ordinary))}
    tagger = GivenTagger(rules, weights, scores).fit()
    paths = {
        tuple(labels.names[y] for y in path.labels): path.score
        for path in enumerate_paths(tagger.model_.trellis([sentence]))
    }
    paths = {y: s for y, s in paths.items() if not rules.constraints[0].violations(list(y))}
    log_z = log_sum_exp(list(paths.values()))
    spans = [(start, end, "a") for start in range(3) for end in range(start + 1, 4)]
    (found,) = tagger.span_probability([sentence], [spans])
    for span, probability in zip(spans, found, strict=True):
        inside = [np.exp(s - log_z) for y, s in paths.items() if Span(*span) in labels.spans(y)]
        assert probability == pytest.approx(sum(inside), abs=1e-8)


def small_tagger() -> tuple[GivenTagger, list[list[str]]]:
    segmentation = Segmentation(LabelSet(["a", "b"]), (2, 2))
    rules = Plan(segmentation.labels, (at_most(1, "a"),), segmentation=segmentation)
    sentences = [["u"], ["v", "v"], ["w"] * 5]
    scores = {tuple(s): segmentation.blank_scores(len(s)) for s in sentences}
    return GivenTagger(rules, np.zeros(rules.model.n_patterns), scores).fit(), sentences


def test_an_error_names_the_sequence_in_every_batch(monkeypatch):
    monkeypatch.setattr(batches, "SCORES_AT_ONCE", 4)
    tagger, sentences = small_tagger()
    strict = tagger.with_constraints([at_most(1, "a"), at_most(1, "b")])
    for verb in (strict.predict, strict.predict_marginals):
        with pytest.raises(InfeasibleError, match="sequence 2: No labelling of 5 tokens"):
            verb(sentences)
    assert list(map(len, strict.predict(sentences[:2]))) == [1, 2]


def test_other_constraints_keep_the_model_and_its_segments():
    tagger, sentences = small_tagger()
    other = tagger.with_constraints(starts_with("b"), on_infeasible="relax")
    assert other.plan_.segmentation == tagger.plan_.segmentation
    assert other.plan_.model is tagger.plan_.model
    assert [labels[0] for labels in other.predict(sentences)] == ["b", "b", "b"]
    # Nothing tells the two labels apart.
    np.testing.assert_allclose(tagger.probability_of(sentences, starts_with("b")), 0.5)


@pytest.mark.parametrize("on_infeasible", ["error", "relax", "unconstrained"])
@pytest.mark.parametrize("rules", [(), (at_most(4, "b"),)], ids=["free", "ruled"])
@pytest.mark.parametrize(
    "verb", [Tagger.predict, Tagger.decode, Tagger.predict_segments], ids=lambda f: f.__name__
)
def test_known_labels_that_no_segments_fit(monkeypatch, on_infeasible, rules, verb):
    monkeypatch.setattr(batches, "SCORES_AT_ONCE", 4)
    tagger, sentences = small_tagger()
    tagger = tagger.with_constraints(rules, on_infeasible=on_infeasible)
    known = [[None], [None, "a"], ["b", "a", "a", "a", None]]
    message = r"known: sequence 2, token 3: no segments fit .* \(now a 2, b 2\)"
    with pytest.raises(InfeasibleError, match=message):
        verb(tagger, sentences, known=known)
    with pytest.raises(InfeasibleError, match=message):
        tagger.decode_nbest(sentences, 2, known=known)


def test_known_labels_that_begin_inside_a_segment():
    segmentation = Segmentation.choose(LabelSet(["B-a", "I-a", "O"], scheme="bio"), [], 2)
    rules = Plan(segmentation.labels, (), segmentation=segmentation)
    sentence = ["u", "v"]
    scores = {("u", "v"): segmentation.blank_scores(2)}
    tagger = GivenTagger(rules, np.zeros(rules.model.n_patterns), scores).fit()
    assert tagger.predict([sentence], known=[["B-a", "I-a"]]) == [["B-a", "I-a"]]
    with pytest.raises(InfeasibleError, match="known: sequence 0, token 0: no segments fit"):
        tagger.predict([sentence], known=[["I-a", None]])


@given(segment_cases(rules=1), st.data())
@settings(max_examples=40)
def test_answers_agree_with_what_is_known_or_there_is_none(case: SegmentCase, data):
    tagger, sentences = tagger_of(case)
    label = st.sampled_from([None, *tagger.labels_.names])
    known = [data.draw(st.lists(label, min_size=len(s), max_size=len(s))) for s in sentences]

    def agrees(b: int, tags: tuple[int, ...]) -> bool:
        pairs = zip(case.labels_of(tags), known[b], strict=True)
        return all(given in (None, own) for own, given in pairs)

    possible = [[t for t in case.paths(b) if agrees(b, t)] for b in range(len(sentences))]
    if all(possible):
        for b, labels in enumerate(tagger.predict(sentences, known=known)):
            assert labels in [case.labels_of(tags) for tags in possible[b]]
    else:
        with pytest.raises(InfeasibleError):
            tagger.predict(sentences, known=known)


def test_scores_that_forbid_everything_are_no_answer():
    tagger, sentences = small_tagger()
    tagger.model_.scores[("v", "v")] = np.full((2, 2, 2), -np.inf)
    for how in ("error", "relax", "unconstrained"):
        for rules in ((), (at_most(1, "a"),)):
            strict = tagger.with_constraints(rules, on_infeasible=how)
            with pytest.raises(InfeasibleError, match=r"sequence 1: every labelling .*-inf"):
                strict.predict(sentences)


def test_no_answer_has_no_names():
    tagger, _ = small_tagger()
    with pytest.raises(InfeasibleError, match="no labelling fits"):
        tagger.plan_.names(np.array([0, -1], dtype=np.int32))


def test_known_labels_hold_batch_by_batch(monkeypatch):
    monkeypatch.setattr(batches, "SCORES_AT_ONCE", 4)
    tagger, sentences = small_tagger()
    known = [["b"], ["b", None], [None, "b", "a", None, None]]
    free = tagger.with_constraints(())
    assert free.predict(sentences, known=known)[2][1:3] == ["b", "a"]
    assert [labels[0] for labels in free.predict(sentences, known=known)][:2] == ["b", "b"]
