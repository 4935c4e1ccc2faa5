"""The structured perceptron step by step: by hand, by enumeration, in the core and outside."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import trelliswork as tw
from soft_cases import soft_cases
from trelliswork.decoding.exact import decode_batch
from trelliswork.decoding.prices import priced_batch
from trelliswork.features.inputs import infer_labels
from trelliswork.inference.trellis import derive
from trelliswork.learn.perceptron.answers import ConstrainedAnswers, FreeAnswers
from trelliswork.learn.perceptron.passes import CorePass, Penalties, SentencePass, Sentences
from trelliswork.learn.perceptron.weights import PerceptronWeights
from trelliswork.planning.plan import plan
from trelliswork.proofs.answer import UNSOLVED

FEW_B = tw.at_most(1, "B", unit="token")


class Steps:
    """A perceptron that visits sentences one by one, and its weights after each."""

    def __init__(
        self,
        X: list[Any],  # noqa: N803
        y: list[list[str]],
        amounts: Any = None,
        **parameters: Any,
    ) -> None:
        tagger = tw.PerceptronTagger(**parameters)
        learner = tagger._learner(infer_labels(y, "plain", None), X, y)
        self.structure, self.encoder, self.plan = learner.structure, learner.encoder, learner.plan
        self.sentences = Sentences(
            X,
            learner.encoder.transform(X),
            learner.structure.encode(y).ids,
            np.ones(len(X)) if amounts is None else np.array(amounts),
        )
        self.weights = PerceptronWeights(learner.structure, self.sentences.features)
        answers: Any = FreeAnswers(len(X))
        self.penalties = Penalties(np.zeros(0))
        if learner.plan.constraints and learner.training in ("CIBT", "wCIBT"):
            self.penalties = Penalties(learner.plan.penalties)
            offsets, gold = self.sentences.features.offsets, self.sentences.gold
            answers = ConstrainedAnswers(learner.plan, X, offsets, gold, "error")
        self.steps = SentencePass(self.weights, self.sentences, answers, self.penalties)

    def weight(self, word: str, label: str) -> float:
        feature = self.encoder.feature_names().index(f"word[0]={word}")
        return float(self.weights.state.values[feature, self.structure.labels.id(label)])

    def average(self, word: str, label: str) -> float:
        feature = self.encoder.feature_names().index(f"word[0]={word}")
        label_id = self.structure.labels.id(label)
        return float(self.weights.state.average(self.weights.step)[feature, label_id])


def test_collins_by_hand():
    """Two sentences, transitions among the weights; of equal scores the lowest label wins."""
    X, y = [["x", "y"], ["y", "x"]], [["B", "A"], ["B", "A"]]
    run = Steps(X, y, features="word[0]", training="L")

    # w = 0: ŷ = A A. x: from A to B. Transitions: B A gains one, A A loses one.
    assert run.steps.visit(0) == 1
    assert (run.weight("x", "A"), run.weight("x", "B")) == (-1, 1)
    assert (run.weight("y", "A"), run.weight("y", "B")) == (0, 0)
    assert run.weights.patterns.values[0].tolist() == [-1, 0, 1, 0]  # AA AB BA BB

    # y x: AA 0-1-1 = -2, AB 0+1+0 = 1, BA 0-1+1 = 0, BB 0+1+0 = 1. AB and BB are equal: the last
    # label is B, and the lowest before it A. Gold is B A.
    assert run.steps.visit(1) == 2
    assert (run.weight("y", "A"), run.weight("y", "B")) == (-1, 1)
    assert (run.weight("x", "A"), run.weight("x", "B")) == (0, 0)
    assert run.weights.patterns.values[0].tolist() == [-1, -1, 2, 0]

    # x y: AA 0-1-1, AB 0+1-1 = 0, BA 0-1+2 = 1, BB 0+1+0 = 1. BA ends in the lower label.
    assert run.steps.visit(0) == 0
    # y x: BA 1+0+2 = 3 is best.
    assert run.steps.visit(1) == 0

    # x, A was -1, 0, 0, 0 after the four steps; y, B was 0, 1, 1, 1.
    assert run.average("x", "A") == -1 / 4
    assert run.average("y", "B") == 3 / 4
    assert run.weights.patterns.average(4)[0].tolist() == [-1, -3 / 4, 7 / 4, 0]


def test_wcibt_by_hand():
    """At most one B: the penalty rises, is cut at 0, and rises again."""
    X = [["x", "x"], ["x", "x"], ["x", "x", "x"], ["x", "x"], ["x", "x"]]
    y = [["A", "B"], ["A", "B"], ["B", "B", "B"], ["A", "B"], ["A", "B"]]
    run = Steps(X, y, features="word[0]", order=0, training="wCIBT", constraints=FEW_B.soft())
    # (tokens wrong, w of x and A, w of x and B, ρ) after each sentence.
    expected = [
        (1, -1, 1, 0),  # AA: all scores are 0. Nothing is broken
        (1, 0, 0, 1),  # BB: 2 - 0. It breaks the rule once, gold does not
        (3, -3, 3, 0),  # AAA. Gold breaks the rule twice: max(0, 1 + 0 - 2)
        (1, -2, 2, 1),  # BB: 6 - 0
        (1, -1, 1, 2),  # BB: 4 - 1 = 3, against 0 of AB
    ]
    for b, (wrong, of_a, of_b, penalty) in enumerate(expected):
        assert run.steps.visit(b) == wrong
        assert (run.weight("x", "A"), run.weight("x", "B")) == (of_a, of_b)
        assert run.penalties.values.tolist() == [penalty]
    assert run.average("x", "B") == (1 + 0 + 3 + 2 + 1) / 5
    assert run.penalties.result(average=True).tolist() == [(0 + 1 + 0 + 1 + 2) / 5]
    assert run.penalties.result(average=False).tolist() == [2]


def test_cibt_by_hand():
    """Gold that breaks a hard rule is learned from; answers that the rule corrects are not."""
    X, y = [["x"], ["y", "y"], ["x", "y"]], [["B"], ["B", "B"], ["A", "B"]]
    hard = Steps(X, y, features="word[0]", order=0, training="CIBT", constraints=FEW_B.soft())
    free = Steps(X, y, features="word[0]", order=0, training="L", constraints=FEW_B)
    for run in (hard, free):
        assert run.steps.visit(0) == 1  # A
        assert run.steps.visit(1) == 2  # AA; the rule allows no better one than AB or BA
        assert (run.weight("x", "A"), run.weight("x", "B")) == (-1, 1)
        assert (run.weight("y", "A"), run.weight("y", "B")) == (-2, 2)
    # x y: AA -3, AB 1, BA -1, BB 3. BB breaks the rule, and AB is right.
    assert hard.steps.visit(2) == 0
    assert (hard.weight("x", "A"), hard.weight("x", "B")) == (-1, 1)
    assert free.steps.visit(2) == 1
    assert (free.weight("x", "A"), free.weight("x", "B")) == (0, 0)
    assert hard.penalties.values.tolist() == [np.inf]
    assert hard.average("y", "A") == pytest.approx((0 - 2 - 2) / 3)


WORDS = st.sampled_from(["p", "q", "r"])
AMOUNTS = st.sampled_from([1.0, 2.0, 0.5])


@st.composite
def labelled(draw: Any) -> tuple[list[Any], list[list[str]], list[float]]:
    """Draw a few sentences, with labels and weights whose sums are exact."""
    lengths = draw(st.lists(st.integers(0, 4), min_size=1, max_size=4).filter(any))
    X = [draw(st.lists(WORDS, min_size=n, max_size=n)) for n in lengths]
    y = [draw(st.lists(st.sampled_from("ABC"), min_size=n, max_size=n)) for n in lengths]
    return X, y, draw(st.lists(AMOUNTS, min_size=len(X), max_size=len(X)))


@given(labelled(), st.integers(0, 2), st.booleans())
def test_averages_are_those_of_all_iterates(data: Any, order: int, edges: bool) -> None:
    X, y, amounts = data
    features = "word[0]\nword[-1]" + ("\nedge: word[0]" if edges else "")
    rule = tw.at_most(1, next(label for own in y for label in own), unit="token").soft()
    run = Steps(X, y, amounts, features=features, order=order, training="wCIBT", constraints=rule)
    tables = [run.weights.state, run.weights.patterns]
    tables += [] if run.weights.edge is None else [run.weights.edge]
    sums = [np.zeros_like(table.values) for table in tables]
    penalties = np.zeros(1)
    for _ in range(3):
        for b in range(len(X)):
            run.steps.visit(b)
            for own, table in zip(sums, tables, strict=True):
                own += table.values
            penalties += run.penalties.values
    n_steps = 3 * len(X)
    assert run.weights.step == n_steps
    for own, table in zip(sums, tables, strict=True):
        np.testing.assert_allclose(table.average(n_steps), own / n_steps, atol=1e-12)
    np.testing.assert_allclose(run.penalties.result(average=True), penalties / n_steps)
    assert (run.penalties.values >= 0).all()


@pytest.mark.parametrize("training", ["L", "wCIBT"])
def test_stopping_early_changes_nothing(training: str) -> None:
    X = [["p", "q", "p"], ["q", "q"], ["p", "p"]]
    y = [["B", "A", "A"], ["A", "A"], ["B", "A"]]
    settings = {"features": "word[0]\nword[-1]", "training": training, "constraints": FEW_B.soft()}
    tagger = tw.PerceptronTagger(**settings, epochs=12, random_state=3).fit(X, y)
    assert tagger.stop_reason_ == "converged"
    assert tagger.n_iter_ < 12
    run, rng = Steps(X, y, **settings), np.random.default_rng(3)
    for _ in range(12):
        run.steps.run(rng.permutation(3))
    model = run.weights.model(run.encoder, average=True)
    np.testing.assert_allclose(model.state.weights, tagger.model_.state.weights)
    np.testing.assert_allclose(model.pattern_weights, tagger.model_.pattern_weights)
    if training == "wCIBT":
        expected = run.penalties.result(average=True)
        np.testing.assert_allclose(tagger.plan_.penalties, expected)


def test_rules_that_fit_a_sentence_are_found_once(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = [["x", "x"], ["y"]], [["A", "B"], ["B"]]
    rules = [FEW_B, tw.at_least(3, "A", unit="token")]
    found: list[Any] = []

    def spy(*arguments: Any, **options: Any) -> Any:
        found.append(decode_batch(*arguments, **options))
        return found[-1]

    monkeypatch.setattr("trelliswork.learn.perceptron.answers.decode_batch", spy)
    tagger = tw.PerceptronTagger(
        features="word[0]", training="CIBT", constraints=rules, on_infeasible="relax", epochs=3
    )
    tagger.fit(X, y)
    assert [answer.kept for answer in found[:2]] == [{0: (0,)}] * 2
    assert not any(answer.kept for answer in found[2:])


def test_a_search_that_finds_nothing_in_its_limits_drops_constraints(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    case = plan(tw.LabelSet(["A", "B"]), [FEW_B, tw.at_least(3, "A", unit="token")])
    trellis = tw.Trellis(np.array([[0.0, 1.0], [0.0, 1.0]]))

    def give_up(*arguments: Any, constraints: Any = None, **options: Any) -> Any:
        answers = priced_batch(*arguments, constraints=constraints, **options)
        if constraints != ():
            answers.status[:], answers.scores[:] = UNSOLVED, -np.inf
        return answers

    monkeypatch.setattr("trelliswork.decoding.exact.priced_batch", give_up)
    monkeypatch.setattr("trelliswork.decoding.exact.search_broken", lambda *_, **__: None)
    evidence = case.evidence([["x", "x"]], trellis.offsets)
    found = decode_batch(case, trellis, evidence, on_infeasible="relax")
    assert found.tags.tolist() == [1, 1]
    assert found.kept == {0: ()}


@given(soft_cases())
def test_answers_under_constraints_are_the_best(case: Any) -> None:
    penalties = plan(case.labels, case.constraints).penalties
    learned = [rule.hard.soft() if rule.is_soft else rule for rule in case.constraints]
    rules = plan(case.labels, learned)
    trellis = case.trellis
    gold = np.zeros(trellis.n_tokens, dtype=np.int32)
    answers = ConstrainedAnswers(rules, case.sentences, trellis.offsets, gold, "error")
    for b in range(len(case.sentences)):
        best = case.priced(b)
        own = derive(trellis, sequences=np.array([b]))
        if not best:
            with pytest.raises(tw.InfeasibleError):
                answers.best(b, own, penalties)
            continue
        found = answers.best(b, own, penalties)
        assert best[tuple(found.labels.tolist())] == pytest.approx(max(best.values()), abs=1e-9)
        names = [case.labels.names[label] for label in found.labels]
        for rule, degree in zip(learned, found.violations, strict=True):
            if rule.is_soft:
                assert degree == rule.violations(names, case.sentences[b], scheme=case.labels)


@given(labelled(), st.integers(0, 2), st.booleans(), st.randoms(use_true_random=False))
def test_the_core_learns_bit_for_bit_as_one_by_one(
    data: Any, order: int, valued: bool, random: Any
) -> None:
    X, y, amounts = data
    features = "word[0]\nword[-1]"
    if valued:
        X = [[{word: 0.5, "bias": -2.0, "c": 0.25} for word in own] for own in X]
        features = None
    python = Steps(X, y, amounts, features=features, order=order, training="L")
    weights = PerceptronWeights(python.structure, python.sentences.features)
    core = CorePass(weights, python.sentences)
    for _ in range(3):
        visits = np.array(random.sample(range(len(X)), len(X)))
        assert core.run(visits) == python.steps.run(visits)
        assert weights.step == python.weights.step
        for ours, theirs in (
            (weights.state, python.weights.state),
            (weights.patterns, python.weights.patterns),
        ):
            np.testing.assert_array_equal(ours.values, theirs.values)
            np.testing.assert_array_equal(ours.late, theirs.late)


@given(labelled(), st.integers(0, 2))
def test_scores_of_the_model_are_those_of_training(data: Any, order: int) -> None:
    X, y, amounts = data
    features = "word[0]\nedge: word[0]"
    run = Steps(X, y, amounts, features=features, order=order, training="L")
    run.steps.run(np.arange(len(X)))
    model = run.weights.model(run.encoder, average=False)
    for b, sequence in enumerate(X):
        if not sequence:
            continue
        theirs = model.trellis([sequence])
        ours = run.steps._trellis(b)
        np.testing.assert_allclose(theirs.scores, ours.scores)
        np.testing.assert_array_equal(theirs.weights, ours.weights)
        if order:
            np.testing.assert_allclose(theirs.position_weights, ours.position_weights)
