"""Spans and roles as a factor graph: the formulation of Das, Martins and Smith (2012).

| rule | factors |
| --- | --- |
| a role fills once | ``Xor`` of its spans and the null span |
| a role fills more often | ``Budget`` of its spans, ``OrOut`` to the null span |
| ``no_overlap`` | ``AtMostOne`` of all that covers a token |
| ``excludes`` | ``Or`` of two null spans |
| ``requires`` | ``Imply`` |
| counts | ``Knapsack`` |

A soft rule has *slack*: variables that cost its penalty and take a unit of the violation each.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import ceil, inf
from typing import TYPE_CHECKING

import numpy as np

from trelliswork.graphs.factors import AtMostOne, Budget, Imply, Knapsack, Or, OrOut, Xor
from trelliswork.graphs.graph import FactorGraph
from trelliswork.graphs.solve import solve_graphs
from trelliswork.spans.answers import NoAnswerError, answer, value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trelliswork._typing import BoolArray, IntArray
    from trelliswork.graphs.answers import AD3Options, Solution
    from trelliswork.graphs.variables import Variables
    from trelliswork.proofs.answer import Status
    from trelliswork.spans.answers import Assignment, Choices, GraphAssignMethod
    from trelliswork.spans.rules import RoleRule, SpanRulebook
    from trelliswork.spans.table import SpanTable

__all__ = ["SpanGraph", "assign_by_graph"]

EXACT = ("branch", "milp")


@dataclass(frozen=True, eq=False)
class SpanGraph:
    """The graph of a table.

    Attributes
    ----------
    graph : FactorGraph
        The graph.
    pairs : Variables
        "Span s fills role r", shape ``(S, R)``.
    empty : Variables
        "Role r has the null span", shape ``(R,)``.
    """

    graph: FactorGraph
    pairs: Variables
    empty: Variables

    @classmethod
    def of(cls, table: SpanTable, book: SpanRulebook) -> SpanGraph:
        """Return the graph of a table under rules."""
        graph = FactorGraph()
        null = np.zeros(len(table.roles)) if table.null is None else table.null
        made = cls(
            graph,
            graph.binary(table.scores.shape, table.scores, name="pairs"),
            graph.binary(len(table.roles), null, name="empty"),
        )
        for role, most in enumerate(book.most):
            made._add_role(role, most)
        for rule in book.rules:
            made._add_rule(rule, book.most)
        if book.apart:
            covers, _ = _covers(table.spans)
            graph.add(*(AtMostOne(made.pairs[cover].ravel()) for cover in _largest(covers)))
        elif any(book.overlap):
            made._add_soft_overlap(table, book)
        return made

    def choices(self, found: Solution, most: Sequence[int]) -> Choices:
        """Return the chosen pairs; an answer of the relaxation is rounded role by role."""
        if found.values is not None:
            return [(int(s), int(r)) for s, r in np.argwhere(found[self.pairs])]
        assert found.relaxed is not None, "of a relaxation"
        share = found.relaxed[self.pairs.codes >> 1]
        null = found.relaxed[self.empty.codes >> 1]
        rounded = []
        for role, limit in enumerate(most):
            if limit > 1:
                rounded += [(int(s), role) for s in np.flatnonzero(share[:, role] > 0.5)]
            elif share.shape[0] and share[:, role].max() > null[role]:
                rounded.append((int(share[:, role].argmax()), role))
        return rounded

    def _add_role(self, role: int, most: int) -> None:
        spans, empty = self.pairs[:, role], self.empty[role]
        if most == 1:
            self.graph.add(Xor([spans, empty]))
            return
        self.graph.add(OrOut(spans, ~empty))
        if most == 0:
            self.graph.fix(spans, False)
        elif most < spans.size:
            self.graph.add(Budget(spans, most))

    def _add_rule(self, rule: RoleRule, most: Sequence[int]) -> None:
        if rule.penalty == 0.0 or _is_limit(rule):
            return
        roles, coefficients = [role for role, _ in rule.terms], [a for _, a in rule.terms]
        once = [most[role] <= 1 for role in roles]
        is_pair = rule.kind != "linear" or (len(roles) == 2 and all(once))
        if is_pair and (rule.kind == "both" or (coefficients, rule.bound) == ([1.0, 1.0], 1.0)):
            self.graph.add(Or([*(self.empty[role] for role in roles), *self._slack(rule, 1.0)]))
        elif is_pair and (rule.kind == "without" or (coefficients, rule.bound) == ([1, -1], 0)):
            a, b = roles
            conclusions = [~self.empty[b], *self._slack(rule, 1.0)]
            self.graph.add(Imply([~self.empty[a], *(~c for c in conclusions[1:])], conclusions[0]))
        else:
            self._add_count(rule, once)

    def _add_count(self, rule: RoleRule, once: Sequence[bool]) -> None:
        """Add ``Σ a_r n_r − slack ≤ b``; the count of a role that fills once is one literal."""
        parts = [
            (~self.empty[role] if is_once else self.pairs[:, role], a)
            for (role, a), is_once in zip(rule.terms, once, strict=True)
        ]
        largest = sum(max(0.0, a) * literals.size for literals, a in parts) - rule.bound
        parts += [(slack, -1.0) for slack in self._slack(rule, largest)]
        # Σ_{a = 1} l + Σ_{a = −1} (1 − l) ≤ b + their number, which factors project on faster.
        limit = rule.bound + sum(literals.size for literals, a in parts if a < 0.0)
        if all(abs(a) == 1.0 for _, a in parts) and limit >= 0.0 and limit.is_integer():
            self.graph.add(Budget([lits if a > 0.0 else ~lits for lits, a in parts], int(limit)))
            return
        weights = np.concatenate([np.full(literals.size, a) for literals, a in parts])
        self.graph.add(Knapsack([literals for literals, _ in parts], weights, rule.bound))

    def _slack(self, rule: RoleRule, largest: float) -> list[Variables]:
        """Return variables that take up to `largest` units of the violation of a soft rule."""
        size = ceil(largest)
        if rule.penalty == inf or size < 1:
            return []
        return [self._units(size, rule.penalty)]

    def _units(self, size: int, penalty: float) -> Variables:
        """Return variables at a price, in a fixed order of use.

        The variables are interchangeable: without an order, branch and bound would try equivalent
        assignments.
        """
        units = self.graph.binary(size, -penalty, name="slack")
        self.graph.add(*(Imply(later, before) for before, later in pairwise(units)))
        return units

    def _add_soft_overlap(self, table: SpanTable, book: SpanRulebook) -> None:
        penalty = sum(book.overlap)
        for cover, n_tokens in zip(*_covers(table.spans), strict=True):
            here = self.pairs[cover].ravel()
            n_spans = int(np.count_nonzero(cover))
            largest = sum(min(most, n_spans) for most in book.most) - 1
            if largest < 1:
                continue
            slack = self._units(largest, penalty * int(n_tokens))
            self.graph.add(Budget([here, ~slack], 1 + largest))


def assign_by_graph(
    tables: Sequence[SpanTable],
    books: Sequence[SpanRulebook],
    places: Sequence[int],
    method: GraphAssignMethod,
    time_limit: float | None,
    max_nodes: int | None,
    ad3: AD3Options | None,
    n_jobs: int | None,
) -> list[Assignment]:
    """Fill roles with spans through factor graphs; see `trelliswork.assign`."""
    graphs = [SpanGraph.of(table, book) for table, book in zip(tables, books, strict=True)]
    found = solve_graphs(
        [made.graph for made in graphs],
        method,
        time_limit=time_limit,
        max_nodes=max_nodes if method in EXACT else None,
        ad3=ad3,
        n_jobs=n_jobs,
    )
    return [_read(*one, method) for one in zip(tables, books, places, graphs, found, strict=True)]


def _read(
    table: SpanTable,
    book: SpanRulebook,
    place: int,
    made: SpanGraph,
    found: Solution,
    method: GraphAssignMethod,
) -> Assignment:
    if found.status == "infeasible":
        raise NoAnswerError(place, is_proven=True)
    if found.values is None and (method in EXACT or found.relaxed is None):
        raise NoAnswerError(place, is_proven=False)
    choices = made.choices(found, book.most)
    score = value(table, book, choices)
    status: Status = "fractional"
    if found.status in ("optimal", "feasible", "unverified"):
        status = found.status
    return answer(
        table,
        book,
        choices,
        score,
        max(found.upper_bound, score),
        status,
        method=method,
        iterations=found.iterations,
        nodes=found.nodes,
        certificate=found.certificate,
    )


def _is_limit(rule: RoleRule) -> bool:
    """Return whether a rule only limits the count of one role."""
    return rule.penalty == inf and len(rule.terms) == 1 and rule.terms[0][1] > 0.0


def _covers(spans: IntArray) -> tuple[BoolArray, IntArray]:
    """Return the spans that cover the tokens between two edges, and the number of these tokens.

    Shapes ``(edges − 1, S)`` and ``(edges − 1,)``, without tokens that no span covers.
    """
    edges = np.unique(spans)
    first = edges[:-1, None]
    covers = (spans[:, 0] <= first) & (first < spans[:, 1])
    covered = covers.any(axis=1)
    return covers[covered], np.diff(edges)[covered]


def _largest(covers: BoolArray) -> BoolArray:
    """Return the maximal sets of spans: the factors of the others follow from theirs."""
    unique = np.unique(covers, axis=0)
    sizes = unique.sum(axis=1)
    common = unique.astype(np.int64) @ unique.T.astype(np.int64)
    is_part = (common == sizes[:, None]) & ~np.eye(len(unique), dtype=bool)
    return np.asarray(unique[~is_part.any(axis=1)])
