"""``no_overlap``: no token belongs to two spans."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trelliswork.constraints.base import Constraint
from trelliswork.constraints.monitors import language

if TYPE_CHECKING:
    from trelliswork.automata.automaton import Automaton
    from trelliswork.constraints.reading import Reading
    from trelliswork.labels.label_set import LabelSet


@dataclass(frozen=True, repr=False)
class NoOverlap(Constraint):
    """See `no_overlap`."""

    word = "no_overlap"

    def _degree(self, reading: Reading) -> int:
        return 0

    def _faults(self, reading: Reading) -> list[str]:
        return []

    def _build(self, labels: LabelSet, max_states: int) -> Automaton:
        return language(1, labels, [(0, y, 0) for y in range(len(labels))], [0], [0])

    def __repr__(self) -> str:
        return "no_overlap()"


def no_overlap() -> Constraint:
    """Require that no token belongs to two spans, and no span to two roles.

    For `trelliswork.assign`, where a soft one costs its penalty for every span too many at a token.
    The labels of a tagger, one a token, always satisfy it.

    Examples
    --------
    >>> no_overlap().violations(["B-PER", "I-PER", "B-LOC"])
    0
    """
    return NoOverlap()
