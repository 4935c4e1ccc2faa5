"""`Finding`: a result of the linter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trelliswork.constraints.base import Constraint

__all__ = ["Finding", "Kind", "in_order"]

Kind: TypeAlias = Literal[
    "unknown",
    "contradictory",
    "dead",
    "free",
    "broken",
    "implied",
    "lengths",
    "inputs",
    "unchecked",
]


@dataclass(frozen=True)
class Finding:
    """A finding of `lint`.

    Attributes
    ----------
    kind
        ``"contradictory"``: no labelling satisfies these rules. ``"dead"``: no labelling breaks the
        rule. ``"free"``: to break the rule costs nothing. ``"broken"``: every labelling that
        satisfies the others breaks the first of the rules, which is soft. ``"implied"``: the first
        of the rules follows from the others, or is given twice. ``"lengths"``: no labelling of some
        lengths satisfies these rules. ``"inputs"``: some inputs have no labelling that satisfies
        these rules. ``"unknown"``: the rule has a name unknown to the label set, and was left
        out. ``"unchecked"``: these rules together are too large to judge, or have no automaton.
    rules
        The rules, as few as possible.
    message
        The finding in words.
    """

    kind: Kind
    rules: tuple[Constraint, ...]
    message: str

    def __str__(self) -> str:
        return self.message


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings sorted by kind, in the order of `lint`."""
    kinds = get_args(Kind)
    return sorted(findings, key=lambda finding: kinds.index(finding.kind))
