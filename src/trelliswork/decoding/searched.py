"""Answers of a search over prefixes: alone, or after exact methods that do not settle a sequence.

The exact methods know nothing of predicates, and charge for less than all constraints do. So an
answer of theirs that breaks no predicate is the best under all constraints, with the same proof.
Where it breaks one, the search over prefixes takes over, with everything else inside. And where
they ended before they had found any labelling under hard constraints, a wide beam often has one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from trelliswork.decoding.certificate import Certificate
from trelliswork.decoding.prefixes import SEARCH_METHODS, WIDTH, search_batch
from trelliswork.decoding.priced_answers import FEASIBLE, INFEASIBLE, OPTIMAL, UNKNOWN
from trelliswork.inference.derived import derive
from trelliswork.inference.trellis import rows_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trelliswork._typing import BoolArray, IntArray
    from trelliswork.decoding.answers import Decoding
    from trelliswork.decoding.prefixes import PrefixAnswers, SearchMethod
    from trelliswork.decoding.priced_answers import PricedAnswers
    from trelliswork.decoding.problem_batch import ProblemBatch
    from trelliswork.inference.trellis import Trellis
    from trelliswork.planning.evidence import Evidence
    from trelliswork.planning.plan import Plan


__all__ = ["search_broken", "solve_by_search"]

RESCUE_WIDTH = 200
"""Of a beam that looks for any labelling under hard constraints."""


def search_broken(
    found: PricedAnswers,
    plan: Plan,
    trellis: Trellis,
    evidence: Evidence,
    *,
    constraints: Sequence[int] | None = None,
    allowed: BoolArray | None = None,
    width: int | None = WIDTH,
    time_limit: float | None = None,
) -> None:
    """Search anew where an answer breaks a predicate that costs anything, or there is none.

    Parameters
    ----------
    found
        Answers without predicates, which are changed.
    plan, trellis, evidence, constraints, allowed, width, time_limit
        As in `search_batch`.
    """
    penalties, functions = plan.penalties, plan.costly_functions(constraints)
    if not functions and not (found.status == UNKNOWN).any():
        return
    has_answer = np.isin(found.status, (OPTIMAL, FEASIBLE))
    cost = np.zeros(trellis.n_sequences)
    answered = np.flatnonzero(has_answer)
    if answered.size and functions:
        tags = found.tags[rows_of(trellis.offsets, answered)]
        own = evidence.take(answered)
        broken = plan.predicate_violations(tags, own, functions)[:, functions]
        each = np.broadcast_to(penalties[functions], broken.shape)
        charged = np.multiply(broken, each, out=np.zeros(broken.shape), where=broken > 0)
        cost[answered] = charged.sum(axis=1)
    left = (cost > 0.0) | (found.status == UNKNOWN)
    if functions:
        left[list(found.given_up)] = True
    chosen = np.flatnonzero(left)
    if not chosen.size:
        return
    searched = search_batch(
        plan,
        derive(trellis, sequences=chosen),
        evidence.take(chosen),
        constraints=constraints,
        allowed=None if allowed is None else allowed[rows_of(trellis.offsets, chosen)],
        method="astar" if functions else "beam",
        width=width if functions else RESCUE_WIDTH,
        time_limit=time_limit,
    )
    found.scores[chosen] -= cost[chosen]
    _put(found, searched, chosen, trellis.offsets)


def _put(
    found: PricedAnswers, searched: PrefixAnswers, chosen: IntArray, offsets: IntArray
) -> None:
    """Take the answers of a search, unless one from before is better."""
    ends = np.cumsum(np.diff(offsets)[chosen])
    for place, b in enumerate(chosen.tolist()):
        rows = slice(offsets[b], offsets[b + 1])
        last = int(ends[place])
        own = searched.tags[last - (rows.stop - rows.start) : last]
        if b in found.given_up:
            found.scores[b] = -np.inf  # it was the best under some of the hard constraints
        found.bounds[b] = min(searched.bounds[place], found.bounds[b])
        found.iterations[b] += searched.expanded[place]
        found.searched[b] = SEARCH_METHODS[searched.methods[place]]
        found.prices[b], found.counted[b], found.bits[b] = 0.0, False, ()
        found.leaves.pop(b, None)
        found.given_up.pop(b, None)
        status = searched.status[place]
        if status in (FEASIBLE, UNKNOWN) and found.scores[b] > searched.scores[place]:
            status = FEASIBLE  # what broke predicates is better than what was found in time
        else:
            found.tags[rows], found.scores[b] = own, searched.scores[place]
        if status == INFEASIBLE:
            found.scores[b] = -np.inf
        found.status[b] = status


def solve_by_search(
    batch: ProblemBatch,
    method: SearchMethod,
    time_limit: float | None,
    width: int | None,
    n_jobs: int | None,
) -> list[Decoding]:
    """Answer problems by a search over prefixes alone.

    The parameters are those of `search_batch`. Without predicates there is a proof of what nothing
    better was cut off from: to count all items.

    Raises
    ------
    InfeasibleError, SearchLimitError
        Where the search met no labelling, with a proof that there is none and without.
    """
    plan = batch.plan
    found = search_batch(
        plan,
        batch.trellis,
        batch.evidence,
        method=method,
        width=width,
        allowed=batch.allowed,
        time_limit=time_limit,
        n_jobs=n_jobs,
    )
    for b in np.flatnonzero(np.isin(found.status, (INFEASIBLE, UNKNOWN))).tolist():
        batch.refuse_search(b, found.status[b] == INFEASIBLE)
    everything = Certificate(tuple(np.flatnonzero(plan.item_penalties > 0.0).tolist()))
    proven = found.status == OPTIMAL
    return [
        batch.answer(
            b,
            found.tags,
            float(found.bounds[b]),
            is_best=bool(proven[b]),
            method=SEARCH_METHODS[found.methods[b]],
            iterations=int(found.expanded[b]),
            certificate=everything if proven[b] and not plan.predicates else None,
        )
        for b in range(len(batch.problems))
    ]
