"""Checking answers: what a `Decoding` claims, proven again without the search that found it.

The value of the labelling is computed from the labels alone. Then every leaf of the certificate is
one dynamic program (see `trelliswork.decoding.certificate`): where none of them passes the value,
and the leaves leave out no labelling, nothing is better. Answers to factor graphs are checked
likewise, in `trelliswork.graphs.verify`, and assignments of spans in `trelliswork.spans.verify`.
"""

from __future__ import annotations

from math import inf, isfinite
from numbers import Integral, Real
from typing import TYPE_CHECKING, overload

import numpy as np

from trelliswork._utils.tables import shorten
from trelliswork.decoding.answers import Decoding
from trelliswork.decoding.bounds import Relaxation
from trelliswork.decoding.certificate import Certificate, Leaf
from trelliswork.decoding.problem import Problem
from trelliswork.errors import LabelError, TooLargeError
from trelliswork.graphs.answers import Solution
from trelliswork.graphs.graph import FactorGraph
from trelliswork.graphs.verify import verify_graph
from trelliswork.proofs import (
    Verification,
    WrongError,
    check_claims,
    check_cover,
    judge,
    slack,
)
from trelliswork.spans.table import Assignment, SpanTable
from trelliswork.spans.verify import verify_assignment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trelliswork._typing import BoolArray
    from trelliswork.decoding.certificate import Decision
    from trelliswork.planning.plan import Plan


__all__ = ["Verification", "verify"]


@overload
def verify(problem: Problem, decoding: Decoding) -> Verification: ...


@overload
def verify(problem: FactorGraph, decoding: Solution) -> Verification: ...


@overload
def verify(problem: SpanTable, decoding: Assignment) -> Verification: ...


def verify(
    problem: Problem | FactorGraph | SpanTable, decoding: Decoding | Solution | Assignment
) -> Verification:
    """Check an answer to a problem, and prove again that it is the best one.

    Runs one dynamic program for each leaf of the certificate, of a factor graph one for each factor
    and leaf, and makes no decisions of its own. The tolerance is 1e-9, absolute and relative.

    Parameters
    ----------
    problem
        The problem, the factor graph, or the table of spans.
    decoding
        The answer, from `trelliswork.solve`, `trelliswork.assign` or anywhere else. An assignment
        is proven the best under its own `constraints`.

    Examples
    --------
    >>> import trelliswork as tw
    >>> scores = [[2.0, 0.0], [0.0, 1.0], [2.0, 0.0]]
    >>> rule = tw.at_most(1, "author").soft(1.5)
    >>> problem = tw.Problem(scores, constraints=rule, labels=["author", "title"])
    >>> bool(verify(problem, tw.solve(problem)))
    True
    """
    if isinstance(problem, FactorGraph) and isinstance(decoding, Solution):
        return verify_graph(problem, decoding)
    if isinstance(problem, SpanTable) and isinstance(decoding, Assignment):
        return verify_assignment(problem, decoding)
    if not (isinstance(problem, Problem) and isinstance(decoding, Decoding)):
        raise TypeError(
            "verify: expected a Problem and its Decoding, got "
            f"{type(problem).__name__} and {type(decoding).__name__}. A FactorGraph goes with its "
            "Solution, and a SpanTable with its Assignment."
        )
    value, bound = np.nan, inf
    try:
        value = _value(problem, decoding)
        if value == -inf and decoding.status in ("relaxed", "unconstrained"):
            reason = "It is the best under fewer constraints than the problem has."
            return Verification("unverified", reason, value, inf)
        check_claims(decoding, value)
        certificate = decoding.certificate
        if certificate is None:
            return Verification("unverified", "It has no certificate.", value, inf)
        _check_form(problem, certificate)
        bound = _proven_bound(problem, certificate, value + slack(value))
        return judge(decoding, value, bound)
    except WrongError as wrong:
        return Verification("rejected", str(wrong), value, bound)
    except TooLargeError as error:
        return Verification("unverified", f"The proof is too large: {error}", value, inf)


def _value(problem: Problem, decoding: Decoding) -> float:
    """Return ``P(y)`` of the labels, if they break what the answer says that they break."""
    try:
        value = problem.value(decoding.labels)
        broken = problem.violations(decoding.labels)
    except (LabelError, TypeError, ValueError) as error:
        raise WrongError(f"It is no labelling of the problem: {error}") from error
    claimed = dict(decoding.violations)
    found = {repr(problem.constraints[i]): degree for i, degree in broken.items()}
    for name in (*found, *claimed):
        if found.get(name, 0) != claimed.get(name, 0):
            raise WrongError(
                f"violations: {shorten(name)} is broken by {found.get(name, 0)}, not by "
                f"{claimed.get(name, 0)}."
            )
    return value


def _proven_bound(problem: Problem, certificate: Certificate, floor: float) -> float:
    """Return what no labelling exceeds: the largest of the bounds of all leaves."""
    rows = [i for i in certificate.items if problem.plan.terms[i].row is not None]
    # Prices of rows that are counted are there to leave out most of what a product would hold.
    guided = any(item in leaf.prices for leaf in certificate.leaves for item in rows)
    if not guided:
        try:
            return _largest_bound(problem, certificate, (), floor)
        except TooLargeError:
            if not rows:
                raise
    return _largest_bound(problem, certificate, rows, floor)


def _largest_bound(
    problem: Problem, certificate: Certificate, counted: Sequence[int], floor: float
) -> float:
    """Return the largest bound of all leaves; some rows are counted outside the product."""
    is_open = problem.open_labels()
    relaxed = Relaxation(problem, [i for i in certificate.items if i not in counted])
    bounds = []
    for leaf in certificate.leaves:
        allowed = _allowed(problem, leaf, is_open)
        bounds.append(
            relaxed.counted_bound(leaf.prices, counted, allowed, floor)
            if counted
            else relaxed.bound(leaf.prices, allowed)
        )
    return max(bounds)


def _allowed(problem: Problem, leaf: Leaf, is_open: BoolArray | None) -> BoolArray | None:
    """Return the labels that the decisions of a leaf leave open, with those that are known."""
    if not leaf.decisions:
        return is_open
    names = np.array(problem.labels.names)
    mask = np.ones((len(problem), len(names)), dtype=bool)
    for token, chosen, inside in leaf.decisions:
        mask[token] &= np.isin(names, sorted(chosen)) == inside
    tags = problem.plan.tag_mask(mask)
    return tags if is_open is None else tags & is_open


def _check_form(problem: Problem, certificate: Certificate) -> None:
    """Raise where a certificate is not one: of items, prices and decisions that there can be."""
    if not isinstance(certificate, Certificate):
        raise WrongError(f"certificate: expected a Certificate, got {type(certificate).__name__}.")
    try:
        _check_parts(problem, certificate)
    except (AttributeError, TypeError, ValueError) as error:  # a tuple of two, a price of no number
        raise WrongError(f"certificate: it cannot be read: {error}") from error
    check_cover([leaf.decisions for leaf in certificate.leaves])


def _check_parts(problem: Problem, certificate: Certificate) -> None:
    plan, items = problem.plan, certificate.items
    if not all(_is_index(i, len(plan.terms)) for i in items) or len(set(items)) < len(items):
        raise WrongError(
            f"certificate: expected different items among the {len(plan.terms)} of the problem, "
            f"got {items}."
        )
    for leaf in certificate.leaves:
        for item, price in leaf.prices.items():
            _check_price(plan, item, price)
        for decision in leaf.decisions:
            _check_decision(problem, decision)


def _is_index(given: object, count: int) -> bool:
    return isinstance(given, Integral) and not isinstance(given, bool) and 0 <= int(given) < count


def _check_price(plan: Plan, item: int, price: float) -> None:
    if not _is_index(item, len(plan.terms)) or plan.terms[item].row is None:
        raise WrongError(f"certificate: item {item} has a price, and it is no row of the problem.")
    most = float(plan.costs.of_terms[item])
    if not isinstance(price, Real) or not isfinite(price) or not 0.0 <= price <= most:
        raise WrongError(
            f"certificate: the price of item {item} is {price}; expected a finite number from 0 to "
            f"{most}."
        )


def _check_decision(problem: Problem, decision: Decision) -> None:
    token, chosen, inside = decision
    known = isinstance(chosen, frozenset) and all(name in problem.labels for name in chosen)
    if not _is_index(token, len(problem)) or not known or not isinstance(inside, bool):
        raise WrongError(
            f"certificate: expected decisions about one of {len(problem)} tokens and a set of "
            f"labels, got {decision}."
        )
