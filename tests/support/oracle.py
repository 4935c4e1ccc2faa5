"""Brute force by enumeration: the judge of every inference routine.

Nothing here is clever. A path is spelled out, its score is added up from the definition, and all
paths of a length are listed.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np

    from trelliswork.inference.verbs import Trellis


@dataclass(frozen=True)
class EnumeratedPath:
    labels: tuple[int, ...]  # of every token
    begins: tuple[bool, ...]
    segments: tuple[tuple[int, int, int], ...]  # (last token, duration, label)
    arcs: tuple[tuple[int, int], ...]  # (first token of the segment, arc)
    terms: tuple[float, ...]  # of the score

    @property
    def score(self) -> float:
        return sum(self.terms)


def segmentations(length: int, longest: int) -> Iterator[tuple[int, ...]]:
    if length == 0:
        yield ()
    for first in range(1, min(length, longest) + 1):
        for rest in segmentations(length - first, longest):
            yield (first, *rest)


def enumerate_paths(
    trellis: Trellis, sequence: int = 0, allowed: np.ndarray | None = None
) -> list[EnumeratedPath]:
    """All paths of one sequence with a finite score."""
    automaton = trellis.automaton
    first, last = trellis.offsets[sequence], trellis.offsets[sequence + 1]
    scores = trellis.scores[first:last]
    length, longest, _ = scores.shape
    leaving: dict[tuple[int, int], list[int]] = {}
    for arc in range(automaton.n_arcs):
        key = (int(automaton.source[arc]), int(automaton.label[arc]))
        leaving.setdefault(key, []).append(arc)
    found = []
    for durations in segmentations(length, longest):
        for segment_labels in itertools.product(range(automaton.n_labels), repeat=len(durations)):
            emission = []
            end = 0
            segments = []
            for index, (duration, y) in enumerate(zip(durations, segment_labels, strict=True)):
                begin, end = end, end + duration
                emission.append(scores[end - 1, duration - 1, y])
                if allowed is not None and not allowed[first + begin : first + end, y].all():
                    emission.append(-math.inf)
                if index == 0 and trellis.start is not None:
                    emission.append(trellis.start[y])
                if index == len(durations) - 1 and trellis.end is not None:
                    emission.append(trellis.end[y])
                segments.append((end - 1, duration, y))
            runs = [
                (state, [automaton.initial[state], *emission], ())
                for state in range(automaton.n_states)
            ]
            for t, duration, y in segments:
                begin = t - duration + 1
                runs = [
                    (
                        int(automaton.target[arc]),
                        [*terms, *arc_terms(trellis, arc, int(first) + begin)],
                        (*taken, (begin, arc)),
                    )
                    for state, terms, taken in runs
                    for arc in leaving.get((state, y), ())
                ]
            for state, terms, taken in runs:
                terms = [*terms, automaton.final[state]]
                if min(terms) > -math.inf:
                    found.append(
                        EnumeratedPath(
                            labels=tuple(y for _, d, y in segments for _ in range(d)),
                            begins=tuple(i == 0 for _, d, _ in segments for i in range(d)),
                            segments=tuple(segments),
                            arcs=taken,
                            terms=tuple(map(float, terms)),
                        )
                    )
    return found


def arc_score(trellis: Trellis, arc: int, token: int) -> float:
    return sum(arc_terms(trellis, arc, token))


def arc_terms(trellis: Trellis, arc: int, token: int) -> list[float]:
    automaton = trellis.automaton
    fired = automaton.pattern_ids[
        automaton.pattern_offsets[arc] : automaton.pattern_offsets[arc + 1]
    ]
    if automaton.guards is not None and trellis.classes is not None:
        is_open = int(automaton.guards[arc]) >> int(trellis.classes[token]) & 1
        if not is_open:
            return [-math.inf]
    terms = []
    for pattern in fired:
        if trellis.weights is not None:
            terms.append(float(trellis.weights[pattern]))
        by_position = trellis.position_weights  # (N, E), of the first E patterns
        if by_position is not None and pattern < by_position.shape[1]:
            terms.append(float(by_position[token, pattern]))
    return terms


def log_sum_exp(values: list[float]) -> float:
    if not values:
        return -math.inf
    largest = max(values)
    return largest + math.log(math.fsum(math.exp(value - largest) for value in values))


def probabilities(paths: list[EnumeratedPath]) -> list[float]:
    log_z = log_sum_exp([path.score for path in paths])
    return [math.exp(path.score - log_z) for path in paths]


def exact_shares(paths: list[EnumeratedPath]) -> tuple[list[float], float]:
    """The probabilities of paths, and log Z, from exact sums of any size."""
    best = paths[0].terms
    for path in paths[1:]:
        if _exceeds(path.terms, best) > 0.0:
            best = path.terms
    masses = [math.exp(_exceeds(path.terms, best)) for path in paths]
    mass = math.fsum(masses)
    return [own / mass for own in masses], math.fsum([*best, math.log(mass)])


def _exceeds(terms: tuple[float, ...], others: tuple[float, ...]) -> float:
    return math.fsum([*terms, *(-other for other in others)])
