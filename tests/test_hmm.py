"""The tagger of a hidden Markov model: decoded as by enumeration, and as other taggers are."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from sklearn.base import clone

import trelliswork as tw
from hmm_cases import (
    RULES,
    X,
    Y,
    assert_normalised,
    corpora,
    expected_marginals,
    scored_labellings,
    sentences,
    smoothings,
)
from trelliswork.constraints import at_most, ends_with, precedes, starts_with, token
from trelliswork.learn.penalties.counts import count_penalties


@given(corpora(), smoothings, sentences)
def test_predictions_equal_enumeration(corpus, options, sentence):
    tagger = tw.HMMTagger(**options).fit(*corpus)
    scores = scored_labellings(tagger, sentence)
    (best,) = tagger.decode([sentence])
    assert best.score == pytest.approx(max(scores.values()))
    assert scores[tuple(best.labels)] == pytest.approx(best.score)
    (marginals,) = tagger.predict_marginals([sentence])
    np.testing.assert_allclose(marginals, expected_marginals(tagger, scores), atol=1e-9)


@settings(max_examples=40)
@given(corpora(), sentences)
def test_predictions_under_rules_equal_enumeration(corpus, sentence):
    tagger = tw.HMMTagger(constraints=RULES).fit(*corpus)
    scores = scored_labellings(tagger, sentence, tagger.plan_)
    (best,) = tagger.decode([sentence])
    assert best.score == pytest.approx(max(scores.values()))
    assert scores[tuple(best.labels)] == pytest.approx(best.score)
    (marginals,) = tagger.predict_marginals([sentence])
    np.testing.assert_allclose(marginals, expected_marginals(tagger, scores), atol=1e-9)


def test_a_sample_that_weighs_nothing_leaves_finite_scores():
    tagger = tw.HMMTagger().fit([*X, ["z"]], [*Y, ["R"]], sample_weight=[1, 0.5, 0])
    assert_normalised(tagger.model_)
    assert tagger.predict([["a", "b"]]) == [["P", "Q"]]


def test_a_corpus_and_the_order_of_its_sentences():
    pairs = zip(X, Y, strict=True)
    corpus = tw.Corpus([tw.Sentence(tokens, labels=names) for tokens, names in pairs])
    expected = tw.HMMTagger().fit(X, Y)
    for found in (tw.HMMTagger().fit(corpus), tw.HMMTagger().fit(X[::-1], Y[::-1])):
        np.testing.assert_array_equal(found.model_.state.weights, expected.model_.state.weights)
        np.testing.assert_array_equal(found.model_.transitions, expected.model_.transitions)
    assert expected.predict(corpus) == Y


def test_protocols():
    rules = (ends_with("Q").soft(), starts_with("P").soft(), precedes("P", "Q"))
    names = [["P", "Q", "Q"], ["P", "P", "Q"], ["P", "Q", "P"], ["P", "P", "P"]]
    sequences = [["a", "b", "c"]] * 4

    def fitted(training):
        return tw.HMMTagger(constraints=rules, training=training).fit(sequences, names)

    assert fitted("L").plan_.constraints == ()
    assert not fitted("L+CI").plan_.soft
    assert len(fitted("L+CI").plan_.constraints) == 3
    # Broken by half of the references, by none, and never soft.
    weighed = fitted("L+wCI")
    expected = count_penalties(rules, sequences, names, weighed.labels_)
    np.testing.assert_array_equal(weighed.plan_.penalties, expected)
    assert expected[0] < 0.5 < expected[1] < expected[2] == np.inf
    for training in ("CIBT", "wCIBT"):
        with pytest.raises(ValueError, match="nothing is decoded while it learns"):
            fitted(training)


def test_labels_in_bio_stay_valid_by_a_rule():
    tagger = tw.HMMTagger(constraints=tw.valid_scheme()).fit(
        [["a", "b", "c"], ["c", "a", "b"]], [["B-P", "I-P", "O"], ["O", "B-P", "I-P"]]
    )
    assert_normalised(tagger.model_)  # improbable, not impossible: the rule does the rest
    for names in tagger.predict([["b", "b", "c"], ["c", "b", "b"]]):
        assert tagger.labels_.is_valid(names)


def test_files_and_copies(tmp_path):
    rules = (at_most(1, "Q").soft(), precedes("P", "Q"))
    tagger = tw.HMMTagger(constraints=rules, lowercase=True, smoothing=2.0).fit(X, Y)
    tagger.metadata_ = {"note": "made by hand"}
    tagger.save(tmp_path / "hmm.tw")
    for again in (tw.load(tmp_path / "hmm.tw"), pickle.loads(pickle.dumps(tagger))):
        assert isinstance(again, tw.HMMTagger)
        assert again.metadata_ == {"note": "made by hand"}
        assert again.penalties_ == tagger.penalties_
        assert (again.lowercase, again.smoothing) == (True, 2.0)
        for sentence in (["a", "b"], ["z", "C", "9"]):
            expected = tagger.decode([sentence])[0]
            found = again.decode([sentence])[0]
            assert (found.labels, found.score) == (expected.labels, expected.score)
    copy = clone(tagger)
    assert copy.get_params() == tagger.get_params()
    assert not hasattr(copy, "model_")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"smoothing": 0}, "smoothing: expected a finite number above 0"),
        ({"shape_smoothing": np.inf}, "shape_smoothing: expected a finite number"),
        ({"transition_smoothing": "1"}, "transition_smoothing: expected a finite number"),
        ({"lowercase": "yes"}, "lowercase: expected True or False"),
        ({"shapes": None}, "shapes: expected True or False"),
        ({"min_count": 0}, "min_count: expected a whole number from 1 up"),
        ({"decoding_budget": 1.5}, "decoding_budget: expected a whole number"),
        ({"training": "M"}, "training: expected one of 'L'"),
        ({"on_infeasible": "cry"}, "on_infeasible"),
    ],
)
def test_parameters_that_make_no_sense(options, message):
    with pytest.raises(ValueError, match=message):
        tw.HMMTagger(**options).fit(X, Y)


@pytest.mark.parametrize("label", [None, {"P", "Q"}])
def test_labels_left_open_are_refused(label):
    with pytest.raises(tw.DataError, match=r"y: sequence 1, token 0: .* CODLTagger"):
        tw.HMMTagger().fit(X, [["P", "Q"], [label, "Q"]])


@pytest.mark.parametrize("sequence", [[{"word": "a"}, {"word": "b"}], np.ones((2, 3))])
def test_features_are_refused(sequence):
    with pytest.raises(TypeError, match="expected token strings"):
        tw.HMMTagger().fit([sequence], [["P", "Q"]])


def test_no_labels_and_wrong_weights_are_refused():
    with pytest.raises(tw.DataError, match="at least one labelled token"):
        tw.HMMTagger().fit([], [])
    with pytest.raises(ValueError, match="sample_weight"):
        tw.HMMTagger().fit(X, Y, sample_weight=[1.0])


def test_labels_that_nobody_labelled_can_be_ruled_in():
    digits = token(regex=r"\d+")
    tagger = tw.HMMTagger(labels=["R"], constraints=tw.where(digits).allow("R")).fit(X, Y)
    assert_normalised(tagger.model_)
    assert tagger.predict([["a", "7"]]) == [["P", "R"]]
