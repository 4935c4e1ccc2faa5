"""Posteriors of label patterns at segments: ``P(u, v, z | x)``.

The kernel knows the posterior of an arc into a segment that begins at ``u``, whatever its length.
To separate lengths, labels are multiplied by durations: letter ``d * L + y`` is label ``y`` on
exactly ``d + 1`` tokens. The arcs of that automaton have both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from trelliswork.automata.automaton import Automaton
from trelliswork.inference.trellis import Trellis, derive
from trelliswork.inference.verbs import marginals

if TYPE_CHECKING:
    from trelliswork._typing import FloatArray


__all__ = ["pattern_marginals"]


def pattern_marginals(trellis: Trellis, *, n_jobs: int | None = None) -> FloatArray:
    """Probability of a segment that ends a pattern, ``P(u, v, z | x)``.

    Summed over tokens and durations it is `Marginals.pattern_counts`. Costs ``D`` times the
    memory and time of arc posteriors, one sequence after another.

    Parameters
    ----------
    trellis
        The batch.
    n_jobs
        Threads.

    Returns
    -------
    numpy.ndarray
        Entry ``[t, d, z]``: a segment of ``d + 1`` tokens that ends at token ``t`` is the last one
        of pattern ``z``; shape ``(N, D, P)``. In an automaton that fires a pattern more than once
        on an arc, the expected number of times.

    Examples
    --------
    >>> found = pattern_marginals(Trellis(np.zeros((2, 2))))  # two labels: four pairs
    >>> found[1, 0].tolist()
    [0.25, 0.25, 0.25, 0.25]
    """
    automaton = trellis.automaton
    n_durations = trellis.scores.shape[1]
    found = np.zeros((trellis.n_tokens, n_durations, automaton.n_patterns))
    by_duration = _with_durations(automaton, n_durations)
    # The arcs of each pattern, one after another: posteriors are then summed in runs.
    arcs = np.repeat(np.arange(by_duration.n_arcs), np.diff(by_duration.pattern_offsets))
    cells = (
        by_duration.label[arcs].astype(np.int64) // automaton.n_labels * automaton.n_patterns
        + by_duration.pattern_ids
    )
    order = np.argsort(cells, kind="stable")
    reached, first = np.unique(cells[order], return_index=True)
    if not reached.size:
        return found
    duration, pattern = np.divmod(reached, automaton.n_patterns)
    for index, start in enumerate(trellis.offsets[:-1].tolist()):
        one = _split_durations(derive(trellis, sequences=np.array([index])), by_duration)
        posterior = marginals(one, arcs=True, n_jobs=n_jobs).arcs
        assert posterior is not None
        sums = np.add.reduceat(posterior[:, arcs[order]], first, axis=1)
        begin, cell = np.nonzero(sums)
        ends = start + begin + duration[cell]
        found[ends, duration[cell], pattern[cell]] = sums[begin, cell]
    return found


def _with_durations(automaton: Automaton, n_durations: int) -> Automaton:
    """Return the automaton over letters ``d * L + y``, with a copy of every arc a duration."""
    fired = np.split(automaton.pattern_ids, automaton.pattern_offsets[1:-1])
    letters = [d * automaton.n_labels + automaton.label for d in range(n_durations)]
    guards = automaton.guards
    return Automaton(
        automaton.n_states,
        automaton.n_labels * n_durations,
        np.tile(automaton.source, n_durations),
        np.concatenate(letters),
        np.tile(automaton.target, n_durations),
        n_patterns=automaton.n_patterns,
        patterns=[own.tolist() for own in fired] * n_durations if automaton.n_arcs else [],
        initial=automaton.initial,
        final=automaton.final,
        guards=None if guards is None else np.tile(guards, n_durations),
        n_classes=automaton.n_classes,
    )


def _split_durations(trellis: Trellis, by_duration: Automaton) -> Trellis:
    """Return the same scores over letters ``d * L + y``, each of a single duration."""
    n_tokens, n_durations, n_labels = trellis.scores.shape
    scores = np.full((n_tokens, n_durations, n_durations, n_labels), -np.inf)
    each = np.arange(n_durations)
    scores[:, each, each] = trellis.scores
    return Trellis(
        scores.reshape(n_tokens, n_durations, n_durations * n_labels),
        by_duration,
        weights=trellis.weights,
        position_weights=trellis.position_weights,
        start=None if trellis.start is None else np.tile(trellis.start, n_durations),
        end=None if trellis.end is None else np.tile(trellis.end, n_durations),
        classes=trellis.classes,
        memory_limit=trellis.memory_limit,
    )
