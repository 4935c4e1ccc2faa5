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

from trelliswork.constraints.given import as_constraints

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from trelliswork.constraints import Constraint

__all__ = ["Protocol", "check_protocol", "rules_under", "settle_protocol"]

Protocol = Literal["L", "L+CI", "L+wCI", "CIBT", "wCIBT"]
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
