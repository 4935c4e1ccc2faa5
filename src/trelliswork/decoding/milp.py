"""Decoding as a mixed-integer linear program, solved by HiGHS: the reference for other methods.

    maximise   Σ_a w_a x_a − Σ_i ρ_i z_i
    subject to x is one path from the start to the end        (flow in = flow out)
               a_i·n(x) − b_i ≤ z_i,  z_i ≥ 0                 (soft rows)
               a_i·n(x) − b_i ≤ 0                             (hard rows)

There is one binary variable ``x_a`` for every arc, position and duration, on the product of the
model with automata of *bits*, the terms that are no rows. Bits that an answer violates are added
until it violates none outside the product.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import scipy

from trelliswork.constraints.reading import Reading
from trelliswork.decoding.bounds import Relaxation, arc_scores, segment_scores

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from trelliswork._typing import BoolArray, FloatArray, IntArray
    from trelliswork.constraints import Constraint
    from trelliswork.decoding.problem import Problem
    from trelliswork.inference.trellis import Trellis
    from trelliswork.planning.splitting import Term


__all__ = ["MilpAnswer", "solve_milp"]

TIME_OUT = 1  # the statuses of scipy.optimize.milp
INFEASIBLE = 2


@dataclass(frozen=True)
class MilpAnswer:
    """The answer of HiGHS.

    Attributes
    ----------
    labels : list of str or None
        The best labelling found; None if the time ran out before.
    upper_bound : float
        The upper bound that HiGHS claims.
    nodes : int
        Nodes of its search.
    finished : bool
        Whether it claims that the labelling is the best one.
    """

    labels: list[str] | None
    upper_bound: float
    nodes: int
    finished: bool


@dataclass(frozen=True, eq=False)
class Steps:
    """The ``M`` segments that a path may take.

    Attributes
    ----------
    arc, first, more : numpy.ndarray
        The arc, the token where the segment begins, and how many tokens follow that one.
    score : numpy.ndarray
        The score of the step.
    """

    arc: IntArray
    first: IntArray
    more: IntArray
    score: FloatArray


def solve_milp(problem: Problem, time_limit: float | None = None) -> MilpAnswer | None:
    """Find the best labelling of a problem with HiGHS; None if no labelling satisfies hard rules.

    Parameters
    ----------
    problem
        The problem.
    time_limit
        Seconds.

    Raises
    ------
    TooLargeError
        If the product with the violated bits has more arcs than the plan's budget.
    """
    plan = problem.plan
    penalties = plan.costs.of_terms
    bits = [i for i, term in enumerate(plan.terms) if term.row is None and penalties[i] > 0.0]
    inside = set(bits).intersection(plan.pricing.free)
    began = time.monotonic()
    while True:
        left = None if time_limit is None else time_limit - (time.monotonic() - began)
        answer = _solve_with(problem, sorted(inside), left)
        if answer is None or answer.labels is None:
            return answer
        reading = Reading(answer.labels, problem.evidence.sentences[0], problem.labels)
        broken = {i for i in bits if _rule(plan.terms[i]).degree(reading)}
        if broken <= inside:
            return answer
        if left is not None and left <= 0.0:
            return replace(answer, finished=False)
        inside |= broken


def _rule(term: Term) -> Constraint:
    assert term.rule is not None, "of a bit"
    return term.rule


def _solve_with(
    problem: Problem, bits: Sequence[int], time_limit: float | None
) -> MilpAnswer | None:
    """Find the best labelling under all rows and some bits."""
    relaxed = Relaxation(problem, bits)
    steps = _steps(relaxed.trellis, problem.open_labels())
    automaton = relaxed.trellis.automaton
    starts = np.flatnonzero(np.isfinite(automaton.initial))
    ends = np.flatnonzero(np.isfinite(automaton.final))
    if not starts.size or not ends.size:
        return None
    path = _path_rows(relaxed.trellis, steps, starts, ends)
    counts, bounds, penalties = _count_rows(relaxed, steps)
    soft = np.flatnonzero(np.isfinite(penalties))
    slack = scipy.sparse.csr_array(
        (np.full(soft.size, -1.0), (soft, np.arange(soft.size))), shape=(len(bounds), soft.size)
    )
    idle = scipy.sparse.csr_array((len(bounds), starts.size + ends.size))
    cost = np.concatenate(
        [-steps.score, -automaton.initial[starts], -automaton.final[ends], penalties[soft]]
    )
    is_flow = np.arange(cost.size) < path.shape[1]
    right = np.zeros(path.shape[0])
    right[-1] = 1.0  # one start
    limits = [
        scipy.optimize.LinearConstraint(
            scipy.sparse.hstack([path, scipy.sparse.csr_array((path.shape[0], soft.size))]),
            right,
            right,
        ),
        scipy.optimize.LinearConstraint(
            scipy.sparse.hstack([counts, idle, slack]), -np.inf, bounds
        ),
    ]
    found = scipy.optimize.milp(
        cost,
        integrality=is_flow.astype(np.int64),
        bounds=scipy.optimize.Bounds(0.0, np.where(is_flow, 1.0, np.inf)),
        constraints=limits if len(bounds) else limits[:1],
        options={
            "mip_rel_gap": 0.0,
            **({} if time_limit is None else {"time_limit": max(time_limit, 0.0)}),
        },
    )
    if found.status == INFEASIBLE:
        return None
    if found.status not in (0, TIME_OUT):
        raise RuntimeError(f"milp: HiGHS gave up: {found.message}")
    bound = np.inf if found.mip_dual_bound is None else relaxed.constant - found.mip_dual_bound
    taken = None if found.x is None else np.flatnonzero(found.x[: steps.arc.size] > 0.5)
    return MilpAnswer(
        None if taken is None else _labels(problem, relaxed.trellis, steps, taken),
        float(bound),
        int(found.mip_node_count or 0),
        found.status == 0,
    )


def _steps(trellis: Trellis, allowed: BoolArray | None) -> Steps:
    """Return the steps that are not forbidden."""
    assert trellis.weights is not None, "those of a relaxation"
    of_arcs, of_segments = arc_scores(trellis, trellis.weights), segment_scores(trellis, allowed)
    n_tokens, longest, _ = of_segments.shape
    found = []
    for more in range(min(longest, n_tokens)):
        by_letter = of_segments[more:, more]
        score = of_arcs[: n_tokens - more] + by_letter[:, trellis.automaton.label]
        first, arc = np.nonzero(np.isfinite(score))
        found.append((arc, first, np.full(arc.size, more), score[first, arc]))
    if not found:
        nowhere = np.zeros(0, dtype=np.int64)
        return Steps(nowhere, nowhere, nowhere, np.zeros(0))
    return Steps(*(np.concatenate(column) for column in zip(*found, strict=True)))


def _path_rows(
    trellis: Trellis, steps: Steps, starts: IntArray, ends: IntArray
) -> scipy.sparse.csr_array:
    """Return the equations of one path: columns are steps, first states and last states."""
    automaton, n_tokens = trellis.automaton, trellis.n_tokens
    n_states, n_steps = automaton.n_states, steps.arc.size
    columns = np.arange(n_steps + starts.size + ends.size)
    leave = steps.first * n_states + automaton.source[steps.arc]
    enter = (steps.first + steps.more + 1) * n_states + automaton.target[steps.arc]
    total = np.full(starts.size, (n_tokens + 1) * n_states)
    rows = np.concatenate([leave, n_tokens * n_states + ends, enter, starts, total])
    begun = columns[n_steps : n_steps + starts.size]
    at = np.concatenate([columns[:n_steps], columns[-ends.size :], columns[:n_steps], begun, begun])
    n_out, n_in = n_steps + ends.size, n_steps + starts.size
    signs = np.concatenate([np.ones(n_out), -np.ones(n_in), np.ones(starts.size)])
    shape = (n_tokens + 1) * n_states + 1, columns.size
    return scipy.sparse.csr_array((signs, (rows, at)), shape=shape)


def _count_rows(
    relaxed: Relaxation, steps: Steps
) -> tuple[scipy.sparse.csr_array, FloatArray, FloatArray]:
    """Return the counts of steps in the rows, ``(R, M)``, and the rows' bounds and penalties."""
    plan = relaxed.problem.plan
    counts, bounds, penalties = [], [], []
    for i, (term, penalty) in enumerate(zip(plan.terms, plan.costs.of_terms, strict=True)):
        if term.row is None or penalty == 0.0:
            continue
        added = plan.terms.table(i).ravel()[relaxed.pairs[steps.arc]]
        counts.append(scipy.sparse.csr_array(added[None, :].astype(np.float64)))
        bounds.append(float(term.row.bound))
        penalties.append(penalty)
    matrix = scipy.sparse.vstack(counts) if counts else np.zeros((0, steps.arc.size))
    return scipy.sparse.csr_array(matrix), np.array(bounds), np.array(penalties)


def _labels(problem: Problem, trellis: Trellis, steps: Steps, taken: NDArray[np.intp]) -> list[str]:
    tags = np.full(len(problem), -1, dtype=np.int32)
    n_letters = trellis.automaton.n_labels
    for step in taken.tolist():
        first, letter = int(steps.first[step]), int(trellis.automaton.label[steps.arc[step]])
        tags[first] = letter
        tags[first + 1 : first + 1 + int(steps.more[step])] = letter + n_letters
    return problem.plan.names(tags)
