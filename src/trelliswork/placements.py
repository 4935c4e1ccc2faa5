"""Where constraints went, as a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from trelliswork.tables import shorten, text_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trelliswork.automaton import Automaton
    from trelliswork.constraints import Constraint

__all__ = ["Placement", "Where", "describe_placements"]

Where = Literal["mask", "training", "decoding"]


@dataclass(frozen=True)
class Placement:
    """Where one constraint went.

    Attributes
    ----------
    constraint : Constraint
        The constraint.
    where : str
        ``"mask"``, ``"training"`` (in the product of training, and in decoding) or ``"decoding"``
        (in decoding only).
    states, arcs : int
        Size of the model automaton times this constraint alone; 0 for a mask.
    cost : float
        Work a token on that product, as a multiple of the model's own.
    """

    constraint: Constraint
    where: Where
    states: int
    arcs: int
    cost: float


def describe_placements(
    placements: Sequence[Placement], model: Automaton, trained: Automaton, budget: int
) -> str:
    """Return a table of what went where, and what it costs.

    Parameters
    ----------
    placements
        One a constraint.
    model, trained
        The automaton of the model, and its product with the constraints of training.
    budget
        Most arcs of that product.
    """
    rows = []
    for placed in placements:
        sizes = [f"{placed.states:,}", f"{placed.arcs:,}", f"{placed.cost:.1f}"]
        if placed.where == "mask":
            sizes = ["", "", ""]
        rows.append([shorten(repr(placed.constraint)), placed.where, *sizes])
    cost = trained.n_arcs / model.n_arcs
    total = [f"{trained.n_states:,}", f"{trained.n_arcs:,}", f"{cost:.1f}"]
    rows.append(["training in all", "", *total])
    lines = [
        text_table(("constraint", "where", "states", "arcs", "cost"), rows),
        "Cost is work a token, the model without constraints being 1 "
        f"({model.n_states:,} states, {model.n_arcs:,} arcs).",
    ]
    left = [shorten(repr(p.constraint)) for p in placements if p.where == "decoding"]
    if left:
        beyond = f", beyond the {budget:,} arcs of the training budget" if budget else ""
        lines.append(f"Left to decoding{beyond}: {', '.join(left)}.")
    if any(p.where != "mask" for p in placements):
        lines.append(
            "Decoding starts without automata and adds, sequence by sequence, those that the best "
            "labelling breaks."
        )
    return "\n".join(lines)
