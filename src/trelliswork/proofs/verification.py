"""Verification of answers: one driver for all kinds of problems.

The driver recomputes the value of an answer, compares it with the claims, and evaluates every leaf
of the certificate. A kind of problem is a subclass of `Claim`. It makes no search: it recomputes
the value from the definitions, and takes prices and decisions of the leaves as they are given.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import inf, nan
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar

from trelliswork._utils.tables import shorten
from trelliswork.errors import TooLargeError
from trelliswork.proofs.answer import is_close, slack
from trelliswork.proofs.certificate import WrongError, check_cover

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from trelliswork.proofs.answer import Answer, Status
    from trelliswork.proofs.certificate import Leaf

__all__ = ["Claim", "Verification", "check", "check_violations"]

Verdict = Literal["proven", "unverified", "rejected"]
ProblemT = TypeVar("ProblemT")
AnswerT = TypeVar("AnswerT")


@dataclass(frozen=True)
class Verification:
    """The verdict on an answer; true if the answer is proven to be the best.

    Attributes
    ----------
    status : str
        ``"proven"``: nothing is better. ``"unverified"``: nothing claimed is wrong, and
        nothing proves that nothing is better. ``"rejected"``: something claimed is wrong.
    reason : str
        The reason of the verdict.
    score : float
        The value of the answer, recomputed; ``-inf`` if it violates a hard constraint, NaN
        if it is no answer to the problem.
    upper_bound : float
        The bound that the certificate proves; ``inf`` without a certificate.
    """

    status: Verdict
    reason: str
    score: float
    upper_bound: float

    def __bool__(self) -> bool:
        return self.status == "proven"


class Claim(ABC):
    """An answer to one kind of problem, as the driver sees it.

    Attributes
    ----------
    answer : Answer
        The answer to check.
    is_empty : bool
        Whether the answer claims that nothing was found.
    whole, parts : str
        The names of an answer and of its parts in messages.
    excuses : mapping
        For each status whose answers may violate hard constraints, the reason.
    """

    answer: Answer[Any]
    is_empty: bool = False
    whole: ClassVar[str]
    parts: ClassVar[str]
    excuses: ClassVar[Mapping[Status, str]] = {}

    @abstractmethod
    def value(self) -> float:
        """Return the value of the answer, after comparing its other claims.

        Raises
        ------
        WrongError
            For an answer to another problem, and for violations other than those it claims.
        """

    @abstractmethod
    def leaves(self, certificate: Any) -> Sequence[Leaf[Any]]:
        """Return the leaves of a certificate, after checking that they belong to the problem.

        Raises
        ------
        WrongError
            For a certificate of another kind, and for impossible decisions and multipliers.
        """

    @abstractmethod
    def bound(self, leaves: Any, value: float) -> float:
        """Return the largest dual bound of the leaves; one not above `value` need not be exact."""


def check(
    kind: Callable[[ProblemT, AnswerT], Claim], problem: ProblemT, answer: AnswerT
) -> Verification:
    """Check an answer to a problem, and prove again that it is the best one.

    Parameters
    ----------
    kind
        The subclass of `Claim` for this kind of problem.
    problem, answer
        The problem and its answer.
    """
    value, bound = nan, inf
    try:
        claim = kind(problem, answer)
        value = claim.value()
        excuse = claim.excuses.get(claim.answer.status) if value == -inf else None
        if excuse is not None:
            return Verification("unverified", excuse, value, inf)
        if not claim.is_empty:
            _check_claims(claim, value)
        if claim.answer.certificate is None:
            return Verification("unverified", "It has no certificate.", value, inf)
        leaves = _read(claim)
        check_cover(leaves)
        bound = claim.bound(leaves, value)
        return _judge_nothing(claim, bound) if claim.is_empty else _judge(claim, value, bound)
    except WrongError as wrong:
        return Verification("rejected", str(wrong), value, bound)
    except TooLargeError as error:
        return Verification("unverified", f"The proof is too large: {error}", value, inf)


def check_violations(found: Mapping[str, int], claimed: Mapping[str, int]) -> None:
    """Raise if the violations of an answer, by expression, are not those it claims."""
    for name in (*found, *dict(claimed)):
        if found.get(name, 0) != claimed.get(name, 0):
            raise WrongError(
                f"violations: {shorten(name)} is broken by {found.get(name, 0)}, not by "
                f"{claimed.get(name, 0)}."
            )


def _read(claim: Claim) -> Sequence[Leaf[Any]]:
    try:
        return claim.leaves(claim.answer.certificate)
    except (AttributeError, TypeError, ValueError) as error:  # a tuple of two, ragged multipliers
        raise WrongError(f"certificate: it cannot be read: {error}") from error


def _check_claims(claim: Claim, value: float) -> None:
    """Raise unless score and bound belong to an answer of this value."""
    answer, parts = claim.answer, claim.parts
    if value == -inf:
        raise WrongError(f"{parts}: they break a hard constraint, or have a score of -inf.")
    if not is_close(answer.score, value):  # false for NaN too
        raise WrongError(f"score: the {parts} are worth {value}, not {answer.score}.")
    if not answer.upper_bound >= value - slack(value):
        raise WrongError(
            f"upper_bound: {answer.upper_bound} is less than {value}, the value of the {parts}."
        )
    if answer.status == "optimal" and answer.upper_bound > value + slack(value):
        raise WrongError(
            f"upper_bound: {answer.upper_bound} leaves a gap above {value}, the value of the "
            f"{parts}; it is said to be optimal."
        )


def _judge(claim: Claim, value: float, bound: float) -> Verification:
    """Return the verdict on an answer of this value under a bound that is proven."""
    if bound <= value + slack(value):
        return Verification("proven", f"No {claim.whole} is better.", value, max(bound, value))
    _check_bound(claim, bound)
    return Verification(
        "unverified",
        f"The certificate leaves a gap of {bound - value}: some {claim.whole} may be better.",
        value,
        bound,
    )


def _judge_nothing(claim: Claim, bound: float) -> Verification:
    """Return the verdict on an answer without values."""
    if claim.answer.status == "infeasible":
        if bound == -inf:
            return Verification("proven", f"There is no {claim.whole}.", -inf, bound)
        reason = f"The certificate does not exclude every {claim.whole}."
        return Verification("unverified", reason, -inf, bound)
    _check_bound(claim, bound)
    return Verification("unverified", f"It has no {claim.parts}.", -inf, bound)


def _check_bound(claim: Claim, bound: float) -> None:
    """Raise if the answer claims more than its certificate proves."""
    answer = claim.answer
    if answer.status == "optimal" or answer.upper_bound < bound - slack(bound):
        raise WrongError(
            f"certificate: it shows that no {claim.whole} is worth more than {bound}; the "
            f"answer claims {answer.upper_bound}."
        )
