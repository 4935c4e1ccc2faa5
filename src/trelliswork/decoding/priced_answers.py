"""Results of decoding with prices: answers, bounds and proofs of a batch.

``B`` sequences, ``N`` tokens, ``R`` rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from trelliswork.decoding.certificate import Certificate, Leaf
from trelliswork.inference.trellis import rows_of
from trelliswork.proofs.answer import OPTIMAL, UNSOLVED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trelliswork._typing import BoolArray, FloatArray, IdArray, IntArray


__all__ = ["SEARCH_METHODS", "PricedAnswers", "SearchMethod", "prices_by_term"]

SearchMethod = Literal["beam", "astar"]

SEARCH_METHODS: tuple[SearchMethod, ...] = get_args(SearchMethod)
"""The method of each code of a search over prefixes."""


@dataclass(eq=False)
class PricedAnswers:
    """Best labellings of a batch, with the parts of their proofs.

    Attributes
    ----------
    tags : numpy.ndarray
        Shape ``(N,)``; -1 without a labelling.
    scores, bounds : numpy.ndarray
        ``P`` of each labelling, and the upper bound of all labellings, shape ``(B,)``.
    status : numpy.ndarray
        The code of each status, as in `trelliswork.proofs.answer`, shape ``(B,)``.
    methods : numpy.ndarray
        Index in `CORE_METHODS` of the method that settled the rows, shape ``(B,)``.
    iterations : numpy.ndarray
        Viterbi passes, shape ``(B,)``.
    rows : tuple of int
        The ``R`` terms that are rows and have a penalty.
    prices : numpy.ndarray
        ``λ``, shape ``(B, R)``.
    counted : numpy.ndarray
        Rows that the proof counts exactly, shape ``(B, R)``.
    bits : list of tuple of int
        The terms in the automaton of each sequence.
    leaves : dict
        By sequence, the leaves of branch and bound.
    given_up : dict
        Sequences that would need a product beyond the budget, and the constraints under which
        their answers are the best.
    searched : dict
        Sequences that a search over prefixes answered, without a proof, and its method.
    """

    tags: IdArray
    scores: FloatArray
    bounds: FloatArray
    status: IdArray
    methods: IdArray
    iterations: IntArray
    rows: tuple[int, ...]
    prices: FloatArray
    counted: BoolArray
    bits: list[tuple[int, ...]]
    leaves: dict[int, tuple[Leaf, ...]] = field(default_factory=dict)
    given_up: dict[int, tuple[int, ...]] = field(default_factory=dict)
    searched: dict[int, SearchMethod] = field(default_factory=dict)

    @classmethod
    def empty(cls, n_sequences: int, n_tokens: int, rows: tuple[int, ...]) -> PricedAnswers:
        """Return empty answers."""
        return cls(
            np.full(n_tokens, -1, dtype=np.int32),
            np.full(n_sequences, -np.inf),
            np.full(n_sequences, np.inf),
            np.full(n_sequences, UNSOLVED, dtype=np.int32),
            np.zeros(n_sequences, dtype=np.int32),
            np.zeros(n_sequences, dtype=np.int64),
            rows,
            np.zeros((n_sequences, len(rows))),
            np.zeros((n_sequences, len(rows)), dtype=bool),
            [()] * n_sequences,
        )

    def put(self, part: PricedAnswers, chosen: IntArray, offsets: IntArray) -> None:
        """Replace the answers of some sequences; their tokens begin at `offsets`, ``(B + 1,)``."""
        self.tags[rows_of(offsets, chosen)] = part.tags
        for name in ("scores", "bounds", "status", "methods"):
            getattr(self, name)[chosen] = getattr(part, name)
        # Under fewer constraints `part` has fewer rows.
        cells = np.ix_(chosen, np.searchsorted(self.rows, part.rows))
        self.prices[chosen], self.counted[chosen] = 0.0, False
        self.prices[cells], self.counted[cells] = part.prices, part.counted
        self.iterations[chosen] += part.iterations
        for place, b in enumerate(chosen.tolist()):
            self.bits[b] = part.bits[place]
            self.leaves.pop(b, None)
            if place in part.leaves:
                self.leaves[b] = part.leaves[place]
            self.given_up.pop(b, None)
            if place in part.given_up:
                self.given_up[b] = part.given_up[place]
            self.searched.pop(b, None)
            if place in part.searched:
                self.searched[b] = part.searched[place]

    def certificate(self, sequence: int) -> Certificate | None:
        """Return the proof of an answer, or None if it has none."""
        if self.status[sequence] != OPTIMAL or sequence in self.searched:
            return None
        counted = [self.rows[r] for r in np.flatnonzero(self.counted[sequence])]
        terms = tuple(sorted((*self.bits[sequence], *counted)))
        leaves = self.leaves.get(sequence)
        if leaves is None:
            leaves = (Leaf((), prices_by_term(self.rows, self.prices[sequence])),)
        return Certificate(terms, leaves)


def prices_by_term(rows: Sequence[int], prices: FloatArray) -> dict[int, float]:
    """Return prices of rows by their terms, without those of 0."""
    return {rows[r]: float(prices[r]) for r in np.flatnonzero(prices).tolist()}
