"""The hard rules of a plan as automata: which labellings satisfy them, and products with them.

``B`` sequences, ``N`` tokens.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trelliswork._typing import BoolArray, IdArray
    from trelliswork.automata.automaton import Automaton
    from trelliswork.planning.evidence import Evidence
    from trelliswork.planning.products import RuleCompiler
    from trelliswork.planning.rule_product import RuleProduct
    from trelliswork.planning.terms import Terms


__all__ = ["HardRules"]


class HardRules:
    """The hard rules that are neither masks nor predicates.

    Parameters
    ----------
    indices
        Which rules these are.
    terms
        The terms of all rules.
    compiler
        Compiles rules.
    budget
        Maximum number of arcs of a product.
    """

    def __init__(
        self, indices: tuple[int, ...], terms: Terms, compiler: RuleCompiler, budget: int
    ) -> None:
        self.indices = indices
        self._terms = terms
        self._compiler = compiler
        self._budget = budget

    @cached_property
    def automata(self) -> tuple[int, ...]:
        """The rules with at least one bit: decoding may add their automata."""
        with_bits = {self._terms[i].constraint for i in self._terms.bits}
        return tuple(i for i in self.indices if i in with_bits)

    @cached_property
    def length_dependent(self) -> tuple[int, ...]:
        """The rules whose automaton depends on the length of a sequence.

        Those linear in counts with coefficients of both signs.
        """
        found = {self._terms[i].constraint for i in self._terms.length_dependent}
        return tuple(sorted(found.intersection(self.indices)))

    def language(self, index: int) -> Automaton:
        """Return the automaton of one rule, over ``L * 2**k`` letters; see `Constraint.compile`."""
        return self._compiler.language(index)

    def size(self, index: int) -> tuple[int, int]:
        """Return the states and arcs of the model times one rule that is not `length_dependent`."""
        return self._compiler.size(index, self._budget)

    def accepts(self, index: int, tags: IdArray, evidence: Evidence) -> BoolArray:
        """Return which labellings of a batch satisfy one rule, shape ``(B,)``.

        Parameters
        ----------
        index
            The rule.
        tags
            Tags of all tokens, shape ``(N,)``.
        evidence
            The outcomes of token tests on the batch.
        """
        if index in self.length_dependent:
            own = list(self._terms.of((index,)))
            broken = self._terms.violations(tags, evidence, own)[:, own]
            return np.asarray(broken.sum(axis=1) == 0)
        tests = self._compiler.tests((index,))
        return self._compiler.accepts(self.language(index), tests, tags, evidence)

    @cached_property
    def together(self) -> Automaton | None:
        """The language of all rules, if so small that products of fewer rules save nothing."""
        if not self.indices or self.length_dependent:
            return None
        return self._compiler.small_intersection(self.indices, self._terms.compact_budget)

    def accepts_together(self, language: Automaton, tags: IdArray, evidence: Evidence) -> BoolArray:
        """Return which labellings of a batch satisfy all rules, given as `together`."""
        tests = self._compiler.tests(self.indices)
        return self._compiler.accepts(language, tests, tags, evidence)

    def product(
        self, indices: Iterable[int] | None = None, length: int | None = None
    ) -> RuleProduct:
        """Return the model times the automata of some rules, from memory if possible.

        Parameters
        ----------
        indices
            The rules. Default: all.
        length
            Maximum number of tokens of a sequence that it is for; only rules that are
            `length_dependent` need it.

        Raises
        ------
        TooLargeError
            If it has more arcs than the decoding budget of the plan.
        """
        chosen = self.indices if indices is None else tuple(sorted(set(indices)))
        if not set(chosen).intersection(self.length_dependent):
            return self._compiler.product(chosen, self._budget)
        if length is None:
            raise ValueError("length: the automaton of a constraint depends on it. Give one.")
        return self._terms.product(
            self._terms.of(chosen), length, self._budget, with_patterns=False
        )
