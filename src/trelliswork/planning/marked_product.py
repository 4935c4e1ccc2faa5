"""Marked products: the model times bits, marked with the events that rows count."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from trelliswork.constraints.per_token import leaving_table

if TYPE_CHECKING:
    from trelliswork._typing import FloatArray
    from trelliswork.constraints import TokenTest
    from trelliswork.labels.label_set import LabelSet
    from trelliswork.planning.costs import Costs
    from trelliswork.planning.marked_automaton import MarkedAutomaton
    from trelliswork.planning.rule_product import RuleProduct

__all__ = ["MarkedProduct"]


@dataclass(frozen=True, eq=False)
class MarkedProduct:
    """The model times the automata of some bits, marked with the events of rows.

    Attributes
    ----------
    marked : MarkedAutomaton
        The automaton.
    tests : tuple of TokenTest
        Binary digit ``i`` of a token's class is the outcome of ``tests[i]``.
    product : RuleProduct or None
        The product that was marked; None: the model itself.
    changes : tuple of int
        Bits that are charged for by the class of a token, without an automaton: soft rules that
        count changes, where the model is a chain.
    """

    marked: MarkedAutomaton
    tests: tuple[TokenTest, ...] = ()
    product: RuleProduct | None = None
    changes: tuple[int, ...] = ()

    def weights(self, costs: Costs, given: FloatArray | None) -> FloatArray | None:
        """Return the weights of its patterns, from those of the model, shape ``(P,)``.

        Those of events are 0.
        """
        own = given if self.product is None else costs.weights(given)
        n_patterns = self.marked.automaton.n_patterns
        if own is None or own.size == n_patterns:
            return own
        return np.concatenate([own, np.zeros(n_patterns - own.size)])

    def constant(self, costs: Costs) -> float:
        """Return the constant to add to the scores of its paths, see `Costs.constant`."""
        return 0.0 if self.product is None else costs.constant(self.product)

    def class_weights(self, costs: Costs, labels: LabelSet) -> FloatArray | None:
        """Return the weights of pairs of labels by class of the token, shape ``(2**k, L * L)``.

        Bit ``i`` of the class says whether the token before passes the test of ``changes[i]``: a
        change there is free. None without any.
        """
        if not self.changes:
            return None
        leaves = leaving_table(labels)[1:].ravel()
        penalties = costs.of_terms
        found = np.zeros((2 ** len(self.changes), leaves.size))
        for bit, term in enumerate(self.changes):
            fails = np.arange(len(found)) >> bit & 1 == 0
            found[fails] -= penalties[term] * leaves
        return found
