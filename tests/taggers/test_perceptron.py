"""The perceptron as a tagger; its algorithm is tested in test_perceptron_algorithm."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import trelliswork as tw
from trelliswork.learn.penalties.counts import count_penalties

X = [["the", "cat", "sleeps"], ["a", "dog", "barks"], ["dogs", "bark"], ["the", "bark"]]
Y = [["DET", "NOUN", "VERB"], ["DET", "NOUN", "VERB"], ["NOUN", "VERB"], ["DET", "NOUN"]]


def fitted(**parameters: Any) -> tw.PerceptronTagger:
    settings: dict[str, Any] = {"features": "word[0]", "random_state": 0, "epochs": 20}
    return tw.PerceptronTagger(**(settings | parameters)).fit(X, Y)


def weights_of(tagger: tw.PerceptronTagger) -> dict[str, np.ndarray]:
    return tagger.model_.arrays()


def noisy(n_sentences: int, seed: int) -> tuple[list[list[str]], list[list[str]]]:
    """A z that is an A or an O by chance; then p's and q's: the first p, and no other, is a T."""
    rng = np.random.default_rng(seed)
    sentences, labels = [], []
    for _ in range(n_sentences):
        rest = ["p", *map(str, rng.choice(["p", "q"], 4, p=[0.7, 0.3]))]
        rest = [*["q"] * int(rng.integers(3)), *rest]
        first = rest.index("p")
        sentences.append(["z", *rest])
        of_z = "A" if rng.random() < 0.5 else "O"
        labels.append([of_z, *("T" if t == first else "O" for t in range(len(rest)))])
    return sentences, labels


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("average", [True, False])
def test_separable_data_are_learned_to_the_last_token(order: int, average: bool) -> None:
    context = "word[0]\nword[-1] | word[0]" if order == 0 else "word[0]"
    tagger = fitted(order=order, average=average, features=context)
    assert tagger.stop_reason_ == "converged"
    assert tagger.training_log_[-1].mistakes == 0
    assert tagger.training_log_[-1].wrong_tokens == 0
    assert tagger.n_iter_ == len(tagger.training_log_) < 20
    if not average:  # an average need not separate where the last weights do
        assert tagger.predict(X) == Y


def test_edge_features_are_learned():
    tagger = fitted(features="word[0]\nedge: word[0]", average=False)
    assert tagger.predict(X) == Y
    assert tagger.model_.edge is not None
    assert np.abs(tagger.model_.edge.weights).max() > 0


def test_dicts_and_matrices():
    dicts = [[{"word": word, "bias": 0.5} for word in own] for own in X]
    words = sorted({word for own in X for word in own})
    matrices = [np.array([[float(word == w) for w in words] for word in own]) for own in X]
    for given in (dicts, matrices):
        tagger = tw.PerceptronTagger(average=False, random_state=0, epochs=20)
        assert tagger.fit(given, Y).predict(given) == Y


def test_the_order_of_sentences_comes_from_the_seed():
    sentences, labels = noisy(30, 0)

    def learned(seed: int) -> np.ndarray:
        tagger = tw.PerceptronTagger(features="word[0]", random_state=seed, epochs=2)
        return tagger.fit(sentences, labels).model_.state.weights

    np.testing.assert_array_equal(learned(1), learned(1))
    assert learned(1).tolist() != learned(2).tolist()


def test_protocols_decide_where_constraints_count():
    rule = tw.at_most(1, "T", unit="token").soft()
    sentences, labels = noisy(30, 1)

    def learned(training: str) -> tw.PerceptronTagger:
        tagger = tw.PerceptronTagger(
            features="word[0]\nword[-1]", constraints=rule, training=training, random_state=0
        )
        return tagger.fit(sentences, labels)

    plain, hard, counted = learned("L"), learned("L+CI"), learned("L+wCI")
    for other in (hard, counted):
        for name, array in weights_of(plain).items():
            np.testing.assert_array_equal(weights_of(other)[name], array)
    assert plain.plan_.constraints == ()
    assert hard.plan_.constraints == (rule.hard,)
    assert all(rule.violations(own) == 0 for own in hard.predict(sentences))
    expected = count_penalties([rule], sentences, labels, counted.labels_)
    assert list(counted.penalties_.values()) == expected.tolist()
    inside = learned("CIBT")
    assert inside.plan_.constraints == (rule.hard,)
    assert inside.model_.state.weights.tolist() != plain.model_.state.weights.tolist()
    assert learned("wCIBT").penalties_[repr(rule)] > 0


def test_penalties_tell_good_rules_from_bad_ones():
    sentences, labels = noisy(60, 2)
    good = tw.at_most(1, "T", unit="token").soft()
    bad = tw.starts_with("A").soft()  # wrong half the time
    given = tw.at_least(1, "O").soft(0.25)
    tagger = tw.PerceptronTagger(
        features="word[0]", constraints=[good, bad, given], training="wCIBT", random_state=0
    )
    penalties = tagger.set_params(epochs=5).fit(sentences, labels).penalties_
    assert penalties[repr(given)] == 0.25
    assert penalties[repr(good)] > 4
    assert penalties[repr(bad)] < penalties[repr(good)] / 3
    last = clone(tagger).set_params(average=False).fit(sentences, labels).penalties_
    assert last[repr(good)] == int(last[repr(good)])  # whole steps


def test_a_sentence_without_a_labelling_in_training():
    rule = tw.at_least(3, "NOUN", unit="token")
    with pytest.raises(tw.InfeasibleError, match="sequence 2"):
        fitted(constraints=rule, training="CIBT", on_infeasible="error")
    relaxed = fitted(constraints=rule, training="CIBT", on_infeasible="relax")
    assert relaxed.predict([["a", "dog", "barks"]]) == [["NOUN"] * 3]


def test_weights_of_sequences_scale_updates():
    once, twice = fitted(), tw.PerceptronTagger(features="word[0]", random_state=0, epochs=20)
    twice.fit(X, Y, sample_weight=[2.0] * len(X))
    np.testing.assert_allclose(twice.model_.state.weights, 2 * once.model_.state.weights)
    without = tw.PerceptronTagger(features="word[0]", random_state=0)
    without.fit(X, Y, sample_weight=[1.0, 1.0, 1.0, 0.0])
    kept = tw.PerceptronTagger(features="word[0]", random_state=0).fit(X[:3], Y[:3])
    np.testing.assert_array_equal(without.model_.pattern_weights, kept.model_.pattern_weights)
    with pytest.raises(ValueError, match="sample_weight"):
        without.fit(X, Y, sample_weight=[1.0])


def test_models_of_one_learner_mix():
    tagger = tw.PerceptronTagger(features="word[0]\nedge: word[0]", random_state=0, epochs=1)
    labels = fitted().labels_
    learner = tagger._learner(labels, X, Y, [["a", "zebra"]])
    assert "word[0]=zebra" in learner.encoder.feature_names()
    first = learner.learn(X[:2], Y[:2]).model
    second = learner.learn(X[2:], Y[2:]).model
    mixed = learner.mix(first, second, 0.75)
    ours, *theirs = (model.trellis(X) for model in (mixed, first, second))
    for name in ("scores", "weights", "position_weights"):
        expected = 0.75 * getattr(theirs[0], name) + 0.25 * getattr(theirs[1], name)
        np.testing.assert_allclose(getattr(ours, name), expected)


def test_a_development_set_keeps_the_best_epoch():
    sentences, labels = noisy(40, 3)
    dev = noisy(20, 4)
    tagger = tw.PerceptronTagger(features="word[0]\nword[-1]", epochs=30, patience=2)
    tagger.set_params(random_state=0).fit(sentences, labels, dev=dev)
    scores = [step.dev_score for step in tagger.training_log_]
    assert tagger.dev_score_ == max(scores)
    assert tw.report(dev[1], tagger.predict(dev[0])).f1 == tagger.dev_score_
    assert tagger.stop_reason_ in ("early_stopping", "converged")


def test_interrupted_training_keeps_the_model():
    def interrupt(step: Any) -> None:
        raise KeyboardInterrupt

    tagger = tw.PerceptronTagger(features="word[0]", random_state=0, epochs=20)
    tagger.fit(X, Y, on_step=interrupt)
    assert tagger.stop_reason_ == "interrupted"
    assert tagger.n_iter_ == 1
    one = tw.PerceptronTagger(features="word[0]", random_state=0, epochs=1).fit(X, Y)
    np.testing.assert_array_equal(tagger.model_.state.weights, one.model_.state.weights)


def test_interrupted_before_there_is_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("trelliswork.learn.perceptron.learner.CorePass.run", interrupt)
    with pytest.raises(KeyboardInterrupt):
        tw.PerceptronTagger().fit(X, Y)


def test_progress_is_shown_on_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    steps: list[Any] = []
    tagger = tw.PerceptronTagger(features="word[0]", random_state=0, verbose=True)
    tagger.fit(X, Y, on_step=steps.append)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "mistakes 0 (0 tokens)" in shown.err
    assert steps == tagger.training_log_


def test_saved_and_loaded(tmp_path: Any) -> None:
    rule = tw.at_most(1, "NOUN").soft()
    tagger = fitted(constraints=rule, training="wCIBT", order=2)
    tagger.metadata_["data"] = "tiny"
    tagger.save(tmp_path / "model")
    loaded = tw.load(tmp_path / "model")
    assert isinstance(loaded, tw.PerceptronTagger)
    assert loaded.predict(X) == tagger.predict(X)
    assert loaded.penalties_ == tagger.penalties_
    assert loaded.training_log_ == tagger.training_log_
    assert (loaded.stop_reason_, loaded.n_iter_) == (tagger.stop_reason_, tagger.n_iter_)
    assert loaded.training == "wCIBT"
    assert loaded.metadata_ == {"data": "tiny"}


def test_clones_learn_the_same():
    tagger = fitted()
    again = clone(tagger)
    assert not hasattr(again, "model_")
    assert again.get_params()["epochs"] == 20
    np.testing.assert_array_equal(again.fit(X, Y).model_.state.weights, tagger.model_.state.weights)


def test_every_verb_works_on_the_model():
    tagger = fitted(constraints=tw.starts_with("DET"), training="L+CI")
    (answer,) = tagger.decode([["dog", "barks"]])
    assert answer.status == "optimal"
    assert answer.labels[0] == "DET"
    (marginals,) = tagger.predict_marginals([["dog", "barks"]])
    np.testing.assert_allclose(marginals.sum(axis=1), 1.0)
    assert tw.verify(tagger.problem(["dog", "barks"]), answer)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"epochs": 0}, "epochs: expected a whole number from 1 up, got 0"),
        ({"epochs": 2.5}, "epochs"),
        ({"order": -1}, "order"),
        ({"min_count": 0}, "min_count"),
        ({"average": "yes"}, "average: expected True or False"),
        ({"training": "IBT"}, "training: expected one of 'L'"),
        ({"on_infeasible": "skip"}, "on_infeasible"),
        ({"n_jobs": 0}, "n_jobs"),
    ],
)
def test_parameters_that_make_no_sense(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fitted(**parameters)


@pytest.mark.parametrize("label", [None, {"DET", "NOUN"}])
def test_open_labels_are_refused(label: Any) -> None:
    with pytest.raises(tw.DataError, match="sequence 1, token 0: expected a label name"):
        tw.PerceptronTagger().fit([["a"], ["b"]], [["DET"], [label]])


def test_features_of_too_many_transitions_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trelliswork.learn.perceptron.weights.MAX_WEIGHTS", 30)
    with pytest.raises(tw.TooLargeError, match="edge features: expected at most 30 weights"):
        fitted(features="word[0]\nedge: word[0]")


def test_functions_take_part_in_training():
    sentences, labels = noisy(30, 5)

    def extra(names: Any, sentence: Any) -> int:
        return max(0, list(names).count("T") - 1)

    function = tw.predicate(extra, name="few").soft()
    rule = tw.at_most(1, "T", unit="token").soft()

    def learned(constraint: Any) -> tw.PerceptronTagger:
        tagger = tw.PerceptronTagger(
            features="word[0]", training="wCIBT", constraints=constraint, random_state=0, epochs=2
        )
        return tagger.fit(sentences, labels)

    (of_function,), (of_rule,) = (learned(c).penalties_.values() for c in (function, rule))
    assert of_function > 1
    assert of_rule > 1
