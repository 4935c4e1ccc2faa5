"""Soft constraints and sums of counts in a plan: their places and their descriptions."""

from __future__ import annotations

import re

import numpy as np
import pytest

from trelliswork.constraints import at_least, at_most, count, exactly, not_at, requires
from trelliswork.errors import LabelError, RuleError, TooLargeError
from trelliswork.labels.label_set import LabelSet
from trelliswork.planning.plan import Plan, plan
from trelliswork.planning.training import USUAL_LENGTH, Training

LABELS = LabelSet(["a", "b", "c"])
SUM = count("a") - count("b") <= 0
ONCE = [at_most(1, name).soft() for name in LABELS]


def test_kinds_of_constraints():
    rules = [not_at(0, "a"), at_most(1, "b"), SUM, not_at(0, "b").soft(), SUM.soft(2.0)]
    planned = Plan(LABELS, rules)
    assert planned.masks == (0,)
    assert planned.hard_rules == (1, 2)
    assert planned.hard.length_dependent == (2,)
    assert planned.soft == (3, 4)
    assert planned.terms.soft == planned.terms.of((3, 4)) == (2, 3)
    assert planned.terms[2].rule == not_at(0, "b")  # a bit, no mask
    assert planned.hard.together is None  # there is no automaton for every length
    assert planned.training.hard_rules == (1,)
    assert planned.training.constraints(10) == (1, 2, 3, 4)


def test_soft_constraints_are_added_to_training_while_they_fit():
    planned = Plan(LABELS, [at_most(1, "a"), *ONCE[1:], at_most(3, "b").soft()])
    whole = planned.training.product_of((0, 1, 2), 10).automaton.n_arcs
    tight = Plan(LABELS, planned.constraints, training_budget=whole)
    assert tight.training.constraints(10) == (0, 1, 2)
    assert Plan(LABELS, planned.constraints, training_budget=0).training.constraints(10) == ()
    without = Plan(LABELS, planned.constraints, train_soft=False)
    assert without.training.constraints(10) == without.training.hard_rules == (0,)


def test_counters_of_long_sequences_may_not_fit_where_those_of_short_ones_do():
    planned = Plan(LABELS, [SUM.soft()], training_budget=400)
    assert planned.training.constraints(10) == (0,)
    assert planned.training.constraints(100) == ()


def test_many_that_do_not_fit_end_the_search(monkeypatch):
    rules = [at_most(1 + i, "a").soft() for i in range(40)]
    planned = Plan(LABELS, rules, training_budget=1)
    asked = []
    build = Training.product_of
    monkeypatch.setattr(Training, "product_of", lambda self, *a: asked.append(a) or build(self, *a))
    assert planned.training.constraints(10) == ()
    assert len(asked) == 10


def test_tables_tell_what_soft_constraints_cost():
    shown = str(plan(LABELS, [at_most(1, "a"), *ONCE[1:2], SUM.soft(2.5)]))
    assert "\nPenalties: 1 given, 1 to be learned.\n" in shown
    assert "\ncount('a') - count('b') <= 0 2.5 " in re.sub(" +", " ", shown)
    learned = plan(LABELS, [*ONCE[:2], SUM.soft(2.5)]).with_penalties([0.0, 1.23456, 2.5])
    assert "\nat_most(1, 'b') 1.235 " in re.sub(" +", " ", str(learned))
    assert "\nPenalties: 1 given, 2 learned (0 to 1.235, 1 of them 0).\n" in str(learned)
    many = [at_most(n, "a").soft(1.0) for n in range(9)]
    assert ".soft(1.0) and 4 more." in str(plan(LABELS, many, training_budget=0))
    assert f"sequences of {USUAL_LENGTH} tokens" in shown
    lines = [line for line in shown.splitlines() if line.startswith("at_most(1, 'b')")]
    assert " training " in lines[0]
    beyond = str(plan(LABELS, ONCE, training_budget=20))
    assert "Left to decoding, beyond the 20 arcs of the training budget: at_most(1, 'b')" in beyond
    by_decoding = str(plan(LABELS, ONCE, train_soft=False))
    assert "Left to decoding" not in by_decoding


def test_sizes_are_those_of_products():
    rules = [
        at_most(2, "a").soft(),
        SUM,
        SUM.soft(),
        requires("a", "b").soft(),
        exactly(1, "c").soft(),
    ]
    planned = plan(LABELS, rules)
    for index, placed in enumerate(planned.placements):
        built = planned.terms.product(planned.terms.of((index,)), USUAL_LENGTH).automaton
        assert (placed.states, placed.arcs) == (built.n_states, built.n_arcs)


def test_products_of_sums_need_a_length():
    planned = plan(LABELS, [SUM, at_most(1, "c")])
    assert planned.hard.product((1,)).automaton.n_patterns == 9
    with pytest.raises(ValueError, match="length: the automaton of a constraint depends on it"):
        planned.hard.product((0, 1))
    made = planned.hard.product((0, 1), 5).automaton
    assert made.n_patterns == 9  # weights stay those of the model
    assert made.n_states > planned.hard.product((1,)).automaton.n_states


def test_small_products_are_told_from_large_ones():
    planned = plan(LABELS, [*ONCE, SUM.soft()], decoding_budget=100)
    assert planned.terms.compact_budget == 100
    assert planned.terms.are_compact((0, 1), 10)
    assert not planned.terms.are_compact((0, 1, 2, 3), 10)
    with pytest.raises(TooLargeError):
        planned.terms.product((0, 1, 2, 3), 10)


def test_penalties_carry_over_to_the_same_constraints():
    known = plan(LABELS, ONCE).with_penalties([1.0, 2.0, np.nan])
    later = plan(LABELS, [*ONCE[::-1], at_least(1, "a"), at_most(1, "a").soft(0.5)])
    found = later.with_penalties_of(known).penalties
    np.testing.assert_array_equal(found, [np.nan, 2.0, 1.0, np.inf, 0.5])


def test_soft_constraints_are_checked_like_hard_ones():
    with pytest.raises(LabelError, match="there is no segment 'd'"):
        plan(LABELS, at_most(1, "d").soft())
    mixed = (SUM | at_most(1, "a")).soft()
    with pytest.raises(RuleError, match="has no automaton for sequences of every length"):
        plan(LABELS, mixed)


def test_items_that_cost_nothing_are_left_out():
    planned = plan(LABELS, ONCE).with_penalties([0.0, 1.0, 0.0])
    assert planned.costs.costly_terms((0, 1, 2)) == (1,)
    with pytest.raises(RuleError, match=r"No penalty is known for at_most\(1, 'a'\).soft\(\)"):
        plan(LABELS, ONCE).costs.costly_terms((0,))
    assert plan(LABELS, ONCE).costs.costly_terms(()) == ()


def test_violations_of_the_empty_labelling():
    planned = plan(LABELS, [at_least(2, "a").soft(), requires("a", "b").soft(), *ONCE])
    assert planned.terms.empty_violations.tolist() == [2, 0, 0, 0, 0]
