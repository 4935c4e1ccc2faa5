"""Every way of decoding under constraints, against enumeration."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st

import trelliswork as tw
from problem_cases import ProblemCase, cases
from ruled_tagger import X, fitted

EXACT = ("auto", "product", "lazy", "astar", "branch")
METHODS = (*EXACT, "dual", "milp")
LABELS = ["a", "b", "c"]


def is_best(case: ProblemCase, value: float) -> bool:
    return value >= case.best - 1e-8 * (1 + abs(case.best))


@settings(max_examples=60)
@given(case=cases())
def test_exact_methods_equal_enumeration(case):
    for method in EXACT:
        if case.best == -np.inf:
            with pytest.raises(tw.InfeasibleError):
                tw.solve(case.problem, method)
            continue
        found = tw.solve(case.problem, method)
        assert found.status == "optimal"
        assert found.score == pytest.approx(case.best, rel=1e-9, abs=1e-9)
        assert found.score == pytest.approx(case.values[tuple(found.labels)], rel=1e-9, abs=1e-9)
        assert found.gap == pytest.approx(0.0, abs=1e-8 * (1 + abs(case.best)))
        proof = tw.verify(case.problem, found)
        assert proof, proof.reason


@settings(max_examples=60)
@given(case=cases())
def test_the_dual_bounds_the_best_and_certifies_nothing_else(case):
    try:
        found = tw.solve(case.problem, "dual")
    except tw.InfeasibleError:
        assert case.best == -np.inf
        return
    slack = 1e-9 * (1 + abs(case.best)) if case.best > -np.inf else 0.0
    assert found.upper_bound >= case.best - slack
    worth = case.values.get(tuple(found.labels), -np.inf)
    assert found.score == pytest.approx(worth, rel=1e-9, abs=1e-9)
    assert found.gap == pytest.approx(found.upper_bound - found.score)
    assert found.status in (("optimal", "feasible") if worth > -np.inf else ("relaxed",))
    if found.status == "optimal":
        assert is_best(case, found.score)
    proof = tw.verify(case.problem, found)
    assert proof.status == ("proven" if found.status == "optimal" else "unverified"), proof.reason


@settings(max_examples=25)
@given(case=cases(most_rules=4), data=st.data())
def test_tampered_certificates_are_rejected(case, data):
    assume(case.best > -np.inf)
    found = tw.solve(case.problem, data.draw(st.sampled_from(EXACT)))
    worse = [names for names, value in case.values.items() if not is_best(case, value)]
    if worse:
        names = data.draw(st.sampled_from(sorted(worse)))
        value = case.problem.value(names)
        broken = case.problem.violations(names)
        other = replace(
            found,
            labels=list(names),
            score=value,
            upper_bound=value,
            violations={repr(case.problem.constraints[i]): v for i, v in broken.items()},
        )
        assert tw.verify(case.problem, other).status == "rejected"
    assert tw.verify(case.problem, replace(found, score=found.score + 1)).status == "rejected"
    certificate = found.certificate
    fewer = replace(certificate, leaves=certificate.leaves[1:])
    assert tw.verify(case.problem, replace(found, certificate=fewer)).status == "rejected"
    for i, penalty in enumerate(case.problem.plan.costs.of_terms):
        dear = tw.Leaf(certificate.leaves[0].decisions, {i: penalty + 1.0})
        other = replace(certificate, leaves=(dear, *certificate.leaves[1:]))
        if np.isfinite(penalty):
            assert tw.verify(case.problem, replace(found, certificate=other)).status == "rejected"


@pytest.fixture(scope="module")
def larger() -> list[ProblemCase]:
    """Four labels, six tokens and six rules."""
    rng = np.random.default_rng(5)
    labels = tw.LabelSet(["O", "B-a", "I-a", "B-b"], scheme="bio")
    rules = (
        tw.valid_scheme(),
        tw.at_most(1, "a").soft(0.7),
        tw.exactly(2, "b").soft(1.1),
        (tw.count("a") - tw.count("b") <= -1).soft(0.9),
        tw.precedes("a", "b").soft(0.6),
        tw.at_least(3, "a", unit="token").soft(0.4),
    )
    return [
        ProblemCase(
            tw.Problem(rng.normal(size=(6, 4)), rng.normal(size=(4, 4)), rules, labels=labels)
        )
        for _ in range(2)
    ]


@pytest.mark.parametrize("method", METHODS)
def test_larger_problems(method, larger):
    for case in larger:
        found = tw.solve(case.problem, method)
        if method == "dual":
            assert found.upper_bound >= case.best - 1e-9
        else:
            assert found.score == pytest.approx(case.best, rel=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_hard_rules_that_conflict(method):
    rules = (tw.at_least(2, "a"), tw.at_most(1, "a"), tw.at_most(1, "b").soft(1.0))
    problem = tw.Problem(np.zeros((4, 3)), constraints=rules, labels=LABELS)
    with pytest.raises(tw.InfeasibleError, match=r"at_least\(2, 'a'\) and at_most\(1, 'a'\)"):
        tw.solve(problem, method)


@pytest.mark.parametrize("method", METHODS)
def test_scores_that_forbid_everything(method):
    problem = tw.Problem(np.full((2, 3), -np.inf), labels=LABELS)
    with pytest.raises(tw.InfeasibleError, match="-inf"):
        tw.solve(problem, method)


@pytest.mark.parametrize("method", METHODS)
def test_soft_rules_that_contradict_each_other_cost_the_cheaper_one(method):
    rules = (tw.at_least(2, "a").soft(3.0), tw.at_most(1, "a").soft(1.0))
    problem = tw.Problem([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]], constraints=rules, labels=["a", "b"])
    found = tw.solve(problem, method)
    assert found.labels == ["a", "b", "a"]
    assert found.score == pytest.approx(2.0)
    assert found.violations == {"at_most(1, 'a').soft(1.0)": 1}


@pytest.mark.parametrize("method", METHODS)
def test_a_penalty_of_zero_changes_nothing(method):
    scores = np.random.default_rng(2).normal(size=(5, 3))
    rules = (tw.at_most(0, "a").soft(0), tw.requires("b", "c").soft(0.0))
    found = tw.solve(tw.Problem(scores, constraints=rules, labels=LABELS), method)
    assert found.labels == [LABELS[y] for y in scores.argmax(axis=1)]
    assert found.score == pytest.approx(scores.max(axis=1).sum())


@pytest.mark.parametrize("method", METHODS)
def test_known_labels_are_kept(method):
    rule = tw.at_most(1, "a").soft(0.5)
    scores = [[0.0, 1.0, 0.0], [0.0, 2.0, 0.0], [1.0, 0.0, 0.0]]
    known = ["a", None, {"a", "c"}]
    problem = tw.Problem(scores, constraints=rule, labels=LABELS, known=known)
    found = tw.solve(problem, method)
    assert found.labels == ["a", "b", "a"]
    assert found.score == pytest.approx(2.5)
    if method != "milp":
        assert tw.verify(problem, found)


@pytest.mark.parametrize("method", METHODS)
def test_no_tokens(method):
    problem = tw.Problem(np.zeros((0, 3)), constraints=tw.at_least(2, "a").soft(1.5), labels=LABELS)
    found = tw.solve(problem, method)
    assert (found.labels, found.score) == ([], -3.0)


@pytest.mark.parametrize("method", METHODS)
def test_several_problems_at_once(method):
    """Those that share a plan and weights are one batch; the answers come in order."""
    rng = np.random.default_rng(3)
    rules = (tw.at_most(1, "a").soft(0.8), tw.requires("a", "b").soft(0.6))
    weights = rng.normal(size=(3, 3))
    problems = [
        tw.Problem(
            rng.normal(size=(length, 3)),
            weights if length % 2 else None,
            rules if length < 5 else rules[:1],
            labels=LABELS,
            known=[{"a", "b"}] * length if length == 3 else None,
        )
        for length in (3, 5, 1, 2, 4, 0)
    ]
    found = tw.solve(problems, method)
    for problem, answer in zip(problems, found, strict=True):
        alone = tw.solve(problem, method)
        assert answer.score == pytest.approx(alone.score)
        assert len(answer.labels) == len(problem)
    assert tw.solve([], method) == []


def test_problems_of_a_tagger():
    tagger = fitted((tw.at_most(1, "T").soft(2.0), tw.precedes("A", "Y")))
    found = tw.solve([tagger.problem(x) for x in X])
    assert [answer.labels for answer in found] == tagger.predict(X)


def test_prices_are_told_by_constraint():
    rule = tw.at_most(1, "a").soft(0.5)
    problem = tw.Problem([[2.0, 0.0], [0.0, 1.0], [2.0, 0.0]], constraints=rule, labels=["a", "b"])
    found = tw.solve(problem, "dual")
    assert found.prices == {repr(rule): pytest.approx(0.5)}
    assert found.status == "optimal"


def test_a_conflict_names_its_sequence():
    rules = (tw.at_least(2, "a"),)
    fine = tw.Problem(np.zeros((3, 3)), constraints=rules, labels=LABELS)
    short = tw.Problem(np.zeros((1, 3)), constraints=rules, labels=LABELS)
    for method in METHODS:
        with pytest.raises(tw.InfeasibleError, match="sequence 1: No labelling of 1 token"):
            tw.solve([fine, short], method)


@pytest.mark.parametrize("limit", [0, -1.0, np.nan, "1", True])
def test_wrong_time_limits(limit):
    problem = tw.Problem(np.zeros((1, 3)), labels=LABELS)
    with pytest.raises(ValueError, match="time_limit: expected seconds"):
        tw.solve(problem, time_limit=limit)


def test_wrong_arguments():
    problem = tw.Problem(np.zeros((1, 3)), labels=LABELS)
    with pytest.raises(ValueError, match=r"method: expected one of 'auto', .* got 'tabu'"):
        tw.solve(problem, "tabu")
    with pytest.raises(TypeError, match="expected a Problem or a list of these, got str at 1"):
        tw.solve([problem, "b"])
    with pytest.raises(TypeError, match="got int at 0"):
        tw.solve(3)


def ordered(n_rules: int, budget: int, penalty: float | None) -> tw.Problem:
    """Labels against their order, under rules that ask for it, on a plan with a budget."""
    names = [f"x{i}" for i in range(6)]
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]][:n_rules]
    rules = [tw.precedes(a, b) for a, b in pairs]
    if penalty is not None:
        rules = [rule.soft(penalty) for rule in rules]
    plan = tw.plan(tw.LabelSet(names), rules, decoding_budget=budget)
    return tw.Problem(np.eye(6)[::-1] + 0.0, plan)


@pytest.mark.parametrize("method", ["auto", "dual", "lazy"])
def test_automata_beyond_the_budget_leave_a_gap(method):
    problem = ordered(15, 2_000, 0.05)
    found = tw.solve(problem, method)
    assert found.status == "feasible"
    assert found.gap > 0
    assert found.score == pytest.approx(problem.value(found.labels))
    exact = tw.solve(ordered(15, 5_000_000, 0.05))
    assert found.score - 1e-9 <= exact.score <= found.upper_bound + 1e-9
    assert tw.verify(problem, found).status == "unverified"


def test_a_product_beyond_the_budget_is_an_error():
    with pytest.raises(tw.TooLargeError, match="needs more than 2,000 arcs"):
        tw.solve(ordered(15, 2_000, 0.05), "product")


def test_milp_out_of_time():
    rng = np.random.default_rng(0)
    rules = [
        (tw.count(a) - tw.count(b)).equals(1).soft(1.0) for a in LABELS for b in LABELS if a < b
    ]
    problem = tw.Problem(rng.normal(size=(60, 3)), rng.normal(size=(3, 3)), rules, labels=LABELS)
    found = tw.solve(problem, "milp", time_limit=1e-6)
    assert found.status in ("feasible", "unverified")  # presolve may be enough
    assert found.upper_bound >= tw.solve(problem).score - 1e-6
