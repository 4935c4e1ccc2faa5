"""Where each rule goes: one table, the first row that fits wins.

Rows are checked in order and only as far as needed, so that a plan knows its masks before anything
is compiled. The first three rows look at the rule alone. What they leave becomes automata:
in the product of training where it fits the budget, else in decoding alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from trelliswork._utils.tables import shorten, text_table
from trelliswork.constraints.monitors import JOIN_TESTS, MAX_TESTS
from trelliswork.constraints.soft import Soft, spell_penalty
from trelliswork.errors import TooLargeError
from trelliswork.planning.training import USUAL_LENGTH

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from trelliswork.automata.automaton import Automaton
    from trelliswork.constraints import Constraint
    from trelliswork.planning.plan import Plan

__all__ = [
    "PLACES",
    "Placement",
    "Where",
    "describe_placements",
    "first_place",
    "not_placed_before",
    "penalties_text",
    "place",
    "tests_warning",
]

SHOWN = 5
"""Maximum number of constraints named in one line."""

Where = Literal["mask", "search", "scores", "training", "decoding"]


@dataclass(frozen=True)
class Placement:
    """Where one constraint went.

    Attributes
    ----------
    constraint : Constraint
        The constraint.
    where : str
        ``"mask"``, ``"search"`` (a Python function, which decoding searches under), ``"scores"``
        (charged to single tokens, in decoding only), ``"training"`` (in the product of training,
        and in decoding) or ``"decoding"`` (in decoding only).
    states, arcs : int
        Size of the model automaton times this constraint alone; 0 for rules without an automaton.
    cost : float
        Work per token on that product, as a multiple of the model's own.
    """

    constraint: Constraint
    where: Where
    states: int
    arcs: int
    cost: float


def _is_mask(plan: Plan, index: int) -> bool:
    """Whether a rule is hard and says of each token alone which labels it may have."""
    constraint = plan.constraints[index]
    return not constraint.is_soft and constraint.allowed(plan.labels, ()) is not None


def _is_predicate(plan: Plan, index: int) -> bool:
    """Whether a rule is a Python function."""
    return plan.constraints[index].is_predicate


def _has_no_terms(plan: Plan, index: int) -> bool:
    """Whether token charges are all that there is of a rule."""
    return not plan.terms.of((index,))


def _is_trained(plan: Plan, index: int) -> bool:
    """Whether a rule is in the product that training sums over."""
    return index in plan.training.constraints()


def _is_left(_plan: Plan, _index: int) -> bool:
    return True


PLACES: tuple[tuple[Where, Callable[[Plan, int], bool]], ...] = (
    ("mask", _is_mask),
    ("search", _is_predicate),
    ("scores", _has_no_terms),
    ("training", _is_trained),
    ("decoding", _is_left),
)
"""Where a rule goes, and which rules go there; the first row that fits wins."""

WITHOUT_AUTOMATA = ("mask", "search", "scores")


def first_place(plan: Plan, index: int, last: Where = "decoding") -> Where | None:
    """Return where a rule goes by the rows up to `last`; None if none of these fits."""
    for where, fits in PLACES:
        if fits(plan, index):
            return where
        if where == last:
            break
    return None


def not_placed_before(plan: Plan, where: Where) -> tuple[int, ...]:
    """Return the rules that no row above `where` takes."""
    above: Where = PLACES[[row for row, _ in PLACES].index(where) - 1][0]
    return tuple(
        i for i in range(len(plan.constraints)) if first_place(plan, i, last=above) is None
    )


def place(plan: Plan, index: int) -> Placement:
    """Return where a rule goes, and the size of the model times that rule alone."""
    constraint, where = plan.constraints[index], first_place(plan, index)
    assert where is not None, "the last row takes all"
    if where in WITHOUT_AUTOMATA:
        return Placement(constraint, where, 0, 0, 0.0)
    by_terms = constraint.is_soft or index in plan.hard.length_dependent
    if not by_terms:
        _ = plan.hard.language(index)  # raises here if the rule alone is too large
    try:
        if by_terms:
            states, arcs = plan.terms.size(plan.terms.of((index,)), USUAL_LENGTH)
        else:
            states, arcs = plan.hard.size(index)
    except TooLargeError:  # not even alone: decoding says so where it is needed
        states, arcs = 0, plan.decoding_budget
    return Placement(constraint, where, states, arcs, arcs / plan.model.n_arcs)


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
    """Return a table of the places of rules and their costs.

    Parameters
    ----------
    placements
        One per constraint.
    model, trained
        The automaton of the model, and its product with the constraints of training.
    budget
        Maximum number of arcs of that product.
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
        if placed.where in WITHOUT_AUTOMATA:
            sizes = ["", "", ""]
        penalty = priced.get(placed.constraint, math.inf)
        rule = shorten(repr(placed.constraint.hard))
        rows.append([rule, spell_penalty(penalty), placed.where, *sizes])
    cost = trained.n_arcs / model.n_arcs
    total = [f"{trained.n_states:,}", f"{trained.n_arcs:,}", f"{cost:.1f}"]
    rows.append(["training product", "", "", *total])
    lines = [
        text_table(("rule", "penalty", "where", "states", "arcs", "cost"), rows),
        "Cost is work per token, the model without rules being 1 "
        f"({model.n_states:,} states, {model.n_arcs:,} arcs).",
    ]
    if usual_length is not None:
        lines.append(f"Sizes of sums of counts are those for sequences of {usual_length} tokens.")
    left = [p.constraint for p in placements if p.where == "decoding"]
    if not train_soft:  # the user left them to decoding
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
        lines.append(tests_warning(n_tests))
    if penalties:
        lines.append(f"Penalties: {penalties_text(penalties)}.")
    if any(p.where in ("training", "decoding") for p in placements):
        lines.append(
            "Decoding starts with the automata that cost a chain nothing and adds, sequence by "
            "sequence, those that the best labelling breaks."
        )
    return "\n".join(lines)


def penalties_text(penalties: Sequence[tuple[Constraint, float]]) -> str:
    """Return how many penalties were given and learned, and the range of these, as text."""
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


def tests_warning(n_tests: int) -> str:
    """Return the warning about automata with more token tests than a product can read."""
    return (
        f"The automata read {n_tests} token tests, and {MAX_TESTS} are the most in one product: "
        f"decoding gives up where an answer needs more. {JOIN_TESTS}"
    )
