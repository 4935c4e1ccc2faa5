"""The model times rules of a plan, with what a batch needs to run on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trelliswork._typing import IntArray
    from trelliswork.automata.automaton import Automaton
    from trelliswork.constraints import TokenTest

__all__ = ["RuleProduct"]


@dataclass(frozen=True, eq=False)
class RuleProduct:
    """The model times rules, or terms of rules.

    Unlike `trelliswork.automata.product.Product` it has no arc map: it may come from disk.

    Attributes
    ----------
    automaton : Automaton
        The product; guards tell token classes apart. Its patterns are those of the model, and in a
        product of terms two more for each term of the plan, see
        `trelliswork.planning.term_products`.
    tests : tuple of TokenTest
        Bit ``i`` of a token's class is the outcome of ``tests[i]``.
    empty_violations : numpy.ndarray or None
        In a product of terms: ``v_i(ε)`` of the soft terms in it, 0 elsewhere, shape ``(I,)``.
    """

    automaton: Automaton
    tests: tuple[TokenTest, ...] = ()
    empty_violations: IntArray | None = None
