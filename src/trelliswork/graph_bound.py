"""The bound of a leaf, from the definitions: what each factor forces, and the best that is left.

Everything here is Python on the factors themselves; it shares nothing with the solvers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from trelliswork.factor_base import FREE
from trelliswork.verification import slack

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from trelliswork.factor_graph import FactorGraph

    FloatArray = NDArray[np.float64]
    IntArray = NDArray[np.int64]
    FixedArray = NDArray[np.int8]

__all__ = ["GraphBound"]


class GraphBound:
    """Bounds on the assignments of a graph that have some decisions in common.

    Parameters
    ----------
    graph
        The graph; its links are the literals of all factors, ``K`` in all.

    Attributes
    ----------
    root : numpy.ndarray or None
        What holds for every assignment, -1 where nothing is known, shape ``(N,)``; None: there is
        no assignment.
    """

    def __init__(self, graph: FactorGraph) -> None:
        self.graph = graph
        self.offsets: IntArray = np.cumsum([0, *(f.codes.size for f in graph.factors)])
        codes = [f.codes for f in graph.factors]
        self._variables = [c >> 1 for c in codes]
        self._negated = [c & 1 == 1 for c in codes]
        self._of_links = np.concatenate([np.zeros(0, dtype=np.int64), *self._variables])
        owners = np.repeat(np.arange(len(codes)), np.diff(self.offsets))
        order = np.argsort(self._of_links, kind="stable")
        starts = np.searchsorted(self._of_links[order], np.arange(graph.n_variables + 1))
        self._owners, self._starts = owners[order], starts  # the factors of each variable
        self.root = self._propagate(graph.fixed.copy(), range(len(codes)))

    def close(self, decisions: Sequence[tuple[int, bool]]) -> FixedArray | None:
        """Return what decisions force, ``(N,)``; None where they contradict each other."""
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

        There are none where a factor accepts nothing that is left, and where ``D(θ)`` is below what
        every assignment is worth.

        Parameters
        ----------
        decisions
            Variables and their values.
        shares
            ``θ``, shape ``(K,)``.
        """
        graph, fixed = self.graph, self.close(decisions)
        if fixed is None:
            return -np.inf
        # Σ_j max_{z_j} (c_j − Σ_{links of j} θ) z_j
        left = graph.scores - np.bincount(self._of_links, shares, graph.n_variables)
        total = graph.constant + float(left[fixed == 1].sum())
        total += float(np.maximum(left[fixed == FREE], 0.0).sum())
        # What no assignment is worth less than: a bound below it says that there is none.
        floor = graph.constant + float(graph.scores[fixed == 1].sum())
        floor += float(np.minimum(graph.scores[fixed == FREE], 0.0).sum())
        # Σ_m max_{z ∈ Z_m} θ_m·z + h_m(z); for a negated literal θ z = θ − θ (1 − z).
        for m, factor in enumerate(graph.factors):
            theta, negated = shares[self.offsets[m] : self.offsets[m + 1]], self._negated[m]
            literals = self._literals(fixed, m)
            total += float(theta[negated].sum())
            total += factor.best(np.where(negated, -theta, theta), literals)
            floor += factor.lowest(literals)
        return total if total >= floor - slack(floor) else -np.inf

    def _factors_of(self, variable: int) -> IntArray:
        return self._owners[self._starts[variable] : self._starts[variable + 1]]

    def _literals(self, fixed: FixedArray, m: int) -> FixedArray:
        """Return what is fixed of the literals of factor ``m``."""
        values = fixed[self._variables[m]]
        flipped = np.where(values == FREE, FREE, 1 - values)
        return np.where(self._negated[m], flipped, values).astype(np.int8)

    def _propagate(self, fixed: FixedArray, factors: Iterable[int]) -> FixedArray | None:
        """Fix what single factors force, until nothing changes; None: a factor accepts nothing."""
        waiting = set(factors)
        while waiting:
            m = waiting.pop()
            implied = self.graph.factors[m].implied(self._literals(fixed, m))
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
