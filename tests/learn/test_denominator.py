"""Training under constraints: loss, gradient, and gold labels that break a rule."""

from __future__ import annotations

import logging

import numpy as np
import pytest

import trelliswork as tw
from oracle import log_sum_exp
from ruled_tagger import RULES, YEAR, X, Y, fitted, labellings
from trelliswork.constraints import (
    at_least,
    at_most,
    changes_only_at,
    precedes,
    starts_with,
    token,
    where,
)
from trelliswork.labels.gold import GoldLabels
from trelliswork.learn.denominator import Denominator
from trelliswork.learn.objective.objective import Objective
from trelliswork.models.structure import Structure
from trelliswork.planning.plan import plan


def objective(rules, names):
    """The objective of a training set under rules, with all weights."""
    labels = tw.LabelSet(["A", "T", "Y"])
    encoder = tw.features.TemplateEncoder("word[0]")
    features = encoder.fit(X, min_count=1, n_jobs=1)
    under = Denominator.choose(plan(labels, rules), X, names, trained=True, on_conflict="error")
    made = Objective(
        features,
        GoldLabels.encode(labels, names),
        Structure.chain(labels),
        l2=0.3,
        pairs="all",
        transitions="all",
        automaton=under.automaton,
        classes=under.classes,
        open_labels=under.open_labels,
    )
    return labels, encoder, made


PARTIAL = [["A", None, "Y"], [frozenset({"T", "A"}), "A", None], Y[2], [None, None]]


@pytest.mark.parametrize("names", [Y, PARTIAL], ids=["full", "partial"])
@pytest.mark.parametrize(
    "rules",
    [
        RULES,
        (changes_only_at(token(regex="[ab0-9]")), at_most(2, "A")),
        ("(A | T)* Y?",),
        RULES[1:2],
    ],
    ids=["words", "classes", "regex", "mask"],
)
def test_loss_and_gradient_equal_enumeration(rules, names):
    labels, encoder, made = objective(rules, names)
    constraints = plan(labels, rules).constraints
    rng = np.random.default_rng(0)
    parameters = rng.normal(size=made.n_parameters)

    def loss(parameters):
        tagger = tw.CRFTagger()
        tagger.model_ = made.model(parameters, encoder)
        tagger.labels_ = labels
        total = 0.3 * float(parameters @ parameters)
        for sentence, gold in zip(X, names, strict=True):
            paths = labellings(tagger, sentence, constraints)
            allowed = labels.allowed(gold)
            inside = [
                score
                for found, score in paths.items()
                if all(allowed[t, labels.id(name)] for t, name in enumerate(found))
            ]
            total += log_sum_exp(list(paths.values())) - log_sum_exp(inside)
        return total

    gradient = np.empty(made.n_parameters)
    assert made.value_and_grad(parameters, gradient) == pytest.approx(loss(parameters))
    for i in range(0, made.n_parameters, 3):
        step = np.zeros_like(parameters)
        step[i] = 1e-5
        slope = (loss(parameters + step) - loss(parameters - step)) / 2e-5
        assert gradient[i] == pytest.approx(slope, abs=1e-5)


def test_constrained_training_fits_better_under_the_constraints():
    rules = ("(A | T)* Y?",)
    nll = {
        trained: -fitted(rules, constrained_training=trained, l2=0.0, max_iter=100, tol=0)
        .log_probability(X, Y)
        .sum()
        for trained in (True, False)
    }
    free = -fitted((), l2=0.0, max_iter=100, tol=0).log_probability(X, Y).sum()
    assert nll[True] <= nll[False] + 1e-6
    assert nll[False] <= free + 1e-6


def test_conflicts_name_sentence_token_and_constraint():
    with pytest.raises(
        tw.NotInLanguageError, match=r"y: sequence 1, token 1 \('A'\).*precedes\('A', 'T'\)"
    ):
        fitted([at_most(1, "T"), precedes("A", "T")])
    with pytest.raises(tw.NotInLanguageError, match=r"sequence 2, at the end.*at_least\(1, 'Y'\)"):
        fitted(at_least(1, "Y"))
    with pytest.raises(tw.NotInLanguageError, match=r"sequence 0, token 1 \('T'\).*where"):
        fitted(where(token(regex="b")).allow("A"))


def test_conflicts_of_partial_labels():
    names = [["A", None, "Y"], ["T", None, None], Y[2], Y[3]]
    tagger = tw.CRFTagger(features="word[0]", constraints=[at_most(0, "Y"), at_least(1, "Y")])
    with pytest.raises(tw.NotInLanguageError, match="sequence 0"):
        tagger.fit(X, names)
    rules = [starts_with("A", "T"), ~at_least(2, "A")]
    with pytest.raises(tw.NotInLanguageError, match=r"sequence 2, .*at_least\(2, 'A'\)"):
        tw.CRFTagger(features="word[0]", constraints=rules).fit(
            X, [["A", None, "Y"], ["T", None, None], ["A", "T", {"A"}], Y[3]]
        )


def test_skipping_conflicts_counts_them(caplog):
    with caplog.at_level(logging.WARNING):
        tagger = fitted(precedes("A", "T"), on_conflict="skip")
    assert tagger.n_skipped_ == 1
    assert "1 of 4 training sequences" in caplog.text
    same = tw.CRFTagger(
        features="word[0]", l2=0.1, transitions="all", max_iter=30, constraints=precedes("A", "T")
    ).fit([X[0], *X[2:]], [Y[0], *Y[2:]])
    assert tagger.loss_ == pytest.approx(same.loss_)
    with pytest.raises(tw.DataError, match="all 4 break one") as raised:
        fitted(starts_with("Y"), on_conflict="skip")
    assert "on_conflict" not in str(raised.value)


def test_sequences_that_no_labels_would_fit_are_not_blamed_on_the_labels():
    message = r"y: sequence 0: no labelling of 5 tokens satisfies at_least\(6, 'A'\)\. Leave"
    with pytest.raises(tw.NotInLanguageError, match=message):
        tw.CRFTagger(features="word[0]", constraints=at_least(6, "A")).fit(
            [["a"] * 5, ["b"] * 6], [[None] * 5, ["A"] * 6]
        )


def test_sample_weights_follow_what_is_skipped():
    weights = [1.0, 5.0, 2.0, 0.5]
    options = {"features": "word[0]", "constraints": precedes("A", "T"), "max_iter": 20}
    tagger = tw.CRFTagger(on_conflict="skip", **options).fit(X, Y, sample_weight=weights)
    same = tw.CRFTagger(**options).fit(
        [X[0], *X[2:]], [Y[0], *Y[2:]], sample_weight=[1.0, 2.0, 0.5]
    )
    assert tagger.loss_ == pytest.approx(same.loss_)


def test_decode_only_constraints_may_contradict_the_gold_labels(caplog):
    with caplog.at_level(logging.WARNING):
        tagger = fitted(precedes("A", "T"), constrained_training=False)
    assert "1 of 4" in caplog.text
    assert tagger.n_skipped_ == 0
    assert tagger.predict([X[1]]) != [Y[1]]
    free = fitted(())
    np.testing.assert_allclose(tagger.model_.transitions, free.model_.transitions)


def test_constraints_beyond_the_budget_are_said(caplog):
    rules = plan(
        tw.LabelSet(["A", "T", "Y"]), [at_most(1, "T"), at_most(2, "A")], training_budget=16
    )
    with caplog.at_level(logging.WARNING):
        under = Denominator.choose(rules, X, Y, trained=True, on_conflict="error")
    assert "training leaves out 1 constraints" in caplog.text
    assert "at_most(2, 'A')" in caplog.text
    assert under.automaton.n_arcs == rules.training.hard_product.automaton.n_arcs


def test_too_many_token_tests_are_said_in_training(caplog):
    rules = [changes_only_at(token(regex=f"x{i}") | YEAR | token(regex="[ab]")) for i in range(7)]
    with caplog.at_level(logging.WARNING):
        fitted(rules, max_iter=1)
    assert "training leaves out 1 constraints beyond 6 token tests: changes_only_at" in caplog.text
    assert "read 7 token tests, and 6 are the most" in caplog.text
    assert "Join tests" in caplog.text
    assert "arcs" not in caplog.text


def test_dev_set_is_decoded_under_constraints():
    tagger = fitted(RULES, dev_every=1, patience=3)
    other = tw.CRFTagger(features="word[0]", constraints=RULES, dev_every=1).fit(
        X, Y, dev=(X[:2], [Y[0], Y[1]])
    )
    assert other.dev_score_ is not None
    assert tagger.plan_.placements == other.plan_.placements
