"""Products of a model with subsets of hard rules, each built once.

An intersection is built constraint by constraint and the last ones are remembered, so that trying
one constraint after the other costs one step each. Products stay in memory, the most recent ones,
and those that took long also on disk; see `trelliswork.planning.cache`.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from trelliswork._utils.tables import join_names, shorten
from trelliswork.automata.algebra import MAX_STATES
from trelliswork.automata.product import product
from trelliswork.automata.product_size import chain_product_size, smallest_for
from trelliswork.constraints.monitors import JOIN_TESTS, MAX_TESTS, lift, union_of_tests
from trelliswork.constraints.monitors_on_segments import compile_on_segments, tests_on_segments
from trelliswork.errors import TooLargeError
from trelliswork.planning.cache import (
    fingerprint,
    load_arrays,
    load_automaton,
    store_arrays,
    store_automaton,
)
from trelliswork.planning.rule_product import RuleProduct

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from trelliswork._typing import BoolArray, IdArray, IntArray
    from trelliswork.automata.automaton import Automaton
    from trelliswork.constraints import Constraint, TokenTest
    from trelliswork.labels.label_set import LabelSet
    from trelliswork.labels.segmentation import Segmentation
    from trelliswork.planning.evidence import Evidence

__all__ = ["MAX_STATES", "RuleCompiler", "keep", "too_large"]

ARCS_KEPT = 5_000_000  # of all products in memory, the last one used aside
INTERSECTIONS_KEPT = 2  # one that fits, and the one that is tried next
SECONDS_WORTH_A_FILE = 0.2  # a product that is built faster is not kept on disk

Indices = tuple[int, ...]
Key = TypeVar("Key")


class RuleCompiler:
    """Compiles hard rules, by their indices, and multiplies the model with them.

    Parameters
    ----------
    labels
        The token labels.
    constraints
        All constraints.
    model
        The automaton of the model, over ``L`` letters: labels, or those of a segmentation.
    max_states
        Maximum number of states of any intermediate automaton.
    segmentation
        How the labels are read as segments, in a semi-Markov model.
    """

    def __init__(
        self,
        labels: LabelSet,
        constraints: Sequence[Constraint],
        model: Automaton,
        max_states: int,
        segmentation: Segmentation | None = None,
    ) -> None:
        self.labels = labels
        self.constraints = constraints
        self.model = model
        self.max_states = max_states
        self.segmentation = segmentation
        self._languages: dict[int, Automaton] = {}
        self._products: OrderedDict[Indices, RuleProduct] = OrderedDict()
        self._intersections: OrderedDict[Indices, Automaton] = OrderedDict()
        self._lock = RLock()  # a tagger may decode on several threads

    def language(self, index: int) -> Automaton:
        """Return the automaton of one constraint, over ``L * 2**k`` letters."""
        with self._lock:
            if index not in self._languages:
                rule = self.constraints[index]
                self._languages[index] = smallest_for(self.model, self.compile(rule))
            return self._languages[index]

    def compile(self, rule: Constraint) -> Automaton:
        """Return an unambiguous automaton of a rule, over ``L * 2**k`` letters."""
        try:
            if self.segmentation is None:
                return rule.compile(self.labels, max_states=self.max_states)
            return compile_on_segments(rule, self.segmentation, self.max_states)
        except TooLargeError as error:
            raise TooLargeError(f"{shorten(repr(rule))}: {error}") from error

    def tests(self, indices: Indices) -> tuple[TokenTest, ...]:
        """Return the token tests that some constraints read, each once."""
        return union_of_tests(self.tests_of(self.constraints[i]) for i in indices)

    def tests_of(self, rule: Constraint) -> tuple[TokenTest, ...]:
        """Return the token tests that a rule reads."""
        return rule.tests if self.segmentation is None else tests_on_segments(rule)

    def accepts(
        self,
        language: Automaton,
        tests: Sequence[TokenTest],
        tags: IdArray,
        evidence: Evidence,
    ) -> BoolArray:
        """Return which labellings of a batch are in a language, shape ``(B,)``.

        Parameters
        ----------
        language
            The language.
        tests
            The token tests that it reads.
        tags
            Tags of all tokens, shape ``(N,)``; labels in a chain. One that begins is a letter.
        evidence
            The answers of token tests on the batch.
        """
        letters, offsets = self.letters(tags, evidence.offsets, evidence.classes(tests))
        return language.accepts_batch(letters, offsets)

    def letters(
        self,
        tags: IdArray,
        offsets: IntArray,
        classes: NDArray[np.uint8] | None = None,
    ) -> tuple[IdArray, IntArray]:
        """Return labellings as letters, one a segment, and where each sequence begins in them.

        Parameters
        ----------
        tags
            Tags of all tokens, shape ``(N,)``; labels in a chain. One that begins is a letter.
        offsets
            Sequence ``b`` is tokens ``offsets[b]`` to ``offsets[b + 1]``, shape ``(B + 1,)``.
        classes
            Class of each token, shape ``(N,)``: letters are then ``class * L + letter``.
        """
        n_letters = self.model.n_labels
        letters = tags if classes is None else classes.astype(np.int32) * n_letters + tags
        if self.segmentation is None:
            return letters, offsets
        begins = tags < n_letters
        return letters[begins], np.concatenate([[0], np.cumsum(begins)])[offsets]

    def size(self, index: int, budget: int) -> tuple[int, int]:
        """Return the states and arcs of the model times one constraint.

        Raises
        ------
        TooLargeError
            If the model is not a chain and the product has more arcs than `budget`.
        """
        if self.model.is_chain:
            return chain_product_size(self.model.n_labels, self.language(index))
        built = self.product((index,), budget).automaton
        return built.n_states, built.n_arcs

    def product(self, indices: Indices, budget: int) -> RuleProduct:
        """Return the model times the automata of some constraints.

        Raises
        ------
        TooLargeError
            If it has more arcs than `budget`.
        """
        if not indices:
            return RuleProduct(self.model)
        with self._lock:
            kept = self._products.get(indices)
            if kept is None:
                kept = self._load_or_build(indices, budget)
                keep(self._products, indices, kept)
            self._products.move_to_end(indices)
        if kept.automaton.n_arcs > budget:
            raise self._too_large(indices, budget)
        return kept

    def choose_rules(self, indices: Indices, budget: int) -> Indices:
        """Return the constraints whose product fits a budget, added greedily in order."""
        name = self.fingerprint(self._texts(indices), "fits", budget)
        stored = load_arrays(name)
        if stored is not None and _are_places(stored.get("places"), len(indices)):
            return tuple(indices[place] for place in stored["places"].tolist())
        begun = time.perf_counter()
        chosen: Indices = ()
        with self._lock:
            for i in indices:
                try:
                    self._check_size((*chosen, i), budget)
                except TooLargeError:
                    continue
                chosen = (*chosen, i)
        if time.perf_counter() - begun >= SECONDS_WORTH_A_FILE:
            # Places among `indices`, whose texts name the file: elsewhere they may be others.
            places = [indices.index(i) for i in chosen]
            store_arrays(name, {"places": np.array(places, dtype=np.int64)})
        return chosen

    def small_intersection(self, indices: Indices, budget: int) -> Automaton | None:
        """Return the language of some constraints together, where it is small.

        None where its product, or one on the way to it, has more arcs than `budget`.
        """
        try:
            with self._lock:
                for end in range(len(indices)):
                    self._check_size(indices[: end + 1], budget)
                return self.intersection(indices)
        except TooLargeError:
            return None

    def _load_or_build(self, indices: Indices, budget: int) -> RuleProduct:
        name = self.fingerprint(self._texts(indices))
        stored = load_automaton(name)
        if stored is not None:
            return RuleProduct(stored, self.tests(indices))
        begun = time.perf_counter()
        built = self._build(indices, budget)
        if time.perf_counter() - begun >= SECONDS_WORTH_A_FILE:
            store_automaton(name, built.automaton)
        return built

    def _texts(self, indices: Indices) -> list[str]:
        return [repr(self.constraints[i]) for i in indices]

    def _check_size(self, indices: Indices, budget: int) -> None:
        """Raise a `TooLargeError` where a product would have more arcs than a budget."""
        if not self.model.is_chain:
            self.product(indices, budget)
        elif self._chain_arcs(indices) > budget:
            raise self._too_large(indices, budget)

    def _chain_arcs(self, indices: Indices) -> int:
        return chain_product_size(self.model.n_labels, self.intersection(indices))[1]

    def _build(self, indices: Indices, budget: int) -> RuleProduct:
        tests = self.tests(indices)
        try:
            language = self.intersection(indices)
            if self.model.is_chain and self._chain_arcs(indices) > budget:
                raise self._too_large(indices, budget)
            found = product(self.model, language, n_classes=2 ** len(tests), max_arcs=budget)
        except TooLargeError as error:
            raise self._too_large(indices, budget) from error
        return RuleProduct(found.automaton, tests)

    def intersection(self, indices: Indices) -> Automaton:
        """Return the language of some constraints together, over the letters of all their tests."""
        if len(indices) == 1:
            return self.language(indices[0])
        if indices in self._intersections:
            self._intersections.move_to_end(indices)
            return self._intersections[indices]
        tests = self.tests(indices)
        if len(tests) > MAX_TESTS:
            raise self._too_large(indices, 0)
        *before, last = indices
        earlier, n_letters = tuple(before), self.model.n_labels
        own = self.tests_of(self.constraints[last])
        found = lift(self.intersection(earlier), self.tests(earlier), tests, n_letters)
        other = lift(self.language(last), own, tests, n_letters)
        found = smallest_for(self.model, found.intersect(other, max_states=self.max_states))
        self._intersections[indices] = found
        if len(self._intersections) > INTERSECTIONS_KEPT:
            self._intersections.popitem(last=False)
        return found

    def _too_large(self, indices: Indices, budget: int) -> TooLargeError:
        rules = [self.constraints[i] for i in indices]
        return too_large(rules, len(self.tests(indices)), budget)

    def fingerprint(self, rules: Sequence[str], *more: Any) -> str:
        """Return a name for a product of rules, given as text, and more."""
        from trelliswork import __version__

        parts = [__version__, self.labels.to_dict(), list(rules), self.max_states, *more]
        if self.segmentation is not None:
            parts.append(self.segmentation.settings())
        return fingerprint(parts, self.model)


def keep(products: OrderedDict[Key, RuleProduct], key: Key, product: RuleProduct) -> None:
    """Keep a product in memory, and forget the oldest ones beyond `ARCS_KEPT` arcs."""
    products[key] = product
    total = sum(kept.automaton.n_arcs for kept in products.values())
    while total > ARCS_KEPT and len(products) > 1:
        total -= products.popitem(last=False)[1].automaton.n_arcs


def too_large(rules: Sequence[Constraint], n_tests: int, budget: int) -> TooLargeError:
    """Return the error of a product of some rules that passes a budget, or has too many tests."""
    names = join_names([shorten(repr(rule)) for rule in rules])
    if n_tests > MAX_TESTS:
        return TooLargeError(
            f"The product of the model with {names} reads {n_tests} token tests, and "
            f"{MAX_TESTS} are the most. {JOIN_TESTS}"
        )
    return TooLargeError(
        f"The product of the model with {names} needs more than {budget:,} arcs. Use fewer or "
        "simpler constraints, or raise decoding_budget. Probabilities, marginals and samples "
        "need all constraints in one product; predict, decode and decode_nbest only those that "
        "an answer breaks."
    )


def _are_places(stored: NDArray[Any] | None, count: int) -> bool:
    """Return whether an array from a file is some of the places ``0 … count - 1``, in order."""
    return (
        stored is not None
        and stored.ndim == 1
        and stored.dtype == np.int64
        and bool((np.diff(stored, prepend=-1, append=count) > 0).all())
    )
