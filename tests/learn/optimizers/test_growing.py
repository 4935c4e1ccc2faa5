"""A beginning on few sequences: the same optimum, less work, and Ctrl-C."""

from __future__ import annotations

import numpy as np
import pytest

import trelliswork as tw
from trelliswork.features import TemplateEncoder
from trelliswork.learn.objective.objective import Objective
from trelliswork.learn.optimizers import growing
from trelliswork.learn.optimizers.growing import _Part, begin_on_parts
from trelliswork.learn.sparsity.regularizer import Regularizer
from trelliswork.models.structure import Structure

RNG = np.random.default_rng(0)
X = [RNG.choice(list("abcdef"), size=n).tolist() for n in RNG.integers(2, 9, size=200)]
Y = [["xyz"[ord(word) % 3 if t % 5 else 0] for t, word in enumerate(words)] for words in X]
TIGHT = {"features": "word[-1..1]", "l1": 0.5, "tol": 1e-9, "gap_tol": 0.0, "max_iter": 1000}


@pytest.fixture
def objective():
    structure = Structure.chain(tw.LabelSet.infer(Y))
    features = TemplateEncoder("word[-1..1]").fit(X)
    return Objective(features, structure.encode(Y), structure, l2=0.3)


@pytest.fixture
def from_few(monkeypatch):
    monkeypatch.setattr(growing, "_FEWEST", 20)


@pytest.mark.parametrize("l2", [0.0, 0.3])
def test_the_optimum_is_the_same_and_nearer(l2, monkeypatch):
    plain = tw.CRFTagger(l2=l2, **TIGHT).fit(X, Y)
    monkeypatch.setattr(growing, "_FEWEST", 20)
    grown = tw.CRFTagger(l2=l2, **TIGHT).fit(X, Y)
    assert grown.loss_ == pytest.approx(plain.loss_, rel=1e-6)
    assert grown.training_log_[0].loss < 0.6 * plain.training_log_[0].loss


def test_all_sequences_are_a_part_of_themselves(objective):
    x = np.random.default_rng(1).normal(size=objective.n_parameters)
    expected, found = np.empty(x.size), np.empty(x.size)
    value = objective.value_and_grad(x, expected)
    assert _Part(objective, objective.n_sequences, 1)(x, found) == pytest.approx(value)
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_gradients_of_a_part(objective):
    part = _Part(objective, 17, 1)
    x = np.random.default_rng(2).normal(size=objective.n_parameters)
    gradient, unused = np.empty(x.size), np.empty(x.size)
    part(x, gradient)
    for k in range(0, x.size, 7):
        step = np.zeros(x.size)
        step[k] = 1e-5
        slope = (part(x + step, unused) - part(x - step, unused)) / 2e-5
        assert gradient[k] == pytest.approx(slope, rel=1e-5, abs=1e-6)


def test_learned_weights_and_few_sequences_stay(objective, monkeypatch):
    regularizer = Regularizer(objective.n_parameters, 0.5)
    zero, learned = np.zeros(objective.n_parameters), np.ones(objective.n_parameters)
    assert begin_on_parts(objective, zero, regularizer, max_iter=9)[0] is zero
    monkeypatch.setattr(growing, "_FEWEST", 20)
    assert begin_on_parts(objective, learned, regularizer, max_iter=9)[0] is learned
    assert begin_on_parts(objective, zero, regularizer, max_iter=9)[0].any()
    assert not zero.any()


@pytest.mark.usefixtures("from_few")
@pytest.mark.parametrize(
    ("sequences", "call", "kept"),
    [(20, 1, False), (20, 5, True), (70, 1, True), (None, 1, True), (None, 2, True)],
)
def test_control_c_keeps_what_was_reached(sequences, call, kept, monkeypatch):
    """`sequences`: of the part on which it comes; None: on all."""
    calls = []
    evaluate = Objective.value_and_grad

    def interrupted(self, x, gradient, *, sequences=None, n_jobs=1):
        calls.append(None if sequences is None else len(sequences))
        if calls[-1] == where and calls.count(where) == call:
            raise KeyboardInterrupt
        return evaluate(self, x, gradient, sequences=sequences, n_jobs=n_jobs)

    where = sequences
    monkeypatch.setattr(Objective, "value_and_grad", interrupted)
    tagger = tw.CRFTagger(**TIGHT)
    if not kept:
        with pytest.raises(KeyboardInterrupt):
            tagger.fit(X, Y)
        return
    tagger.fit(X, Y)
    assert tagger.stop_reason_ == "interrupted"
    assert tagger.training_log_ == []
    assert tagger.model_.state.weights.any()
    assert len(tagger.predict(X)) == len(X)
