"""Events: classes of pairs of neighbouring labels that add the same to every row.

A row sums *quantities*: segments or tokens of some name. Which of them a token adds to depends on
its label and the one before it. Pairs of labels that no row tells apart are one *event*, unless
they add nothing. ``R`` rows, ``M`` quantities, ``E`` events, ``L`` letters (labels in a chain,
names of segments in a semi-Markov model), ``B`` sequences.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from trelliswork.constraints.rows import Row
from trelliswork.planning.splitting import letter_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trelliswork._typing import IdArray, IntArray
    from trelliswork.labels.label_set import LabelSet
    from trelliswork.labels.segmentation import Segmentation

__all__ = ["Events"]


@dataclass(frozen=True, eq=False)
class Events:
    """The events of some rows, and their increments.

    Attributes
    ----------
    table : numpy.ndarray
        The event of letter ``y`` after letter ``p``, entry ``[p + 1, y]``; ``[0, y]`` is the start
        of the sequence; -1: none. Shape ``(L + 1, L)``.
    counts : numpy.ndarray
        How often each event counts for each quantity, shape ``(E, M)``.
    coefficients : numpy.ndarray
        ``c``: of the quantities in each row, shape ``(R, M)``.
    bounds : numpy.ndarray
        ``b``: the right sides, shape ``(R,)``.
    """

    table: IdArray
    counts: IntArray
    coefficients: IntArray
    bounds: IntArray

    @classmethod
    def of_rows(
        cls, rows: Sequence[Row], labels: LabelSet, segmentation: Segmentation | None = None
    ) -> Events:
        """Return the events of some rows.

        Raises
        ------
        RuleError
            If a row counts tokens in a semi-Markov model, whose letters are segments.
        """
        quantities = dict.fromkeys((name, unit) for row in rows for _, name, unit in row.terms)
        places = {quantity: place for place, quantity in enumerate(quantities)}
        n_letters = len(labels) if segmentation is None else segmentation.n_letters
        cells = np.zeros((len(places), (n_letters + 1) * n_letters), dtype=np.int64)
        for (name, unit), place in places.items():
            own = Row(((1, name, unit),), 0)
            cells[place] = letter_table(own, labels, segmentation).ravel()
        coefficients = np.zeros((len(rows), len(places)), dtype=np.int64)
        for i, row in enumerate(rows):
            for coefficient, name, unit in row.terms:
                coefficients[i, places[name, unit]] = coefficient
        kinds, kind_of = np.unique(cells, axis=1, return_inverse=True)
        counts = kinds.any(axis=0)  # the others are no event
        ids = np.where(counts, np.cumsum(counts) - 1, -1).astype(np.int32)
        return cls(
            ids[kind_of.ravel()].reshape(n_letters + 1, n_letters),
            np.ascontiguousarray(kinds[:, counts].T),
            coefficients,
            np.array([row.bound for row in rows], dtype=np.int64),
        )

    @property
    def n_events(self) -> int:
        """Number of events, ``E``."""
        return len(self.counts)

    def take(self, rows: IntArray) -> Events:
        """Return the same events for some of the rows."""
        return replace(self, coefficients=self.coefficients[rows], bounds=self.bounds[rows])

    @property
    def added(self) -> IntArray:
        """Increment of the left side of each row by each event, shape ``(R, E)``."""
        return self.coefficients @ self.counts.T

    def row_table(self, row: int) -> IntArray:
        """Return the increments of a row by pairs of letters, shape ``(L + 1, L)``."""
        added = self.counts @ self.coefficients[row]
        return np.append(added, 0)[self.table]  # -1, no event, is the last

    def excesses(self, letters: IdArray, offsets: IntArray) -> IntArray:
        """Return ``a · n(y) − b`` of a batch of letter sequences, shape ``(B, R)``.

        Parameters
        ----------
        letters
            Letters of all sequences, one after the other.
        offsets
            Sequence ``b`` is letters ``offsets[b]`` to ``offsets[b + 1]``, shape ``(B + 1,)``.
        """
        n_sequences = offsets.size - 1
        before = np.concatenate([[0], letters[:-1] + 1]) if letters.size else letters
        before[offsets[:-1][np.diff(offsets) > 0]] = 0
        events = self.table[before, letters]
        sequence = np.repeat(np.arange(n_sequences), np.diff(offsets))
        there = events >= 0
        cells = sequence[there] * self.n_events + events[there]
        met = np.bincount(cells, minlength=n_sequences * self.n_events)
        # Floats multiply faster, and are exact far beyond what any sentence counts.
        counts = met.reshape(n_sequences, self.n_events).astype(np.float64) @ self.counts
        sums = counts @ self.coefficients.T.astype(np.float64)
        return sums.astype(np.int64) - self.bounds
