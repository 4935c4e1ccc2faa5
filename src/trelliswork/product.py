"""The product of a model and a language: the model, on the labellings of the language alone.

States are pairs (model state, language state) on a path from the start to the end. Every arc
remembers the model arc it came from (the *arc map*) and fires the same patterns, so the parameters
stay those of the model, however large the product, and gradients flow back through it.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from trelliswork import _core
from trelliswork.automaton import Automaton
from trelliswork.errors import TooLargeError

if TYPE_CHECKING:
    from collections.abc import Sequence

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
    language_states : numpy.ndarray
        Language state of every state, shape ``(S,)``.
    """

    automaton: Automaton
    arc_map: NDArray[np.int32]
    language_states: NDArray[np.int32]


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
        a token of class ``c``. Its weights only say which states begin and end.
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
        found = _core.product(
            model._core,
            language.n_states,
            language.source,
            language.label,
            language.target,
            np.isfinite(language.initial).view(np.uint8),
            np.isfinite(language.final).view(np.uint8),
            n_classes,
            limit,
        )
    except OverflowError:
        raise TooLargeError(
            f"The product of {model!r} and {language!r} has more than {limit:,} arcs. Use fewer "
            "or simpler constraints, or leave some to decoding."
        ) from None
    model_states, language_states, source, label, target, arc_map, guards = found
    if not model_states.size:  # no labelling at all: a state that is the end of nothing
        return Product(_empty(model, guards, n_classes), arc_map, np.zeros(1, dtype=np.int32))
    return Product(
        Automaton(
            len(model_states),
            model.n_labels,
            source,
            label,
            target,
            n_patterns=model.n_patterns,
            patterns=_fired(model, arc_map),
            initial=model.initial[model_states] + language.initial[language_states],
            final=model.final[model_states] + language.final[language_states],
            guards=guards if n_classes > 1 else None,
            n_classes=n_classes,
            contexts=model_states if _is_deterministic(model) else None,
        ),
        arc_map,
        language_states,
    )


def _is_deterministic(model: Automaton) -> bool:
    """Return whether a state and a label decide the arc, and with it the patterns."""
    return np.unique(model.source * model.n_labels + model.label).size == model.n_arcs


def _empty(model: Automaton, guards: NDArray[np.uint64], n_classes: int) -> Automaton:
    none = np.zeros(0, dtype=np.int32)
    return Automaton(
        1,
        model.n_labels,
        none,
        none,
        none,
        n_patterns=model.n_patterns,
        final=[-np.inf],
        guards=guards if n_classes > 1 else None,
        n_classes=n_classes,
    )


def _fired(
    model: Automaton, arc_map: NDArray[np.int32]
) -> Sequence[Sequence[int]] | NDArray[np.integer[Any]]:
    """Return the patterns that each arc fires, as `Automaton` takes them."""
    counts = np.diff(model.pattern_offsets)
    if counts.max(initial=0) <= 1:
        fired = np.full(model.n_arcs, -1)
        fired[counts > 0] = model.pattern_ids
        return fired[arc_map]
    lists = [model.pattern_ids[a:b].tolist() for a, b in pairwise(model.pattern_offsets)]
    return [lists[arc] for arc in arc_map]
