"""Parameters of a tagger: checks before training, and conversion to and from JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any

import numpy as np

from trelliswork._utils.arguments import check_number, check_whole, is_whole
from trelliswork.constraints import parse
from trelliswork.decoding.conflicts import check_on_infeasible
from trelliswork.features import Templates
from trelliswork.learn.optimizers.minimizer import check_solver
from trelliswork.learn.protocols import settle_protocol
from trelliswork.learn.sparsity.group_lasso import GroupLasso

if TYPE_CHECKING:
    from trelliswork.constraints import Predicate
    from trelliswork.planning.plan import Plan

__all__ = [
    "check_crf_parameters",
    "check_sparsity",
    "parameters_from_json",
    "parameters_to_json",
]

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
    "transitions": ("observed", "all", None),
    "on_conflict": ("error", "skip"),
    "penalties": ("likelihood", "counts", "perceptron", "ssvm"),
}


def check_crf_parameters(parameters: Mapping[str, Any]) -> None:
    """Raise a `ValueError` for the first parameter of `CRFTagger` with an invalid value."""
    for name, low in LEAST.items():
        check_whole(name, parameters[name], low)
    check_number("tol", parameters["tol"])
    check_number("gap_tol", parameters["gap_tol"])
    held_out = parameters["held_out"]
    check_number("held_out", held_out)
    if not 0.0 < held_out < 1.0:
        raise ValueError(f"held_out: expected a share between 0 and 1, got {held_out!r}.")
    _check_l2(parameters["l2"])
    _check_sparsity(parameters)
    for name, choices in CHOICES.items():
        if parameters[name] not in choices:
            raise ValueError(
                f"{name}: expected {' or '.join(map(repr, choices))}, got {parameters[name]!r}."
            )
    trained = parameters["constrained_training"]
    if not isinstance(trained, bool | np.bool_):
        raise ValueError(f"constrained_training: expected True or False, got {trained!r}.")
    settle_protocol(parameters)
    check_on_infeasible(parameters["on_infeasible"])
    _check_structure(parameters)


def _check_structure(parameters: Mapping[str, Any]) -> None:
    """Raise for the first invalid parameter of label patterns and segments.

    Label names and lengths of gold segments are checked later, against the training set.
    """
    check_whole("order", parameters["order"], 0)
    check_whole("edge_order", parameters["edge_order"], 0)
    check_whole("min_pattern_count", parameters["min_pattern_count"], 1)
    if parameters["max_patterns"] is not None:
        check_whole("max_patterns", parameters["max_patterns"], 1)
    adjacent = parameters["adjacent"]
    if not isinstance(adjacent, bool | np.bool_):
        raise ValueError(f"adjacent: expected True or False, got {adjacent!r}.")
    longest = parameters["max_segment"]
    if isinstance(longest, Mapping):
        for name, limit in longest.items():
            check_whole(f"max_segment[{name!r}]", limit, 1)
    elif longest != "auto":
        check_whole("max_segment", longest, 1, " (of tokens), such numbers by name, or 'auto'")
    if parameters["patterns"] is not None:
        _check_patterns(parameters["patterns"])


def _check_patterns(patterns: Any) -> None:
    expected = "patterns: expected a list of tuples of names, such as [('author', 'title')]"
    # This check would exhaust a generator.
    if isinstance(patterns, str) or not isinstance(patterns, Sequence | Set):
        raise TypeError(f"{expected}, got {patterns!r}. Put them in a list.")
    for place, pattern in enumerate(patterns):
        is_tuple = isinstance(pattern, tuple | list)
        if not is_tuple or not pattern or not all(isinstance(name, str) for name in pattern):
            raise TypeError(f"{expected}, got {pattern!r} at {place}.")


def _check_sparsity(parameters: Mapping[str, Any]) -> None:
    check_sparsity(parameters["l1"], parameters["regularizer"], parameters["debias"])
    check_solver(
        parameters["solver"],
        l1=parameters["l1"],
        groups=parameters["regularizer"],
        l2=parameters["l2"],
    )
    groups, l2 = parameters["regularizer"], parameters["l2"]
    least = min(l2.values()) if isinstance(l2, Mapping) else l2
    if groups is not None and groups.adaptive and least == 0:
        raise ValueError(
            f"l2: expected more than 0 with an adaptive regularizer, whose first fit has no other "
            f"penalty, got {l2!r}."
        )


def check_sparsity(l1: Any, groups: Any, debias: Any) -> None:
    """Raise for the first invalid parameter of sparse training."""
    check_number("l1", l1)
    if groups is not None and not isinstance(groups, GroupLasso):
        raise TypeError(
            f"regularizer: expected a GroupLasso, such as GroupLasso(by='template'), or None, got "
            f"{groups!r}."
        )
    if not isinstance(debias, bool | np.bool_):
        raise ValueError(f"debias: expected True or False, got {debias!r}.")
    if debias and groups is None and l1 == 0:
        raise ValueError(
            "debias: expected l1 above 0 or a regularizer, without which no weight is 0."
        )


def _check_l2(l2: Any) -> None:
    if not isinstance(l2, Mapping):
        check_number("l2", l2)
        return
    for order, value in l2.items():
        if not is_whole(order, 0):
            raise ValueError(
                f"l2: expected orders as keys, whole numbers from 0 up, got {order!r}."
            )
        check_number(f"l2[{order}]", value)
    if 0 not in l2:
        raise ValueError(
            f"l2: expected a value for order 0, the features of single labels, got {dict(l2)!r}. "
            "An order that is missing takes the value of the next lower one."
        )


def parameters_to_json(parameters: Mapping[str, Any], plan: Plan) -> dict[str, Any]:
    """Return the parameters of a trained tagger as JSON values.

    Parameters
    ----------
    parameters
        The result of ``get_params``.
    plan
        The compiled constraints of the tagger. They are saved instead of the parameter
        `constraints`, which may have been set after training.
    """
    saved = dict(parameters)
    if isinstance(saved.get("features"), Templates):
        saved["features"] = saved["features"].to_dict()
    if isinstance(saved.get("regularizer"), GroupLasso):
        saved["regularizer"] = saved["regularizer"].to_dict()
    # As text, which is parsed and never executed.
    saved["constraints"] = [repr(constraint) for constraint in plan.constraints]
    # Only training used the initial model; the file must not depend on it.
    if "init" in saved:
        saved["init"] = None
    weights = saved.get("class_weight")
    if weights is not None and not isinstance(weights, str):
        saved["class_weight"] = {name: float(weight) for name, weight in weights.items()}
    for name in ("l2", "max_segment"):
        if isinstance(saved.get(name), Mapping):
            saved[name] = {str(key): _plain(value) for key, value in saved[name].items()}
    if saved.get("labels") is not None:
        saved["labels"] = list(map(str, saved["labels"]))
    if saved.get("patterns") is not None:
        saved["patterns"] = [list(map(str, pattern)) for pattern in saved["patterns"]]
    # A grid search over a NumPy range leaves NumPy numbers, which JSON cannot hold.
    return {name: _plain(value) for name, value in saved.items()}


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def parameters_from_json(
    saved: Mapping[str, Any], predicates: Mapping[str, Predicate] | None = None
) -> dict[str, Any]:
    """Return the parameters that `parameters_to_json` wrote. Rules are parsed, never executed."""
    parameters = dict(saved)
    if isinstance(parameters.get("features"), dict):
        parameters["features"] = Templates.from_dict(parameters["features"])
    if isinstance(parameters.get("regularizer"), dict):
        parameters["regularizer"] = GroupLasso.from_dict(parameters["regularizer"])
    if isinstance(parameters.get("l2"), dict):
        parameters["l2"] = {int(order): value for order, value in parameters["l2"].items()}
    if parameters.get("patterns") is not None:
        parameters["patterns"] = [tuple(pattern) for pattern in parameters["patterns"]]
    # JSON has no tuples; old files have no constraints.
    texts = parameters.get("constraints") or ()
    parameters["constraints"] = tuple(parse(text, predicates=predicates) for text in texts)
    return parameters
