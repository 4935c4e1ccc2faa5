"""Token charges: penalties of soft rules about single tokens, subtracted from their scores.

A soft rule that counts the tokens that break it, see `Constraint.per_token`, charges each token by
itself. So it needs no automaton: its penalty is subtracted from ``φ``,

    φ'(t, y) = φ(t, y) − Σ_c ρ_c [label y breaks rule c at token t]

and a labelling scores ``P(y)`` as far as these rules go. ``N`` tokens, ``L`` labels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from trelliswork.inference.trellis import derive

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trelliswork._typing import FloatArray, IdArray, IntArray
    from trelliswork.constraints import Constraint
    from trelliswork.inference.trellis import Trellis
    from trelliswork.planning.evidence import Evidence
    from trelliswork.planning.plan import Plan


__all__ = ["count_broken", "with_token_charges"]


def with_token_charges(
    plan: Plan, trellis: Trellis, evidence: Evidence, constraints: Sequence[int] | None = None
) -> Trellis:
    """Return a batch, its scores minus the token charges of some rules. Default: all.

    Raises
    ------
    RuleError
        If the penalty of one of them is not learned yet.
    """
    chosen = range(len(plan.constraints)) if constraints is None else constraints
    charges = [charge for charge in plan.terms.token_charges if charge.constraint in chosen]
    if not charges:
        return trellis
    plan.costs.check([charge.constraint for charge in charges])
    charged = np.zeros((trellis.n_tokens, len(plan.labels)))
    penalties = plan.penalties
    for charge in charges:
        tokens, open_there = evidence.restricted(charge.rule)
        charged[tokens] += penalties[charge.constraint] * ~open_there
    return derive(trellis, scores=_charged_scores(trellis.scores, charged, plan))


def count_broken(rule: Constraint, ids: IdArray, evidence: Evidence) -> IntArray:
    """Return how many tokens of each sequence break a position-wise rule, shape ``(B,)``.

    Parameters
    ----------
    rule
        The rule.
    ids
        Labels of all tokens, shape ``(N,)``.
    evidence
        The outcomes of token tests on the batch.
    """
    tokens, open_there = evidence.restricted(rule)
    wrong = tokens[~open_there[np.arange(tokens.size), ids[tokens]]]
    found: IntArray = np.diff(np.searchsorted(wrong, evidence.offsets))
    return found


def _charged_scores(scores: FloatArray, charged: FloatArray, plan: Plan) -> FloatArray:
    """Return the scores of segments minus the charges of their tokens, shape ``(N, D, L)``.

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
