"""Taggers under soft constraints: learning, probabilities, files."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given, strategies as st
from sklearn.base import clone

import trelliswork as tw
from oracle import log_sum_exp
from penalty_cases import listed
from ruled_tagger import labellings
from trelliswork.constraints import at_least, at_most, count, exactly, precedes, requires
from trelliswork.errors import DataError, RuleError
from trelliswork.learn.penalties.held_out import split_off


def sentences(count_of: int = 40, seed: int = 0) -> tuple[list[list[str]], list[list[str]]]:
    """Sentences with one title each, which only some words tell."""
    rng = np.random.default_rng(seed)
    words, labels = [], []
    for _ in range(count_of):
        length = int(rng.integers(2, 6))
        title = int(rng.integers(length))
        labels.append(["T" if t == title else "A" for t in range(length)])
        words.append([str(rng.choice(["t", "m"] if y == "T" else ["a", "m"])) for y in labels[-1]])
    return words, labels


X, Y = sentences()
ONE = exactly(1, "T").soft()


def fitted(constraints, **options) -> tw.CRFTagger:
    options = {"features": "word[0]", "l2": 0.1, "transitions": "all"} | options
    return tw.CRFTagger(constraints=constraints, **options).fit(X, Y)


def test_penalties_of_rules_that_hold_are_learned_and_others_are_zero():
    useless = at_most(1, "A").soft()
    tagger = fitted([ONE, useless])
    assert tagger.penalties_[repr(ONE)] > 2.0
    assert tagger.penalties_[repr(useless)] == 0.0
    # One word in the middle may be either; that there is one title decides it.
    found = tagger.predict([["a", "m", "a"], ["t", "m", "a"]])
    assert found == [["A", "T", "A"], ["T", "A", "A"]]
    free = fitted(())
    assert tagger.loss_ < free.loss_


def test_a_given_penalty_takes_part_in_training_as_it_is():
    tagger = fitted([ONE.hard.soft(1.0)])
    assert tagger.penalties_ == {"exactly(1, 'T').soft(1.0)": 1.0}
    # No gold labelling breaks it: its cost to the other labellings adds to the likelihood.
    assert fitted([ONE.hard]).loss_ < tagger.loss_ < fitted(()).loss_


def test_penalties_are_where_the_gradient_is_zero():
    tagger = fitted([ONE], tol=1e-9, max_iter=500)
    rho, step = tagger.penalties_[repr(ONE)], 1e-3

    def loss(penalty: float) -> float:
        other = tagger.with_constraints([ONE.hard.soft(penalty)])
        return -other.log_probability(X, Y).sum() + 0.1 * penalty**2

    assert loss(rho) < min(loss(rho - step), loss(rho + step))


@pytest.mark.parametrize("solver", ["auto", "sparsa", "fista"])
def test_l1_drives_rules_that_are_of_no_use_to_0(solver):
    """At the optimum the slope of the loss is −l1 for a penalty above 0, and no less for one at 0.

    ``∂ loss / ∂ρ = Σ_b v(y_b) − E[v]``, with the expectation over all labellings, one by one.
    """
    weak = at_most(4, "A", unit="token").soft()  # no labels break it, but few others would either
    rules, l1 = [ONE, weak, at_most(1, "A").soft()], 3.0
    options = {"l2": 0.0, "tol": 1e-12, "gap_tol": 0.0, "max_iter": 5000}
    tagger = fitted(rules, l1=l1, solver=solver, **options)
    penalties = np.array(list(tagger.penalties_.values()))
    problem = listed(tagger, X, Y)
    slopes = np.zeros(3)
    for scores, violations in zip(problem.scores, problem.violations, strict=True):
        own = scores[1:] - violations[1:] @ penalties  # the first is gold once more
        slopes += violations[0] - np.exp(own - log_sum_exp(own.tolist())) @ violations[1:]
    assert penalties[0] > 0
    assert penalties[1:].tolist() == [0.0, 0.0]
    assert slopes[0] == pytest.approx(-l1, abs=1e-3)
    assert (slopes[1:] >= -l1).all()
    assert slopes[1] < 0  # without l1 the weak rule would cost something
    assert fitted(rules, l1=0.0, l2=1e-3).penalties_[repr(weak)] > 0


@pytest.mark.parametrize(
    "options",
    [{}, {"order": 2}, {"max_segment": 4}, {"max_segment": 4, "adjacent": True}, {"order": 0}],
    ids=str,
)
def test_models_of_every_kind_learn_penalties(options):
    rules = [ONE, (count("A") - count("T") <= 1).soft(), requires("T", "A").soft(), at_most(4, "A")]
    tagger = fitted(rules, **options, tol=1e-7)
    assert np.isfinite(list(tagger.penalties_.values())).all()
    assert tagger.penalties_[repr(ONE)] > 0.5
    assert tagger.loss_ <= fitted([at_most(4, "A")], **options, tol=1e-7).loss_ + 1e-3
    total = tagger.log_probability(X, Y)
    assert (total < 0).all()


def test_probabilities_are_those_of_enumeration():
    rules = (ONE, precedes("A", "T").soft(0.3), at_least(1, "A").soft())
    tagger = fitted(rules)
    sentence = ["m", "a", "m"]
    scores = labellings(tagger, sentence, ())
    for rule, penalty in zip(rules, tagger.plan_.penalties, strict=True):
        for names in scores:
            degree = rule.violations(names, sentence, scheme=tagger.labels_)
            scores[names] -= float(penalty) * degree
    log_z = log_sum_exp(list(scores.values()))
    for names, score in scores.items():
        found = tagger.log_probability([sentence], [list(names)])[0]
        assert found == pytest.approx(score - log_z, abs=1e-9)
    by_hand = np.zeros((3, 2))
    for names, score in scores.items():
        for t, name in enumerate(names):
            by_hand[t, tagger.labels_.id(name)] += np.exp(score - log_z)
    np.testing.assert_allclose(tagger.predict_marginals([sentence])[0], by_hand, atol=1e-9)
    expected = sorted(scores.values(), reverse=True)[:3]
    (answer,) = tagger.decode([sentence])
    assert scores[tuple(answer.labels)] == pytest.approx(expected[0], abs=1e-9)
    assert answer.score == pytest.approx(expected[0], abs=1e-9)
    listed = tagger.predict_nbest([sentence], 3)[0]
    probabilities = np.exp(np.array(expected) - log_z)
    np.testing.assert_allclose([p for _, p in listed], probabilities, atol=1e-9)


def test_partly_labelled_sequences_take_part():
    open_labels = [[None if t == 1 else y for t, y in enumerate(own)] for own in Y]
    tagger = tw.CRFTagger(features="word[0]", constraints=[ONE], l2=0.1).fit(X, open_labels)
    assert tagger.penalties_[repr(ONE)] > 0.5


def test_files_keep_what_was_learned(tmp_path):
    tagger = fitted([ONE, at_most(3, "A").soft(0.5), at_least(1, "T")])
    tagger.save(tmp_path / "m.tw")
    loaded = tw.load(tmp_path / "m.tw")
    assert loaded.penalties_ == tagger.penalties_
    assert loaded.predict(X) == tagger.predict(X)
    np.testing.assert_allclose(loaded.log_probability(X, Y), tagger.log_probability(X, Y))
    again = pickle.loads(pickle.dumps(tagger))
    assert again.penalties_ == tagger.penalties_


def test_other_constraints_keep_the_penalties_that_are_known(tmp_path):
    tagger = fitted([ONE])
    both = tagger.with_constraints([at_most(2, "A"), ONE])
    assert both.penalties_ == tagger.penalties_
    new = tagger.with_constraints([at_most(2, "A").soft()])
    with pytest.raises(RuleError, match="No penalty is known for at_most"):
        new.predict(X)
    with pytest.raises(RuleError, match="No penalty is known for at_most"):
        new.predict_marginals(X)
    with pytest.raises(RuleError, match="No penalty is known for at_most"):
        new.save(tmp_path / "m.tw")
    assert np.isnan(clone(new).fit(X, Y).with_constraints([ONE]).penalties_[repr(ONE)])


def test_rules_beyond_the_training_budget_are_an_error():
    rules = [ONE, at_most(2, "A").soft()]
    with pytest.raises(RuleError, match=r"12 arcs .* at_most\(2, 'A'\).*penalties='perceptron'"):
        fitted(rules, training_budget=12)
    known = [ONE, at_most(2, "A").soft(1.0)]
    assert fitted(known, training_budget=12).penalties_[repr(ONE)] > 0
    for options in ({"constrained_training": False}, {"training_budget": 0}):
        with pytest.raises(RuleError, match="training leaves out the constraints"):
            fitted([ONE], **options)


def test_a_development_set_is_decoded_under_the_penalties_of_the_moment():
    X_dev, Y_dev = sentences(10, seed=1)
    tagger = tw.CRFTagger(features="word[0]", constraints=[ONE], l2=0.1, dev_every=1)
    tagger.fit(X, Y, dev=(X_dev, Y_dev))
    found = tw.report(Y_dev, tagger.predict(X_dev)).f1
    assert tagger.dev_score_ == pytest.approx(found)


def test_training_goes_on_where_it_ended():
    first = fitted([ONE], tol=1e-8, max_iter=500)
    again = fitted([at_least(1, "A").soft(), ONE], init=first, max_iter=0)
    assert again.penalties_ == {"at_least(1, 'A').soft()": 0.0, **first.penalties_}
    assert again.loss_ == pytest.approx(first.loss_)


FEW = count("A") - 2 * count("T") <= 0


@pytest.mark.parametrize("options", [{}, {"order": 2}, {"max_segment": 4}], ids=str)
def test_sums_of_counts_may_be_hard(options):
    tagger = fitted([FEW], **options)
    found = tagger.predict([["a", "m", "a", "m"], ["a"] * 9])
    assert all(FEW.violations(labels, scheme=tagger.labels_) == 0 for labels in found)
    broken = ["A", "T", "A", "T", "A", "T", "A", "T", "A"]
    assert np.isfinite(tagger.log_probability([["a"] * 9], [broken])[0])
    assert np.isneginf(tagger.log_probability([["a"]], [["A"]])[0])
    total = np.exp(
        [
            tagger.log_probability([["a", "m"]], [list(names)])[0]
            for names in itertools.product("AT", repeat=2)
        ]
    )
    assert total.sum() == pytest.approx(1.0)


def test_gold_labels_that_break_a_sum_of_counts_are_named():
    with pytest.raises(
        tw.NotInLanguageError, match=r"sequence 4.*count\('A'\) - 2 \* count\('T'\)"
    ):
        tw.CRFTagger(features="word[0]", constraints=FEW).fit([*X[:4], ["a"]], [*Y[:4], ["A"]])
    rules = [count("A") - count("T") >= 1, count("T") - count("A") >= 1]
    tagger = fitted(()).with_constraints(rules)
    with pytest.raises(tw.InfeasibleError, match="No labelling of 3 tokens satisfies"):
        tagger.predict([["a", "m", "a"]])
    relaxed = tagger.with_constraints(rules, on_infeasible="relax").decode([["a", "m", "a"]])[0]
    assert relaxed.status == "relaxed"
    assert rules[0].violations(relaxed.labels) == 0


def test_probability_of_a_soft_rule():
    tagger = fitted(())
    soft, hard = (tagger.probability_of(X[:3], rule) for rule in (ONE, ONE.hard))
    np.testing.assert_allclose(soft, hard)


@pytest.mark.parametrize("how", ["perceptron", "ssvm"])
def test_penalties_are_learned_by_decoding_what_was_held_out(how, tmp_path):
    rules = [ONE, at_least(1, "T").soft(0.25), at_most(4, "A")]
    tagger = fitted(rules, penalties=how, random_state=3)
    assert tagger.penalties_[repr(ONE)] > 0.0
    assert tagger.penalties_["at_least(1, 'T').soft(0.25)"] == 0.25
    # The weights are those of training under the hard constraints alone.
    plain = fitted([at_most(4, "A")])
    np.testing.assert_allclose(tagger.model_.transitions, plain.model_.transitions, atol=1e-5)
    again = clone(tagger).fit(X, Y, sample_weight=np.ones(len(X)))
    assert again.penalties_ == pytest.approx(tagger.penalties_, rel=1e-4)
    tagger.save(tmp_path / "m.tw")
    loaded = tw.load(tmp_path / "m.tw")
    assert loaded.penalties_ == tagger.penalties_
    assert str(loaded.plan_) == str(tagger.plan_)


def test_decoding_learns_what_training_has_no_room_for():
    tagger = fitted([ONE], penalties="perceptron", training_budget=0, random_state=0)
    assert tagger.penalties_[repr(ONE)] > 0.0


def test_given_penalties_need_no_sequences_to_be_held_out():
    one = tw.CRFTagger(features="word[0]", constraints=at_most(1, "T").soft(1.0))
    assert one.set_params(penalties="ssvm").fit([["a", "t"]], [["A", "T"]]).penalties_
    with pytest.raises(DataError, match="expected fully labelled sequences to hold out"):
        one.set_params(constraints=[ONE]).fit([["a", "t"]], [["A", "T"]])


@given(
    st.lists(st.lists(st.sampled_from(["a", "b", "c", None]), max_size=3), min_size=1, max_size=12),
    st.floats(0.01, 0.99),
    st.integers(0, 9),
)
def test_every_label_is_left_to_train_on(labels, share, seed):
    held = split_off(labels, share, seed)
    assert held.sum() <= max(1, round(share * len(labels)))
    names = {name for own in labels for name in own}
    left = {name for own, out in zip(labels, held, strict=True) if not out for name in own}
    assert left == names
    chosen = [own for own, out in zip(labels, held, strict=True) if out]
    assert all(own and None not in own for own in chosen)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"penalties": "guess"}, "penalties: expected 'likelihood' or"),
        ({"held_out": 1.0}, "held_out: expected a share between 0 and 1"),
        ({"held_out": "some"}, "held_out: expected a finite number"),
    ],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        fitted([ONE], **options)
