"""Soft rules: the rule inside, penalties, and printing."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from rule_strategies import LABEL_SETS, leaves
from trelliswork import LabelError, Sentence
from trelliswork.constraints import (
    Soft,
    at_most,
    changes_only_at,
    count,
    excludes,
    judge,
    matches,
    only_on,
    parse,
    precedes,
    token,
    where,
)
from trelliswork.constraints.monitors_on_segments import tests_on_segments as asked_on_segments

PENALTIES = st.none() | st.floats(0, 1e6)


@given(rule=leaves(["a", "b"], ["a", "b"]), penalty=PENALTIES, drawn=st.lists(st.integers(0, 2)))
def test_soft_rules_mean_what_the_rule_inside_does(rule, penalty, drawn):
    labels = LABEL_SETS["plain"]
    soft = rule.soft(penalty)
    assert soft.is_soft
    assert not rule.is_soft
    assert soft.hard is rule
    assert rule.hard is rule
    assert soft == Soft(rule, penalty)
    assert soft.soft(2.0) == rule.soft(2.0) != rule
    assert hash(soft) == hash(rule.soft(penalty))
    assert (soft.names, soft.tests, soft.rows) == (rule.names, rule.tests, rule.rows)
    names = labels.decode([y % len(labels) for y in drawn])
    assert soft.violations(names, scheme=labels) == rule.violations(names, scheme=labels)
    assert soft.explain(names, scheme=labels) == rule.explain(names, scheme=labels)
    assert soft.compile(labels) == rule.compile(labels)
    assert soft.allowed(labels, names) is None
    assert parse(repr(soft)) == soft


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (at_most(1, "title").soft(1.5), "at_most(1, 'title').soft(1.5)"),
        (at_most(1, "title").soft(penalty=2), "at_most(1, 'title').soft(2.0)"),
        (at_most(1, "title").soft(), "at_most(1, 'title').soft()"),
        (at_most(1, "title").soft(-0.0), "at_most(1, 'title').soft(0.0)"),
        (at_most(1, "title").soft(np.float32(0.5)), "at_most(1, 'title').soft(0.5)"),
        ((~at_most(1, "a")).soft(), "(~at_most(1, 'a')).soft()"),
        ((at_most(1, "a") & at_most(1, "b")).soft(), "(at_most(1, 'a') & at_most(1, 'b')).soft()"),
        (
            where(token(regex="x")).allow("a").soft(1e-9),
            "where(token(regex='x')).allow('a').soft(1e-09)",
        ),
    ],
)
def test_soft_rules_print_as_their_source(rule, text):
    assert repr(rule) == text
    assert parse(text) == rule


@pytest.mark.parametrize(
    ("penalty", "kind", "message"),
    [
        (-1.0, ValueError, r"expected 0 or more, got -1\.0"),
        (math.nan, ValueError, "expected a number of 0 or more, got nan. Leave it out to have it"),
        (math.inf, ValueError, r"expected a finite number, got inf\. A rule without \.soft\(\) is"),
        (-math.inf, ValueError, "expected 0 or more, got -inf"),
        (10**400, ValueError, "expected a finite number"),
        ("1.5", TypeError, r"expected a number, got str '1\.5'\. Leave it out to have it learned"),
        (True, TypeError, "expected a number, got bool True"),
        ([1.0], TypeError, "expected a number, got list"),
    ],
)
def test_penalties_that_are_none(penalty, kind, message):
    with pytest.raises(kind, match=message):
        at_most(1, "a").soft(penalty)


def test_penalties_from_arrays():
    assert at_most(1, "a").soft(np.array(2.0)) == at_most(1, "a").soft(2.0)
    with pytest.raises(TypeError, match="expected a number, got ndarray"):
        at_most(1, "a").soft(np.array([2.0]))


def test_only_rules_are_soft():
    with pytest.raises(TypeError, match="Soft: expected a constraint, got str 'a'"):
        Soft("a")
    assert Soft(at_most(1, "a").soft(1.0), 2.0) == at_most(1, "a").soft(2.0)


@pytest.mark.parametrize(
    ("combine", "advice"),
    [
        (lambda soft, hard: soft & hard, r"\(a & b\)\.soft\(\), or give the rules one by one"),
        (lambda soft, hard: hard & soft, r"\(a & b\)\.soft\(\), or give the rules one by one"),
        (lambda soft, hard: soft | hard, r"\(a \| b\)\.soft\(\)"),
        (lambda soft, hard: hard | soft, r"\(a \| b\)\.soft\(\)"),
        (lambda soft, hard: soft & soft, r"\(a & b\)\.soft\(\)"),
        (lambda soft, hard: ~soft, r"\(~a\)\.soft\(\)"),
    ],
)
def test_parts_of_rules_are_never_soft(combine, advice):
    with pytest.raises(TypeError, match=f"is soft, and a part of a rule cannot be.*{advice}"):
        combine(at_most(1, "a").soft(), precedes("a", "b"))


def test_soft_rules_split_into_soft_conjuncts():
    parts = at_most(1, "a"), excludes("a", "b"), count("a") - count("b") <= 0
    together = parts[0] & parts[1] & parts[2]
    assert together.soft(0.5).conjuncts == tuple(part.soft(0.5) for part in parts)
    assert at_most(1, "a").soft().conjuncts == (at_most(1, "a").soft(),)


def test_soft_rules_on_segments():
    rule = matches("a b") & changes_only_at(token(regex="x"))
    assert rule.soft(1.0).in_segments() == rule.in_segments().soft(1.0)
    assert asked_on_segments(rule.soft()) == asked_on_segments(rule)


def test_soft_rules_look_at_the_input_and_know_their_names():
    rule = only_on(token(regex="x"), "a").soft()
    assert rule.violations(["a", "b"], Sentence(["x", "y"])) == 0
    with pytest.raises(ValueError, match=r"\.soft\(\) looks at the input"):
        rule.violations(["a", "b"])
    with pytest.raises(LabelError, match="there is no"):
        at_most(1, "zzz").soft().check(LABEL_SETS["plain"])


@given(
    rules=st.lists(leaves(["a", "b"], ["a", "b"]), max_size=4),
    labels=st.lists(st.sampled_from("abc"), max_size=4),
)
def test_many_rules_are_judged_as_one_by_one(rules, labels):
    rules = [*rules, at_most(0, "a").soft()]
    expected = [rule.violations(labels, scheme=LABEL_SETS["plain"]) for rule in rules]
    assert judge(rules, labels, scheme=LABEL_SETS["plain"]) == expected


def test_rules_that_look_at_the_input_are_not_judged_without():
    with pytest.raises(ValueError, match="looks at the input"):
        judge([only_on(token(regex="x"), "a")], ["a"])
