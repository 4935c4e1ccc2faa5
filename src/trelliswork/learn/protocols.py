"""Training protocols: what constraints do while a model is learned, and what they cost after.

| protocol | weights are learned | constraints in decoding |
| --- | --- | --- |
| ``"L"`` | without constraints | none |
| ``"L+CI"`` | without constraints | all hard, ``ρ = ∞`` |
| ``"L+wCI"`` | without constraints | soft ones with ``ρ`` counted in the labelled data |
| ``"CIBT"`` | under constraints, all hard | all hard |
| ``"wCIBT"`` | under constraints, ``ρ`` learned with the weights | soft ones with that ``ρ`` |

The names are those of Chang, Ratinov and Roth, "Constraints as Prior Knowledge" (2008). Constraints
that were not made soft are hard in all but ``"L"``, and a penalty that was given stays as it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from trelliswork.constraints.given import as_constraints
from trelliswork.constraints.per_token import PerToken
from trelliswork.constraints.reading import Reading
from trelliswork.constraints.soft import MOST_PENALTY, Soft

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from trelliswork.constraints import Constraint
    from trelliswork.labels import LabelSet

    FloatArray = NDArray[np.float64]

__all__ = ["Protocol", "check_protocol", "count_penalties", "rules_under", "settle_protocol"]

Protocol = Literal["L", "L+CI", "L+wCI", "CIBT", "wCIBT"]
DOUBT = 1e-6
"""Of a rule that someone wrote down: one violation in a million, until some are seen."""
PROTOCOLS: tuple[Protocol, ...] = get_args(Protocol)
MEANINGS = {
    "L": "without constraints",
    "L+CI": "hard constraints in decoding",
    "L+wCI": "penalties counted, in decoding",
    "CIBT": "hard constraints in training too",
    "wCIBT": "penalties learned in training",
}
# What a protocol means for a CRF: whether constraints hold in training, and how penalties come.
MEANS: dict[Protocol, tuple[bool, str | None]] = {
    "L": (False, None),
    "L+CI": (False, None),
    "L+wCI": (False, "counts"),
    "CIBT": (True, None),
    "wCIBT": (True, "likelihood"),
}


def check_protocol(
    training: object, *, allowed: Sequence[str] = PROTOCOLS, because: str = ""
) -> Protocol:
    """Return the name of a protocol, or raise a `ValueError` where it is none of those allowed.

    Parameters
    ----------
    training
        The name.
    allowed
        Those that make sense for the learner.
    because
        Why the others do not, for the message.
    """
    for name in PROTOCOLS:
        if name == training and name in allowed:
            return name
    known = ", ".join(f"{name!r} ({MEANINGS[name]})" for name in allowed)
    why = f" {because}" if because and training in PROTOCOLS else ""
    raise ValueError(f"training: expected one of {known}, got {training!r}.{why}")


def rules_under(training: Protocol, constraints: Any) -> tuple[Constraint, ...]:
    """Return constraints as a protocol decodes under them: none, all hard, or as they are.

    Examples
    --------
    >>> from trelliswork.constraints import at_most
    >>> rules_under("L+CI", at_most(1, "title").soft())
    (at_most(1, 'title'),)
    """
    given = as_constraints(constraints)
    if training == "L":
        return ()
    return tuple(rule.hard for rule in given) if training in ("L+CI", "CIBT") else given


def settle_protocol(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a CRF with what its training protocol says of constraints.

    Parameters
    ----------
    parameters
        Those of the estimator. ``training=None`` leaves them as they are.

    Raises
    ------
    ValueError
        Where the protocol is not known, or `constrained_training` or `penalties` were set to
        something else than it means.
    """
    found = dict(parameters)
    if found["training"] is None:
        return found
    training = check_protocol(found["training"])
    trained, penalties = MEANS[training]
    means = MEANINGS[training]
    if trained and not found["constrained_training"]:
        raise ValueError(
            f"constrained_training: expected True, as training={training!r} means {means}, got "
            "False. Leave one of the two out."
        )
    if found["penalties"] not in ("likelihood", penalties):  # the first is the default
        raise ValueError(
            f"penalties: expected none to be set, as training={training!r} means {means}, got "
            f"{found['penalties']!r}. Leave one of the two out."
        )
    found["constraints"] = rules_under(training, found["constraints"])
    found["constrained_training"] = trained
    found["penalties"] = penalties or "likelihood"
    return found


def count_penalties(
    constraints: Sequence[Constraint],
    sequences: Sequence[Any],
    names: Sequence[Sequence[str]],
    labels: LabelSet,
    weights: FloatArray | None = None,
    *,
    doubt: float = DOUBT,
) -> FloatArray:
    """Return what each constraint costs by how often labelled data breaks it, ``L+wCI``.

        ρ_c = max(0, log((satisfied_c + 1) / (violated_c + doubt)))

    the log-odds that a constraint is satisfied where it could be broken: by a sequence; for one
    that counts tokens (`Constraint.per_token`), at a token that it is about. A constraint holds by
    default, and what was never seen broken costs much; one that is wrong half the time costs
    nothing.

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
    penalties = np.array([_known_penalty(rule) for rule in constraints], dtype=np.float64)
    unknown = np.flatnonzero(np.isnan(penalties)).tolist()
    if not unknown:
        return penalties
    parts = [constraints[c].hard.conjuncts for c in unknown]
    violated, chances = np.zeros(len(unknown)), np.zeros(len(unknown))
    counted = np.ones(len(names)) if weights is None else weights
    for sequence, own, weight in zip(sequences, names, counted.tolist(), strict=True):
        reading = Reading(own, sequence, labels)  # once for all constraints: it takes time
        violated += weight * np.array([sum(_broken(p, reading) for p in one) for one in parts])
        chances += weight * np.array([sum(_chances(p, reading) for p in one) for one in parts])
    odds = (chances - violated + 1.0) / (violated + doubt)
    penalties[unknown] = np.clip(np.log(odds), 0.0, MOST_PENALTY)
    return penalties


def _known_penalty(rule: Constraint) -> float:
    """Return what a constraint costs by itself; nan where that is to be learned."""
    if not isinstance(rule, Soft):
        return np.inf
    return np.nan if rule.penalty is None else float(rule.penalty)


def _broken(part: Constraint, reading: Reading) -> int:
    """Return how often a labelling breaks a part of a constraint."""
    degree = part.degree(reading)
    return degree if isinstance(part, PerToken) else int(degree > 0)


def _chances(part: Constraint, reading: Reading) -> int:
    """Return how often a labelling could have broken a part of a constraint."""
    return part.chances(reading) if isinstance(part, PerToken) else 1
