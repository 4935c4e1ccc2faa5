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
    answers = _core.solve_spans(
        [
            _core.SpanProblem(
                table.spans, gains(table), book.native, book.apart, null_constant(table)
            )
            for table, book in zip(tables, books, strict=True)
        ],
        _core.SpanOptions(
            max_iterations=MAX_ITERATIONS,
            tolerance=CLOSED,
            seconds=time_limit or 0.0,
            max_nodes=max_nodes or 0,
        ),
        resolve_jobs(n_jobs),
    )
    for place, found in zip(places, answers, strict=True):
        if found.status in (INFEASIBLE, UNSOLVED):
            raise NoAnswerError(place, is_proven=found.status == INFEASIBLE)
    return [_assignment(*each) for each in zip(tables, books, answers, strict=True)]


def _assignment(table: SpanTable, book: SpanRulebook, found: _core.SpanAnswer) -> Assignment:
    leaves = (SpanLeaf(tuple(decisions), prices) for decisions, prices in found.leaves)
    return answer(
        table,
        book,
        found.choices,
        found.score,
        found.bound,
        STATUSES[found.status],
        method="chain",
        iterations=found.iterations,
        nodes=found.nodes,
        certificate=SpanCertificate(tuple(leaves)),
    )
