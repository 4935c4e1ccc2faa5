"""Adapt a model to new sequences: MAP estimation with a Gaussian prior around its weights.

    w = argmin_w  Σ_b weight_b (log Z_b − log Z_b,known) + l2 ‖w − w₀‖²

with ``log Z_b,known`` over the labellings that agree with the known labels. Weights that the new
sequences do not affect stay as they are, so a model adapts to few sequences quickly and keeps what
they do not contradict.

Every pair of a feature and a label may get a weight. Most changes are tiny. Those below a threshold
are dropped, as the model would otherwise become many times larger.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from trelliswork._utils.threads import resolve_jobs
from trelliswork.learn.objective.objective import Objective
from trelliswork.learn.warm_start import parameters_like
from trelliswork.models.pair_weights import PairWeights

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trelliswork._typing import FloatArray
    from trelliswork.data.sentence import Label
    from trelliswork.models.model import CRFModel


__all__ = ["learn_near"]

KINDS = ("state", "edge", "begin", "end", "segment")


def learn_near(
    model: CRFModel,
    sequences: list[Any],
    names: Sequence[Sequence[Label]],
    *,
    l2: float,
    weights: FloatArray | None = None,
    max_iter: int = 50,
    least_move: float = 1e-3,
    n_jobs: int | None = None,
) -> CRFModel:
    """Return a model with the same features and adapted weights.

    Parameters
    ----------
    model
        ``w₀``, with its features, labels and structure.
    sequences, names
        The new sequences and their labels, all of which the model knows. A token may be unlabelled
        (``None``) or have a set of alternatives; these are summed over.
    l2
        Strength of the prior: the larger, the less the weights change.
    weights
        Weight of each sequence, shape ``(B,)``. Default: 1.
    max_iter
        Maximum number of L-BFGS iterations.
    least_move
        Smaller changes of a weight are dropped.
    n_jobs
        Threads.
    """
    from scipy.optimize import minimize

    jobs = resolve_jobs(n_jobs)
    objective = Objective(
        model.encoder.transform(sequences, n_jobs=jobs),
        model.structure.encode(names),
        model.structure,
        weights=weights,
        pairs="all",  # a pair not seen here may have a weight in the model
        transitions="all",
    )
    anchor = parameters_like(objective, model, model.encoder)
    gradient = np.empty_like(anchor)

    def value_and_gradient(moved: FloatArray) -> tuple[float, FloatArray]:
        value = objective.value_and_grad(anchor + moved, gradient, n_jobs=jobs)
        return value + l2 * float(moved @ moved), gradient + 2.0 * l2 * moved

    found = minimize(
        value_and_gradient,
        np.zeros_like(anchor),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": max_iter},
    )
    moves = np.where(np.abs(found.x) < least_move, 0.0, found.x)
    return _without_zeros(objective.model(anchor + moves, model.encoder))


def _without_zeros(model: CRFModel) -> CRFModel:
    """Return a model without pairs of weight 0. All features and patterns stay."""
    parts: dict[str, Any] = {}
    for kind in KINDS:
        own: PairWeights | None = getattr(model, kind)
        if own is not None:
            counts = np.concatenate([[0], np.cumsum(own.weights != 0.0)])
            chosen = np.flatnonzero(own.weights)
            parts[kind] = PairWeights(counts[own.offsets], own.outputs[chosen], own.weights[chosen])
    return replace(model, **parts)
