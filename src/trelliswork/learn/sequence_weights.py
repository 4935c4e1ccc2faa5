"""The weights of training sequences."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING

import numpy as np

from trelliswork.errors import LabelError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike

    from trelliswork._typing import FloatArray
    from trelliswork.data.sentence import Label

__all__ = ["sequence_weights"]


def sequence_weights(
    labels: Sequence[Sequence[Label]],
    sample_weight: ArrayLike | None,
    class_weight: Mapping[str, float] | str | None,
) -> FloatArray | None:
    """Return the weight of each sequence, shape ``(B,)``; None if all are 1.

    Parameters
    ----------
    labels
        Label sequences of the training set.
    sample_weight
        One weight per sequence.
    class_weight
        One weight per label, or ``"balanced"``; see `mean_class_weights`. Multiplied with
        `sample_weight`.
    """
    weights = None
    if sample_weight is not None:
        weights = np.array(sample_weight, dtype=np.float64)
        if weights.shape != (len(labels),):
            raise ValueError(
                f"sample_weight: expected shape ({len(labels)},), got {weights.shape}."
            )
        if not (np.isfinite(weights) & (weights >= 0)).all():
            raise ValueError("sample_weight: expected finite numbers of at least 0.")
    if class_weight is not None:
        of_labels = mean_class_weights(labels, class_weight)
        weights = of_labels if weights is None else weights * of_labels
    return weights


def mean_class_weights(
    sequences: Sequence[Sequence[Label]], class_weight: Mapping[str, float] | str
) -> FloatArray:
    """Return the mean class weight of each sequence, shape ``(B,)``; unlabelled tokens count 1."""
    counts: dict[str, int] = {}
    for sequence in sequences:
        for label in sequence:
            if isinstance(label, str):
                counts[label] = counts.get(label, 0) + 1
    if isinstance(class_weight, str):
        if class_weight != "balanced":
            raise ValueError(
                f"class_weight: expected a mapping or 'balanced', got {class_weight!r}."
            )
        total = sum(counts.values())
        by_name = {name: total / (len(counts) * count) for name, count in counts.items()}
    else:
        by_name = dict(class_weight)
        unknown = sorted(set(by_name) - set(counts))
        if unknown:
            raise LabelError(
                f"class_weight: unknown label {unknown[0]!r}. Known are {sorted(counts)}."
            )
        for name, weight in by_name.items():
            if not isinstance(weight, Real) or not 0 <= float(weight) < np.inf:
                raise ValueError(f"class_weight: expected 0 or more for {name!r}, got {weight!r}.")
    return np.array(
        [
            np.mean([by_name.get(y, 1.0) if isinstance(y, str) else 1.0 for y in sequence])
            if len(sequence)
            else 1.0
            for sequence in sequences
        ]
    )
