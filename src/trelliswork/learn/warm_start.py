"""Warm starts: initial parameters from an earlier model, matched by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from trelliswork._typing import FloatArray, IntArray
    from trelliswork.features import Encoder
    from trelliswork.learn.objective.layout import PairLayout
    from trelliswork.learn.objective.objective import Objective
    from trelliswork.models.model import CRFModel
    from trelliswork.models.pair_weights import PairWeights


__all__ = ["parameters_like"]


def parameters_like(
    objective: Objective,
    earlier: CRFModel,
    encoder: Encoder,
    penalties: FloatArray | None = None,
) -> FloatArray:
    """Return initial parameters of an objective, taken from an earlier model.

    Weights are matched by the names of features, letters and patterns. New ones start at 0.

    Parameters
    ----------
    objective
        The objective.
    earlier
        The earlier model.
    encoder
        The features of the objective.
    penalties
        Penalties of all constraints, shape ``(C,)``; nan where unknown.
    """
    structure, layout = objective.structure, objective.layout
    names, old_names = structure.letter_names, earlier.structure.letter_names
    place = {name: i for i, name in enumerate(old_names)}
    old_letters = np.array([place.get(name, -1) for name in names], dtype=np.int64)
    old_patterns = structure.patterns.places_in(earlier.patterns, old_letters)
    parameters = np.zeros(objective.n_parameters)
    if penalties is not None:
        parameters[layout.penalties] = np.nan_to_num(penalties[objective.learned_penalties])
    parts, patterns, edge = objective.split(parameters)
    for kind, own in parts.items():
        before: PairWeights | None = getattr(earlier, kind)
        if before is not None:
            known, old_known = (_feature_names(e, kind) for e in (encoder, earlier.encoder))
            _carry_over(layout.parts[kind], own, known, old_letters, before, old_known)
    old = old_patterns[layout.patterns]
    patterns[old >= 0] = earlier.pattern_weights[old[old >= 0]]
    if layout.edge is not None and earlier.edge is not None:
        known, old_known = encoder.edge_feature_names(), earlier.encoder.edge_feature_names()
        _carry_over(layout.edge, edge, known, old_patterns, earlier.edge, old_known)
    return parameters


def _carry_over(
    pairs: PairLayout,
    weights: FloatArray,
    names: list[str],
    old_outputs: IntArray,
    earlier: PairWeights,
    earlier_names: list[str],
) -> None:
    """Copy the weights of pairs that occur in an earlier model, in place."""
    place = {name: i for i, name in enumerate(earlier_names)}
    old_features = np.array([place.get(name, -1) for name in names], dtype=np.int64)
    feature = old_features[pairs.features]
    output = old_outputs[pairs.outputs]
    # A sorted key for (feature, output) in the earlier model.
    n_outputs = int(max(earlier.outputs.max(initial=0), output.max(initial=0))) + 1
    keys = earlier.features * n_outputs + earlier.outputs
    wanted = feature * n_outputs + output
    at = np.searchsorted(keys, wanted)
    at[at == keys.size] = 0
    found = (feature >= 0) & (output >= 0)
    if keys.size:
        found &= keys[at] == wanted
        weights[found] = earlier.weights[at[found]]


def _feature_names(encoder: Encoder, kind: str) -> list[str]:
    if kind == "state":
        return encoder.feature_names()
    if kind == "length":  # the same numbers in every model
        return [str(bucket) for bucket in range(64)]
    names: list[str] = getattr(encoder, f"{kind}_feature_names")()
    return names
