"""Assignments of spans to roles: the answers of `trelliswork.assign`, and their values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from trelliswork.constraints.overlap import NoOverlap
from trelliswork.graphs.certificate import GraphCertificate
from trelliswork.labels.segments import Span
from trelliswork.proofs.answer import Answer
from trelliswork.spans.certificate import SpanCertificate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trelliswork._typing import FloatArray, IntArray
    from trelliswork.constraints.base import Constraint
    from trelliswork.proofs.answer import Status
    from trelliswork.spans.rules import SpanRulebook
    from trelliswork.spans.table import SpanTable

__all__ = [
    "AssignMethod",
    "Assignment",
    "Choices",
    "GraphAssignMethod",
    "NoAnswerError",
    "answer",
    "broken_rules",
    "gains",
    "null_constant",
    "overlaps",
    "role_counts",
    "value",
]

GraphAssignMethod = Literal["branch", "ad3", "milp", "lp"]
AssignMethod = Literal["chain"] | GraphAssignMethod
Choices = list[tuple[int, int]]
"""Indices of spans and roles."""


@dataclass(frozen=True, kw_only=True)
class Assignment(Answer[SpanCertificate | GraphCertificate]):
    """The spans that fill the roles of a table, with their value and the proof.

    Attributes
    ----------
    roles : dict
        The span ``(start, end)`` of every role; None for the null span. If a role is filled more
        than once, the first span.
    spans : tuple of Span
        All spans that fill a role, ``(start, end, role)``, from left to right.
    choices : tuple of (int, int)
        The same as indices into the table: of the span and of the role.
    score : float
        The sum of its scores, less the penalties of the soft constraints it violates; ``-inf`` if
        it violates a hard one, which rounded answers of ``"ad3"`` and ``"lp"`` may do.
    upper_bound : float
        No assignment that satisfies the hard constraints scores more.
    status : str
        ``"optimal"``; ``"feasible"`` (not proven: a limit was reached first); ``"unverified"`` (the
        best, by a solver that leaves no certificate); ``"fractional"`` (rounded: the answer of the
        linear relaxation is no assignment, or AD3 ran out of iterations).
    violations : dict
        The degree to which each violated constraint is violated, by its expression.
    method : str
        ``"chain"``, ``"branch"``, ``"ad3"``, ``"milp"`` or ``"lp"``.
    iterations, nodes : int
        Passes over the chain, or iterations of AD3; nodes of branch and bound.
    constraints : tuple of Constraint
        The constraints that were asked for.
    certificate : SpanCertificate, GraphCertificate or None
        The proof that `trelliswork.verify` evaluates.
    """

    roles: dict[str, tuple[int, int] | None]
    spans: tuple[Span, ...]
    choices: tuple[tuple[int, int], ...]
    violations: Mapping[str, int]
    nodes: int = 0
    constraints: tuple[Constraint, ...] = field(default=(), repr=False)


class NoAnswerError(Exception):
    """A table without an answer, by its index; `is_proven`: the table is infeasible."""

    def __init__(self, place: int, is_proven: bool) -> None:
        super().__init__(place)
        self.place, self.is_proven = place, is_proven


def gains(table: SpanTable) -> FloatArray:
    """Return the scores of spans relative to the null spans, ``(S, R)``."""
    return table.scores if table.null is None else table.scores - table.null


def null_constant(table: SpanTable) -> float:
    """Return the score of the assignment without spans."""
    return 0.0 if table.null is None else float(table.null.sum())


def answer(
    table: SpanTable,
    book: SpanRulebook,
    choices: Choices,
    score: float,
    bound: float,
    status: Status,
    *,
    method: AssignMethod,
    iterations: int,
    nodes: int,
    certificate: SpanCertificate | GraphCertificate | None = None,
) -> Assignment:
    """Convert the choices of a solver to an `Assignment`."""
    is_proven = status == "optimal"
    spans = table.spans
    ordered = sorted(choices, key=lambda pair: (*spans[pair[0]].tolist(), pair[1]))
    filled = [Span(int(spans[s, 0]), int(spans[s, 1]), table.roles[role]) for s, role in ordered]
    roles: dict[str, tuple[int, int] | None] = dict.fromkeys(table.roles)
    for start, end, role in filled:
        if roles[role] is None:
            roles[role] = (start, end)
    return Assignment(
        roles=roles,
        spans=tuple(filled),
        choices=tuple(ordered),
        score=score,
        upper_bound=bound,
        status=status,
        violations={} if is_proven and not book.is_soft else broken_rules(table, book, choices),
        method=method,
        iterations=iterations,
        nodes=nodes,
        constraints=book.constraints,
        certificate=certificate,
    )


def broken_rules(table: SpanTable, book: SpanRulebook, choices: Choices) -> dict[str, int]:
    """Return the violations of an assignment, by the expressions of the constraints."""
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
    """Return ``P(y)``, the score less penalties; ``-inf`` if a hard rule is violated."""
    counts = role_counts(book, choices)
    broken = [(rule.penalty, rule.violation(counts)) for rule in book.rules]
    if book.overlap:
        broken.append((sum(book.overlap), float(overlaps(table, choices))))
    return table.value(choices) - sum(penalty * degree for penalty, degree in broken if degree)


def overlaps(table: SpanTable, choices: Choices) -> int:
    """Return the number of surplus spans at a token, summed over tokens."""
    edges = sorted((edge, step) for s, _ in choices for edge, step in _edges(table.spans[s]))
    too_many = depth = before = 0
    for edge, step in edges:
        too_many += max(0, depth - 1) * (edge - before)
        depth, before = depth + step, edge
    return too_many


def _edges(span: IntArray) -> tuple[tuple[int, int], tuple[int, int]]:
    return (int(span[0]), 1), (int(span[1]), -1)


def role_counts(book: SpanRulebook, choices: Choices) -> list[int]:
    """Return the number of spans that fill each role, ``(R,)``."""
    counts = [0] * len(book.roles)
    for _, role in choices:
        counts[role] += 1
    return counts
