"""Masks: the labels that hard position-wise rules and known labels leave open."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trelliswork._typing import BoolArray, FloatArray
    from trelliswork.inference.trellis import Trellis
    from trelliswork.planning.evidence import Evidence
    from trelliswork.planning.plan import Plan

__all__ = ["masked_scores", "open_labels"]


def open_labels(
    plan: Plan, evidence: Evidence, constraints: Sequence[int], known: BoolArray | None = None
) -> BoolArray | None:
    """Return the labels that position-wise constraints and `known` leave open.

    Shape ``(N, L)``, or ``(N, 2, L)`` in a semi-Markov model: labels that may begin and continue.
    """
    of_tokens = evidence.mask(plan.masked(constraints))
    if of_tokens is None:
        return known
    mask = plan.tag_mask(of_tokens)
    return mask if known is None else mask & known


def masked_scores(trellis: Trellis, mask: BoolArray) -> FloatArray:
    """Return the scores of segments, with ``-inf`` for those that a mask closes.

    A segment of ``d + 1`` tokens that ends at ``t`` needs its letter to begin at ``t - d`` and to
    continue at the tokens after that.
    """
    scores = trellis.scores.copy()
    if mask.ndim == 2:
        scores[~np.broadcast_to(mask[:, None], scores.shape)] = -np.inf
        return scores
    begins, goes_on = mask[:, 0], mask[:, 1]
    is_open = np.ones(begins.shape, dtype=bool)  # of the tokens after the first, so far
    for back in range(min(scores.shape[1], len(scores))):
        first = np.roll(begins, back, axis=0)
        first[:back] = False  # where there is no such token
        scores[:, back][~(is_open & first)] = -np.inf
        is_open &= np.roll(goes_on, back, axis=0)
    return scores
