"""Checking answers: what a `Decoding` claims, proven again without the search that found it.

The value of the labelling is computed from the labels alone. Then every leaf of the certificate is
one dynamic program (see `trelliswork.certificate`): where none of them passes the value, and the
leaves leave out no labelling, nothing is better.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isfinite
from numbers import Integral, Real
from typing import TYPE_CHECKING, Literal

import numpy as np

from trelliswork.certificate import Certificate, Leaf
from trelliswork.decoded import Decoding
from trelliswork.errors import LabelError, TooLargeError
from trelliswork.problem import Problem
from trelliswork.relaxation import Relaxation
from trelliswork.tables import shorten

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from trelliswork.certificate import Decision
    from trelliswork.plan import Plan

    BoolArray = NDArray[np.bool_]

__all__ = ["TOLERANCE", "Verification", "verify"]

TOLERANCE = 1e-9  # of sums in another order, absolute and relative

Verdict = Literal["proven", "unverified", "rejected"]


@dataclass(frozen=True)
class Verification:
    """What is left of a claim after it was checked; true where the labelling is proven the best.

    Attributes
    ----------
    status : str
        ``"proven"``: no labelling is better. ``"unverified"``: nothing claimed is wrong, and
        nothing proves that no labelling is better. ``"rejected"``: something claimed is wrong.
    reason : str
        Why.
    score : float
        ``P(y)`` of the labelling, computed anew; ``-inf`` where it breaks a hard constraint, NaN
        where it is no labelling of the problem.
    upper_bound : float
        What the certificate proves that no labelling exceeds; ``inf`` without a certificate.
    """

    status: Verdict
    reason: str
    score: float
    upper_bound: float

    def __bool__(self) -> bool:
        return self.status == "proven"


class _WrongError(Exception):
    """A claim that does not hold."""


def verify(problem: Problem, decoding: Decoding) -> Verification:
    """Check an answer to a problem, and prove again that it is the best one.

    Runs one dynamic program for each leaf of the certificate, and never searches. The tolerance is
    1e-9, absolute and relative.

    Parameters
    ----------
    problem
        The problem.
    decoding
        The answer, from `trelliswork.solve` or anywhere else.

    Examples
    --------
    >>> import trelliswork as tw
    >>> scores = [[2.0, 0.0], [0.0, 1.0], [2.0, 0.0]]
    >>> rule = tw.at_most(1, "author").soft(1.5)
    >>> problem = tw.Problem(scores, constraints=rule, labels=["author", "title"])
    >>> bool(verify(problem, tw.solve(problem)))
    True
    """
    if not (isinstance(problem, Problem) and isinstance(decoding, Decoding)):
        raise TypeError(
            "verify: expected a Problem and its Decoding, got "
            f"{type(problem).__name__} and {type(decoding).__name__}."
        )
    value, bound = np.nan, inf
    try:
        value = _value(problem, decoding)
        if value == -inf and decoding.status in ("relaxed", "unconstrained"):
            reason = "It is the best under fewer constraints than the problem has."
            return Verification("unverified", reason, value, inf)
        _check_claims(decoding, value)
        certificate = decoding.certificate
        if certificate is None:
            return Verification("unverified", "It has no certificate.", value, inf)
        _check_form(problem, certificate)
        bound = _proven_bound(problem, certificate, value + slack(value))
        return _judge(decoding, value, bound)
    except _WrongError as wrong:
        return Verification("rejected", str(wrong), value, bound)
    except TooLargeError as error:
        return Verification("unverified", f"The proof is too large: {error}", value, inf)


def is_close(one: float, other: float) -> bool:
    """Return whether two values are equal but for the order in which they were summed."""
    return one == other or abs(one - other) <= slack(one)


def slack(value: float) -> float:
    """Return by how much a value may be passed without being worse."""
    return TOLERANCE * (1.0 + abs(value))


def _value(problem: Problem, decoding: Decoding) -> float:
    """Return ``P(y)`` of the labels, if they break what the answer says that they break."""
    try:
        value = problem.value(decoding.labels)
        broken = problem.violations(decoding.labels)
    except (LabelError, TypeError, ValueError) as error:
        raise _WrongError(f"It is no labelling of the problem: {error}") from error
    claimed = dict(decoding.violations)
    found = {repr(problem.constraints[i]): degree for i, degree in broken.items()}
    for name in (*found, *claimed):
        if found.get(name, 0) != claimed.get(name, 0):
            raise _WrongError(
                f"violations: {shorten(name)} is broken by {found.get(name, 0)}, not by "
                f"{claimed.get(name, 0)}."
            )
    return value


def _check_claims(decoding: Decoding, value: float) -> None:
    """Raise where score, bound and gap do not belong to a labelling of this value."""
    if value == -inf:
        raise _WrongError("labels: they break a hard constraint, or have a score of -inf.")
    if not is_close(decoding.score, value):  # false for NaN too
        raise _WrongError(f"score: the labels are worth {value}, not {decoding.score}.")
    if not decoding.upper_bound >= value - slack(value):
        raise _WrongError(
            f"upper_bound: {decoding.upper_bound} is less than {value}, what the labels are worth."
        )
    if not is_close(decoding.gap, decoding.upper_bound - decoding.score):
        raise _WrongError(
            f"gap: upper_bound − score is {decoding.upper_bound - decoding.score}, not "
            f"{decoding.gap}."
        )


def _judge(decoding: Decoding, value: float, bound: float) -> Verification:
    if bound <= value + slack(value):
        return Verification("proven", "No labelling is better.", value, max(bound, value))
    if decoding.status == "optimal" or decoding.upper_bound < bound - slack(bound):
        raise _WrongError(
            f"certificate: it shows that no labelling is worth more than {bound}; it is said to "
            f"show {decoding.upper_bound}."
        )
    return Verification(
        "unverified",
        f"The certificate leaves a gap of {bound - value}: some labelling may be better.",
        value,
        bound,
    )


def _proven_bound(problem: Problem, certificate: Certificate, floor: float) -> float:
    """Return what no labelling exceeds: the largest of the bounds of all leaves."""
    rows = [i for i in certificate.items if problem.plan.items[i].row is not None]
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
        raise _WrongError(f"certificate: expected a Certificate, got {type(certificate).__name__}.")
    try:
        _check_parts(problem, certificate)
    except (AttributeError, TypeError, ValueError) as error:  # a tuple of two, a price of no number
        raise _WrongError(f"certificate: it cannot be read: {error}") from error
    _check_cover([leaf.decisions for leaf in certificate.leaves])


def _check_parts(problem: Problem, certificate: Certificate) -> None:
    plan, items = problem.plan, certificate.items
    if not all(_is_index(i, len(plan.items)) for i in items) or len(set(items)) < len(items):
        raise _WrongError(
            f"certificate: expected different items among the {len(plan.items)} of the problem, "
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
    if not _is_index(item, len(plan.items)) or plan.items[item].row is None:
        raise _WrongError(f"certificate: item {item} has a price, and it is no row of the problem.")
    most = float(plan.item_penalties[item])
    if not isinstance(price, Real) or not isfinite(price) or not 0.0 <= price <= most:
        raise _WrongError(
            f"certificate: the price of item {item} is {price}; expected a finite number from 0 to "
            f"{most}."
        )


def _check_decision(problem: Problem, decision: Decision) -> None:
    token, chosen, inside = decision
    known = isinstance(chosen, frozenset) and all(name in problem.labels for name in chosen)
    if not _is_index(token, len(problem)) or not known or not isinstance(inside, bool):
        raise _WrongError(
            f"certificate: expected decisions about one of {len(problem)} tokens and a set of "
            f"labels, got {decision}."
        )


def _check_cover(paths: Sequence[tuple[Decision, ...]]) -> None:
    """Raise where some labelling belongs to no leaf.

    The decisions of all leaves form a tree: at every node either one leaf ends, or all leaves go on
    with one question, which is answered both ways.
    """
    waiting = [(0, list(paths))]
    while waiting:
        depth, leaves = waiting.pop()
        if any(len(path) == depth for path in leaves):
            if len(leaves) > 1:
                raise _WrongError("certificate: a leaf ends where others go on.")
            continue
        if not leaves:
            raise _WrongError("certificate: a leaf is missing: some labellings belong to none.")
        if len({path[depth][:2] for path in leaves}) > 1:
            raise _WrongError("certificate: leaves with one beginning go on with two questions.")
        for answer in (True, False):
            part = [path for path in leaves if path[depth][2] is answer]
            waiting.append((depth + 1, part))
