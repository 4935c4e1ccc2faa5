"""Search over prefixes: equal to enumeration where nothing is cut, and bounded where it is."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import trelliswork as tw
from predicate_cases import predicate_cases
from problem_cases import cases
from trelliswork.decoding.prefixes import search_batch
from trelliswork.errors import InfeasibleError, SearchLimitError
from trelliswork.proofs.answer import FEASIBLE, INFEASIBLE, OPTIMAL, UNSOLVED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from problem_cases import ProblemCase
    from trelliswork.decoding.prefixes import PrefixAnswers


def search(case: ProblemCase, **options) -> PrefixAnswers:
    problem = case.problem
    return search_batch(
        problem.plan, problem.trellis, problem.evidence, allowed=problem.allowed, **options
    )


def check_answer(case: ProblemCase, found: PrefixAnswers) -> None:
    """Check that the value of an answer is true, and that its claims hold."""
    score, bound, status = found.scores[0], found.bounds[0], found.status[0]
    if status == INFEASIBLE:
        assert case.best == -np.inf
        return
    assert bound >= case.best - 1e-8
    if status == UNSOLVED:
        assert score == -np.inf
        return
    names = tuple(case.problem.plan.names(found.tags))
    assert score == pytest.approx(case.values[names], abs=1e-8)
    if status == OPTIMAL:
        assert score == pytest.approx(case.best, abs=1e-8)
    else:
        assert status == FEASIBLE
        assert bound > score


def check_searches(case: ProblemCase, width: int, most: int) -> None:
    """Check searches that cut nothing off, which are exact, and such that do."""
    for method in ("beam", "astar"):
        found = search(case, method=method, width=None)
        check_answer(case, found)
        assert found.status[0] == (OPTIMAL if case.values else INFEASIBLE)
    check_answer(case, search(case, method="beam", width=width))
    check_answer(case, search(case, method="astar", width=width, max_states=most))


def long_problem(seed: int, n_tokens: int, more: Sequence[tw.Constraint] = ()) -> tw.Problem:
    """Return a problem whose rules cut through the choices of the model."""
    random = np.random.default_rng(seed)
    names = ["a", "b", "c", "d"]
    rules = [tw.contiguous(name) for name in names]
    rules += [tw.requires("a", "b").soft(1.0), tw.precedes("c", "d").soft(2.0), *more]
    scores = random.normal(size=(n_tokens, 4))
    return tw.Problem(scores, random.normal(size=(4, 4)), rules, labels=names)


class TestSearch:
    @given(cases(most_rules=4), st.integers(1, 3), st.integers(0, 6))
    @settings(max_examples=60)
    def test_is_exact_or_bounds_what_it_missed(self, case, width, most):
        check_searches(case, width, most)

    @given(predicate_cases(), st.integers(1, 3), st.integers(0, 6))
    @settings(max_examples=60)
    def test_is_so_under_predicates(self, case, width, most):
        check_searches(case, width, most)


class TestSolve:
    @given(predicate_cases())
    @settings(max_examples=60)
    def test_auto_and_astar_are_exact(self, case):
        for method in ("auto", "astar"):
            if not case.values:
                with pytest.raises(InfeasibleError):
                    tw.solve(case.problem, method)
                continue
            found = tw.solve(case.problem, method)
            assert found.score == pytest.approx(case.best, abs=1e-8)
            assert found.status in ("optimal", "unverified")
            checked = tw.verify(case.problem, found)
            assert checked.status == ("proven" if found.status == "optimal" else "unverified")
            assert found.upper_bound == found.score

    @given(cases(most_rules=3), st.sampled_from([1, 2, None]))
    @settings(max_examples=60)
    def test_a_beam_says_what_it_knows(self, case, width):
        try:
            found = tw.solve(case.problem, "beam", width=width)
        except InfeasibleError:
            assert not case.values
            return
        except SearchLimitError:
            assert width is not None
            return
        assert found.method == "beam"
        assert found.score <= case.best + 1e-8
        assert found.upper_bound >= case.best - 1e-8
        assert found.status == "optimal" or (width is not None and found.status == "feasible")
        checked = tw.verify(case.problem, found)
        assert checked.status == ("proven" if found.status == "optimal" else "unverified")

    @pytest.mark.parametrize("seed", range(4))
    def test_predicates_need_no_budget_for_products(self, seed):
        even = tw.predicate(lambda labels, sentence: labels.count("a") % 2 == 0, name="even")
        rules = [tw.precedes("a", "b"), tw.precedes("b", "c"), tw.requires("c", "a")]
        labels = tw.LabelSet(["a", "b", "c"])
        scores = 2 * np.random.default_rng(seed).normal(size=(8, 3))
        large, small = (
            tw.plan(labels, [*rules, even.soft(1.0)], training_budget=0, decoding_budget=most)
            for most in (10_000, 5)
        )
        best = tw.solve(tw.Problem(scores, large)).score
        found = tw.solve(tw.Problem(scores, small))
        assert found.status == "unverified"
        assert found.score == pytest.approx(best)
        late = tw.solve(tw.Problem(scores, small), time_limit=1e-300)
        assert set(late.violations) <= {"predicate('even').soft(1.0)"}
        assert late.score <= best + 1e-9 <= late.upper_bound + 2e-9

    def test_threads_give_the_same(self):
        problems = [long_problem(seed, n_tokens=12 + seed) for seed in range(6)]
        assert tw.solve(problems, "beam", n_jobs=1) == tw.solve(problems, "beam", n_jobs=3)

    def test_wider_beams_are_no_worse_here_and_end_at_the_best(self):
        problem = long_problem(0, n_tokens=20)
        found = [tw.solve(problem, "beam", width=width) for width in (1, 4, 16, 64, 256)]
        scores = [answer.score for answer in found]
        assert all(b >= a - 1e-9 for a, b in itertools.pairwise(scores))
        assert found[0].status == "feasible"
        assert scores[-1] == pytest.approx(tw.solve(problem).score)

    def test_a_time_limit_leaves_an_answer_and_a_bound(self):
        odd = tw.predicate(lambda labels, sentence: labels.count("b") % 2, name="odd")
        problem = long_problem(0, n_tokens=30, more=[odd.soft(3.0)])
        for method in ("astar", "auto"):
            found = tw.solve(problem, method, time_limit=1e-300)
            assert (found.status, found.method) == ("feasible", "beam")
            best = tw.solve(problem, width=200).score
            assert found.score - 1e-9 <= best <= found.upper_bound + 1e-9

    def test_a_beam_may_lose_all_that_is_allowed(self):
        problem = tw.Problem(
            [[5.0, 0.0], [0.0, 0.0]],
            constraints=tw.predicate(lambda labels, sentence: labels[0] == "a", name="not a"),
            labels=["a", "b"],
        )
        with pytest.raises(SearchLimitError, match=r"no proof that there is none\. Set a larger"):
            tw.solve(problem, "beam", width=1)
        assert tw.solve(problem, "beam", width=2).labels[0] == "b"

    @pytest.mark.parametrize("width", [0, -1, 1.5, True, "10"])
    def test_refuses_other_widths(self, width):
        problem = long_problem(0, n_tokens=3)
        with pytest.raises(ValueError, match="width: expected a whole number from 1 up, or None"):
            tw.solve(problem, "beam", width=width)
