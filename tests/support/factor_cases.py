"""Logic factors from their definitions, by enumeration, and the hulls of their configurations."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from hypothesis import strategies as st
from scipy.optimize import nnls

XOR, AT_MOST_ONE, OR, OR_OUT, XOR_OUT, BUDGET, KNAPSACK = range(7)
KINDS = (XOR, AT_MOST_ONE, OR, OR_OUT, XOR_OUT, BUDGET, KNAPSACK)

# Ordinary numbers, and such that are equal, or add up to whole ones.
numbers = st.one_of(
    st.floats(-3, 3).map(lambda x: round(x, 3)), st.sampled_from([-1.0, 0.0, 0.25, 0.5, 1.0, 2.0])
)


@dataclass(frozen=True)
class LogicCase:
    """A factor over ``n`` literals, as the core takes it."""

    kind: int
    n: int
    weights: np.ndarray | None = None  # (n,)
    limit: float = 0.0

    def accepts(self, on: tuple[int, ...]) -> bool:
        """Return whether the factor accepts some values, by its definition."""
        *inputs, output = on if on else (0,)
        if self.kind == KNAPSACK:
            return bool(np.dot(self.weights, on) <= self.limit + 1e-9)
        return {
            XOR: sum(on) == 1,
            AT_MOST_ONE: sum(on) <= 1,
            OR: sum(on) >= 1,
            OR_OUT: output == any(inputs),
            XOR_OUT: output == sum(inputs),
            BUDGET: sum(on) <= self.limit,
        }[self.kind]

    def configurations(self) -> np.ndarray:
        """Return all values that the factor accepts, ``(configurations, n)``."""
        found = [on for on in product((0, 1), repeat=self.n) if self.accepts(on)]
        return np.array(found, dtype=float).reshape(len(found), self.n)

    def vertices(self) -> np.ndarray:
        """Return the corners of the set that points are projected on.

        Those of a knapsack are its configurations, and such that fill it with a part of a literal.
        """
        found = self.configurations()
        if self.kind != KNAPSACK:
            return found
        partly = []
        for on in found:
            room = self.limit - self.weights @ on
            for i in np.flatnonzero((on == 0) & (self.weights > room)):
                corner = on.copy()
                corner[i] = max(room, 0.0) / self.weights[i]
                partly.append(corner)
        return np.vstack([found, *partly])


@st.composite
def logic_cases(draw, largest: int = 7) -> LogicCase:
    kind = draw(st.sampled_from(KINDS))
    n = draw(st.integers(1 if kind in (XOR, OR, OR_OUT, XOR_OUT) else 0, largest))
    if kind == BUDGET:
        return LogicCase(kind, n, limit=float(draw(st.integers(0, n + 1))))
    if kind != KNAPSACK:
        return LogicCase(kind, n)
    weight = st.one_of(st.floats(0.01, 3).map(lambda x: round(x, 2)), st.sampled_from([1.0, 2.0]))
    weights = np.array(draw(st.lists(weight, min_size=n, max_size=n)), dtype=float)
    share = draw(st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.9, 1.1]))
    return LogicCase(kind, n, weights, round(share * float(weights.sum()), 2))


def vectors(n: int, elements: st.SearchStrategy[float] = numbers) -> st.SearchStrategy[np.ndarray]:
    return st.lists(elements, min_size=n, max_size=n).map(lambda x: np.array(x, dtype=float))


def distance_to_hull(point: np.ndarray, corners: np.ndarray) -> float:
    """Return how far a point is from the convex hull of some corners.

    With ``u`` the corners seen from the point, the non-negative ``x`` that minimise
    ``‖Σ x_i u_i‖² + (Σ x_i − 1)²`` are in proportion to the weights of the nearest point.
    """
    seen = np.vstack([(corners - point).T, np.ones(len(corners))])
    x, _ = nnls(seen, np.append(np.zeros(point.size), 1.0))
    return float(np.linalg.norm(seen[:-1] @ x) / x.sum())
