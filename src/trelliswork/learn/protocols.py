"""Training protocols: the role of constraints in training, and their penalties afterwards.

| protocol | weights are learned | constraints in decoding |
| --- | --- | --- |
| ``"L"`` | without constraints | none |
| ``"L+CI"`` | without constraints | all hard, ``ρ = ∞`` |
| ``"L+wCI"`` | without constraints | soft ones with ``ρ`` counted in the labelled data |
| ``"CIBT"`` | under constraints, all hard | all hard |
| ``"wCIBT"`` | under constraints, ``ρ`` learned with the weights | soft ones with that ``ρ`` |

The names are those of Chang, Ratinov and Roth, "Constraints as Prior Knowledge" (2008). Constraints
that were not made soft are hard in all protocols but ``"L"``. Given penalties are kept.
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
# For a CRF: whether constraints apply in training, and how penalties are learned.
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
    """Return the name of a protocol; raise a `ValueError` if it is not allowed.

    Parameters
    ----------
    training
        The name.
    allowed
        The protocols that the learner supports.
    because
        Why it does not support the others, for the message.
    """
    for name in PROTOCOLS:
        if name == training and name in allowed:
            return name
    known = ", ".join(f"{name!r} ({MEANINGS[name]})" for name in allowed)
    why = f" {because}" if because and training in PROTOCOLS else ""
    raise ValueError(f"training: expected one of {known}, got {training!r}.{why}")


def rules_under(training: Protocol, constraints: Any) -> tuple[Constraint, ...]:
    """Return the constraints for decoding under a protocol: none, all hard, or unchanged.

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
    """Return the parameters of a CRF with its training protocol applied.

    Parameters
    ----------
    parameters
        The parameters of the estimator. ``training=None`` leaves them unchanged.

    Raises
    ------
    ValueError
        If the protocol is unknown, or contradicts `constrained_training` or `penalties`.
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
