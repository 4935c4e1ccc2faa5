"""Verification: true answers are proven, and altered ones are rejected."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import trelliswork as tw
from problem_cases import ProblemCase, cases
from trelliswork.decoding.answers import Decoding
from trelliswork.decoding.bounds import Relaxation

RULES = (
    tw.at_most(1, "a").soft(1.5),
    tw.requires("c", "b").soft(1.0),
    tw.at_least(1, "b"),
    (tw.count("a") - tw.count("c") <= 0).soft(0.5),
)
PROBLEM = tw.Problem(
    [[2.0, 0.5, 0.0], [0.0, 0.2, 1.0], [2.0, 0.0, 0.25], [0.5, 1.0, 1.0]],
    constraints=RULES,
    labels=["a", "b", "c"],
)
CASE = ProblemCase(PROBLEM)


def claim(case: ProblemCase, names, certificate, **changes) -> Decoding:
    """An answer with fields that fit the labels."""
    value = case.problem.value(names)
    broken = case.problem.violations(names)
    decoding = Decoding(
        labels=list(names),
        score=value,
        upper_bound=value,
        status="optimal",
        violations={repr(case.problem.constraints[i]): v for i, v in broken.items()},
        method="product",
        iterations=1,
        prices={},
        certificate=certificate,
    )
    return replace(decoding, **changes)


def everything(case: ProblemCase) -> tw.Certificate:
    """The certificate of the product with all items."""
    return tw.Certificate(tuple(range(len(case.problem.plan.terms))), (tw.Leaf(),))


BEST = max(CASE.values, key=CASE.values.__getitem__)
TRUE = claim(CASE, BEST, everything(CASE))


@settings(max_examples=50)
@given(cases(most_rules=3))
def test_the_product_proves_the_best_and_no_other(case):
    for names, value in case.values.items():
        found = tw.verify(case.problem, claim(case, names, everything(case)))
        best = value >= case.best - 1e-9 * (1 + abs(value))
        assert bool(found) == best, found
        assert found.status == ("proven" if best else "rejected")
        assert found.score == pytest.approx(value)


@st.composite
def trees(draw, case: ProblemCase, decisions: tuple = (), depth: int = 3) -> list[tw.Leaf]:
    """Leaves that partition the labellings, with any prices."""
    problem, plan = case.problem, case.problem.plan
    if depth and len(problem) and draw(st.booleans()):
        token = draw(st.integers(0, len(problem) - 1))
        chosen = frozenset(draw(st.sets(st.sampled_from(problem.labels.names))))
        return [
            leaf
            for inside in (True, False)
            for leaf in draw(trees(case, (*decisions, (token, chosen, inside)), depth - 1))
        ]
    prices = {
        i: draw(st.floats(0, min(plan.costs.of_terms[i], 5.0)))
        for i, item in enumerate(plan.terms)
        if item.row is not None
    }
    return [tw.Leaf(decisions, prices)]


@settings(max_examples=50)
@given(st.data())
def test_no_certificate_proves_less_than_the_best(data):
    case = data.draw(cases(most_rules=3))
    leaves = tuple(data.draw(trees(case)))
    certificate = tw.Certificate((), leaves)
    for names, value in case.values.items():
        found = tw.verify(case.problem, claim(case, names, certificate))
        if found:
            assert value == pytest.approx(case.best, rel=1e-8, abs=1e-8)
        modest = claim(case, names, certificate, upper_bound=np.inf, status="feasible")
        found = tw.verify(case.problem, modest)
        assert found.status in ("proven", "unverified")
        assert found.upper_bound >= case.best - 1e-9 * (1 + abs(case.best))
        break


def test_prices_alone_can_prove():
    problem = tw.Problem(
        [[2.0, 0.0], [0.0, 1.0], [2.0, 0.0]],
        constraints=tw.at_most(1, "a").soft(0.5),
        labels=["a", "b"],
    )
    case = ProblemCase(problem)
    certificate = tw.Certificate((), (tw.Leaf((), {0: 0.5}),))
    assert tw.verify(problem, claim(case, ["a", "b", "a"], certificate))
    assert not tw.verify(problem, claim(case, ["a", "a", "a"], certificate))


def test_the_true_answer_is_proven():
    found = tw.verify(PROBLEM, TRUE)
    assert found.status == "proven"
    assert found.score == found.upper_bound == pytest.approx(CASE.best)


def leaf(*decisions, **prices) -> tw.Leaf:
    return tw.Leaf(decisions, prices)


FIRST = (0, frozenset({"a"}), True)
OTHER = (0, frozenset({"a"}), False)
SECOND = (1, frozenset({"a", "b"}), True)
TERMS = everything(CASE).terms


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"score": TRUE.score + 0.1}, "score: the labels are worth"),
        ({"score": np.nan}, "score: the labels are worth"),
        ({"upper_bound": TRUE.score - 0.1}, "upper_bound: .* is less than"),
        ({"upper_bound": TRUE.score + 0.1}, "it is said to be optimal"),
        ({"upper_bound": np.inf}, "it is said to be optimal"),
        ({"upper_bound": np.nan}, "upper_bound: nan"),
        ({"labels": ["c", "c", "c", "c"]}, "violations: .* is broken by"),
        ({"labels": list(BEST[:-1])}, "no labelling of the problem: labels: expected 4"),
        ({"labels": ["x", "a", "a", "b"]}, "no labelling of the problem"),
        ({"violations": {"at_most(7, 'a')": 2}}, "violations: "),
        ({"certificate": tw.Certificate((), (tw.Leaf(),))}, "no labelling is worth more than"),
        ({"certificate": tw.Certificate((*TERMS, 99), (tw.Leaf(),))}, "expected different terms"),
        ({"certificate": tw.Certificate((0, 0), (tw.Leaf(),))}, "expected different terms"),
        ({"certificate": tw.Certificate((True,), (tw.Leaf(),))}, "expected different terms"),
        ({"certificate": tw.Certificate(TERMS, ())}, "a leaf is missing"),
        ({"certificate": tw.Certificate(TERMS, (leaf(FIRST),))}, "a leaf is missing"),
        ({"certificate": tw.Certificate(TERMS, (leaf(FIRST), leaf()))}, "a leaf ends where"),
        ({"certificate": tw.Certificate(TERMS, (leaf(FIRST), leaf(FIRST)))}, "a leaf is missing"),
        ({"certificate": tw.Certificate(TERMS, (leaf(FIRST), leaf(SECOND)))}, "two questions"),
        (
            {"certificate": tw.Certificate(TERMS, (leaf((9, frozenset("a"), True)),))},
            "one of 4 tokens",
        ),
        (
            {"certificate": tw.Certificate(TERMS, (leaf((0, frozenset("x"), True)),))},
            "a set of labels",
        ),
        ({"certificate": tw.Certificate(TERMS, (leaf((0, "a")),))}, "cannot be read"),
        ({"certificate": "trust me"}, "expected a Certificate, got str"),
    ],
)
def test_tampered_answers_are_rejected(changes, reason):
    found = tw.verify(PROBLEM, replace(TRUE, **changes))
    assert found.status == "rejected"
    assert not found
    with pytest.raises(AssertionError, match=reason):
        raise AssertionError(found.reason)


ROW = next(i for i, item in enumerate(PROBLEM.plan.terms) if item.row is not None)
BIT = next(i for i, item in enumerate(PROBLEM.plan.terms) if item.row is None)


@pytest.mark.parametrize(
    ("items", "prices", "reason"),
    [
        ((), {ROW: 1.6}, "from 0 to 1.5"),
        ((), {ROW: -0.1}, "from 0 to 1.5"),
        ((), {ROW: np.nan}, "from 0 to 1.5"),
        ((), {2: np.inf}, "a finite number"),
        ((), {ROW: "1"}, "from 0 to 1.5"),
        ((), {BIT: 0.5}, "not a row of the problem"),
        ((), {77: 0.5}, "not a row of the problem"),
    ],
)
def test_prices_outside_their_box_are_rejected(items, prices, reason):
    certificate = tw.Certificate(items, (tw.Leaf((), prices),))
    found = tw.verify(PROBLEM, replace(TRUE, certificate=certificate))
    assert found.status == "rejected"
    assert reason in found.reason


def test_leaves_cover_with_both_answers():
    both = tw.Certificate(
        TERMS, (leaf(FIRST, SECOND), leaf(OTHER), leaf(FIRST, (*SECOND[:2], False)))
    )
    assert tw.verify(PROBLEM, replace(TRUE, certificate=both))


def test_arguments_the_wrong_way_round():
    with pytest.raises(TypeError, match="a Problem and its Decoding, got Decoding and Problem"):
        tw.verify(TRUE, PROBLEM)


def test_without_a_certificate_nothing_is_proven():
    found = tw.verify(PROBLEM, replace(TRUE, certificate=None))
    assert found.status == "unverified"
    assert found.upper_bound == np.inf
    assert not found


def test_a_gap_that_is_admitted_is_unverified():
    certificate = tw.Certificate((), (tw.Leaf(),))
    bound = Relaxation(PROBLEM, ()).bound({}, None)
    modest = replace(TRUE, certificate=certificate, status="feasible", upper_bound=bound)
    assert modest.gap == bound - TRUE.score
    found = tw.verify(PROBLEM, modest)
    assert found.status == "unverified"
    assert found.upper_bound == pytest.approx(bound)
    short = replace(modest, upper_bound=TRUE.score + 1e-3)
    assert tw.verify(PROBLEM, short).status == "rejected"


def test_answers_that_break_a_hard_rule():
    broken = ["a", "c", "a", "c"]
    decoding = claim(CASE, broken, None, score=4.0, upper_bound=4.0)
    assert tw.verify(PROBLEM, decoding).status == "rejected"
    assert tw.verify(PROBLEM, replace(decoding, status="relaxed")).status == "unverified"
