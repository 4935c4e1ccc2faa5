"""The product of a model and a language: the model restricted to labellings of the language.

States are pairs (model state, language state) on a path from the start to the end. Every arc
remembers the model arc it came from (the *arc map*) and fires the same patterns, so the parameters
stay those of the model, however large the product, and gradients flow back through it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from trelliswork import _core
from trelliswork.automata.arrays import Arrays
from trelliswork.automata.automaton import Automaton
from trelliswork.errors import TooLargeError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from trelliswork._typing import FloatArray, IdArray, IntArray

__all__ = [
    "MAX_ARCS",
    "Product",
    "StatePairs",
    "assemble",
    "fired_by",
    "is_deterministic",
    "product",
]

MAX_ARCS = 2**31 - 1


class StatePairs(NamedTuple):
    """The pairs of states of a product that lie on an accepting path, and its arcs.

    Attributes
    ----------
    model_states, language_states : numpy.ndarray
        The pairs, shape ``(S,)``; none if no labelling is in both.
    source, label, target : numpy.ndarray
        Arcs between pairs, sorted as those of automata, shape ``(A,)``.
    arc_map : numpy.ndarray
        Model arc of every arc, shape ``(A,)``.
    guards : numpy.ndarray
        Classes of tokens at which an arc may be taken, as bits, shape ``(A,)``.
    """

    model_states: IdArray
    language_states: IdArray
    source: IdArray
    label: IdArray
    target: IdArray
    arc_map: IdArray
    guards: NDArray[np.uint64]

    @classmethod
    def of(cls, model: Automaton, language: Automaton, n_classes: int, max_arcs: int) -> StatePairs:
        """Build the pairs; the parameters are those of `product`."""
        if language.n_labels != model.n_labels * n_classes:
            raise ValueError(
                f"product: expected a language over {model.n_labels} labels × {n_classes} classes "
                f"= {model.n_labels * n_classes} letters, got one over {language.n_labels}."
            )
        limit = min(int(max_arcs), MAX_ARCS)
        try:
            return cls(*_core.product(model._core, language._language, n_classes, limit))
        except OverflowError:
            raise TooLargeError(
                f"The product of {model!r} and {language!r} has more than {limit:,} arcs. Use "
                "fewer or simpler constraints, or leave some to decoding."
            ) from None

    def borders(self, model: Automaton, language: Automaton) -> tuple[FloatArray, FloatArray]:
        """Return the initial and final weights of the pairs, each of shape ``(S,)``."""
        if not self.model_states.size:  # no labelling at all: one state, not final
            return np.zeros(1), np.full(1, -np.inf)
        return (
            model.initial[self.model_states] + language.initial[self.language_states],
            model.final[self.model_states] + language.final[self.language_states],
        )


@dataclass(frozen=True, eq=False)
class Product:
    """A product automaton and the origin of its states and arcs.

    Attributes
    ----------
    automaton : Automaton
        The product, with the patterns of the model.
    arc_map : numpy.ndarray
        Model arc of every arc, shape ``(A,)``.
    """

    automaton: Automaton
    arc_map: IdArray


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
    >>> from trelliswork.automata.automaton import Automaton
    >>> alternating = Automaton(2, 2, [0, 1], [0, 1], [1, 0])  # 0 1 0 1 …
    >>> product(Automaton.chain(2), alternating).automaton
    Automaton(states=3, labels=2, arcs=3, patterns=4)
    """
    pairs = StatePairs.of(model, language, n_classes, MAX_ARCS if max_arcs is None else max_arcs)
    contexts = None
    if pairs.model_states.size and is_deterministic(model):
        contexts = np.unique(pairs.model_states, return_inverse=True)[1].astype(np.int32)
    made = assemble(model, language, pairs, n_classes, fired_by(model, pairs.arc_map), contexts)
    return Product(made, pairs.arc_map)


def assemble(
    model: Automaton,
    language: Automaton,
    pairs: StatePairs,
    n_classes: int,
    fired: tuple[IntArray, IdArray],
    contexts: IdArray | None,
    *,
    n_more_patterns: int = 0,
) -> Automaton:
    """Return the automaton of a product.

    Parameters
    ----------
    model, language, n_classes
        The factors, as for `product`.
    pairs
        The result.
    fired
        Patterns of the arcs: offsets of shape ``(A + 1,)``, and ids.
    contexts
        As for `Automaton`.
    n_more_patterns
        Patterns besides those of the model, which come after them.
    """
    initial, final = pairs.borders(model, language)
    return Automaton._from_arrays(
        Arrays(
            initial.size,
            model.n_labels,
            model.n_patterns + n_more_patterns,
            pairs.source,
            pairs.label,
            pairs.target,
            *fired,
            initial,
            final,
            pairs.guards if n_classes > 1 else None,
            n_classes,
            contexts,
            _parents(model, pairs.model_states, pairs.language_states),
        )
    )


def _parents(model: Automaton, model_states: IdArray, language_states: IdArray) -> IdArray | None:
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


def is_deterministic(model: Automaton) -> bool:
    """Return whether a state and a label determine the arc, and with it the patterns."""
    cells = model.source.astype(np.int64) * model.n_labels + model.label
    return np.unique(cells).size == model.n_arcs


def fired_by(model: Automaton, arc_map: IdArray) -> tuple[IntArray, IdArray]:
    """Return the pattern offsets and ids of the arcs that came from these arcs of the model."""
    counts = np.diff(model.pattern_offsets)[arc_map]
    offsets = np.concatenate([[0], np.cumsum(counts)])
    shift = np.repeat(model.pattern_offsets[arc_map] - offsets[:-1], counts)
    return offsets, model.pattern_ids[shift + np.arange(offsets[-1])]
