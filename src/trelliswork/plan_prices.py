"""What a plan knows for decoding with prices: events of rows, and automata that are marked."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from trelliswork.bases import MarkedAutomaton
from trelliswork.intersection import chain_product_size
from trelliswork.plan_items import ItemMethods

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from trelliswork.constraints import TokenTest
    from trelliswork.events import Events
    from trelliswork.item_products import ItemProduct
    from trelliswork.labels import LabelSet
    from trelliswork.plan import Plan
    from trelliswork.segmentation import Segmentation

    FloatArray = NDArray[np.float64]

__all__ = ["PriceMethods", "PricedBase"]

BASES_KEPT = 256


@dataclass(frozen=True, eq=False)
class PricedBase:
    """The model times the automata of some bits, marked with what rows count.

    Attributes
    ----------
    marked : MarkedAutomaton
        The automaton.
    tests : tuple of TokenTest
        Bit ``i`` of a token's class is the outcome of ``tests[i]``.
    product : ItemProduct or None
        What was marked; None: the model itself.
    """

    marked: MarkedAutomaton
    tests: tuple[TokenTest, ...] = ()
    product: ItemProduct | None = None

    def weights(self, plan: Plan, given: FloatArray | None) -> FloatArray | None:
        """Return the weights of its patterns, from those of the model, shape ``(P,)``."""
        own = given if self.product is None else plan.item_weights(given)
        return self.marked.weights(own)

    def constant(self, plan: Plan) -> float:
        """Return what the scores of its paths lack, see `Plan.item_constant`."""
        return 0.0 if self.product is None else plan.item_constant(self.product)


class PriceMethods(ItemMethods):
    """The methods that a plan has for prices."""

    labels: LabelSet
    segmentation: Segmentation | None

    @property
    def row_items(self) -> tuple[int, ...]:
        """The items that are rows, ``R`` of them."""
        return self._items.rows

    @property
    def row_events(self) -> Events:
        """What the rows count, in the order of `row_items`."""
        return self._items.events

    @cached_property
    def free_items(self) -> frozenset[int]:
        """The hard bits that cost a chain nothing: it remembers all that they ask about.

        Valid labels of a scheme, for example. Decoding heeds them from the start.
        """
        if not self.model.is_chain:
            return frozenset()
        n_labels = self.model.n_labels
        return frozenset(
            i
            for i, item in enumerate(self.items)
            if item.rule is not None
            and not item.rule.tests
            and i not in self.soft_items
            and chain_product_size(n_labels, self._items.language(i))[0] <= n_labels + 1
        )

    @cached_property
    def group_of_tag(self) -> NDArray[np.int32]:
        """The token label of each tag, shape ``(2 L,)``; see `trelliswork.segmentation`."""
        if self.segmentation is not None:
            return np.ascontiguousarray(self.segmentation.token_of_tag, dtype=np.int32)
        return np.tile(np.arange(len(self.labels), dtype=np.int32), 2)

    def priced_base(self, bits: tuple[int, ...], length: int) -> PricedBase:
        """Return the model times some bits, marked, from memory where possible.

        Parameters
        ----------
        bits
            The items.
        length
            Most tokens of a sequence to be run on it.
        """
        kept = self._bases.get(bits)
        if kept is None:
            if bits:
                built = self.item_product(bits, length)
                marked = MarkedAutomaton.mark(built.automaton, self.row_events)
                kept = PricedBase(marked, built.tests, built)
            else:
                kept = PricedBase(MarkedAutomaton.mark(self.model, self.row_events))
            self._bases[bits] = kept
            if len(self._bases) > BASES_KEPT:
                self._bases.popitem(last=False)
        return kept

    @cached_property
    def _bases(self) -> OrderedDict[tuple[int, ...], PricedBase]:
        return OrderedDict()
