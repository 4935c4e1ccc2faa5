"""Score and decode sequences in batches that fit into memory."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from trelliswork.decoding.exact import decode_nbest_batch
from trelliswork.decoding.on_products import feasible_trellises
from trelliswork.features.inputs import sequence_length

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trelliswork._typing import BoolArray, IntArray
    from trelliswork.decoding.answers import DecodedBatch
    from trelliswork.decoding.conflicts import OnInfeasible
    from trelliswork.inference.trellis import Trellis
    from trelliswork.models.model import CRFModel
    from trelliswork.planning.evidence import Evidence
    from trelliswork.planning.plan import Plan

__all__ = [
    "ScoredBatch",
    "decoded_batches",
    "feasible_batches",
    "scored_batches",
    "token_offsets",
]

logger = logging.getLogger(__name__)

SCORES_AT_ONCE = 8_000_000  # of segments: 64 MB


class ScoredBatch(NamedTuple):
    """Consecutive sequences with their scores, without constraints.

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

    A chain takes all of them at once. Scores of segments are ``N x D x L`` numbers: a batch has as
    many sequences as fit into `SCORES_AT_ONCE`, and at least one.
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


def decoded_batches(
    model: CRFModel,
    plan: Plan,
    sequences: list[Any],
    *,
    k: int,
    allowed: BoolArray | None,
    on_infeasible: OnInfeasible,
    time_limit: float | None = None,
    n_jobs: int | None,
) -> Iterator[tuple[Evidence, list[DecodedBatch]]]:
    """Yield the `k` best labellings of all sequences under constraints, batch by batch.

    The parameters are those of `decode_nbest_batch`, for all sequences.
    """
    offsets, n_relaxed = token_offsets(sequences), 0
    for numbers, own, free in scored_batches(model, plan, sequences, n_jobs):
        evidence = plan.evidence(own, free.offsets, numbers)
        rows = slice(offsets[numbers.start], offsets[numbers.stop])
        found = decode_nbest_batch(
            plan,
            free,
            evidence,
            k,
            allowed=None if allowed is None else allowed[rows],
            on_infeasible=on_infeasible,
            time_limit=time_limit,
            n_jobs=n_jobs,
        )
        n_relaxed += len(found[0].kept)
        yield evidence, found
    _warn_of_relaxed(n_relaxed, len(sequences), on_infeasible)


def feasible_batches(
    model: CRFModel,
    plan: Plan,
    sequences: list[Any],
    *,
    on_infeasible: OnInfeasible,
    n_jobs: int | None,
) -> Iterator[tuple[IntArray, Trellis]]:
    """Yield indices of sequences, with trellises under constraints that they can satisfy.

    Every sequence occurs once; see `feasible_trellises`.
    """
    n_relaxed = 0
    for numbers, own, free in scored_batches(model, plan, sequences, n_jobs):
        members = np.arange(numbers.start, numbers.stop)
        if not plan.constraints:
            yield members, free
            continue
        evidence = plan.evidence(own, free.offsets, numbers)
        groups = feasible_trellises(
            plan, free, evidence, on_infeasible=on_infeasible, n_jobs=n_jobs
        )
        n_relaxed += len(numbers) - len(groups[0][0])
        yield from ((members[chosen], trellis) for chosen, trellis in groups)
    _warn_of_relaxed(n_relaxed, len(sequences), on_infeasible)


def _warn_of_relaxed(count: int, total: int, how: str) -> None:
    if count:
        logger.warning(
            "%d of %d sequences were decoded under fewer constraints: all together conflict, or "
            "need a product beyond decoding_budget; on_infeasible=%r applies",
            count,
            total,
            how,
        )


def token_offsets(sequences: list[Any]) -> IntArray:
    """Return the token offsets of the sequences, shape ``(B + 1,)``."""
    return np.cumsum([0, *map(sequence_length, sequences)], dtype=np.int64)
