"""Hidden Markov models: counted as by hand, decoded as by enumeration."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import trelliswork as tw
from oracle import log_sum_exp
from trelliswork.constraints import at_most, ends_with, only_on, precedes, starts_with, token
from trelliswork.features.observations import word_shape
from trelliswork.inputs import infer_labels
from trelliswork.learn.learner import Learned

X = [["a", "b"], ["a", "C"]]
Y = [["P", "Q"], ["P", "Q"]]
WORDS = ["a", "b", "B", "12", "1999", "."]
RULES = (at_most(1, "Q").soft(0.7), precedes("P", "Q"), only_on(token(regex=r"\d+"), "R").soft(1.5))


@st.composite
def corpora(draw):
    lengths = draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
    tokens = [[draw(st.sampled_from(WORDS)) for _ in range(n)] for n in lengths]
    # All labels occur, so that every rule knows them.
    names = [[draw(st.sampled_from("PQR")) for _ in range(n)] for n in lengths]
    return [*tokens, ["a", "B", "7"]], [*names, ["P", "Q", "R"]]


sentences = st.lists(st.sampled_from([*WORDS, "new", "New", "?"]), min_size=1, max_size=4)
smoothings = st.fixed_dictionaries(
    {
        "smoothing": st.sampled_from([0.1, 1.0, 5.0]),
        "shape_smoothing": st.sampled_from([0.1, 1.0]),
        "transition_smoothing": st.sampled_from([0.1, 1.0, 10.0]),
        "lowercase": st.booleans(),
        "min_count": st.integers(1, 2),
    }
)


def tables(tagger) -> dict[str, np.ndarray]:
    """The probabilities of a model by the name of their feature, each of shape (L,)."""
    model = tagger.model_
    rows = np.exp(model.state.weights).reshape(-1, len(model.labels))
    return dict(zip(model.encoder.feature_names(), rows, strict=True))


def log_joint(tagger, sentence, ids) -> float:
    """``log P(x, y)``, factor by factor."""
    table, steps = tables(tagger), np.exp(tagger.model_.transitions)
    factors = [table["first"][ids[0]], table["last"][ids[-1]]]
    factors += [steps[a, b] for a, b in itertools.pairwise(ids)]
    for word, y in zip(sentence, ids, strict=True):
        known = f"word={word.lower() if tagger.lowercase else word}"
        row = table.get(known, table.get(f"shape={word_shape(word)}", table["shape unknown"]))
        factors.append(row[y])
    return float(np.log(factors).sum())


def scored_labellings(tagger, sentence, plan=None) -> dict[tuple[str, ...], float]:
    """All labellings with ``log P(x, y) − Σ ρ v``, those that break a hard rule left out."""
    found = {}
    for ids in itertools.product(range(len(tagger.labels_)), repeat=len(sentence)):
        names = tuple(tagger.labels_.decode(ids))
        score = log_joint(tagger, sentence, ids)
        if plan is not None:
            for rule, rho in zip(plan.constraints, plan.penalties, strict=True):
                broken = rule.violations(names, sentence, scheme=tagger.labels_)
                score -= rho * broken if broken else 0.0
        if np.isfinite(score):
            found[names] = score
    return found


def probabilities(scores) -> dict[tuple[str, ...], float]:
    total = log_sum_exp(list(scores.values()))
    return {names: float(np.exp(score - total)) for names, score in scores.items()}


def as_learned(tagger) -> Learned:
    return Learned(tagger.model_, tagger.plan_)


def learner_of(tagger, sequences, names, unlabelled=()):
    return tagger._learner(infer_labels(names, None, None), sequences, names, unlabelled)


def assert_same_model(one, other):
    np.testing.assert_allclose(one.state.weights, other.state.weights, rtol=1e-9)
    np.testing.assert_allclose(one.transitions, other.transitions, rtol=1e-9)


def assert_normalised(model):
    rows = np.exp(model.state.weights).reshape(-1, len(model.labels))
    np.testing.assert_allclose(rows[:-2].sum(axis=0), 1.0)  # words and shapes
    np.testing.assert_allclose(rows[-2].sum(), 1.0)  # first labels
    np.testing.assert_allclose(np.exp(model.transitions).sum(axis=1) + rows[-1], 1.0)
    assert np.isfinite(model.state.weights).all()
    assert np.isfinite(model.transitions).all()


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


def expected_marginals(tagger, scores) -> np.ndarray:
    posterior = probabilities(scores)
    found = np.zeros((len(next(iter(posterior))), len(tagger.labels_)))
    for names, probability in posterior.items():
        found[np.arange(len(names)), tagger.labels_.encode(names)] += probability
    return found


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
    both = learner.learn_expected(unlabelled, learned, labelled=labelled, weight=3.0)
    assert_same_model(both.model, learner.estimate(expected.plus(labelled, 3.0)))
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


def test_a_sample_that_weighs_nothing_leaves_finite_scores():
    tagger = tw.HMMTagger().fit([*X, ["z"]], [*Y, ["R"]], sample_weight=[1, 0.5, 0])
    assert_normalised(tagger.model_)
    assert tagger.predict([["a", "b"]]) == [["P", "Q"]]


def test_words_of_unlabelled_sequences_are_known():
    learner = learner_of(tw.HMMTagger(), X, Y, [["new", "a"]])
    assert "word=new" in learner.encoder.feature_names()


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
    np.testing.assert_allclose(fitted("L+wCI").plan_.penalties, [0.0, np.log(5), np.inf])
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
