"""Every way of solving factor graphs, against enumeration."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace
from threading import get_ident
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import trelliswork as tw
from factor_graph_cases import cases, frustrated, graphs, odd_cycle
from trelliswork.graphs.answers import GraphProgress
from trelliswork.graphs.factors import (
    AtMostOne,
    Budget,
    Chain,
    Knapsack,
    NoOverlap,
    Or,
    Pair,
    Xor,
    XorOut,
)
from trelliswork.graphs.variables import Variables

EXACT = ("auto", "branch", "milp")
RELAXED = ("ad3", "lp")
METHODS = (*EXACT, *RELAXED, "dual")


def slack(value: float) -> float:
    return 1e-7 * (1 + abs(value)) if value > -np.inf else 0.0


@settings(max_examples=150)
@given(case=cases())
def test_exact_methods_equal_enumeration(case):
    for method in EXACT:
        found = tw.solve(case.graph, method)
        if case.best == -np.inf:
            assert found.status == "infeasible"
            assert found.values is None
            assert found.score == found.upper_bound == -np.inf
            continue
        assert found.status == ("unverified" if method == "milp" else "optimal")
        assert found.score == pytest.approx(case.best, rel=1e-7, abs=1e-7)
        worth = case.values[tuple(found.values.astype(int).tolist())]
        assert found.score == pytest.approx(worth, rel=1e-9, abs=1e-9)
        assert found.gap == pytest.approx(0.0, abs=slack(case.best))
        if method != "milp":
            proof = tw.verify(case.graph, found)
            assert proof, proof.reason


@settings(max_examples=100)
@given(case=cases())
def test_bounds_are_never_below_the_best(case):
    for method in (*RELAXED, "dual"):
        found = tw.solve(case.graph, method)
        assert found.upper_bound >= case.best - slack(case.best)
        if found.status == "optimal":
            assert found.score == pytest.approx(case.best, rel=1e-7, abs=1e-7)
        if found.status == "infeasible":
            assert case.best == -np.inf
        if found.values is not None:
            worth = case.values[tuple(found.values.astype(int).tolist())]
            assert found.score == pytest.approx(worth, rel=1e-9, abs=1e-9)
        proof = tw.verify(case.graph, found)
        assert proof.status != "rejected", (method, proof.reason)
        if found.status == "optimal":  # a proof may know more than the solver, and never less
            assert proof, (method, proof.reason)


@settings(max_examples=40)
@given(case=cases(structured=False))
def test_ad3_solves_the_relaxation_that_highs_solves(case):
    if any(isinstance(factor, Knapsack) for factor in case.graph.factors):
        return  # of these AD3's bound knows more
    theirs = tw.solve(case.graph, "lp")
    ours = tw.solve(case.graph, "ad3", ad3=tw.AD3Options(max_iterations=20_000, tolerance=1e-9))
    if theirs.status == "infeasible" or ours.status in ("infeasible", "unsolved"):
        return
    allowance = 1e-4 * (1 + abs(theirs.upper_bound))
    assert ours.upper_bound >= theirs.upper_bound - allowance
    if ours.status in ("optimal", "fractional"):  # it has not ended at a limit
        assert ours.upper_bound <= theirs.upper_bound + allowance


@pytest.mark.parametrize("length", [3, 5, 9, 15])
def test_odd_cycles_are_fractional_until_they_are_branched_on(length):
    graph = odd_cycle(length)
    relaxed = tw.solve(graph, "ad3")
    assert relaxed.status == "fractional"
    assert relaxed.upper_bound == pytest.approx(length / 2, abs=1e-3)
    assert relaxed.relaxed == pytest.approx(np.full(length, 0.5), abs=1e-2)
    found = tw.solve(graph)
    assert found.status == "optimal"
    assert found.score == length // 2
    assert found.nodes > 1
    assert tw.verify(graph, found)


@pytest.mark.parametrize("seed", range(6))
def test_frustrated_graphs_equal_highs(seed):
    graph = frustrated(16, seed)
    found, theirs = tw.solve(graph), tw.solve(graph, "milp")
    assert (found.status == "infeasible") == (theirs.status == "infeasible")
    assert found.score == pytest.approx(theirs.score, abs=1e-6)
    assert tw.verify(graph, found)


def test_an_empty_graph():
    for method in METHODS:
        found = tw.solve(tw.FactorGraph(), method)
        assert found.score == found.upper_bound == 0.0
        assert found.status == ("unverified" if method == "milp" else "optimal")
        assert found.values.shape == (0,)


@pytest.mark.parametrize("method", METHODS)
def test_empty_factors(method):
    for harmless in (AtMostOne([]), Budget([], 0), Knapsack([], [], 0.0), NoOverlap([], [])):
        graph = tw.FactorGraph()
        graph.binary(2, [1.0, -1.0])
        graph.add(harmless)
        found = tw.solve(graph, method)
        assert found.values.tolist() == [True, False]
    for hopeless in (Xor([]), Or([]), Knapsack([], [], -1.0)):
        graph = tw.FactorGraph()
        graph.binary(2)
        graph.add(hopeless)
        found = tw.solve(graph, method)
        assert found.status == "infeasible"
        assert tw.verify(graph, found).status in ("proven", "unverified")
        empty = tw.FactorGraph()
        empty.add(hopeless)
        assert tw.solve(empty, method).status == "infeasible"
    graph = tw.FactorGraph()
    z = graph.binary(1, 1.0)
    graph.add(XorOut([], z[0]))
    assert tw.solve(graph, method)[z].tolist() == [False]


@pytest.mark.parametrize("method", METHODS)
def test_batches_are_their_graphs(method):
    many = [odd_cycle(3), odd_cycle(4), tw.FactorGraph(), frustrated(8, 1), frustrated(8, 2)]
    together = tw.solve(many, method, n_jobs=2)
    for graph, found in zip(many, together, strict=True):
        alone = tw.solve(graph, method)
        assert found.graph is graph
        assert (found.status, found.score) == (alone.status, alone.score)
        assert found.upper_bound == pytest.approx(alone.upper_bound)
        assert tw.verify(graph, found).status != "rejected"
    assert tw.solve(iter(many[:1]), method)[0].status == tw.solve(many[0], method).status


@settings(max_examples=15)
@given(many=st.lists(graphs(), max_size=4))
def test_any_batch_is_its_graphs(many):
    for graph, found in zip(many, tw.solve(many, n_jobs=2), strict=True):
        alone = tw.solve(graph)
        assert (found.status, found.score) == (alone.status, pytest.approx(alone.score))


def test_callbacks_see_progress_and_stop():
    graph = frustrated(30, 0)
    graph.add_scores(~graph.binary(1, 0.0), 100.0)
    seen: list[GraphProgress] = []
    found = tw.solve(graph, callback=seen.append)
    assert found.status == "optimal"
    assert seen
    assert all(isinstance(one, GraphProgress) for one in seen)
    assert all(one.upper_bound >= found.score - 1e-6 for one in seen)
    assert all(one.score <= found.score + 1e-6 for one in seen)
    assert [one.iterations for one in seen] == sorted(one.iterations for one in seen)
    stopped = tw.solve(odd_cycle(21), callback=lambda progress: True)
    assert stopped.status in ("feasible", "unsolved")
    assert stopped.upper_bound >= 10.0

    def fail(progress: GraphProgress) -> None:
        raise KeyError("from the callback")

    with pytest.raises(KeyError, match="from the callback"):
        tw.solve(odd_cycle(5), callback=fail)


def test_limits_return_the_best_with_its_gap():
    graph = frustrated(60, 3)
    best = tw.solve(graph).score
    for limited in (
        tw.solve(graph, max_nodes=1, ad3=tw.AD3Options(node_iterations=10)),
        tw.solve(graph, time_limit=1e-300),
        tw.solve(graph, "ad3", ad3=tw.AD3Options(max_iterations=1)),
        tw.solve(graph, "dual", ad3=tw.AD3Options(max_iterations=1)),
    ):
        assert limited.status in ("feasible", "unsolved", "fractional")
        assert limited.upper_bound >= best - slack(best)
        assert limited.gap == (
            pytest.approx(limited.upper_bound - limited.score)
            if limited.values is not None
            else np.inf
        )
        assert tw.verify(graph, limited).status == "unverified"


@pytest.mark.parametrize("limit", [{"max_nodes": 1}, {"time_limit": 1e-9}])
def test_highs_takes_limits(limit):
    graph = frustrated(60, 3)
    limited = tw.solve(graph, "milp", **limit)
    assert limited.status in ("feasible", "unsolved", "unverified")  # presolve may be enough
    assert limited.upper_bound >= tw.solve(graph).score - 1e-6


@pytest.mark.parametrize("finds_one", [True, False])
def test_highs_out_of_time_leaves_a_gap(finds_one, monkeypatch):
    """Two of the five can be on; HiGHS has one or none, and the bound of the relaxation."""

    def late(costs, *, options, **_):
        assert options["time_limit"] == 3.0
        x = np.eye(costs.size)[0] if finds_one else None
        return SimpleNamespace(status=1, x=x, mip_node_count=7, mip_dual_bound=-2.5)

    monkeypatch.setattr("scipy.optimize.milp", late)
    graph = odd_cycle(5)
    found = tw.solve(graph, "milp", time_limit=3.0)
    assert (found.upper_bound, found.nodes) == (2.5, 7)
    if finds_one:
        assert (found.status, found.score, found.gap) == ("feasible", 1.0, 1.5)
        assert found.values.tolist() == [True, False, False, False, False]
    else:
        assert (found.status, found.values, found.gap) == ("unsolved", None, np.inf)
    assert tw.verify(graph, found).status == "unverified"


def test_a_warm_start_takes_fewer_iterations():
    graph = odd_cycle(8)
    cold = tw.solve(graph, "ad3")
    again = tw.solve(graph, "ad3", warm_start=cold)
    assert again.score == cold.score
    assert again.iterations <= cold.iterations
    other = odd_cycle(8)  # of the same shape
    assert tw.solve([other], warm_start=[cold])[0].status == "optimal"
    with pytest.raises(ValueError, match="a graph of 7 variables and 14 links, got 8 and 16"):
        tw.solve(odd_cycle(7), warm_start=cold)
    with pytest.raises(ValueError, match="an answer for each of 2 graphs, got 1"):
        tw.solve([graph, other], warm_start=[cold])
    with pytest.raises(ValueError, match="a Solution with a certificate"):
        tw.solve(graph, warm_start=tw.solve(graph, "milp"))
    with pytest.raises(ValueError, match="a certificate with leaves, got one of none at 0"):
        tw.solve(graph, warm_start=replace(cold, certificate=tw.GraphCertificate(())))
    broken = tw.GraphCertificate((tw.GraphLeaf((), np.full(16, np.nan)),))
    with pytest.raises(ValueError, match="expected finite shares in the certificate at 0"):
        tw.solve(graph, warm_start=replace(cold, certificate=broken))


def test_caching_changes_nothing_but_work():
    graph = frustrated(20, 5)
    with_it = tw.solve(graph, "ad3", ad3=tw.AD3Options(caching=True))
    without = tw.solve(graph, "ad3", ad3=tw.AD3Options(caching=False))
    assert without.subproblems[1] == 0
    assert with_it.upper_bound == pytest.approx(without.upper_bound, abs=1e-3)


def test_two_sentences_agree():
    graph = tw.FactorGraph()
    first = graph.categorical(3, 2, [[2.0, 0.0], [0.0, 0.4], [0.0, 1.0]])
    second = graph.categorical(2, 2, [[0.0, 1.0], [1.0, 0.0]])
    stay = np.array([[0.5, 0.0], [0.0, 0.5]])
    graph.add(Chain(first, stay), Chain(second, stay))
    graph.add(*(XorOut([first[1] == y], second[1] == y) for y in range(2)))  # the same word
    found = tw.solve(graph)
    assert found.status == "optimal"
    assert found[first][1] == found[second][1] == 0
    assert found[first].shape == (3,)
    assert tw.verify(graph, found)
    assert tw.solve(graph, "milp").score == pytest.approx(found.score)


@pytest.mark.parametrize("scale", [1e-9, 1e-3, 1e4, 1e9])
def test_scores_of_any_size(scale):
    for seed in range(3):
        graph = tw.FactorGraph()
        other = frustrated(14, seed)
        graph.binary(14, other.scores * scale)
        graph.add(*(type(f)(Variables(graph, f.codes)) for f in other.factors))
        found, theirs = tw.solve(graph), tw.solve(other)
        assert found.status == "optimal"
        assert found.score == pytest.approx(theirs.score * scale, rel=1e-8)
        assert tw.verify(graph, found)


@pytest.mark.parametrize("scale", [1e-12, 1e-8, 1.0, 1e12, 1e100])
def test_highs_takes_scores_of_any_size(scale):
    random = np.random.default_rng(1)
    for length in (8, 20, 30):
        graph = tw.FactorGraph()
        z = graph.binary(length, random.random(length) * scale)
        apart = ((i, (i + step) % length) for i in range(length) for step in (1, 4))
        graph.add(*(AtMostOne([z[i], z[j]]) for i, j in apart))
        x = graph.categorical(2, 2, random.normal(size=(2, 2)) * scale)
        graph.add(Pair(x[0], x[1], random.normal(size=(2, 2)) * scale), Or([x[0] == 1, z[0]]))
        best, relaxed = tw.solve(graph, "milp"), tw.solve(graph, "lp")
        assert best.score == pytest.approx(tw.solve(graph).score, rel=1e-6)
        assert best.upper_bound == pytest.approx(best.score, rel=1e-5)
        assert relaxed.upper_bound >= best.score * (1 - 1e-9)
        assert relaxed.upper_bound <= best.score * 1.5
        assert (relaxed.status == "optimal") == (
            relaxed.upper_bound <= best.score + 1e-9 * (min(1.0, scale) + best.score)
        )
        assert tw.verify(graph, relaxed).status != "rejected"


@pytest.mark.parametrize("method", ["auto", "ad3", "dual", "lp"])
def test_graphs_without_variables(method):
    graph = tw.FactorGraph()
    for status in ("optimal", "infeasible"):
        found = tw.solve(graph, method)
        assert found.status == status
        assert tw.verify(graph, found)
        graph.add(Or([]))


def test_highs_that_gives_up_leaves_it_unsolved(monkeypatch):
    gone = SimpleNamespace(status=4, x=None, mip_node_count=None, mip_dual_bound=None)
    for name, method in (("linprog", "lp"), ("milp", "milp")):
        monkeypatch.setattr(f"scipy.optimize.{name}", lambda *_, **__: gone)
        found = tw.solve(odd_cycle(5), method)
        assert (found.status, found.values, found.upper_bound) == ("unsolved", None, np.inf)


def test_graphs_and_answers_are_pickled_and_copied():
    graph = tw.FactorGraph()
    x = graph.categorical(3, 2, [[0.0, 1.0], [0.0, 0.4], [1.0, 0.0]])
    graph.add(Chain(x, np.eye(2)), NoOverlap(x == 1, [(0, 2), (1, 3), (2, 4)]))
    found = tw.solve(graph)
    other, again = pickle.loads(pickle.dumps((graph, found)))
    assert again.graph is other
    assert tw.verify(other, again)
    assert tw.solve(other).values.tolist() == found.values.tolist()
    changed = copy.deepcopy(graph)
    changed.fix(changed.factors[0].graph.binary(1))
    assert (graph.n_variables, changed.n_variables) == (6, 7)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "beam"}, "'auto', 'branch', 'ad3', 'dual', 'milp', 'lp' for a factor graph"),
        ({"method": "astar"}, "for a factor graph, got 'astar'"),
        ({"time_limit": -1.0}, "time_limit: expected seconds"),
        ({"max_nodes": 0}, "max_nodes: expected a whole number above 0"),
        ({"max_nodes": 1.5}, "max_nodes: expected a whole number above 0"),
        ({"max_nodes": 2**70}, r"max_nodes: expected a whole number above 0, up to 2\*\*62"),
        ({"n_jobs": 0}, "n_jobs"),
    ],
)
def test_wrong_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        tw.solve(odd_cycle(3), **options)


@pytest.mark.parametrize(
    "wrong",
    [
        {"eta": 0.0},
        {"eta": np.nan},
        {"tolerance": -1.0},
        {"max_iterations": 0},
        {"max_iterations": 2**70},
        {"node_iterations": 1.5},
        {"adapt": 1},
        {"caching": "yes"},
    ],
)
def test_wrong_options_of_ad3_are_refused(wrong):
    with pytest.raises(ValueError, match=f"AD3Options: {next(iter(wrong))}: expected"):
        tw.AD3Options(**wrong)


def test_problems_and_graphs_do_not_mix():
    with pytest.raises(TypeError, match="expected a FactorGraph or a list of these, got Problem"):
        tw.solve([odd_cycle(3), tw.Problem([[0.0]], labels=["a"])])
    with pytest.raises(ValueError, match="method: expected one of 'auto', 'product'"):
        tw.solve(tw.Problem([[0.0]], labels=["a"]), "ad3")
    with pytest.raises(ValueError, match="max_nodes: this is an option of a factor graph alone"):
        tw.solve(tw.Problem([[0.0]], labels=["a"]), max_nodes=3)
    with pytest.raises(ValueError, match="width: this is an option of a Problem alone"):
        tw.solve(odd_cycle(3), width=3)
    with pytest.raises(ValueError, match="callback: method='milp' takes none"):
        tw.solve(odd_cycle(3), "milp", callback=print)
    with pytest.raises(TypeError, match=r"ad3: expected tw.AD3Options\(…\), got dict"):
        tw.solve(odd_cycle(3), ad3={"eta": 1.0})


def test_an_empty_list_of_graphs():
    for options in ({"method": "ad3"}, {"callback": print}, {"max_nodes": 3}, {"width": 3}, {}):
        assert tw.solve([], **options) == []
    with pytest.raises(ValueError, match="'milp', 'beam', 'ad3', 'lp', got 'guess'"):
        tw.solve([], "guess")


def test_callbacks_may_be_false():
    class Silent(list):
        def __call__(self, state: GraphProgress) -> None:
            self.append(get_ident())

    threads = Silent()
    tw.solve([frustrated(20, seed) for seed in range(4)], callback=threads, n_jobs=2)
    assert len(set(threads)) == 1


def test_answers_without_values_have_none_to_give():
    graph = tw.FactorGraph()
    z = graph.binary(1)
    graph.add(Or([]))
    found = tw.solve(graph)
    with pytest.raises(ValueError, match="there are no values: the graph is infeasible"):
        found[z]
