"""The rules that training sums over: those whose product fits the training budget.

Products grow with every rule. So rules are added greedily, in the order given: first hard rules
whose automaton does not depend on the length of a sequence, then the others, hard ones that do and
soft ones. A rule that does not fit is skipped, and left to decoding.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from trelliswork.constraints.monitors import MAX_TESTS
from trelliswork.errors import TooLargeError
from trelliswork.planning.violation_automata import round_length

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trelliswork.planning.hard_rules import HardRules
    from trelliswork.planning.products import RuleCompiler
    from trelliswork.planning.rule_product import RuleProduct
    from trelliswork.planning.terms import Terms


__all__ = ["USUAL_LENGTH", "Training"]

MAX_MISSES = 10  # each takes as long as a product that just fits
USUAL_LENGTH = 32  # of sequences, where a size that depends on it is shown


class Training:
    """Which rules training sums over, and their product with the model.

    Parameters
    ----------
    hard
        The hard rules.
    soft
        Indices of the soft rules that may count in training.
    terms
        The terms of all rules.
    compiler
        Compiles rules.
    budget
        Maximum number of arcs of the product; 0 leaves all automata to decoding.
    """

    def __init__(
        self,
        hard: HardRules,
        soft: tuple[int, ...],
        terms: Terms,
        compiler: RuleCompiler,
        budget: int,
    ) -> None:
        self.budget = budget
        self._hard = hard
        self._soft = soft
        self._terms = terms
        self._compiler = compiler
        self._chosen: dict[int, tuple[int, ...]] = {}

    @cached_property
    def hard_rules(self) -> tuple[int, ...]:
        """The hard rules whose product fits, without those that depend on the length."""
        if not self.budget:
            return ()
        rules = tuple(i for i in self._hard.indices if i not in self._hard.length_dependent)
        return self._compiler.choose_rules(rules, self.budget)

    def constraints(self, length: int = USUAL_LENGTH) -> tuple[int, ...]:
        """Return the rules whose product fits, hard and soft, masks aside.

        Those of `hard_rules` come first. Then the others, hard ones that depend on the length and
        soft ones, are added greedily, in the order given, until `MAX_MISSES` in a row do not fit.

        Parameters
        ----------
        length
            Maximum number of tokens of a training sequence.
        """
        length = round_length(length)
        if length not in self._chosen:
            self._chosen[length] = self._choose(length)
        return self._chosen[length]

    def _choose(self, length: int) -> tuple[int, ...]:
        chosen, n_misses = self.hard_rules, 0
        for index in sorted({*self._hard.length_dependent, *self._soft}) if self.budget else ():
            if n_misses == MAX_MISSES:
                break
            try:
                self.product_of((*chosen, index), length)
            except TooLargeError:
                n_misses += 1
                continue
            chosen, n_misses = (*chosen, index), 0
        return tuple(sorted(chosen))

    @property
    def hard_product(self) -> RuleProduct:
        """The model times `hard_rules`."""
        return self._compiler.product(self.hard_rules, self.budget)

    def product(self, length: int = USUAL_LENGTH) -> RuleProduct:
        """Return the product that training sums over, for sequences of up to some length."""
        chosen = self.constraints(length)
        if set(chosen) <= set(self.hard_rules):
            return self.hard_product
        return self.product_of(chosen, length)

    def product_of(self, constraints: Iterable[int], length: int) -> RuleProduct:
        """Return the model times some rules, if that fits the budget."""
        return self._terms.product(self._terms.of(constraints), length, self.budget)

    @cached_property
    def beyond_tests(self) -> tuple[int, ...]:
        """The hard rules that are left to decoding as a product would read too many tests."""
        return tuple(
            i
            for i in (self._hard.indices if self.budget else ())
            if i not in self.hard_rules
            and len(self._compiler.tests((*(j for j in self.hard_rules if j < i), i))) > MAX_TESTS
        )

    @cached_property
    def n_tests(self) -> int:
        """Number of different token tests that the automata of hard rules read."""
        return len(self._compiler.tests(self._hard.indices))
