"""Answers to factor graphs, options of AD3, and progress for callbacks."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isfinite
from numbers import Real
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from trelliswork._utils.arguments import is_count
from trelliswork.graphs.certificate import GraphCertificate
from trelliswork.graphs.variables import Categorical, Variables
from trelliswork.proofs.answer import Answer

if TYPE_CHECKING:
    from trelliswork._typing import BoolArray, FloatArray, IntArray
    from trelliswork.graphs.graph import FactorGraph


__all__ = ["AD3Options", "GraphProgress", "Solution"]


@dataclass(frozen=True)
class AD3Options:
    """Options of the AD3 solver.

    Attributes
    ----------
    eta : float
        ``η``, the initial weight of the quadratic penalty, for scores with a spread of 1; it is
        scaled to other spreads.
    adapt : bool
        Whether ``η`` follows the residuals: it grows if factors disagree more than the average of
        their answers moves, and shrinks in the opposite case.
    max_iterations : int
        Maximum number of iterations of ``method="ad3"`` and ``"dual"``, and at the root of branch
        and bound.
    node_iterations : int
        Maximum number of iterations at every other node, which may branch on variables that are
        not settled.
    tolerance : float
        Iterations end when the residuals, root mean squares over links, are below this.
    caching : bool
        Whether factors keep their last answer if their variables did not move.
    """

    eta: float = 0.1
    adapt: bool = True
    max_iterations: int = 1000
    node_iterations: int = 200
    tolerance: float = 1e-6
    caching: bool = True

    def __post_init__(self) -> None:
        for name in ("eta", "tolerance"):
            value = getattr(self, name)
            if not isinstance(value, Real) or not isfinite(value) or value <= 0:
                raise ValueError(f"AD3Options: {name}: expected a number above 0, got {value!r}.")
        for name in ("max_iterations", "node_iterations"):
            value = getattr(self, name)
            if not is_count(value):
                raise ValueError(
                    f"AD3Options: {name}: expected a whole number above 0, up to 2**62, got "
                    f"{value!r}."
                )
        for name in ("adapt", "caching"):
            if not isinstance(getattr(self, name), bool):
                raise ValueError(
                    f"AD3Options: {name}: expected True or False, got {getattr(self, name)!r}."
                )


@dataclass(frozen=True)
class GraphProgress:
    """The progress of a solver, for callbacks.

    Attributes
    ----------
    graph : int
        The index of the graph, among those solved together.
    iterations, nodes : int
        Iterations and branch-and-bound nodes so far.
    score : float
        The score of the best assignment so far; ``-inf`` without one.
    upper_bound : float
        No assignment scores more.
    primal_residual, dual_residual : float
        The distance of the answers of factors from their average, and the last step of the average.
    """

    graph: int
    iterations: int
    nodes: int
    score: float
    upper_bound: float
    primal_residual: float
    dual_residual: float


@dataclass(frozen=True, eq=False, kw_only=True)
class Solution(Answer[GraphCertificate]):
    """The answer to a factor graph; ``found[z]`` are the values of variables ``z``.

    Attributes
    ----------
    graph : FactorGraph
        The graph that was solved.
    values : numpy.ndarray or None
        The values of all variables, shape ``(N,)``; None without an assignment.
    score : float
        The score of the assignment; ``-inf`` without one.
    upper_bound : float
        No assignment scores more; ``-inf`` if it is proven that there is none.
    status : str
        ``"optimal"``; ``"feasible"`` (a gap is left: a limit was reached first); ``"unverified"``
        (the best, by a solver that leaves no certificate); ``"fractional"`` (the relaxation is
        solved, and is not integral); ``"infeasible"`` (no assignment satisfies all factors);
        ``"unsolved"`` (a limit was reached before an assignment was found).
    method : str
        ``"branch"``, ``"ad3"``, ``"dual"``, ``"milp"`` or ``"lp"``.
    relaxed : numpy.ndarray or None
        The answer of the relaxation, in ``[0, 1]``, shape ``(N,)``; for branch and bound, at its
        root.
    iterations, nodes : int
        Iterations of AD3 at all nodes, and nodes of branch and bound.
    subproblems : tuple of int
        The number of times a factor was solved, and the number of times its last answer was kept.
    certificate : GraphCertificate or None
        The proof that `trelliswork.verify` evaluates.
    """

    graph: FactorGraph = field(repr=False)
    values: BoolArray | None = field(repr=False)
    relaxed: FloatArray | None = field(default=None, repr=False)
    nodes: int = 0
    subproblems: tuple[int, int] = (0, 0)

    @overload
    def __getitem__(self, variables: Variables) -> BoolArray: ...

    @overload
    def __getitem__(self, variables: Categorical) -> IntArray: ...

    def __getitem__(self, variables: Any) -> BoolArray | IntArray:
        if not isinstance(variables, Variables | Categorical):
            raise TypeError(
                f"Solution: expected variables of the graph, got {type(variables).__name__}."
            )
        if variables.graph is not self.graph:
            raise ValueError("Solution: expected variables of its graph, got those of another.")
        if self.values is None:
            raise ValueError(f"Solution: there are no values: the graph is {self.status}.")
        if isinstance(variables, Categorical):
            return np.asarray(self[variables.literals].argmax(axis=-1))
        codes = variables.codes
        return np.asarray(self.values[codes >> 1] ^ (codes & 1).astype(bool))
