"""Trellises that force one segment, for the probability of a span.

Pairs of adjacent labels decide whether ``[start, end)`` is a segment of a name: one begins at its
first token, goes on at the others, and does not go on at the token after it. So arcs get guards,
and tokens one of four roles:

==========  ==============================================
elsewhere   any arc
first       arcs at which a segment of the name begins
inside      arcs at which it goes on
after       arcs at which it does not go on
==========  ==============================================
"""

from __future__ import annotations

from functools import lru_cache
from itertools import repeat
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from trelliswork.automata.automaton import Automaton
from trelliswork.errors import DataError, LabelError, TooLargeError
from trelliswork.inference.trellis import derive

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trelliswork._typing import FloatArray, IntArray
    from trelliswork.inference.trellis import Trellis
    from trelliswork.labels.label_set import LabelSet

__all__ = ["WantedSpan", "collect_spans", "guarded_trellises", "split_by_sequence"]

ROLES = 4
ELSEWHERE, FIRST, INSIDE, AFTER = range(ROLES)
MAX_CLASSES = 64  # a guard has one bit a class
KEPT_ARCS = 20_000  # of the largest automaton whose guards are kept for the next batch


class WantedSpan(NamedTuple):
    """A span whose probability is asked for."""

    sequence: int
    start: int
    end: int
    name: str


def collect_spans(
    spans: Sequence[Sequence[tuple[int, int, str]]],
    labels: LabelSet,
    lengths: IntArray,
) -> list[WantedSpan]:
    """Return the checked spans of all sequences in one list."""
    if len(spans) != lengths.size:
        raise DataError(
            f"spans: expected a list for each of the {lengths.size} sequences, got {len(spans)}."
        )
    found = []
    for sequence, (own, length) in enumerate(zip(spans, lengths.tolist(), strict=True)):
        for start, end, name in map(_triple, own, repeat(sequence)):
            if not 0 <= start < end <= length:
                raise DataError(
                    f"spans: sequence {sequence}: expected 0 <= start < end <= {length}, got "
                    f"({start}, {end}, {name!r})."
                )
            if name not in labels.segment_names:
                raise LabelError(
                    f"spans: sequence {sequence}: unknown segment {name!r}. Known are "
                    f"{', '.join(labels.segment_names)}."
                )
            found.append(WantedSpan(sequence, start, end, name))
    return found


def split_by_sequence(
    values: FloatArray, spans: Sequence[Sequence[tuple[int, int, str]]]
) -> list[FloatArray]:
    """Split values, one a span, by sequence."""
    counts = [len(own) for own in spans]
    return np.split(values, np.cumsum(counts)[:-1]) if counts else []


def _triple(given: Any, sequence: int) -> tuple[int, int, str]:
    try:
        start, end, name = given
        return int(start), int(end), name
    except (TypeError, ValueError):
        raise DataError(
            f"spans: sequence {sequence}: expected a list of (start, end, name), got {given!r} in "
            "it. Give one list of spans a sequence."
        ) from None


def guarded_trellises(
    trellis: Trellis, labels: LabelSet, wanted: Sequence[WantedSpan]
) -> Iterator[tuple[list[int], Trellis]]:
    """Yield for each name the positions of its spans and a batch in which each is forced.

    Parameters
    ----------
    trellis
        The batch, one label a token; its states remember the last label, as those of a chain, of
        label patterns, and of their products do.
    labels
        The ``L`` labels.
    wanted
        The spans; a sequence takes part once for each of its own.
    """
    for name in sorted({span.name for span in wanted}):
        places = [i for i, span in enumerate(wanted) if span.name == name]
        is_small = trellis.automaton.n_arcs <= KEPT_ARCS
        guard = _guarded if is_small else _guarded.__wrapped__  # large automata are not cached
        automaton = guard(trellis.automaton, labels, name)
        sequences = np.array([wanted[i].sequence for i in places])
        batch = derive(trellis, sequences=sequences)
        roles = np.full(batch.n_tokens, ELSEWHERE, dtype=np.uint8)
        for place, first, last in zip(places, batch.offsets, batch.offsets[1:], strict=False):
            own = roles[first:last]
            start, end = wanted[place].start, wanted[place].end
            own[start], own[start + 1 : end], own[end : end + 1] = FIRST, INSIDE, AFTER
        if batch.classes is not None:
            roles += batch.classes * np.uint8(ROLES)
        yield places, derive(batch, automaton=automaton, classes=roles)


@lru_cache(maxsize=1024)
def _guarded(automaton: Automaton, labels: LabelSet, name: str) -> Automaton:
    """Return the automaton with guards: each arc fits some of the four roles of a token.

    Class ``c`` of the automaton and role ``r`` become class ``4 c + r``.
    """
    n_classes = automaton.n_classes * ROLES
    if n_classes > MAX_CLASSES:
        raise TooLargeError(
            f"Expected at most {MAX_CLASSES // ROLES} token classes, got {automaton.n_classes}. "
            "Use fewer token tests in the constraints."
        )
    before = _last_labels(automaton)[automaton.source] + 1  # row of the label before; 0: the start
    begins = labels.beginnings[name]
    # After the start every level of a label begins; a segment that does not begin is not there.
    continues = begins[:1] & ~begins
    fits = np.ones((automaton.n_arcs, ROLES), dtype=bool)
    fits[:, FIRST] = begins[before, automaton.label]
    fits[:, INSIDE] = continues[before, automaton.label]
    fits[:, AFTER] = ~continues[before, automaton.label]
    guards = np.zeros(automaton.n_arcs, dtype=np.uint64)
    for own_class in range(automaton.n_classes):
        usable = np.ones(automaton.n_arcs, dtype=bool)
        if automaton.guards is not None:
            usable = (automaton.guards >> np.uint64(own_class)) & np.uint64(1) > 0
        for role in range(ROLES):
            bit = np.uint64(own_class * ROLES + role)
            guards |= (usable & fits[:, role]).astype(np.uint64) << bit
    parts = automaton._arrays()._replace(guards=guards, n_classes=n_classes)
    return Automaton._from_arrays(parts)


def _last_labels(automaton: Automaton) -> IntArray:
    """Return the label of the arcs into each state, shape ``(S,)``; -1 for the start."""
    last = np.full(automaton.n_states, -1, dtype=np.int64)
    last[automaton.target] = automaton.label
    remembered = last[automaton.target] == automaton.label
    if not remembered.all() or (np.isfinite(automaton.initial) & (last >= 0)).any():
        raise ValueError(
            "trellis: expected an automaton whose states remember the last label, got "
            f"{automaton!r}."
        )
    return last
