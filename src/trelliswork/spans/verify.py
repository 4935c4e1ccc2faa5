"""Checking assignments: what an answer claims, proven again without the search that found it."""

from __future__ import annotations

from math import inf, isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from trelliswork.errors import TrellisworkError
from trelliswork.graphs.certificate import GraphCertificate
from trelliswork.graphs.verify import certified_bound
from trelliswork.labels.segments import Span
from trelliswork.proofs import (
    Verification,
    WrongError,
    check_claims,
    check_cover,
    judge,
)
from trelliswork.spans.answers import broken_rules, value
from trelliswork.spans.bounds import leaf_bound
from trelliswork.spans.certificate import SpanCertificate
from trelliswork.spans.graph import SpanGraph
from trelliswork.spans.rules import compile_rules

if TYPE_CHECKING:
    from trelliswork.spans.answers import Choices
    from trelliswork.spans.certificate import SpanDecision, SpanLeaf
    from trelliswork.spans.rules import SpanRulebook
    from trelliswork.spans.table import Assignment, SpanTable

__all__ = ["verify_assignment"]


def verify_assignment(table: SpanTable, assignment: Assignment) -> Verification:
    """Check an assignment, and prove again that it is the best one under its constraints.

    Parameters
    ----------
    table
        The table.
    assignment
        The answer, from `trelliswork.assign` or anywhere else.
    """
    worth, bound = np.nan, inf
    try:
        book = _rulebook(table, assignment)
        choices = _choices(table, assignment)
        worth = value(table, book, choices)
        _check_violations(table, book, choices, assignment)
        if worth == -inf and assignment.status == "fractional":
            reason = "It is rounded, and breaks a hard constraint."
            return Verification("unverified", reason, worth, inf)
        check_claims(assignment, worth, "spans")
        certificate = assignment.certificate
        if certificate is None:
            return Verification("unverified", "It has no certificate.", worth, inf)
        bound = _bound(table, book, certificate)
        return judge(assignment, worth, bound, "assignment")
    except WrongError as wrong:
        return Verification("rejected", str(wrong), worth, bound)


def _rulebook(table: SpanTable, assignment: Assignment) -> SpanRulebook:
    try:
        return compile_rules(table.roles, assignment.constraints)
    except TrellisworkError as error:
        raise WrongError(f"constraints: they do not fit the table: {error}") from error


def _choices(table: SpanTable, assignment: Assignment) -> Choices:
    """Return the pairs of spans and roles, if the table has them and all else says the same."""
    choices = list(assignment.choices)
    for s, r in choices:
        if not (0 <= s < len(table.spans) and 0 <= r < len(table.roles)):
            raise WrongError(f"choices: the table has no span {s} with role {r}.")
    if len(set(choices)) < len(choices):
        raise WrongError("choices: a span fills a role twice.")
    edges = table.spans.tolist()
    spans = [Span(edges[s][0], edges[s][1], table.roles[r]) for s, r in choices]
    if spans != list(assignment.spans):
        raise WrongError(f"spans: the choices are {spans}, not {list(assignment.spans)}.")
    first: dict[str, tuple[int, int] | None] = dict.fromkeys(table.roles)
    for start, end, role in spans:
        first[role] = first[role] or (start, end)
    if first != assignment.roles:
        raise WrongError(f"roles: the spans fill {first}, not {assignment.roles}.")
    return choices


def _check_violations(
    table: SpanTable, book: SpanRulebook, choices: Choices, assignment: Assignment
) -> None:
    found, claimed = broken_rules(table, book, choices), dict(assignment.violations)
    for name in (*found, *claimed):
        if found.get(name, 0) != claimed.get(name, 0):
            raise WrongError(
                f"violations: {name} is broken by {found.get(name, 0)}, not by "
                f"{claimed.get(name, 0)}."
            )


def _bound(table: SpanTable, book: SpanRulebook, certificate: Any) -> float:
    """Return what no assignment exceeds: the largest of the bounds of all leaves."""
    if isinstance(certificate, GraphCertificate):
        return certified_bound(SpanGraph.of(table, book).graph, certificate)
    if not isinstance(certificate, SpanCertificate):
        raise WrongError(
            f"certificate: expected a SpanCertificate, got {type(certificate).__name__}."
        )
    if not book.chains(table):
        raise WrongError("certificate: prices prove nothing under rules that are not linear.")
    leaves = [_read_leaf(table, book, leaf) for leaf in _leaves(certificate)]
    check_cover([decisions for decisions, _ in leaves])
    return max(leaf_bound(table, book, *leaf) for leaf in leaves)


def _leaves(certificate: SpanCertificate) -> list[SpanLeaf]:
    try:
        leaves = certificate.leaves
    except (AttributeError, TypeError, ValueError) as error:
        raise WrongError(f"certificate: it cannot be read: {error}") from error
    if not leaves:
        raise WrongError("certificate: expected one leaf at least, got none.")
    return leaves


def _read_leaf(
    table: SpanTable, book: SpanRulebook, leaf: SpanLeaf
) -> tuple[list[SpanDecision], list[float]]:
    """Return the decisions and prices of a leaf, or raise where there can be no such ones."""
    try:
        decisions = [(int(s), int(r), taken) for s, r, taken in leaf.decisions]
        prices = [float(price) for price in leaf.prices]
    except (AttributeError, TypeError, ValueError) as error:
        raise WrongError(f"certificate: it cannot be read: {error}") from error
    if len(prices) != len(book.rules):
        raise WrongError(f"certificate: expected {len(book.rules)} prices, got {len(prices)}.")
    for rule, price in zip(book.rules, prices, strict=True):
        if not isfinite(price) or not 0.0 <= price <= rule.penalty:
            raise WrongError(
                f"certificate: a price is {price}; expected a finite number from 0 to "
                f"{rule.penalty}."
            )
    for span, role, taken in decisions:
        known = 0 <= span < len(table.spans) and 0 <= role < len(table.roles)
        if not known or not isinstance(taken, bool):
            raise WrongError(
                "certificate: expected decisions about a span and a role of the table, got "
                f"{(span, role, taken)}."
            )
    return decisions, prices
