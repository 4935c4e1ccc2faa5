"""What a plan knows for decoding with prices: events of rows, and automata that are marked."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from trelliswork.automata.product_size import chain_product_size
from trelliswork.constraints.per_token import PerToken, leaving
from trelliswork.constraints.token_tests import Before
from trelliswork.planning.marked_automaton import MarkedAutomaton
from trelliswork.planning.terms_of_plan import ItemMethods

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from trelliswork import _core
    from trelliswork._typing import FloatArray
    from trelliswork.automata.automaton import Automaton
    from trelliswork.constraints import TokenTest
    from trelliswork.labels.label_set import LabelSet
    from trelliswork.labels.segmentation import Segmentation
    from trelliswork.planning.events import Events
    from trelliswork.planning.plan import Plan
    from trelliswork.planning.term_products import ItemProduct


__all__ = ["Charges", "PriceMethods", "PricedBase"]

BASES_KEPT = 256
CHARGES_KEPT = 16
MOST_CHANGES = 3  # rules that count changes: each doubles the classes of tokens


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
    changes : tuple of int
        Bits that are charged for by the class of a token, without an automaton: soft rules that
        count changes, where the model is a chain.
    """

    marked: MarkedAutomaton
    tests: tuple[TokenTest, ...] = ()
    product: ItemProduct | None = None
    changes: tuple[int, ...] = ()

    def weights(self, plan: Plan, given: FloatArray | None) -> FloatArray | None:
        """Return the weights of its patterns, from those of the model, shape ``(P,)``."""
        own = given if self.product is None else plan.item_weights(given)
        return self.marked.weights(own)

    def constant(self, plan: Plan) -> float:
        """Return what the scores of its paths lack, see `Plan.item_constant`."""
        return 0.0 if self.product is None else plan.item_constant(self.product)

    def class_weights(self, plan: Plan) -> FloatArray | None:
        """Return what a token of each class adds to pairs of labels, shape ``(2**k, L * L)``.

        Bit ``i`` of the class says whether the token before passes the test of ``changes[i]``: a
        change there is free. None without any.
        """
        if not self.changes:
            return None
        leaves = leaving(plan.labels)[1:].ravel()
        penalties = plan.item_penalties
        found = np.zeros((2 ** len(self.changes), leaves.size))
        for bit, item in enumerate(self.changes):
            fails = np.arange(len(found)) >> bit & 1 == 0
            found[fails] -= penalties[item] * leaves
        return found


@dataclass(frozen=True, eq=False)
class Charges:
    """What some constraints charge under some penalties; those of 0 are left out.

    Attributes
    ----------
    penalties : numpy.ndarray
        ``ρ`` of all items, shape ``(I,)``.
    rows, bits : tuple of int
        The items that cost anything.
    events : Events
        What the rows count.
    free : numpy.ndarray
        Which bits are heeded from the start, shape ``(len(bits),)``.
    """

    penalties: FloatArray
    rows: tuple[int, ...]
    bits: tuple[int, ...]
    events: Events
    free: NDArray[np.bool_]
    _of_core: dict[tuple[tuple[int, ...], tuple[int, ...]], _core.CountRows] = field(
        default_factory=dict
    )

    def of_core(self, base: PricedBase, bits: tuple[int, ...]) -> _core.CountRows:
        """Return the rows as the core reads them on the automaton of some bits."""
        key = bits, base.changes
        kept = self._of_core.get(key)
        if kept is None:
            kept = base.marked.rows(self.events, self.penalties[list(self.rows)])
            if len(self._of_core) >= BASES_KEPT:
                self._of_core.clear()  # another thread may be reading: it has what it asked for
            self._of_core[key] = kept
        return kept


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
        """The bits that cost a chain nothing: it remembers all that they ask about.

        Valid labels of a scheme, for example, or changes that are counted. Decoding heeds them from
        the start.
        """
        if not self.model.is_chain:
            return frozenset()
        hard_bits = [
            i
            for i, item in enumerate(self.items)
            if item.rule is not None and not item.rule.tests and i not in self.soft_items
        ]
        free = frozenset(i for i in hard_bits if self._is_free(self._items.language(i)))
        return free | self._counted_changes

    def change_tests(self, items: Sequence[int]) -> tuple[TokenTest, ...]:
        """Return what decides whether a change at a token is free, for rules that count them."""
        return tuple(Before(test) for i in items for test in self._items.tests_of(i))

    @cached_property
    def _counted_changes(self) -> frozenset[int]:
        """Soft rules that count changes, as far as a chain can charge for them token by token."""
        found = [i for i in self.soft_items if isinstance(self.items[i].rule, PerToken)]
        return frozenset(found if self.model.is_chain and len(found) <= MOST_CHANGES else ())

    def _is_free(self, language: Automaton) -> bool:
        n_labels = self.model.n_labels
        n_states, n_arcs = chain_product_size(n_labels, language)
        return n_states <= n_labels + 1 and n_arcs <= self.decoding_budget

    def priced_base(self, bits: tuple[int, ...], *, by_class: bool = True) -> PricedBase:
        """Return the model times some bits, marked, from memory where possible.

        Parameters
        ----------
        bits
            The items.
        by_class
            Whether a chain may charge for changes by the class of a token.
        """
        key = bits, by_class
        kept = self._bases.get(key)
        if kept is None:
            changes = tuple(i for i in bits if i in self._counted_changes)
            others = tuple(i for i in bits if i not in changes)
            # Classes of tokens are one thing or the other: guards, or what a change costs.
            if not by_class or any(self._items.tests_of(i) for i in others):
                changes, others = (), bits
            if others:
                built = self.item_product(others, 0)  # no bit depends on the length
                marked = MarkedAutomaton.mark(built.automaton, self.row_events)
                kept = PricedBase(marked, built.tests, built, changes)
            else:
                marked = MarkedAutomaton.mark(self.model, self.row_events)
                kept = PricedBase(marked, changes=changes)
            self._bases[key] = kept
            if len(self._bases) > BASES_KEPT:
                self._bases.popitem(last=False)
        return kept

    def charges(self, constraints: Sequence[int] | None = None) -> Charges:
        """Return what some constraints charge, from memory where possible. Default: all.

        Raises
        ------
        RuleError
            Where a penalty is yet to be learned.
        """
        key = None if constraints is None else tuple(constraints), self.penalties.tobytes()
        kept = self._charges.get(key)
        if kept is None:
            self.check_penalties()
            everything = range(len(self.constraints))
            penalties = self.item_penalties
            items = self.items_of(everything if constraints is None else constraints)
            costly = [i for i in items if penalties[i] > 0]
            rows = tuple(i for i in costly if self.items[i].row is not None)
            bits = tuple(i for i in costly if self.items[i].row is None)
            free = np.array([i in self.free_items for i in bits], dtype=bool)
            events = self.row_events.take(np.searchsorted(self.row_items, rows))
            if len(self._charges) >= CHARGES_KEPT:
                self._charges.clear()
            kept = Charges(penalties, rows, bits, events, free)
            self._charges[key] = kept
        return kept

    @cached_property
    def _charges(self) -> dict[tuple[tuple[int, ...] | None, bytes], Charges]:
        return {}

    @cached_property
    def _bases(self) -> OrderedDict[tuple[tuple[int, ...], bool], PricedBase]:
        return OrderedDict()
