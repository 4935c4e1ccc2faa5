"""Factor graphs as linear programs, solved by HiGHS: the reference for other methods.

    maximise   c·z + Σ_m gains_m · e_m
    subject to low_m ≤ A_m [l_m, e_m] ≤ high_m      for every factor m
               z ∈ {0, 1}^N, or [0, 1]^N; e ∈ [0, 1]

Literals ``l_m`` are ``z`` or ``1 − z``, and ``e_m`` are columns of tables and chains (`Rows`). In
both forms the relaxation is the one that AD3 solves, except for knapsacks: AD3's dual uses their
convex hull, which has no rows here.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
import scipy

from trelliswork.graphs.answers import Solution
from trelliswork.graphs.bounds import GraphBound
from trelliswork.graphs.certificate import GraphCertificate, GraphLeaf
from trelliswork.proofs.answer import slack

if TYPE_CHECKING:
    from trelliswork._typing import FloatArray, IntArray
    from trelliswork.graphs.graph import FactorGraph
    from trelliswork.proofs.answer import Status


__all__ = ["LinearProgram", "solve_by_highs"]

DONE = 0  # the statuses of scipy.optimize
INFEASIBLE = 2
INTEGRAL = 1e-6  # HiGHS's tolerance of integers
MAX_NODES = 2**31 - 1  # HiGHS counts nodes in 32 bits

_NONE = np.zeros(0)
_WHOLE = np.zeros(0, dtype=np.int64)


class LinearProgram(NamedTuple):
    """A graph as a linear program: variables first, then the columns of factors.

    Attributes
    ----------
    costs : numpy.ndarray
        ``-c`` and ``-gains``, over `scale`, shape ``(N + E,)``.
    scale : float
        A power of two: the largest cost is from 1 to 2. HiGHS's tolerances are absolute, and it
        fails with scores of 1e12.
    least, most : numpy.ndarray
        Bounds of the columns: 0 and 1, except for fixed variables.
    matrix : scipy.sparse.csr_array
        ``A``, shape ``(R, N + E)``.
    low, high : numpy.ndarray
        Bounds of the rows, shape ``(R,)``.
    link_row, link, link_entry : numpy.ndarray
        Row, link and coefficient of the entries of rows on links.
    """

    costs: FloatArray
    scale: float
    least: FloatArray
    most: FloatArray
    matrix: scipy.sparse.csr_array
    low: FloatArray
    high: FloatArray
    link_row: IntArray
    link: IntArray
    link_entry: FloatArray

    @classmethod
    def of(cls, graph: FactorGraph) -> LinearProgram:
        """Convert a graph to a linear program."""
        n_variables, n_links, n_rows = graph.n_variables, 0, 0
        row, column, entry = [_WHOLE], [_WHOLE], [_NONE]
        low, high, gains = [_NONE], [_NONE], [_NONE]
        link_row, link, link_entry = [_WHOLE], [_WHOLE], [_NONE]
        n_columns = n_variables
        for factor in graph.factors:
            part, size = factor.rows(), factor.codes.size
            own = part.column < size  # the others are the factor's own columns
            at, values = part.column[own], part.entry[own]
            variables, negated = factor.codes[at] >> 1, factor.codes[at] & 1
            signed = np.where(negated, -values, values)  # a (1 − z) = a − a z
            constant = np.bincount(part.row[own], values * negated, part.low.size)
            row += [n_rows + part.row[own], n_rows + part.row[~own]]
            column += [variables, n_columns - size + part.column[~own]]
            entry += [signed, part.entry[~own]]
            low.append(part.low - constant)
            high.append(part.high - constant)
            link_row.append(n_rows + part.row[own])
            link.append(n_links + at)
            link_entry.append(signed)
            gains.append(part.gains)
            n_rows, n_columns = n_rows + part.low.size, n_columns + part.gains.size
            n_links += size
        n_own = n_columns - n_variables
        fixed = graph.fixed
        worth = np.concatenate([graph.scores, *gains])
        scale = 2.0 ** np.floor(np.log2(np.abs(worth).max(initial=0.0) or 1.0))
        return cls(
            -worth / scale,
            float(scale),
            np.concatenate([fixed == 1, np.zeros(n_own)]),
            np.concatenate([fixed != 0, np.ones(n_own)]).astype(np.float64),
            scipy.sparse.csr_array(
                (np.concatenate(entry), (np.concatenate(row), np.concatenate(column))),
                shape=(n_rows, n_columns),
            ),
            np.concatenate(low),
            np.concatenate(high),
            np.concatenate(link_row),
            np.concatenate(link),
            np.concatenate(link_entry),
        )


def solve_by_highs(
    graph: FactorGraph,
    method: Literal["milp", "lp"],
    time_limit: float | None = None,
    max_nodes: int | None = None,
) -> Solution:
    """Solve a graph with HiGHS.

    Parameters
    ----------
    graph
        The graph.
    method
        ``"milp"`` finds the best assignment, without a certificate. ``"lp"`` solves the relaxation
        and turns its dual into a certificate: the multipliers ``y`` of the rows of factor ``m``
        give the shares of its links, ``θ_m = y·A_m``. The answer is ``"optimal"`` if their bound,
        which `trelliswork.verify` computes as well, equals the score.
    time_limit
        Seconds.
    max_nodes
        Maximum number of nodes of the search for the best assignment.
    """
    if not graph.n_variables:  # HiGHS refuses it
        return _without_variables(graph, method)
    program = LinearProgram.of(graph)
    limits = {} if time_limit is None else {"time_limit": time_limit}
    if method == "lp":
        return _relax(graph, program, limits)
    if max_nodes is not None:
        limits["node_limit"] = min(int(max_nodes), MAX_NODES)
    return _search(graph, program, limits)


def _search(graph: FactorGraph, program: LinearProgram, limits: dict[str, float]) -> Solution:
    """Return the best assignment."""
    rows = [scipy.optimize.LinearConstraint(program.matrix, program.low, program.high)]
    found = scipy.optimize.milp(
        program.costs,
        integrality=(np.arange(program.costs.size) < graph.n_variables).astype(np.int64),
        bounds=scipy.optimize.Bounds(program.least, program.most),
        constraints=rows if program.low.size else [],
        options={"mip_rel_gap": 0.0, **limits},  # type: ignore[arg-type]
    )
    if found.status == INFEASIBLE:
        return _nothing(graph, "milp", -np.inf, "infeasible")
    nodes = int(found.mip_node_count or 0)
    dual = found.mip_dual_bound
    bound = np.inf if dual is None else graph.constant - program.scale * float(dual)
    values = None if found.x is None else found.x[: graph.n_variables] > 0.5
    score = -np.inf if values is None else graph.value(values)
    if score == -np.inf:  # a limit was reached, or rounding violates a factor
        return replace(_nothing(graph, "milp", bound, "unsolved"), nodes=nodes)
    return Solution(
        graph=graph,
        values=values,
        score=score,
        upper_bound=max(bound, score),
        status="unverified" if found.status == DONE else "feasible",
        method="milp",
        nodes=nodes,
    )


def _relax(graph: FactorGraph, program: LinearProgram, limits: dict[str, float]) -> Solution:
    """Return the answer of the relaxation, with the certificate of its dual."""
    equal = np.flatnonzero(program.high == program.low)
    upper = np.flatnonzero((program.high > program.low) & (program.high < np.inf))
    lower = np.flatnonzero((program.high > program.low) & (program.low > -np.inf))
    found = scipy.optimize.linprog(  # type: ignore[call-overload]  # sparse matrices
        program.costs,
        A_ub=scipy.sparse.vstack([program.matrix[upper], -program.matrix[lower]]),
        b_ub=np.concatenate([program.high[upper], -program.low[lower]]),
        A_eq=program.matrix[equal],
        b_eq=program.low[equal],
        bounds=np.stack([program.least, program.most], axis=1),
        method="highs",
        options=limits,
    )
    if found.status == INFEASIBLE:
        return _nothing(graph, "lp", -np.inf, "infeasible")
    if found.status != DONE:  # a limit was reached, or HiGHS gave up
        return _nothing(graph, "lp", np.inf, "unsolved")
    multipliers = np.zeros(program.low.size)
    multipliers[equal] = -found.eqlin.marginals
    multipliers[upper] = -found.ineqlin.marginals[: upper.size]
    multipliers[lower] += found.ineqlin.marginals[upper.size :]
    n_links = sum(factor.codes.size for factor in graph.factors)
    of_links = program.scale * multipliers[program.link_row] * program.link_entry
    shares = np.bincount(program.link, of_links, n_links).astype(np.float64)
    bound = GraphBound(graph).bound((), shares)
    relaxed = np.clip(found.x[: graph.n_variables], 0.0, 1.0)
    values = relaxed > 0.5
    integral = bool((np.abs(relaxed - values) <= INTEGRAL).all())
    score = graph.value(values) if integral else -np.inf
    # For scores below 1 the tolerance is relative to them.
    unit = min(1.0, program.scale)
    is_best = score > -np.inf and bound - score <= unit * slack(score / unit)
    return Solution(
        graph=graph,
        values=values if score > -np.inf else None,
        score=score,
        upper_bound=max(bound, score),
        status="optimal" if is_best else "fractional",
        method="lp",
        relaxed=relaxed,
        iterations=int(found.nit),
        certificate=GraphCertificate((GraphLeaf((), shares),)),
    )


def _without_variables(graph: FactorGraph, method: str) -> Solution:
    """Return the answer to a graph of no variables."""
    value, none = graph.value(np.zeros(0)), np.zeros(0)
    certificate = None if method == "milp" else GraphCertificate((GraphLeaf((), none),))
    if value == -np.inf:
        return replace(_nothing(graph, method, value, "infeasible"), certificate=certificate)
    return Solution(
        graph=graph,
        values=none.astype(bool),
        score=value,
        upper_bound=value,
        status="unverified" if method == "milp" else "optimal",
        method=method,
        relaxed=none,
        certificate=certificate,
    )


def _nothing(graph: FactorGraph, method: str, bound: float, status: Status) -> Solution:
    """Return an answer without an assignment."""
    return Solution(
        graph=graph, values=None, score=-np.inf, upper_bound=bound, status=status, method=method
    )
