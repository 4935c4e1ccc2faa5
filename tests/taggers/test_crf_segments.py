"""Taggers of any order and of segments under constraints, from training to files."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import trelliswork as tw
from trelliswork.constraints import (
    at_most,
    changes_only_at,
    ends_with,
    matches,
    only_on,
    token,
)

X = [
    ["Lee", ".", "Cats", "and", "dogs", "1998"],
    ["Roe", "Poe", ".", "Birds", "2001"],
    ["Fox", ".", "Ants", "."],
]
PLAIN = [
    ["A", "A", "T", "T", "T", "Y"],
    ["A", "A", "A", "T", "Y"],
    ["A", "A", "T", "T"],
]
OUTSIDE = [
    ["A", "o", "T", "T", "T", "Y"],
    ["A", "A", "o", "T", "Y"],
    ["A", "o", "T", "o"],
]
BIO = [
    ["B-A", "O", "B-T", "I-T", "I-T", "B-Y"],
    ["B-A", "B-A", "O", "B-T", "B-Y"],
    ["B-A", "O", "B-T", "O"],
]
PARTIAL = [["A", None, "T", "T", frozenset({"T", "Y"}), "Y"], PLAIN[1], [None, "A", "T", None]]
MODELS = [
    {"order": 3},
    {"order": 0, "max_segment": "auto"},
    {"order": 2, "max_segment": 4},
    {"order": 2, "max_segment": {"Y": 1}},
    {"order": 1, "max_segment": 4, "adjacent": True},
]
RULES = (at_most(1, "T"), ends_with("T", "Y"), only_on(token(regex="[0-9]+"), "Y"))


def labellings(tagger: tw.CRFTagger, sentence: list[str]):
    """All labellings that the rules of a tagger allow."""
    for labels in itertools.product(tagger.labels_.names, repeat=len(sentence)):
        rules = tagger.plan_.constraints
        if not any(r.violations(labels, sentence, scheme=tagger.labels_) for r in rules):
            yield list(labels)


def trained(y, constraints=(), **options) -> tw.CRFTagger:
    outside = "o" if any("o" in labels for labels in y) else None
    tagger = tw.CRFTagger(
        features="lower(word[0])",
        constraints=constraints,
        outside=outside,
        l2=0.1,
        max_iter=20,
        **options,
    )
    return tagger.fit(X, y)


@pytest.mark.parametrize("options", MODELS, ids=str)
@pytest.mark.parametrize("y", [PLAIN, OUTSIDE, BIO, PARTIAL], ids=["plain", "out", "bio", "part"])
@pytest.mark.parametrize("rules", [(), RULES], ids=["free", "ruled"])
def test_probabilities_add_up_over_what_the_rules_allow(options, y, rules):
    tagger = trained(y, rules, **options)
    sentence = ["Lee", "x", "1998"]
    possible = list(labellings(tagger, sentence))
    log_p = tagger.log_probability([sentence] * len(possible), possible)
    assert np.exp(log_p).sum() == pytest.approx(1.0)
    best = tagger.predict([sentence])[0]
    if not options.get("adjacent"):  # the best segmentation may not be of the best labelling
        assert log_p[possible.index(best)] == pytest.approx(log_p.max())
    marginals = np.zeros((3, len(tagger.labels_)))
    for labels, p in zip(possible, np.exp(log_p), strict=True):
        marginals[np.arange(3), tagger.labels_.encode(labels)] += p
    np.testing.assert_allclose(tagger.predict_marginals([sentence])[0], marginals, atol=1e-9)


@pytest.mark.parametrize("options", MODELS, ids=str)
def test_files_keep_structure_and_rules(options, tmp_path):
    rules = (at_most(1, "A"), matches("A T Y?"), changes_only_at(token(regex="[0-9.a-z]+")))
    tagger = trained(PLAIN, rules[:1], on_conflict="skip", **options).with_constraints(
        rules, on_infeasible="relax"
    )
    tagger.save(tmp_path / "m.tw")
    loaded = tw.load(tmp_path / "m.tw")
    assert loaded.plan_.constraints == tagger.plan_.constraints
    assert loaded.plan_.segmentation == tagger.plan_.segmentation
    answers = tagger.decode(X)
    assert [a.score for a in loaded.decode(X)] == pytest.approx([a.score for a in answers])
    assert loaded.predict_segments(X) == tagger.predict_segments(X)


def test_training_under_a_rule_leaves_out_what_breaks_it():
    rule = matches("A T Y")
    tagger = trained(PLAIN, rule, order=2, max_segment="auto", on_conflict="skip")
    assert tagger.n_skipped_ == 1
    assert repr(tagger.plan_.constraints[0]) == "matches('A T Y', unit='segment')"
    with pytest.raises(tw.NotInLanguageError, match=r"sequence 2, .* break matches"):
        trained(PLAIN, rule, order=2, max_segment="auto")


def test_skipped_sentences_shape_neither_limits_nor_patterns():
    x = [["a"] * 4, ["b"] * 60, ["a", "c"]]
    y = [["P", "Q", "P", "Q"], ["Z"] * 58 + ["P", "R"], ["Q", "P"]]
    options = {"max_segment": "auto", "order": 2, "features": "word[0]", "max_iter": 3}
    options["transitions"] = "observed"
    rule = at_most(0, "Z")
    tagger = tw.CRFTagger(constraints=rule, on_conflict="skip", **options).fit(x, y)
    alone = tw.CRFTagger(**options).fit([x[0], x[2]], [y[0], y[2]])
    assert tagger.n_skipped_ == 1
    assert tagger.labels_.names == ("P", "Q", "R", "Z")  # rules may name them
    assert set(tagger.plan_.segmentation.limits) == {1}
    names = tagger.model_.structure.letter_names
    assert tagger.model_.patterns.names(names) == alone.model_.patterns.names(("P", "Q"))
    assert tagger.predict(x[:1]) == alone.predict(x[:1])


def test_the_plan_says_what_rules_cost_on_a_model_of_segments():
    tagger = trained(PLAIN, RULES, order=2, max_segment="auto")
    shown = str(tagger.plan_)
    assert f"{tagger.plan_.model.n_states} states" in shown
    placements = {p.constraint: p for p in tagger.plan_.placements}
    assert placements[RULES[2]].where == "mask"
    assert placements[RULES[0]].where == "training"
    assert placements[RULES[0]].arcs == tagger.plan_.hard.product([0]).automaton.n_arcs


def test_limits_are_told_where_they_alone_rule_out_every_labelling():
    tagger = trained(PLAIN, order=1, max_segment="auto").with_constraints("A T Y?")
    with pytest.raises(tw.InfeasibleError, match=r"at most A 3, T 3, Y 1 tokens; train with a lar"):
        tagger.predict([["Lee"] * 8])
    with pytest.raises(tw.InfeasibleError, match=r"on_infeasible='relax'\.$"):
        tagger.predict([["Lee"]])


def test_the_longest_sequence_bounds_the_work_under_any_max_segment():
    options = {"order": 2, "l2": 0.5, "features": "lower(word)"}
    near = tw.CRFTagger(max_segment=8, **options).fit(X, PLAIN)
    far = tw.CRFTagger(max_segment=1_000_000, **options).fit(X, PLAIN)
    assert far.loss_ == pytest.approx(near.loss_, rel=1e-6)
    assert far.predict(X) == near.predict(X)
    with pytest.raises(ValueError, match="up to 1,000,000"):
        tw.CRFTagger(max_segment=10**11, **options).fit(X, PLAIN)


def test_open_labels_leave_weights_to_the_transitions_they_may_hold():
    hidden = [["author", None, "date"], ["author", "title", "date"]]
    tokens = [["a", "b", "c"]] * 2
    chain = tw.CRFTagger(order=2, features="word", max_iter=2).fit(tokens, hidden)
    pairs = {z for z in chain.model_.patterns.names(chain.labels_.names) if len(z) == 2}
    assert {("author", "date"), ("author", "author"), ("date", "date")} <= pairs
