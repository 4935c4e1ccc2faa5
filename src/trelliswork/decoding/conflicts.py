"""Infeasible sequences: minimal conflicts of constraints, feasible subsets, and dead ends.

A *conflict* is a minimal set of constraints that no labelling of a sequence satisfies together. A
*dead end* is the first token after which no labelling fits the known labels.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from trelliswork._utils.tables import join_names, shorten
from trelliswork.decoding.masks import open_labels
from trelliswork.errors import InfeasibleError
from trelliswork.inference.sums import has_path
from trelliswork.inference.trellis import Trellis
from trelliswork.inference.verbs import viterbi
from trelliswork.planning.predicates import hard_predicates

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from trelliswork._typing import BoolArray, IdArray, IntArray
    from trelliswork.automata.automaton import Automaton
    from trelliswork.planning.evidence import Evidence
    from trelliswork.planning.plan import Plan


__all__ = [
    "Conflict",
    "OnInfeasible",
    "check_on_infeasible",
    "dead_end",
    "feasible_rules",
    "find_conflict",
    "group_by_rules",
    "scores_forbid_all",
]


OnInfeasible = Literal["error", "relax", "unconstrained"]

MAX_OPEN_SCORES = 10_000_000  # beyond that, messages do not suggest longer segments


def check_on_infeasible(given: object) -> None:
    """Raise a `ValueError` for anything that `OnInfeasible` does not name."""
    choices = get_args(OnInfeasible)
    if given not in choices:
        raise ValueError(
            f"on_infeasible: expected {' or '.join(map(repr, choices))}, got {given!r}."
        )


@dataclass(frozen=True)
class Conflict:
    """A minimal set of constraints that no labelling of a sequence satisfies together.

    Attributes
    ----------
    constraints : tuple of int
        Their indices in the plan.
    with_known : bool
        Whether the labels known beforehand are part of the conflict.
    """

    constraints: tuple[int, ...]
    with_known: bool


def feasible_rules(
    plan: Plan,
    evidence: Evidence,
    sequence: int,
    allowed: BoolArray | None,
    on_infeasible: OnInfeasible,
    constraints: Sequence[int] | None = None,
) -> tuple[int, ...]:
    """Return constraints that some labelling of one sequence satisfies.

    Parameters
    ----------
    plan
        The compiled constraints; no labelling of the sequence satisfies all.
    evidence
        The outcomes of token tests on the batch.
    sequence
        The index of the sequence.
    allowed
        Further mask of allowed labels of the batch, as `open_labels` returns it.
    on_infeasible
        ``"relax"``: all but the last constraint of every minimal conflict found.
        ``"unconstrained"``: none.
    constraints
        Indices of the constraints to start from. Default: all.

    Raises
    ------
    InfeasibleError
        With ``"error"``, and if dropping all constraints does not help.
    """
    asked = range(len(plan.constraints)) if constraints is None else constraints
    kept = list(asked) if on_infeasible != "unconstrained" else []
    one = evidence.take(np.array([sequence]))
    first, last = evidence.offsets[sequence : sequence + 2]
    known = None if allowed is None else allowed[first:last]
    while (conflict := find_conflict(plan, one, kept, known)) is not None:
        if not conflict.constraints:
            raise _nothing_fits(plan, one, known)
        if on_infeasible == "error":
            number = evidence.numbers[sequence]
            hint = _limits_in_the_way(plan, one, conflict, known)
            raise InfeasibleError(_describe(plan, conflict, number, int(last - first)) + hint)
        kept.remove(conflict.constraints[-1])
    if on_infeasible == "relax" and len(kept) < len(asked):
        return tuple(kept)
    # A search under predicates has found nothing: drop all hard predicates.
    lost = [i for i in kept if i in hard_predicates(plan)]
    if lost and on_infeasible == "error":
        names = join_names([shorten(repr(plan.constraints[i])) for i in lost])
        raise InfeasibleError(
            f"sequence {evidence.numbers[sequence]}: No labelling of {_tokens(int(last - first))} "
            f"satisfies {names} and all other hard constraints. Drop one, or make it .soft(); a "
            "tagger may relax it: on_infeasible='relax'."
        )
    kept = [i for i in kept if i not in lost]
    if len(kept) < len(asked):
        return tuple(kept)
    # The constraints do not conflict: the scores forbid all labellings that satisfy them.
    if on_infeasible == "error":
        raise scores_forbid_all(plan, evidence.numbers[sequence])
    return ()


def scores_forbid_all(plan: Plan, number: int) -> InfeasibleError:
    """Return the error for a sequence whose feasible labellings all have a score of ``-inf``."""
    these, advice = "", ""
    if plan.constraints:
        these, advice = " that satisfies the constraints", ", or drop a constraint"
    return InfeasibleError(
        f"sequence {number}: every labelling{these} has a score of -inf. Correct the "
        f"scores{advice}."
    )


def _nothing_fits(plan: Plan, one: Evidence, known: BoolArray | None) -> InfeasibleError:
    """Return the error for a sequence without a labelling even without constraints."""
    number = one.numbers[0]
    if known is None:
        return InfeasibleError(
            f"sequence {number}: the model has no labelling of {_tokens(one.n_tokens)}. Train "
            "it with a larger max_segment."
        )
    place = f"known: sequence {number}, token {dead_end(plan, one, (), known)}"
    if plan.segmentation is None:
        return InfeasibleError(
            f"{place}: no labelling fits the known labels. Correct them, or leave tokens "
            "open (None)."
        )
    limits = shorten(plan.segmentation.spell_limits())
    return InfeasibleError(
        f"{place}: no segments fit the known labels. Correct them, leave tokens open "
        f"(None), or train with a larger max_segment (now {limits})."
    )


def group_by_rules(
    plan: Plan,
    evidence: Evidence,
    infeasible: IntArray,
    allowed: BoolArray | None,
    on_infeasible: OnInfeasible,
    constraints: Sequence[int] | None = None,
) -> dict[tuple[int, ...], list[int]]:
    """Return infeasible sequences grouped by the constraints that they can satisfy.

    The parameters are those of `feasible_rules`, for several sequences.
    """
    groups: dict[tuple[int, ...], list[int]] = {}
    lengths = np.diff(evidence.offsets)
    by_length: dict[int, tuple[int, ...]] = {}
    same = allowed is None and not any(c.tests or c.is_predicate for c in plan.constraints)
    for b in infeasible.tolist():
        length = int(lengths[b])
        kept = by_length.get(length) if same else None
        if kept is None:
            kept = feasible_rules(plan, evidence, b, allowed, on_infeasible, constraints)
            by_length[length] = kept
        groups.setdefault(kept, []).append(b)
    return groups


def find_conflict(
    plan: Plan, evidence: Evidence, constraints: Sequence[int], known: BoolArray | None = None
) -> Conflict | None:
    """Find a minimal subset of constraints that no labelling of one sequence satisfies.

    A growing product finds a conflicting set without touching the others. A deletion filter then
    removes the constraints that the conflict does not need, the last given first.

    Parameters
    ----------
    plan
        The compiled constraints.
    evidence
        The input as they see it, a batch of one sequence.
    constraints
        Indices of the constraints to examine.
    known
        Further mask of allowed labels, as `open_labels` returns it.

    Returns
    -------
    Conflict or None
        None if some labelling satisfies them all.
    """

    def feasible(chosen: Sequence[int], with_known: bool) -> bool:
        return _is_feasible(plan, evidence, chosen, known if with_known else None)

    suspects = _conflicting_set(plan, evidence, constraints, known)
    if suspects is None:
        return None
    with_known = known is not None and feasible(suspects, False)
    for candidate in reversed(suspects.copy()):
        rest = [i for i in suspects if i != candidate]
        if not feasible(rest, with_known):
            suspects = rest
    return Conflict(tuple(suspects), with_known)


def _conflicting_set(
    plan: Plan, evidence: Evidence, constraints: Sequence[int], known: BoolArray | None
) -> list[int] | None:
    """Return constraints that conflict, not necessarily a minimal set of them.

    Adds the automata that a labelling of the others violates, as decoding does, so that products
    stay small.
    """
    chosen = [i for i in constraints if i in plan.masks]
    rules = [i for i in constraints if i in plan.hard_rules]
    while True:
        tags = _some_labelling(plan, evidence, chosen, known)
        if tags is None:
            return sorted(chosen)
        broken = [
            i
            for i in rules
            if i not in chosen and not bool(plan.hard.accepts(i, tags, evidence).all())
        ]
        if not broken:
            return None
        chosen += broken


def _is_feasible(
    plan: Plan, evidence: Evidence, constraints: Sequence[int], known: BoolArray | None
) -> bool:
    trellis = _blank_trellis(plan, evidence, constraints)
    mask = open_labels(plan, evidence, constraints, known)
    return bool(has_path(trellis, allowed=mask, n_jobs=1).all())


def _some_labelling(
    plan: Plan, evidence: Evidence, constraints: Sequence[int], known: BoolArray | None
) -> IdArray | None:
    trellis = _blank_trellis(plan, evidence, constraints)
    mask = open_labels(plan, evidence, constraints, known)
    best = viterbi(trellis, allowed=mask, n_jobs=1)
    return best.tags if np.isfinite(best.scores).all() else None


def _blank_trellis(plan: Plan, evidence: Evidence, constraints: Sequence[int]) -> Trellis:
    """Return a trellis with scores of 0: every labelling that the automata accept has a path."""
    compiled = plan.hard.product((i for i in constraints if i in plan.hard_rules), evidence.longest)
    return Trellis(
        plan.blank_scores(evidence.n_tokens),
        compiled.automaton,
        offsets=evidence.offsets,
        classes=evidence.classes(compiled.tests),
    )


def _limits_in_the_way(
    plan: Plan, evidence: Evidence, conflict: Conflict, known: BoolArray | None
) -> str:
    """Return a hint if the limits of segments alone rule out every labelling, or nothing."""
    segmentation, length = plan.segmentation, evidence.n_tokens
    if segmentation is None or length <= min(segmentation.limits):
        return ""
    if length * length * segmentation.n_letters > MAX_OPEN_SCORES:
        return ""
    compiled = plan.hard.product((i for i in conflict.constraints if i in plan.hard_rules), length)
    trellis = Trellis(
        np.zeros((length, length, segmentation.n_letters)),
        compiled.automaton,
        offsets=evidence.offsets,
        classes=evidence.classes(compiled.tests),
    )
    mask = open_labels(plan, evidence, conflict.constraints, known if conflict.with_known else None)
    if not has_path(trellis, allowed=mask, n_jobs=1)[0]:
        return ""
    limits = shorten(segmentation.spell_limits())
    return f" Segments have at most {limits} tokens; train with a larger max_segment."


def _describe(plan: Plan, conflict: Conflict, sequence: int, length: int) -> str:
    names = [shorten(repr(plan.constraints[i])) for i in conflict.constraints]
    tokens = _tokens(length)
    known = " and the labels given as known" if conflict.with_known else ""
    drop = "Drop it" if len(names) == 1 else "Drop one"
    return (
        f"sequence {sequence}: No labelling of {tokens} satisfies {join_names(names)}{known}. "
        f"{drop}, or make it .soft(); a tagger may relax it: on_infeasible='relax'."
    )


def _tokens(count: int) -> str:
    return "1 token" if count == 1 else f"{count} tokens"


def dead_end(plan: Plan, evidence: Evidence, rules: Iterable[int], allowed: BoolArray) -> int:
    """Return the first token after which no labelling of one sequence can be completed.

    ``T`` if a labelling of all tokens exists, but may not end there.

    Parameters
    ----------
    plan
        The compiled constraints.
    evidence
        The input as they see it, a batch of one sequence.
    rules
        Indices of the constraints to apply; those that became automata.
    allowed
        Labels that each token may have, as `open_labels` returns them; no labelling fits them all.
    """
    compiled = plan.hard.product(rules, evidence.longest)
    classes = evidence.classes(compiled.tests)
    if plan.segmentation is not None:
        return _dead_end_of_segments(plan, compiled.automaton, classes, allowed)
    automaton = compiled.automaton
    alive = np.isfinite(automaton.initial)
    for t in range(len(allowed)):
        usable = alive[automaton.source] & allowed[t, automaton.label]
        if classes is not None and automaton.guards is not None:
            usable &= (automaton.guards >> np.uint64(classes[t])) & np.uint64(1) > 0
        alive = np.zeros_like(alive)
        alive[automaton.target[usable]] = True
        if not alive.any():  # other states can reach an end, as the automaton is trimmed
            return t
    return len(allowed)


def _dead_end_of_segments(
    plan: Plan, automaton: Automaton, classes: NDArray[np.uint8] | None, allowed: BoolArray
) -> int:
    """Return the first token that leaves no segmentation even if all later tokens are open."""
    trellis = Trellis(plan.blank_scores(len(allowed)), automaton, classes=classes)

    def is_dead(position: int) -> bool:
        first = allowed.copy()
        first[position + 1 :] = True
        return not has_path(trellis, allowed=first, n_jobs=1)[0]

    return bisect_left(range(len(allowed)), True, key=is_dead)
