"""Batches of a size that fits into memory, with their scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from trelliswork.inputs import sequence_length

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from trelliswork.model import CRFModel
    from trelliswork.plan import Plan
    from trelliswork.trellis import Trellis

__all__ = ["ScoredBatch", "scored_batches", "token_offsets"]

SCORES_AT_ONCE = 8_000_000  # of segments: 64 MB


class ScoredBatch(NamedTuple):
    """Some sequences that follow one another, and their scores without constraints.

    Attributes
    ----------
    numbers
        Their indices among all sequences.
    sequences
        The sequences.
    trellis
        Their scores on the automaton of the model.
    """

    numbers: range
    sequences: list[Any]
    trellis: Trellis


def scored_batches(
    model: CRFModel, plan: Plan, sequences: list[Any], n_jobs: int | None
) -> Iterator[ScoredBatch]:
    """Yield all sequences in order, batch by batch.

    A chain takes them at once. The scores of segments take ``N x D x L`` numbers: there, a batch
    has as many sequences as stay within `SCORES_AT_ONCE`, and one at least.
    """
    segmentation, first = plan.segmentation, 0
    a_token = 0 if segmentation is None else segmentation.max_duration * segmentation.n_letters
    ends = token_offsets(sequences)[1:] * a_token
    while first < len(sequences):
        before = ends[first - 1] if first else 0
        last = int(np.searchsorted(ends, before + SCORES_AT_ONCE, side="right"))
        numbers = range(first, max(last, first + 1))
        own = sequences[numbers.start : numbers.stop]
        yield ScoredBatch(numbers, own, model.trellis(own, n_jobs=n_jobs))
        first = numbers.stop


def token_offsets(sequences: list[Any]) -> NDArray[np.int64]:
    """Return where the tokens of each sequence begin among all, shape ``(B + 1,)``."""
    return np.cumsum([0, *map(sequence_length, sequences)], dtype=np.int64)
