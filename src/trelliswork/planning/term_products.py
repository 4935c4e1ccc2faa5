"""The model times the items of constraints: hard ones forbid, soft ones count their violations.

In a product with ``I`` items, pattern ``P + 2 i`` fires once for every unit by which an arc raises
the violation of soft item ``i``, and ``P + 2 i + 1`` once for every unit by which it lowers it;
``P`` are the patterns of the model. With weights ``−ρ_i`` and ``ρ_i`` of these, see
`trelliswork.planning.counting_automata`, a path scores

    score(y) − Σ_{soft i in the product} ρ_i (v_i(y) − v_i(ε)).
"""

from __future__ import annotations

import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from trelliswork.automata.automaton import Automaton
from trelliswork.automata.product import Pairs, assemble
from trelliswork.constraints.monitors import MAX_TESTS, lift, union_of_tests
from trelliswork.errors import TooLargeError
from trelliswork.planning.cache import load_automaton, store_automaton
from trelliswork.planning.counting_automata import round_length
from trelliswork.planning.item_steps import Steps, contexts_with, fired_with
from trelliswork.planning.products import ARCS_KEPT, SECONDS_WORTH_A_FILE, too_large
from trelliswork.planning.term_compiler import ItemParts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trelliswork._typing import IntArray
    from trelliswork.constraints import TokenTest
    from trelliswork.planning.counting_automata import Degrees
    from trelliswork.planning.products import ProductCompiler
    from trelliswork.planning.terms import Item


__all__ = ["ItemCompiler", "ItemProduct"]

Indices = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class ItemProduct:
    """The model automaton times the automata of some items.

    Attributes
    ----------
    automaton : Automaton
        The product. Its patterns are the ``P`` of the model and two an item of the plan, see
        `trelliswork.planning.term_products`; guards tell token classes apart.
    tests : tuple of TokenTest
        Bit ``i`` of a token's class is the outcome of ``tests[i]``.
    empty : numpy.ndarray
        ``v_i(ε)`` of the soft items in the product, 0 elsewhere, shape ``(I,)``.
    """

    automaton: Automaton
    tests: tuple[TokenTest, ...]
    empty: IntArray


class ItemCompiler(ItemParts):
    """Multiplies the model with items, by their indices; products are built once.

    The parameters are those of `ItemParts`.
    """

    def __init__(
        self, items: Sequence[Item], is_soft: Sequence[bool], compiler: ProductCompiler
    ) -> None:
        super().__init__(items, is_soft, compiler)
        self._products: OrderedDict[tuple[Indices, int, bool], ItemProduct] = OrderedDict()
        self._refused: dict[tuple[Indices, int, bool], int] = {}  # budgets that did not do

    def product(
        self, chosen: Indices, length: int, budget: int, *, marked: bool = True
    ) -> ItemProduct:
        """Return the model times some items, from memory where possible.

        Parameters
        ----------
        chosen
            The items, sorted.
        length
            Most tokens of a sequence; matters to rows with coefficients of both signs.
        budget
            Most arcs.
        marked
            Whether to add the patterns of violations; without soft items they never fire.

        Raises
        ------
        TooLargeError
            Where it has more arcs than `budget`, or one of the items more states than allowed.
        """
        length = round_length(length) if self.counted.intersection(chosen) else 0
        key = chosen, length, marked
        with self._lock:
            kept = self._products.get(key)
            if kept is None:
                if budget <= self._refused.get(key, -1):
                    raise self._too_large(chosen, budget)
                try:
                    kept = self._load_or_build(chosen, length, budget, marked)
                except TooLargeError:
                    self._refused[key] = budget
                    raise
                self._products[key] = kept
                total = sum(p.automaton.n_arcs for p in self._products.values())
                while total > ARCS_KEPT and len(self._products) > 1:
                    total -= self._products.popitem(last=False)[1].automaton.n_arcs
            self._products.move_to_end(key)
        if kept.automaton.n_arcs > budget:
            raise self._too_large(chosen, budget)
        return kept

    def _load_or_build(
        self, chosen: Indices, length: int, budget: int, marked: bool
    ) -> ItemProduct:
        tests = union_of_tests(map(self.tests_of, chosen))
        if len(tests) > MAX_TESTS:
            raise self._too_large(chosen, budget)
        name = self._compiler.fingerprint(
            [repr(self.items[i]) for i in chosen],
            [[i, bool(self._is_soft[i])] for i in chosen],
            len(self.items) if marked else 0,
            length,
        )
        empty = np.zeros(len(self.items), dtype=np.int64)
        soft = [i for i in chosen if self._is_soft[i]]
        empty[soft] = [self.degrees_of(i, length).empty for i in soft]
        stored = load_automaton(name)
        if stored is None:
            begun = time.perf_counter()
            stored = self._build(chosen, tests, length, budget, marked)
            if time.perf_counter() - begun >= SECONDS_WORTH_A_FILE:
                store_automaton(name, stored)
        return ItemProduct(stored, tests, empty)

    def _build(
        self,
        chosen: Indices,
        tests: tuple[TokenTest, ...],
        length: int,
        budget: int,
        marked: bool,
    ) -> Automaton:
        model, n_classes = self._compiler.model, 2 ** len(tests)
        n_more = 2 * len(self.items) if marked else 0
        try:
            joint = self._joint(chosen, tests, length, budget * n_classes)
            if joint is None:
                return Automaton._from_arrays(
                    model._arrays()._replace(n_patterns=model.n_patterns + n_more)
                )
            pairs = Pairs.of(model, joint.language, n_classes, budget)
            steps = [
                (i, Steps(degrees, states[pairs.language_states]))
                for i, (degrees, states) in joint.states.items()
            ]
            fired = fired_with(model, pairs, steps)
        except TooLargeError as error:
            raise self._too_large(chosen, budget) from error
        return assemble(
            model,
            joint.language,
            pairs,
            n_classes,
            fired,
            contexts_with(model, pairs, [own for _, own in steps]),
            n_more_patterns=n_more,
        )

    def _joint(
        self, chosen: Indices, tests: tuple[TokenTest, ...], length: int, max_arcs: int
    ) -> _Joint | None:
        """Return the language of the hard items times the violation automata of the soft ones."""
        n_letters = self._compiler.model.n_labels
        whole = self._whole_constraints(chosen)
        joint = None
        if whole:
            together = self._compiler.intersection(whole)
            lifted = lift(together, self._compiler.tests(whole), tests, n_letters)
            joint = _Joint(lifted, {})
        for i in chosen:
            if self.items[i].constraint in whole:
                continue
            degrees = self.degrees_of(i, length) if self._is_soft[i] else None
            factor = self.language(i, length) if degrees is None else degrees.automaton
            factor = lift(factor, self.tests_of(i), tests, n_letters)
            states = np.arange(factor.n_states)
            if joint is None:
                joint = _Joint(factor, {} if degrees is None else {i: (degrees, states)})
                continue
            pairs = Pairs.of(joint.language, factor, 1, max_arcs)
            known = {
                j: (earlier, own[pairs.model_states]) for j, (earlier, own) in joint.states.items()
            }
            if degrees is not None:
                known[i] = degrees, states[pairs.language_states]
            initial, final = pairs.borders(joint.language, factor)
            language = Automaton(
                initial.size,
                factor.n_labels,
                pairs.source,
                pairs.label,
                pairs.target,
                initial=initial,
                final=final,
            )
            joint = _Joint(language, known)
        return joint

    def _whole_constraints(self, chosen: Indices) -> Indices:
        """Return the hard constraints all items of which are chosen, and that need no counter."""
        own: dict[int, list[int]] = {}
        for i, item in enumerate(self.items):
            own.setdefault(item.constraint, []).append(i)
        return tuple(
            constraint
            for constraint, parts in own.items()
            if set(parts) <= set(chosen)
            and not self.counted.intersection(parts)
            and not any(self._is_soft[i] for i in parts)
        )

    def _too_large(self, chosen: Indices, budget: int) -> TooLargeError:
        constraints = dict.fromkeys(self.items[i].constraint for i in chosen)
        rules = [self._compiler.constraints[c] for c in constraints]
        return too_large(rules, len(union_of_tests(map(self.tests_of, chosen))), budget)


@dataclass(frozen=True, eq=False)
class _Joint:
    """A language, and for every soft item in it the state of its violation automaton."""

    language: Automaton
    states: dict[int, tuple[Degrees, IntArray]]
