"""The base of all answers, their statuses, and the tolerance of what they claim."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from typing import Any, Generic, Literal, TypeVar, get_args

from trelliswork.proofs.certificate import Certificate

__all__ = [
    "CLOSED",
    "FEASIBLE",
    "FRACTIONAL",
    "INFEASIBLE",
    "OPTIMAL",
    "STATUSES",
    "TOLERANCE",
    "UNSOLVED",
    "Answer",
    "Status",
    "is_close",
    "slack",
]

TOLERANCE = 1e-9
"""Tolerance of `verify`, absolute and relative: the rounding of sums in another order."""

CLOSED = TOLERANCE / 2
"""Relative gap below which solvers of graphs and spans end: half of the tolerance of `verify`.

Those of labellings end at `TOLERANCE`.
"""

Status = Literal[
    "optimal",
    "feasible",
    "infeasible",
    "unsolved",
    "fractional",
    "unverified",
    "relaxed",
    "unconstrained",
]
"""All statuses of answers; the first five are those of the core (`cpp/base/status.hpp`)."""

STATUSES: tuple[Status, ...] = get_args(Status)
"""The status of each code of the core."""

OPTIMAL, FEASIBLE, INFEASIBLE, UNSOLVED, FRACTIONAL = range(5)
"""The codes of the core."""

CertificateT_co = TypeVar("CertificateT_co", bound=Certificate[Any], covariant=True)


@dataclass(frozen=True, eq=False, kw_only=True)
class Answer(Generic[CertificateT_co]):
    """An answer to a problem, with its value and its proof.

    Attributes
    ----------
    score : float
        The value of the answer; ``-inf`` without one.
    upper_bound : float
        No answer that satisfies the hard constraints scores more.
    status : str
        ``"optimal"``: proven the best. ``"feasible"``: a gap is left, because a limit was reached
        first. ``"unverified"``: the best, by a solver that leaves no certificate. The other words
        belong to one kind of problem each.
    method : str
        The method that found it.
    iterations : int
        The steps of that method.
    certificate : Certificate or None
        The proof that `trelliswork.verify` evaluates.
    """

    score: float
    upper_bound: float
    status: Status
    method: str
    iterations: int = 0
    certificate: CertificateT_co | None = field(default=None, repr=False)

    @property
    def gap(self) -> float:
        """``upper_bound − score``: 0 for a proven optimum, ``inf`` without an answer."""
        return inf if self.score == -inf else self.upper_bound - self.score


def is_close(one: float, other: float) -> bool:
    """Return whether two values are equal but for the order in which they were summed."""
    return one == other or abs(one - other) <= slack(one)


def slack(value: float) -> float:
    """Return the amount by which rounding may change a value."""
    return TOLERANCE * (1.0 + abs(value))
