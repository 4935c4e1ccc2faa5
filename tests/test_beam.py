"""Search over prefixes: equal to enumeration where nothing is cut, and bounded where it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import trelliswork as tw
from predicate_cases import predicate_cases
from problem_cases import cases
from trelliswork.errors import InfeasibleError
from trelliswork.prefix_search import search_batch
from trelliswork.priced_answers import FEASIBLE, INFEASIBLE, OPTIMAL, UNKNOWN

if TYPE_CHECKING:
    from problem_cases import ProblemCase
    from trelliswork.prefix_search import PrefixAnswers


def search(case: ProblemCase, **options) -> PrefixAnswers:
    problem = case.problem
    return search_batch(
        problem.plan, problem.trellis, problem.evidence, allowed=problem.allowed, **options
    )


def check_answer(case: ProblemCase, found: PrefixAnswers) -> None:
    """Check that an answer is worth what it says, and that its claims hold."""
    score, bound, status = found.scores[0], found.bounds[0], found.status[0]
    if status == INFEASIBLE:
        assert case.best == -np.inf
        return
    assert bound >= case.best - 1e-8
    if status == UNKNOWN:
        assert score == -np.inf
        return
    names = tuple(case.problem.plan.names(found.tags))
    assert score == pytest.approx(case.values[names], abs=1e-8)
    if status == OPTIMAL:
        assert score == pytest.approx(case.best, abs=1e-8)
    else:
        assert status == FEASIBLE
        assert bound > score


class TestSearch:
    @given(cases())
    def test_a_beam_without_bounds_is_exact(self, case):
        found = search(case, method="beam", width=None)
        check_answer(case, found)
        assert found.status[0] == (OPTIMAL if case.values else INFEASIBLE)

    @given(cases())
    def test_best_first_is_exact(self, case):
        found = search(case, method="astar")
        check_answer(case, found)
        assert found.status[0] == (OPTIMAL if case.values else INFEASIBLE)

    @given(cases(), st.integers(1, 4))
    def test_a_narrow_beam_bounds_what_it_missed(self, case, width):
        check_answer(case, search(case, method="beam", width=width))

    @given(cases(), st.integers(0, 6))
    def test_best_first_keeps_to_its_limit(self, case, most):
        found = search(case, method="astar", width=2, max_states=most)
        check_answer(case, found)


class TestPredicates:
    @given(predicate_cases())
    def test_search_is_exact_where_nothing_is_cut(self, case):
        for method in ("beam", "astar"):
            found = search(case, method=method, width=None)
            check_answer(case, found)
            assert found.status[0] == (OPTIMAL if case.values else INFEASIBLE)

    @given(predicate_cases(), st.integers(1, 4), st.integers(0, 6))
    def test_limits_leave_a_bound(self, case, width, most):
        check_answer(case, search(case, method="beam", width=width))
        check_answer(case, search(case, method="astar", width=width, max_states=most))


class TestSolve:
    @given(predicate_cases())
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
