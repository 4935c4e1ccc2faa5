"""Where constraints went, as a table."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from trelliswork.constraints.letters import JOIN_TESTS, MAX_TESTS
from trelliswork.tables import shorten, text_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trelliswork.automaton import Automaton
    from trelliswork.constraints import Constraint

__all__ = ["Placement", "Where", "describe_placements", "warn_of_tests"]

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
    placements: Sequence[Placement],
    model: Automaton,
    trained: Automaton,
    budget: int,
    *,
    beyond_tests: Sequence[Constraint] = (),
    n_tests: int = 0,
    penalties: Sequence[tuple[Constraint, float]] = (),
    train_soft: bool = True,
    usual_length: int | None = None,
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
    beyond_tests
        The constraints that are left to decoding for their token tests.
    n_tests
        Number of token tests that the automata read together.
    penalties
        The soft constraints and what they cost; nan: to be learned.
    train_soft
        Whether soft constraints count in training.
    usual_length
        The length of a sequence that sizes are given for, where they depend on it.
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
    if usual_length is not None:
        lines.append(f"Sizes of sums of counts are those for sequences of {usual_length} tokens.")
    left = [p.constraint for p in placements if p.where == "decoding"]
    if not train_soft:  # as was asked for
        left = [constraint for constraint in left if not constraint.is_soft]
    beyond_arcs = [c for c in left if c not in beyond_tests]
    reasons = [(beyond_arcs, f", beyond the {budget:,} arcs of the training budget")]
    if not budget:
        reasons = [(left, "")]
    reasons.append((list(beyond_tests), f", beyond {MAX_TESTS} token tests"))
    lines += [
        f"Left to decoding{why}: {', '.join(shorten(repr(c)) for c in those)}."
        for those, why in reasons
        if those
    ]
    if n_tests > MAX_TESTS:
        lines.append(warn_of_tests(n_tests))
    if penalties:
        known = [
            f"{shorten(repr(rule))} {'to be learned' if math.isnan(rho) else f'{rho:.3g}'}"
            for rule, rho in penalties
        ]
        lines.append(f"Penalties: {', '.join(known)}.")
    if any(p.where != "mask" for p in placements):
        lines.append(
            "Decoding starts without automata and adds, sequence by sequence, those that the best "
            "labelling breaks."
        )
    return "\n".join(lines)


def warn_of_tests(n_tests: int) -> str:
    """Say what happens to constraints that read more token tests than a product can."""
    return (
        f"The automata read {n_tests} token tests, and {MAX_TESTS} are the most in one product: "
        f"decoding gives up where an answer needs more. {JOIN_TESTS}"
    )
