"""The arrays of an automaton in the layout of the core."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from trelliswork import _core

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from trelliswork._typing import FloatArray, IdArray, IntArray

__all__ = ["Arrays", "arc_order", "flat_patterns"]


class Arrays(NamedTuple):
    """The parts of an automaton in the layout of the core: arcs sorted by (target, label, source).

    Arc ``a`` fires the patterns ``pattern_ids[pattern_offsets[a]:pattern_offsets[a + 1]]``; the
    others are those of `Automaton`.
    """

    n_states: int
    n_labels: int
    n_patterns: int
    source: IdArray
    label: IdArray
    target: IdArray
    pattern_offsets: IntArray
    pattern_ids: IdArray
    initial: FloatArray
    final: FloatArray
    guards: NDArray[np.uint64] | None = None
    n_classes: int = 1
    contexts: IdArray | None = None
    parents: IdArray | None = None

    def to_core(self) -> _core.Automaton:
        """Return the automaton of the core, checked."""
        return _core.Automaton(
            self.n_states,
            self.n_labels,
            self.n_patterns,
            (self.source, self.label, self.target),
            (self.pattern_offsets, self.pattern_ids),
            self.initial,
            self.final,
            self.guards,
            self.n_classes,
            self.contexts,
            self.parents,
        )


def arc_order(source: IdArray, label: IdArray, target: IdArray) -> NDArray[np.intp]:
    """Return the order of arcs by (target, label, source); fast if they are sorted already."""
    before, after = (slice(None, -1), slice(1, None))
    in_order = source[before] < source[after]
    for key in (label, target):
        in_order = (key[before] < key[after]) | ((key[before] == key[after]) & in_order)
    return np.arange(source.size) if in_order.all() else np.lexsort((source, label, target))


def flat_patterns(
    fired: Sequence[Sequence[int]] | NDArray[np.integer[Any]], order: NDArray[np.intp]
) -> tuple[IntArray, IdArray]:
    """Return pattern offsets ``(A + 1,)`` and pattern ids of the arcs in a given order."""
    offsets = np.zeros(order.size + 1, dtype=np.int64)
    if isinstance(fired, np.ndarray):
        ids = fired[order]
        np.cumsum(ids >= 0, out=offsets[1:])
        return offsets, ids[ids >= 0].astype(np.int32)
    lists = [fired[i] for i in order]
    np.cumsum([len(ids) for ids in lists], out=offsets[1:])
    return offsets, np.array([i for ids in lists for i in ids], dtype=np.int32)
