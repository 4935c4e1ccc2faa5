"""Tables that no assignment fits: which rules conflict."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from trelliswork.constraints.arguments import join_words
from trelliswork.errors import InfeasibleError, SearchLimitError
from trelliswork.graphs.solve import solve_graphs
from trelliswork.spans.graph import SpanGraph
from trelliswork.spans.rules import compile_rules
from trelliswork.spans.table import SpanTable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trelliswork.constraints.base import Constraint
    from trelliswork.spans.rules import SpanRulebook

__all__ = ["infeasible", "unsolved"]

SECONDS = 1.0  # for each rule, whether a conflict can do without it


def infeasible(table: SpanTable, book: SpanRulebook, place: int) -> InfeasibleError:
    """Return the error for a table that no assignment fits, naming a minimal conflicting subset."""
    kept = [rule for rule in book.constraints if not rule.is_soft]
    for rule in tuple(kept):
        without = [other for other in kept if other is not rule]
        if _conflict(table, without):
            kept = without
    names = join_words([repr(rule) for rule in kept]) if kept else "its hard rules"
    both = "both " if len(kept) == 2 else ""
    error = InfeasibleError(
        f"table {place}: no assignment of {len(table.spans)} spans to {len(table.roles)} roles "
        f"satisfies {both}{names}. A role fills once unless at_most(n, role) allows more. Drop one "
        "or make it .soft()."
    )
    error.sequence = place
    return error


def _conflict(table: SpanTable, constraints: Sequence[Constraint]) -> bool:
    """Return whether rules are proven to leave no assignment under any scores."""
    book = compile_rules(table.roles, tuple(constraints))
    level = np.where(table.scores > -np.inf, 0.0, -np.inf)
    graph = SpanGraph.of(SpanTable(table.spans, table.roles, level), book).graph
    (found,) = solve_graphs([graph], "branch", time_limit=SECONDS)
    return found.status == "infeasible"


def unsolved(place: int) -> SearchLimitError:
    """Return the error for a table without an answer within the limits."""
    error = SearchLimitError(
        f"table {place}: no assignment that satisfies the hard constraints was found within the "
        "limits, and no proof that there is none. Raise time_limit or max_nodes."
    )
    error.sequence = place
    return error
