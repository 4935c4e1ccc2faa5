"""CRFTagger with l1 and groups: optimality on all weights, debiasing, files, errors."""

from __future__ import annotations

import itertools
import json
from functools import partial

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import trelliswork as tw
from trelliswork.constraints import at_most
from trelliswork.learn.optimizers.proximal import proximal_residual
from trelliswork.learn.sparsity.regularizer import Regularizer
from trelliswork.learn.warm_start import parameters_like
from trelliswork.taggers.model_file import FORMAT_VERSION, read_model_file

RNG = np.random.default_rng(0)
WORDS = ["a", "b", "c", "D", "e1", "ff"]
X = [RNG.choice(WORDS, size=n).tolist() for n in (5, 4, 6, 3, 5, 7, 4, 6)]
Y = [
    ["x" if w in "ab" and t % 3 else "y" if w in ("c", "D") else "z" for t, w in enumerate(s)]
    for s in X
]
BIO = [
    ["B-x" if w == "a" else "I-x" if t and s[t - 1] == "a" else "O" for t, w in enumerate(s)]
    for s in X
]
RULES = "word[-1..1]\nshape(word)"
SEGMENTS = "word\nbegin: word\nend: word\nsegment: text\nedge: word"
scaled_groups = partial(tw.GroupLasso, scaled=True)
TIGHT = {"tol": 1e-10, "gap_tol": 0.0, "max_iter": 3000}


def whole_problem(tagger, names=Y):
    """Return the objective of all weights, its regularizer, and the weights of a tagger in it."""
    learner = clone(tagger)._learner(tw.LabelSet.infer(names), X, names)
    setup, features = learner._prepare(X, names)
    objective = learner._objective(setup, features, names, None, None, setup.denominator.soft)
    groups = tagger.regularizer
    size = objective.n_parameters
    regularizer = Regularizer(
        size,
        tagger.l1,
        () if groups is None else groups.levels(objective.layout, learner.encoder),
        np.arange(size - objective.n_penalties, size),
    )
    known = tagger.plan_.penalties
    return objective, regularizer, parameters_like(objective, tagger.model_, learner.encoder, known)


def check_optimal(tagger, names=Y, tolerance=1e-3):
    objective, regularizer, x = whole_problem(tagger, names)
    gradient = np.empty(x.size)
    smooth = objective.value_and_grad(x, gradient)
    assert smooth + regularizer.value(x) == pytest.approx(tagger.loss_, rel=1e-7)
    assert proximal_residual(x, gradient, regularizer) < tolerance
    return x, gradient


CASES = {
    "l1": (Y, {"l1": 0.3, "l2": 0.0}),
    "elastic net": (Y, {"l1": 0.3, "l2": 0.05}),
    "l2 by order": (Y, {"l1": 0.3, "l2": {0: 0.1, 1: 0.01}}),
    "templates": (Y, {"regularizer": scaled_groups("template", 0.4), "l2": 0.01}),
    "features": (Y, {"regularizer": scaled_groups("feature", 0.2), "l2": 0.01}),
    "labels": (Y, {"regularizer": scaled_groups("label", 0.8), "l2": 0.01}),
    "largest weights": (Y, {"regularizer": scaled_groups("feature", 0.2, "linf"), "l2": 0.01}),
    "tree": (Y, {"regularizer": scaled_groups(("template", "feature"), 0.1), "l1": 0.1, "l2": 0.0}),
    "crossing": (Y, {"regularizer": scaled_groups(("feature", "label"), (0.3, 0.05)), "l2": 0.01}),
    "patterns": (
        Y,
        {"regularizer": scaled_groups(("order", "pattern"), 0.1), "order": 2, "l2": 0.01},
    ),
    "order 2": (Y, {"l1": 0.2, "l2": 0.0, "order": 2}),
    "soft": (Y, {"l1": 0.2, "l2": 0.0, "constraints": at_most(1, "x").soft()}),
    "segments": (BIO, {"l1": 0.2, "l2": 0.0, "max_segment": 2, "features": SEGMENTS}),
    "all pairs": (Y, {"l1": 0.2, "l2": 0.0, "pairs": "all", "transitions": "all"}),
}


@pytest.mark.parametrize("name", CASES)
def test_solutions_are_optimal_among_all_weights(name):
    names, parameters = CASES[name]
    tagger = tw.CRFTagger(**{"features": RULES, **parameters, **TIGHT}).fit(X, names)
    x, _ = check_optimal(tagger, names)
    assert 0 < np.count_nonzero(x) < x.size
    assert tagger.training_log_[-1].nonzero == np.count_nonzero(x)
    losses = [step.loss for step in tagger.training_log_]
    # Optimisers that take turns sum the same loss in other orders.
    assert all(b <= a * (1 + 1e-12) for a, b in itertools.pairwise(losses))


def test_optimality_conditions_of_l1():
    tagger = tw.CRFTagger(features=RULES, l1=0.3, l2=0.05, **TIGHT).fit(X, Y)
    x, gradient = check_optimal(tagger)
    alive = x != 0.0
    np.testing.assert_allclose(gradient[alive], -0.3 * np.sign(x[alive]), atol=1e-3)
    assert (np.abs(gradient[~alive]) <= 0.3 + 1e-3).all()


def test_optimality_conditions_of_groups():
    groups = scaled_groups("feature", 0.2)
    tagger = tw.CRFTagger(features=RULES, regularizer=groups, l2=0.01, **TIGHT).fit(X, Y)
    x, gradient = check_optimal(tagger)
    _, regularizer, _ = whole_problem(tagger)
    (level,) = regularizer.levels
    for group, strength in enumerate(level.strengths):
        own = level.groups == group
        if x[own].any():
            expected = -strength * x[own] / np.linalg.norm(x[own])
            np.testing.assert_allclose(gradient[own], expected, atol=1e-3)
        else:
            assert np.linalg.norm(gradient[own]) <= strength + 1e-3


@pytest.mark.parametrize("name", CASES)
def test_solvers_agree(name):
    names, parameters = CASES[name]
    solvers = ["sparsa", "fista"] + (["owlqn"] if "regularizer" not in parameters else [])
    losses = [
        tw.CRFTagger(
            **{"features": RULES, **parameters, "tol": 1e-8, "gap_tol": 1e-6, "max_iter": 2000},
            solver=solver,
        )
        .fit(X, names)
        .loss_
        for solver in solvers
    ]
    assert max(losses) - min(losses) <= 1e-5 * min(losses)


def test_gaps_and_reasons():
    tagger = tw.CRFTagger(features=RULES, l1=0.3, l2=0.0, tol=0.0, gap_tol=1e-4).fit(X, Y)
    assert tagger.stop_reason_ == "gap"
    assert 0.0 <= tagger.gap_ <= 1e-4 * tagger.loss_
    best = tw.CRFTagger(features=RULES, l1=0.3, l2=0.0, **TIGHT).fit(X, Y)
    slack = 1e-9 * (1.0 + best.loss_)
    assert best.loss_ - slack <= tagger.loss_ <= best.loss_ + tagger.gap_ + slack
    assert tw.CRFTagger(features=RULES, l1=0.3, max_iter=2).fit(X, Y).stop_reason_ == "max_iter"
    rough = tw.CRFTagger(features=RULES, l1=0.3, tol=0.5, gap_tol=0.0).fit(X, Y)
    assert rough.stop_reason_ == "converged"
    assert tw.CRFTagger(features=RULES).fit(X, Y).gap_ is None
    partly = [[None if t == 1 else y for t, y in enumerate(own)] for own in Y]
    assert tw.CRFTagger(features=RULES, l1=0.3).fit(X, partly).gap_ is None
    assert tw.CRFTagger(features=RULES, l1=0.3, debias=True).fit(X, Y).gap_ is None


def test_a_useless_template_dies():
    rng = np.random.default_rng(1)
    rows = [[{"word": w, "noise": str(rng.integers(4))} for w in s] for s in X]
    groups = scaled_groups("template", 1.2)
    tagger = tw.CRFTagger(regularizer=groups, l2=0.01).fit(rows, Y)
    kept = tagger.model_.encoder.feature_names()
    assert kept
    assert not any(name.startswith("noise") for name in kept)


def test_a_tree_thins_out_the_templates_that_live():
    rows = [[{"word": w, "rare": f"{b}.{t}"} for t, w in enumerate(s)] for b, s in enumerate(X)]
    whole = tw.CRFTagger(l2=0.01).fit(rows, Y).model_.encoder.feature_names()
    tree = scaled_groups(("template", "feature"), (0.05, 0.3))
    tagger = tw.CRFTagger(regularizer=tree, l1=0.05, l2=0.0).fit(rows, Y)
    kept = tagger.model_.encoder.feature_names()
    assert 0 < len(kept) < sum(name.startswith("word") for name in whole) + 1
    assert all(name.startswith("word") for name in kept)


@pytest.mark.parametrize(
    "sparsity",
    [
        {"l1": 0.3},
        {"regularizer": scaled_groups("feature", 0.2)},
        {"l1": 0.3, "constraints": at_most(1, "x").soft()},
        {"l1": 0.3, "order": 2},
    ],
)
def test_debiasing_fits_the_survivors(sparsity):
    settings = {"features": RULES, "l2": 0.05, **TIGHT, **sparsity}
    first = tw.CRFTagger(**settings).fit(X, Y)
    second = tw.CRFTagger(**settings, debias=True).fit(X, Y)
    objective, _, biased = whole_problem(first)
    _, _, x = whole_problem(second)
    gradient = np.empty(x.size)
    value = objective.value_and_grad(x, gradient)
    assert value == pytest.approx(second.loss_, rel=1e-7)
    # Two fits may differ in their last bits, and a weight near 0 may live in one of them.
    survivors = [step.nonzero for step in second.training_log_ if step.nonzero is not None]
    assert np.count_nonzero(x) == survivors[-1]
    assert x[np.abs(biased) > 1e-6].all()
    np.testing.assert_allclose(gradient[x != 0.0], 0.0, atol=2e-3)
    assert np.linalg.norm(x) > np.linalg.norm(biased)
    steps = [step.iteration for step in second.training_log_]
    assert steps == list(range(1, len(steps) + 1))
    assert second.n_iter_ == len(steps) > first.n_iter_


def test_a_warm_start_is_near_the_end(tmp_path):
    settings = {"features": RULES, "l1": 0.3, "l2": 0.01}
    first = tw.CRFTagger(**settings, gap_tol=1e-7, tol=1e-9).fit(X, Y)
    first.save(tmp_path / "m.tw")
    for init in (first, tmp_path / "m.tw"):
        again = tw.CRFTagger(**settings, init=init).fit(X, Y)
        assert again.n_iter_ < first.n_iter_
        assert again.loss_ == pytest.approx(first.loss_, rel=1e-3)
    less = tw.CRFTagger(**{**settings, "l1": 0.1, **TIGHT}, init=first).fit(X, Y)
    check_optimal(less)


def test_development_sets_stop_early():
    tagger = tw.CRFTagger(
        features=RULES, l1=0.1, l2=0.0, dev_every=1, patience=2, tol=0.0, gap_tol=0.0
    ).fit(X[:5], Y[:5], dev=(X[5:], Y[5:]))
    assert tagger.stop_reason_ == "early_stopping"
    assert tagger.dev_score_ == max(step.dev_score for step in tagger.training_log_)
    assert tw.report(Y[5:], tagger.predict(X[5:])).f1 == pytest.approx(tagger.dev_score_)


def test_threads_change_next_to_nothing():
    for parameters in ({"l1": 0.3}, {"regularizer": scaled_groups("template", 0.1)}):
        one, two = (
            tw.CRFTagger(features=RULES, n_jobs=n_jobs, tol=1e-8, gap_tol=1e-7, **parameters)
            .fit(X, Y)
            .loss_
            for n_jobs in (1, 2)
        )
        assert one == pytest.approx(two, rel=1e-6)


def test_clones_and_grids():
    tree = scaled_groups(("template", "feature"), (0.1, 0.2))
    tagger = tw.CRFTagger(features=RULES, l1=0.1, regularizer=tree, solver="fista", gap_tol=1e-3)
    assert clone(tagger).get_params() == tagger.get_params()
    grid = GridSearchCV(
        tw.CRFTagger(features=RULES, l2=0.0, n_jobs=1),
        {"l1": np.array([0.1, 1e6]), "regularizer": [None, scaled_groups("template", 0.05)]},
        cv=2,
    ).fit(X, Y)
    assert grid.best_params_["l1"] == 0.1


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"l1": -1.0}, ValueError, "l1: expected a finite number from 0 up, got -1.0"),
        ({"l1": float("nan")}, ValueError, "l1: expected a finite number"),
        ({"l1": "1"}, ValueError, "l1: expected a finite number from 0 up, got '1'"),
        ({"gap_tol": -1e-3}, ValueError, "gap_tol: expected a finite number from 0 up"),
        (
            {"regularizer": "template"},
            TypeError,
            r"regularizer: expected a GroupLasso, such as GroupLasso\(by='template'\), or None",
        ),
        ({"solver": "newton"}, ValueError, "solver: expected one of 'auto', .* got 'newton'"),
        ({"solver": "lbfgs", "l1": 0.1}, ValueError, "which are not smooth, got 'lbfgs'"),
        (
            {"solver": "lbfgs", "regularizer": scaled_groups()},
            ValueError,
            "which are not smooth, got 'lbfgs'",
        ),
        (
            {"solver": "owlqn", "regularizer": scaled_groups()},
            ValueError,
            "'owlqn', which minimises l1 alone",
        ),
        ({"debias": True}, ValueError, "debias: expected l1 above 0 or a regularizer"),
        ({"debias": 1, "l1": 1.0}, ValueError, "debias: expected True or False, got 1"),
    ],
)
def test_errors(parameters, error, message):
    with pytest.raises(error, match=message):
        tw.CRFTagger(features=RULES, **parameters).fit(X, Y)


@pytest.mark.parametrize("solver", ["auto", "lbfgs", "owlqn", "sparsa", "fista"])
def test_solvers_of_smooth_objectives(solver):
    """Without l1 there is nothing to choose from; but no choice is wrong."""
    tagger = tw.CRFTagger(features=RULES, solver=solver).fit(X, Y)
    assert tagger.loss_ == pytest.approx(tw.CRFTagger(features=RULES).fit(X, Y).loss_, rel=1e-3)
    assert all(step.nonzero is None for step in tagger.training_log_)


def test_files(tmp_path):
    tree = scaled_groups(("template", "feature"), (0.1, 0.05))
    tagger = tw.CRFTagger(features=RULES, l1=np.float64(0.05), regularizer=tree, l2=0.0).fit(X, Y)
    path = tmp_path / "m.tw"
    tagger.save(path)
    settings, _ = read_model_file(path)
    assert settings["parameters"]["regularizer"]["by"] == ["template", "feature"]
    loaded = tw.load(path)
    assert loaded.get_params() == tagger.get_params()
    assert loaded.predict(X) == tagger.predict(X)
    assert loaded.gap_ == tagger.gap_
    assert loaded.training_log_ == tagger.training_log_
    assert loaded.training_log_[-1].nonzero > 0
    assert clone(loaded).fit(X, Y).loss_ == pytest.approx(tagger.loss_)


def version_of(path):
    import safetensors

    with safetensors.safe_open(path, "numpy") as file:
        return json.dumps(file.metadata())


def test_files_without_sparsity_stay_old(tmp_path):
    plain, sparse = tmp_path / "plain.tw", tmp_path / "sparse.tw"
    tw.CRFTagger(features=RULES).fit(X, Y).save(plain)
    tw.CRFTagger(features=RULES, l1=0.1).fit(X, Y).save(sparse)
    assert "gap_tol" not in version_of(plain)
    assert "gap_tol" in version_of(sparse)
    assert FORMAT_VERSION >= 5


def test_unlabelled_sequences_with_a_sparse_base(tmp_path):
    base = tw.CRFTagger(training="L+CI", features="word[-1..0]", l1=0.1, l2=0.01)
    unlabelled = [["a", "new", "c"], ["b", "D"], ["e1"]]
    tagger = tw.CODLTagger(base, at_most(2, "x"), gamma=0.5, cycles=2)
    tagger.fit(X, Y, unlabelled=unlabelled)
    assert (tagger.model_.state.weights != 0.0).all()
    tagger.save(tmp_path / "m.tw")
    loaded = tw.load(tmp_path / "m.tw")
    assert loaded.predict(X) == tagger.predict(X)
    assert loaded.base.l1 == 0.1


@pytest.mark.parametrize(
    "parameters", [{"l1": 0.1}, {"regularizer": scaled_groups("feature", 0.1)}]
)
def test_control_c_keeps_what_was_reached(parameters):
    def interrupt(step):
        if step.iteration == 3:
            raise KeyboardInterrupt

    tagger = tw.CRFTagger(features=RULES, l2=0.0, tol=0.0, gap_tol=0.0, **parameters)
    tagger.fit(X, Y, on_step=interrupt)
    assert tagger.stop_reason_ == "interrupted"
    assert tagger.n_iter_ == 3
    assert tagger.loss_ == tagger.training_log_[-1].loss
    assert len(tagger.predict(X)) == len(X)


@pytest.mark.parametrize("call", [0, 1])
def test_control_c_before_the_survivors_are_fitted_keeps_them(call, monkeypatch):
    from trelliswork.learn.optimizers import lbfgs

    settings = {"features": RULES, "l1": 0.3, "l2": 0.05}

    def interrupt(*_, **__):
        raise KeyboardInterrupt

    place = (
        "trelliswork.learn.optimizers.minimizer.minimize_lbfgs"
        if call == 0
        else f"{lbfgs.__name__}._line_search"
    )
    monkeypatch.setattr(place, interrupt)
    tagger = tw.CRFTagger(**settings, debias=True).fit(X, Y)
    monkeypatch.undo()
    assert tagger.stop_reason_ == "interrupted"
    plain = tw.CRFTagger(**settings).fit(X, Y)
    assert tagger.loss_ == pytest.approx(plain.loss_, rel=1e-5)
    found, expected = (one.predict_marginals(X) for one in (tagger, plain))
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-5)
    assert tagger.training_log_[-1].nonzero is not None  # a step of the first fit
