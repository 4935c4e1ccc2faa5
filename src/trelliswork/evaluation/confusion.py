"""The confusion table of gold and predicted token labels."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trelliswork.evaluation.scoring import Pair


@dataclass(frozen=True, slots=True)
class Confusion:
    """The confusion table of token labels.

    Attributes
    ----------
    labels
        All gold and predicted labels, sorted.
    counts
        ``counts[i][j]``: number of tokens with gold label ``i`` and predicted label ``j``.
    """

    labels: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, pairs: Iterable[Pair]) -> Confusion:
        """Count the tokens with a single gold label."""
        cells: Counter[tuple[str, str]] = Counter()
        for pair in pairs:
            cells.update((g, p) for g, p in zip(*pair, strict=True) if isinstance(g, str))
        labels = tuple(sorted({label for cell in cells for label in cell}))
        return cls(labels, tuple(tuple(cells[g, p] for p in labels) for g in labels))

    def count(self, gold: str, predicted: str) -> int:
        """Return the number of tokens with these gold and predicted labels."""
        if gold not in self.labels or predicted not in self.labels:
            return 0
        return self.counts[self.labels.index(gold)][self.labels.index(predicted)]

    def errors(self) -> list[tuple[str, str, int]]:
        """Return ``(gold, predicted, tokens)`` of all errors, the most frequent first."""
        found = [
            (gold, predicted, count)
            for gold, row in zip(self.labels, self.counts, strict=True)
            for predicted, count in zip(self.labels, row, strict=True)
            if count and gold != predicted
        ]
        return sorted(found, key=lambda error: (-error[2], error[0], error[1]))
