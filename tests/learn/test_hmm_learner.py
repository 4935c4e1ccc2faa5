"""Hidden Markov models are counted as by hand, and expected as by enumeration."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import trelliswork as tw
from hmm_cases import (
    RULES,
    X,
    Y,
    assert_normalised,
    assert_same_model,
    corpora,
    learner_of,
    probabilities,
    scored_labellings,
    sentences,
    smoothings,
    tables,
)


def test_probabilities_worked_out_by_hand():
    tagger = tw.HMMTagger(shape_smoothing=1.0, transition_smoothing=1.0).fit(X, Y)
    # P(a | P): seen twice of two; κ_P = 1 + 1 word; the shape x has (2 + 1) / (2 + 3) of P, and
    # "a" has 2 of its 3 tokens, to which as many are added as it has words: 2 / 5.
    # So (2 + 2 · 3/5 · 2/5) / (2 + 2) = 0.62; the others in the same way.
    expected = {
        "word=C": [0.05, 0.32],
        "word=a": [0.62, 0.096],
        "word=b": [0.06, 0.248],
        "shape=X": [0.05, 0.12],
        "shape=x": [0.12, 0.096],
        "shape unknown": [0.1, 0.12],
        "first": [5 / 6, 1 / 6],  # (2 + 1/2) / (2 + 1)
        "last": [1 / 9, 7 / 9],  # (2 + 1/3) / (2 + 1)
    }
    found = tables(tagger)
    assert list(found) == list(expected)
    for name, row in expected.items():
        np.testing.assert_allclose(found[name], row, err_msg=name)
    np.testing.assert_allclose(np.exp(tagger.model_.transitions), [[1 / 9, 7 / 9], [1 / 9, 1 / 9]])
    # An unknown word in lower case between the two: P P Q or P Q Q?
    paths = scored_labellings(tagger, ["a", "z", "C"])
    by_hand = 5 / 6 * 0.62 * 1 / 9 * 0.12 * 7 / 9 * 0.32 * 7 / 9
    assert paths["P", "P", "Q"] == pytest.approx(np.log(by_hand))
    assert tagger.predict([["a", "z", "C"]]) == [["P", "P", "Q"]]


@given(corpora(), smoothings)
def test_every_distribution_sums_to_one(corpus, options):
    assert_normalised(tw.HMMTagger(**options).fit(*corpus).model_)


@settings(max_examples=30)
@given(corpora(), st.lists(sentences, min_size=1, max_size=3), st.sampled_from([(), RULES]))
def test_a_step_of_em_equals_enumeration(corpus, unlabelled, rules):
    tagger = tw.HMMTagger(constraints=rules)
    learner = learner_of(tagger, *corpus, unlabelled)
    tagger.fit(*corpus)  # for its labels; the learner knows more words
    learned = learner.learn(*corpus)
    tagger.model_, tagger.plan_ = learned.model, learned.plan
    texts, names, weights = [], [], []
    for sentence in unlabelled:
        for labelling, probability in probabilities(
            scored_labellings(tagger, sentence, learned.plan)
        ).items():
            texts.append(sentence)
            names.append(labelling)
            weights.append(probability)
    expected = learner.count(texts, names, np.array(weights))
    found = learner.expect(unlabelled, learned)
    np.testing.assert_allclose(found.features, expected.features, atol=1e-9)
    np.testing.assert_allclose(found.transitions, expected.transitions, atol=1e-9)
    step = learner.learn_expected(unlabelled, learned)
    assert step.plan is learned.plan
    assert_same_model(step.model, learner.estimate(expected))
    labelled = learner.count(*corpus)
    both = learner.learn_expected(unlabelled, learned, labelled=labelled)
    assert_same_model(both.model, learner.estimate(expected.plus(labelled)))
    assert_normalised(both.model)


def test_posteriors_under_rules_need_a_product_that_fits():
    tagger = tw.HMMTagger(constraints=RULES, decoding_budget=1)
    names = [["P", "Q", "R"]]
    learner = learner_of(tagger, [["a", "b", "1"]], names)
    learned = learner.learn([["a", "b", "1"]], names)
    with pytest.raises(tw.TooLargeError):
        learner.learn_expected([["a", "b"]], learned)


@given(corpora(), corpora(), st.floats(0, 1))
def test_a_mixture_is_one_of_probabilities(one, other, share):
    learner = learner_of(tw.HMMTagger(), one[0] + other[0], one[1] + other[1])
    first, second = learner.learn(*one).model, learner.learn(*other).model
    mixed = learner.mix(first, second, share)
    assert_normalised(mixed)
    np.testing.assert_allclose(
        np.exp(mixed.transitions),
        share * np.exp(first.transitions) + (1 - share) * np.exp(second.transitions),
    )


@given(corpora(), st.lists(st.integers(0, 3), min_size=4, max_size=4))
def test_weights_count_sequences_more_than_once(corpus, weights):
    sequences, names = corpus
    times = [*weights[: len(names) - 1], 1]
    learner = learner_of(tw.HMMTagger(), *corpus)
    repeated = [b for b, n in enumerate(times) for _ in range(n)]
    expected = learner.learn([sequences[b] for b in repeated], [names[b] for b in repeated])
    assert_same_model(learner.learn(*corpus, np.array(times, float)).model, expected.model)


def test_words_of_unlabelled_sequences_are_known():
    learner = learner_of(tw.HMMTagger(), X, Y, [["new", "a"]])
    assert "word=new" in learner.encoder.feature_names()
