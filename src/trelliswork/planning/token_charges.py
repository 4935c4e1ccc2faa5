"""Tolls: what soft rules about single tokens take from the scores of these tokens.

A soft rule that counts the tokens that break it, see `Constraint.per_token`, charges every token
for itself. So it needs no automaton: its penalty is taken from ``φ``,

    φ'(t, y) = φ(t, y) − Σ_c ρ_c [label y breaks rule c at token t]

and a labelling scores ``P(y)`` as far as these rules go. ``N`` tokens, ``L`` labels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from trelliswork.constraints.per_token import PerToken
from trelliswork.inference.trellis import derive

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from trelliswork._typing import FloatArray
    from trelliswork.constraints import Constraint
    from trelliswork.inference.trellis import Trellis
    from trelliswork.planning.evidence import Evidence
    from trelliswork.planning.plan import Plan


__all__ = ["Toll", "count_broken", "is_toll", "tolls_of", "with_tolls"]


@dataclass(frozen=True)
class Toll:
    """A part of a soft constraint that charges single tokens.

    Attributes
    ----------
    constraint : int
        The constraint, by its index.
    rule : Constraint
        The rule, which is position-wise.
    """

    constraint: int
    rule: Constraint


def is_toll(part: Constraint) -> bool:
    """Return whether a conjunct of a soft constraint charges single tokens."""
    return isinstance(part, PerToken) and not part.counts_changes


def tolls_of(constraints: Iterable[tuple[int, Constraint]]) -> tuple[Toll, ...]:
    """Return the tolls of soft constraints, given with their indices."""
    return tuple(
        Toll(index, part)
        for index, constraint in constraints
        for part in constraint.hard.conjuncts
        if is_toll(part)
    )


def with_tolls(
    plan: Plan, trellis: Trellis, evidence: Evidence, constraints: Sequence[int] | None = None
) -> Trellis:
    """Return a batch with the tolls of some constraints taken from its scores. Default: all.

    Raises
    ------
    RuleError
        Where the penalty of one of them is yet to be learned.
    """
    heeded = range(len(plan.constraints)) if constraints is None else constraints
    tolls = [toll for toll in plan.tolls if toll.constraint in heeded]
    if not tolls:
        return trellis
    plan.check_penalties([toll.constraint for toll in tolls])
    charged = np.zeros((trellis.n_tokens, len(plan.labels)))
    penalties = plan.penalties
    for toll in tolls:
        tokens, open_there = evidence.restricted(toll.rule)
        charged[tokens] += penalties[toll.constraint] * ~open_there
    return derive(trellis, scores=_less(trellis.scores, charged, plan))


def count_broken(rule: Constraint, ids: NDArray[np.int32], evidence: Evidence) -> NDArray[np.int64]:
    """Return how many tokens of each sequence break a position-wise rule, shape ``(B,)``.

    Parameters
    ----------
    rule
        The rule.
    ids
        Labels of all tokens, shape ``(N,)``.
    evidence
        What constraints see of the batch.
    """
    tokens, open_there = evidence.restricted(rule)
    wrong = tokens[~open_there[np.arange(tokens.size), ids[tokens]]]
    found: NDArray[np.int64] = np.diff(np.searchsorted(wrong, evidence.offsets))
    return found


def _less(scores: FloatArray, charged: FloatArray, plan: Plan) -> FloatArray:
    """Return scores of segments less what their tokens are charged, shape ``(N, D, L)``.

    A segment of ``d + 1`` tokens that ends at ``t`` begins at ``t - d`` and goes on from there.
    """
    found = scores.copy()
    if plan.segmentation is None:
        found[:, 0] -= charged
        return found
    by_tag = charged[:, plan.segmentation.token_of_tag].reshape(
        len(charged), 2, plan.model.n_labels
    )
    going_on = np.zeros_like(by_tag[:, 1])
    for back in range(min(found.shape[1], len(found))):
        found[:, back] -= going_on + np.roll(by_tag[:, 0], back, axis=0)  # what wraps is no segment
        going_on += np.roll(by_tag[:, 1], back, axis=0)
    return found
