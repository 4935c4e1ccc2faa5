"""Posteriors of token labels and of segments, for chains and semi-Markov models."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from trelliswork import inference
from trelliswork.errors import LabelError
from trelliswork.inference.certain_segments import collect_spans, split_by_sequence
from trelliswork.inference.segment_posteriors import (
    label_posteriors,
    segment_posteriors,
    tag_posteriors,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trelliswork._typing import FloatArray
    from trelliswork.inference.trellis import Trellis
    from trelliswork.planning.plan import Plan


__all__ = ["span_probabilities", "token_marginals"]


def token_marginals(plan: Plan, trellis: Trellis, n_jobs: int | None = None) -> FloatArray:
    """Return ``P(y_t = y)``, one column per token label, shape ``(N, n_labels)``.

    Parameters
    ----------
    plan
        The constraints; its segmentation defines how letters are read as labels.
    trellis
        The batch, on the model automaton or a product of it.
    n_jobs
        Threads.
    """
    segments = segment_posteriors(trellis, n_jobs=n_jobs)
    if plan.segmentation is None:
        return label_posteriors(segments)
    return plan.segmentation.token_probabilities(tag_posteriors(segments))


def span_probabilities(
    plan: Plan,
    trellis: Trellis,
    spans: Sequence[Sequence[tuple[int, int, str]]],
    n_jobs: int | None = None,
) -> list[FloatArray]:
    """Return the probability that ``[start, end)`` is a segment with that name.

    As `inference.span_probability`; in a semi-Markov model the posterior of the segment itself.

    Raises
    ------
    LabelError
        With plain labels and ``adjacent=True``, where labels do not determine the segments.
    """
    segmentation = plan.segmentation
    if segmentation is None:
        return inference.span_probability(trellis, plan.labels, spans, n_jobs=n_jobs)
    if segmentation.is_hidden:
        raise LabelError(
            "spans: with adjacent=True neighbouring segments of one name read as one, and the "
            "model has no probability of a run. Ask trellis(X) for the marginals of its segments, "
            "or train with adjacent=False."
        )
    wanted = collect_spans(spans, segmentation.labels, np.diff(trellis.offsets))
    segments = segment_posteriors(trellis, n_jobs=n_jobs)
    letters = {name: y for y, name in reversed(list(enumerate(segmentation.names)))}
    found = np.zeros(len(wanted))
    for i, span in enumerate(wanted):
        duration = span.end - span.start
        if duration <= segments.shape[1]:
            last = trellis.offsets[span.sequence] + span.end - 1
            found[i] = segments[last, duration - 1, letters[span.name]]
    return split_by_sequence(found, spans)
