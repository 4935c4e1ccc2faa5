"""Marked automata: what a path counts, for prices on counts.

A linear constraint counts *events*: "a title begins here". Which events a token is depends on its
label and the one before it, so every arc of an automaton whose states know the last label is one
event, or none. On a chain the patterns, pairs of labels, are the events; on any other automaton
every arc fires one more pattern, that of its event. ``R`` rows, ``E`` events, ``L`` letters (labels
in a chain, names of segments in a semi-Markov model), ``P`` patterns.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from trelliswork import _core
from trelliswork.automaton import Automaton
from trelliswork.constraints.rows import Row
from trelliswork.errors import RuleError
from trelliswork.product import product

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from trelliswork.labels import LabelSet
    from trelliswork.segmentation import Segmentation

__all__ = ["Events", "MarkedAutomaton"]


@dataclass(frozen=True, eq=False)
class Events:
    """What linear constraints count.

    Attributes
    ----------
    table : numpy.ndarray
        The event of letter ``y`` after letter ``p``, entry ``[p + 1, y]``; row 0 is the start of
        the sequence; -1: none. Shape ``(L + 1, L)``.
    matrix : numpy.ndarray
        ``a``: what each event adds to the left side of each row, shape ``(R, E)``.
    bounds : numpy.ndarray
        ``b``: the right sides, shape ``(R,)``.
    """

    table: NDArray[np.int32]
    matrix: NDArray[np.int64]
    bounds: NDArray[np.int64]

    @classmethod
    def of_rows(
        cls, rows: Sequence[Row], labels: LabelSet, segmentation: Segmentation | None = None
    ) -> Events:
        """Find the events that rows tell apart.

        Raises
        ------
        RuleError
            Where a row counts tokens in a semi-Markov model, whose letters are segments.
        """
        counted = dict.fromkeys((name, unit) for row in rows for _, name, unit in row.terms)
        places = {term: place for place, term in enumerate(counted)}
        n_letters = len(labels) if segmentation is None else segmentation.n_letters
        cells = np.zeros((len(places), (n_letters + 1) * n_letters), dtype=np.int64)
        for (name, unit), place in places.items():
            own = Row(((1, name, unit),), 0)
            cells[place] = _letter_table(own, labels, segmentation).ravel()
        coefficients = np.zeros((len(rows), len(places)), dtype=np.int64)
        for i, row in enumerate(rows):
            for coefficient, name, unit in row.terms:
                coefficients[i, places[name, unit]] += coefficient
        kinds, kind_of = np.unique(cells, axis=1, return_inverse=True)
        kind_of = kind_of.ravel()
        counts = kinds.any(axis=0)  # the others are no event
        ids = np.where(counts, np.cumsum(counts) - 1, -1).astype(np.int32)
        return cls(
            ids[kind_of].reshape(n_letters + 1, n_letters),
            coefficients @ kinds[:, counts],
            np.array([row.bound for row in rows], dtype=np.int64),
        )

    @property
    def n_events(self) -> int:
        """Number of events, ``E``."""
        return int(self.matrix.shape[1])

    def take(self, rows: NDArray[np.int64]) -> Events:
        """Return the same events for some of the rows."""
        return replace(self, matrix=self.matrix[rows], bounds=self.bounds[rows])

    def excesses(self, letters: NDArray[np.int32], offsets: NDArray[np.int64]) -> NDArray[np.int64]:
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
        counts = np.zeros((n_sequences, self.n_events), dtype=np.int64)
        np.add.at(counts, (sequence[there], events[there]), 1)
        return counts @ self.matrix.T - self.bounds


@dataclass(frozen=True, eq=False)
class MarkedAutomaton:
    """An automaton whose patterns tell the events of its arcs.

    Attributes
    ----------
    automaton : Automaton
        A chain as it is; any other with ``E`` more patterns, after its own.
    pattern_event : numpy.ndarray
        Event of every pattern, -1 for none, shape ``(P,)`` or ``(P + E,)``.
    start_event : numpy.ndarray or None
        In a chain, whose arcs from the start fire nothing: event of the first label, ``(L,)``.
    """

    automaton: Automaton
    pattern_event: NDArray[np.int32]
    start_event: NDArray[np.int32] | None

    @classmethod
    def mark(cls, automaton: Automaton, events: Events) -> MarkedAutomaton:
        """Mark the arcs of an automaton over the letters of some events."""
        if automaton.is_chain:
            return cls(automaton, events.table[1:].ravel(), events.table[0])
        last = _last_letters(automaton)
        if last is None:  # tell states apart by their last letter
            chain = Automaton.chain(automaton.n_labels)
            memory = Automaton(
                chain.n_states, chain.n_labels, chain.source, chain.label, chain.target
            )
            n_classes = automaton.n_classes
            assert n_classes == 1, "products with token tests are products with a chain"
            automaton = product(automaton, memory).automaton
            last = _last_letters(automaton)
            assert last is not None, "every state of a chain knows the last letter"
        own = events.table[last[automaton.source] + 1, automaton.label]
        return cls(
            _with_patterns(automaton, own, events.n_events),
            np.concatenate([np.full(automaton.n_patterns, -1), np.arange(events.n_events)]).astype(
                np.int32
            ),
            None,
        )

    def weights(self, given: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
        """Return weights of the patterns of the automaton: those of events are 0."""
        n_patterns = self.automaton.n_patterns
        if given is None or given.size == n_patterns:
            return given
        return np.concatenate([given, np.zeros(n_patterns - given.size)])

    def rows(self, events: Events, penalties: NDArray[np.float64]) -> _core.CountRows:
        """Return rows with their penalties, ``(R,)``, as the core reads them."""
        row, event = np.nonzero(events.matrix)
        return _core.CountRows(
            events.n_events,
            np.ascontiguousarray(self.pattern_event, dtype=np.int32),
            None
            if self.start_event is None
            else np.ascontiguousarray(self.start_event, dtype=np.int32),
            np.searchsorted(row, np.arange(len(events.matrix) + 1)).astype(np.int64),
            event.astype(np.int32),
            events.matrix[row, event],
            events.bounds.astype(np.float64),
            np.ascontiguousarray(penalties, dtype=np.float64),
        )


def _letter_table(
    row: Row, labels: LabelSet, segmentation: Segmentation | None
) -> NDArray[np.int64]:
    """Return what letter ``y`` after letter ``p`` adds to a row, entry ``[p + 1, y]``."""
    if segmentation is None:
        return row.table(labels)
    if any(unit != "segment" for _, _, unit in row.terms):
        raise RuleError(
            f"count({row.terms[0][1]!r}, unit='token') depends on how many tokens segments have: a "
            "semi-Markov model reads one letter a segment. Count segments, or set max_segment=1."
        )
    if not segmentation.is_hidden:
        return row.table(segmentation.letter_set)
    # Neighbours of one letter are one segment for rules: count as the labels say.
    first = segmentation.token_of_tag[: segmentation.n_letters]
    before = np.concatenate([[0], first + 1])
    return row.table(segmentation.labels)[before][:, first]


def _last_letters(automaton: Automaton) -> NDArray[np.int64] | None:
    """Return the letter that leads to each state, -1 where none does; None where several do."""
    last = np.full(automaton.n_states, -1, dtype=np.int64)
    last[automaton.target] = automaton.label
    known = bool((last[automaton.target] == automaton.label).all())
    starts = np.flatnonzero(np.isfinite(automaton.initial))
    return last if known and bool((last[starts] == -1).all()) else None


def _with_patterns(automaton: Automaton, event: NDArray[np.int32], n_events: int) -> Automaton:
    """Return an automaton whose arcs fire a pattern for their event, after all others."""
    arrays = automaton._arrays()
    there = event >= 0
    counts = np.diff(arrays.pattern_offsets) + there
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    fired = np.empty(int(offsets[-1]), dtype=np.int32)
    fired[offsets[1:][there] - 1] = automaton.n_patterns + event[there]
    own = np.ones(fired.size, dtype=bool)
    own[offsets[1:][there] - 1] = False
    fired[own] = arrays.pattern_ids
    contexts = arrays.contexts
    if contexts is not None and not _agree(event, contexts[automaton.source], automaton.label):
        contexts = None
    return Automaton._from_arrays(
        arrays._replace(
            contexts=contexts,
            n_patterns=automaton.n_patterns + n_events,
            pattern_offsets=offsets,
            pattern_ids=fired,
        ),
        automaton.labels,
    )


def _agree(event: NDArray[np.int32], context: NDArray[np.int32], label: NDArray[np.int32]) -> bool:
    """Return whether the arcs of one context and label have one event."""
    told_apart = np.unique(np.stack([context, label, event]), axis=1)
    return told_apart.shape[1] == np.unique(np.stack([context, label]), axis=1).shape[1]
