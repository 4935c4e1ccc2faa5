"""Online proximal learning as the solver of a tagger."""

from __future__ import annotations

import numpy as np
import pytest

import trelliswork as tw

RNG = np.random.default_rng(0)
WORDS = [f"w{i}" for i in range(12)]
X = [RNG.choice(WORDS, size=RNG.integers(2, 7)).tolist() for _ in range(60)]
Y = [["ABC"[int(word[1:]) % 3] for word in words] for words in X]
FEATURES = "word[0]\nword[-1]"


def fitted(**parameters) -> tw.CRFTagger:
    return tw.CRFTagger(features=FEATURES, random_state=0, n_jobs=1, **parameters).fit(X, Y)


@pytest.mark.parametrize(
    "parameters",
    [
        {"l2": 1.0},
        {"l2": 0.0, "l1": 0.5},
        {"l2": 0.1, "l1": 0.5},
        {"l2": 0.1, "regularizer": tw.GroupLasso(by="template", strength=0.7)},
        {"l2": 0.1, "regularizer": tw.GroupLasso(by="feature", strength=0.5)},
    ],
)
def test_it_comes_close_to_the_optimum(parameters):
    best = fitted(tol=1e-9, max_iter=2000, gap_tol=0.0, **parameters)
    found = fitted(solver="online", max_iter=150, tol=1e-8, **parameters)
    assert best.loss_ - 1e-6 <= found.loss_ < 1.01 * best.loss_
    assert found.stop_reason_ in ("converged", "max_iter")
    assert found.gap_ is None
    assert len(found.training_log_) == found.n_iter_
    if len(parameters) > 1:
        last = found.training_log_[-1]
        model = found.model_
        n_live = np.count_nonzero(model.state.weights) + np.count_nonzero(model.pattern_weights)
        assert last.nonzero == n_live
        assert model.state.weights.all()  # zeros are no part of the model


def test_a_useless_template_dies():
    groups = tw.GroupLasso(by="template", strength=0.7, scaled=True)
    found = fitted(solver="online", l2=0.1, regularizer=groups, order=0)
    assert {name.split("=")[0] for name in found.model_.encoder.feature_names()} == {"word[0]"}
    assert found.predict(X) == Y


def test_max_iter_counts_passes_and_the_seed_decides():
    once = fitted(solver="online", l1=0.5, max_iter=3, tol=0.0)
    assert (once.n_iter_, once.stop_reason_) == (3, "max_iter")
    again = fitted(solver="online", l1=0.5, max_iter=3, tol=0.0)
    assert np.array_equal(once.model_.state.weights, again.model_.state.weights)
    other = tw.CRFTagger(
        features=FEATURES, solver="online", l1=0.5, max_iter=3, tol=0.0, random_state=1
    )
    assert other.fit(X, Y).loss_ != once.loss_


def test_debias_and_dev_and_files(tmp_path):
    steps = []
    tagger = tw.CRFTagger(
        features=FEATURES, solver="online", l1=0.5, max_iter=20, dev_every=2, random_state=0
    ).fit(X, Y, dev=(X[:9], Y[:9]), on_step=steps.append)
    assert tagger.dev_score_ == 1.0
    assert steps == tagger.training_log_
    plain = fitted(solver="online", l1=0.5, l2=0.01)
    unbiased = fitted(solver="online", l1=0.5, l2=0.01, debias=True)
    assert np.abs(unbiased.model_.state.weights).sum() > np.abs(plain.model_.state.weights).sum()
    plain.save(tmp_path / "model")
    loaded = tw.load(tmp_path / "model")
    assert loaded.solver == "online"
    assert loaded.predict(X) == plain.predict(X)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"l2": {0: 1.0, 1: 0.1}}, "l2: expected one number with solver='online'"),
        ({"l1": 1.0, "regularizer": tw.GroupLasso()}, "takes l1 alone or a regularizer with one"),
        ({"regularizer": tw.GroupLasso(by=("template", "feature"))}, "one level of groups"),
        ({"regularizer": tw.GroupLasso(norm="linf")}, "by their norm 'l2'"),
        ({"constraints": tw.at_most(2, "A").soft()}, "without soft constraints"),
    ],
)
def test_unsupported_settings_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        fitted(solver="online", **parameters)
