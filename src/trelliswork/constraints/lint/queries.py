"""The languages of sets of rules, and the questions that `lint` asks of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy

from trelliswork.automata.automaton import Automaton
from trelliswork.constraints.arguments import join_words
from trelliswork.constraints.monitors import MAX_TESTS, language, lift, union_of_tests
from trelliswork.errors import TooLargeError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from trelliswork.constraints.base import Constraint
    from trelliswork.constraints.token_tests import Token, TokenTest
    from trelliswork.labels.label_set import LabelSet

Subset = tuple[int, ...]


class Lengths(NamedTuple):
    """A set of sequence lengths: some lengths, and perhaps all beyond a last one."""

    text: str
    numbers: tuple[int, ...] = ()
    last: int | None = None

    def __str__(self) -> str:
        return self.text


class Languages:
    """The labellings that satisfy any subset of some rules.

    Parameters
    ----------
    rules
        The rules; a subset is a tuple of their numbers.
    labels
        The labels.
    lengths
        The numbers of tokens to look at; ``None``: all from 1.
    max_states
        The largest automaton to try.
    """

    def __init__(
        self,
        rules: Sequence[Constraint],
        labels: LabelSet,
        lengths: Iterable[int] | None,
        max_states: int,
    ) -> None:
        self._rules = rules
        self._labels = labels
        self.lengths = None if lengths is None else sorted(set(lengths))
        if self.lengths is not None and (not self.lengths or self.lengths[0] < 0):
            raise ValueError(f"lengths: expected numbers of tokens, got {self.lengths}.")
        self.max_states = max_states
        self._made: dict[tuple[Subset, tuple[TokenTest, ...]], Automaton] = {}

    @property
    def described_lengths(self) -> str:
        """The lengths as text, for messages."""
        return "" if self.lengths is None else f" of {_numbers(self.lengths)}"

    def is_universal(self, rules: Subset) -> bool:
        """Return whether every labelling satisfies one rule: ``U ⊆ L``."""
        return self.implies((), rules[0])

    def is_contradictory(self, rules: Subset) -> bool:
        """Return whether no labelling satisfies all of the rules: ``U ∩ L1 ∩ … = ∅``."""
        return self._language(rules).is_empty

    def implies(self, rules: Subset, other: int) -> bool:
        """Return whether the rules imply another one: ``U ∩ L1 ∩ … ⊆ L``."""
        tests = self._tests((*rules, other))
        return self._language(rules, tests).is_subset(
            self._one(other, tests), max_states=self.max_states
        )

    def infeasible_lengths(self, rules: Subset) -> list[Lengths]:
        """Return the lengths that no labelling of the rules has."""
        found = self._language(rules)
        if self.lengths is not None:
            feasible = feasible_lengths(found, self.lengths[-1])
            missing = [n for n in self.lengths if n not in feasible]
            return [Lengths(_numbers(missing), tuple(missing))] if missing else []
        longest = _longest(found)
        feasible = feasible_lengths(found, found.n_states if longest is None else longest)
        if not feasible:
            return []
        lengths = []
        if (shortest := min(feasible)) > 1:
            few = tuple(range(1, shortest))
            lengths.append(Lengths(f"fewer than {_numbers([shortest])}", few))
        if longest is not None:
            lengths.append(Lengths(f"more than {_numbers([longest])}", last=longest))
        return lengths

    def exclude_lengths(self, rules: Subset, lengths: Lengths) -> bool:
        """Return whether no labelling of the rules has any of these lengths."""
        found = self._language(rules)
        if lengths.last is not None:
            longest = _longest(found)
            return longest is not None and longest <= lengths.last
        return feasible_lengths(found, lengths.numbers[-1]).isdisjoint(lengths.numbers)

    def input_without_labelling(self, rules: Subset) -> str | None:
        """Describe a shortest input without a labelling although other inputs of its length have.

        Labels are projected out: ``I`` is the language of the token classes of inputs that have a
        labelling; the search is for an input of ``U`` that is not in ``I``.
        """
        tests = self._tests(rules)
        if not tests:
            return None
        found = self._language(rules, tests)
        classes = self._classes(tests)
        seen = np.stack([found.source, found.label // len(self._labels), found.target])
        steps = np.unique(np.stack([found.source, found.target]), axis=1)
        anything = [np.stack([steps[0], np.full_like(steps[0], c), steps[1]]) for c in classes]
        labelled = _over_classes(found, np.unique(seen, axis=1), len(tests))
        possible = _over_classes(found, np.concatenate(anything, axis=1), len(tests))
        missing = possible.intersect(
            labelled.complement(max_states=self.max_states), max_states=self.max_states
        )
        if missing.is_empty:
            return None
        missing = missing.minimise(max_states=self.max_states)
        shortest = min(feasible_lengths(missing, missing.n_states))
        example = next(missing.strings(shortest, 1))
        return _describe([int(c) for c in example], tests)

    def _language(self, rules: Subset, tests: tuple[TokenTest, ...] | None = None) -> Automaton:
        """Return ``U ∩ L1 ∩ …`` over the letters of the tests, which include those of the rules."""
        tests = self._tests(rules) if tests is None else tests
        key = (rules, tests)
        if key not in self._made:
            if rules:
                *before, last = rules
                found = self._language(tuple(before), tests).intersect(
                    self._one(last, tests), max_states=self.max_states
                )
                self._made[key] = found.trim()
            else:
                self._made[key] = self._universe(tests)
        return self._made[key]

    def _one(self, rule: int, tests: tuple[TokenTest, ...]) -> Automaton:
        own = self._rules[rule]
        compiled = own.compile(self._labels, max_states=self.max_states)
        return lift(compiled, own.tests, tests, len(self._labels))

    def _tests(self, rules: Subset) -> tuple[TokenTest, ...]:
        return union_of_tests(self._rules[i].tests for i in rules)

    def _universe(self, tests: tuple[TokenTest, ...]) -> Automaton:
        """Return the universe: all labellings on tokens of possible classes."""
        if len(tests) > MAX_TESTS:
            raise TooLargeError(f"Expected at most {MAX_TESTS} token tests, got {len(tests)}.")
        n_labels = len(self._labels)
        letters = [c * n_labels + y for c in self._classes(tests) for y in range(n_labels)]
        if self.lengths is None:
            arcs = [(source, letter, 1) for source in (0, 1) for letter in letters]
            return language(2, self._labels, arcs, [0], [1], len(tests))
        longest = self.lengths[-1]
        arcs = [(n, letter, n + 1) for n in range(longest) for letter in letters]
        return language(longest + 1, self._labels, arcs, [0], self.lengths, len(tests))

    def _classes(self, tests: tuple[TokenTest, ...]) -> list[int]:
        """Return the classes that tokens can have: a test and its opposite do not both pass."""
        atoms = list(dict.fromkeys(atom for test in tests for atom in test.atoms))
        if len(atoms) > 2 * MAX_TESTS:
            raise TooLargeError(f"Expected at most {2 * MAX_TESTS} tests, got {len(atoms)}.")
        worlds = np.arange(2 ** len(atoms))

        def outcomes(atom: Token) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
            return np.asarray((worlds >> atoms.index(atom)) & 1, dtype=np.bool_)

        classes = np.zeros_like(worlds)
        for bit, test in enumerate(tests):
            classes |= test.evaluate(outcomes).astype(worlds.dtype) << bit
        return [int(c) for c in np.unique(classes)]


def feasible_lengths(automaton: Automaton, limit: int) -> set[int]:
    """Return the lengths, up to a limit, of the sequences that an automaton accepts."""
    final = automaton.final == 0.0
    here = automaton.initial == 0.0
    feasible = set()
    for length in range(limit + 1):
        if np.any(here & final):
            feasible.add(length)
        there = np.zeros_like(here)
        there[automaton.target[here[automaton.source]]] = True
        here = there
    return feasible


def _longest(automaton: Automaton) -> int | None:
    """Return the length of the longest accepted sequence, or ``None`` if there is no longest."""
    trimmed = automaton.trim()
    shape = (trimmed.n_states, trimmed.n_states)
    arcs = (np.ones(trimmed.n_arcs), (trimmed.source, trimmed.target))
    graph = scipy.sparse.coo_array(arcs, shape=shape)
    n_components, _ = scipy.sparse.csgraph.connected_components(graph, connection="strong")
    if n_components < trimmed.n_states or np.any(trimmed.source == trimmed.target):
        return None  # a cycle on an accepting path
    return max(feasible_lengths(trimmed, trimmed.n_states), default=0)


def _over_classes(
    automaton: Automaton, arcs: np.ndarray[tuple[int, int], np.dtype[np.int32]], n_tests: int
) -> Automaton:
    return Automaton(
        automaton.n_states,
        2**n_tests,
        *arcs,
        initial=automaton.initial,
        final=automaton.final,
    )


def _describe(classes: Sequence[int], tests: tuple[TokenTest, ...]) -> str:
    """Describe which tokens pass which tests."""
    parts = []
    for position, token_class in enumerate(classes):
        passed = [repr(test) for i, test in enumerate(tests) if token_class >> i & 1]
        parts.append(f"token {position} passes {join_words(passed) if passed else 'no test'}")
    return join_words(parts)


def _numbers(numbers: Sequence[int]) -> str:
    """Return numbers of tokens as text: ``1 to 3 tokens``."""
    if len(numbers) > 2 and numbers[-1] - numbers[0] == len(numbers) - 1:
        text = f"{numbers[0]} to {numbers[-1]}"
    else:
        shown = [str(n) for n in numbers[:8]]
        text = join_words([*shown, "more"] if len(numbers) > 8 else shown, "or")
    return f"{text} token{'' if list(numbers) == [1] else 's'}"
