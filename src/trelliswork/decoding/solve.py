"""The methods of decoding a problem, by name.

| method | algorithm | exact |
| --- | --- | --- |
| ``"product"`` | Viterbi on the product of the model with all terms | yes |
| ``"lazy"`` | Viterbi; terms that the answer violates are added until none is new | yes |
| ``"dual"`` | prices on rows, by projected subgradients | if the gap closes |
| ``"astar"`` | A* over the product, never built, guided by scores without constraints | yes |
| ``"branch"`` | best-first branch and bound over the dual | yes |
| ``"milp"`` | a mixed-integer program, solved by HiGHS | yes, without a certificate |
| ``"beam"`` | beam search over prefixes | if nothing better was pruned |
| ``"auto"`` | the dual first, then the method that closes its gap | yes |

Predicates are Python functions and have no automaton. Under predicates the methods are ``"beam"``;
``"astar"``, a search over prefixes; and ``"auto"``, which searches if the best labelling without
predicates violates one (see `trelliswork.decoding.prefixes`). These answers have no certificate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, cast

import numpy as np

from trelliswork.decoding.answers import METHODS, Decoding
from trelliswork.decoding.certificate import Certificate
from trelliswork.decoding.lazy import best_lazily
from trelliswork.decoding.milp import solve_milp
from trelliswork.decoding.prefixes import WIDTH, search_broken, solve_by_search
from trelliswork.decoding.prices import CORE_METHODS, priced_batch
from trelliswork.decoding.problem_batch import ProblemBatch, broken_rules, group_problems
from trelliswork.inference.trellis import derive
from trelliswork.inference.verbs import viterbi
from trelliswork.planning.predicates import refuse_predicates
from trelliswork.planning.token_charges import with_token_charges
from trelliswork.proofs.answer import INFEASIBLE, OPTIMAL, UNSOLVED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trelliswork.decoding.answers import Method
    from trelliswork.decoding.prices import PricedMethod
    from trelliswork.decoding.problem import Problem
    from trelliswork.proofs.answer import Status

__all__ = ["SolveMethod", "solve_problems"]

SolveMethod = Literal["auto", "product", "lazy", "astar", "dual", "branch", "milp", "beam"]
UNDER_PREDICATES = ("auto", "astar", "beam")


def solve_problems(
    problems: Sequence[Problem],
    method: SolveMethod,
    time_limit: float | None,
    width: int | None,
    n_jobs: int | None,
) -> list[Decoding]:
    """Return the answer to each problem; problems with one plan and weights are one batch."""
    if method not in UNDER_PREDICATES:
        for problem in problems:
            refuse_predicates(
                problem.plan,
                f"method={method!r} needs all constraints as automata or counts. Use 'auto', "
                "'astar' or 'beam'.",
            )
    if method == "milp":
        return [_by_milp(problem, number, time_limit) for number, problem in enumerate(problems)]
    answers: dict[int, Decoding] = {}
    for members in group_problems(problems):
        batch = ProblemBatch.stack(members, [problems[i] for i in members])
        if method == "beam" or (method == "astar" and batch.plan.predicates):
            decoded = solve_by_search(batch, method, time_limit, width, n_jobs)
        elif method == "lazy":
            decoded = _by_lazy(batch, time_limit, n_jobs)
        elif method == "product":
            decoded = _by_product(batch, n_jobs)
        else:
            decoded = _by_prices(batch, method, time_limit, n_jobs, width)
        answers |= zip(members, decoded, strict=True)
    return [answers[i] for i in range(len(problems))]


def _by_prices(
    batch: ProblemBatch,
    method: PricedMethod,
    time_limit: float | None,
    n_jobs: int | None,
    width: int | None = WIDTH,
) -> list[Decoding]:
    found = priced_batch(
        batch.plan,
        batch.trellis,
        batch.evidence,
        method=method,
        allowed=batch.allowed,
        time_limit=time_limit,
        give_up=True,
        n_jobs=n_jobs,
    )
    search_broken(
        found,
        batch.plan,
        batch.trellis,
        batch.evidence,
        allowed=batch.allowed,
        width=width,
        time_limit=time_limit,
    )
    for b in np.flatnonzero(found.status == INFEASIBLE).tolist():
        batch.refuse(b)
    for b in found.searched:
        if found.status[b] == UNSOLVED:
            batch.refuse_search(b, is_proven=False)
    return [
        batch.answer(
            b,
            found.tags,
            float(found.bounds[b]),
            is_best=bool(found.status[b] == OPTIMAL) and b not in found.given_up,
            method=found.searched.get(b) or cast("Method", CORE_METHODS[found.methods[b]]),
            iterations=int(found.iterations[b]),
            certificate=found.certificate(b),
        )
        for b in range(len(batch.problems))
    ]


def _by_lazy(batch: ProblemBatch, time_limit: float | None, n_jobs: int | None) -> list[Decoding]:
    """Add the terms that answers violate; branch if that needs too large a product."""
    everything = range(len(batch.plan.constraints))
    found = best_lazily(
        batch.plan,
        batch.trellis,
        batch.evidence,
        everything,
        allowed=batch.allowed,
        give_up=True,
        n_jobs=n_jobs,
    )
    left = sorted(found.given_up)
    branched: dict[int, Decoding] = {}
    if left:
        branched |= zip(
            left, _by_prices(batch.take(left), "branch", time_limit, n_jobs), strict=True
        )
    return [
        branched[b]
        if b in branched
        else batch.answer(
            b,
            found.tags[0],
            float(found.scores[b, 0]),
            method=METHODS[found.methods[b]],
            iterations=int(found.iterations[b]),
            certificate=Certificate(found.terms.get(b, ())),
        )
        for b in range(len(batch.problems))
    ]


def _by_product(batch: ProblemBatch, n_jobs: int | None) -> list[Decoding]:
    """Decode on the product of the model with all terms that have a penalty."""
    plan = batch.plan
    trellis = with_token_charges(plan, batch.trellis, batch.evidence)
    terms = tuple(np.flatnonzero(plan.costs.of_terms > 0.0).tolist())
    certificate, constant = Certificate(terms), 0.0
    if terms:
        longest = max(map(len, batch.problems))
        made = plan.terms.product(terms, longest)
        classes = batch.evidence.classes(made.tests)
        weights, constant = plan.costs.weights(trellis.weights), plan.costs.constant(made)
        trellis = derive(trellis, automaton=made.automaton, classes=classes, weights=weights)
    best = viterbi(trellis, allowed=batch.open_labels(), n_jobs=n_jobs)
    return [
        batch.answer(
            b, best.tags, float(score) + constant, method="product", certificate=certificate
        )
        for b, score in enumerate(best.scores)
    ]


def _by_milp(problem: Problem, number: int, time_limit: float | None) -> Decoding:
    found = solve_milp(problem, time_limit)
    if found is None:
        ProblemBatch.stack([number], [problem]).refuse(0)
    labels = found.labels
    if labels is None:  # out of time: the best labelling of the model is better than none
        free = viterbi(problem.trellis, allowed=problem.open_labels(), n_jobs=1)
        labels = problem.plan.names(free.tags)
    value = problem.value(labels)
    bound = max(found.upper_bound, value)
    status: Status = "unverified" if found.finished else "feasible"
    return Decoding(
        labels=labels,
        score=value,
        upper_bound=bound,
        status="relaxed" if value == -np.inf else status,
        violations=broken_rules(problem, labels),
        method="milp",
        iterations=found.nodes,
    )
