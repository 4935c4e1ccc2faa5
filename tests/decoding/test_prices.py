"""Decoding with prices: the batch call apart from the best labelling."""

from __future__ import annotations

import itertools
from functools import cache

import numpy as np
import pytest

import trelliswork as tw
from trelliswork.decoding.describe import describe_batch
from trelliswork.decoding.exact import decode_batch
from trelliswork.decoding.prices import priced_batch
from trelliswork.errors import TooLargeError
from trelliswork.planning.plan import Plan
from trelliswork.proofs.answer import FEASIBLE, OPTIMAL

COUNT = tw.count


def problems(n_problems: int, rules, names: str = "abc", length: int = 6, seed: int = 0):
    """Draw problems with one plan: scores and transitions."""
    random = np.random.default_rng(seed)
    transitions = random.normal(size=(len(names), len(names)))
    return [
        tw.Problem(
            2 * random.normal(size=(length, len(names))), transitions, rules, labels=list(names)
        )
        for _ in range(n_problems)
    ]


def best_value(problem: tw.Problem) -> float:
    """Return the largest ``P(y)`` by enumeration."""
    labellings = itertools.product(problem.labels.names, repeat=len(problem))
    return max(problem.value(labels) for labels in labellings)


@cache
def branching_problems(seed: int) -> list[tuple[tw.Problem, float]]:
    """Draw problems with rows that need branching, and bits that need another round after it."""
    random = np.random.default_rng(seed)
    rules = [
        (2 * COUNT("a", unit="token") - 3 * COUNT("b", unit="token")).equals(
            int(random.integers(-2, 3))
        ),
        (2 * COUNT("c") - 3 * COUNT("a") <= int(random.integers(-1, 2))).soft(1.3),
        tw.requires("a", "c"),
        tw.precedes("b", "a").soft(float(random.uniform(0, 3))),
    ]
    return [(problem, best_value(problem)) for problem in problems(12, rules, seed=seed)]


@pytest.mark.parametrize("method", ["auto", "branch", "astar", "dual"])
@pytest.mark.parametrize("seed", [129, 130, 337])
def test_leaves_of_an_earlier_round_prove_nothing_later(method, seed):
    for problem, best in branching_problems(seed):
        try:
            found = tw.solve(problem, method)
        except tw.InfeasibleError:
            assert best == -np.inf
            continue
        if method != "dual":
            assert found.score == pytest.approx(best)
            assert found.status == "optimal"
        if found.status == "optimal":
            assert tw.verify(problem, found), tw.verify(problem, found).reason


@pytest.mark.parametrize("limit", [1e10, 1e300, np.inf, None])
def test_long_limits_are_none(limit):
    rules = [tw.at_most(1, "a").soft(1.0), COUNT("a") - COUNT("b") <= 0]
    for problem in problems(5, rules, length=5):
        best = best_value(problem)
        for method in ("auto", "astar", "branch"):
            found = tw.solve(problem, method, time_limit=limit)
            assert found.status == "optimal"
            assert found.score == pytest.approx(best)


@pytest.mark.parametrize("limit", [0, -1.0, np.nan, "1", True])
def test_times_that_are_none_are_refused(limit):
    (problem,) = problems(1, [tw.at_most(1, "a")])
    with pytest.raises(ValueError, match="time_limit: expected seconds"):
        tw.solve(problem, time_limit=limit)


def test_a_limit_that_is_reached_leaves_a_bound():
    rules = [
        (COUNT(a, unit="token") - 2 * COUNT(b, unit="token")).equals(1).soft(0.7)
        for a, b in itertools.permutations("abcd", 2)
    ]
    for problem in problems(3, rules, "abcd", length=5):
        found = tw.solve(problem, "branch", time_limit=1e-300)
        best = best_value(problem)
        assert found.score <= best + 1e-9 <= found.upper_bound + 2e-9
        assert found.status in ("feasible", "optimal")
        assert found.gap == pytest.approx(found.upper_bound - found.score)


def soft_bits(budget: int) -> Plan:
    rules = (
        tw.precedes("a", "b").soft(1.0),
        tw.requires("a", "c").soft(1.0),
        tw.precedes("c", "a").soft(1.0),
        tw.matches("(a|b)+ c (a|b|c)*").soft(1.0),
    )
    labels = tw.LabelSet(list("abc"))
    return Plan(labels, rules, training_budget=0, decoding_budget=budget)


@pytest.mark.parametrize("on_infeasible", ["error", "relax"])
def test_soft_bits_beyond_the_budget_leave_a_gap(on_infeasible):
    plan = soft_bits(20)
    for seed in range(4):
        scores = 2 * np.random.default_rng(seed).normal(size=(6, 3))
        problem = tw.Problem(scores, plan)
        decoded = decode_batch(plan, problem.trellis, problem.evidence, on_infeasible=on_infeasible)
        (answer,) = describe_batch(plan, problem.evidence, decoded)
        assert answer.score == pytest.approx(problem.value(answer.labels))
        assert answer.upper_bound >= best_value(problem) - 1e-9
        if answer.status == "optimal":
            assert answer.score == pytest.approx(best_value(problem))
        else:
            assert answer.status == "feasible"


def test_hard_bits_beyond_the_budget_are_an_error():
    plan = Plan(
        tw.LabelSet(list("abc")),
        (tw.requires("a", "c"), tw.precedes("c", "a")),
        training_budget=0,
        decoding_budget=10,
    )
    problem = tw.Problem(np.tile([3.0, 0.0, 0.0], (4, 1)), plan)
    with pytest.raises(TooLargeError, match="sequence 0"):
        decode_batch(plan, problem.trellis, problem.evidence)


def test_scheme_rules_keep_to_the_budget():
    labels = tw.LabelSet(["O", "B-x", "I-x"], scheme="bio")
    plan = Plan(labels, (tw.valid_scheme(),), training_budget=0, decoding_budget=3)
    problem = tw.Problem([[0.0, 0.0, 5.0], [0.0, 1.0, 0.0]], plan)
    decoded = decode_batch(plan, problem.trellis, problem.evidence, on_infeasible="relax")
    (answer,) = describe_batch(plan, problem.evidence, decoded)
    assert (answer.labels, answer.status) == (["I-x", "B-x"], "relaxed")
    with pytest.raises(TooLargeError, match="sequence 0"):
        decode_batch(plan, problem.trellis, problem.evidence)


def test_threads_and_warm_starts_change_nothing():
    rules = [
        tw.at_most(1, "a").soft(0.8),
        (COUNT("b") - COUNT("c") <= 0).soft(1.1),
        tw.at_least(1, "c").soft(0.4),
        tw.requires("a", "b"),
    ]
    drawn = problems(30, rules, length=9)
    plan = drawn[0].plan
    scores = [problem.trellis.scores[:, 0] for problem in drawn]
    trellis = tw.Trellis.from_sequences(scores, weights=drawn[0].trellis.weights)
    evidence = plan.evidence([["x"] * 9] * 30, trellis.offsets)
    alone = priced_batch(plan, trellis, evidence, n_jobs=1)
    together = priced_batch(plan, trellis, evidence, n_jobs=2)
    warm = priced_batch(plan, trellis, evidence, prices=alone.prices, n_jobs=1)
    for found in (alone, together, warm):
        np.testing.assert_allclose(found.bounds, found.scores, atol=1e-6)
        np.testing.assert_allclose(found.scores, alone.scores, atol=1e-9)
    np.testing.assert_array_equal(together.tags, alone.tags)
    assert warm.iterations.sum() < alone.iterations.sum()
    stopped = priced_batch(plan, trellis, evidence, method="dual", max_iter=1)
    assert (stopped.iterations == np.array([len(bits) > 0 for bits in stopped.bits]) + 1).any()
    assert set(stopped.status.tolist()) <= {OPTIMAL, FEASIBLE}
    assert (stopped.bounds >= alone.scores - 1e-9).all()
