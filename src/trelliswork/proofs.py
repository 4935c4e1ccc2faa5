"""What is left of a claim after it was checked, and the checks that all claims have in common.

A claim is an answer with its score, an upper bound and the gap between them; a certificate splits
what there is to choose from into leaves, each with a bound of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "TOLERANCE",
    "Verification",
    "WrongError",
    "check_claims",
    "check_cover",
    "is_close",
    "judge",
    "slack",
]

TOLERANCE = 1e-9  # of sums in another order, absolute and relative

Verdict = Literal["proven", "unverified", "rejected"]


@dataclass(frozen=True)
class Verification:
    """What is left of a claim after it was checked; true where the answer is proven the best.

    Attributes
    ----------
    status : str
        ``"proven"``: nothing is better. ``"unverified"``: nothing claimed is wrong, and
        nothing proves that nothing is better. ``"rejected"``: something claimed is wrong.
    reason : str
        Why.
    score : float
        What the answer is worth, computed anew; ``-inf`` where it breaks a hard constraint, NaN
        where it is no answer at all.
    upper_bound : float
        What the certificate proves that nothing exceeds; ``inf`` without a certificate.
    """

    status: Verdict
    reason: str
    score: float
    upper_bound: float

    def __bool__(self) -> bool:
        return self.status == "proven"


class WrongError(Exception):
    """A claim that does not hold."""


class Claim(Protocol):
    """An answer: a `Decoding`, or a `Solution`."""

    @property
    def score(self) -> float:
        """What it says that it is worth."""

    @property
    def upper_bound(self) -> float:
        """What it says that nothing exceeds."""

    @property
    def gap(self) -> float:
        """The difference."""

    @property
    def status(self) -> str:
        """What it says of itself."""


def is_close(one: float, other: float) -> bool:
    """Return whether two values are equal but for the order in which they were summed."""
    return one == other or abs(one - other) <= slack(one)


def slack(value: float) -> float:
    """Return by how much a value may be passed without being worse."""
    return TOLERANCE * (1.0 + abs(value))


def check_claims(claim: Claim, value: float, what: str = "labels") -> None:
    """Raise where score, bound and gap do not belong to an answer of this value."""
    if value == -inf:
        raise WrongError(f"{what}: they break a hard constraint, or have a score of -inf.")
    if not is_close(claim.score, value):  # false for NaN too
        raise WrongError(f"score: the {what} are worth {value}, not {claim.score}.")
    if not claim.upper_bound >= value - slack(value):
        raise WrongError(
            f"upper_bound: {claim.upper_bound} is less than {value}, what the {what} are worth."
        )
    if not is_close(claim.gap, claim.upper_bound - claim.score):
        raise WrongError(
            f"gap: upper_bound − score is {claim.upper_bound - claim.score}, not {claim.gap}."
        )


def judge(claim: Claim, value: float, bound: float, what: str = "labelling") -> Verification:
    """Return the verdict on an answer of this value under a bound that is proven."""
    if bound <= value + slack(value):
        return Verification("proven", f"No {what} is better.", value, max(bound, value))
    if claim.status == "optimal" or claim.upper_bound < bound - slack(bound):
        raise WrongError(
            f"certificate: it shows that no {what} is worth more than {bound}; it is said to "
            f"show {claim.upper_bound}."
        )
    return Verification(
        "unverified",
        f"The certificate leaves a gap of {bound - value}: some {what} may be better.",
        value,
        bound,
    )


def check_cover(paths: Sequence[Sequence[tuple[Any, ...]]]) -> None:
    """Raise where some answer belongs to no leaf.

    A path has one decision a level, a question whose last entry is the answer, true or false.

    The decisions of all leaves form a tree: at every node either one leaf ends, or all leaves go on
    with one question, which is answered both ways.
    """
    waiting = [(0, list(paths))]
    while waiting:
        depth, leaves = waiting.pop()
        if any(len(path) == depth for path in leaves):
            if len(leaves) > 1:
                raise WrongError("certificate: a leaf ends where others go on.")
            continue
        if not leaves:
            raise WrongError("certificate: a leaf is missing: some answers belong to none.")
        if len({path[depth][:-1] for path in leaves}) > 1:
            raise WrongError("certificate: leaves with one beginning go on with two questions.")
        for answer in (True, False):
            part = [path for path in leaves if path[depth][-1] is answer]
            waiting.append((depth + 1, part))
