"""Verification of answers to factor graphs.

The value of an assignment is computed from the factors, and so is the bound of every leaf of the
certificate (`trelliswork.graphs.bounds`).
"""

from __future__ import annotations

from functools import cached_property
from math import inf
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np

from trelliswork.graphs.bounds import GraphBound
from trelliswork.graphs.certificate import GraphCertificate, GraphLeaf
from trelliswork.proofs.certificate import WrongError
from trelliswork.proofs.verification import Claim

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trelliswork._typing import FloatArray
    from trelliswork.graphs.answers import Solution
    from trelliswork.graphs.certificate import GraphDecision
    from trelliswork.graphs.graph import FactorGraph

__all__ = ["GraphClaim", "GraphLeaves"]

WITHOUT_VALUES = ("infeasible", "unsolved", "fractional")


class GraphClaim(Claim):
    """The claim of a `Solution`.

    The claim that there is no assignment is proven if no leaf of the certificate has one.

    Parameters
    ----------
    graph, answer
        The graph and its answer.
    """

    whole, parts = "assignment", "values"

    def __init__(self, graph: FactorGraph, answer: Solution) -> None:
        self.graph = graph
        self.answer: Solution = answer
        self.is_empty = answer.values is None
        self._leaves = GraphLeaves(graph)

    def value(self) -> float:
        """Return the value of the assignment; ``-inf`` if the answer says that it has none."""
        graph, answer = self.graph, self.answer
        for name in ("score", "upper_bound"):
            if not isinstance(getattr(answer, name), Real):
                raise WrongError(f"{name}: expected a number, got {getattr(answer, name)!r}.")
        if answer.values is None:
            if answer.status not in WITHOUT_VALUES or answer.score > -inf:
                raise WrongError(f"values: there are none, but the status is {answer.status!r}.")
            return -inf
        if answer.status == "infeasible":
            raise WrongError("status: there are values, but the status is 'infeasible'.")
        try:
            value = graph.value(answer.values)
        except (TypeError, ValueError) as error:
            raise WrongError(f"It is no assignment of the graph: {error}") from error
        if value == -inf:
            broken = graph.violated(answer.values)
            what = repr(broken[0]) if broken else "fixed values"
            raise WrongError(f"values: they break {what}, or have a score of -inf.")
        return value

    def leaves(self, certificate: Any) -> list[GraphLeaf]:
        """Return the leaves, if shares and decisions are those of the graph."""
        return self._leaves.read(certificate)

    def bound(self, leaves: Sequence[GraphLeaf], value: float) -> float:
        """Return the largest ``D(θ)`` of the leaves."""
        return self._leaves.bound(leaves)


class GraphLeaves:
    """A reader of certificates of one graph, with the bounds of their leaves.

    Parameters
    ----------
    graph
        The graph.
    """

    def __init__(self, graph: FactorGraph) -> None:
        self.graph = graph

    def read(self, certificate: Any) -> list[GraphLeaf]:
        """Return the leaves of a certificate, with valid shares and decisions and nothing else."""
        if not isinstance(certificate, GraphCertificate):
            raise WrongError(
                f"certificate: expected a GraphCertificate, got {type(certificate).__name__}."
            )
        n_links = sum(factor.codes.size for factor in self.graph.factors)
        return [
            GraphLeaf(
                tuple(_decision(one, self.graph.n_variables) for one in leaf.decisions),
                _shares(leaf.shares, n_links),
            )
            for leaf in certificate.leaves
        ]

    def bound(self, leaves: Sequence[GraphLeaf]) -> float:
        """Return the largest ``D(θ)`` of some leaves."""
        return self._bounds.largest([(leaf.decisions, leaf.shares) for leaf in leaves])

    @cached_property
    def _bounds(self) -> GraphBound:
        return GraphBound(self.graph)


def _shares(given: Any, n_links: int) -> FloatArray:
    shares = np.array(given)  # a copy: what is checked is what is used
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


def _decision(given: Any, n_variables: int) -> GraphDecision:
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
