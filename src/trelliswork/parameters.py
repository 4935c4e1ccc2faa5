"""Parameters of a tagger: checked before training, and as they are written to a file."""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np

from trelliswork.conflicts import check_on_infeasible
from trelliswork.constraints import parse
from trelliswork.features import Templates

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trelliswork.plan import Plan

__all__ = ["check_parameters", "restored_parameters", "saved_parameters"]

LEAST = {
    "min_count": 1,
    "max_iter": 0,
    "dev_every": 1,
    "patience": 1,
    "training_budget": 0,
    "decoding_budget": 1,
}
CHOICES = {
    "pairs": ("observed", "all"),
    "transitions": ("observed", "all"),
    "on_conflict": ("error", "skip"),
}


def check_parameters(parameters: Mapping[str, Any]) -> None:
    """Raise a `ValueError` at the first parameter with a value that makes no sense."""
    for name, low in LEAST.items():
        value = parameters[name]
        if not isinstance(value, Integral) or isinstance(value, bool) or int(value) < low:
            raise ValueError(f"{name}: expected a whole number from {low} up, got {value!r}.")
    for name in ("l2", "tol"):
        value = parameters[name]
        if not isinstance(value, Real) or not 0.0 <= float(value) < np.inf:
            raise ValueError(f"{name}: expected a finite number from 0 up, got {value!r}.")
    for name, choices in CHOICES.items():
        if parameters[name] not in choices:
            raise ValueError(
                f"{name}: expected {' or '.join(map(repr, choices))}, got {parameters[name]!r}."
            )
    trained = parameters["constrained_training"]
    if not isinstance(trained, bool | np.bool_):
        raise ValueError(f"constrained_training: expected True or False, got {trained!r}.")
    check_on_infeasible(parameters["on_infeasible"])


def saved_parameters(parameters: Mapping[str, Any], plan: Plan) -> dict[str, Any]:
    """Return the parameters of a trained tagger as JSON can hold them.

    Parameters
    ----------
    parameters
        Those of the estimator.
    plan
        The constraints that the tagger works under. They are what is written: those among the
        parameters may have been set after training.
    """
    saved = dict(parameters)
    if isinstance(saved["features"], Templates):
        saved["features"] = saved["features"].to_dict()
    # As text, which is parsed and never executed.
    saved["constraints"] = [repr(constraint) for constraint in plan.constraints]
    # Where training began is history; the file stands by itself.
    saved["init"] = None
    weights = saved["class_weight"]
    if weights is not None and not isinstance(weights, str):
        saved["class_weight"] = {name: float(weight) for name, weight in weights.items()}
    # A grid over a NumPy range leaves NumPy numbers, which JSON does not know.
    return {
        name: value.item() if isinstance(value, np.generic) else value
        for name, value in saved.items()
    }


def restored_parameters(saved: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that `saved_parameters` described; rules are parsed, never executed."""
    parameters = dict(saved)
    if isinstance(parameters.get("features"), dict):
        parameters["features"] = Templates.from_dict(parameters["features"])
    # JSON knows no tuple, and old files no constraints.
    parameters["constraints"] = tuple(map(parse, parameters.get("constraints") or ()))
    return parameters
