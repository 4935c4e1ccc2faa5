"""The items of a plan: penalties, violations, and products that count them.

    P(y) = score(y) − Σ_c ρ_c v_c(y),      ρ_c ∈ [0, ∞],  ∞ for a hard constraint

Letters: ``C`` constraints, ``I`` items, ``P`` patterns of the model, ``B`` sequences, ``N`` tokens.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from trelliswork.degrees import round_length
from trelliswork.errors import RuleError, TooLargeError
from trelliswork.evidence import Evidence
from trelliswork.item_products import ItemCompiler, ItemProduct
from trelliswork.items import Item, items_of
from trelliswork.tables import join_names, shorten

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Self

    from numpy.typing import ArrayLike, NDArray

    from trelliswork.automaton import Automaton
    from trelliswork.compiler import ProductCompiler
    from trelliswork.constraints import Constraint
    from trelliswork.labels import LabelSet
    from trelliswork.segmentation import Segmentation

    FloatArray = NDArray[np.float64]
    IntArray = NDArray[np.int64]

__all__ = ["ItemMethods"]

COMPACT_ARCS = 20_000
MOST_MISSES = 10  # every one takes as long as a product that just fits


class ItemMethods:
    """The methods that a plan has for the items of its constraints."""

    constraints: tuple[Constraint, ...]
    model: Automaton
    decoding_budget: int
    training_budget: int
    train_soft: bool
    labels: LabelSet
    segmentation: Segmentation | None
    _compiler: ProductCompiler
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
            if i not in self.masks and not constraint.is_soft
        )

    @cached_property
    def trained_rules(self) -> tuple[int, ...]:
        """Indices of the automata whose product fits the training budget, added greedily.

        Without those that depend on the length of a sequence.
        """
        if not self.training_budget:
            return ()
        rules = tuple(i for i in self.rules if i not in self.counted)
        return self._compiler.choose_rules(rules, self.training_budget)

    @cached_property
    def items(self) -> tuple[Item, ...]:
        """The items of all constraints but those that are masks, in order."""
        chosen = [(i, c) for i, c in enumerate(self.constraints) if i not in self.masks]
        return items_of(chosen, self.labels, self.segmentation)

    @cached_property
    def soft(self) -> tuple[int, ...]:
        """Indices of the soft constraints."""
        return tuple(i for i, constraint in enumerate(self.constraints) if constraint.is_soft)

    @cached_property
    def soft_items(self) -> tuple[int, ...]:
        """The items of soft constraints."""
        return self.items_of(self.soft)

    @cached_property
    def counted(self) -> tuple[int, ...]:
        """Indices of the hard constraints whose automaton depends on the length of a sequence.

        Those linear in counts with coefficients of both signs.
        """
        found = {self.items[i].constraint for i in self._items.counted}
        return tuple(sorted(found.difference(self.soft)))

    def items_of(self, constraints: Iterable[int]) -> tuple[int, ...]:
        """Return the items of some constraints."""
        chosen = set(constraints)
        return tuple(i for i, item in enumerate(self.items) if item.constraint in chosen)

    @property
    def penalties(self) -> FloatArray:
        """``ρ`` of each constraint, shape ``(C,)``: infinite for hard ones, nan until learned."""
        return self._penalties.copy()

    @property
    def item_penalties(self) -> FloatArray:
        """``ρ`` of each item, that of its constraint, shape ``(I,)``."""
        return self._penalties[[item.constraint for item in self.items]]

    def with_penalties(self, values: ArrayLike) -> Self:
        """Return the plan with other penalties; what is compiled is shared.

        Parameters
        ----------
        values
            Shape ``(C,)``: infinite for hard constraints, and for soft ones 0 or more, or nan for
            those that are to be learned.
        """
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
        _ = self._items  # made before, so that both have the same
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__, _penalties=given)
        return made

    def with_penalties_of(self, earlier: ItemMethods) -> Self:
        """Return the plan with what another one knows of the penalties that are to be learned."""
        known = dict(zip(earlier.constraints, earlier._penalties.tolist(), strict=True))
        values = self.penalties
        for i in np.flatnonzero(np.isnan(values)).tolist():
            values[i] = known.get(self.constraints[i], np.nan)
        return self.with_penalties(values)

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

    def item_violations(
        self,
        tags: NDArray[np.int32],
        evidence: Evidence,
        items: Sequence[int] | None = None,
    ) -> IntArray:
        """Return how badly labellings break each item, ``v_i(y)``, shape ``(B, I)``.

        Parameters
        ----------
        tags
            Tags of all tokens, shape ``(N,)``; labels in a chain.
        evidence
            What the constraints see of the batch.
        items
            Only these, 0 elsewhere. Default: all.
        """
        chosen = range(len(self.items)) if items is None else items
        return self._items.violations(tags, evidence, chosen)

    @cached_property
    def empty_violations(self) -> IntArray:
        """``v_i(ε)`` of all items, shape ``(I,)``."""
        nothing = Evidence(self.labels, [[]], np.zeros(2, dtype=np.int64))
        return self.item_violations(np.zeros(0, dtype=np.int32), nothing).reshape(-1)

    def violations(self, tags: NDArray[np.int32], evidence: Evidence) -> IntArray:
        """Return ``v_c(y)`` of the constraints that are no masks, 0 for masks, shape ``(B, C)``."""
        by_item = self.item_violations(tags, evidence)
        found = np.zeros((len(by_item), len(self.constraints)), dtype=np.int64)
        for i, item in enumerate(self.items):
            found[:, item.constraint] += by_item[:, i]
        return found

    def item_table(self, item: int) -> IntArray:
        """Return what letters add to a row after the letter before them, shape ``(L + 1, L)``."""
        return self._items.table(item)

    def item_product(self, items: Iterable[int], length: int) -> ItemProduct:
        """Return the model times the automata of some items, from memory where possible.

        The patterns of violations follow those of the model, see `trelliswork.item_products`; with
        `item_weights`, the score of a path is ``G(y) = score(y) − Σ_i ρ_i (v_i(y) − v_i(ε))`` over
        the soft items in the product, and a labelling that breaks a hard one has no path.

        Parameters
        ----------
        items
            The items.
        length
            Most tokens of a sequence to be run on it; matters to rows with coefficients of both
            signs, and is rounded up.

        Raises
        ------
        TooLargeError
            Where it has more arcs than `decoding_budget`.
        """
        return self._items.product(tuple(sorted(set(items))), length, self.decoding_budget)

    def item_size(self, items: Sequence[int], length: int) -> tuple[int, int]:
        """Return the states and arcs of the model times some items, as `item_product` has them."""
        if len(items) == 1 and self.model.is_chain:
            return self._items.chain_size(items[0], length)
        made = self.item_product(items, length).automaton
        return made.n_states, made.n_arcs

    def is_counted(self, items: Iterable[int]) -> bool:
        """Return whether the product of some items depends on the lengths of sequences."""
        return not self._items.counted.isdisjoint(items)

    def is_compact(self, items: Iterable[int], length: int) -> bool:
        """Return whether the product of some items is so small that those of subsets do not pay."""
        try:
            self._items.product(tuple(sorted(set(items))), length, self.compact_budget)
        except TooLargeError:
            return False
        return True

    @property
    def compact_budget(self) -> int:
        """Most arcs of a product for which those of subsets do not pay."""
        return min(max(COMPACT_ARCS, 4 * self.model.n_arcs), self.decoding_budget)

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

    def trained_constraints(self, length: int) -> tuple[int, ...]:
        """Return the constraints whose product fits the training budget, masks aside.

        The hard ones whose automata do not depend on the length come first, see `trained_rules`;
        then the others, hard and soft, are added greedily, in the order given, until many in a row
        do not fit.

        Parameters
        ----------
        length
            Most tokens of a training sequence.
        """
        length = round_length(length)
        if length not in self._trained:
            self._trained[length] = self._choose_trained(length)
        return self._trained[length]

    def _choose_trained(self, length: int) -> tuple[int, ...]:
        chosen, n_misses = self.trained_rules, 0
        more = sorted({*self.counted, *(self.soft if self.train_soft else ())})
        for index in more if self.training_budget else ():
            if n_misses == MOST_MISSES:
                break
            try:
                self.training_product((*chosen, index), length)
            except TooLargeError:
                n_misses += 1
                continue
            chosen, n_misses = (*chosen, index), 0
        return tuple(sorted(chosen))

    def training_product(self, constraints: Iterable[int], length: int) -> ItemProduct:
        """Return the model times some constraints, if it fits the training budget."""
        return self._items.product(self.items_of(constraints), length, self.training_budget)

    @cached_property
    def _trained(self) -> dict[int, tuple[int, ...]]:
        return {}

    @cached_property
    def _items(self) -> ItemCompiler:
        is_soft = [item.constraint in self.soft for item in self.items]
        return ItemCompiler(self.items, is_soft, self._compiler)
