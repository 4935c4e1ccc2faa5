"""`GoldLabels`: the labels of a training set as arrays, partial labels included."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trelliswork._typing import BoolArray, IdArray, IntArray
    from trelliswork.data.sentence import Label
    from trelliswork.labels.label_set import LabelSet

__all__ = ["GoldLabels"]


@dataclass(frozen=True, eq=False)
class GoldLabels:
    """Labels of a training set, over ``L`` letters: token labels, or names of segments.

    Attributes
    ----------
    ids : numpy.ndarray
        Letter of every token, ``-1`` where it is not one name, shape ``(N,)``.
    allowed : numpy.ndarray or None
        Letters that every token may have, shape ``(N, L)``; in a semi-Markov model those that may
        begin and those that may go on there, shape ``(N, 2, L)``. None when all are known.
    begins : numpy.ndarray or None
        Whether a segment begins at the token, shape ``(N,)``; None in a chain, where every token is
        one.
    """

    ids: IdArray
    allowed: BoolArray | None
    begins: BoolArray | None = None

    @classmethod
    def encode(cls, labels: LabelSet, sequences: Sequence[Sequence[Label]]) -> GoldLabels:
        """Encode label sequences; ``None`` is an unlabelled token, a set lists alternatives."""
        flat = [label for sequence in sequences for label in sequence]
        ids = labels.encode(flat)
        return cls(ids, labels.allowed(flat) if (ids < 0).any() else None)

    def tags(self, n_letters: int) -> IdArray:
        """Return the labels as tags over `n_letters` letters, shape ``(N,)``; arbitrary if open.

        See `trelliswork.labels.segmentation`; in a chain tags are labels.
        """
        ids = np.maximum(self.ids, 0)
        return ids if self.begins is None else np.where(self.begins, ids, ids + n_letters)

    @property
    def evidence(self) -> BoolArray | None:
        """Letters that tokens with alternatives may have, shape ``(N, L)``.

        None at the others: `ids` has those that are known, and unlabelled tokens show no pair of a
        feature and a letter.
        """
        if self.allowed is None:
            return None
        anything = self.allowed.all(axis=tuple(range(1, self.allowed.ndim)))
        is_shown: BoolArray = (self.ids < 0) & ~anything
        return self.allowed_somehow & is_shown[:, None]

    @property
    def allowed_somehow(self) -> BoolArray:
        """Letters that every token may have, to begin or to go on, shape ``(N, L)``."""
        assert self.allowed is not None, "asked for only where some token is open"
        if self.allowed.ndim == 2:
            return self.allowed
        return np.logical_or(self.allowed[:, 0], self.allowed[:, 1])

    def open_pairs(self, offsets: IntArray) -> BoolArray:
        """Return the pairs of letters that may be adjacent at an open label, shape ``(L, L)``.

        Parameters
        ----------
        offsets
            Sequence ``b`` is tokens ``offsets[b]`` to ``offsets[b + 1]``, shape ``(B + 1,)``.
        """
        allowed = self.allowed_somehow
        found = np.zeros((allowed.shape[1],) * 2, dtype=bool)
        first = np.zeros(self.ids.size, dtype=bool)
        first[offsets[:-1][offsets[:-1] < offsets[1:]]] = True
        is_open = self.ids < 0
        at = np.flatnonzero(~first & (is_open | np.roll(is_open, 1)))
        for i in at[at > 0]:
            found |= np.outer(allowed[i - 1], allowed[i])
        return found

    def segments(self, offsets: IntArray) -> tuple[IntArray, IntArray]:
        """Return starts and (exclusive) ends of known segments, in tokens of the batch.

        Parameters
        ----------
        offsets
            Sequence ``b`` is tokens ``offsets[b]`` to ``offsets[b + 1]``, shape ``(B + 1,)``.
        """
        begins = np.ones(self.ids.size, dtype=bool) if self.begins is None else self.begins.copy()
        begins[offsets[:-1][offsets[:-1] < offsets[1:]]] = True
        begins[1:] |= self.ids[1:] != self.ids[:-1]
        starts = np.flatnonzero(begins).astype(np.int64)
        ends = np.append(starts[1:], self.ids.size).astype(np.int64)
        known = self.ids[starts] >= 0 if starts.size else np.zeros(0, dtype=bool)
        return starts[known], ends[known]
