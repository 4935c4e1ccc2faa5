"""Convex combinations of models with the same structure and features.

    w = α w₁ + (1 − α) w₂

A pair of a feature and an output that only one model has a weight for has weight 0 in the other.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from trelliswork.models.model import SEGMENT_KINDS
from trelliswork.models.pair_weights import PairWeights

if TYPE_CHECKING:
    from trelliswork._typing import FloatArray
    from trelliswork.models.model import CRFModel

__all__ = ["mix_pairs", "mix_penalties", "mix_weights"]


def mix_weights(first: CRFModel, second: CRFModel, share: float) -> CRFModel:
    """Return the model with the weights ``share × first + (1 − share) × second``.

    Parameters
    ----------
    first, second
        Models with the same structure and encoder.
    share
        ``α``, from 0 to 1.
    """
    if first.encoder is not second.encoder or first.structure is not second.structure:
        raise ValueError("mix: expected models of one structure and one encoder.")
    mixed: dict[str, Any] = {}
    for kind in ("state", "edge", *SEGMENT_KINDS):
        own: PairWeights | None = getattr(first, kind)
        other: PairWeights | None = getattr(second, kind)
        if own is not None and other is not None:
            mixed[kind] = mix_pairs(own, other, share)
    return replace(
        first,
        pattern_weights=share * first.pattern_weights + (1.0 - share) * second.pattern_weights,
        **mixed,
    )


def mix_pairs(first: PairWeights, second: PairWeights, share: float) -> PairWeights:
    """Return a convex combination of pair weights. Missing pairs count as 0.

    Parameters
    ----------
    first, second
        Weights of the same ``F`` features.
    share
        ``α``, from 0 to 1.
    """
    if np.array_equal(first.offsets, second.offsets) and np.array_equal(
        first.outputs, second.outputs
    ):
        weights = share * first.weights + (1.0 - share) * second.weights
        return PairWeights(first.offsets, first.outputs, weights)
    n_outputs = int(max(first.outputs.max(initial=0), second.outputs.max(initial=0))) + 1
    own = first.features * n_outputs + first.outputs
    other = second.features * n_outputs + second.outputs
    keys = np.union1d(own, other)
    weights = np.zeros(keys.size)
    weights[np.searchsorted(keys, own)] += share * first.weights
    weights[np.searchsorted(keys, other)] += (1.0 - share) * second.weights
    starts = np.arange(first.offsets.size, dtype=np.int64) * n_outputs
    return PairWeights(
        np.searchsorted(keys, starts).astype(np.int64),
        (keys % n_outputs).astype(np.int32),
        weights,
    )


def mix_penalties(first: FloatArray, second: FloatArray, share: float) -> FloatArray:
    """Return a convex combination of penalties, shape ``(C,)``. Infinite ones stay infinite.

    Examples
    --------
    >>> mix_penalties(np.array([1.0, np.inf]), np.array([3.0, np.inf]), 0.5).tolist()
    [2.0, inf]
    """
    found = first.copy()
    finite = np.isfinite(first)
    found[finite] = share * first[finite] + (1.0 - share) * second[finite]
    return found
