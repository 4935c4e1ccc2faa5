"""The size of a product before it is built, and the smallest language for it."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

from trelliswork.errors import TooLargeError

if TYPE_CHECKING:
    from trelliswork.automata.automaton import Automaton

__all__ = ["chain_product_size", "smallest_for"]

# Larger automata are not minimised: it takes longer than it saves.
STATES_TO_MINIMISE = 50_000
STATES_TO_REVERSE = 2_000


def smallest_for(model: Automaton, language: Automaton) -> Automaton:
    """Return the automaton of an unambiguous language whose product with a model is smallest.

    Of the automaton itself, the minimal deterministic one, and the reversed minimal deterministic
    one of the reversed language; all are unambiguous. The last one may have few arcs of its own
    and many in the product: there, a deterministic automaton shares what it remembers with the
    model, which remembers the last label.
    """
    candidates = [language.trim()]
    if language.n_states <= STATES_TO_MINIMISE:
        with suppress(TooLargeError):
            candidates.append(language.minimise(max_states=STATES_TO_MINIMISE))
    if language.n_states > STATES_TO_REVERSE:
        return candidates[-1]
    with suppress(TooLargeError):
        backward = language.reverse().minimise(max_states=STATES_TO_REVERSE)
        candidates.append(backward.reverse())
    n_labels = model.n_labels
    return min(candidates, key=lambda made: chain_product_size(n_labels, made)[::-1])


def chain_product_size(n_labels: int, language: Automaton) -> tuple[int, int]:
    """Return the states and arcs of the product of a chain with a trimmed language.

    A state of the product is a state of the language and the last label, so an arc of the language
    occurs once for every label that leads to its source. Other models remember the last label too,
    and more: for them this only ranks languages by size.
    """
    label = language.label.astype(np.int64) % n_labels
    source, target = language.source.astype(np.int64), language.target.astype(np.int64)
    entered = np.unique(target * n_labels + label)  # (state, last label)
    ways = np.bincount(entered // n_labels, minlength=language.n_states)
    ways += np.isfinite(language.initial)
    # Arcs that differ in the class of the token only are one arc with a guard.
    arcs = np.unique((source * n_labels + label) * language.n_states + target)
    n_arcs = int(ways[arcs // (n_labels * language.n_states)].sum())
    return int(entered.size + np.isfinite(language.initial).sum()), n_arcs
