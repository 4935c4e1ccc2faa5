"""The methods of solving factor graphs, by name.

| method | algorithm | exact |
| --- | --- | --- |
| ``"branch"`` | best-first branch and bound around AD3 | yes |
| ``"auto"`` | the same | yes |
| ``"ad3"`` | the linear relaxation by AD3 | if it is integral |
| ``"dual"`` | the same by projected subgradients, for comparison | if the gap closes |
| ``"milp"`` | a mixed-integer program, solved by HiGHS | yes, without a certificate |
| ``"lp"`` | its relaxation, solved by HiGHS | if it is integral |
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from trelliswork import _core
from trelliswork._utils.arguments import NO_LIMIT, is_count
from trelliswork._utils.threads import resolve_jobs
from trelliswork.graphs.answers import AD3Options, GraphProgress, Solution
from trelliswork.graphs.certificate import GraphCertificate, GraphLeaf
from trelliswork.graphs.milp import solve_by_highs
from trelliswork.proofs.answer import CLOSED, STATUSES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from trelliswork.graphs.graph import FactorGraph

__all__ = ["GraphMethod", "solve_graphs"]

GraphMethod = Literal["auto", "branch", "ad3", "dual", "milp", "lp"]
CORE_METHODS = {"ad3": 0, "branch": 1, "auto": 1, "dual": 2}


def solve_graphs(
    graphs: Sequence[FactorGraph],
    method: GraphMethod = "auto",
    *,
    time_limit: float | None = None,
    max_nodes: int | None = None,
    callback: Callable[[GraphProgress], object] | None = None,
    warm_start: Sequence[Solution] | None = None,
    ad3: AD3Options | None = None,
    n_jobs: int | None = None,
) -> list[Solution]:
    """Solve several graphs, in one call of the core.

    Parameters
    ----------
    graphs
        The graphs.
    method
        See the table above.
    time_limit
        Seconds for each graph.
    max_nodes
        Maximum number of nodes of branch and bound, or of HiGHS, for each graph.
    callback
        Called with a `GraphProgress` now and then; returning True ends that graph. Not for HiGHS.
    warm_start
        Answers to graphs of the same shape, one each, from which AD3 starts. Not for HiGHS.
    ad3
        Options of AD3; ``"dual"`` uses those that apply.
    n_jobs
        Threads; with a callback, graphs are solved on one.
    """
    _check(method, max_nodes, ad3)
    if method == "milp" or method == "lp":
        for option, value in (("callback", callback), ("warm_start", warm_start)):
            if value is not None:
                raise ValueError(f"{option}: method={method!r} takes none; leave it out.")
        return [solve_by_highs(graph, method, time_limit, max_nodes) for graph in graphs]
    return _by_core(
        graphs,
        method,
        time_limit,
        NO_LIMIT if max_nodes is None else int(max_nodes),
        callback,
        warm_start,
        ad3 or AD3Options(),
        n_jobs,
    )


def _check(method: object, max_nodes: Any, ad3: object) -> None:
    choices = get_args(GraphMethod)
    if method not in choices:
        raise ValueError(
            f"method: expected one of {', '.join(map(repr, choices))} for a factor graph, got "
            f"{method!r}."
        )
    if max_nodes is not None and not is_count(max_nodes):
        raise ValueError(
            f"max_nodes: expected a whole number above 0, up to 2**62, or None, got {max_nodes!r}."
        )
    if ad3 is not None and not isinstance(ad3, AD3Options):
        raise TypeError(f"ad3: expected tw.AD3Options(…), got {type(ad3).__name__}.")


def _by_core(
    graphs: Sequence[FactorGraph],
    method: GraphMethod,
    time_limit: float | None,
    max_nodes: int,
    callback: Callable[[GraphProgress], object] | None,
    warm_start: Sequence[Solution] | None,
    ad3: AD3Options,
    n_jobs: int | None,
) -> list[Solution]:
    answers = _core.solve_graphs(
        [_core.Graph(*graph.arrays()) for graph in graphs],
        _core.GraphOptions(
            method=CORE_METHODS[method],
            eta=ad3.eta,
            adapt=ad3.adapt,
            tolerance=ad3.tolerance,
            caching=ad3.caching,
            # The core has no constants: its gaps are relative to scores without them.
            gap=CLOSED / (1.0 + max((abs(graph.constant) for graph in graphs), default=0.0)),
            max_iterations=ad3.max_iterations,
            node_iterations=ad3.node_iterations,
            seconds=0.0 if time_limit is None else float(time_limit),
            max_nodes=max_nodes,
            certify=True,
        ),
        _starts(graphs, warm_start),
        None if callback is None else _reporting(callback, graphs),
        1 if callback is not None else min(resolve_jobs(n_jobs), max(1, len(graphs))),
    )
    name = "branch" if method == "auto" else method
    return [_solution(graph, name, found) for graph, found in zip(graphs, answers, strict=True)]


def _solution(graph: FactorGraph, method: str, found: _core.GraphAnswer) -> Solution:
    score, bound = found.score + graph.constant, found.bound + graph.constant
    values = found.values
    if values is not None:
        bound = max(bound, score)
    leaves = (GraphLeaf(tuple(decisions), shares) for decisions, shares in found.leaves)
    return Solution(
        graph=graph,
        values=None if values is None else values.astype(bool),
        score=score,
        upper_bound=bound,
        status=STATUSES[found.status],
        method=method,
        relaxed=found.relaxed,
        iterations=found.iterations,
        nodes=found.nodes,
        subproblems=(found.n_solved, found.n_cached),
        certificate=GraphCertificate(tuple(leaves)),
    )


def _reporting(
    callback: Callable[[GraphProgress], object], graphs: Sequence[FactorGraph]
) -> Callable[[int, int, int, float, float, float, float], bool]:
    def report(
        graph: int, iterations: int, nodes: int, score: float, bound: float, *residuals: float
    ) -> bool:
        constant = graphs[graph].constant
        state = GraphProgress(
            graph, iterations, nodes, score + constant, bound + constant, *residuals
        )
        return bool(callback(state))

    return report


def _starts(
    graphs: Sequence[FactorGraph], given: Sequence[Solution] | None
) -> list[_core.GraphStart | None] | None:
    """Return initial shares and values of every graph."""
    if given is None:
        return None
    if len(given) != len(graphs):
        raise ValueError(
            f"warm_start: expected an answer for each of {len(graphs)} graphs, got {len(given)}."
        )
    starts: list[_core.GraphStart | None] = []
    for number, (graph, answer) in enumerate(zip(graphs, given, strict=True)):
        arrays = graph.arrays()
        if not isinstance(answer, Solution) or answer.certificate is None:
            raise ValueError(
                f"warm_start: expected a Solution with a certificate, got {answer!r} at {number}."
            )
        if not answer.certificate.leaves:
            raise ValueError(
                f"warm_start: expected a certificate with leaves, got one of none at {number}."
            )
        share = np.asarray(answer.certificate.leaves[0].shares, dtype=np.float64)
        start = np.asarray(np.zeros(arrays.scores.size) if answer.values is None else answer.values)
        if share.shape != arrays.variables.shape or start.shape != arrays.scores.shape:
            raise ValueError(
                f"warm_start: expected the answer to a graph of {arrays.scores.size} variables and "
                f"{arrays.variables.size} links, got {start.size} and {share.size} at {number}."
            )
        if not np.isfinite(share).all():
            raise ValueError(f"warm_start: expected finite shares in the certificate at {number}.")
        starts.append(_core.GraphStart(share, start.astype(np.uint8)))
    return starts
