"""Learning the penalties of a tagger, against lists of all its labellings."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import trelliswork as tw
from penalty_cases import listed
from ruled_tagger import YEAR, fitted
from trelliswork.learn.penalties.learn import fit_penalties
from trelliswork.learn.penalties.problem import TaggerProblem

SENTENCES = [["a", "b", "b"], ["b", "1", "b"], ["1", "a", "2"], ["b"]]
GOLD = [["A", "T", "A"], ["T", "Y", "A"], ["Y", "A", "Y"], ["T"]]
RULES = (
    tw.at_most(1, "T").soft(),
    tw.precedes("A", "Y").soft(),
    tw.requires("T", "Y").soft(0.3),
    (tw.count("A") - tw.count("T") <= 0).soft(),
    tw.at_most(2, "A"),
    tw.only_on(YEAR, "Y"),
)
CHAIN = fitted(constraints=()).with_constraints(RULES)
SEGMENTS = fitted(constraints=(), max_segment=2).with_constraints(RULES)
LISTED = {id(tagger): listed(tagger, SENTENCES, GOLD) for tagger in (CHAIN, SEGMENTS)}
levels = st.sampled_from([0.0, 0.1, 0.7, 3.0])


@pytest.mark.parametrize("tagger", [CHAIN, SEGMENTS], ids=["chain", "segments"])
@settings(max_examples=25)  # each is a tagger of its own, and up to eight batches
@given(st.lists(st.tuples(levels, levels, levels), min_size=1, max_size=4), st.data())
def test_answers_are_the_best(tagger, all_penalties, data):
    """Remembered answers are the best ones too, after any earlier questions."""
    problem, reference = TaggerProblem(tagger, SENTENCES, GOLD), LISTED[id(tagger)]
    assert problem.gold.tolist() == reference.gold.tolist()
    np.testing.assert_allclose(problem.gold_scores, reference.gold_scores)
    for penalties in map(np.array, all_penalties):
        loss = data.draw(st.booleans())
        asked = np.array(data.draw(st.lists(st.integers(0, 3), min_size=1, max_size=4)))
        found = problem.decode(penalties, asked, loss=loss)
        best = reference.decode(penalties, asked, loss=loss)
        np.testing.assert_allclose(
            found.scores - found.violations @ penalties, best.scores - best.violations @ penalties
        )


def test_sentences_that_need_no_rule_are_decoded_once(monkeypatch):
    problem = TaggerProblem(CHAIN, SENTENCES, GOLD)
    searched = []
    search = TaggerProblem._search

    def spy(self, penalties, sequences, loss):
        searched.append(sequences.tolist())
        return search(self, penalties, sequences, loss)

    monkeypatch.setattr(TaggerProblem, "_search", spy)
    everyone = np.arange(4)
    free = problem.decode(np.zeros(3), everyone).violations
    assert searched == [[0, 1, 2, 3]]
    problem.decode(np.ones(3), everyone)
    assert searched[1:] == [np.flatnonzero(free.any(axis=1)).tolist()]
    problem.decode(np.ones(3), everyone)
    assert len(searched) == 2, "nothing changed"


def free_tagger() -> tw.CRFTagger:
    return tw.CRFTagger(features="word[0]", l2=0.1, max_iter=50).fit(
        [["a", "t", "a"], ["t", "a"], ["t", "u"], ["a", "u", "t"]],
        [["A", "T", "A"], ["T", "A"], ["T", "A"], ["A", "T", "T"]],
    )


def test_learned_rules_are_obeyed_where_that_helps():
    tagger = free_tagger()
    X, y = [["t", "a", "u"], ["t", "a", "t"]], [["T", "A", "A"], ["T", "A", "A"]]
    rules = (tw.at_most(1, "T").soft(), tw.at_most(1, "A").soft(), tw.at_least(1, "T").soft())
    assert tagger.predict(X)[1] == ["T", "A", "T"]
    for method in ("perceptron", "ssvm"):
        log = []
        ruled = tw.learn_penalties(
            tagger,
            X,
            y,
            constraints=rules,
            method=method,
            c=10.0,
            n_epochs=100,
            on_epoch=log.append,
        )
        first, *others = [rule.penalty for rule in ruled.constraints]
        assert first > 0
        assert others == [0.0, 0.0]
        assert log
        if method == "perceptron":  # the other one weighs margins against each other
            assert ruled.predict(X) == y
        pruned = tw.learn_penalties(
            tagger, X, y, constraints=rules, method=method, c=10.0, n_epochs=100, prune=True
        )
        assert pruned.constraints == ruled.constraints[:1]
    assert tagger.constraints == ()


def test_fixed_and_hard_rules_stay():
    tagger = free_tagger()
    rules = (tw.at_most(1, "T").soft(), tw.requires("T", "A").soft(0.25), tw.at_most(3, "A"))
    values = fit_penalties(tagger.with_constraints(rules), [["t", "a", "t"]], [["T", "A", "A"]])
    assert values[0] > 0
    assert values[1:].tolist() == [0.25, np.inf]
    ruled = tw.learn_penalties(tagger.with_constraints(rules), [["t", "a", "t"]], [["T", "A", "A"]])
    assert ruled.constraints[1:] == rules[1:]


def test_same_seed_same_penalties():
    options = {"constraints": RULES, "n_epochs": 4, "random_state": 3}
    first, second = (tw.learn_penalties(CHAIN, SENTENCES, GOLD, **options) for _ in range(2))
    assert first.constraints == second.constraints


def test_a_labelled_corpus_and_a_development_set():
    tagger = free_tagger()
    corpus = tw.Corpus.from_lists([["t", "a", "t"]], [["T", "A", "A"]])
    log = []
    ruled = tw.learn_penalties(
        tagger,
        corpus,
        constraints=[tw.at_most(1, "T").soft()],
        dev=(corpus.tokens, corpus.labels),
        on_epoch=log.append,
        n_epochs=60,
        patience=60,
    )
    assert ruled.predict(corpus) == [["T", "A", "A"]]
    assert log[0].dev_score < 1.0 == max(epoch.dev_score for epoch in log)


def test_sentences_with_unknown_labels_are_left_out(caplog):
    problem = TaggerProblem(CHAIN, [*SENTENCES, ["a"]], [*GOLD, ["new"]])
    assert problem.n_sequences == 4
    assert "1 of 5 sentences" in caplog.text


def test_segments_that_the_model_cannot_give_are_left_out(caplog):
    problem = TaggerProblem(SEGMENTS, [["a", "a", "a"], ["b"]], [["A", "A", "A"], ["T"]])
    assert problem.n_sequences == 1
    assert "1 of 2 sentences" in caplog.text


def test_open_labels_are_filled_in_by_the_model():
    problem = TaggerProblem(CHAIN, [["b", "b"]], [["T", None]])
    filled = fitted(constraints=()).predict([["b", "b"]], known=[["T", None]])[0]
    expected = [RULES[i].violations(filled) for i in (0, 1, 3)]
    assert problem.gold.tolist() == [expected]


def test_mined_rules_take_the_penalties_of_a_tagger():
    gold, predicted = [["T", "A", "A"]] * 2, [["T", "A", "T"]] * 2
    rules = tw.mine(gold, predicted)
    ruled = tw.learn_penalties(
        free_tagger(), [["t", "a", "t"]] * 2, gold, constraints=rules, prune=True
    )
    learned = rules.with_penalties(ruled)
    assert learned.active.constraints == ruled.constraints
    assert len(learned) == len(rules)


def test_mining_with_a_tagger_learns_penalties():
    tagger = free_tagger().with_constraints([tw.at_most(3, "A")])
    corpus = tw.Corpus.from_lists([["t", "a", "t"]] * 2, [["T", "A", "A"]] * 2)
    rules = tw.mine(corpus, [["T", "A", "T"]] * 2, tagger=tagger, random_state=0)
    assert len(rules.active)
    ruled = tagger.with_constraints(rules.active)
    assert ruled.predict(corpus) == [["T", "A", "A"]] * 2
    assert not len(tw.mine(corpus, corpus.labels, tagger=tagger))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "magic"}, "method: expected perceptron or ssvm, got 'magic'"),
        ({"learning_rate": 0.0}, "learning_rate: expected a number above 0"),
        ({"c": np.nan}, "c: expected a number above 0"),
        ({"n_epochs": 0}, "n_epochs: expected 1 or more"),
        ({"batch_size": 0}, "batch_size: expected 1 or more"),
        ({"method": "ssvm", "dev": (SENTENCES, GOLD)}, "dev: the SVM has one optimum"),
        ({"constraints": [tw.at_most(1, "T")]}, "expected a soft rule without a penalty"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        tw.learn_penalties(CHAIN, SENTENCES, GOLD, **options)


def test_no_sentences_to_learn_penalties_from():
    with pytest.raises(tw.DataError, match="expected at least one labelled sequence, got none"):
        tw.learn_penalties(CHAIN, [], [])


@pytest.mark.parametrize("method", ["perceptron", "ssvm"])
def test_l1_makes_penalties_0_and_prune_drops_the_rules(method):
    rules = [tw.at_most(1, "T").soft(), tw.precedes("A", "Y").soft()]
    free = tw.learn_penalties(CHAIN, SENTENCES, GOLD, constraints=rules, method=method)
    assert max(free.penalties_.values()) > 0
    none = tw.learn_penalties(
        CHAIN, SENTENCES, GOLD, constraints=rules, method=method, l1=50.0, prune=True
    )
    assert none.constraints == ()
    assert none.predict(SENTENCES) == CHAIN.with_constraints(()).predict(SENTENCES)
    with pytest.raises(ValueError, match="l1: expected a finite number from 0 up, got -1"):
        tw.learn_penalties(CHAIN, SENTENCES, GOLD, constraints=rules, method=method, l1=-1)
