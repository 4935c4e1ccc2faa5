"""Operations of the core on languages, within a budget of states."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from trelliswork import _core
from trelliswork.errors import TooLargeError

if TYPE_CHECKING:
    from trelliswork.automata.automaton import Automaton

__all__ = ["MAX_STATES", "from_core", "is_unambiguous", "smallest_unambiguous", "within_budget"]

MAX_STATES = 100_000
"""Default limit on the states that an operation may make."""

STEPS_TO_MIRROR = 10_000_000  # worth spending on a smaller automaton if there is one already
PAIRS_A_STATE = 200  # budget of the ambiguity test, which follows pairs of arcs


def within_budget(made: _core.Language | None, max_states: int, what: str) -> _core.Language:
    """Return the result of an operation; raise a `TooLargeError` if it was given up."""
    if made is None:
        raise TooLargeError(
            f"{what} passed {max_states:,} states or looked at {_core.most_arcs(max_states):,} "
            "arcs, and was given up. Use a narrower rule (smaller counts, fewer labels), split it "
            "into several constraints, or raise max_states."
        )
    return made


def is_unambiguous(language: _core.Language, max_states: int = MAX_STATES) -> bool:
    """Return whether every string has at most one accepting path."""
    ambiguous = language.is_ambiguous(max_states * PAIRS_A_STATE)
    if ambiguous is None:
        raise TooLargeError(
            f"The ambiguity test of {language.n_states:,} states passed "
            f"{max_states * PAIRS_A_STATE:,} pairs of arcs and was given up. Call minimise() "
            "first: deterministic automata need no test."
        )
    return not ambiguous


def smallest_unambiguous(language: _core.Language, max_states: int, what: str) -> _core.Language:
    """Return the smallest of three unambiguous automata: by arcs, then by states.

    They are the automaton itself (if unambiguous), the minimal deterministic one, and the reversed
    minimal deterministic one of the reversed language.
    """
    trimmed = language.trim()
    forward = trimmed.minimise(max_states)
    candidates = [forward]
    mirrored = trimmed.reverse()
    if forward is None:
        backward = mirrored.minimise(max_states)
    else:
        backward = mirrored.minimise(max_states, STEPS_TO_MIRROR)
    candidates.append(None if backward is None else backward.reverse().renumber())
    try:
        if trimmed.n_states <= max_states and is_unambiguous(trimmed, max_states):
            candidates.append(trimmed)
    except TooLargeError:  # no candidate, but the others may be
        pass
    found = [candidate for candidate in candidates if candidate is not None]
    best = min(found, key=lambda made: (made.n_arcs, made.n_states), default=None)
    return within_budget(best, max_states, f"Making {what} unambiguous, forwards and backwards,")


def from_core(language: _core.Language, labels: tuple[str, ...] | None) -> Automaton:
    """Return a language of the core as an `Automaton`."""
    from trelliswork.automata.automaton import Automaton  # which has the methods below

    source, label, target, initial, final = language.arrays()
    return Automaton(
        language.n_states,
        language.n_labels,
        source,
        label,
        target,
        initial=np.where(initial, 0.0, -np.inf),
        final=np.where(final, 0.0, -np.inf),
        labels=labels,
    )
