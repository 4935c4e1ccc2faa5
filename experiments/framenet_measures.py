"""How good answers are: exact spans and roles, and broken constraints by kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from framenet_cases import Case
    from framenet_spans import IntArray


@dataclass(frozen=True)
class Measures:
    """Scores of a strategy.

    Attributes
    ----------
    counts : numpy.ndarray
        Right, predicted and gold arguments of each target, shape ``(n, 3)``.
    overlap, requires, excludes : int
        Pairs of arguments of one target that share a token; pairs of roles that require each other
        of which one is filled; pairs that exclude each other and are filled both.
    """

    counts: IntArray
    overlap: int
    requires: int
    excludes: int

    @property
    def scores(self) -> tuple[float, float, float]:
        """Precision, recall and F1, over all arguments."""
        right, predicted, gold = self.counts.sum(axis=0).tolist()
        return right / max(1, predicted), right / max(1, gold), 2 * right / max(1, predicted + gold)

    @property
    def violations(self) -> int:
        """All pairs that break a constraint."""
        return self.overlap + self.requires + self.excludes


def measure(cases: Sequence[Case], choices: Sequence[IntArray]) -> Measures:
    """Compare answers with gold arguments and with the constraints."""
    counts = np.zeros((len(cases), 3), dtype=np.int64)
    overlap = requires = excludes = 0
    for i, (case, chosen) in enumerate(zip(cases, choices, strict=True)):
        target = case.target
        filled = [
            (role, *case.spans[span].tolist())
            for role, span in zip(target.frame.roles, chosen.tolist(), strict=True)
            if span >= 0
        ]
        gold = set(target.arguments)
        counts[i] = sum(argument in gold for argument in filled), len(filled), len(gold)
        for a, (_, start, end) in enumerate(filled):
            overlap += sum(start < e and s < end for _, s, e in filled[a + 1 :])
        roles = {role for role, _, _ in filled}
        requires += sum((a in roles) != (b in roles) for a, b in target.frame.requires)
        excludes += sum(a in roles and b in roles for a, b in target.frame.excludes)
    return Measures(counts, overlap, requires, excludes)
