"""Marked automata: every arc is marked with the event that prices are charged for.

Every arc of an automaton whose states know the last label is one event, or none, see
`trelliswork.planning.events`. On a chain the patterns, pairs of labels, are the events; on any
other automaton every arc fires one more pattern, that of its event. ``R`` rows, ``E`` events, ``L``
letters, ``P`` patterns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from trelliswork import _core
from trelliswork.automata.automaton import Automaton
from trelliswork.automata.product import product

if TYPE_CHECKING:
    from trelliswork._typing import FloatArray, IdArray, IntArray
    from trelliswork.planning.events import Events

__all__ = ["MarkedAutomaton"]


@dataclass(frozen=True, eq=False)
class MarkedAutomaton:
    """An automaton whose patterns mark the events of its arcs.

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
    pattern_event: IdArray
    start_event: IdArray | None

    @classmethod
    def mark(cls, automaton: Automaton, events: Events) -> MarkedAutomaton:
        """Return an automaton over the letters of some events, its arcs marked with these."""
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

    def rows(self, events: Events, penalties: FloatArray) -> _core.CountRows:
        """Return rows with their penalties, ``(R,)``, as the core reads them."""
        start = self.start_event
        return _core.CountRows(
            np.ascontiguousarray(self.pattern_event, dtype=np.int32),
            None if start is None else np.ascontiguousarray(start, dtype=np.int32),
            events.counts.shape[1],
            *_sparse(events.counts),
            *_sparse(events.coefficients),
            events.bounds.astype(np.float64),
            np.ascontiguousarray(penalties, dtype=np.float64),
        )


def _sparse(
    matrix: IntArray,
) -> tuple[IntArray, IdArray, IntArray]:
    """Return a matrix by rows: offsets, columns and values of its nonzero entries."""
    row, column = np.nonzero(matrix)
    offsets = np.searchsorted(row, np.arange(len(matrix) + 1)).astype(np.int64)
    return offsets, column.astype(np.int32), matrix[row, column]


def _last_letters(automaton: Automaton) -> IntArray | None:
    """Return the letter that leads to each state, -1 where none does; None where several do."""
    last = np.full(automaton.n_states, -1, dtype=np.int64)
    last[automaton.target] = automaton.label
    known = bool((last[automaton.target] == automaton.label).all())
    starts = np.flatnonzero(np.isfinite(automaton.initial))
    return last if known and bool((last[starts] == -1).all()) else None


def _with_patterns(automaton: Automaton, event: IdArray, n_events: int) -> Automaton:
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


def _agree(event: IdArray, context: IdArray, label: IdArray) -> bool:
    """Return whether the arcs of one context and label have one event."""
    told_apart = np.unique(np.stack([context, label, event]), axis=1)
    return bool(told_apart.shape[1] == np.unique(np.stack([context, label]), axis=1).shape[1])
