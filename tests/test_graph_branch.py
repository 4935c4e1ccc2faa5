"""Branch and bound around AD3, against enumeration."""

from __future__ import annotations

import itertools
import time

import numpy as np
import pytest
from hypothesis import given, settings

from graph_cases import (
    AT_MOST_ONE,
    BRANCH,
    FEASIBLE,
    INFEASIBLE,
    OPTIMAL,
    OR,
    OR_OUT,
    STRUCTURED,
    UNSOLVED,
    XOR,
    XOR_OUT,
    Factor,
    RawGraph,
    graphs,
    solve_raw,
)
from trelliswork import _core


def check(answer, graph, best):
    if best == -np.inf:
        assert (answer.status, answer.score, answer.bound) == (INFEASIBLE, -np.inf, -np.inf)
        return
    allowance = 1e-8 * (1 + abs(best))
    assert answer.status == OPTIMAL
    assert abs(answer.score - best) <= allowance
    assert abs(answer.bound - best) <= allowance
    values = answer.values.tolist()
    assert graph.score(values) == pytest.approx(answer.score)
    assert all(values[j] == v for j, v in graph.fixed.items())


def covers_everything(leaves, n_variables) -> bool:
    """Whether every assignment agrees with exactly one leaf."""
    return all(
        sum(all(values[j] == v for j, v in leaf.decisions) for leaf in leaves) == 1
        for values in itertools.product((0, 1), repeat=n_variables)
    )


def leaf_bound(graph, leaf) -> float:
    """The bound of a leaf as it is defined, by enumeration of the configurations of each factor."""
    fixed = dict(graph.fixed) | dict(leaf.decisions)
    if any(fixed[j] != v for j, v in graph.fixed.items()):
        return -np.inf
    while True:  # each factor alone forces what it forces
        before = dict(fixed)
        for factor in graph.factors:
            allowed = configurations(factor, fixed)
            if not allowed:
                return -np.inf
            for place, link in enumerate(factor.links):
                if len({z[place] for z in allowed}) == 1:
                    fixed[variable_of(link)] = allowed[0][place]
        if fixed == before:
            break
    bound, rest, begin = 0.0, np.array(graph.scores), 0
    for factor in graph.factors:
        shares = leaf.shares[begin : begin + len(factor.links)]
        begin += len(factor.links)
        places = [variable_of(link) for link in factor.links]
        bound += max(
            float(np.dot(shares, z)) + factor.worth(dict(zip(places, z, strict=True)))
            for z in configurations(factor, fixed)
        )
        for link, share in zip(factor.links, shares, strict=True):
            rest[variable_of(link)] -= share
    return bound + sum(
        max(r * z for z in ([fixed[j]] if j in fixed else [0, 1])) for j, r in enumerate(rest)
    )


def variable_of(link: int) -> int:
    return link if link >= 0 else ~link


def configurations(factor, fixed):
    """Values of the variables of a factor that it accepts, given what is fixed."""
    places = [variable_of(link) for link in factor.links]
    choices = [[fixed[j]] if j in fixed else [0, 1] for j in places]
    return [
        z for z in itertools.product(*choices) if factor.accepts(dict(zip(places, z, strict=True)))
    ]


@settings(max_examples=150, deadline=None)
@given(graph=graphs())
def test_exact_equals_enumeration_with_a_proof(graph):
    (answer,) = solve_raw([graph], BRANCH)
    best = graph.optimum()
    check(answer, graph, best)
    assert covers_everything(answer.leaves, len(graph.scores))
    bounds = [leaf_bound(graph, leaf) for leaf in answer.leaves]
    if np.isfinite(best):
        assert max(bounds) <= best + 1e-8 * (1 + abs(best))
    else:
        assert max(bounds) < sum(min(c, 0.0) for c in graph.scores)


@settings(max_examples=50, deadline=None)
@given(graph=graphs(max_variables=14))
def test_exact_equals_enumeration_without_caching(graph):
    (answer,) = solve_raw([graph], BRANCH, caching=False, node_iterations=20)
    check(answer, graph, graph.optimum())


def excludes_in_cycles(lengths, scores=None) -> RawGraph:
    rules, begin = [], 0
    for n in lengths:
        rules += [Factor(AT_MOST_ONE, [begin + i, begin + (i + 1) % n]) for i in range(n)]
        begin += n
    return RawGraph(scores if scores is not None else [1.0] * begin, rules)


@pytest.mark.parametrize("lengths", [[5], [7], [9], [13], [5, 5, 5], [7, 5, 9, 3], [3] * 8])
def test_odd_cycles_of_excludes(lengths):
    graph = excludes_in_cycles(lengths)
    (answer,) = solve_raw([graph], BRANCH)
    assert answer.status == OPTIMAL
    assert answer.score == sum(n // 2 for n in lengths)
    assert answer.nodes > 1


def test_an_odd_cycle_with_scores():
    rng = np.random.default_rng(1)
    graph = excludes_in_cycles([13], rng.uniform(0.9, 1.1, 13).tolist())
    (answer,) = solve_raw([graph], BRANCH)
    check(answer, graph, graph.optimum())


@pytest.mark.parametrize("n", [3, 5, 9])
def test_frustrated_cycles_of_xor_are_infeasible(n):
    # z_i differs from its neighbour around an odd cycle: 1/2 everywhere, and nothing integral.
    graph = RawGraph([0.0] * n, [Factor(XOR, [i, (i + 1) % n]) for i in range(n)])
    (answer,) = solve_raw([graph], BRANCH)
    assert (answer.status, answer.bound) == (INFEASIBLE, -np.inf)


def parity(rows, n, target) -> RawGraph:
    """Sums mod 2 of three variables, by the four clauses that each excludes."""
    rules = []
    for row, odd in zip(rows, target, strict=True):
        rules += [
            Factor(OR, [~j if s else j for j, s in zip(row, signs, strict=True)])
            for signs in itertools.product((0, 1), repeat=3)
            if sum(signs) % 2 != odd  # these values break the row
        ]
    return RawGraph([0.0] * n, rules)


def test_contradicting_parities():
    rows = [(0, 1, 2), (2, 3, 4), (0, 3, 5), (1, 4, 5)]
    (answer,) = solve_raw([parity(rows, 6, [0, 0, 0, 1])], BRANCH)
    assert answer.status == INFEASIBLE
    graph = parity(rows, 6, [0, 1, 0, 1])
    graph.scores = [1.0, -0.5, 0.75, 0.5, -1.0, 0.25]
    (answer,) = solve_raw([graph], BRANCH)
    check(answer, graph, graph.optimum())


def test_frustrated_systems_of_xor_with_outputs():
    rng = np.random.default_rng(5)
    for _ in range(10):
        rules = [
            Factor(
                rng.choice([XOR, XOR_OUT, OR_OUT]),
                [int(j if rng.random() < 0.7 else ~j) for j in rng.permutation(12)[:3]],
            )
            for _ in range(9)
        ]
        graph = RawGraph(rng.normal(size=12).round(2).tolist(), rules)
        (answer,) = solve_raw([graph], BRANCH)
        check(answer, graph, graph.optimum())


def pairs_in_a_cycle(rng, n_places, n_values) -> RawGraph:
    """Categorical variables around a cycle, with some pairs of neighbours forbidden."""
    of = [list(range(i * n_values, (i + 1) * n_values)) for i in range(n_places)]
    rules = [Factor(XOR, links) for links in of]
    for i in range(n_places):
        table = rng.normal(size=(n_values, n_values)).round(2)
        table[rng.random(table.shape) < 0.2] = -np.inf
        structure = _core.pair_structure(table)
        rules.append(Factor(STRUCTURED, of[i] + of[(i + 1) % n_places], structure=structure))
    return RawGraph(rng.normal(size=n_places * n_values).round(2).tolist(), rules)


@pytest.mark.parametrize("seed", range(12))
def test_structures_in_a_cycle(seed):
    rng = np.random.default_rng(seed)
    graph = pairs_in_a_cycle(rng, *((4, 3) if seed % 2 else (3, 4)))
    if seed % 3 == 0:  # and logic across it, negated too
        graph.factors.append(Factor(AT_MOST_ONE, [0, ~5, 11]))
    best = graph.optimum()
    (answer,) = solve_raw([graph], BRANCH)
    check(answer, graph, best)
    if np.isfinite(best):
        bounds = [leaf_bound(graph, leaf) for leaf in answer.leaves]
        assert max(bounds) <= best + 1e-8 * (1 + abs(best))


def test_limits_return_the_best_found_and_a_bound():
    rng = np.random.default_rng(2)
    graph = excludes_in_cycles([13] * 6, rng.uniform(0.95, 1.05, 78).tolist())
    (exact,) = solve_raw([graph], BRANCH, max_nodes=1)
    assert exact.status == FEASIBLE
    assert exact.nodes == 1
    assert exact.score < exact.bound
    began = time.monotonic()
    (timed,) = solve_raw([graph], BRANCH, seconds=0.1)
    assert time.monotonic() - began < 2.0
    assert timed.status in (FEASIBLE, OPTIMAL)
    assert exact.score <= timed.score <= timed.bound <= exact.bound
    (stopped,) = solve_raw([graph], BRANCH, callback=lambda *_: True)
    assert stopped.status in (FEASIBLE, UNSOLVED)
    assert stopped.bound >= timed.score


def test_a_limited_search_proves_its_bound():
    graph = excludes_in_cycles([5, 5])
    (answer,) = solve_raw([graph], BRANCH, max_nodes=3)
    assert covers_everything(answer.leaves, 10)
    assert max(leaf_bound(graph, leaf) for leaf in answer.leaves) <= answer.bound + 1e-9


def test_batches_on_threads_are_the_same():
    rng = np.random.default_rng(4)
    batch = [excludes_in_cycles([5, 3], rng.normal(size=8).tolist()) for _ in range(20)]
    alone = solve_raw(batch, BRANCH)
    together = solve_raw(batch, BRANCH, n_jobs=2)
    assert [a.score for a in alone] == [a.score for a in together]
    assert [a.nodes for a in alone] == [a.nodes for a in together]
    for graph, answer in zip(batch, alone, strict=True):
        check(answer, graph, graph.optimum())
