"""Spans as a chain with prices on rules: one call of the core for all tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trelliswork import _core
from trelliswork._utils.threads import resolve_jobs
from trelliswork.proofs.answer import CLOSED, INFEASIBLE, STATUSES, UNSOLVED
from trelliswork.spans.answers import NoAnswerError, answer, gains, null_constant
from trelliswork.spans.certificate import SpanCertificate, SpanLeaf

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trelliswork.spans.answers import Assignment
    from trelliswork.spans.rules import SpanRulebook
    from trelliswork.spans.table import SpanTable

__all__ = ["assign_by_chain"]

MAX_ITERATIONS = 200  # of the dual, at the root


def assign_by_chain(
    tables: Sequence[SpanTable],
    books: Sequence[SpanRulebook],
    places: Sequence[int],
    time_limit: float | None,
    max_nodes: int | None,
    n_jobs: int | None,
) -> list[Assignment]:
    """Fill roles with spans through chains; see `trelliswork.assign`."""
    (
        status,
        payoff,
        bound,
        iterations,
        nodes,
        choice_offsets,
        choices,
        leaf_offsets,
        decision_offsets,
        decisions,
        prices,
    ) = _core.solve_spans(
        [table.spans for table in tables],
        [gains(table) for table in tables],
        [book.native for book in books],
        [book.apart for book in books],
        [null_constant(table) for table in tables],
        MAX_ITERATIONS,
        CLOSED,
        time_limit or 0.0,
        max_nodes or 0,
        resolve_jobs(n_jobs),
    )
    for b, code in enumerate(status.tolist()):
        if code in (INFEASIBLE, UNSOLVED):
            raise NoAnswerError(places[b], is_proven=code == INFEASIBLE)
    pairs = [(s, r) for s, r in choices.reshape(-1, 2).tolist()]
    decided = [(s, r, taken != 0) for s, r, taken in decisions.reshape(-1, 3).tolist()]
    ends, first_price, found = decision_offsets.tolist(), 0, []
    for b, (table, book) in enumerate(zip(tables, books, strict=True)):
        first, last = int(leaf_offsets[b]), int(leaf_offsets[b + 1])
        last_price = first_price + (last - first) * len(book.rules)
        of_leaves = prices[first_price:last_price].reshape(last - first, len(book.rules))
        leaves = tuple(
            SpanLeaf(tuple(decided[ends[i] : ends[i + 1]]), of_leaves[i - first])
            for i in range(first, last)
        )
        first_price = last_price
        found.append(
            answer(
                table,
                book,
                pairs[choice_offsets[b] : choice_offsets[b + 1]],
                float(payoff[b]),
                float(bound[b]),
                STATUSES[status[b]],
                method="chain",
                iterations=int(iterations[b]),
                nodes=int(nodes[b]),
                certificate=SpanCertificate(leaves),
            )
        )
    return found
