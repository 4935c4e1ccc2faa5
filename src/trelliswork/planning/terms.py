"""Items compiled one by one: what rows count, the languages of bits, and violation automata."""

from __future__ import annotations

from threading import RLock
from typing import TYPE_CHECKING

import numpy as np

from trelliswork.automata.product_size import chain_product_size
from trelliswork.constraints.per_token import PerToken, change_counter, count_changes
from trelliswork.planning.counting_automata import (
    Degrees,
    bit_degrees,
    round_length,
    row_degrees,
    row_language,
)
from trelliswork.planning.events import Events
from trelliswork.planning.token_charges import count_broken

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from trelliswork._typing import IntArray
    from trelliswork.automata.automaton import Automaton
    from trelliswork.constraints import TokenTest
    from trelliswork.planning.evidence import Evidence
    from trelliswork.planning.products import ProductCompiler
    from trelliswork.planning.terms import Item


__all__ = ["ItemParts"]


class ItemParts:
    """The automata of items, by their indices; each is built once.

    Parameters
    ----------
    items
        All items.
    is_soft
        Which of them are soft, shape ``(I,)``.
    compiler
        Compiles whole constraints.

    Attributes
    ----------
    rows : tuple of int
        The items that are rows, ``R`` of them.
    events : Events
        What they count.
    counted : frozenset of int
        Those whose automata depend on the length of a sequence, as letters add to them and take
        away.
    """

    def __init__(
        self, items: Sequence[Item], is_soft: Sequence[bool], compiler: ProductCompiler
    ) -> None:
        self.items = items
        self._is_soft = is_soft
        self._compiler = compiler
        self._lock = RLock()  # a tagger may decode on several threads
        self._languages: dict[int, Automaton] = {}
        self._degrees: dict[tuple[int, int], Degrees] = {}
        rows = [i for i, item in enumerate(items) if item.row is not None]
        self.rows = tuple(rows)
        own = [item.row for item in items if item.row is not None]
        self.events = Events.of_rows(own, compiler.labels, compiler.segmentation)
        added = self.events.added
        if compiler.segmentation is not None:
            # Whole rules are compiled over the labels, some of which no segment may have.
            added = Events.of_rows(own, compiler.labels).added
        mixed = np.flatnonzero((added > 0).any(axis=1) & (added < 0).any(axis=1))
        self.counted = frozenset(rows[place] for place in mixed.tolist())

    def table(self, index: int) -> IntArray:
        """Return what letters add to a row after the letter before them, ``(L + 1, L)``."""
        return self.events.row_table(self.rows.index(index))

    def violations(
        self, tags: NDArray[np.int32], evidence: Evidence, chosen: Sequence[int]
    ) -> IntArray:
        """Return the violations of items by a batch of labellings, shape ``(B, I)``.

        Parameters
        ----------
        tags
            Tags of all tokens, shape ``(N,)``; labels in a chain.
        evidence
            What the constraints see of the batch.
        chosen
            The items to look at; others may be 0.
        """
        found = np.zeros((evidence.offsets.size - 1, len(self.items)), dtype=np.int64)
        if not set(self.rows).isdisjoint(chosen):
            letters, offsets = self._compiler.letters(tags, evidence.offsets)
            found[:, self.rows] = np.maximum(0, self.events.excesses(letters, offsets))
        for i in chosen:
            rule = self.items[i].rule
            if isinstance(rule, PerToken) and self._compiler.segmentation is None:
                found[:, i] = self._count(rule, tags, evidence)
            elif rule is not None:
                language, tests = self.language(i), self.tests_of(i)
                found[:, i] = ~self._compiler.accepts(language, tests, tags, evidence)
        return found

    def _count(self, rule: PerToken, tags: NDArray[np.int32], evidence: Evidence) -> IntArray:
        if not rule.counts_changes:
            return count_broken(rule, tags, evidence)
        passes = evidence.classes(rule.tests)
        assert passes is not None, "it has a test"
        return count_changes(self._compiler.labels, tags, passes.astype(bool), evidence.offsets)

    def chain_size(self, index: int, length: int) -> tuple[int, int]:
        """Return the states and arcs of a chain times one item; see `product`."""
        if self._is_soft[index]:
            factor = self.degrees_of(index, round_length(length)).automaton
        else:
            factor = self.language(index, round_length(length))
        return chain_product_size(self._compiler.model.n_labels, factor.trim())

    def _row_bound(self, index: int) -> int:
        row = self.items[index].row
        assert row is not None, "asked of rows only"
        return row.bound

    def tests_of(self, index: int) -> tuple[TokenTest, ...]:
        """Return the token tests that an item reads."""
        rule = self.items[index].rule
        return () if rule is None else self._compiler.tests_of(rule)

    def language(self, index: int, length: int = 0) -> Automaton:
        """Return the labellings that satisfy an item, for a row those of up to `length`."""
        rule = self.items[index].rule
        if rule is None:
            bound, most = self._row_bound(index), self._compiler.max_states
            return row_language(self.table(index), bound, length, most)
        with self._lock:
            if index not in self._languages:
                self._languages[index] = self._compiler.compile(rule)
            return self._languages[index]

    def degrees_of(self, index: int, length: int) -> Degrees:
        """Return the violation automaton of an item, for sequences of up to a rounded length."""
        key = index, length if index in self.counted else 0
        with self._lock:
            if key not in self._degrees:
                n_letters, most = self._compiler.model.n_labels, self._compiler.max_states
                rule = self.items[index].rule
                counts = isinstance(rule, PerToken) and rule.counts_changes
                if counts and self._compiler.segmentation is None:
                    made = Degrees.counting(*change_counter(self._compiler.labels))
                elif rule is not None:
                    made = bit_degrees(self.language(index), n_letters, most)
                else:
                    bound = self._row_bound(index)
                    made = row_degrees(self.table(index), bound, length, most)
                self._degrees[key] = made
            return self._degrees[key]
