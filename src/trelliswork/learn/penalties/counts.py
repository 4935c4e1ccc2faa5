"""Penalties by counting violations in labelled data, as in ``L+wCI``.

    ρ_c = max(0, log((satisfied_c + 1) / (violated_c + doubt)))

the log-odds that a constraint is satisfied where it could be broken: per sequence, or per token for
constraints that count tokens (`Constraint.per_token`). Constraints are assumed to hold: one that is
never broken gets a large penalty, one that is broken half the time gets 0. ``B`` sequences, ``N``
tokens, ``C`` constraints.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from trelliswork.constraints.per_token import PerToken
from trelliswork.constraints.soft import MAX_PENALTY, Soft
from trelliswork.planning.plan import Plan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trelliswork._typing import FloatArray, IntArray
    from trelliswork.constraints import Constraint
    from trelliswork.labels.label_set import LabelSet
    from trelliswork.planning.evidence import Evidence


__all__ = ["DOUBT", "count_penalties"]

DOUBT = 1e-6
"""Number of violations assumed before any is seen. Small: hand-written rules usually hold."""


def count_penalties(
    constraints: Sequence[Constraint],
    sequences: Sequence[Any],
    names: Sequence[Sequence[str]],
    labels: LabelSet,
    weights: FloatArray | None = None,
    *,
    doubt: float = DOUBT,
) -> FloatArray:
    """Return the penalty of each constraint from its violations in labelled data.

    Parameters
    ----------
    constraints
        The ``C`` constraints.
    sequences, names
        The labelled data.
    labels
        The labels.
    weights
        Weight of each sequence, shape ``(B,)``. Default: 1.
    doubt
        Number of violations assumed before any is seen, above 0. With 1, a handful of labelled
        sequences would make the penalty of every constraint small.

    Returns
    -------
    numpy.ndarray
        Shape ``(C,)``: infinite for hard constraints; given penalties are kept.
    """
    if not 0.0 < doubt < np.inf:
        raise ValueError(f"doubt: expected a number above 0, got {doubt!r}.")
    penalties = np.array([_known_penalty(rule) for rule in constraints], dtype=np.float64)
    parts = [
        (c, part)
        for c in np.flatnonzero(np.isnan(penalties)).tolist()
        for part in constraints[c].conjuncts
    ]
    if not parts:
        return penalties
    plan = _plan_of(labels, tuple(part for _, part in parts))
    offsets = np.cumsum([0, *map(len, names)], dtype=np.int64)
    evidence = plan.evidence(sequences, offsets)
    ids = [labels.encode(own) for own in names]
    tags = np.concatenate([np.zeros(0, dtype=np.int32), *ids])
    broken = plan.violations(tags, evidence)
    counts = np.ones(len(names)) if weights is None else weights
    violated, chances = np.zeros((2, len(constraints)))
    for place, (c, part) in enumerate(parts):
        if isinstance(part.hard, PerToken):
            chances[c] += counts @ _chances(part.hard, evidence)
            violated[c] += counts @ broken[:, place]
        else:
            chances[c] += counts.sum()
            violated[c] += counts @ (broken[:, place] > 0)
    unknown = np.isnan(penalties)
    odds = (chances - violated + 1.0) / (violated + doubt)
    penalties[unknown] = np.clip(np.log(odds[unknown]), 0.0, MAX_PENALTY)
    return penalties


def _known_penalty(rule: Constraint) -> float:
    """Return the penalty of a constraint; nan if it is to be learned."""
    if not isinstance(rule, Soft):
        return np.inf
    return np.nan if rule.penalty is None else float(rule.penalty)


@lru_cache(maxsize=16)
def _plan_of(labels: LabelSet, parts: tuple[Constraint, ...]) -> Plan:
    """Return a plan that counts violations of parts of constraints; cached between cycles."""
    return Plan(labels, parts, training_budget=0)


def _chances(rule: PerToken, evidence: Evidence) -> IntArray:
    """Return the number of tokens, or of changes, that could break a rule, shape ``(B,)``."""
    if not rule.counts_changes:
        tokens, _ = evidence.restricted(rule)
        return np.diff(np.searchsorted(tokens, evidence.offsets))
    classes = evidence.classes(rule.tests)
    assert classes is not None, "it has a test"
    fails = np.append(classes == 0, False)
    fails[evidence.offsets[1:] - 1] = False  # nothing changes after the last token
    total = np.concatenate([[0], np.cumsum(fails)])
    return np.diff(total[evidence.offsets])
