"""Learning near an earlier model: maximum a posteriori, with a Gaussian prior around its weights.

    w = argmin_w  Σ_b weight_b (log Z_b − log Z_b over what is known of y_b) + l2 ‖w − w₀‖²

Weights that the new sequences say nothing about stay as they are. So a model learns from few
sequences, in a moment, and forgets nothing that they do not contradict.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from trelliswork.learn.objective import Objective
from trelliswork.learn.warm_start import parameters_like
from trelliswork.parallel import resolve_jobs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from trelliswork.model import CRFModel
    from trelliswork.sentence import Label

    FloatArray = NDArray[np.float64]

__all__ = ["learn_near"]


def learn_near(
    model: CRFModel,
    sequences: list[Any],
    names: Sequence[Sequence[Label]],
    *,
    l2: float,
    weights: FloatArray | None = None,
    max_iter: int = 50,
    n_jobs: int | None = None,
) -> CRFModel:
    """Return a model with other weights for the features that a model has.

    Parameters
    ----------
    model
        ``w₀``, with its features, labels and structure.
    sequences, names
        What to learn from. Labels are known to the model; a token may be open, ``None``, or have a
        set of alternatives, and is summed over.
    l2
        How strongly each weight is held where it was.
    weights
        Weight of each sequence, shape ``(B,)``. Default: 1.
    max_iter
        Most iterations of L-BFGS.
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
        pairs="all",  # what is never seen with a label now has a weight from before
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
    return objective.model(anchor + found.x, model.encoder)
