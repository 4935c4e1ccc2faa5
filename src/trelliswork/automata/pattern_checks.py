"""What a set of label patterns must be, and what to say where it is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from trelliswork.errors import DataError, LabelError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from trelliswork._typing import IntArray


__all__ = ["check_arrays", "checked_patterns", "ids_of_names"]


def checked_patterns(patterns: Iterable[Sequence[int]], n_labels: int) -> list[tuple[int, ...]]:
    """Return patterns of label ids, sorted; an empty one, or one that comes twice, is an error."""
    seen: set[tuple[int, ...]] = set()
    for index, given in enumerate(patterns):
        pattern = tuple(map(int, given))
        if not pattern:
            raise LabelError(f"patterns[{index}]: expected at least one label, got none.")
        if min(pattern) < 0 or max(pattern) >= n_labels:
            raise LabelError(
                f"patterns[{index}]: expected labels from 0 to {n_labels - 1}, got {pattern}."
            )
        if pattern in seen:
            raise LabelError(f"patterns[{index}]: {pattern} comes twice. Leave one out.")
        seen.add(pattern)
    return sorted(seen, key=lambda pattern: (len(pattern), pattern))


def ids_of_names(patterns: Iterable[Sequence[str]], names: Sequence[str]) -> list[list[int]]:
    """Return patterns of label names as patterns of ids, in their order."""
    ids = {name: index for index, name in enumerate(names)}
    found: list[list[int]] = []
    first: dict[tuple[str, ...], int] = {}
    for index, pattern in enumerate(patterns):
        if isinstance(pattern, str):
            raise TypeError(
                f"patterns[{index}]: expected a sequence of labels, got the string {pattern!r}. "
                f"Write ({pattern!r},) for a pattern of one label."
            )
        unknown = [name for name in pattern if name not in ids]
        if unknown:
            raise LabelError(
                f"patterns[{index}]: unknown label {unknown[0]!r} in {tuple(pattern)}. The labels "
                f"are {', '.join(names)}."
            )
        before = first.setdefault(tuple(pattern), index)
        if before < index:
            raise LabelError(
                f"patterns[{index}]: {tuple(pattern)} is also patterns[{before}]. Leave one out."
            )
        found.append([ids[name] for name in pattern])
    return found


def check_arrays(
    n_labels: int,
    offsets: IntArray,
    letters: NDArray[np.int32],
    counts: IntArray | None,
) -> None:
    """Refuse arrays that are no sorted set of patterns, as a broken file may hold."""
    if n_labels < 1:
        raise LabelError(f"n_labels: expected at least one, got {n_labels}.")
    if offsets.ndim != 1 or letters.ndim != 1 or not offsets.size or offsets[0] != 0:
        raise DataError(
            "Patterns: expected offsets that begin with 0, and letters, both of one axis, got "
            f"shapes {offsets.shape} and {letters.shape}."
        )
    if (np.diff(offsets) < 1).any() or offsets[-1] != letters.size:
        raise DataError(
            f"Patterns: expected offsets that rise to {letters.size}, the number of letters, by "
            f"one or more a pattern; they end at {offsets[-1]}."
        )
    if letters.size and (letters.min() < 0 or letters.max() >= n_labels):
        raise LabelError(
            f"Patterns: expected letters from 0 to {n_labels - 1}, got {letters.min()} to "
            f"{letters.max()}."
        )
    if counts is not None and counts.shape != (offsets.size - 1,):
        raise DataError(
            f"Patterns: expected one count a pattern, shape ({offsets.size - 1},), got "
            f"{counts.shape}."
        )
    if not _is_sorted(offsets, letters):
        raise DataError(
            "Patterns: expected different patterns, sorted by (length, letters). Patterns.of "
            "takes them in any order."
        )


def _is_sorted(offsets: IntArray, letters: NDArray[np.int32]) -> bool:
    lengths = np.diff(offsets)
    if (np.diff(lengths) < 0).any():
        return False
    for length in np.unique(lengths).tolist():
        first, last = offsets[np.searchsorted(lengths, [length, length + 1])]
        change = np.diff(letters[first:last].reshape(-1, length), axis=0)
        place = (change != 0).argmax(axis=1)
        if (change[np.arange(place.size), place] <= 0).any():
            return False
    return True
