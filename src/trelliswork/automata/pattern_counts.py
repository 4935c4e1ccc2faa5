"""Counts of label patterns (n-grams of labels) in label sequences, length by length.

Letters: ``L`` labels, ``M`` segments, each with one letter, in ``B`` sequences.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from trelliswork.errors import DataError, LabelError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from trelliswork._typing import BoolArray, IdArray, IntArray


__all__ = [
    "Counted",
    "LetterSequences",
    "count_patterns",
    "find_pairs",
    "flatten",
    "most_frequent",
]


class LetterSequences(NamedTuple):
    """Checked label sequences.

    Attributes
    ----------
    letters
        The letter of each segment, ``-1`` for an unknown one, shape ``(M,)``.
    begins
        Whether a sequence begins with the segment, shape ``(M,)``.
    """

    letters: IntArray
    begins: BoolArray

    @classmethod
    def of(cls, letters: ArrayLike, offsets: ArrayLike, n_labels: int) -> LetterSequences:
        """Check letters ``(M,)`` and the offsets ``(B + 1,)`` of their sequences."""
        given = np.asarray(letters)
        if given.ndim != 1 or (given.size and not np.issubdtype(given.dtype, np.integer)):
            raise DataError(
                f"letters: expected one id a segment, got {given.dtype} of shape {given.shape}."
            )
        ids = given.astype(np.int64)
        bounds = np.asarray(offsets, dtype=np.int64)
        if bounds.ndim != 1 or not bounds.size or bounds[0] != 0 or bounds[-1] != ids.size:
            raise DataError(
                f"offsets: expected one axis, from 0 to {ids.size}, the number of letters, got "
                f"{bounds}."
            )
        if (np.diff(bounds) < 0).any():
            raise DataError(f"offsets: expected to rise, got {bounds}.")
        outside = np.flatnonzero((ids < -1) | (ids >= n_labels))
        if outside.size:
            raise LabelError(
                f"letters: expected -1 (unknown) to {n_labels - 1}, got {ids[outside[0]]} at "
                f"segment {outside[0]}."
            )
        begins = np.zeros(ids.size, dtype=bool)
        begins[bounds[:-1][np.diff(bounds) > 0]] = True
        return cls(ids, begins)


class Counted(NamedTuple):
    """Patterns of one length, sorted, and their counts.

    Attributes
    ----------
    letters
        Shape ``(patterns, length)``.
    counts
        Shape ``(patterns,)``.
    """

    letters: IdArray
    counts: IntArray


def count_patterns(
    sequences: LetterSequences, n_labels: int, order: int, min_count: int
) -> list[Counted]:
    """Count the patterns of 2, 3, … ``order + 1`` letters that occur `min_count` times.

    A pattern is its first part, a pattern found before, and one letter more: a pair of integers.
    """
    ids, begins = sequences
    shorter = np.arange(n_labels, dtype=np.int32)[:, None]
    place = ids  # in `shorter`, of the pattern that ends at each segment; -1 if it was dropped
    ends = np.flatnonzero((ids >= 0) & ~begins)
    found = []
    for _ in range(order):
        ends = ends[place[ends - 1] >= 0]
        keys, which, counts = np.unique(
            place[ends - 1] * n_labels + ids[ends], return_inverse=True, return_counts=True
        )
        kept = counts >= min_count
        first, last = np.divmod(keys[kept], n_labels)
        shorter = np.column_stack([shorter[first], last.astype(np.int32)])
        place = np.full(ids.size, -1, dtype=np.int64)
        place[ends] = np.where(kept, np.cumsum(kept) - 1, -1)[which]
        # A longer pattern that ends here also ends here without its first letter.
        ends = ends[place[ends] >= 0]
        found.append(Counted(shorter, counts[kept]))
    return found


def most_frequent(found: list[Counted], most: int) -> list[Counted]:
    """Keep the most frequent patterns; ties go to the shorter, then to the first."""
    counts = np.concatenate([own.counts for own in found])
    kept = np.zeros(counts.size, dtype=bool)
    kept[np.argsort(-counts, kind="stable")[:most]] = True
    shares = np.split(kept, np.cumsum([own.counts.size for own in found])[:-1])
    return [
        Counted(own.letters[share], own.counts[share])
        for own, share in zip(found, shares, strict=True)
    ]


def flatten(found: list[Counted]) -> tuple[IntArray, IdArray, IntArray]:
    """Return offsets ``(P + 1,)``, letters and counts ``(P,)`` of the patterns of all lengths."""
    none = np.zeros(0, dtype=np.int64)
    lengths = [np.full(own.counts.size, own.letters.shape[1]) for own in found]
    return (
        np.concatenate([[0], np.cumsum(np.concatenate([none, *lengths]))]),
        np.concatenate([none.astype(np.int32), *(own.letters.ravel() for own in found)]),
        np.concatenate([none, *(own.counts for own in found)]),
    )


def find_pairs(sequences: LetterSequences, n_labels: int) -> tuple[IntArray, IdArray]:
    """Find pair ``y' * L + y`` at each segment without a search: offsets ``(M + 1,)`` and ids."""
    letters, begins = sequences
    before = np.where(begins, -1, np.roll(letters, 1))
    both = (before >= 0) & (letters >= 0)
    ids = before[both] * n_labels + letters[both]
    return np.concatenate([[0], np.cumsum(both)]), ids.astype(np.int32)
