"""Answers about spans and roles: from what solvers choose to what users read, and errors."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from trelliswork import _core
from trelliswork.constraints.overlap import NoOverlap
from trelliswork.constraints.words import joined
from trelliswork.errors import InfeasibleError, SearchLimitError
from trelliswork.segments import Span
from trelliswork.span_rules import SpanRulebook, compile_rules
from trelliswork.spans import Assignment, AssignmentStatus, AssignMethod, SpanTable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from trelliswork.constraints.base import Constraint
    from trelliswork.graph_certificate import GraphCertificate
    from trelliswork.span_certificate import SpanCertificate

    FloatArray = NDArray[np.float64]

Choices = list[tuple[int, int]]
"""Indices of spans and roles."""

INFEASIBLE = 2  # the core's status
SECONDS_TO_NAME = 1.0  # for each rule, whether a conflict can do without it


def gains(table: SpanTable, book: SpanRulebook) -> FloatArray:
    """Return what spans add to the score of no span at all, ``(S, R)``."""
    if table.null is None:
        return table.scores
    return table.scores - np.where(book.once, table.null, 0.0)


def null_constant(table: SpanTable, book: SpanRulebook) -> float:
    """Return what the core's scores leave out: null spans, where no rule makes up for them."""
    if table.null is None:
        return 0.0
    return float(np.where(book.once, table.null, np.maximum(table.null, 0.0)).sum())


def answer(
    table: SpanTable,
    book: SpanRulebook,
    choices: Choices,
    score: float,
    bound: float,
    status: AssignmentStatus,
    *,
    method: AssignMethod,
    iterations: int,
    nodes: int,
    certificate: SpanCertificate | GraphCertificate | None = None,
) -> Assignment:
    """Return what was chosen, as users read it."""
    is_proven = status == "optimal"
    spans = table.spans
    filled = sorted(
        Span(int(spans[s, 0]), int(spans[s, 1]), book.roles[role]) for s, role in choices
    )
    roles: dict[str, tuple[int, int] | None] = dict.fromkeys(book.roles)
    for start, end, role in filled:
        if roles[role] is None:
            roles[role] = (start, end)
    return Assignment(
        roles=roles,
        spans=tuple(filled),
        score=score,
        upper_bound=bound,
        gap=bound - score,
        status=status,
        violations={} if is_proven and not book.is_soft else broken_rules(table, book, choices),
        method=method,
        iterations=iterations,
        nodes=nodes,
        constraints=book.constraints,
        certificate=certificate,
    )


def broken_rules(table: SpanTable, book: SpanRulebook, choices: Choices) -> dict[str, int]:
    """Return how badly each constraint is broken that is, by its expression."""
    counts = role_counts(book, choices)
    degrees = [
        (rule.constraint, round(rule.violation(counts)))
        for rule in book.rules
        if rule.constraint >= 0
    ]
    degrees += [
        (i, overlaps(table, choices))
        for i, constraint in enumerate(book.constraints)
        for part in constraint.conjuncts
        if isinstance(part.hard, NoOverlap)
    ]
    broken: dict[str, int] = {}
    for i, degree in degrees:
        if degree:
            name = repr(book.constraints[i])
            broken[name] = broken.get(name, 0) + degree
    return broken


def value(table: SpanTable, book: SpanRulebook, choices: Choices) -> float:
    """Return ``P(y)``, the score less what is to be paid; ``-inf`` where a hard rule is broken."""
    counts = role_counts(book, choices)
    broken = [(rule.penalty, rule.violation(counts)) for rule in book.rules if not rule.is_null]
    if book.overlap:
        broken.append((sum(book.overlap), float(overlaps(table, choices))))
    return table.value(choices) - sum(penalty * degree for penalty, degree in broken if degree)


def overlaps(table: SpanTable, choices: Choices) -> int:
    """Return how many spans too many there are at a token, of all tokens."""
    cover = np.zeros(int(table.spans.max(initial=0)) + 1, dtype=np.int64)
    for s, _ in choices:
        start, end = table.spans[s]
        cover[start:end] += 1
    return int(np.maximum(cover - 1, 0).sum())


def role_counts(book: SpanRulebook, choices: Choices) -> list[int]:
    """Return how often each role is filled, ``(R,)``."""
    counts = [0] * len(book.roles)
    for _, role in choices:
        counts[role] += 1
    return counts


def infeasible(table: SpanTable, book: SpanRulebook, place: int) -> InfeasibleError:
    """Return the error for a table that no assignment fits, naming a minimal conflicting subset."""
    kept = [rule for rule in book.constraints if not rule.is_soft]
    for rule in tuple(kept):
        without = [other for other in kept if other is not rule]
        if not _has_assignment(table, without):
            kept = without
    names = joined([repr(rule) for rule in kept])
    both = "both " if len(kept) == 2 else ""
    return InfeasibleError(
        f"table {place}: no assignment of {len(table.spans)} spans to {len(table.roles)} roles "
        f"satisfies {both}{names}. A role fills once unless at_most(n, role) allows more. Drop one "
        "or make it .soft()."
    )


def _has_assignment(table: SpanTable, constraints: Sequence[Constraint]) -> bool:
    book = compile_rules(table.roles, tuple(constraints)).fitted(table)
    allowed = np.where(table.scores > -math.inf, 0.0, -math.inf)
    found = _core.solve_spans(
        [table.spans], [allowed], [book.native], [book.apart], 200, 1e-9, SECONDS_TO_NAME, 0, 1
    )
    return bool(found[0][0] != INFEASIBLE)


def unsolved(place: int) -> SearchLimitError:
    """Return the error for a table without an answer within the limits."""
    return SearchLimitError(
        f"table {place}: no assignment that satisfies the hard constraints was found within the "
        "limits, and no proof that there is none. Raise time_limit or max_nodes."
    )
