"""Bounds by one dynamic program, against enumeration."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from oracle import enumerate_paths
from problem_cases import ProblemCase, cases
from strategies import automata
from trelliswork.constraints.reading import Reading
from trelliswork.decoding.bounds import Relaxation, mark_pairs
from trelliswork.inference.verbs import Trellis


@st.composite
def relaxations(draw) -> tuple[ProblemCase, tuple[int, ...], dict[int, float]]:
    """A problem, some of its items, and prices of other rows."""
    case = draw(cases(most_rules=3))
    plan = case.problem.plan
    chosen = tuple(i for i in range(len(plan.terms)) if draw(st.booleans()))
    prices = {
        i: draw(st.floats(0, min(plan.costs.of_terms[i], 10.0)))
        for i, item in enumerate(plan.terms)
        if item.row is not None and i not in chosen and draw(st.booleans())
    }
    return case, chosen, prices


def relaxed_value(case, names, score, chosen, prices) -> float:
    """``G(y)`` from its definition."""
    problem, plan = case.problem, case.problem.plan
    reading = Reading(names, problem.sentence, problem.labels)
    total = score
    for i, item in enumerate(plan.terms):
        if i in chosen:
            judge = item.rule if item.row is None else item.row
            degree = judge._degree(reading) if item.row is None else judge.violations(reading)
            total -= plan.costs.of_terms[i] * degree if degree else 0.0
        elif i in prices:
            table = item.row.table(problem.labels)
            ids = problem.labels.encode(names)
            left = sum(table[p + 1, y] for p, y in zip([-1, *ids], ids, strict=False))
            total -= prices[i] * (left - item.row.bound)
    return total


@settings(max_examples=60)
@given(relaxations())
def test_bound_is_the_largest_relaxed_value(drawn):
    case, chosen, prices = drawn
    problem = case.problem
    is_open = problem.open_labels()
    found = Relaxation(problem, chosen).bound(prices, is_open)
    masked = [c for i, c in enumerate(problem.constraints) if i in problem.plan.masks]
    values = []
    for path in enumerate_paths(problem.trellis):
        tags = np.where(path.begins, path.labels, np.add(path.labels, problem.plan.model.n_labels))
        names = tuple(problem.plan.names(tags.astype(np.int32)))
        if not any(c.violations(names, problem.sentence, scheme=problem.labels) for c in masked):
            values.append(relaxed_value(case, names, path.score, chosen, prices))
    assert found == pytest.approx(max(values, default=-np.inf), rel=1e-9, abs=1e-9)
    assert found >= case.best - 1e-9 * (1 + abs(case.best)) or case.best == -np.inf


@settings(max_examples=60)
@given(relaxations(), st.floats(-5, 5))
def test_counting_row_by_row_finds_the_same(drawn, above):
    """Rows in the product are counted as paths grow, guided by prices of their own."""
    case, chosen, prices = drawn
    problem, plan = case.problem, case.problem.plan
    is_open = problem.open_labels()
    expected = Relaxation(problem, chosen).bound(prices, is_open)
    counted = [i for i in chosen if plan.terms[i].row is not None]
    if not counted:
        return
    guides = {i: min(plan.costs.of_terms[i], 1.0) / 2 for i in counted}
    floor = above if expected == -np.inf else expected + above
    relaxed = Relaxation(problem, [i for i in chosen if i not in counted])
    found = relaxed.counted_bound(prices | guides, counted, is_open, floor)
    assert found == pytest.approx(max(floor, expected), rel=1e-9, abs=1e-9)


@given(st.data())
def test_marked_automaton_has_the_same_paths(data):
    automaton = data.draw(automata(n_labels=2))
    marked, pairs = mark_pairs(automaton)
    scores = np.zeros((3, 1, 2))
    weights = np.arange(1.0, automaton.n_patterns + 1)
    more = np.zeros(marked.n_patterns - automaton.n_patterns)
    before = Trellis(scores, automaton, weights=weights)
    after = Trellis(scores, marked, weights=np.concatenate([weights, more]))
    expected = sorted((path.labels, path.score) for path in enumerate_paths(before))
    found = enumerate_paths(after)
    assert sorted((path.labels, path.score) for path in found) == expected
    for path in found:
        last = -1
        for (_, arc), y in zip(path.arcs, path.labels, strict=True):
            assert pairs[arc] == (last + 1) * 2 + y
            last = y
