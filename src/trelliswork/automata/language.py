"""Automata as regular languages: what they accept, and how to combine them.

A *language* is an `Automaton` without patterns, whose initial and final weights are 0 or ``-inf``:
a set of label sequences. The words here are methods of `Automaton`; the work is done in C++.
Letters: ``S`` states, ``A`` arcs, ``L`` labels.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from trelliswork import _core
from trelliswork.automata import enumeration
from trelliswork.automata.algebra import (
    MAX_STATES,
    PAIRS_A_STATE,
    from_core,
    is_unambiguous,
    smallest_unambiguous,
    within,
)
from trelliswork.errors import LabelError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

    from trelliswork.automata.automaton import Automaton

__all__ = ["MAX_STATES", "LanguageMethods"]


def _whole(name: str, numbers: ArrayLike) -> NDArray[np.int64]:
    """Return an array of whole numbers; no fraction is cut off."""
    array = np.asarray(numbers)
    if array.size and array.dtype.kind not in "iu":
        raise TypeError(f"accepts_batch: expected whole numbers as {name}, got {array.dtype}.")
    return np.ascontiguousarray(array, dtype=np.int64)


class LanguageMethods:
    """The methods that an automaton has as a language."""

    n_states: int
    n_labels: int
    n_patterns: int
    source: NDArray[np.int32]
    label: NDArray[np.int32]
    target: NDArray[np.int32]
    initial: NDArray[np.float64]
    final: NDArray[np.float64]
    labels: tuple[str, ...] | None
    guards: NDArray[np.uint64] | None

    @cached_property
    def _language(self) -> _core.Language:
        weights = np.concatenate([self.initial, self.final])
        plain = self.n_patterns == 0 and self.guards is None
        if not plain or not np.all((weights == 0.0) | np.isneginf(weights)):
            raise TypeError(
                "Expected a language: an automaton without patterns and guards, with initial and "
                f"final weights 0 or -inf. Got {self!r}."
            )
        return _core.Language(
            self.n_states,
            self.n_labels,
            self.source,
            self.label,
            self.target,
            (self.initial == 0.0).astype(np.uint8),
            (self.final == 0.0).astype(np.uint8),
        )

    def _made(self, language: _core.Language) -> Automaton:
        return from_core(language, self.labels)

    def _joined(self, other: Automaton) -> tuple[str, ...] | None:
        """Return the labels of both, or say how they differ."""
        if self.n_labels != other.n_labels:
            raise LabelError(
                f"Expected two languages over the same labels, got {self.n_labels} and "
                f"{other.n_labels} of them. Build both with one label list."
            )
        if self.labels is not None and other.labels is not None and self.labels != other.labels:
            pairs = zip(self.labels, other.labels, strict=True)
            at = next(i for i, (mine, theirs) in enumerate(pairs) if mine != theirs)
            raise LabelError(
                "Expected two languages over the same labels in the same order, but label "
                f"{at} is {self.labels[at]!r} in one and {other.labels[at]!r} in the other. "
                "Build both with one label list."
            )
        return other.labels if self.labels is None else self.labels

    @cached_property
    def _known(self) -> dict[str, int]:
        return {name: y for y, name in enumerate(self.labels or ())}

    def _ids(self, labels: Sequence[str | int]) -> NDArray[np.int64]:
        """Return label ids for names or ids."""
        if isinstance(labels, str):
            raise TypeError(f"Expected a sequence of labels, got the string {labels!r}.")
        ids = np.zeros(len(labels), dtype=np.int64)
        for position, label in enumerate(labels):
            where = f"position {position}: "
            if isinstance(label, int | np.integer):
                ids[position] = label
            elif not isinstance(label, str):
                raise LabelError(f"{where}expected a label name or id, got {label!r}.")
            elif label in self._known:
                ids[position] = self._known[label]
            elif self.labels is None:
                raise LabelError(
                    f"{where}expected a label id, got {label!r}: this automaton has no label "
                    "names. Make it with labels=."
                )
            else:
                known = ", ".join(self.labels)
                raise LabelError(f"{where}unknown label {label!r}. Known labels: {known}.")
        return ids

    # What it accepts

    def accepts(self, labels: Sequence[str | int]) -> bool:
        """Return whether a sequence of label names or ids is in the language."""
        ids = self._ids(labels)
        return bool(self.accepts_batch(ids, np.array([0, ids.size]))[0])

    def accepts_batch(self, label_ids: ArrayLike, offsets: ArrayLike) -> NDArray[np.bool_]:
        """Return which of many sequences are in the language.

        Parameters
        ----------
        label_ids
            The label ids of all sequences, one after the other, shape ``(N,)``.
        offsets
            Where each sequence begins, and ``N``, shape ``(B + 1,)``.

        Returns
        -------
        numpy.ndarray
            Shape ``(B,)``.
        """
        ids, bounds = _whole("label_ids", label_ids), _whole("offsets", offsets)
        if ids.ndim != 1 or bounds.ndim != 1 or bounds.size == 0:
            raise ValueError(
                "accepts_batch: expected label_ids (N,) and offsets (B + 1,), got shapes "
                f"{ids.shape} and {bounds.shape}."
            )
        accepted = np.zeros(bounds.size - 1, dtype=np.uint8)
        self._language.accepts(ids, bounds, accepted)
        return accepted.astype(np.bool_)

    @property
    def is_empty(self) -> bool:
        """Whether no sequence at all is accepted."""
        return self._language.is_empty

    @property
    def is_deterministic(self) -> bool:
        """Whether there is one initial state, and one way to read a label from any state."""
        return self._language.is_deterministic

    @property
    def is_unambiguous(self) -> bool:
        """Whether every accepted sequence has exactly one path, so that sums count it once."""
        return is_unambiguous(self._language)

    def is_subset(self, other: Automaton, *, max_states: int = MAX_STATES) -> bool:
        """Return whether `other` accepts every sequence that this language accepts."""
        self._joined(other)
        mine, theirs = self._language, other._language
        rest = theirs.complement(max_states)
        if rest is None:  # the mirror image asks the same and may be smaller
            mine, rest = mine.reverse(), theirs.reverse().complement(max_states)
        rest = within(rest, max_states, "The complement, forwards and backwards,")
        both = mine.intersect(rest, max_states * PAIRS_A_STATE)
        return within(both, max_states * PAIRS_A_STATE, "The comparison of two languages").is_empty

    def equivalent(self, other: Automaton, *, max_states: int = MAX_STATES) -> bool:
        """Return whether both accept exactly the same sequences."""
        self._joined(other)
        mine, theirs = self._language, other._language
        pair = mine.minimise(max_states), theirs.minimise(max_states)
        if None in pair:
            pair = mine.reverse().minimise(max_states), theirs.reverse().minimise(max_states)
        first, second = (within(m, max_states, "The comparison of two languages") for m in pair)
        # Minimal automata are numbered alike, so that equal languages have equal arrays.
        arrays: Iterator[tuple[NDArray[np.generic], NDArray[np.generic]]]
        arrays = zip(first.arrays(), second.arrays(), strict=True)
        return all(np.array_equal(one, other) for one, other in arrays)

    def count(self, length: int) -> int:
        """Return how many sequences of a length are accepted."""
        return enumeration.count_strings(self.unambiguous(), length)

    def strings(self, length: int, limit: int | None = None) -> Iterator[tuple[str | int, ...]]:
        """Yield the accepted sequences of a length, each once, in the order of the label ids.

        Parameters
        ----------
        length
            How many labels a sequence has.
        limit
            Stop after this many; ``None`` lists all.
        """
        return enumeration.iterate_strings(self.trim(), length, limit)

    # Combinations

    def __and__(self, other: Automaton) -> Automaton:
        return self.intersect(other) if isinstance(other, LanguageMethods) else NotImplemented

    def __or__(self, other: Automaton) -> Automaton:
        if not isinstance(other, LanguageMethods):
            return NotImplemented
        labels = self._joined(other)
        return from_core(self._language.unite(other._language), labels)

    def __invert__(self) -> Automaton:
        return self.complement()

    def intersect(self, other: Automaton, *, max_states: int = MAX_STATES) -> Automaton:
        """Return the sequences that both accept; ``a & b`` for short.

        The states are the pairs that can be reached. Two unambiguous languages have an unambiguous
        intersection, two deterministic ones a deterministic one.
        """
        labels = self._joined(other)
        made = self._language.intersect(other._language, max_states)
        return from_core(within(made, max_states, "The intersection"), labels)

    def complement(self, *, max_states: int = MAX_STATES) -> Automaton:
        """Return the sequences over the same labels that are not accepted; ``~a`` for short."""
        made = self._language.complement(max_states)
        return self._made(within(made, max_states, "The complement"))

    def concatenate(self, other: Automaton) -> Automaton:
        """Return the sequences made of one from this language, then one from `other`."""
        labels = self._joined(other)
        return from_core(self._language.concatenate(other._language), labels)

    def star(self) -> Automaton:
        """Return the sequences made of any number of sequences of this language."""
        return self._made(self._language.star())

    def reverse(self) -> Automaton:
        """Return the sequences read backwards."""
        return self._made(self._language.reverse())

    # The same language in another shape

    def trim(self) -> Automaton:
        """Return the states that lie on an accepting path.

        The empty language keeps one initial state, which is not final.
        """
        return self._made(self._language.trim())

    def complete(self) -> Automaton:
        """Return an automaton with an arc for every state and label; a sink takes what fails."""
        return self._made(self._language.complete())

    def determinise(self, *, max_states: int = MAX_STATES) -> Automaton:
        """Return a deterministic, trimmed automaton of the same language."""
        made = self._language.determinise(max_states)
        return self._made(within(made, max_states, "Determinisation"))

    def minimise(self, *, max_states: int = MAX_STATES) -> Automaton:
        """Return the smallest deterministic automaton of the same language, trimmed."""
        made = self._language.minimise(max_states)
        return self._made(within(made, max_states, "Determinisation"))

    def unambiguous(self, *, max_states: int = MAX_STATES) -> Automaton:
        """Return a small unambiguous automaton of the same language.

        The smallest, by arcs, then by states, of three: this automaton, if it is unambiguous; the
        minimal deterministic one; the reversed minimal deterministic one of the reversed language.
        """
        what = f"an automaton of {self.n_states:,} states"
        return self._made(smallest_unambiguous(self._language, max_states, what))
