"""Constraint-driven learning: stopping, refusals, and files."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

import trelliswork as tw
from codl_cases import BASES, U_MORE, X_MORE, Y_MORE, U, X, Y
from same_weights import check_same_weights
from trelliswork.constraints import at_most, starts_with


def test_a_development_set_keeps_the_best_cycle():
    tagger = tw.CODLTagger(BASES["hmm"], gamma=0.2, cycles=4, tol=0.0)
    tagger.fit(X_MORE, Y_MORE, unlabelled=U_MORE, dev=(X_MORE, Y_MORE))
    scores = [cycle.dev_score for cycle in tagger.curve_]
    assert tagger.dev_score_ == max(scores) == tagger.score(X_MORE, Y_MORE)
    assert tagger.kept_cycle_ == scores.index(max(scores))  # the first of the best


def test_patience(monkeypatch):
    monkeypatch.setattr("trelliswork.learn.codl._accuracy", lambda learned, *rest: next(scores))
    monkeypatch.setattr("trelliswork.learn.pool.Labelling.changed_since", lambda *labels: 1.0)
    scores = iter([0.5, 0.7, 0.6, 0.7, 0.9])
    tagger = tw.CODLTagger(BASES["hmm"], cycles=9, patience=2)
    tagger.fit(X_MORE, Y_MORE, unlabelled=U_MORE, dev=(X_MORE, Y_MORE))
    assert (tagger.stop_reason_, tagger.n_iter_) == ("early_stopping", 3)
    assert (tagger.kept_cycle_, tagger.dev_score_) == (1, 0.7)


@pytest.mark.parametrize("when", [0, 1, 2])
def test_an_interruption_keeps_what_was_reached(when):
    def interrupt(cycle):
        if cycle.iteration == when:
            raise KeyboardInterrupt

    tagger = tw.CODLTagger(BASES["hmm"], cycles=5, tol=0.0)
    tagger.fit(X_MORE, Y_MORE, unlabelled=U_MORE, on_cycle=interrupt)
    assert (tagger.stop_reason_, tagger.n_iter_, tagger.kept_cycle_) == ("interrupted", when, when)
    assert tagger.predict(X_MORE)


@pytest.mark.parametrize("unlabelled", [[], [[]], [[], []]])
def test_unlabelled_data_are_required(unlabelled):
    with pytest.raises(tw.DataError, match="fit the HMMTagger itself"):
        tw.CODLTagger(BASES["hmm"]).fit(X, Y, unlabelled=unlabelled)


def test_labels_have_to_be_known():
    with pytest.raises(tw.DataError, match="y: sequence 0, token 1: expected a label name"):
        tw.CODLTagger(BASES["crf"]).fit(X, [["A", None], ["B"]], unlabelled=U)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"gamma": 1.5}, "gamma: expected a share, 1 at most, got 1.5"),
        ({"gamma": "x"}, "gamma: expected a finite number from 0 up, got 'x'"),
        ({"cycles": 0}, "cycles: expected a whole number from 1 up, got 0"),
        ({"k": 2.5}, "k: expected a whole number from 1 up, got 2.5"),
        ({"k": np.inf}, "k: expected a whole number from 1 up, got inf"),
        ({"temperature": 0.0}, "temperature: expected 1e-06 or more.*'top1'"),
        ({"tol": -1.0}, "tol: expected a finite number from 0 up, got -1.0"),
        ({"include_labelled": "no"}, "include_labelled: expected True or False, got 'no'"),
        ({"labelling": "best"}, "labelling: expected 'top1' or 'topk' or 'posterior', got 'best'"),
        ({"labelling": "posterior"}, "only an HMMTagger learns from posteriors"),
        ({"on_infeasible": "stop"}, "on_infeasible"),
    ],
)
def test_parameters_that_make_no_sense(parameters, message):
    with pytest.raises(ValueError, match=message):
        tw.CODLTagger(BASES["crf"], **parameters).fit(X, Y, unlabelled=U)


@pytest.mark.parametrize("base", ["HMM", None, tw.HMMTagger, tw.CODLTagger(BASES["hmm"])])
def test_a_base_that_is_none(base):
    with pytest.raises(TypeError, match="base: expected an unfitted HMMTagger or"):
        tw.CODLTagger(base).fit(X, Y, unlabelled=U)


@pytest.mark.parametrize("base", BASES)
def test_saving(base, tmp_path):
    rules = [starts_with("A").soft(), at_most(2, "B")]
    own = clone(BASES[base]).set_params(training="L+wCI", constraints=rules, labels=["Z"])
    tagger = tw.CODLTagger(own, gamma=0.5, cycles=2).fit(
        X_MORE, Y_MORE, unlabelled=U_MORE, dev=(X_MORE, Y_MORE)
    )
    tagger.save(tmp_path / "m.tw")
    loaded = tw.load(tmp_path / "m.tw")
    assert isinstance(loaded, tw.CODLTagger)
    assert loaded.predict(U_MORE) == tagger.predict(U_MORE)
    assert loaded.penalties_ == tagger.penalties_
    assert loaded.curve_ == tagger.curve_
    assert (loaded.kept_cycle_, loaded.stop_reason_) == (tagger.kept_cycle_, tagger.stop_reason_)
    assert (loaded.gamma, type(loaded.base)) == (0.5, type(own))
    assert loaded.base.training == "L+wCI"
    assert loaded.base.labels == ["Z"]
    again = loaded.fit(X_MORE, Y_MORE, unlabelled=U_MORE, dev=(X_MORE, Y_MORE))
    check_same_weights(again, tagger, counted=base != "crf")


def test_parameters_of_the_base_can_be_searched():
    tagger = clone(tw.CODLTagger(BASES["hmm"], gamma=0.3))
    assert tagger.set_params(base__smoothing=0.5).base.smoothing == 0.5
    assert BASES["hmm"].smoothing == 1.0
    assert tagger.get_params()["base__training"] == "L+CI"
