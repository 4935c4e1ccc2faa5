"""Marked automata and charges of rules, for decoding with prices.

Rows are not multiplied into an automaton: a solver prices what they count. Bits are, and each arc
of their product with the model is marked with the event that rows count there.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from trelliswork.automata.product_size import chain_product_size
from trelliswork.constraints.per_token import PerToken
from trelliswork.constraints.token_tests import Before
from trelliswork.planning.marked_automaton import MarkedAutomaton
from trelliswork.planning.marked_product import MarkedProduct

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trelliswork import _core
    from trelliswork._typing import BoolArray, FloatArray
    from trelliswork.automata.automaton import Automaton
    from trelliswork.constraints import TokenTest
    from trelliswork.planning.costs import Costs
    from trelliswork.planning.events import Events
    from trelliswork.planning.terms import Terms


__all__ = ["Charges", "Pricing"]

PRODUCTS_KEPT = 256
CHARGES_KEPT = 16
MAX_CHANGES = 3  # rules that count changes: each doubles the classes of tokens


@dataclass(frozen=True, eq=False)
class Charges:
    """The charges of some rules under some penalties; those of 0 are left out.

    Attributes
    ----------
    penalties : numpy.ndarray
        ``ρ`` of all terms, shape ``(I,)``.
    rows, bits : tuple of int
        The terms that cost anything.
    events : Events
        What the rows count.
    free : numpy.ndarray
        Which bits are in the automaton from the start, shape ``(len(bits),)``.
    """

    penalties: FloatArray
    rows: tuple[int, ...]
    bits: tuple[int, ...]
    events: Events
    free: BoolArray
    _for_core: dict[tuple[tuple[int, ...], tuple[int, ...]], _core.CountRows] = field(
        default_factory=dict
    )

    def for_core(self, product: MarkedProduct, bits: tuple[int, ...]) -> _core.CountRows:
        """Return the rows as the core reads them on the marked product of some bits."""
        key = bits, product.changes
        kept = self._for_core.get(key)
        if kept is None:
            kept = product.marked.rows(self.events, self.penalties[list(self.rows)])
            if len(self._for_core) >= PRODUCTS_KEPT:
                self._for_core.clear()  # safe beside other threads: each holds what it has read
            self._for_core[key] = kept
        return kept


class Pricing:
    """Marked products of the model with bits, and the charges of rules.

    Parameters
    ----------
    terms
        The terms of all rules.
    """

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._model = terms.model
        self._marked: OrderedDict[tuple[tuple[int, ...], bool], MarkedProduct] = OrderedDict()
        self._charges: dict[tuple[tuple[int, ...] | None, bytes], Charges] = {}

    @cached_property
    def free(self) -> frozenset[int]:
        """The bits that add no state to a chain: they depend on the last two labels only.

        Valid labels of a scheme, for example, or changes that are counted. They are in the
        automaton from the start.
        """
        if not self._model.is_chain:
            return frozenset()
        hard_bits = [
            i
            for i, term in enumerate(self._terms)
            if term.rule is not None and not term.rule.tests and i not in self._terms.soft
        ]
        free = frozenset(i for i in hard_bits if self._is_free(self._terms.language(i)))
        return free | self._counted_changes

    def change_tests(self, bits: Sequence[int]) -> tuple[TokenTest, ...]:
        """Return the tests that make a change at a token free, for rules that count changes."""
        return tuple(Before(test) for i in bits for test in self._terms.tests_of(i))

    @cached_property
    def _counted_changes(self) -> frozenset[int]:
        """Soft rules that count changes, as far as a chain can charge for them token by token."""
        found = [i for i in self._terms.soft if isinstance(self._terms[i].rule, PerToken)]
        return frozenset(found if self._model.is_chain and len(found) <= MAX_CHANGES else ())

    def _is_free(self, language: Automaton) -> bool:
        n_labels = self._model.n_labels
        n_states, n_arcs = chain_product_size(n_labels, language)
        return n_states <= n_labels + 1 and n_arcs <= self._terms.budget

    def marked(self, bits: tuple[int, ...], *, by_class: bool = True) -> MarkedProduct:
        """Return the model times some bits, marked, from memory where possible.

        Parameters
        ----------
        bits
            The terms.
        by_class
            Whether a chain may charge for changes by the class of a token.
        """
        key = bits, by_class
        kept = self._marked.get(key)
        if kept is None:
            changes = tuple(i for i in bits if i in self._counted_changes)
            others = tuple(i for i in bits if i not in changes)
            # Classes of tokens serve either as guards or for charges of changes, not both.
            if not by_class or any(self._terms.tests_of(i) for i in others):
                changes, others = (), bits
            if others:
                built = self._terms.product(others, 0)  # no bit depends on the length
                marked = MarkedAutomaton.mark(built.automaton, self._terms.events)
                kept = MarkedProduct(marked, built.tests, built, changes)
            else:
                marked = MarkedAutomaton.mark(self._model, self._terms.events)
                kept = MarkedProduct(marked, changes=changes)
            self._marked[key] = kept
            if len(self._marked) > PRODUCTS_KEPT:
                self._marked.popitem(last=False)
        return kept

    def charges(self, costs: Costs, constraints: Sequence[int] | None = None) -> Charges:
        """Return the charges of some rules, from memory where possible. Default: all.

        Raises
        ------
        RuleError
            If a penalty is not learned yet.
        """
        key = None if constraints is None else tuple(constraints), costs.key
        kept = self._charges.get(key)
        if kept is None:
            costs.check()
            penalties = costs.of_terms
            terms = range(len(self._terms)) if constraints is None else self._terms.of(constraints)
            costly = [i for i in terms if penalties[i] > 0]
            rows = tuple(i for i in costly if self._terms[i].row is not None)
            bits = tuple(i for i in costly if self._terms[i].row is None)
            free = np.array([i in self.free for i in bits], dtype=bool)
            events = self._terms.events.take(np.searchsorted(self._terms.rows, rows))
            if len(self._charges) >= CHARGES_KEPT:
                self._charges.clear()
            kept = Charges(penalties, rows, bits, events, free)
            self._charges[key] = kept
        return kept
