"""Trellises made from others: some of their sequences, on another automaton."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING

import numpy as np

from trelliswork.inference.trellis import Trellis, rows_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from trelliswork.automata.automaton import Automaton

__all__ = ["derive"]


def derive(
    trellis: Trellis,
    *,
    sequences: NDArray[np.int64] | None = None,
    automaton: Automaton | None = None,
    classes: NDArray[np.uint8] | None = None,
    scores: ArrayLike | None = None,
    weights: NDArray[np.float64] | None = None,
) -> Trellis:
    """Return a batch with the scores of another one.

    Parameters
    ----------
    trellis
        The batch.
    sequences
        Indices of the sequences to take, in order; one may come twice. Default: all.
    automaton
        Another automaton, with the same labels and patterns, or more patterns that have `weights`.
    classes
        Classes of all tokens of `trellis`, for an automaton with guards. Default: those of
        `trellis`, on its own automaton.
    scores
        Other scores of all tokens of `trellis`.
    weights
        Other weights of patterns. Default: those of `trellis`.
    """
    phi = trellis.scores if scores is None else np.asarray(scores)
    position, offsets = trellis.position_weights, trellis.offsets
    if automaton is None:
        automaton, classes = trellis.automaton, trellis.classes
    if sequences is not None:
        rows = rows_of(offsets, sequences)
        phi = phi[rows]
        position = None if position is None else position[rows]
        classes = None if classes is None else classes[rows]
        offsets = np.concatenate([[0], np.cumsum(np.diff(offsets)[sequences])])
    own_weights = trellis.weights if weights is None else weights
    if scores is None and _fits(automaton, own_weights, classes, trellis):
        made = copy(trellis)  # what was checked once is not checked again
        made.scores, made.offsets, made.automaton = phi, offsets, automaton
        made.weights, made.position_weights, made.classes = own_weights, position, classes
        return made
    return Trellis(
        phi,
        automaton,
        offsets=offsets,
        weights=own_weights,
        position_weights=position,
        start=trellis.start,
        end=trellis.end,
        classes=classes,
        memory_limit=trellis.memory_limit,
    )


def _fits(
    automaton: Automaton,
    weights: NDArray[np.float64] | None,
    classes: NDArray[np.uint8] | None,
    trellis: Trellis,
) -> bool:
    """Return whether nothing but the numbers of labels, patterns and classes is to be checked."""
    return (
        automaton.n_labels == trellis.automaton.n_labels
        and (weights is None or weights.shape == (automaton.n_patterns,))
        and (weights is None or weights is trellis.weights or bool(np.isfinite(weights).all()))
        and (classes is not None) == (automaton.n_classes > 1)
        and trellis.position_weights is None
    )
