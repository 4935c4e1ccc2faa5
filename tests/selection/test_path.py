"""Regularisation paths: their beginning, their points and their end."""

from __future__ import annotations

import json

import numpy as np
import pytest

import trelliswork as tw
from trelliswork.learn.crf import CRFLearner

RNG = np.random.default_rng(3)
WORDS = {"N": ["cat", "dog", "tree", "Ann"], "V": ["runs", "sees", "likes"], "D": ["the", "a"]}


def draw(n: int) -> tuple[list[list[str]], list[list[str]]]:
    y = [RNG.choice(["N", "V", "D"], size=RNG.integers(2, 6)).tolist() for _ in range(n)]
    return [[str(RNG.choice(WORDS[label])) for label in labels] for labels in y], y


X, Y = draw(30)
DEV = draw(12)
FEATURES = "word[-1..1]\nsuffix(word, 1..2)\nbias"
EXACT = {"features": FEATURES, "gap_tol": 1e-7, "tol": 0.0, "max_iter": 3000, "n_jobs": 1}
PENALTIES = {
    "l1": {"l1": 0.5},
    "l1 alone": {"l1": 2.0, "l2": 0.0},
    "templates": {"regularizer": tw.GroupLasso()},
    "linf": {"regularizer": tw.GroupLasso(by="feature", norm="linf")},
    "tree": {"l1": 0.1, "regularizer": tw.GroupLasso(by=("template", "feature"))},
    "crossing": {"regularizer": tw.GroupLasso(by=("template", "label"), strength=(1.0, 0.2))},
}


def exact(**parameters) -> tw.CRFTagger:
    return tw.CRFTagger(**EXACT, **parameters)


@pytest.mark.parametrize("kind", PENALTIES)
def test_each_point_is_what_a_cold_start_finds(kind):
    tagger = exact(**PENALTIES[kind])
    path = tw.regularization_path(tagger, X, Y, n=4, least=0.05)
    for point in path:
        cold = tw.CRFTagger(**point.tagger.get_params()).fit(X, Y)
        assert point.tagger.loss_ == point.loss
        assert point.loss == pytest.approx(cold.loss_, rel=1e-4)


@pytest.mark.parametrize("kind", PENALTIES)
def test_the_path_begins_where_the_last_weight_dies(kind):
    tagger = exact(**PENALTIES[kind])
    strongest = tw.regularization_path(tagger, X, Y, n=2, least=0.9).strongest
    # Where groups cross, a proximal point is near 0 before it is 0: the start is 4% too strong.
    low = 0.95 if kind == "crossing" else 0.99
    above, below = tw.regularization_path(
        tagger, X, Y, strengths=[low * strongest, 1.01 * strongest]
    )
    assert above.strength > below.strength
    assert above.features == 0
    if "l1" in PENALTIES[kind]:  # which is on transitions too
        assert above.weights == 0
    assert below.weights > above.weights


def test_more_and_more_lives_where_features_do_not_share():
    # Every token has one feature: weights are fitted nearly by themselves.
    only = tw.CRFTagger(features="word", l1=1.0, order=0, gap_tol=1e-7, tol=0.0, max_iter=3000)
    path = tw.regularization_path(only, X, Y, n=6, least=0.02)
    alive = [point.weights for point in path]
    assert alive == sorted(alive)
    assert alive[0] == 0 < alive[-1]
    assert [point.strength for point in path] == pytest.approx(
        (1.001 * path.strongest * np.geomspace(1, 0.02, 6)).tolist()
    )


def test_a_point_says_what_it_is():
    tagger = tw.CRFTagger(features=FEATURES, l1=0.2, regularizer=tw.GroupLasso(strength=0.5))
    path = tw.regularization_path(tagger, X, Y, strengths=[0.5, 2.0], dev=DEV)
    first, second = path
    assert (first.strength, second.strength) == (2.0, 0.5)
    assert first.tagger.l1 == pytest.approx(0.4)
    assert first.tagger.regularizer == tw.GroupLasso(strength=1.0)
    assert tagger.l1 == 0.2
    assert not hasattr(tagger, "model_")
    for point in path:
        found = tw.report(DEV[1], point.tagger.predict(DEV[0]), scheme="plain").f1
        assert point.dev_score == point.tagger.dev_score_ == pytest.approx(found)
        assert set(point.templates) <= set(path.templates)
        assert point.gap is not None
        assert point.weights <= path.n_weights
    assert path.best in list(path)
    assert path.strongest is None
    assert "dev F1" in str(path)
    assert len(str(path).splitlines()) == 4
    assert json.loads(json.dumps(path.to_dict()))["points"][1]["strength"] == 0.5
    assert "●" in path.survival()


def test_bytes_are_those_of_the_file(tmp_path):
    (point,) = tw.regularization_path(
        tw.CRFTagger(features=FEATURES, l1=1.0), X, Y, strengths=[1.0]
    )
    point.tagger.save(tmp_path / "m.tw")
    assert (tmp_path / "m.tw").stat().st_size == point.bytes
    assert tw.load(tmp_path / "m.tw").predict(X[:3]) == point.tagger.predict(X[:3])


def test_debias_leaves_the_path_as_it_is():
    plain, debiased = (
        tw.regularization_path(
            exact(regularizer=tw.GroupLasso(), debias=debias), X, Y, n=3, least=0.1
        )
        for debias in (False, True)
    )
    for biased, free in zip(plain, debiased, strict=True):
        assert biased.templates == free.templates
        assert biased.loss == pytest.approx(free.loss, rel=1e-6)
        assert free.tagger.debias
    assert debiased[-1].tagger.loss_ < plain[-1].tagger.loss_  # which is l2 and likelihood alone


def test_soft_rules_are_on_the_path_too():
    rules = [tw.at_most(1, "D").soft()]
    path = tw.regularization_path(exact(l1=1.0, constraints=rules), X, Y, n=3, least=0.05)
    assert path[0].weights == 0
    assert list(path[0].tagger.penalties_.values()) == [0.0]


def test_dicts_and_segments():
    dicts = [[{"w": token, "n": len(token)} for token in x] for x in X]
    path = tw.regularization_path(tw.CRFTagger(regularizer=tw.GroupLasso()), dicts, Y, n=3)
    assert set(path.templates) == {"w", "n"}
    segments = tw.CRFTagger(features="ner", max_segment="auto", regularizer=tw.GroupLasso())
    path = tw.regularization_path(segments, X[:8], Y[:8], n=2, least=0.1, dev=DEV)
    assert any(name.startswith("segment: ") for name in path.templates)


def test_steps_are_told():
    seen = []
    tagger = tw.CRFTagger(features=FEATURES, l1=1.0)
    path = tw.regularization_path(tagger, X, Y, n=3, on_step=seen.append)
    assert seen == list(path)
    assert [point.iteration for point in seen] == [1, 2, 3]
    assert "weights" in seen[-1].summary()


def test_a_bar_is_drawn(capsys):
    tagger = tw.CRFTagger(features=FEATURES, l1=1.0, verbose=True)
    tw.regularization_path(tagger, X, Y, n=2)
    assert "2/2" in capsys.readouterr().err


def test_an_interrupted_path_keeps_its_points():
    def stop(point):
        if point.iteration == 2:
            raise KeyboardInterrupt

    tagger = tw.CRFTagger(features=FEATURES, l1=1.0)
    path = tw.regularization_path(tagger, X, Y, n=5, on_step=stop)
    assert path.interrupted
    assert len(path) == 2
    assert "interrupted" in str(path)


@pytest.mark.parametrize("at", [0, 1])
def test_a_point_that_is_interrupted_is_left_out(monkeypatch, at):
    train, points = CRFLearner.fit, []

    def fit(self, *args, **more):
        if len(points) == at:
            raise KeyboardInterrupt
        points.append(1)
        return train(self, *args, **more)

    monkeypatch.setattr(CRFLearner, "fit", fit)
    tagger = tw.CRFTagger(features=FEATURES, l1=1.0)
    if at == 0:
        with pytest.raises(KeyboardInterrupt):
            tw.regularization_path(tagger, X, Y)
    else:
        assert len(tw.regularization_path(tagger, X, Y)) == 1


def test_a_figure_is_drawn(tmp_path):
    tagger = tw.CRFTagger(features=FEATURES, regularizer=tw.GroupLasso())
    for dev in (None, DEV):
        path = tw.regularization_path(tagger, X, Y, n=3, dev=dev)
        path.plot(tmp_path / "path.png")
        assert (tmp_path / "path.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("parameters", "given", "message"),
    [
        ({}, {}, "expected one with l1 or a regularizer"),
        ({"regularizer": tw.GroupLasso(strength=0.0)}, {}, "expected one with l1 or"),
        ({"l1": 1.0}, {"strengths": []}, "strengths: expected a list of numbers"),
        ({"l1": 1.0}, {"strengths": 3.0}, "strengths: expected a list of numbers"),
        ({"l1": 1.0}, {"strengths": [1.0, 0.0]}, "strengths: expected numbers above 0"),
        ({"l1": 1.0}, {"strengths": [-1.0]}, "strengths: expected a finite number from 0 up"),
        ({"l1": 1.0}, {"n": 1}, "n: expected a whole number from 2 up"),
        ({"l1": 1.0}, {"least": 1.0}, "least: expected a share between 0 and 1"),
        ({"l1": 1.0, "solver": "lbfgs"}, {}, "solver: expected"),
    ],
)
def test_errors(parameters, given, message):
    with pytest.raises(ValueError, match=message):
        tw.regularization_path(tw.CRFTagger(features=FEATURES, **parameters), X, Y, **given)


def test_labels_that_nothing_tells_apart():
    with pytest.raises(tw.DataError, match="distinguish labels"):
        tw.regularization_path(tw.CRFTagger(features="bias", l1=1.0), [["a"]], [["X"]])


def test_other_taggers_have_no_path():
    with pytest.raises(TypeError, match="expected a CRFTagger, got PerceptronTagger"):
        tw.regularization_path(tw.PerceptronTagger(l1=1.0), X, Y)


def test_a_path_needs_data_to_measure_on():
    with pytest.raises(tw.DataError, match="dev: expected labelled tokens to measure on, got none"):
        tw.regularization_path(exact(l1=1.0), X, Y, dev=([], []))
