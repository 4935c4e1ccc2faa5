"""Results of the verbs of `trelliswork.inference`: posteriors, best paths and their tags."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from trelliswork.inference.segment_posteriors import (
    label_posteriors,
    tag_posteriors,
)

if TYPE_CHECKING:
    from trelliswork._typing import BoolArray, FloatArray, IdArray


__all__ = ["BestPaths", "Marginals", "Path", "tags_of"]


@dataclass(frozen=True)
class Marginals:
    """Posteriors of a batch.

    Attributes
    ----------
    log_partition : numpy.ndarray
        ``log Z``, shape ``(B,)``.
    segments : numpy.ndarray
        ``P(a segment of label y and of d + 1 tokens ends at t)``, shape ``(N, D, L)``.
    pattern_counts : numpy.ndarray
        Expected number of times each pattern fires, over the whole batch, shape ``(P,)``.
    entropy : numpy.ndarray
        ``log Z − E[score(y)]``, in nats, shape ``(B,)``; 0 without a path.
    arcs : numpy.ndarray or None
        ``P(arc a is taken into a segment that begins at t)``, shape ``(N, A)``, if asked for.
    """

    log_partition: FloatArray
    segments: FloatArray
    pattern_counts: FloatArray
    entropy: FloatArray
    arcs: FloatArray | None

    @cached_property
    def labels(self) -> FloatArray:
        """``P(y_t = y)``, shape ``(N, L)``: the segments that cover each token, summed."""
        return label_posteriors(self.segments)

    @cached_property
    def tags(self) -> FloatArray:
        """``P(a segment of y begins at t)`` and ``P(one goes on at t)``, shape ``(N, 2, L)``."""
        return tag_posteriors(self.segments)


@dataclass(frozen=True)
class Path:
    """One path a sequence.

    Attributes
    ----------
    labels : numpy.ndarray
        Label of every token, shape ``(N,)``.
    begins : numpy.ndarray
        Whether a segment begins at the token, shape ``(N,)``; all true in a chain.
    scores : numpy.ndarray
        Score of each sequence's path, shape ``(B,)``.
    n_labels : int
        ``L``.
    """

    labels: IdArray
    begins: BoolArray
    scores: FloatArray
    n_labels: int

    @property
    def tags(self) -> IdArray:
        """``y`` where a segment begins, ``y + L`` on its other tokens; -1 without a path."""
        return tags_of(self.labels, self.begins, self.n_labels)


@dataclass(frozen=True)
class BestPaths:
    """The k best paths of each sequence, best first.

    Attributes
    ----------
    labels : numpy.ndarray
        Shape ``(k, N)``; ``-1`` where a sequence has fewer than ``k`` paths.
    begins : numpy.ndarray
        Whether a segment begins at the token, shape ``(k, N)``.
    scores : numpy.ndarray
        Shape ``(B, k)``; ``-inf`` where a sequence has fewer than ``k`` paths.
    n_labels : int
        ``L``.
    """

    labels: IdArray
    begins: BoolArray
    scores: FloatArray
    n_labels: int

    @property
    def tags(self) -> IdArray:
        """As those of `Path`, shape ``(k, N)``."""
        return tags_of(self.labels, self.begins, self.n_labels)


def tags_of(labels: IdArray, begins: BoolArray, n_labels: int) -> IdArray:
    """Return the tags of labels: ``y`` at the beginning of a segment, ``y + L`` inside it."""
    return np.where(begins | (labels < 0), labels, labels + n_labels).astype(np.int32)
