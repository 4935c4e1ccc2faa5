"""Counting and listing the sequences of a language."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from trelliswork._typing import IntArray
    from trelliswork.automata.automaton import Automaton

__all__ = ["count_strings", "iterate_strings"]


def check_length(length: int) -> None:
    """Raise a `ValueError` for a negative length."""
    if length < 0:
        raise ValueError(f"Expected a length of 0 or more, got {length}.")


def count_strings(language: Automaton, length: int) -> int:
    """Return the exact number of sequences of a length that an unambiguous automaton accepts."""
    check_length(length)
    # No state is reached by more than L^T strings; machine integers are enough if that fits.
    fits = length * np.log2(max(language.n_labels, 2)) < 62
    ways: IntArray | NDArray[np.object_]
    ways = (language.initial == 0.0).astype(np.int64 if fits else object)  # (S,)
    for _ in range(length):
        now = np.zeros_like(ways)
        np.add.at(now, language.target, ways[language.source])
        ways = now
    return int(ways[language.final == 0.0].sum())


def iterate_strings(
    language: Automaton, length: int, limit: int | None = None
) -> Iterator[tuple[str | int, ...]]:
    """Yield the accepted sequences of a length in the order of the label ids, each once."""
    check_length(length)
    alive = np.zeros((length + 1, language.n_states), dtype=np.bool_)  # can still reach the end
    alive[length] = language.final == 0.0
    for t in reversed(range(length)):
        alive[t, language.source[alive[t + 1, language.target]]] = True
    steps: dict[int, dict[int, list[int]]] = {}
    for source, label, target in zip(
        language.source.tolist(), language.label.tolist(), language.target.tolist(), strict=True
    ):
        steps.setdefault(source, {}).setdefault(label, []).append(target)

    def leave(t: int, states: frozenset[int]) -> Iterator[tuple[int, frozenset[int]]]:
        reached: dict[int, set[int]] = {}
        for state in states:
            for label, targets in steps.get(state, {}).items():
                reached.setdefault(label, set()).update(s for s in targets if alive[t + 1, s])
        return iter([(y, frozenset(reached[y])) for y in sorted(reached) if reached[y]])

    names = range(language.n_labels) if language.labels is None else language.labels
    start = frozenset(np.flatnonzero((language.initial == 0.0) & alive[0]).tolist())
    if not start or limit == 0:
        return
    if length == 0:
        yield ()
        return
    n_yielded = 0
    prefix: list[str | int] = []
    stack = [leave(0, start)]
    while stack:
        step = next(stack[-1], None)
        if step is None:
            stack.pop()
            if prefix:
                prefix.pop()
            continue
        label, states = step
        if len(stack) < length:
            prefix.append(names[label])
            stack.append(leave(len(stack), states))
            continue
        yield (*prefix, names[label])
        n_yielded += 1
        if n_yielded == limit:
            return
