"""What the arcs of a product add to the violations of items, as patterns that they fire."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from trelliswork.automata.product import MOST_ARCS, Pairs, fired_by, is_deterministic
from trelliswork.errors import TooLargeError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from trelliswork._typing import IntArray
    from trelliswork.automata.automaton import Automaton
    from trelliswork.planning.counting_automata import Degrees


__all__ = ["Steps", "contexts_with", "fired_with"]


@dataclass(frozen=True, eq=False)
class Steps:
    """The violation automaton of an item, and its state in each state of a product, ``(S,)``."""

    degrees: Degrees
    states: IntArray

    def on_arcs(self, pairs: Pairs) -> IntArray:
        """Return what each arc of a product adds to the violation, shape ``(A,)``."""
        added, value = self.degrees.added, self.degrees.value
        source, target = self.states[pairs.source], self.states[pairs.target]
        found: IntArray = added[source, pairs.label] + value[target] - value[source]
        return found

    def classes(self) -> IntArray:
        """Return numbers of states that add the same by the same label, shape ``(S,)``."""
        made, added = self.degrees.automaton, self.degrees.added.copy()
        if self.degrees.value.any():  # no letter but its label matters, see `contexts_with`
            change = self.degrees.value[made.target] - self.degrees.value[made.source]
            added[made.source, made.label] += change
        kinds = np.unique(added, axis=0, return_inverse=True)[1].ravel()
        return np.asarray(kinds[self.states], dtype=np.int64)


def fired_with(
    model: Automaton, pairs: Pairs, steps: Sequence[tuple[int, Steps]]
) -> tuple[IntArray, NDArray[np.int32]]:
    """Return the patterns of arcs: those of the model, then those of violations."""
    offsets, ids = fired_by(model, pairs.arc_map)
    arcs = [np.repeat(np.arange(pairs.source.size), np.diff(offsets))]
    patterns = [ids]
    for i, own in steps:
        change = own.on_arcs(pairs)
        times = np.abs(change)
        if times.sum() > MOST_ARCS:
            raise TooLargeError("A row has coefficients too large to be counted unit by unit.")
        pattern = model.n_patterns + 2 * i + (change < 0)
        arcs.append(np.repeat(np.arange(change.size), times))
        patterns.append(np.repeat(pattern, times).astype(np.int32))
    arc, fired = np.concatenate(arcs), np.concatenate(patterns)
    counts = np.bincount(arc, minlength=pairs.source.size)
    return (
        np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        fired[np.argsort(arc, kind="stable")],
    )


def contexts_with(
    model: Automaton, pairs: Pairs, steps: Sequence[Steps]
) -> NDArray[np.int32] | None:
    """Return which states fire the same patterns by the same label, violations included."""
    if not pairs.model_states.size or not is_deterministic(model):
        return None
    if any(own.degrees.reads_tokens for own in steps):
        return None  # one label fires different patterns, as the token has it
    columns = [pairs.model_states.astype(np.int64), *(own.classes() for own in steps)]
    numbers = np.unique(np.stack(columns), axis=1, return_inverse=True)[1]
    return numbers.ravel().astype(np.int32)
