"""Costs: the penalties ``ρ`` of rules and of the terms of the violation sum.

    P(y) = score(y) − Σ_c ρ_c v_c(y),      ρ_c ∈ [0, ∞],  ∞ for a hard rule

``C`` rules, ``I`` terms, ``P`` patterns of the model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from trelliswork._utils.tables import join_names, shorten
from trelliswork.errors import RuleError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike

    from trelliswork._typing import FloatArray
    from trelliswork.constraints import Constraint
    from trelliswork.planning.rule_product import RuleProduct
    from trelliswork.planning.terms import Terms


__all__ = ["Costs", "check_penalties"]


class Costs:
    """The penalties of violations, of rules and of terms.

    Parameters
    ----------
    constraints
        The rules.
    penalties
        ``ρ`` of each of them, nan until learned, shape ``(C,)``.
    terms
        The terms of the violation sum.
    """

    def __init__(
        self, constraints: tuple[Constraint, ...], penalties: FloatArray, terms: Terms
    ) -> None:
        self._constraints = constraints
        self._penalties = penalties
        self._terms = terms
        self._rule_of_term = [term.constraint for term in terms]
        self.key = penalties.tobytes()  # cache key of these penalties

    @property
    def of_terms(self) -> FloatArray:
        """``ρ`` of each term, that of its rule, shape ``(I,)``."""
        return self._penalties[self._rule_of_term]

    def check(self, constraints: Iterable[int] | None = None) -> None:
        """Raise a `RuleError` if a soft rule among `constraints` (default: all) has no penalty."""
        chosen = range(len(self._constraints)) if constraints is None else constraints
        unknown = [c for c in chosen if np.isnan(self._penalties[c])]
        if unknown:
            names = join_names([shorten(repr(self._constraints[c])) for c in unknown])
            raise RuleError(
                f"No penalty is known for {names}. Learn it: CRFTagger(penalties=...).fit, or "
                "learn_penalties; or give a number, as in .soft(2.0)."
            )

    def costly(self, constraints: Iterable[int]) -> list[int]:
        """Return the rules among some whose penalty is above 0."""
        return [c for c in constraints if self._penalties[c] > 0.0]

    def costly_terms(self, constraints: Iterable[int]) -> tuple[int, ...]:
        """Return the terms of the soft rules among some whose penalty is above 0.

        Raises
        ------
        RuleError
            If one has no penalty yet.
        """
        soft = [c for c in constraints if self._constraints[c].is_soft]
        self.check(soft)
        return self._terms.of(self.costly(soft))

    def weights(self, of_model: FloatArray | None) -> FloatArray:
        """Return the weights of the patterns of a product of terms, shape ``(P + 2 I,)``.

        Parameters
        ----------
        of_model
            Those of the model, shape ``(P,)``. Default: zeros.

        Raises
        ------
        RuleError
            If a penalty is unknown.
        """
        self.check()
        own = np.zeros(self._terms.model.n_patterns) if of_model is None else of_model
        penalties = self.of_terms
        penalties[np.isinf(penalties)] = 0.0  # hard terms fire nothing
        return np.concatenate([own, np.stack([-penalties, penalties], axis=1).ravel()])

    def constant(self, product: RuleProduct) -> float:
        """Return ``−Σ_i ρ_i v_i(ε)`` over the soft terms in a product, to add to its scores."""
        if product.empty_violations is None:
            return 0.0
        inside = product.empty_violations > 0
        return -float(product.empty_violations[inside] @ self.of_terms[inside])


def check_penalties(constraints: Sequence[Constraint], values: ArrayLike) -> FloatArray:
    """Return the penalties of all rules as an array, checked."""
    given = np.array(values, dtype=np.float64)
    shape = (len(constraints),)
    if given.shape != shape:
        raise ValueError(
            f"penalties: expected one per constraint, shape {shape}, got {given.shape}."
        )
    for constraint, value in zip(constraints, given.tolist(), strict=True):
        if not constraint.is_soft and value != np.inf:
            raise ValueError(
                f"penalties: expected inf for {constraint!r}, which is hard, got {value}. "
                "Make it soft with .soft()."
            )
        if constraint.is_soft and (value < 0 or value == np.inf):
            raise ValueError(
                f"penalties: expected a number of 0 or more for {constraint!r}, got {value}."
            )
    return given
