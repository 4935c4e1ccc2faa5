"""Conflicts between gold labels and the constraints of training.

A sequence whose gold labels break a constraint has probability 0 under the model, and an infinite
loss. Such sequences are reported before training, with the token and the constraint.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from trelliswork._utils.tables import join_names, shorten
from trelliswork.decoding.conflicts import dead_end, find_conflict
from trelliswork.decoding.masks import open_labels
from trelliswork.errors import NotInLanguageError
from trelliswork.inference.sums import has_path
from trelliswork.inference.trellis import Trellis, rows_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trelliswork._typing import BoolArray
    from trelliswork.data.sentence import Label
    from trelliswork.labels.gold import GoldLabels
    from trelliswork.planning.evidence import Evidence
    from trelliswork.planning.plan import Plan


__all__ = ["conflict_error", "find_conflicting_gold"]


def find_conflicting_gold(
    plan: Plan,
    gold: GoldLabels,
    evidence: Evidence,
    constraints: Sequence[int],
    *,
    partial_too: bool = True,
) -> BoolArray:
    """Return which sequences have gold labels that break a constraint, shape ``(B,)``.

    A partially labelled sequence conflicts if no labelling within its allowed sets satisfies all
    constraints.

    Parameters
    ----------
    plan
        The compiled constraints.
    gold
        The gold labels of the ``N`` tokens.
    evidence
        The evidence of the batch.
    constraints
        Indices of the constraints to check.
    partial_too
        Whether to check partially labelled sequences, which needs all constraints in one product.
    """
    offsets = evidence.offsets
    n_sequences = offsets.size - 1
    sequence = np.repeat(np.arange(n_sequences), np.diff(offsets))  # of each token
    is_open = np.bincount(sequence, gold.ids < 0, minlength=n_sequences) > 0
    ruled_out = np.zeros(n_sequences, dtype=bool)
    mask = open_labels(plan, evidence, constraints)
    tags = gold.tags(plan.model.n_labels)
    if mask is not None:
        allowed = mask.reshape(tags.size, math.prod(mask.shape[1:]))[np.arange(tags.size), tags]
        wrong = ~allowed & (gold.ids >= 0)
        ruled_out |= np.bincount(sequence, wrong, minlength=n_sequences) > 0
    rules = [i for i in constraints if i in plan.hard_rules]
    for rule in rules:
        ruled_out |= ~is_open & ~plan.hard.accepts(rule, tags, evidence)
    partial = np.flatnonzero(is_open & ~ruled_out)
    if partial_too and partial.size and gold.allowed is not None:
        rows = rows_of(offsets, partial)
        compiled = plan.hard.product(rules, evidence.longest)
        classes = evidence.classes(compiled.tests)
        trellis = Trellis(
            plan.blank_scores(rows.size),
            compiled.automaton,
            offsets=np.concatenate([[0], np.cumsum(np.diff(offsets)[partial])]),
            classes=None if classes is None else classes[rows],
        )
        allowed = gold.allowed if mask is None else gold.allowed & mask
        ruled_out[partial] = ~has_path(trellis, allowed=allowed[rows])
    return ruled_out


def conflict_error(
    plan: Plan,
    labels: Sequence[Label],
    evidence: Evidence,
    sequence: int,
    constraints: Sequence[int],
    *,
    may_skip: bool = True,
) -> NotInLanguageError:
    """Return the error that names the token and the constraint that gold labels break.

    Parameters
    ----------
    plan
        The compiled constraints.
    labels
        The gold labels of the sequence.
    evidence
        The evidence of the batch.
    sequence
        Its index in the batch.
    constraints
        Indices of the constraints in training.
    may_skip
        Whether the message suggests to skip such sequences.
    """
    one = evidence.take(np.array([sequence]))
    known = plan.tag_mask(plan.labels.allowed(labels))
    conflict = find_conflict(plan, one, constraints, known)
    assert conflict is not None, "the labels conflict with the constraints"
    broken = [plan.constraints[i] for i in conflict.constraints]
    allowed = open_labels(plan, one, conflict.constraints, known)
    assert allowed is not None, "gold labels were given"
    rules_met = [i for i in conflict.constraints if i in plan.hard_rules]
    position = dead_end(plan, one, rules_met, allowed)
    where = "at the end" if position == len(labels) else f"token {position} ({labels[position]!r})"
    names = [name for name in labels if isinstance(name, str)]
    reasons = ""
    if len(names) == len(labels):
        found = [
            reason
            for constraint in broken
            for reason in constraint.explain(
                names, evidence.sentences[sequence], scheme=plan.labels
            )
        ]
        reasons = f": {' '.join(found).rstrip('.')}" if found else ""
    rules = join_names([shorten(repr(c)) for c in broken]) if broken else ""
    if not broken:
        error = NotInLanguageError(
            f"y: sequence {sequence}, {where}: no segments fit the known labels. "
            "Correct them, raise max_segment, or leave the sequence out (on_conflict='skip')."
        )
    elif not conflict.with_known:  # the constraints alone conflict
        tokens = "1 token" if len(labels) == 1 else f"{len(labels)} tokens"
        error = NotInLanguageError(
            f"y: sequence {sequence}: no labelling of {tokens} satisfies {rules}. "
            f"{_advice('Leave the sequence out', may_skip)}"
        )
    else:
        error = NotInLanguageError(
            f"y: sequence {sequence}, {where}: the gold labels break {rules}{reasons}. "
            f"{_advice('Correct the labels', may_skip)}"
        )
    error.sequence = sequence
    return error


def _advice(first: str, may_skip: bool) -> str:
    if not may_skip:
        return f"{first}, or drop the constraint."
    return (
        f"{first}, drop the constraint, or set on_conflict='skip' to train without such sequences."
    )
