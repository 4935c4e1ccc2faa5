"""Sums over paths, in logarithms, and whether their digits can be trusted.

A sum is a pair of doubles, ``log Z = value + rest``: a ``value`` of 1e17 has no digits after the
point, which the ratio of two such sums needs. ``B`` sequences.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from trelliswork.errors import PrecisionError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from trelliswork._typing import BoolArray, FloatArray
    from trelliswork.inference.trellis import Trellis

__all__ = ["LogSums", "has_path", "log_ratio", "log_sums", "refuse_lost_digits"]


class LogSums(NamedTuple):
    """``log Z`` of each sequence, ``value + rest``; ``value`` is -inf without a path.

    Attributes
    ----------
    value, rest : numpy.ndarray
        Shape ``(B,)``.
    """

    value: FloatArray
    rest: FloatArray


def log_sums(
    trellis: Trellis, *, allowed: ArrayLike | None = None, n_jobs: int | None = None
) -> LogSums:
    """Return ``log Z`` of each sequence; the parameters are those of `log_partition`.

    Raises
    ------
    PrecisionError
        If ``log Z`` is not known to 1e-6.
    """
    found = LogSums(np.empty(trellis.n_sequences), np.zeros(trellis.n_sequences))
    trellis._batch(allowed, n_jobs).log_partition(*found)
    refuse_lost_digits(trellis, found.value)
    return found


def log_ratio(part: LogSums, total: LogSums) -> FloatArray:
    """Return ``log (Z_part / Z_total)`` where one sum is a part of the other, shape ``(B,)``.

    At most 0, as rounding might lift the part above the total; -inf if the part has no path.
    """
    with np.errstate(invalid="ignore"):
        difference = (part.value - total.value) + (part.rest - total.rest)
    return np.where(np.isneginf(part.value), -np.inf, np.minimum(difference, 0.0))


def has_path(
    trellis: Trellis, *, allowed: ArrayLike | None = None, n_jobs: int | None = None
) -> BoolArray:
    """Return whether any path fits each sequence, shape ``(B,)``."""
    labels = np.empty(trellis.n_tokens, dtype=np.int32)
    begins = np.zeros(trellis.n_tokens, dtype=np.uint8)
    scores = np.empty(trellis.n_sequences)
    trellis._batch(allowed, n_jobs).best_path(labels, begins, scores)
    return ~np.isneginf(scores)


def refuse_lost_digits(trellis: Trellis, log_z: FloatArray) -> None:
    """Raise a `PrecisionError` for the first sequence whose ``log Z`` is NaN."""
    lost = np.flatnonzero(np.isnan(log_z))
    if not lost.size:
        return
    b = int(lost[0])
    own = trellis.scores[trellis.offsets[b] : trellis.offsets[b + 1]]
    parts = (own, trellis.weights, trellis.position_weights, trellis.start, trellis.end)
    sizes = [np.abs(part[np.isfinite(part)]) for part in parts if part is not None]
    largest = max(float(size.max(initial=0.0)) for size in sizes)
    error = PrecisionError(
        f"sequence {b}: expected scores from which log Z follows to 1e-6, got scores as large as "
        f"{largest:.3g}. Use smaller ones, and -inf for a label that is forbidden."
    )
    error.sequence = b
    raise error
