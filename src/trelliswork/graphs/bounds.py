"""Dual bounds of leaves, from the definitions of the factors.

A leaf fixes the variables that its decisions force, and bounds the assignments that are left. This
is Python on the factors themselves, without the core; of the solvers only ``"lp"`` uses it, for the
bound of its own multipliers. Shares may be any finite numbers. Bounds include the rounding error of
floating-point sums, so that they are never below the bound of exact arithmetic.

Leaves are bounded many at a time, and factors of one kind and size together: a large tree takes a
few array operations a batch. ``B`` leaves, ``N`` variables, ``K`` links, the literals of all
factors.
"""

from __future__ import annotations

from math import fsum, inf, isfinite
from typing import TYPE_CHECKING

import numpy as np

from trelliswork.graphs.factor import FREE, UNIT
from trelliswork.graphs.factor_groups import group_factors
from trelliswork.proofs.answer import slack

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from trelliswork._typing import BoolArray, ByteArray, FloatArray, IntArray
    from trelliswork.graphs.graph import FactorGraph


__all__ = ["GraphBound"]

LINKS_AT_ONCE = 1_000_000  # of a batch of leaves: some tens of megabytes


class GraphBound:
    """Bounds on the assignments of a graph that agree with given decisions.

    Parameters
    ----------
    graph
        The graph.

    Attributes
    ----------
    root : numpy.ndarray or None
        The values that every assignment has, -1 for open variables, shape ``(N,)``; None: there
        is no assignment.
    """

    def __init__(self, graph: FactorGraph) -> None:
        self.graph = graph
        offsets: IntArray = np.cumsum([0, *(f.codes.size for f in graph.factors)])
        codes = [np.zeros(0, dtype=np.int64), *(f.codes for f in graph.factors)]
        links = np.concatenate(codes)
        self._of_links, self._negated = links >> 1, links & 1 == 1
        self._n_links = np.bincount(self._of_links, minlength=graph.n_variables)
        self._groups = group_factors(graph.factors, offsets)
        nothing = np.zeros((1, graph.n_variables), dtype=bool)
        closed, is_possible = self._propagate(graph.fixed[None].copy(), nothing, everything=True)
        self.root = closed[0] if is_possible[0] else None

    def close(self, decisions: Sequence[tuple[int, bool]]) -> ByteArray | None:
        """Return the values that decisions force, ``(N,)``; None if they contradict each other."""
        closed, is_possible = self._close([decisions])
        return closed[0] if is_possible[0] else None

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
        return self.largest([(decisions, shares)])

    def largest(self, leaves: Iterable[tuple[Sequence[tuple[int, bool]], FloatArray]]) -> float:
        """Return the largest bound of some leaves, given as the parameters of `bound`."""
        given = list(leaves)
        at_once = max(1, LINKS_AT_ONCE // max(1, self._of_links.size))
        return max(
            (
                bound
                for first in range(0, len(given), at_once)
                for bound in self._bounds(given[first : first + at_once])
            ),
            default=-inf,
        )

    def _bounds(
        self, leaves: Sequence[tuple[Sequence[tuple[int, bool]], FloatArray]]
    ) -> list[float]:
        closed, is_possible = self._close([decisions for decisions, _ in leaves])
        chosen = np.flatnonzero(is_possible)
        if not chosen.size:
            return [-inf]
        shares = np.stack([leaves[b][1] for b in chosen.tolist()])
        with np.errstate(over="ignore", invalid="ignore"):
            terms, errors, least = self._terms(closed[chosen], shares)
        return [
            _judged(*leaf)
            for leaf in zip(terms.tolist(), errors.tolist(), least.tolist(), strict=True)
        ]

    def _terms(
        self, fixed: ByteArray, shares: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the terms of ``D(θ)``, its rounding error, and the terms of the lowest score.

        The first and the last have a row per leaf, the errors one entry.
        """
        graph, n_leaves = self.graph, len(fixed)
        is_on, is_free = fixed == 1, fixed == FREE
        constant = np.full((n_leaves, 1), graph.constant)
        # Σ_j max_{z_j} (c_j − Σ_{links of j} θ) z_j
        left = graph.scores - self._by_variable(shares)
        terms = [constant, np.where(is_on, left, np.where(is_free, np.maximum(left, 0.0), 0.0))]
        size = np.abs(graph.scores) + self._by_variable(np.abs(shares))
        # The error of one subtraction is relative to its result: 0 if θ is all of c.
        size = np.where(self._n_links > 1, (self._n_links + 1) * size, np.abs(left))
        errors = UNIT * (size.sum(axis=1) + abs(graph.constant))
        # The lowest score of an assignment: a bound below it proves that there is none.
        lowest = np.where(is_free, np.minimum(graph.scores, 0.0), 0.0)
        least = [constant, np.where(is_on, graph.scores, lowest)]
        # Σ_m max_{z ∈ Z_m} θ_m·z + h_m(z); for a negated literal θ z = θ − θ (1 − z).
        terms.append(shares[:, self._negated])
        signed = np.where(self._negated, -shares, shares)
        for group in self._groups:
            literals, scores = group.literals(fixed), signed[:, group.links]
            best = group.best(scores, literals)
            terms.append(best)
            errors = errors + group.error(scores, best).sum(axis=1)
            least.append(group.lowest(literals))
        return np.concatenate(terms, axis=1), errors, np.concatenate(least, axis=1)

    def _by_variable(self, of_links: FloatArray) -> FloatArray:
        """Return sums over the links of each variable, ``(B, N)``, of numbers ``(B, K)``."""
        n_leaves, count = len(of_links), self.graph.n_variables
        places = np.arange(n_leaves)[:, None] * count + self._of_links
        sums = np.bincount(places.ravel(), of_links.ravel(), n_leaves * count)
        return np.asarray(sums.reshape(n_leaves, count))

    def _close(
        self, decisions: Sequence[Sequence[tuple[int, bool]]]
    ) -> tuple[ByteArray, BoolArray]:
        """Return the values that the decisions of each leaf force, and whether any are left."""
        n_leaves, count = len(decisions), self.graph.n_variables
        is_possible = np.full(n_leaves, self.root is not None)
        fixed = np.tile(self.graph.fixed if self.root is None else self.root, (n_leaves, 1))
        changed = np.zeros((n_leaves, count), dtype=bool)
        for b, own in enumerate(decisions):
            for variable, value in own:
                is_possible[b] &= fixed[b, variable] != 1 - value
                fixed[b, variable] = value
                changed[b, variable] = True
        changed[~is_possible] = False
        closed, stays_possible = self._propagate(fixed, changed)
        return closed, is_possible & stays_possible

    def _propagate(
        self, fixed: ByteArray, changed: BoolArray, *, everything: bool = False
    ) -> tuple[ByteArray, BoolArray]:
        """Fix the values that factors force, until nothing changes; see `_close`.

        Parameters
        ----------
        fixed
            The values of variables, shape ``(B, N)``; modified.
        changed
            Those that factors have not seen yet.
        everything
            Whether factors have seen nothing yet.
        """
        is_possible = np.ones(len(fixed), dtype=bool)
        waiting = np.flatnonzero(changed.any(axis=1) | everything)
        while waiting.size:
            unseen, own = changed[waiting], fixed[waiting]
            before = own.copy()
            for group in self._groups:
                touched = np.asarray(unseen[:, group.variables].any(axis=2) | everything)
                literals = group.literals(own)
                closed, accepts = group.implied(literals, touched)
                is_possible[waiting] &= accepts.all(axis=1)
                leaf, m, k = np.nonzero((closed != FREE) & (literals == FREE))
                own[leaf, group.variables[m, k]] = closed[leaf, m, k] ^ group.negated[m, k]
            fixed[waiting] = own
            changed[waiting] = own != before
            everything = False
            waiting = waiting[changed[waiting].any(axis=1) & is_possible[waiting]]
        return fixed, is_possible


def _judged(terms: list[float], error: float, least: list[float]) -> float:
    """Return the bound of a leaf, from the terms of ``D(θ)`` and of the lowest score."""
    if not isfinite(error / UNIT):  # it is larger than all terms together
        return inf
    bound, floor = fsum(terms) + error, fsum(least)
    return bound if bound >= floor - slack(floor) else -inf
