"""What a plan knows of its predicates, which are Python functions and compile into nothing."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from trelliswork._utils.tables import join_names, shorten
from trelliswork.constraints.predicates import Predicate
from trelliswork.errors import RuleError
from trelliswork.planning.pricing import PriceMethods

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from trelliswork._typing import IntArray
    from trelliswork.planning.evidence import Evidence


__all__ = ["PredicateMethods"]


class PredicateMethods(PriceMethods):
    """The methods that a plan has for predicates."""

    @property
    def tag_names(self) -> Sequence[str]:
        """The token label of each tag, by name."""
        return self.labels.names if self.segmentation is None else self.segmentation.tag_names

    def functions(self, constraints: Iterable[int]) -> list[tuple[int, Predicate]]:
        """Return the predicates among some constraints, with their indices."""
        found = []
        for i in constraints:
            rule = self.constraints[i].hard
            if isinstance(rule, Predicate):
                found.append((i, rule))
        return found

    def costly_functions(self, constraints: Iterable[int] | None = None) -> list[int]:
        """Return the predicates among some constraints that cost anything. Default: of all."""
        chosen = range(len(self.constraints)) if constraints is None else constraints
        return [i for i in chosen if i in self.predicates and self.penalties[i] > 0.0]

    def refuse_predicates(self, what: str, constraints: Iterable[int] | None = None) -> None:
        """Raise a `RuleError` where there are predicates, with which something cannot be done.

        Parameters
        ----------
        what
            What that is, and what to do instead: the rest of the message.
        constraints
            Those to look at. Default: all.
        """
        chosen = range(len(self.constraints)) if constraints is None else constraints
        found = [shorten(repr(self.constraints[i])) for i in chosen if i in self.predicates]
        if found:
            kind = "is a Python function" if len(found) == 1 else "are Python functions"
            raise RuleError(f"{join_names(found)} {kind}: {what}")

    def predicate_violations(
        self, tags: NDArray[np.int32], evidence: Evidence, constraints: Iterable[int]
    ) -> IntArray:
        """Return how badly labellings break predicates, ``v_c(y)``, shape ``(B, C)``.

        Parameters
        ----------
        tags
            Tags of all tokens, shape ``(N,)``; labels in a chain.
        evidence
            What the constraints see of the batch.
        constraints
            Those to look at; 0 for all others, and for what is no predicate.
        """
        found = np.zeros((evidence.offsets.size - 1, len(self.constraints)), dtype=np.int64)
        functions = self.functions(constraints)
        if not functions:
            return found
        names = [self.tag_names[tag] for tag in tags.tolist()]
        for b, (first, last) in enumerate(pairwise(evidence.offsets.tolist())):
            for i, rule in functions:
                found[b, i] = rule.count(names[first:last], evidence.sentences[b])
        return found

    def violations(self, tags: NDArray[np.int32], evidence: Evidence) -> IntArray:
        """Return ``v_c(y)`` of the constraints that are no masks, 0 for masks, shape ``(B, C)``."""
        by_functions = self.predicate_violations(tags, evidence, self.predicates)
        found: IntArray = super().violations(tags, evidence) + by_functions
        return found
