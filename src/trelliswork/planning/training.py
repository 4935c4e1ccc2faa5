"""The items of a plan: their violations, and products that count them.

Letters: ``C`` constraints, ``I`` items, ``P`` patterns of the model, ``B`` sequences, ``N`` tokens.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from trelliswork.errors import TooLargeError
from trelliswork.planning.counting_automata import round_length
from trelliswork.planning.evidence import Evidence
from trelliswork.planning.penalties import PenaltyMethods
from trelliswork.planning.term_products import ItemCompiler, ItemProduct
from trelliswork.planning.token_charges import count_broken

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Self

    from numpy.typing import ArrayLike, NDArray

    from trelliswork._typing import IntArray
    from trelliswork.constraints import TokenTest
    from trelliswork.planning.counting_automata import Degrees
    from trelliswork.planning.products import ProductCompiler


__all__ = ["ItemMethods"]

COMPACT_ARCS = 20_000
MOST_MISSES = 10  # every one takes as long as a product that just fits


class ItemMethods(PenaltyMethods):
    """The methods that a plan has for the items of its constraints."""

    decoding_budget: int
    training_budget: int
    train_soft: bool
    _compiler: ProductCompiler

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
    def counted(self) -> tuple[int, ...]:
        """Indices of the hard constraints whose automaton depends on the length of a sequence.

        Those linear in counts with coefficients of both signs.
        """
        found = {self.items[i].constraint for i in self._items.counted}
        return tuple(sorted(found.difference(self.soft)))

    def with_penalties(self, values: ArrayLike) -> Self:
        """Return the plan with other penalties; what is compiled is shared.

        Parameters
        ----------
        values
            Shape ``(C,)``: infinite for hard constraints, and for soft ones 0 or more, or nan for
            those that are to be learned.
        """
        given = self._checked_penalties(values)
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
            The items to look at; others may be 0. Default: all.
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
        for toll in self.tolls:
            ids = self.group_of_tag[tags]
            found[:, toll.constraint] += count_broken(toll.rule, ids, evidence)
        return found

    def item_table(self, item: int) -> IntArray:
        """Return what letters add to a row after the letter before them, shape ``(L + 1, L)``."""
        return self._items.table(item)

    def item_product(self, items: Iterable[int], length: int) -> ItemProduct:
        """Return the model times the automata of some items, from memory where possible.

        The patterns of violations follow those of the model, see
        `trelliswork.planning.term_products`; with `item_weights`, the score of a path is ``G(y) =
        score(y) − Σ_i ρ_i (v_i(y) − v_i(ε))`` over the soft items in the product, and a labelling
        that breaks a hard one has no path.

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

    def item_degrees(self, item: int, length: int) -> Degrees:
        """Return the violation automaton of an item, for sequences of up to some length."""
        return self._items.degrees_of(item, round_length(length))

    def item_tests(self, item: int) -> tuple[TokenTest, ...]:
        """Return the token tests that the automaton of an item reads."""
        return self._items.tests_of(item)

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
        outside = {toll.constraint for toll in self.tolls}.union(self.predicates)
        more = sorted({*self.counted, *(self.soft if self.train_soft else ())} - outside)
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
