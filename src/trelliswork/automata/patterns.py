"""`Patterns`: the set of label patterns that a model of high order weighs, and its checks.

A pattern is a tuple of *letters*, one a segment (a token, in a chain): ``(a, b, c)`` fires where a
segment ``c`` follows ``b`` follows ``a``. Letters: ``L`` labels, ``P`` patterns, ``M`` segments in
``B`` sequences.

>>> seen = Patterns.observe([0, 1, 0, 0, 1, 1], [0, 3, 6], n_labels=2, order=2)
>>> list(seen), seen.counts.tolist()
([(0, 1), (1, 0), (1, 1), (0, 1, 0), (0, 1, 1)], [2, 1, 1, 1, 1])
>>> seen.automaton()
Automaton(states=4, labels=2, arcs=8, patterns=5)
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from trelliswork._utils.arrays import stored
from trelliswork.automata import pattern_counts
from trelliswork.automata.automaton import Automaton
from trelliswork.automata.pattern_counts import LetterSequences
from trelliswork.automata.pattern_trie import Trie
from trelliswork.errors import DataError, LabelError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from trelliswork._typing import BoolArray, IdArray, IntArray


__all__ = ["Patterns", "check_arrays", "checked_patterns", "ids_of_names"]


class Patterns:
    """A set of label patterns, sorted by (length, letters); the id of a pattern is its position.

    Make one with :meth:`chain`, :meth:`of`, :meth:`named` or :meth:`observe`.

    Attributes
    ----------
    n_labels : int
        ``L``.
    offsets : numpy.ndarray
        Pattern ``z`` is ``letters[offsets[z]:offsets[z + 1]]``; shape ``(P + 1,)``.
    letters : numpy.ndarray
        The letters of all patterns, one after another.
    counts : numpy.ndarray or None
        Observed count of each pattern, shape ``(P,)``; ``None`` if unknown.
    """

    n_labels: int
    offsets: IntArray
    letters: IdArray
    counts: IntArray | None

    def __init__(
        self,
        n_labels: int,
        offsets: ArrayLike,
        letters: ArrayLike,
        counts: ArrayLike | None = None,
    ) -> None:
        self.n_labels = int(n_labels)
        self.offsets = np.array(offsets, dtype=np.int64)
        self.letters = np.array(letters, dtype=np.int32)
        self.counts = None if counts is None else np.array(counts, dtype=np.int64)
        check_arrays(self.n_labels, self.offsets, self.letters, self.counts)
        for array in (self.offsets, self.letters, self.counts):
            if array is not None:
                array.flags.writeable = False

    @staticmethod
    @lru_cache(maxsize=64)
    def chain(n_labels: int) -> Patterns:
        """Return all pairs of labels, in rows: pattern ``y' * L + y`` is ``(y', y)``."""
        before, after = (axis.ravel() for axis in np.mgrid[:n_labels, :n_labels])
        pairs = np.column_stack([before, after]).ravel()
        return Patterns(n_labels, 2 * np.arange(n_labels * n_labels + 1), pairs)

    @classmethod
    def of(cls, patterns: Iterable[Sequence[int]], n_labels: int) -> Patterns:
        """Build the set from patterns of label ids, given in any order.

        Raises
        ------
        LabelError
            If a pattern is empty, comes twice, or has a letter that is not in ``0 … L - 1``.
        """
        given = checked_patterns(patterns, n_labels)
        letters = [y for pattern in given for y in pattern]
        return cls(n_labels, np.cumsum([0, *map(len, given)]), letters)

    @classmethod
    def named(cls, patterns: Iterable[Sequence[str]], names: Sequence[str]) -> Patterns:
        """Build the set from patterns of label names; `names` lists all label names by id.

        Examples
        --------
        >>> list(Patterns.named([("title", "date"), ("date",)], ["date", "title"]))
        [(0,), (1, 0)]
        """
        return cls.of(ids_of_names(patterns, names), len(names))

    @classmethod
    def observe(
        cls,
        letters: ArrayLike,
        offsets: ArrayLike,
        n_labels: int,
        order: int,
        *,
        min_count: int = 1,
        max_patterns: int | None = None,
    ) -> Patterns:
        """Collect the patterns of 2 to ``order + 1`` labels that occur in label sequences.

        A part of a pattern is at least as frequent as the whole; shorter patterns win ties. So
        every cut leaves a set that has, with each pattern, all its parts of two or more labels.

        Parameters
        ----------
        letters
            The letter of each segment, shape ``(M,)``; ``-1`` is unknown, and no pattern reaches
            over it.
        offsets
            Sequence ``b`` is ``letters[offsets[b]:offsets[b + 1]]``, shape ``(B + 1,)``.
        n_labels
            ``L``.
        order
            Longest pattern − 1.
        min_count
            Least count of a pattern that is kept.
        max_patterns
            Maximum number of patterns to keep, the most frequent ones.
        """
        if order < 0:
            raise ValueError(f"order: expected 0 or more, got {order}.")
        if min_count < 1 or (max_patterns is not None and max_patterns < 0):
            raise ValueError(
                "expected min_count from 1 and max_patterns from 0 up, got "
                f"{min_count} and {max_patterns}."
            )
        sequences = LetterSequences.of(letters, offsets, n_labels)
        found = pattern_counts.count_patterns(sequences, n_labels, order, min_count)
        if max_patterns is not None and found:
            found = pattern_counts.most_frequent(found, max_patterns)
        return cls(n_labels, *pattern_counts.flatten(found))

    @property
    def lengths(self) -> IntArray:
        """Number of labels of each pattern, shape ``(P,)``."""
        return np.diff(self.offsets)

    @property
    def order(self) -> int:
        """Length of the longest pattern − 1; 0 without patterns."""
        return int(self.lengths.max(initial=1)) - 1

    @property
    def is_chain(self) -> bool:
        """Whether the patterns are all pairs of labels, the transitions of a chain."""
        return len(self) == self.n_labels**2 and bool((self.lengths == 2).all())

    def automaton(
        self, *, repeats: ArrayLike | None = None, continues: ArrayLike | None = None
    ) -> Automaton:
        """Return the Aho–Corasick automaton of the patterns.

        State 0 is the empty context, state ``1 + y`` is label ``y``; then follow the longer proper
        prefixes of patterns, by (length, letters). An arc leads to the longest state that is a
        suffix of the letters read, and fires every pattern that is one. The parents of states are
        their failure links: the longest proper suffixes that are states.

        Parameters
        ----------
        repeats
            Whether a segment of label ``y`` may follow one of the same label, shape ``(L,)``.
            Default: always.
        continues
            Whether a further ``y`` belongs to the same segment: the state stays and nothing fires,
            as in a run of outside tokens. Overrides `repeats`. Default: never.

        Returns
        -------
        Automaton
            For all pairs of labels, `Automaton.chain`.
        """
        may_repeat = self._flags("repeats", repeats, default=True)
        stays = self._flags("continues", continues, default=False)
        if self.is_chain and may_repeat.all() and not stays.any():
            return Automaton.chain(self.n_labels)
        return self._trie(may_repeat & ~stays).automaton(may_repeat, stays)

    def fired(self, letters: ArrayLike, offsets: ArrayLike) -> tuple[IntArray, IdArray]:
        """Find the patterns that end at each segment of label sequences.

        Parameters
        ----------
        letters
            The letter of each segment, shape ``(M,)``; no pattern reaches over ``-1``.
        offsets
            Sequence ``b`` is ``letters[offsets[b]:offsets[b + 1]]``, shape ``(B + 1,)``.

        Returns
        -------
        offsets, ids : numpy.ndarray
            Segment ``m`` ends the patterns ``ids[offsets[m]:offsets[m + 1]]``, shortest first.

        Examples
        --------
        >>> offsets, ids = Patterns.of([(0,), (1, 0), (0, 1, 0)], 2).fired([0, 1, 0], [0, 3])
        >>> offsets.tolist(), ids.tolist()
        ([0, 1, 1, 4], [0, 0, 1, 2])
        """
        sequences = LetterSequences.of(letters, offsets, self.n_labels)
        if self.is_chain:
            return pattern_counts.find_pairs(sequences, self.n_labels)
        every = np.ones(self.n_labels, dtype=bool)
        return self._trie(every).find(*sequences)

    def places_in(self, other: Patterns, letters: ArrayLike) -> IntArray:
        """Return the id of each pattern in another set, -1 if it is not there; shape ``(P,)``.

        Parameters
        ----------
        other
            Patterns over other letters.
        letters
            The letter that each of these letters is there, or -1; shape ``(L,)``.
        """
        there = np.asarray(letters).tolist()
        place = {pattern: i for i, pattern in enumerate(other)}
        return np.array(
            [place.get(tuple(there[y] for y in pattern), -1) for pattern in self], dtype=np.int64
        )

    def names(self, labels: Sequence[str]) -> list[tuple[str, ...]]:
        """Return the patterns as tuples of label names."""
        return [tuple(labels[y] for y in pattern) for pattern in self]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays by name, for a model file; see :meth:`restore`."""
        parts: dict[str, NDArray[Any]] = {"offsets": self.offsets, "letters": self.letters}
        return parts if self.counts is None else parts | {"counts": self.counts}

    @classmethod
    def restore(cls, n_labels: int, arrays: Mapping[str, NDArray[Any]]) -> Patterns:
        """Rebuild patterns from :meth:`arrays`; a `DataError` unless they are a sorted set."""
        counts = None
        if "counts" in arrays:
            counts = stored(arrays, "counts", np.int64)
            if (counts < 0).any():
                raise DataError("Patterns: expected counts from 0 up.")
        offsets = stored(arrays, "offsets", np.int64)
        return cls(n_labels, offsets, stored(arrays, "letters", np.int32), counts)

    def _flags(self, name: str, given: ArrayLike | None, *, default: bool) -> BoolArray:
        if given is None:
            return np.full(self.n_labels, default)
        flags = np.asarray(given, dtype=bool)
        if flags.shape != (self.n_labels,):
            raise ValueError(f"{name}: expected shape ({self.n_labels},), got {flags.shape}.")
        return flags

    def _trie(self, repeats: BoolArray) -> Trie:
        """Return the trie of the patterns that can occur if only some letters repeat, ``(L,)``."""
        key = repeats.tobytes()
        if key not in self._tries:
            self._tries[key] = Trie.of(self.letters, self.offsets, self.n_labels, repeats)
        return self._tries[key]

    @cached_property
    def _tries(self) -> dict[bytes, Trie]:
        return {}

    def __len__(self) -> int:
        return int(self.offsets.size - 1)

    def __getitem__(self, index: int) -> tuple[int, ...]:
        return tuple(self.letters[self.offsets[index] : self.offsets[index + 1]].tolist())

    def __iter__(self) -> Iterator[tuple[int, ...]]:
        flat = self.letters.tolist()
        offsets = self.offsets.tolist()
        return (tuple(flat[a:b]) for a, b in pairwise(offsets))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Patterns):
            return NotImplemented
        return (
            self.n_labels == other.n_labels
            and np.array_equal(self.offsets, other.offsets)
            and np.array_equal(self.letters, other.letters)
        )

    def __hash__(self) -> int:
        return hash((self.n_labels, self.offsets.tobytes(), self.letters.tobytes()))

    def __repr__(self) -> str:
        return f"Patterns({len(self)} over {self.n_labels} labels, order={self.order})"


def checked_patterns(patterns: Iterable[Sequence[int]], n_labels: int) -> list[tuple[int, ...]]:
    """Return patterns of label ids, sorted; raise a `LabelError` for empty or repeated ones."""
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
    """Return patterns of label names as patterns of ids, in the given order."""
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
    letters: IdArray,
    counts: IntArray | None,
) -> None:
    """Raise a `DataError` for arrays of a broken file, which are not a sorted set of patterns."""
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


def _is_sorted(offsets: IntArray, letters: IdArray) -> bool:
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
