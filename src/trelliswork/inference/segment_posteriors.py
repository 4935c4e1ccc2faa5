"""Posteriors of segments, and the posteriors of tokens that follow from them.

``N`` tokens, ``D`` tokens of the longest segment (1 in a chain), ``L`` labels. Here
``segments[t, d, y]`` is the probability that a segment of label ``y`` and of ``d + 1`` tokens ends
at ``t``. It is 0 for a segment that would cross the border of two sequences.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from trelliswork.inference.sums import refuse_lost_digits

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from trelliswork._typing import FloatArray
    from trelliswork.inference.trellis import Trellis


__all__ = ["label_posteriors", "segment_posteriors", "tag_posteriors"]


def segment_posteriors(
    trellis: Trellis, *, allowed: ArrayLike | None = None, n_jobs: int | None = None
) -> FloatArray:
    """Return the posteriors of segments alone, shape ``(N, D, L)``: faster than all marginals.

    The parameters are those of `trelliswork.inference.marginals`.
    """
    log_z = np.empty(trellis.n_sequences)
    segments = np.empty(trellis.scores.shape)
    counts = np.zeros(trellis.automaton.n_patterns)
    trellis._batch(allowed, n_jobs).posteriors(log_z, segments, counts, None, None)
    refuse_lost_digits(trellis, log_z)
    return np.minimum(segments, 1.0, out=segments)  # rounding


def label_posteriors(segments: FloatArray) -> FloatArray:
    """Return ``P(y_t = y)``, shape ``(N, L)``: the segments that cover each token, summed."""
    return _covering(segments, 0)


def tag_posteriors(segments: FloatArray) -> FloatArray:
    """Return ``P(a segment of y begins at t)`` and ``P(one goes on at t)``, ``(N, 2, L)``."""
    n_tokens, n_durations, n_labels = segments.shape
    found = np.zeros((n_tokens, 2, n_labels))
    for back in range(min(n_durations, n_tokens)):
        found[: n_tokens - back, 0] += segments[back:, back]
    found[:, 1] = _covering(segments, 1)
    return found


def _covering(segments: FloatArray, before: int) -> FloatArray:
    """Sum the segments that cover each token and at least `before` tokens ahead of it, (N, L)."""
    n_tokens, n_durations, n_labels = segments.shape
    # Those that end at t and have d + 1 tokens or more, shape (N, D, L).
    longer = np.cumsum(segments[:, ::-1], axis=1)[:, ::-1] if n_durations > 1 else segments
    covered = np.zeros((n_tokens, n_labels))
    for back in range(min(n_durations - before, n_tokens)):
        covered[: n_tokens - back] += longer[back:, back + before]
    return covered
