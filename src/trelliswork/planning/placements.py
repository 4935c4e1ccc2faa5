"""Where constraints went, as a table."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from trelliswork._utils.tables import shorten, text_table
from trelliswork.constraints.monitors import JOIN_TESTS, MAX_TESTS
from trelliswork.constraints.soft import Soft, spell_penalty

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trelliswork.automata.automaton import Automaton
    from trelliswork.constraints import Constraint

__all__ = ["Placement", "Where", "count_penalties", "describe_placements", "warn_of_tests"]

SHOWN = 5
"""Constraints that a line names."""

Where = Literal["mask", "scores", "training", "decoding", "search"]


@dataclass(frozen=True)
class Placement:
    """Where one constraint went.

    Attributes
    ----------
    constraint : Constraint
        The constraint.
    where : str
        ``"mask"``, ``"scores"`` (charged to single tokens, in decoding only), ``"training"`` (in
        the product of training, and in decoding), ``"decoding"`` (in decoding only) or ``"search"``
        (a Python function, which decoding searches under).
    states, arcs : int
        Size of the model automaton times this constraint alone; 0 where it is none.
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
    rows, priced = [], dict(penalties)
    for placed in placements:
        sizes = [f"{placed.states:,}", f"{placed.arcs:,}", f"{placed.cost:.1f}"]
        if placed.where in ("mask", "scores", "search"):
            sizes = ["", "", ""]
        penalty = priced.get(placed.constraint, math.inf)
        rule = shorten(repr(placed.constraint.hard))
        rows.append([rule, spell_penalty(penalty), placed.where, *sizes])
    cost = trained.n_arcs / model.n_arcs
    total = [f"{trained.n_states:,}", f"{trained.n_arcs:,}", f"{cost:.1f}"]
    rows.append(["training in all", "", "", *total])
    lines = [
        text_table(("rule", "penalty", "where", "states", "arcs", "cost"), rows),
        "Cost is work a token, the model without rules being 1 "
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
        f"Left to decoding{why}: {', '.join(shorten(repr(c)) for c in those[:SHOWN])}"
        + (f" and {len(those) - SHOWN:,} more." if len(those) > SHOWN else ".")
        for those, why in reasons
        if those
    ]
    if n_tests > MAX_TESTS:
        lines.append(warn_of_tests(n_tests))
    if penalties:
        lines.append(f"Penalties: {count_penalties(penalties)}.")
    if any(p.where in ("training", "decoding") for p in placements):
        lines.append(
            "Decoding starts without automata and adds, sequence by sequence, those that the best "
            "labelling breaks."
        )
    return "\n".join(lines)


def count_penalties(penalties: Sequence[tuple[Constraint, float]]) -> str:
    """Say how many penalties were given, how many learned, and in which range these are."""
    learned = [
        rho
        for rule, rho in penalties
        if isinstance(rule, Soft) and rule.penalty is None and not math.isnan(rho)
    ]
    n_open = sum(math.isnan(rho) for _, rho in penalties)
    n_given = len(penalties) - len(learned) - n_open
    counts = [f"{n_given:,} given"] if n_given else []
    if learned:
        span = f"{min(learned):.4g} to {max(learned):.4g}"
        free = f", {learned.count(0.0):,} of them 0" if 0.0 in learned else ""
        counts.append(f"{len(learned):,} learned ({span}{free})")
    if n_open:
        counts.append(f"{n_open:,} to be learned")
    return ", ".join(counts)


def warn_of_tests(n_tests: int) -> str:
    """Say what happens to constraints that read more token tests than a product can."""
    return (
        f"The automata read {n_tests} token tests, and {MAX_TESTS} are the most in one product: "
        f"decoding gives up where an answer needs more. {JOIN_TESTS}"
    )
