"""Branch and bound around AD3, against enumeration."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings

from graph_cases import (
    AD3,
    AT_MOST_ONE,
    BRANCH,
    DUAL,
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
    while True:  # each factor alone forces values
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
    """Values of the variables of a factor that it accepts, given the fixed ones."""
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
    (exact,) = solve_raw([graph], BRANCH)
    assert exact.status == OPTIMAL
    score, bound = -np.inf, np.inf
    for limit in (1, 4, 16):
        (limited,) = solve_raw([graph], BRANCH, max_nodes=limit)
        assert limited.status == FEASIBLE
        assert limit <= limited.nodes <= limit + 1  # halves come in twos
        rising = [score, limited.score, exact.score, limited.bound, bound]
        assert all(b >= a - 1e-9 for a, b in itertools.pairwise(rising))
        assert limited.score < limited.bound
        score, bound = limited.score, limited.bound
    # Time that is over at once, and a callback that stops: at the first look, or later.
    (late,) = solve_raw([graph], BRANCH, seconds=1e-300)
    (stopped,) = solve_raw([graph], BRANCH, callback=lambda *_: True)
    for answer in (late, stopped):
        assert answer.status in (FEASIBLE, UNSOLVED)
        assert answer.nodes == 1
        assert answer.score - 1e-9 <= exact.score <= answer.bound + 1e-9
    visited = []

    def stop_at_10(graph, iterations, nodes, *_):
        visited.append(nodes)
        return nodes >= 10

    (stopped,) = solve_raw([graph], BRANCH, seconds=1e6, callback=stop_at_10)
    assert (stopped.status, stopped.nodes) == (FEASIBLE, visited[-1])
    assert visited[-2] < 10 <= visited[-1]
    assert stopped.score <= exact.score <= stopped.bound


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


def planted(rng, n_variables) -> RawGraph:
    """One of three literals each, as a hidden assignment has it; nothing scores."""
    hidden, rules = rng.random(n_variables) < 0.5, []
    while len(rules) < 0.7 * n_variables:
        chosen, negated = rng.choice(n_variables, 3, replace=False), rng.random(3) < 0.5
        if (hidden[chosen] ^ negated).sum() == 1:
            links = [int(~j if s else j) for j, s in zip(chosen, negated, strict=True)]
            rules.append(Factor(XOR, links))
    return RawGraph([0.0] * n_variables, rules)


@pytest.mark.parametrize("method", [AD3, BRANCH, DUAL])
def test_rounding_proves_no_infeasibility(method):
    rng = np.random.default_rng(45)
    batch = [planted(rng, int(rng.integers(10, 40))) for _ in range(100)]
    for answer in solve_raw(batch, method):
        assert answer.status != INFEASIBLE
        assert method != BRANCH or answer.status == OPTIMAL


def test_huge_scores_elsewhere_close_no_gap():
    rng = np.random.default_rng(0)
    for _ in range(12):
        graph = excludes_in_cycles([31], (0.01 * rng.random(31)).tolist())
        graph.factors += [Factor(AT_MOST_ONE, [i, (i + 5) % 31]) for i in range(31)]
        (alone,) = solve_raw([graph], BRANCH, gap=5e-10)
        graph.scores += [-1e9] * 100
        graph.factors.append(Factor(AT_MOST_ONE, list(range(31, 131))))
        (answer,) = solve_raw([graph], BRANCH, gap=5e-10)
        assert answer.status == OPTIMAL
        assert answer.score == pytest.approx(alone.score, abs=1e-9)


def test_cancelling_scores_are_solved():
    # Sums of these in another order differ by more than the gap, with every variable fixed.
    rng = np.random.default_rng(0)
    for _ in range(20):
        graph = excludes_in_cycles([5, 5], (0.01 * rng.random(10)).tolist())
        graph.scores += [1e15, -1e15, 1e8, -1e8]
        graph.factors += [Factor(XOR, [10, ~11]), Factor(XOR, [12, ~13])]
        graph.factors += [Factor(OR, [i, 10 + i % 4]) for i in range(10)]
        (answer,) = solve_raw([graph], BRANCH)
        assert answer.status == OPTIMAL


def test_small_structures_are_solved_exactly():
    for seed in range(6):
        rng = np.random.default_rng(seed)
        graph, scale = pairs_in_a_cycle(rng, 3, 3), 1e-12
        graph.scores = [scale * c for c in graph.scores]
        tables = [scale * rng.normal(size=(3, 3)).round(2) for _ in range(3)]
        for factor, table in zip(graph.factors[3:], tables, strict=True):
            factor.structure = _core.pair_structure(table)
        best = graph.optimum()
        (answer,) = solve_raw([graph], BRANCH)
        assert answer.status == OPTIMAL
        assert answer.score == pytest.approx(best, rel=1e-6, abs=1e-6 * scale)


def test_structures_do_not_hide_infeasibility():
    # Five into four, beside a structure of its own; nothing integral has to be tried.
    of = np.arange(20).reshape(5, 4)
    rules = [Factor(OR, row.tolist()) for row in of]
    rules += [Factor(AT_MOST_ONE, column.tolist()) for column in of.T]
    pair = _core.pair_structure(np.array([[1.0, -3.0], [-np.inf, 2.0]]))
    rules.append(Factor(STRUCTURED, [20, 21, 22, 23], structure=pair))
    (answer,) = solve_raw([RawGraph([0.0] * 20 + [0.1, -0.2, 0.3, 0.0], rules)], BRANCH)
    assert (answer.status, answer.bound, answer.nodes) == (INFEASIBLE, -np.inf, 1)


@pytest.mark.parametrize("method", [AD3, BRANCH, DUAL])
@pytest.mark.parametrize("scale", [1e-310, 1e-300, 1e300])
def test_scores_at_the_end_of_the_range(method, scale):
    rng = np.random.default_rng(0)
    of = np.arange(36).reshape(6, 6)
    rules = [Factor(XOR, row.tolist()) for row in (*of, *of.T)]
    rules += [Factor(AT_MOST_ONE, [7 * i, 6 * i + (i + 1) % 6]) for i in range(6)]
    graph = RawGraph((rng.integers(0, 3, 36) * scale).tolist(), rules)
    (plain,) = solve_raw([RawGraph([c / scale for c in graph.scores], rules)], BRANCH)
    for eta in (1e-320, 1e-9, 0.1, 1e300):
        (answer,) = solve_raw([graph], method, eta=eta, max_iterations=100, max_nodes=2000)
        assert answer.status != INFEASIBLE
        if eta > 1.0:  # steps so long that nothing is left of the scores
            continue
        assert answer.bound / scale >= plain.score - 1e-6
        assert method != BRANCH or answer.score / scale == pytest.approx(plain.score, rel=1e-9)
