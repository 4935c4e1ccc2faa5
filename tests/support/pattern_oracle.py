"""Models of high order by enumeration: label tuples are compared, no automaton is asked."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from oracle import EnumeratedPath, segmentations
from trelliswork.automata.product import product
from trelliswork.inference.verbs import Trellis

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    from trelliswork.automata.automaton import Automaton
    from trelliswork.automata.patterns import Patterns


@dataclass(frozen=True)
class PatternPath(EnumeratedPath):
    fired: tuple[tuple[int, int, int], ...]  # (last token, duration, pattern)


@dataclass
class PatternModel:
    """One sequence, and a set of patterns with their weights."""

    patterns: Patterns
    scores: np.ndarray  # (T, D, L)
    weights: np.ndarray  # (P,)
    position_weights: np.ndarray | None  # (T, P)
    repeats: list[bool]
    continues: list[bool]
    accepts: Callable[[tuple[int, ...]], bool] | None = None  # reads one letter a segment
    language: Automaton | None = field(default=None, repr=False)
    memory_limit: int = 2**20

    @cached_property
    def spelled(self) -> list[tuple[int, ...]]:
        return list(self.patterns)

    def automaton(self) -> Automaton:
        automaton = self.patterns.automaton(repeats=self.repeats, continues=self.continues)
        if self.language is None:
            return automaton
        return product(automaton, self.language.unambiguous()).automaton

    def trellis(self, automaton: Automaton | None = None, **changes) -> Trellis:
        options = {
            "weights": self.weights,
            "position_weights": self.position_weights,
            "memory_limit": self.memory_limit,
        } | changes
        return Trellis(self.scores, self.automaton() if automaton is None else automaton, **options)

    def paths(self) -> list[PatternPath]:
        """All segmentations and their labels that have a finite score."""
        length, longest, n_labels = self.scores.shape
        return [
            path
            for durations in segmentations(length, longest)
            for letters in itertools.product(range(n_labels), repeat=len(durations))
            if self.accepts is None or self.accepts(letters)
            if (path := self.path(durations, letters)) is not None
        ]

    def path(self, durations: tuple[int, ...], letters: tuple[int, ...]) -> PatternPath | None:
        terms, end = [], 0
        read: tuple[int, ...] = ()
        segments, fired = [], []
        for duration, y in zip(durations, letters, strict=True):
            begin, end = end, end + duration
            segments.append((end - 1, duration, y))
            terms.append(float(self.scores[end - 1, duration - 1, y]))
            if read and read[-1] == y and self.continues[y]:
                continue  # the same run: nothing new was read
            if read and read[-1] == y and not self.repeats[y]:
                return None
            read = (*read, y)
            for z, pattern in enumerate(self.spelled):
                if read[-len(pattern) :] == pattern:
                    terms.append(float(self.weights[z]))
                    if self.position_weights is not None and z < self.position_weights.shape[1]:
                        terms.append(float(self.position_weights[begin, z]))
                    fired.append((end - 1, duration, z))
        if -math.inf in terms:
            return None
        return PatternPath(
            labels=tuple(y for _, d, y in segments for _ in range(d)),
            begins=tuple(i == 0 for _, d, _ in segments for i in range(d)),
            segments=tuple(segments),
            arcs=(),
            terms=tuple(terms),
            fired=tuple(fired),
        )
