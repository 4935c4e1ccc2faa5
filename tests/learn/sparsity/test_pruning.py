"""Models without their weights of 0 answer as the models with them."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest

import trelliswork as tw
from trelliswork.constraints import at_most
from trelliswork.learn.sparsity.pruning import prune, without_zeros

RNG = np.random.default_rng(0)
WORDS = ["a", "b", "c", "D", "e1"]
X = [RNG.choice(WORDS, size=n).tolist() for n in (5, 4, 6, 3, 5, 1)]
Y = [[("x" if w in "ab" else "y" if t % 2 else "z") for t, w in enumerate(s)] for s in X]
BIO = [["B-x" if w == "a" else "I-x" if t and s[t - 1] == "a" else "O" for t, w in enumerate(s)]
       for s in X]  # fmt: skip
NEW = [["a", "new", "D"], [], ["b"], ["c", "c", "c", "a"]]
DICTS = [[{"word": w, "n": float(len(w)), "odd": t % 2 == 1} for t, w in enumerate(s)] for s in X]
TABLES = [np.array([[len(w), w == "a", t % 2, 0.0] for t, w in enumerate(s)], float) for s in X]
SEGMENTS = "word\nword[-1]\nbegin: word\nend: word\nsegment: text\nsegment: shape\nedge: word"
RULES = (at_most(2, "x"), at_most(1, "z").soft(0.5), at_most(1, "y").soft())

CASES = {
    "chain": (X, Y, NEW, {"features": "word[-1..1]\nshape(word)"}),
    "edges": (X, Y, NEW, {"features": "word\nedge: word\nedge: word[-1]"}),
    "order 0": (X, Y, NEW, {"features": "word[-1..1]", "order": 0}),
    "order 2": (X, Y, NEW, {"features": "word[-1..1]", "order": 2}),
    "order 2 with edges": (
        X,
        Y,
        NEW,
        {"features": "word\nedge: word\nedge: word[-1]", "order": 2, "edge_order": 2},
    ),
    "constraints": (X, Y, NEW, {"features": "word", "order": 2, "constraints": RULES[1:]}),
    "segments": (X, BIO, NEW, {"features": SEGMENTS, "max_segment": "auto"}),
    "segments of order 2": (X, BIO, NEW, {"features": SEGMENTS, "max_segment": 3, "order": 2}),
    "dicts": (DICTS, Y, DICTS[::-1], {}),
    "dicts and segments": (DICTS, BIO, DICTS[::-1], {"max_segment": "auto"}),
    "matrices": (TABLES, Y, TABLES[::-1], {}),
}


def both(name, **parameters):
    """Return a tagger with all weights, and one without those that are 0."""
    sequences, names, new, more = CASES[name]
    tagger = tw.CRFTagger(**more, **parameters)
    learner = tagger._learner(tw.LabelSet.infer(names), sequences, names)
    learned = learner.learn(sequences, names)
    taggers = [tw.CRFTagger(**more, **parameters) for _ in range(2)]
    for one, kept in zip(taggers, (learned, without_zeros(learned)), strict=True):
        one._keep(kept)
        one.model_, one.plan_ = kept.model, kept.plan  # which `_keep` leaves no zero in
        one.n_iter_, one.loss_, one.stop_reason_ = len(learned.run.log), learned.run.loss, "x"
        one.gap_, one.dev_score_, one.n_skipped_ = learned.run.gap, None, 0
        one.training_log_ = learned.run.log
    return taggers, [*sequences, *new]


def check_same(first, second, sequences):
    # Labels whose weights are all 0 tie: compare what the answers are worth.
    answers = [tagger.predict(sequences) for tagger in (first, second)]
    worth = [first.log_probability(sequences, labels) for labels in answers]
    np.testing.assert_allclose(*worth, atol=1e-9)
    for one, other in zip(
        first.predict_marginals(sequences), second.predict_marginals(sequences), strict=True
    ):
        np.testing.assert_allclose(one, other, atol=1e-9)
    for one, other in zip(
        first.decode_nbest(sequences, 3), second.decode_nbest(sequences, 3), strict=True
    ):
        assert [a.score for a in one] == pytest.approx([b.score for b in other], abs=1e-9)


@pytest.mark.parametrize("l1", [0.02, 0.3, 1.0])
@pytest.mark.parametrize("name", CASES)
def test_answers_stay_the_same(name, l1, tmp_path):
    (whole, pruned), sequences = both(name, l1=l1, l2=0.01)
    check_same(whole, pruned, sequences)
    model = pruned.model_
    for kind in ("state", "edge", "begin", "end", "segment"):
        weights, before = getattr(model, kind), getattr(whole.model_, kind)
        if weights is not None:
            assert (weights.weights != 0.0).all()
            assert np.count_nonzero(before.weights) == weights.weights.size
            assert (np.diff(weights.offsets) > 0).all()  # no feature without a weight
    if not model.patterns.is_chain:
        alive = model.pattern_weights != 0.0
        if model.edge is not None:
            alive[model.edge.outputs] = True
        assert alive.all()
        assert model.automaton.n_states <= whole.model_.automaton.n_states
    pruned.save(tmp_path / "m.tw")
    loaded = tw.load(tmp_path / "m.tw")
    check_same(pruned, loaded, sequences)
    again = prune(model)
    assert again.encoder.feature_counts() == model.encoder.feature_counts()
    assert len(again.patterns) == len(model.patterns)


@pytest.mark.parametrize("name", CASES)
def test_models_without_features(name, tmp_path):
    sequences, names, new, more = CASES[name]
    tagger = tw.CRFTagger(l1=1e6, **more).fit(sequences, names)
    model = tagger.model_
    assert model.state.weights.size == 0
    assert not model.pattern_weights.any()
    assert len(model.encoder.feature_names()) == 0
    for marginals in tagger.predict_marginals([s for s in new if len(s)]):
        assert marginals.sum(axis=1) == pytest.approx(1.0)
    found = tagger.predict(new)
    assert [len(one) for one in found] == [len(one) for one in new]
    tagger.save(tmp_path / "m.tw")
    assert tw.load(tmp_path / "m.tw").predict(new) == found
    again = tw.CRFTagger(init=tmp_path / "m.tw", **more).fit(sequences, names)
    fresh = tw.CRFTagger(**more).fit(sequences, names)
    assert again.loss_ == pytest.approx(fresh.loss_, rel=1e-3)


def test_patterns_go_and_constraints_stay():
    (whole, pruned), sequences = both("constraints", l1=0.5, l2=0.0)
    assert len(pruned.model_.patterns) < len(whole.model_.patterns)
    assert pruned.model_.automaton.n_states < whole.model_.automaton.n_states
    assert pruned.penalties_ == whole.penalties_
    assert pruned.plan_.constraints == whole.plan_.constraints
    ruled = [one.with_constraints(RULES[0]) for one in (whole, pruned)]
    check_same(*ruled, sequences)
    runs = [[y for y, _ in itertools.groupby(labels)] for labels in ruled[1].predict(sequences)]
    assert all(names.count("x") <= 2 for names in runs)


def test_dead_templates_are_not_saved(tmp_path):
    noise = np.random.default_rng(1)
    tokens = [[f"{w}{noise.integers(30)}" for w in s] for s in X]
    tagger = tw.CRFTagger(
        features="word[0]\nprefix(word[0], 1)\nword[-1]",
        regularizer=tw.GroupLasso("template", 0.3, scaled=True),
        l2=0.0,
    ).fit(tokens, Y)
    kept = tagger.model_.encoder.feature_templates()["state"][0]
    assert any("prefix" in name for name in kept)
    dead = {"word[0]", "word[-1]"} - set(kept)
    assert dead
    tagger.save(tmp_path / "m.tw")
    loaded = tw.load(tmp_path / "m.tw")
    assert loaded.model_.encoder.feature_templates()["state"][0] == kept
    rules = loaded.model_.settings()["encoder"]["templates"]["text"].splitlines()
    assert not dead & set(rules)
    assert set(loaded.model_.encoder.feature_names()) == set(tagger.model_.encoder.feature_names())
    assert loaded.predict(tokens) == tagger.predict(tokens)


def test_models_without_a_zero_stay_as_they_are():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tagger = tw.CRFTagger(features="word", transitions="all").fit(X, Y)
    same = prune(tagger.model_)
    assert same.structure is tagger.model_.structure
    np.testing.assert_array_equal(same.state.weights, tagger.model_.state.weights)
    assert same.encoder.feature_names() == tagger.model_.encoder.feature_names()
