"""The product of a model and a language: the model, on the labellings of the language alone.

States are pairs (model state, language state) on a path from the start to the end. Every arc
remembers the model arc it came from (the *arc map*) and fires the same patterns, so the parameters
stay those of the model, however large the product, and gradients flow back through it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from trelliswork import _core
from trelliswork.arrays import Arrays
from trelliswork.automaton import Automaton
from trelliswork.errors import TooLargeError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Product", "product"]

_MOST_ARCS = 2**31 - 1


@dataclass(frozen=True, eq=False)
class Product:
    """A product automaton and where its parts came from.

    Attributes
    ----------
    automaton : Automaton
        The product, with the patterns of the model.
    arc_map : numpy.ndarray
        Model arc of every arc, shape ``(A,)``.
    """

    automaton: Automaton
    arc_map: NDArray[np.int32]


def product(
    model: Automaton, language: Automaton, *, n_classes: int = 1, max_arcs: int | None = None
) -> Product:
    """Multiply a model with a language over its labels.

    A path of the product is a path of the model and one of the language that read the same labels.
    Where the language is unambiguous, every labelling inside it keeps exactly the paths, and the
    score, that it has in the model; all others have none.

    Parameters
    ----------
    model
        The model automaton, over ``L`` labels.
    language
        Over ``L`` labels, or over ``n_classes * L`` letters: letter ``c * L + y`` is label ``y`` at
        a token of class ``c``.
    n_classes
        Classes that tokens have.
    max_arcs
        Raise `TooLargeError` beyond this many arcs.

    Examples
    --------
    >>> from trelliswork.automaton import Automaton
    >>> alternating = Automaton(2, 2, [0, 1], [0, 1], [1, 0])  # 0 1 0 1 …
    >>> product(Automaton.chain(2), alternating).automaton
    Automaton(states=3, labels=2, arcs=3, patterns=4)
    """
    if language.n_labels != model.n_labels * n_classes:
        raise ValueError(
            f"product: expected a language over {model.n_labels} labels × {n_classes} classes = "
            f"{model.n_labels * n_classes} letters, got one over {language.n_labels}."
        )
    limit = _MOST_ARCS if max_arcs is None else min(int(max_arcs), _MOST_ARCS)
    try:
        found = _core.product(model._core, language._language, n_classes, limit)
    except OverflowError:
        raise TooLargeError(
            f"The product of {model!r} and {language!r} has more than {limit:,} arcs. Use fewer "
            "or simpler constraints, or leave some to decoding."
        ) from None
    model_states, language_states, source, label, target, arc_map, guards = found
    if not model_states.size:  # no labelling at all: a state that is the end of nothing
        initial, final = np.zeros(1), np.full(1, -np.inf)
    else:
        initial = model.initial[model_states] + language.initial[language_states]
        final = model.final[model_states] + language.final[language_states]
    parents = _parents(model, model_states, language_states)
    contexts = None
    if model_states.size and _is_deterministic(model):
        contexts = np.unique(model_states, return_inverse=True)[1].astype(np.int32)
    return Product(
        Automaton._from_arrays(
            Arrays(
                initial.size,
                model.n_labels,
                model.n_patterns,
                source,
                label,
                target,
                *_fired(model, arc_map),
                initial,
                final,
                guards if n_classes > 1 else None,
                n_classes,
                contexts,
                parents,
            )
        ),
        arc_map,
    )


def _parents(
    model: Automaton, model_states: NDArray[np.int32], language_states: NDArray[np.int32]
) -> NDArray[np.int32] | None:
    """Return the parents of the pairs: the nearest model parent with the same language state."""
    if model.parents is None or not model_states.size:
        return None
    n_languages = int(language_states.max()) + 1
    keys = model_states.astype(np.int64) * n_languages + language_states
    order = np.argsort(keys)
    found = np.full(keys.size, -1, dtype=np.int32)
    above = model.parents[model_states].astype(np.int64)
    looking = np.flatnonzero(above >= 0)
    while looking.size:
        wanted = above[looking] * n_languages + language_states[looking]
        at = np.minimum(np.searchsorted(keys, wanted, sorter=order), keys.size - 1)
        there = keys[order[at]] == wanted
        found[looking[there]] = order[at[there]]
        looking = looking[~there]
        above[looking] = model.parents[above[looking]]
        looking = looking[above[looking] >= 0]
    return found


def _is_deterministic(model: Automaton) -> bool:
    """Return whether a state and a label decide the arc, and with it the patterns."""
    cells = model.source.astype(np.int64) * model.n_labels + model.label
    return np.unique(cells).size == model.n_arcs


def _fired(
    model: Automaton, arc_map: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the pattern offsets and ids of the arcs that came from these arcs of the model."""
    counts = np.diff(model.pattern_offsets)[arc_map]
    offsets = np.concatenate([[0], np.cumsum(counts)])
    shift = np.repeat(model.pattern_offsets[arc_map] - offsets[:-1], counts)
    return offsets, model.pattern_ids[shift + np.arange(offsets[-1])]
