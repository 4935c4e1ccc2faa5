"""Languages on their way into a product: intersected, and measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from trelliswork.errors import TooLargeError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trelliswork.automaton import Automaton

__all__ = ["intersect_languages", "product_size"]

STATES_TO_SHRINK = 20_000  # a larger intersection is taken as it is: shrinking it takes too long


def intersect_languages(languages: Sequence[Automaton], *, max_states: int) -> Automaton:
    """Intersect unambiguous languages into one, as small as is cheap to find."""
    found = languages[0]
    for other in languages[1:]:
        found = found.intersect(other, max_states=max_states)
        if found.n_states <= STATES_TO_SHRINK:
            try:
                found = found.unambiguous(max_states=STATES_TO_SHRINK)
            except TooLargeError:
                continue  # an intersection of unambiguous automata is unambiguous as it is
    return found


def product_size(model: Automaton, language: Automaton) -> tuple[int, int]:
    """Return the states and arcs of the product of a model with a trimmed language.

    Exact for a chain: a state of the product is a state of the language and the last label, so an
    arc of the language occurs once for every label that leads to its source. An upper bound for
    other models.
    """
    n_labels = model.n_labels
    label = language.label.astype(np.int64) % n_labels
    source, target = language.source.astype(np.int64), language.target.astype(np.int64)
    if not model.is_chain:
        return language.n_states * model.n_states, source.size * model.n_arcs
    entered = np.unique(target * n_labels + label)  # (state, last label)
    ways = np.bincount(entered // n_labels, minlength=language.n_states)
    ways += np.isfinite(language.initial)
    # Arcs that differ in the class of the token only are one arc with a guard.
    arcs = np.unique((source * n_labels + label) * language.n_states + target)
    n_arcs = int(ways[arcs // (n_labels * language.n_states)].sum())
    return int(entered.size + np.isfinite(language.initial).sum()), n_arcs
