"""Penalties by counting how often labelled data breaks a constraint, ``L+wCI``.

    ρ_c = max(0, log((satisfied_c + 1) / (violated_c + doubt)))

the log-odds that a constraint is satisfied where it could be broken: by a sequence; for one that
counts tokens (`Constraint.per_token`), at a token that it is about. A constraint holds by default,
and what was never seen broken costs much; one that is wrong half the time costs nothing. ``B``
sequences, ``N`` tokens, ``C`` constraints.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from trelliswork.constraints.per_token import PerToken
from trelliswork.constraints.soft import MOST_PENALTY, Soft
from trelliswork.planning.plan import Plan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trelliswork._typing import FloatArray, IntArray
    from trelliswork.constraints import Constraint
    from trelliswork.labels.label_set import LabelSet
    from trelliswork.planning.evidence import Evidence


__all__ = ["DOUBT", "count_penalties"]

DOUBT = 1e-6
"""Of a rule that someone wrote down: one violation in a million, until some are seen."""


def count_penalties(
    constraints: Sequence[Constraint],
    sequences: Sequence[Any],
    names: Sequence[Sequence[str]],
    labels: LabelSet,
    weights: FloatArray | None = None,
    *,
    doubt: float = DOUBT,
) -> FloatArray:
    """Return what each constraint costs by how often labelled data breaks it.

    Parameters
    ----------
    constraints
        The ``C`` constraints.
    sequences, names
        The labelled data.
    labels
        The labels.
    weights
        How many times each sequence counts, shape ``(B,)``. Default: once.
    doubt
        Violations that are believed in before any is seen, above 0. With 1 instead, a handful of
        labelled sequences makes every constraint cheap, however sure it is.

    Returns
    -------
    numpy.ndarray
        Shape ``(C,)``: infinite for hard constraints, the number given where there is one.
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
    penalties[unknown] = np.clip(np.log(odds[unknown]), 0.0, MOST_PENALTY)
    return penalties


def _known_penalty(rule: Constraint) -> float:
    """Return what a constraint costs by itself; nan where that is to be learned."""
    if not isinstance(rule, Soft):
        return np.inf
    return np.nan if rule.penalty is None else float(rule.penalty)


@lru_cache(maxsize=16)
def _plan_of(labels: LabelSet, parts: tuple[Constraint, ...]) -> Plan:
    """Return what counts violations of parts of constraints; learning asks again and again."""
    return Plan(labels, parts, training_budget=0)


def _chances(rule: PerToken, evidence: Evidence) -> IntArray:
    """Return how many tokens, or changes after a token, could break a rule, shape ``(B,)``."""
    if not rule.counts_changes:
        tokens, _ = evidence.restricted(rule)
        return np.diff(np.searchsorted(tokens, evidence.offsets))
    classes = evidence.classes(rule.tests)
    assert classes is not None, "it has a test"
    fails = np.append(classes == 0, False)
    fails[evidence.offsets[1:] - 1] = False  # nothing changes after the last token
    total = np.concatenate([[0], np.cumsum(fails)])
    return np.diff(total[evidence.offsets])
