"""All ways of solving factor graphs.

| method | what it does | exact |
| --- | --- | --- |
| ``"branch"`` | best-first branch and bound around AD3 | yes |
| ``"auto"`` | the same | yes |
| ``"ad3"`` | the linear relaxation by AD3 | where it is integral |
| ``"dual"`` | the same by projected subgradients, for comparison | where the gap closes |
| ``"milp"`` | a mixed-integer program, solved by HiGHS | yes, without a certificate |
| ``"lp"`` | its relaxation, solved by HiGHS | where it is integral |
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from trelliswork import _core
from trelliswork._utils.threads import resolve_jobs
from trelliswork.graphs.answers import NO_LIMIT, AD3Options, GraphProgress, Solution, is_count
from trelliswork.graphs.certificate import GraphCertificate, GraphLeaf
from trelliswork.graphs.milp import solve_by_highs
from trelliswork.proofs import TOLERANCE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from trelliswork.graphs.answers import GraphStatus
    from trelliswork.graphs.graph import FactorGraph

__all__ = ["GraphMethod", "solve_graphs"]

GraphMethod = Literal["auto", "branch", "ad3", "dual", "milp", "lp"]
CORE_METHODS = {"ad3": 0, "branch": 1, "auto": 1, "dual": 2}
STATUSES: tuple[GraphStatus, ...] = (  # as in the core
    "optimal",
    "feasible",
    "infeasible",
    "unsolved",
    "fractional",
)
GAP = TOLERANCE / 2  # below which it is closed: less than what verify allows for rounding


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
        Of branch and bound, for each graph; HiGHS's too.
    callback
        Called with a `GraphProgress` now and then; returning True ends that graph. Not for HiGHS.
    warm_start
        Answers to graphs of the same shape, one each: where AD3 begins. Not for HiGHS.
    ad3
        Options of AD3, and of ``"dual"`` as far as it has them.
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
    parts = [graph.arrays() for graph in graphs]
    n_graphs = len(graphs)
    variable_offsets = _offsets([part.scores.size for part in parts])
    factor_offsets = _offsets([part.kinds.size for part in parts])
    link_offsets = _offsets([part.variables.size for part in parts])
    n_variables = int(variable_offsets[-1])
    offsets = [part.offsets[:-1] + at for part, at in zip(parts, link_offsets, strict=False)]
    status, values = np.empty(n_graphs, np.int32), np.empty(n_variables, np.uint8)
    relaxed = np.full(n_variables, np.nan)  # stays so where nothing was relaxed
    objectives, bounds = np.empty(n_graphs), np.empty(n_graphs)
    iterations, nodes, solved, cached = (np.empty(n_graphs, np.int64) for _ in range(4))
    warm_shares, warm_values = _warm(graphs, warm_start)
    proof = _core.solve_graphs(
        variable_offsets,
        factor_offsets,
        _joined([part.scores for part in parts]),
        _joined([part.fixed for part in parts], np.int8),
        _joined([part.kinds for part in parts], np.int8),
        _joined([*offsets, link_offsets[-1:]], np.int64),
        _joined([part.variables for part in parts], np.int32),
        _joined([part.negated for part in parts], np.uint8),
        _joined([part.weights for part in parts]),
        _joined([part.limits for part in parts]),
        [structure for part in parts for structure in part.structures],
        CORE_METHODS[method],
        ad3.eta,
        ad3.adapt,
        ad3.max_iterations,
        ad3.node_iterations,
        ad3.tolerance,
        # The core, which knows no constants, closes gaps in parts of a score that lacks them.
        GAP / (1.0 + max((abs(graph.constant) for graph in graphs), default=0.0)),
        ad3.caching,
        0.0 if time_limit is None else float(time_limit),
        max_nodes,
        True,
        1 if callback is not None else min(resolve_jobs(n_jobs), max(1, n_graphs)),
        warm_shares,
        warm_values,
        None if callback is None else _reporting(callback, graphs),
        status,
        values,
        relaxed,
        objectives,
        bounds,
        iterations,
        nodes,
        solved,
        cached,
    )
    certificates = _certificates(proof, np.diff(link_offsets))
    name = "branch" if method == "auto" else method
    answers = []
    for b, graph in enumerate(graphs):
        mine = slice(int(variable_offsets[b]), int(variable_offsets[b + 1]))
        score, bound = (float(of[b]) + graph.constant for of in (objectives, bounds))
        found = score > -np.inf
        if found:
            bound = max(bound, score)
        answers.append(
            Solution(
                graph,
                values[mine].astype(bool) if found else None,
                score,
                bound,
                bound - score if found else np.inf,
                STATUSES[status[b]],
                name,
                None if np.isnan(relaxed[mine]).any() else relaxed[mine],
                int(iterations[b]),
                int(nodes[b]),
                (int(solved[b]), int(cached[b])),
                certificates[b],
            )
        )
    return answers


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


def _warm(
    graphs: Sequence[FactorGraph], given: Sequence[Solution] | None
) -> tuple[NDArray[np.float64] | None, NDArray[np.uint8] | None]:
    """Return shares and values to begin with, of all graphs."""
    if given is None:
        return None, None
    if len(given) != len(graphs):
        raise ValueError(
            f"warm_start: expected an answer for each of {len(graphs)} graphs, got {len(given)}."
        )
    shares, values = [], []
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
        shares.append(share)
        values.append(start.astype(np.uint8))
    return _joined(shares), _joined(values, np.uint8)


def _certificates(
    proof: tuple[NDArray[Any], ...], n_links: NDArray[np.int64]
) -> list[GraphCertificate]:
    """Return the leaves of all graphs, which the core lists one after the other."""
    leaf_offsets, decision_offsets, variables, values, shares = proof
    pairs = list(zip(variables.tolist(), values.astype(bool).tolist(), strict=True))
    ends = decision_offsets.tolist()
    certificates, at = [], 0
    for b, (first, last) in enumerate(pairwise(leaf_offsets.tolist())):
        size = int(n_links[b])
        leaves = []
        for leaf in range(first, last):
            decisions = tuple(pairs[ends[leaf] : ends[leaf + 1]])
            leaves.append(GraphLeaf(decisions, shares[at : at + size]))
            at += size
        certificates.append(GraphCertificate(tuple(leaves)))
    return certificates


def _offsets(sizes: list[int]) -> NDArray[np.int64]:
    return np.cumsum([0, *sizes], dtype=np.int64)


def _joined(parts: Sequence[NDArray[Any]], kind: type = np.float64) -> NDArray[Any]:
    if len(parts) == 1:
        return np.ascontiguousarray(parts[0], dtype=kind)
    return np.concatenate([np.zeros(0, dtype=kind), *parts]).astype(kind, copy=False)
