"""What the constraints of a plan are, and what it costs to break them.

    P(y) = score(y) − Σ_c ρ_c v_c(y),      ρ_c ∈ [0, ∞],  ∞ for a hard constraint

Letters: ``C`` constraints, ``I`` items, ``P`` patterns of the model.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from trelliswork._utils.tables import join_names, shorten
from trelliswork.errors import RuleError
from trelliswork.planning.terms import Item, items_of
from trelliswork.planning.token_charges import Toll, tolls_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike, NDArray

    from trelliswork._typing import FloatArray
    from trelliswork.automata.automaton import Automaton
    from trelliswork.constraints import Constraint
    from trelliswork.labels.label_set import LabelSet
    from trelliswork.labels.segmentation import Segmentation
    from trelliswork.planning.term_products import ItemProduct


__all__ = ["PenaltyMethods"]


class PenaltyMethods:
    """The methods that a plan has for kinds of constraints and their penalties."""

    constraints: tuple[Constraint, ...]
    labels: LabelSet
    model: Automaton
    segmentation: Segmentation | None
    _penalties: FloatArray

    @cached_property
    def masks(self) -> tuple[int, ...]:
        """Indices of the hard position-wise constraints."""
        return tuple(
            i
            for i, constraint in enumerate(self.constraints)
            if not constraint.is_soft and constraint.allowed(self.labels, ()) is not None
        )

    @cached_property
    def rules(self) -> tuple[int, ...]:
        """Indices of the hard constraints that become automata."""
        return tuple(
            i
            for i, constraint in enumerate(self.constraints)
            if not (i in self.masks or constraint.is_soft or constraint.is_predicate)
        )

    @cached_property
    def items(self) -> tuple[Item, ...]:
        """The items of all constraints but masks and predicates, in order."""
        without = {*self.masks, *self.predicates}
        chosen = [(i, c) for i, c in enumerate(self.constraints) if i not in without]
        return items_of(chosen, self.labels, self.segmentation)

    @cached_property
    def predicates(self) -> tuple[int, ...]:
        """Indices of the Python functions, hard and soft, which only a search decodes under."""
        return tuple(i for i, constraint in enumerate(self.constraints) if constraint.is_predicate)

    @cached_property
    def hard_predicates(self) -> frozenset[int]:
        """Indices of the Python functions that are hard."""
        return frozenset(self.predicates) - frozenset(self.soft)

    @cached_property
    def tolls(self) -> tuple[Toll, ...]:
        """Token charges of soft constraints, see `trelliswork.planning.token_charges`."""
        return tolls_of((i, self.constraints[i]) for i in self.soft)

    @cached_property
    def soft(self) -> tuple[int, ...]:
        """Indices of the soft constraints."""
        return tuple(i for i, constraint in enumerate(self.constraints) if constraint.is_soft)

    @cached_property
    def soft_items(self) -> tuple[int, ...]:
        """The items of soft constraints."""
        return self.items_of(self.soft)

    def items_of(self, constraints: Iterable[int]) -> tuple[int, ...]:
        """Return the items of some constraints."""
        chosen = set(constraints)
        return tuple(i for i, item in enumerate(self.items) if item.constraint in chosen)

    @cached_property
    def group_of_tag(self) -> NDArray[np.int32]:
        """The token label of each tag, shape ``(2 L,)``; see `trelliswork.labels.segmentation`."""
        if self.segmentation is not None:
            return np.ascontiguousarray(self.segmentation.token_of_tag, dtype=np.int32)
        return np.tile(np.arange(len(self.labels), dtype=np.int32), 2)

    @property
    def penalties(self) -> FloatArray:
        """``ρ`` of each constraint, shape ``(C,)``: infinite for hard ones, nan until learned."""
        return self._penalties.copy()

    @property
    def item_penalties(self) -> FloatArray:
        """``ρ`` of each item, that of its constraint, shape ``(I,)``."""
        return self._penalties[[item.constraint for item in self.items]]

    def check_penalties(self, constraints: Iterable[int] | None = None) -> None:
        """Raise a `RuleError` where a soft constraint, of some or all, has no penalty yet."""
        chosen = range(len(self.constraints)) if constraints is None else constraints
        unknown = [c for c in chosen if np.isnan(self._penalties[c])]
        if unknown:
            names = join_names([shorten(repr(self.constraints[c])) for c in unknown])
            raise RuleError(
                f"No penalty is known for {names}. Learn it: CRFTagger(penalties=...).fit, or "
                "learn_penalties; or give a number, as in .soft(2.0)."
            )

    def priced_items(self, constraints: Iterable[int]) -> tuple[int, ...]:
        """Return the items of the soft constraints among some whose penalty is above 0.

        Raises
        ------
        RuleError
            Where one has no penalty yet.
        """
        soft = [c for c in constraints if c in self.soft]
        self.check_penalties(soft)
        return self.items_of(c for c in soft if self._penalties[c] > 0.0)

    def item_weights(self, weights: FloatArray | None) -> FloatArray:
        """Return the weights of the patterns of an item product, shape ``(P + 2 I,)``.

        Parameters
        ----------
        weights
            Those of the model, shape ``(P,)``. Default: zeros.

        Raises
        ------
        RuleError
            Where a penalty is not known.
        """
        self.check_penalties()
        own = np.zeros(self.model.n_patterns) if weights is None else weights
        penalties = self.item_penalties
        penalties[np.isinf(penalties)] = 0.0  # hard items fire nothing
        return np.concatenate([own, np.stack([-penalties, penalties], axis=1).ravel()])

    def item_constant(self, product: ItemProduct) -> float:
        """Return ``−Σ_i ρ_i v_i(ε)`` over the soft items in a product: what its scores lack."""
        inside = product.empty > 0
        return -float(product.empty[inside] @ self.item_penalties[inside])

    def _checked_penalties(self, values: ArrayLike) -> FloatArray:
        """Return penalties of all constraints, or say what is wrong with them."""
        given = np.array(values, dtype=np.float64)
        if given.shape != self._penalties.shape:
            raise ValueError(
                f"penalties: expected one a constraint, shape {self._penalties.shape}, got "
                f"{given.shape}."
            )
        for constraint, value in zip(self.constraints, given.tolist(), strict=True):
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
