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


def check_searches(case: ProblemCase, width: int, most: int) -> None:
    """Check searches that cut nothing off, which are exact, and such that do."""
    for method in ("beam", "astar"):
        found = search(case, method=method, width=None)
        check_answer(case, found)
        assert found.status[0] == (OPTIMAL if case.values else INFEASIBLE)
    check_answer(case, search(case, method="beam", width=width))
    check_answer(case, search(case, method="astar", width=width, max_states=most))


class TestSearch:
    @given(cases(most_rules=4), st.integers(1, 3), st.integers(0, 6))
    def test_is_exact_or_bounds_what_it_missed(self, case, width, most):
        check_searches(case, width, most)

    @given(predicate_cases(), st.integers(1, 3), st.integers(0, 6))
    def test_is_so_under_predicates(self, case, width, most):
        check_searches(case, width, most)


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
