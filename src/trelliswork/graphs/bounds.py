"""Dual bounds of leaves, from the definitions of the factors.

A leaf fixes the variables that its decisions force, and bounds the assignments that are left. This
is Python on the factors themselves, without the core; of the solvers only ``"lp"`` uses it, for the
bound of its own multipliers. Shares may be any finite numbers. Bounds include the rounding error of
floating-point sums, so that they are never below the bound of exact arithmetic.
"""

from __future__ import annotations

from math import fsum, inf, isfinite
from typing import TYPE_CHECKING

import numpy as np

from trelliswork.graphs.factor import FREE, UNIT
from trelliswork.proofs.answer import slack

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from trelliswork._typing import ByteArray, FloatArray, IntArray
    from trelliswork.graphs.graph import FactorGraph


__all__ = ["GraphBound"]


class GraphBound:
    """Bounds on the assignments of a graph that agree with given decisions.

    Parameters
    ----------
    graph
        The graph; its links are the literals of all factors, ``K`` in all.

    Attributes
    ----------
    root : numpy.ndarray or None
        The values that every assignment has, -1 for open variables, shape ``(N,)``; None: there
        is no assignment.
    """

    def __init__(self, graph: FactorGraph) -> None:
        self.graph = graph
        self.offsets: IntArray = np.cumsum([0, *(f.codes.size for f in graph.factors)])
        self._factors = graph.factors
        codes = [f.codes for f in self._factors]
        self._variables = [c >> 1 for c in codes]
        self._negated = [c & 1 == 1 for c in codes]
        self._of_links = np.concatenate([np.zeros(0, dtype=np.int64), *self._variables])
        owners = np.repeat(np.arange(len(codes)), np.diff(self.offsets))
        order = np.argsort(self._of_links, kind="stable")
        starts = np.searchsorted(self._of_links[order], np.arange(graph.n_variables + 1))
        self._owners, self._starts = owners[order], starts  # the factors of each variable
        self.root = self._propagate(graph.fixed.copy(), range(len(codes)))

    def close(self, decisions: Sequence[tuple[int, bool]]) -> ByteArray | None:
        """Return the values that decisions force, ``(N,)``; None if they contradict each other."""
        if self.root is None:
            return None
        fixed = self.root.copy()
        for variable, value in decisions:
            if fixed[variable] == 1 - value:
                return None
            fixed[variable] = value
        touched = {int(m) for variable, _ in decisions for m in self._factors_of(variable)}
        return self._propagate(fixed, touched)

    def bound(self, decisions: Sequence[tuple[int, bool]], shares: FloatArray) -> float:
        """Return ``D(θ)`` of the assignments that agree with decisions; ``-inf``: there are none.

        There are none if a factor accepts no values that are left, or if ``D(θ)`` is below the
        lowest score of an assignment. A bound on the rounding error is added; ``inf`` if sums
        overflow.

        Parameters
        ----------
        decisions
            Variables and their values.
        shares
            ``θ``, shape ``(K,)``.
        """
        fixed = self.close(decisions)
        if fixed is None:
            return -inf
        with np.errstate(over="ignore", invalid="ignore"):
            terms, error, least = self._terms(fixed, shares)
        if not isfinite(error / UNIT):  # it is larger than all terms together
            return inf
        bound, floor = fsum(terms) + error, fsum(least)
        return bound if bound >= floor - slack(floor) else -inf

    def _terms(
        self, fixed: ByteArray, shares: FloatArray
    ) -> tuple[list[float], float, list[float]]:
        """Return the terms of ``D(θ)``, its rounding error, and the terms of the lowest score."""
        graph, count = self.graph, self.graph.n_variables
        on, free = fixed == 1, fixed == FREE
        # Σ_j max_{z_j} (c_j − Σ_{links of j} θ) z_j
        left = graph.scores - np.bincount(self._of_links, shares, count)
        terms = [graph.constant, *left[on].tolist(), *np.maximum(left[free], 0.0).tolist()]
        size = np.abs(graph.scores) + np.bincount(self._of_links, np.abs(shares), count)
        n_links = np.diff(self._starts)
        # The error of one subtraction is relative to its result: 0 if θ is all of c.
        size = np.where(n_links > 1, (n_links + 1) * size, np.abs(left))
        error = UNIT * (float(size.sum()) + abs(graph.constant))
        # The lowest score of an assignment: a bound below it proves that there is none.
        least = [graph.constant, *graph.scores[on].tolist()]
        least += np.minimum(graph.scores[free], 0.0).tolist()
        # Σ_m max_{z ∈ Z_m} θ_m·z + h_m(z); for a negated literal θ z = θ − θ (1 − z).
        for m, factor in enumerate(self._factors):
            theta, negated = shares[self.offsets[m] : self.offsets[m + 1]], self._negated[m]
            literals, scores = self._literals(fixed, m), np.where(negated, -theta, theta)
            best = factor.best(scores, literals)
            terms += [*theta[negated].tolist(), best]
            error += factor.error(scores, best)
            least.append(factor.lowest(literals))
        return terms, error, least

    def _factors_of(self, variable: int) -> IntArray:
        return self._owners[self._starts[variable] : self._starts[variable + 1]]

    def _literals(self, fixed: ByteArray, m: int) -> ByteArray:
        """Return the fixed values of the literals of factor ``m``."""
        values = fixed[self._variables[m]]
        flipped = np.where(values == FREE, FREE, 1 - values)
        return np.where(self._negated[m], flipped, values).astype(np.int8)

    def _propagate(self, fixed: ByteArray, factors: Iterable[int]) -> ByteArray | None:
        """Fix the values that factors force, until nothing changes; None: one accepts nothing."""
        waiting = set(factors)
        while waiting:
            m = waiting.pop()
            implied = self._factors[m].implied(self._literals(fixed, m))
            if implied is None:
                return None
            new = (implied != FREE) & (fixed[self._variables[m]] == FREE)
            for variable, value in zip(
                self._variables[m][new].tolist(),
                (implied ^ self._negated[m])[new].tolist(),
                strict=True,
            ):
                fixed[variable] = value
                waiting.update(self._factors_of(variable).tolist())
        return fixed
