"""The terms of a plan: their violations, their automata, and the model times some of them.

``I`` terms, ``R`` rows among them, ``B`` sequences, ``N`` tokens, ``L`` letters of the model.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING

import numpy as np

from trelliswork.automata.product_size import chain_product_size
from trelliswork.constraints.monitors import MAX_TESTS, lift, union_of_tests
from trelliswork.constraints.per_token import PerToken, change_counter, count_changes
from trelliswork.errors import TooLargeError
from trelliswork.planning.cache import load_automaton, store_automaton
from trelliswork.planning.events import Events
from trelliswork.planning.evidence import Evidence
from trelliswork.planning.products import SECONDS_WORTH_A_FILE, keep, too_large
from trelliswork.planning.rule_product import RuleProduct
from trelliswork.planning.term_products import ProductPart, multiply
from trelliswork.planning.token_charges import count_broken
from trelliswork.planning.violation_automata import (
    ViolationAutomaton,
    bit_automaton,
    round_length,
    row_automaton,
    row_language,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from trelliswork._typing import IdArray, IntArray
    from trelliswork.automata.automaton import Automaton
    from trelliswork.constraints import TokenTest
    from trelliswork.planning.products import RuleCompiler
    from trelliswork.planning.splitting import Term, TokenCharge


__all__ = ["Terms"]

COMPACT_ARCS = 20_000

Indices = tuple[int, ...]


class Terms:
    """The terms of the violation sum, by their indices; their automata and products are kept.

    Parameters
    ----------
    terms
        All terms.
    token_charges
        The token charges of soft rules, which are no terms.
    compiler
        Compiles whole rules.
    budget
        Maximum number of arcs of a product, unless told otherwise.

    Attributes
    ----------
    rows, bits : tuple of int
        The terms that are rows, and those that are bits.
    soft : tuple of int
        The terms of soft rules.
    events : Events
        What the rows count, in the order of `rows`.
    length_dependent : frozenset of int
        The rows whose automata depend on the length of a sequence: those with coefficients of
        both signs.
    """

    def __init__(
        self,
        terms: Sequence[Term],
        token_charges: tuple[TokenCharge, ...],
        compiler: RuleCompiler,
        budget: int,
    ) -> None:
        self.token_charges = token_charges
        self.budget = budget
        self.model = compiler.model
        self._terms = tuple(terms)
        self._compiler = compiler
        self._lock = RLock()  # a tagger may decode on several threads
        self._languages: dict[int, Automaton] = {}
        self._automata: dict[tuple[int, int], ViolationAutomaton] = {}
        self._products: OrderedDict[tuple[Indices, int, bool], RuleProduct] = OrderedDict()
        self._refused: dict[tuple[Indices, int, bool], int] = {}  # largest budget found too small
        self._is_soft = [compiler.constraints[term.constraint].is_soft for term in terms]
        self.soft = tuple(i for i, is_soft in enumerate(self._is_soft) if is_soft)
        self.rows = tuple(i for i, term in enumerate(terms) if term.row is not None)
        self.bits = tuple(i for i, term in enumerate(terms) if term.row is None)
        own = [term.row for term in terms if term.row is not None]
        self.events = Events.of_rows(own, compiler.labels, compiler.segmentation)
        added = self.events.added
        if compiler.segmentation is not None:
            # Whole rules are compiled over the labels, some of which no segment may have.
            added = Events.of_rows(own, compiler.labels).added
        mixed = np.flatnonzero((added > 0).any(axis=1) & (added < 0).any(axis=1))
        self.length_dependent = frozenset(self.rows[place] for place in mixed.tolist())

    def __len__(self) -> int:
        return len(self._terms)

    def __iter__(self) -> Iterator[Term]:
        return iter(self._terms)

    def __getitem__(self, index: int) -> Term:
        return self._terms[index]

    def of(self, constraints: Iterable[int]) -> Indices:
        """Return the terms of some rules."""
        chosen = set(constraints)
        return tuple(i for i, term in enumerate(self._terms) if term.constraint in chosen)

    def depend_on_length(self, terms: Iterable[int]) -> bool:
        """Return whether the product of some terms depends on the lengths of sequences."""
        return not self.length_dependent.isdisjoint(terms)

    def table(self, index: int) -> IntArray:
        """Return the increments of a row by pairs of letters, shape ``(L + 1, L)``."""
        return self.events.row_table(self.rows.index(index))

    def tests_of(self, index: int) -> tuple[TokenTest, ...]:
        """Return the token tests that the automaton of a term reads."""
        rule = self._terms[index].rule
        return () if rule is None else self._compiler.tests_of(rule)

    def violations(
        self, tags: IdArray, evidence: Evidence, terms: Sequence[int] | None = None
    ) -> IntArray:
        """Return the violations of terms by a batch of labellings, ``v_i(y)``, shape ``(B, I)``.

        Parameters
        ----------
        tags
            Tags of all tokens, shape ``(N,)``; labels in a chain.
        evidence
            The answers of token tests on the batch.
        terms
            The terms to look at; others may be 0. Default: all.
        """
        chosen = range(len(self)) if terms is None else terms
        found = np.zeros((evidence.offsets.size - 1, len(self)), dtype=np.int64)
        if not set(self.rows).isdisjoint(chosen):
            letters, offsets = self._compiler.letters(tags, evidence.offsets)
            found[:, self.rows] = np.maximum(0, self.events.excesses(letters, offsets))
        for i in chosen:
            rule = self._terms[i].rule
            if isinstance(rule, PerToken) and self._compiler.segmentation is None:
                found[:, i] = self._count(rule, tags, evidence)
            elif rule is not None:
                language, tests = self.language(i), self.tests_of(i)
                found[:, i] = ~self._compiler.accepts(language, tests, tags, evidence)
        return found

    @cached_property
    def empty_violations(self) -> IntArray:
        """``v_i(ε)`` of all terms, shape ``(I,)``."""
        nothing = Evidence(self._compiler.labels, [[]], np.zeros(2, dtype=np.int64))
        return self.violations(np.zeros(0, dtype=np.int32), nothing).reshape(-1)

    def _count(self, rule: PerToken, tags: IdArray, evidence: Evidence) -> IntArray:
        if not rule.counts_changes:
            return count_broken(rule, tags, evidence)
        passes = evidence.classes(rule.tests)
        assert passes is not None, "it has a test"
        return count_changes(self._compiler.labels, tags, passes.astype(bool), evidence.offsets)

    def language(self, index: int, length: int = 0) -> Automaton:
        """Return the labellings that satisfy a term, for a row those of up to `length`."""
        rule = self._terms[index].rule
        if rule is None:
            bound, most = self._row_bound(index), self._compiler.max_states
            return row_language(self.table(index), bound, length, most)
        with self._lock:
            if index not in self._languages:
                self._languages[index] = self._compiler.compile(rule)
            return self._languages[index]

    def violation_automaton(self, index: int, length: int) -> ViolationAutomaton:
        """Return the violation automaton of a term, for sequences of up to some length."""
        key = index, round_length(length) if index in self.length_dependent else 0
        with self._lock:
            if key not in self._automata:
                n_letters, most = self.model.n_labels, self._compiler.max_states
                rule = self._terms[index].rule
                counts = isinstance(rule, PerToken) and rule.counts_changes
                if counts and self._compiler.segmentation is None:
                    counter = change_counter(self._compiler.labels)
                    made = ViolationAutomaton.counting(*counter)
                elif rule is not None:
                    made = bit_automaton(self.language(index), n_letters, most)
                else:
                    bound = self._row_bound(index)
                    made = row_automaton(self.table(index), bound, key[1], most)
                self._automata[key] = made
            return self._automata[key]

    def _row_bound(self, index: int) -> int:
        row = self._terms[index].row
        assert row is not None, "asked of rows only"
        return row.bound

    def size(self, terms: Sequence[int], length: int) -> tuple[int, int]:
        """Return the states and arcs of the model times some terms, as `product` has them."""
        if len(terms) == 1 and self.model.is_chain:
            (index,) = terms
            if self._is_soft[index]:
                factor = self.violation_automaton(index, length).automaton
            else:
                factor = self.language(index, round_length(length))
            return chain_product_size(self.model.n_labels, factor.trim())
        made = self.product(terms, length).automaton
        return made.n_states, made.n_arcs

    @property
    def compact_budget(self) -> int:
        """Maximum number of arcs at which a product is too small for fewer terms to save time."""
        return min(max(COMPACT_ARCS, 4 * self.model.n_arcs), self.budget)

    def are_compact(self, terms: Iterable[int], length: int) -> bool:
        """Return whether a product is so small that products of fewer terms save nothing."""
        try:
            self.product(terms, length, self.compact_budget)
        except TooLargeError:
            return False
        return True

    def product(
        self,
        terms: Iterable[int],
        length: int,
        budget: int | None = None,
        *,
        with_patterns: bool = True,
    ) -> RuleProduct:
        """Return the model times the automata of some terms, from memory where possible.

        The patterns of violations follow those of the model, see
        `trelliswork.planning.term_products`. With the weights of `Costs.weights`, the score of a
        path is ``G(y) = score(y) − Σ_i ρ_i (v_i(y) − v_i(ε))`` over the soft terms in the product,
        and a labelling that breaks a hard one has no path.

        Parameters
        ----------
        terms
            The terms.
        length
            Maximum number of tokens of a sequence; matters to rows with coefficients of both
            signs, and is rounded up.
        budget
            Maximum number of arcs. Default: that of the plan for decoding.
        with_patterns
            Whether to add the patterns of violations; without soft terms they never fire.

        Raises
        ------
        TooLargeError
            If it has more arcs than `budget`, or one of the terms more states than allowed.
        """
        chosen = tuple(sorted(set(terms)))
        most = self.budget if budget is None else budget
        length = round_length(length) if self.length_dependent.intersection(chosen) else 0
        key = chosen, length, with_patterns
        with self._lock:
            kept = self._products.get(key)
            if kept is None:
                if most <= self._refused.get(key, -1):
                    raise self._too_large(chosen, most)
                try:
                    kept = self._load_or_build(chosen, length, most, with_patterns)
                except TooLargeError:
                    self._refused[key] = most
                    raise
                keep(self._products, key, kept)
            self._products.move_to_end(key)
        if kept.automaton.n_arcs > most:
            raise self._too_large(chosen, most)
        return kept

    def _load_or_build(
        self, chosen: Indices, length: int, budget: int, with_patterns: bool
    ) -> RuleProduct:
        tests = union_of_tests(map(self.tests_of, chosen))
        if len(tests) > MAX_TESTS:
            raise self._too_large(chosen, budget)
        name = self._compiler.fingerprint(
            [self._text(i) for i in chosen],
            [[i, self._is_soft[i]] for i in chosen],
            len(self) if with_patterns else 0,
            length,
        )
        empty = np.zeros(len(self), dtype=np.int64)
        soft = [i for i in chosen if self._is_soft[i]]
        empty[soft] = [self.violation_automaton(i, length).empty_violation for i in soft]
        stored = load_automaton(name)
        if stored is None:
            begun = time.perf_counter()
            try:
                stored = multiply(
                    self.model,
                    self._parts(chosen, tests, length),
                    2 ** len(tests),
                    budget,
                    2 * len(self) if with_patterns else 0,
                )
            except TooLargeError as error:
                raise self._too_large(chosen, budget) from error
            if time.perf_counter() - begun >= SECONDS_WORTH_A_FILE:
                store_automaton(name, stored)
        return RuleProduct(stored, tests, empty if with_patterns else None)

    def _text(self, index: int) -> str:
        """Return a term as the names of cached products have it."""
        # Part of the names of files on disk: other words would make all of them useless.
        term = self._terms[index]
        return f"Item({term.constraint}, {term.row if term.rule is None else term.rule!r})"

    def _parts(
        self, chosen: Indices, tests: tuple[TokenTest, ...], length: int
    ) -> Iterator[ProductPart]:
        """Yield the automata of terms: hard rules all terms of which are chosen as one."""
        n_letters = self.model.n_labels
        whole = self._whole_rules(chosen)
        if whole:
            together = self._compiler.intersection(whole)
            yield ProductPart(lift(together, self._compiler.tests(whole), tests, n_letters))
        for i in chosen:
            if self._terms[i].constraint in whole:
                continue
            counter = self.violation_automaton(i, length) if self._is_soft[i] else None
            own = self.language(i, length) if counter is None else counter.automaton
            own = lift(own, self.tests_of(i), tests, n_letters)
            yield ProductPart(own) if counter is None else ProductPart(own, i, counter)

    def _whole_rules(self, chosen: Indices) -> Indices:
        """Return the hard rules all terms of which are chosen, and that need no counter."""
        terms_of: dict[int, list[int]] = {}
        for i, term in enumerate(self._terms):
            terms_of.setdefault(term.constraint, []).append(i)
        return tuple(
            constraint
            for constraint, own in terms_of.items()
            if set(own) <= set(chosen)
            and not self.length_dependent.intersection(own)
            and not any(self._is_soft[i] for i in own)
        )

    def _too_large(self, chosen: Indices, budget: int) -> TooLargeError:
        rules = dict.fromkeys(self._terms[i].constraint for i in chosen)
        n_tests = len(union_of_tests(map(self.tests_of, chosen)))
        return too_large([self._compiler.constraints[c] for c in rules], n_tests, budget)
