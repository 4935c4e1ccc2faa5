"""Proofs of answers to factor graphs: the right ones hold, and nothing else does."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st

import trelliswork as tw
from factor_graph_cases import cases, odd_cycle
from trelliswork.graphs.bounds import GraphBound
from trelliswork.graphs.factors import Budget, Or, Xor


@settings(max_examples=60)
@given(case=cases(), data=st.data())
def test_any_shares_bound_the_best(case, data):
    bounds = GraphBound(case.graph)
    n_links = sum(factor.codes.size for factor in case.graph.factors)
    random = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    shares = random.normal(size=n_links)
    decisions = tuple(
        (j, bool(random.integers(2)))
        for j in random.permutation(case.graph.n_variables)[: random.integers(3)].tolist()
    )
    inside = [v for z, v in case.values.items() if all(z[j] == value for j, value in decisions)]
    best = max(inside, default=-np.inf)
    assert bounds.bound(decisions, shares) >= best - 1e-9 * (1 + abs(best))
    closed = bounds.close(decisions)
    for z in case.values:
        if all(z[j] == value for j, value in decisions):
            assert closed is not None
            assert all(one in (-1, value) for one, value in zip(closed, z, strict=True))


@settings(max_examples=60)
@given(case=cases(), data=st.data())
def test_tampered_answers_are_rejected(case, data):
    assume(case.best > -np.inf)
    graph = case.graph
    found = tw.solve(graph)
    worse = [z for z, v in case.values.items() if v < case.best - 1e-6]
    if worse:
        z = data.draw(st.sampled_from(sorted(worse)))
        value = case.values[z]
        values = np.array(z, dtype=bool)
        assert tw.verify(graph, replace(found, values=values)).status == "rejected"
        claim = replace(found, values=values, score=value, upper_bound=value)
        assert tw.verify(graph, claim).status == "rejected"
        honest = replace(found, values=values, score=value, status="feasible")
        assert tw.verify(graph, honest).status == "unverified"
    broken = [z for z in np.ndindex(*(2,) * graph.n_variables) if z not in case.values]
    if broken:
        values = np.array(data.draw(st.sampled_from(broken)), dtype=bool)
        proof = tw.verify(graph, replace(found, values=values))
        assert proof.status == "rejected"
        assert "they break" in proof.reason
    for wrong in (
        {"score": found.score + 1.0},
        {"upper_bound": found.score - 1.0},
        {"upper_bound": found.score + 1.0},
        {"score": np.nan},
        {"upper_bound": np.nan},
        {"values": None},
        {"values": found.values[1:]},
        {"status": "infeasible"},
        {"certificate": "trust me"},
    ):
        assert tw.verify(graph, replace(found, **wrong)).status == "rejected", wrong
    assert tw.verify(graph, replace(found, certificate=None)).status == "unverified"


def test_tampered_certificates_are_rejected():
    graph = odd_cycle(7)
    found = tw.solve(graph)
    leaves = found.certificate.leaves
    assert len(leaves) > 1
    assert tw.verify(graph, found).status == "proven"

    def judged(*leaves: tw.GraphLeaf) -> str:
        return tw.verify(graph, replace(found, certificate=tw.GraphCertificate(leaves))).status

    assert judged(*leaves[1:]) == "rejected"  # something is left out
    assert judged(*leaves, leaves[0]) == "rejected"
    assert judged() == "rejected"
    assert judged(tw.GraphLeaf((), leaves[0].shares)) == "rejected"  # true, and not enough
    first, rest = leaves[0], leaves[1:]
    for wrong in (
        replace(first, shares=first.shares[1:]),
        replace(first, shares=first.shares + np.nan),
        replace(first, shares=first.shares + 1e6),
        replace(first, decisions=()),
        replace(first, decisions=((99, True), *first.decisions[1:])),
        replace(first, decisions=((0.5, True), *first.decisions[1:])),
        replace(first, decisions=((first.decisions[0][0], 2), *first.decisions[1:])),
        replace(first, decisions=(*first.decisions, (6, True))),
    ):
        assert judged(wrong, *rest) == "rejected"


class Fickle:
    """Honest shares when it is first looked at."""

    def __init__(self, shares: np.ndarray) -> None:
        self.answers = [shares, shares + 1e6]

    def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray:
        return self.answers.pop(0)


def test_malformed_certificates_are_rejected():
    graph = tw.FactorGraph()
    z = graph.binary(2, [3.0, 1.0])
    graph.add(Or(z))
    found = tw.solve(graph)
    shares = found.certificate.leaves[0].shares

    def judged(leaves: object) -> str:
        return tw.verify(graph, replace(found, certificate=tw.GraphCertificate(leaves))).status

    assert judged((tw.GraphLeaf((), shares.tolist()),)) == "proven"
    assert judged((tw.GraphLeaf((), Fickle(shares)),)) == "proven"
    for wrong in (
        None, "ab", np.array(["a", "b"]), ["1.0", "2.0"], [None, None], [[1.0], [1.0, 2.0]], 1.0,
        shares[None], [True, False], [1j, 2j], [np.inf, 0.0], [10**400, 0], object(),
    ):  # fmt: skip
        assert judged((tw.GraphLeaf((), wrong),)) == "rejected", wrong
    for wrong in (
        None,
        3,
        "ab",
        (1,),
        ((0,),),
        ((0, True, 1),),
        (None,),
        ((None, True),),
        ([0, 1],),
    ):
        assert judged((tw.GraphLeaf(wrong, shares),)) == "rejected", wrong
    for wrong in (None, 3, "ab", (None,), ("leaf",), ((),), [((), shares)]):
        assert judged(wrong) == "rejected", wrong
    for name in ("score", "upper_bound", "values"):
        for wrong in ("high", [1.0], object()):
            assert tw.verify(graph, replace(found, **{name: wrong})).status == "rejected"


def test_shares_that_rounding_swallows_prove_nothing():
    graph = tw.FactorGraph()
    z = graph.binary(2, [0.0, 3.0])
    graph.add(Or([z[0], z[1]]), Or([z[0]]), Budget([z[1]], 5))
    for huge in (1e17, 1e100, 1.7e308):
        shares = np.array([huge, 3.0, -huge, 0.0])
        assert GraphBound(graph).bound((), shares) >= 3.0
        leaf = tw.GraphLeaf((), shares)
        claim = tw.Solution(
            graph=graph,
            values=np.array([True, False]),
            score=0.0,
            upper_bound=0.0,
            status="optimal",
            method="x",
            certificate=tw.GraphCertificate((leaf,)),
        )
        assert tw.verify(graph, claim).status == "rejected"
    graph.fix(z[0])
    for shares in ([1.7e308, 0.0, 1.7e308, 0.0], [-1.7e308, -1.7e308, 0.0, 0.0], [1e308] * 4):
        certificate = tw.GraphCertificate((tw.GraphLeaf((), np.array(shares)),))
        nothing = tw.Solution(
            graph=graph,
            values=None,
            score=-np.inf,
            upper_bound=-np.inf,
            status="infeasible",
            method="x",
            certificate=certificate,
        )
        assert nothing.gap == np.inf
        assert tw.verify(graph, nothing).status == "unverified"


@given(case=cases(), data=st.data())
def test_shares_of_any_size_bound_the_best(case, data):
    n_links = sum(factor.codes.size for factor in case.graph.factors)
    random = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    scale = data.draw(st.sampled_from([1e10, 1e16, 1e18, 1e150, 1e307, 1.7e308]))
    shares = random.uniform(-1.0, 1.0, n_links) * scale
    for _ in range(n_links):  # some that cancel
        one, other = random.integers(0, n_links, 2)
        shares[one] = -shares[other]
    assert GraphBound(case.graph).bound((), shares) >= case.best - 1e-9 * (1 + abs(case.best))


def test_infeasibility_is_proven():
    graph = tw.FactorGraph()
    z = graph.binary(4, 1.0)
    graph.add(Xor(z), Xor(z[:2]), Xor(z[2:]))  # one and one are not one
    found = tw.solve(graph)
    assert found.status == "infeasible"
    proof = tw.verify(graph, found)
    assert proof
    assert proof.reason == "There is no assignment."
    assert proof.upper_bound == -np.inf
    assert tw.verify(graph, replace(found, certificate=None)).status == "unverified"
    possible = tw.FactorGraph()
    z = possible.binary(4, 1.0)
    possible.add(Xor(z), Or(z[:2]), Or(z[1:3]))
    wrong = tw.solve(possible)
    wrong = replace(wrong, values=None, score=-np.inf, upper_bound=-np.inf, status="infeasible")
    assert tw.verify(possible, wrong).status == "unverified"


def test_answers_belong_to_their_graph():
    found = tw.solve(odd_cycle(5))
    assert tw.verify(odd_cycle(5), found).status == "proven"  # of the same shape
    assert tw.verify(odd_cycle(7), found).status == "rejected"
    with pytest.raises(TypeError, match="A FactorGraph goes with its Solution"):
        tw.verify(odd_cycle(5), "answer")
    with pytest.raises(TypeError, match="A FactorGraph goes with its Solution"):
        tw.verify(tw.Problem([[0.0]], labels=["a"]), found)
