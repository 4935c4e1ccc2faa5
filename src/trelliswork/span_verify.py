"""Checking assignments: what an answer claims, proven again without the search that found it."""

from __future__ import annotations

from math import inf, isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from trelliswork.errors import TrellisworkError
from trelliswork.graph_certificate import GraphCertificate
from trelliswork.graph_verify import certified_bound
from trelliswork.span_answers import broken_rules, value
from trelliswork.span_bound import leaf_bound
from trelliswork.span_certificate import SpanCertificate
from trelliswork.span_graphs import SpanGraph
from trelliswork.span_rules import compile_rules
from trelliswork.verification import (
    Verification,
    WrongError,
    check_claims,
    check_cover,
    judge,
)

if TYPE_CHECKING:
    from trelliswork.span_answers import Choices
    from trelliswork.span_rules import SpanRulebook
    from trelliswork.spans import Assignment, SpanTable

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
        return compile_rules(table.roles, assignment.constraints).fitted(table)
    except TrellisworkError as error:
        raise WrongError(f"constraints: they do not fit the table: {error}") from error


def _choices(table: SpanTable, assignment: Assignment) -> Choices:
    """Return the pairs of spans and roles, if the table has them and they are what roles say."""
    index = {role: r for r, role in enumerate(table.roles)}
    places: dict[tuple[int, int], list[int]] = {}  # a table may have a span twice
    for s, (start, end) in enumerate(table.spans.tolist()):
        places.setdefault((start, end), []).append(s)
    choices: Choices = []
    first: dict[str, tuple[int, int] | None] = dict.fromkeys(table.roles)
    for start, end, role in assignment.spans:
        if role not in index or (start, end) not in places:
            raise WrongError(f"spans: the table has no {(start, end, role)}.")
        candidates = [(s, index[role]) for s in places[start, end]]
        left = [pair for pair in candidates if pair not in choices]
        if not left:
            raise WrongError(f"spans: {(start, end, role)} is there more often than in the table.")
        choices.append(max(left, key=lambda pair: table.scores[pair]))
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
    _check_form(table, book, certificate)
    return max(leaf_bound(table, book, leaf) for leaf in certificate.leaves)


def _check_form(table: SpanTable, book: SpanRulebook, certificate: SpanCertificate) -> None:
    """Raise where a certificate is not one: of decisions and prices that there can be."""
    n_roles, n_rules = len(table.roles), len(book.rules)
    for leaf in certificate.leaves:
        prices = np.asarray(leaf.prices)
        if prices.shape != (n_rules,):
            raise WrongError(f"certificate: expected {n_rules} prices, got {prices.shape}.")
        for rule, price in zip(book.rules, prices.tolist(), strict=True):
            if not isfinite(price) or not 0.0 <= price <= rule.penalty:
                raise WrongError(
                    f"certificate: a price is {price}; expected a finite number from 0 to "
                    f"{rule.penalty}."
                )
        for span, role, taken in leaf.decisions:
            known = 0 <= span < len(table.spans) and 0 <= role < n_roles
            if not known or not isinstance(taken, bool):
                raise WrongError(
                    "certificate: expected decisions about a span and a role of the table, got "
                    f"{(span, role, taken)}."
                )
    check_cover([leaf.decisions for leaf in certificate.leaves])
