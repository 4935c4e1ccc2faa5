"""What lazy intersection adds at a time: a hard constraint, or an item of a soft one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from trelliswork.planning.counting_automata import round_length

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from trelliswork._typing import BoolArray, IntArray
    from trelliswork.automata.automaton import Automaton
    from trelliswork.constraints import TokenTest
    from trelliswork.inference.trellis import Trellis
    from trelliswork.planning.evidence import Evidence
    from trelliswork.planning.plan import Plan


__all__ = ["Units"]

MOST_TOGETHER = 12  # soft items in one small product: most double its states


@dataclass(frozen=True, eq=False)
class Units:
    """The parts of constraints that products are made of, ``U`` in all: hard ones come first.

    Attributes
    ----------
    plan : Plan
        The compiled constraints.
    rules : tuple of int
        Hard constraints that are automata.
    items : tuple of int
        Items of soft constraints whose penalty is not 0.
    compact : Automaton or None
        The language of all `rules` together, where it is small: they are added together then.
    all_at_once : bool
        Whether the product of everything is small, so that all units are added together.
    """

    plan: Plan
    rules: tuple[int, ...]
    items: tuple[int, ...]
    compact: Automaton | None
    all_at_once: bool

    @classmethod
    def of(cls, plan: Plan, constraints: Sequence[int], evidence: Evidence) -> Units:
        """Return the units of some constraints, on a batch.

        Raises
        ------
        RuleError
            Where one of them is soft and has no penalty yet.
        """
        rules = tuple(i for i in constraints if i in plan.rules)
        compact = plan.compact if rules and rules == plan.rules else None
        soft = [i for i in constraints if i in plan.soft]
        if not soft:
            return cls(plan, rules, (), compact, compact is not None)
        items = plan.priced_items(soft)
        together = len(items) <= MOST_TOGETHER and plan.is_compact(
            (*plan.items_of(rules), *items), evidence.longest
        )
        return cls(plan, rules, items, compact, together)

    @property
    def count(self) -> int:
        """Number of units, ``U``."""
        return len(self.rules) + len(self.items)

    def constraints(self, chosen: BoolArray) -> list[int]:
        """Return the constraints all units of which are chosen, given as ``(U,)``."""
        whole = [rule for rule, there in zip(self.rules, chosen, strict=False) if there]
        soft: dict[int, bool] = {}
        for item, there in zip(self.items, chosen[len(self.rules) :].tolist(), strict=True):
            constraint = self.plan.items[item].constraint
            soft[constraint] = soft.get(constraint, True) and there
        return whole + [constraint for constraint, there in soft.items() if there]

    def chosen_items(self, chosen: BoolArray) -> tuple[int, ...]:
        """Return the items of the units that are chosen, given as ``(U,)``."""
        n_rules = len(self.rules)
        rules = [rule for rule, there in zip(self.rules, chosen.tolist(), strict=False) if there]
        soft = [self.items[place] for place in np.flatnonzero(chosen[n_rules:])]
        return tuple(sorted((*self.plan.items_of(rules), *soft)))

    def lengths(self, evidence: Evidence) -> IntArray:
        """Return the length that the product of each sequence is built for, shape ``(B,)``."""
        lengths = np.diff(evidence.offsets)
        if not self.plan.is_counted((*self.plan.items_of(self.rules), *self.items)):
            return np.zeros_like(lengths)
        return np.array([round_length(length) for length in lengths.tolist()], dtype=np.int64)

    def broken(self, tags: NDArray[np.int32], evidence: Evidence, known: BoolArray) -> BoolArray:
        """Return the units to add for the labellings of a batch, shape ``(B, U)``.

        Those that a labelling breaks, and those that are added with them.

        Parameters
        ----------
        tags
            Tags of all tokens, shape ``(N,)``.
        evidence
            What the constraints see of the batch.
        known
            Units that are added already, shape ``(B, U)``; these need not be looked at.
        """
        found = np.zeros_like(known)
        n_rules = len(self.rules)
        if self.compact is not None and not known[:, :n_rules].all():
            obeyed = self.plan.accepts_together(self.compact, tags, evidence)
            found[:, :n_rules] = ~obeyed[:, None]
        elif self.compact is None:
            for place, rule in enumerate(self.rules):
                if not known[:, place].all():
                    found[:, place] = ~self.plan.accepts(rule, tags, evidence)
        if self.items and not known[:, n_rules:].all():
            degrees = self.plan.item_violations(tags, evidence, self.items)
            found[:, n_rules:] = degrees[:, self.items] > 0
        found &= ~known
        if self.all_at_once:
            found |= found.any(axis=1, keepdims=True)
        return found

    def product(
        self, chosen: BoolArray, length: int, trellis: Trellis
    ) -> tuple[Automaton, tuple[TokenTest, ...], NDArray[np.float64] | None, float]:
        """Return the model times some units, given as ``(U,)``, for sequences up to a length.

        Returns
        -------
        automaton, tests
            As those of `CompiledProduct` and `ItemProduct`.
        weights
            Weights of its patterns; None: those of the trellis.
        constant
            What is missing in its scores.

        Raises
        ------
        TooLargeError
            Where it has more arcs than the plan's budget for decoding.
        """
        if not chosen[len(self.rules) :].any():
            rules = [rule for rule, there in zip(self.rules, chosen, strict=False) if there]
            compiled = self.plan.product(rules, length)
            return compiled.automaton, compiled.tests, None, 0.0
        made = self.plan.item_product(self.chosen_items(chosen), length)
        weights = self.plan.item_weights(trellis.weights)
        return made.automaton, made.tests, weights, self.plan.item_constant(made)
