"""Verification of labellings: their values, and the bounds of the leaves of their certificates.

The value of a labelling is computed from its labels and the definitions of the rules. Then every
leaf of the certificate is one dynamic program (see `trelliswork.decoding.certificate`).
"""

from __future__ import annotations

from functools import cached_property
from math import isfinite
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from trelliswork.decoding.bounds import Relaxation
from trelliswork.decoding.certificate import Certificate
from trelliswork.errors import LabelError, TooLargeError
from trelliswork.proofs.answer import slack
from trelliswork.proofs.certificate import WrongError
from trelliswork.proofs.verification import Claim, check_violations

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from trelliswork._typing import BoolArray
    from trelliswork.decoding.answers import Decoding
    from trelliswork.decoding.certificate import Decision, Leaf
    from trelliswork.decoding.problem import Problem
    from trelliswork.proofs.answer import Status


__all__ = ["LabellingClaim"]

FEWER = "It is the best under fewer constraints than the problem has."


class LabellingClaim(Claim):
    """The claim of a `Decoding`.

    Parameters
    ----------
    problem, answer
        The problem and its answer.
    """

    whole, parts = "labelling", "labels"
    excuses: ClassVar[Mapping[Status, str]] = {"relaxed": FEWER, "unconstrained": FEWER}

    def __init__(self, problem: Problem, answer: Decoding) -> None:
        self.problem = problem
        self.answer: Decoding = answer

    def value(self) -> float:
        """Return ``P(y)`` of the labels, after comparing their violations with those claimed."""
        problem, answer = self.problem, self.answer
        try:
            value = problem.value(answer.labels)
            broken = problem.violations(answer.labels)
        except (LabelError, TypeError, ValueError) as error:
            raise WrongError(f"It is no labelling of the problem: {error}") from error
        check_violations(
            {repr(problem.constraints[i]): degree for i, degree in broken.items()},
            answer.violations,
        )
        return value

    def leaves(self, certificate: Any) -> Sequence[Leaf]:
        """Return the leaves, if terms, prices and decisions are those of the problem."""
        if not isinstance(certificate, Certificate):
            raise WrongError(
                f"certificate: expected a Certificate, got {type(certificate).__name__}."
            )
        n_terms, counted = len(self.problem.plan.terms), certificate.terms
        if not all(_is_index(i, n_terms) for i in counted) or len(set(counted)) < len(counted):
            raise WrongError(
                f"certificate: expected different terms among the {n_terms} of the problem, got "
                f"{counted}."
            )
        for leaf in certificate.leaves:
            for term, price in leaf.prices.items():
                self._check_price(term, price)
            for decision in leaf.decisions:
                self._check_decision(decision)
        return certificate.leaves

    def bound(self, leaves: Sequence[Leaf], value: float) -> float:
        """Return the largest ``max_y G(y)`` of the leaves, or a bound that proves `value`."""
        relaxed, counted = self._relaxation

        def bound(leaf: Leaf) -> float:
            allowed = self._allowed(leaf)
            if counted:
                return relaxed.counted_bound(leaf.prices, counted, allowed, value + slack(value))
            return relaxed.bound(leaf.prices, allowed)

        return max(map(bound, leaves))

    @cached_property
    def _relaxation(self) -> tuple[Relaxation, list[int]]:
        """The problem with some terms in the product, and the rows that are counted outside it."""
        certificate = self.answer.certificate
        assert certificate is not None, "its leaves were read"
        terms = certificate.terms
        rows = [i for i in terms if self.problem.plan.terms[i].row is not None]
        # Prices of counted rows prune most of the states of their product.
        guided = any(row in leaf.prices for leaf in certificate.leaves for row in rows)
        if not guided:
            try:
                return Relaxation(self.problem, terms), []
            except TooLargeError:
                if not rows:
                    raise
        return Relaxation(self.problem, [i for i in terms if i not in rows]), rows

    @cached_property
    def _open_labels(self) -> BoolArray | None:
        return self.problem.open_labels()

    def _allowed(self, leaf: Leaf) -> BoolArray | None:
        """Return the labels that the decisions of a leaf leave open, with those that are known."""
        if not leaf.decisions:
            return self._open_labels
        problem = self.problem
        names = np.array(problem.labels.names)
        mask = np.ones((len(problem), len(names)), dtype=bool)
        for token, chosen, inside in leaf.decisions:
            mask[token] &= np.isin(names, sorted(chosen)) == inside
        tags = problem.plan.tag_mask(mask)
        return tags if self._open_labels is None else tags & self._open_labels

    def _check_price(self, term: int, price: float) -> None:
        plan = self.problem.plan
        if not _is_index(term, len(plan.terms)) or plan.terms[term].row is None:
            raise WrongError(
                f"certificate: term {term} has a price but is not a row of the problem."
            )
        most = float(plan.costs.of_terms[term])
        if not isinstance(price, Real) or not isfinite(price) or not 0.0 <= price <= most:
            raise WrongError(
                f"certificate: the price of term {term} is {price}; expected a finite number from "
                f"0 to {most}."
            )

    def _check_decision(self, decision: Decision) -> None:
        problem = self.problem
        token, chosen, inside = decision
        known = isinstance(chosen, frozenset) and all(name in problem.labels for name in chosen)
        if not _is_index(token, len(problem)) or not known or not isinstance(inside, bool):
            raise WrongError(
                f"certificate: expected decisions about one of {len(problem)} tokens and a set of "
                f"labels, got {decision}."
            )


def _is_index(given: object, count: int) -> bool:
    return isinstance(given, Integral) and not isinstance(given, bool) and 0 <= int(given) < count
