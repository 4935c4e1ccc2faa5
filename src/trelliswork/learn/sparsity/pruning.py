"""Prune a model: remove pairs, features, templates and label patterns of weight 0."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from trelliswork.automata.patterns import Patterns
from trelliswork.learn.learner import Learned
from trelliswork.models.model import CRFModel
from trelliswork.models.pair_weights import PairWeights
from trelliswork.planning.plan import Plan

if TYPE_CHECKING:
    from trelliswork._typing import BoolArray, FloatArray, IntArray
    from trelliswork.models.structure import Structure


__all__ = ["prune", "without_zeros"]

ENCODED = (
    "state",
    "edge",
    "begin",
    "end",
    "segment",
)  # kinds of features that come from the encoder


def without_zeros(learned: Learned) -> Learned:
    """Return the result of learning with a pruned model."""
    model = prune(learned.model)
    return Learned(model, _plan_for(learned.plan, learned.model.structure, model.structure))


def prune(model: CRFModel) -> CRFModel:
    """Return a model with the same scores and without weights of 0.

    Also removes features without a weight, templates without a feature and label patterns without a
    weight, but keeps the full transition matrix of a chain.
    """
    structure, patterns, places = _without_dead_patterns(model)
    parts: dict[str, PairWeights] = {}
    keep: dict[str, BoolArray] = {}
    for kind in (*ENCODED, "length"):
        weights: PairWeights | None = getattr(model, kind)
        if weights is None:
            continue
        if kind == "edge":
            outputs = places[weights.outputs].astype(np.int32)
            weights = PairWeights(weights.offsets, outputs, weights.weights)
        nonzero = weights.weights != 0.0
        counts = np.concatenate([[0], np.cumsum(nonzero)])[weights.offsets]
        if kind == "length":  # their number follows from the longest segment
            lives = np.ones(counts.size - 1, dtype=bool)
        else:
            lives = keep[kind] = np.diff(counts) > 0
        offsets = np.concatenate([[0], counts[1:][lives]])
        parts[kind] = PairWeights(offsets, weights.outputs[nonzero], weights.weights[nonzero])
    masks = {f"keep_{kind}": mask for kind, mask in keep.items()}
    encoder = model.encoder.select(**masks)
    # The encoder may drop a kind that has no feature left.
    known = {*encoder.feature_counts(), "length"}
    parts = {kind: part for kind, part in parts.items() if kind in known}
    return CRFModel(structure, encoder, parts.pop("state"), patterns, **parts)


def _without_dead_patterns(
    model: CRFModel,
) -> tuple[Structure, FloatArray, IntArray]:
    """Return the structure with the nonzero patterns, their weights, and the new index of each.

    The transitions of a chain stay a full matrix for the dense path of the core.
    """
    structure, weights = model.structure, model.pattern_weights
    lives = weights != 0.0
    if model.edge is not None:
        lives[model.edge.outputs[model.edge.weights != 0.0]] = True
    if structure.patterns.is_chain or lives.all():
        return structure, weights, np.arange(weights.size)
    old = structure.patterns
    chosen = np.flatnonzero(lives)
    lengths = old.lengths[chosen]
    letters = old.letters[np.repeat(lives, old.lengths)]
    counts = None if old.counts is None else old.counts[chosen]
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    smaller = Patterns(old.n_labels, offsets, letters, counts)
    places = np.cumsum(lives) - 1
    return replace(structure, patterns=smaller), weights[chosen], places


def _plan_for(plan: Plan, before: Structure, after: Structure) -> Plan:
    """Return the constraints compiled for a structure with fewer patterns."""
    if after.patterns is before.patterns:
        return plan
    found = Plan(
        plan.labels,
        plan.constraints,
        model=after.automaton,
        segmentation=plan.segmentation,
        train_soft=plan.train_soft,
        max_states=plan.max_states,
        **plan.budgets(),
    )
    return found.with_penalties(plan.penalties)
