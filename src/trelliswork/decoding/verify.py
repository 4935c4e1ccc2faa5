"""Verification of labellings: their values, and the bounds of the leaves of their certificates.

The value of a labelling is computed from the labels alone. Then every leaf of the certificate is
one dynamic program (see `trelliswork.decoding.certificate`).
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
        """Return the leaves, if items, prices and decisions are those of the problem."""
        if not isinstance(certificate, Certificate):
            raise WrongError(
                f"certificate: expected a Certificate, got {type(certificate).__name__}."
            )
        n_items, items = len(self.problem.plan.terms), certificate.items
        if not all(_is_index(i, n_items) for i in items) or len(set(items)) < len(items):
            raise WrongError(
                f"certificate: expected different items among the {n_items} of the problem, got "
                f"{items}."
            )
        for leaf in certificate.leaves:
            for item, price in leaf.prices.items():
                self._check_price(item, price)
            for decision in leaf.decisions:
                self._check_decision(decision)
        return certificate.leaves

    def bound(self, leaf: Leaf, value: float) -> float:
        """Return ``max_y G(y)`` of a leaf, or a bound that proves `value`."""
        relaxed, counted = self._relaxation
        allowed = self._allowed(leaf)
        if counted:
            return relaxed.counted_bound(leaf.prices, counted, allowed, value + slack(value))
        return relaxed.bound(leaf.prices, allowed)

    @cached_property
    def _relaxation(self) -> tuple[Relaxation, list[int]]:
        """The problem with some terms in the product, and the rows that are counted outside it."""
        certificate = self.answer.certificate
        assert certificate is not None, "its leaves were read"
        items = certificate.items
        rows = [i for i in items if self.problem.plan.terms[i].row is not None]
        # Prices of counted rows prune most of the states of their product.
        guided = any(item in leaf.prices for leaf in certificate.leaves for item in rows)
        if not guided:
            try:
                return Relaxation(self.problem, items), []
            except TooLargeError:
                if not rows:
                    raise
        return Relaxation(self.problem, [i for i in items if i not in rows]), rows

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

    def _check_price(self, item: int, price: float) -> None:
        plan = self.problem.plan
        if not _is_index(item, len(plan.terms)) or plan.terms[item].row is None:
            raise WrongError(
                f"certificate: item {item} has a price, and it is no row of the problem."
            )
        most = float(plan.costs.of_terms[item])
        if not isinstance(price, Real) or not isfinite(price) or not 0.0 <= price <= most:
            raise WrongError(
                f"certificate: the price of item {item} is {price}; expected a finite number from "
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
