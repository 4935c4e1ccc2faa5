"""Checking answers to factor graphs, without the search that found them.

The value of an assignment is computed from the factors, and so is the bound of every leaf of the
certificate (`trelliswork.graphs.bounds`).
"""

from __future__ import annotations

from math import inf
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np

from trelliswork.graphs.bounds import GraphBound
from trelliswork.graphs.certificate import GraphCertificate, GraphLeaf
from trelliswork.proofs import (
    Verification,
    WrongError,
    check_claims,
    check_cover,
    judge,
    slack,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from trelliswork.graphs.answers import Solution
    from trelliswork.graphs.graph import FactorGraph

__all__ = ["certified_bound", "verify_graph"]

WITHOUT_VALUES = ("infeasible", "unsolved", "fractional")


def verify_graph(graph: FactorGraph, solution: Solution) -> Verification:
    """Check an answer to a graph, and prove again that it is the best one.

    An answer that says that there is no assignment is proven where every leaf of its certificate
    has none.

    Parameters
    ----------
    graph
        The graph.
    solution
        The answer, from `trelliswork.solve` or anywhere else.
    """
    value, bound = np.nan, inf
    try:
        value = _value(graph, solution)
        if value > -inf:
            check_claims(solution, value, "values")
        certificate = solution.certificate
        if certificate is None:
            return Verification("unverified", "It has no certificate.", value, inf)
        bound = certified_bound(graph, certificate)
        if value > -inf:
            return judge(solution, value, bound, "assignment")
        return _judge_nothing(solution, bound)
    except WrongError as wrong:
        return Verification("rejected", str(wrong), value, bound)


def certified_bound(graph: FactorGraph, certificate: GraphCertificate) -> float:
    """Return what no assignment exceeds: the largest of the bounds of all leaves."""
    leaves = _read(graph, certificate)
    bounds = GraphBound(graph)
    return max(bounds.bound(leaf.decisions, leaf.shares) for leaf in leaves)


def _value(graph: FactorGraph, solution: Solution) -> float:
    """Return what the values are worth; ``-inf`` where the answer says that it has none."""
    for name in ("score", "upper_bound", "gap"):
        if not isinstance(getattr(solution, name), Real):
            raise WrongError(f"{name}: expected a number, got {getattr(solution, name)!r}.")
    if solution.values is None:
        if solution.status not in WITHOUT_VALUES or solution.score > -inf:
            raise WrongError(f"values: there are none, and it is said to be {solution.status}.")
        return -inf
    if solution.status == "infeasible":
        raise WrongError("status: there are values, and it is said to be infeasible.")
    try:
        value = graph.value(solution.values)
    except (TypeError, ValueError) as error:
        raise WrongError(f"It is no assignment of the graph: {error}") from error
    if value == -inf:
        broken = graph.violated(solution.values)
        what = repr(broken[0]) if broken else "what is fixed"
        raise WrongError(f"values: they break {what}, or have a score of -inf.")
    return value


def _judge_nothing(solution: Solution, bound: float) -> Verification:
    """Return the verdict on an answer without values."""
    if solution.status == "infeasible":
        if bound == -inf:
            return Verification("proven", "There is no assignment.", -inf, bound)
        return Verification("unverified", "The certificate leaves room for some.", -inf, bound)
    if solution.upper_bound < bound - slack(bound):
        raise WrongError(
            f"certificate: it shows that no assignment is worth more than {bound}; it is said to "
            f"show {solution.upper_bound}."
        )
    return Verification("unverified", "It has no values.", -inf, bound)


def _read(graph: FactorGraph, certificate: Any) -> list[GraphLeaf]:
    """Return the leaves, of shares and decisions that there can be, and of nothing else."""
    if not isinstance(certificate, GraphCertificate):
        raise WrongError(
            f"certificate: expected a GraphCertificate, got {type(certificate).__name__}."
        )
    n_links = sum(factor.codes.size for factor in graph.factors)
    try:
        leaves = [
            GraphLeaf(
                tuple(_decision(one, graph.n_variables) for one in leaf.decisions),
                _shares(leaf.shares, n_links),
            )
            for leaf in certificate.leaves
        ]
    except (AttributeError, TypeError, ValueError) as error:  # leaves that are none, ragged shares
        raise WrongError(f"certificate: it cannot be read: {error}") from error
    check_cover([leaf.decisions for leaf in leaves])
    return leaves


def _shares(given: Any, n_links: int) -> NDArray[np.float64]:
    shares = np.array(given)  # whatever it is, from here on it is this
    if shares.dtype.kind not in "iuf" or shares.shape != (n_links,):
        raise WrongError(
            f"certificate: expected shares of {n_links} links, got {shares.dtype} of shape "
            f"{shares.shape}."
        )
    with np.errstate(over="ignore"):
        shares = shares.astype(np.float64)
    if not np.isfinite(shares).all():
        raise WrongError("certificate: expected finite shares.")
    return shares


def _decision(given: Any, n_variables: int) -> tuple[int, bool]:
    if (
        isinstance(given, tuple)
        and len(given) == 2
        and isinstance(given[0], Integral)
        and not isinstance(given[0], bool)
        and 0 <= int(given[0]) < n_variables
        and isinstance(given[1], bool)
    ):
        return int(given[0]), given[1]
    raise WrongError(
        f"certificate: expected decisions about one of {n_variables} variables, true or false, got "
        f"{given!r}."
    )
