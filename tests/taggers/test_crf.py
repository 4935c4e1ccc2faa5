from __future__ import annotations

import re
import signal
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError, SkipTestWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import check_estimator

import trelliswork as tw
from oracle import enumerate_paths, log_sum_exp
from trelliswork import inference

X = [
    ["the", "cat", "sat"],
    ["a", "dog", "ran"],
    ["cats", "run"],
    ["the", "old", "dog", "sat"],
    [],
    ["dogs"],
]
Y = [["D", "N", "V"], ["D", "N", "V"], ["N", "V"], ["D", "A", "N", "V"], [], ["N"]]


@pytest.fixture(scope="module")
def tagger():
    return tw.CRFTagger(features="word[-1..1]\nsuffix(word[0], 1..2)", l2=0.1).fit(X, Y)


def test_learns_its_training_data(tagger):
    assert tagger.predict(X) == Y
    assert tagger.score(X, Y) == 1.0
    longer = clone(tagger).set_params(tol=1e-10, max_iter=1000).fit(X, Y)
    assert tagger.loss_ == pytest.approx(longer.loss_, rel=1e-4)
    assert list(tagger.classes_) == ["A", "D", "N", "V"]
    losses = [step.loss for step in tagger.training_log_]
    assert losses == sorted(losses, reverse=True)


def test_marginals_and_nbest_agree_with_enumeration(tagger):
    sequence = ["the", "dogs", "ran"]
    trellis = tagger.trellis([sequence])
    paths = sorted(enumerate_paths(trellis), key=lambda path: -path.score)
    log_z = log_sum_exp([path.score for path in paths])
    (best,) = tagger.predict_nbest([sequence], 5)
    scores = {path.labels: path.score for path in paths}
    found = [tuple(tagger.labels_.encode(labels)) for labels, _ in best]
    assert len(set(found)) == 5
    for labels, (_, probability), path in zip(found, best, paths, strict=False):
        assert scores[labels] == pytest.approx(path.score, abs=1e-9)  # in any order if they tie
        assert probability == pytest.approx(np.exp(path.score - log_z), abs=1e-9)
    (marginal,) = tagger.predict_marginals([sequence])
    np.testing.assert_allclose(marginal.sum(axis=1), 1.0)
    assert tagger.log_probability([sequence], [best[0][0]])[0] == pytest.approx(np.log(best[0][1]))


def test_known_labels_force_the_decoding(tagger):
    (labels,) = tagger.predict([["the", "cat", "sat"]], known=[["N", None, {"A", "D"}]])
    assert labels[0] == "N"
    assert labels[2] in ("A", "D")


def test_partial_labels_train():
    partial = [[None if t % 2 else label for t, label in enumerate(s)] for s in Y]
    tagger = tw.CRFTagger(features="word[0]\nword[-1]", l2=0.01, transitions="all").fit(X, partial)
    assert tagger.predict(X)[0][0] == "D"
    # Log-likelihood of the known labels, summed over the unknown ones.
    loss = tagger.loss_ - 0.01 * sum(
        float((w**2).sum()) for w in (tagger.model_.state.weights, tagger.model_.transitions)
    )
    assert -tagger.log_probability(X, partial).sum() == pytest.approx(loss, rel=1e-6)


def test_sample_weights_repeat_sequences():
    weights = [2.0, 1.0, 0.0, 1.0, 1.0, 1.0]
    weighted = tw.CRFTagger(features="word[0]").fit(X, Y, sample_weight=weights)
    twice = [X[0], *X[:2], *X[3:]], [Y[0], *Y[:2], *Y[3:]]
    repeated = tw.CRFTagger(features="word[0]").fit(*twice)
    np.testing.assert_allclose(
        weighted.predict_marginals(X[:1])[0], repeated.predict_marginals(X[:1])[0], atol=2e-3
    )


def test_class_weights_shift_the_model():
    plain = tw.CRFTagger(features="bias").fit(X, Y)
    heavy = tw.CRFTagger(features="bias", class_weight={"A": 20.0}).fit(X, Y)
    at = list(plain.classes_).index("A")
    assert heavy.predict_marginals([["x"]])[0][0, at] > plain.predict_marginals([["x"]])[0][0, at]
    balanced = {"A": 13 / 4, "D": 13 / 12, "N": 13 / 20, "V": 13 / 16}  # 13 tokens, 4 labels
    one, other = (
        tw.CRFTagger(features="bias", class_weight=weights).fit(X, Y)
        for weights in ("balanced", balanced)
    )
    assert one.loss_ == pytest.approx(other.loss_, rel=1e-6)
    assert one.loss_ != pytest.approx(plain.loss_, rel=1e-3)


def test_warm_start_begins_where_the_earlier_model_ended(tagger, tmp_path):
    settings_ = tagger.get_params()
    tagger.save(tmp_path / "m.tw")
    for init in (tagger, tmp_path / "m.tw"):
        again = tw.CRFTagger(**{**settings_, "init": init}).fit(X, Y)
        assert again.n_iter_ < tagger.n_iter_
        assert again.loss_ == pytest.approx(tagger.loss_, rel=1e-4)
    # New words and a new label: known weights carry over.
    grown = tw.CRFTagger(**{**settings_, "init": tagger, "max_iter": 0})
    grown.fit([*X, ["hello"]], [*Y, ["UH"]])
    assert grown.predict([["the", "cat", "sat"]]) == [["D", "N", "V"]]


def test_edge_features_are_learned():
    # Whether B follows A depends on the second word, which no (word, label) pair can say.
    sequences = [["p", "same"], ["q", "same"], ["p", "other"], ["q", "other"]] * 3
    labels = [["A", "A"], ["B", "B"], ["A", "B"], ["B", "A"]] * 3
    without = tw.CRFTagger(features="word[0]", l2=0.01).fit(sequences, labels)
    tagger = tw.CRFTagger(features="U0:%x[0,0]\nB0:%x[0,0]\n", l2=0.01).fit(sequences, labels)
    assert without.score(sequences, labels) < 1.0
    assert tagger.predict(sequences) == labels


def test_early_stopping_keeps_the_best_weights():
    tagger = tw.CRFTagger(features="word[0]", dev_every=1, patience=2, tol=1e-12, l2=1e-4)
    tagger.fit(X, Y, dev=(X, Y))
    scores = [step.dev_score for step in tagger.training_log_]
    assert tagger.stop_reason_ == "early_stopping"
    assert tw.report(Y, tagger.predict(X)).f1 == pytest.approx(max(scores))


@pytest.mark.usefixtures("control_c")
def test_control_c_keeps_the_model_so_far():
    def interrupt(step):
        if step.iteration == 3:
            signal.raise_signal(signal.SIGINT)

    tagger = tw.CRFTagger(features="word[0]", tol=0.0).fit(X, Y, on_step=interrupt)
    assert tagger.stop_reason_ == "interrupted"
    assert tagger.n_iter_ == 3
    assert len(tagger.predict(X)) == len(X)


def test_control_c_before_the_first_iteration_goes_on(monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("trelliswork.learn.optimizers.lbfgs._line_search", interrupt)
    with pytest.raises(KeyboardInterrupt):
        tw.CRFTagger(features="word[0]").fit(X, Y)


def test_labels_of_the_development_set_are_checked_first():
    with pytest.raises(tw.LabelError, match=r"dev: sequence 1: .*'Q-Y'"):
        tw.CRFTagger(features="word[0]").fit(
            [["a"]], [["B-X"]], dev=([["a"], ["a"]], [["B-X"], ["Q-Y"]])
        )


def test_no_features_are_worth_a_warning(caplog):
    tw.CRFTagger(features="word[0]", min_count=1000).fit(X, Y)
    assert "no feature occurs 1000 times" in caplog.text


def test_progress_is_drawn_on_standard_error(capsys):
    tw.CRFTagger(features="word[0]", max_iter=3, verbose=True).fit(X, Y)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "loss" in captured.err
    tw.CRFTagger(features="word[0]", l1=0.1, debias=True, max_iter=3, verbose=True).fit(X, Y)
    assert "/6" in capsys.readouterr().err  # to debias is to train once more


def test_scikit_learn_conventions(tagger):
    copy = clone(tagger)
    assert copy.get_params() == tagger.get_params()
    with pytest.raises(NotFittedError):
        copy.predict(X)
    pipeline = make_pipeline(
        FunctionTransformer(lambda X: [[w.lower() for w in s] for s in X]),  # noqa: N803
        tw.CRFTagger(features="word[0]", l2=0.1),
    )
    assert pipeline.fit(X, Y).predict([["THE", "CAT"]]) == [["D", "N"]]
    search = GridSearchCV(tw.CRFTagger(features="word[0]"), {"l2": [0.01, 10.0]}, cv=2)
    search.fit([s for s in X if s], [s for s in Y if s])
    assert search.best_params_["l2"] == 0.01


class AskedAnyway(tw.CRFTagger):
    """Claims to take one 2-d array of numbers, so that scikit-learn runs all its generic checks."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = True
        return tags


def causes(error):
    """Yield the messages of an error and of those that it was raised from."""
    while error is not None:
        yield str(error)
        error = error.__cause__ or error.__context__


def test_check_estimator():
    with pytest.warns(SkipTestWarning, match="Can't test estimator"):
        own = check_estimator(tw.CRFTagger(), on_skip=None)  # one that fails raises
    assert "passed" in {result["status"] for result in own}
    # The generic checks fit one table, one row a sample. A tagger's samples are sequences: it
    # refuses a table by name, and these checks end there. No other may fail.
    generic = check_estimator(AskedAnyway(), on_fail=None, on_skip=None)
    for result in generic:
        if result["status"] == "failed":
            reasons = [
                re.match("[Xy]: expected a list", why) for why in causes(result["exception"])
            ]
            assert any(reasons), (result["check_name"], result["exception"])
    passed = {result["check_name"] for result in generic if result["status"] == "passed"}
    assert {"check_estimators_unfitted", "check_no_attributes_set_in_init"} <= passed


def test_predicting_from_many_threads(tagger):
    expected = tagger.predict(X)
    barrier = threading.Barrier(4)

    def work():
        barrier.wait()
        return [tagger.predict(X) for _ in range(20)]

    with ThreadPoolExecutor(4) as pool:
        results = [job.result() for job in [pool.submit(work) for _ in range(4)]]
    assert all(found == expected for many in results for found in many)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"l2": -1.0}, "l2: expected a finite number from 0 up, got -1.0"),
        ({"l2": float("nan")}, "l2: expected a finite number"),
        ({"max_iter": 1.5}, "max_iter: expected a whole number from 0 up, got 1.5"),
        ({"min_count": 0}, "min_count: expected a whole number from 1 up, got 0"),
        ({"pairs": "some"}, "pairs: expected 'observed' or 'all', got 'some'"),
        ({"features": "chunkin"}, "chunking"),
        ({"class_weight": {"Z": 1.0}}, "class_weight: unknown label 'Z'"),
        ({"class_weight": "even"}, "class_weight: expected a mapping or 'balanced'"),
        ({"n_jobs": 0}, "n_jobs"),
    ],
)
def test_bad_parameters_are_named(parameters, message):
    with pytest.raises(ValueError, match=message):
        tw.CRFTagger(**parameters).fit(X, Y)


def test_unseen_words_and_no_sequences(tagger):
    assert tagger.predict([]) == []
    assert tagger.predict_marginals([]) == []
    assert tagger.predict([[], ["zzz"]])[0] == []
    assert len(tagger.predict([["zzz"]])[0]) == 1


@settings(max_examples=20)
@given(st.lists(st.lists(st.sampled_from(["the", "cat", "zzz", "ran"]), max_size=5), max_size=5))
def test_batches_do_not_matter(tagger_sequences):
    tagger = CACHED
    alone = [tagger.predict([s])[0] for s in tagger_sequences]
    assert tagger.predict(tagger_sequences) == alone


CACHED = tw.CRFTagger(features="word[-1..1]", l2=0.1, n_jobs=1).fit(X, Y)


def test_the_loss_is_the_penalised_likelihood_on_real_data(data_dir):
    columns = ("word", "pos", "label")
    train = tw.read_conll(data_dir / "conll2000" / "train.conll.gz", columns)[:300]
    tagger = tw.CRFTagger(features="chunking", max_iter=300).fit(train)
    trellis = tagger.trellis(train)
    nll = -tagger.log_probability(train).sum()
    penalty = sum((w**2).sum() for w in (tagger.model_.state.weights, tagger.model_.transitions))
    assert nll + penalty == pytest.approx(tagger.loss_, rel=1e-9)
    assert np.isfinite(inference.entropy(trellis)).all()


def test_a_clone_keeps_where_to_start(tagger):
    assert clone(tw.CRFTagger(init=tagger)).init is tagger


@pytest.mark.parametrize(
    ("known", "message"),
    [
        ([["D", "N", "V"], ["D", "ZZ", "V"]], r"known: sequence 1, position 1: unknown label 'ZZ'"),
        ([["D", "N", "V"], ["D"]], r"known: sequence 1: expected 3 labels, got 1"),
    ],
)
def test_known_labels_are_checked(tagger, known, message):
    with pytest.raises(tw.TrellisworkError, match=message):
        tagger.predict(X[:2], known=known)


def test_outside_is_no_segment_in_dev_scores():
    dev = ([["a", "b"]], [["none", "none"]])
    for outside, score in ((None, 1.0), ("none", 0.0)):
        tagger = tw.CRFTagger(features="bias", scheme="plain", outside=outside)
        assert tagger.fit(*dev, dev=dev).dev_score_ == score
