"""Graphs as flat arrays, the raw call of the core on them, and their solutions by enumeration."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

import numpy as np
from hypothesis import strategies as st

from trelliswork import _core

XOR, AT_MOST_ONE, OR, OR_OUT, XOR_OUT, BUDGET, KNAPSACK, STRUCTURED = range(8)
AD3, BRANCH, DUAL = range(3)
OPTIMAL, FEASIBLE, INFEASIBLE, UNSOLVED, FRACTIONAL = range(5)


@dataclass
class Factor:
    """Links are variables, or ~variable where negated."""

    kind: int
    links: list[int]
    weights: list[float] = field(default_factory=list)
    limit: float = 0.0
    structure: _core.Structure | None = None

    def worth(self, values) -> float:
        """Return the value of a configuration, -inf if the factor forbids it."""
        if self.structure is None:
            return 0.0 if self.accepts(values) else -np.inf
        on = [values[k] if k >= 0 else 1 - values[~k] for k in self.links]
        return self.structure.value(np.array(on, np.uint8))

    def accepts(self, values) -> bool:
        if self.structure is not None:
            return self.worth(values) > -np.inf
        on = [values[k] if k >= 0 else 1 - values[~k] for k in self.links]
        count = sum(on)
        if self.kind == XOR:
            return count == 1
        if self.kind == AT_MOST_ONE:
            return count <= 1
        if self.kind == OR:
            return count >= 1
        if self.kind == OR_OUT:
            return on[-1] == max(on[:-1], default=0)
        if self.kind == XOR_OUT:
            return on[-1] == sum(on[:-1])
        if self.kind == BUDGET:
            return count <= self.limit
        return sum(w * z for w, z in zip(self.weights, on, strict=True)) <= self.limit + 1e-9


@dataclass
class RawGraph:
    scores: list[float]
    factors: list[Factor]
    fixed: dict[int, int] = field(default_factory=dict)

    def solutions(self):
        """All (score, values)."""
        for values in itertools.product((0, 1), repeat=len(self.scores)):
            if all(values[j] == v for j, v in self.fixed.items()) and all(
                factor.accepts(values) for factor in self.factors
            ):
                yield self.score(values), values

    def score(self, values) -> float:
        own = sum(c for c, z in zip(self.scores, values, strict=True) if z)
        return own + sum(factor.worth(values) for factor in self.factors)

    def optimum(self) -> float:
        return max((score for score, _ in self.solutions()), default=-np.inf)


@dataclass
class Leaf:
    decisions: list[tuple[int, int]]
    shares: np.ndarray


@dataclass
class RawAnswer:
    status: int
    values: np.ndarray | None
    relaxed: np.ndarray | None
    score: float
    bound: float
    iterations: int
    nodes: int
    solved: int
    cached: int
    leaves: list[Leaf]

    @classmethod
    def of(cls, found: _core.GraphAnswer) -> RawAnswer:
        return cls(
            found.status,
            found.values,
            found.relaxed,
            found.score,
            found.bound,
            found.iterations,
            found.nodes,
            found.n_solved,
            found.n_cached,
            [Leaf(*leaf) for leaf in found.leaves],
        )


def solve_raw(graphs, method, **options) -> list[RawAnswer]:
    """Return the answers of the core for a list of graphs."""
    settings = {
        "eta": 0.1,
        "adapt": True,
        "max_iterations": 1000,
        "node_iterations": 200,
        "tolerance": 1e-6,
        "gap": 1e-9,
        "caching": True,
        "seconds": 0.0,
        "max_nodes": 1_000_000,
        "certify": True,
    }
    how = {name: options.pop(name) for name in ("starts", "callback", "n_jobs") if name in options}
    answers = _core.solve_graphs(
        [core_graph(graph) for graph in graphs],
        _core.GraphOptions(method=method, **(settings | options)),
        **how,
    )
    return [RawAnswer.of(answer) for answer in answers]


def core_graph(graph: RawGraph) -> _core.Graph:
    links = np.array([k for factor in graph.factors for k in factor.links], np.int32)
    fixed = np.full(len(graph.scores), -1, np.int8)
    for variable, value in graph.fixed.items():
        fixed[variable] = value
    weights = [w for f in graph.factors for w in f.weights or [1.0] * len(f.links)]
    return _core.Graph(
        scores=np.array(graph.scores, float),
        fixed=fixed,
        kinds=np.array([f.kind for f in graph.factors], np.int8),
        offsets=np.cumsum([0, *(len(f.links) for f in graph.factors)], dtype=np.int64),
        variables=np.where(links >= 0, links, ~links).astype(np.int32),
        negated=(links < 0).astype(np.uint8),
        weights=np.array(weights, float),
        limits=np.array([f.limit for f in graph.factors], float),
        structures=[f.structure for f in graph.factors if f.structure is not None],
    )


@st.composite
def factors(draw, n_variables: int):
    kind = draw(st.integers(XOR, KNAPSACK))
    least = 1 if kind in (OR_OUT, XOR_OUT) else 0
    chosen = draw(
        st.lists(
            st.integers(0, n_variables - 1),
            min_size=min(n_variables, draw(st.sampled_from([least, 2, 2]))),
            max_size=6,
            unique=True,
        )
    )
    links = [~j if draw(st.integers(0, 3)) == 0 else j for j in chosen]
    weights = [draw(st.sampled_from([0.1, 0.2, 0.5, 1.0, 1.5])) for _ in links]
    limit = draw(st.integers(0, 4)) if kind == BUDGET else draw(st.sampled_from([0.3, 0.7, 2.0]))
    if kind != KNAPSACK:
        weights = []
    return Factor(kind, links, weights, float(limit))


SCORES = st.one_of(
    st.integers(-3, 3).map(float),
    st.floats(-2, 2, allow_nan=False).map(lambda x: round(x, 3)),
)


@st.composite
def graphs(draw, max_variables: int = 9):
    n = draw(st.integers(1, max_variables))
    scale = draw(st.sampled_from([1.0, 1.0, 1e-4, 1e5]))
    scores = [scale * draw(SCORES) for _ in range(n)]
    rules = draw(st.lists(factors(n), max_size=7))
    fixed = draw(st.dictionaries(st.integers(0, n - 1), st.integers(0, 1), max_size=1))
    return RawGraph(scores, rules, fixed)
