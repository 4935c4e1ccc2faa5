"""One entrance to all ways of decoding under constraints.

| method | what it does | exact |
| --- | --- | --- |
| ``"product"`` | Viterbi on the product of the model with all items | yes |
| ``"lazy"`` | Viterbi, with the items added that the answer breaks, until none is new | yes |
| ``"dual"`` | prices on rows, by projected subgradients | where the gap closes |
| ``"astar"`` | A* over the product, never built, guided by scores without constraints | yes |
| ``"branch"`` | best-first branch and bound over the dual | yes |
| ``"milp"`` | a mixed-integer program, solved by HiGHS | yes, without a certificate |
| ``"beam"`` | the best prefixes of each length go on | where nothing better was cut off |
| ``"auto"`` | the dual first, then what closes its gap | yes |

Predicates, which are Python functions, have no automaton. Under them there are ``"beam"``,
``"astar"``, then a search over prefixes, and ``"auto"``, which searches where the best labelling
without predicates breaks one; see `trelliswork.prefix_search`. These answers have no certificate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, cast, get_args, overload

import numpy as np

from trelliswork.certificate import Certificate
from trelliswork.decoded import Decoding
from trelliswork.derived import derive
from trelliswork.inference import viterbi
from trelliswork.lazy import METHODS, best_lazily
from trelliswork.milp import solve_milp
from trelliswork.prefix_search import WIDTH, check_width
from trelliswork.priced import CORE_METHODS, check_time_limit, priced_batch
from trelliswork.priced_answers import INFEASIBLE, OPTIMAL, UNKNOWN
from trelliswork.problem import Problem
from trelliswork.problem_batch import ProblemBatch, broken_rules, group_problems
from trelliswork.searched import search_broken, solve_by_search
from trelliswork.tolls import with_tolls

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from trelliswork.decoded import Status
    from trelliswork.lazy import Method
    from trelliswork.priced import PricedMethod

__all__ = ["SolveMethod", "solve"]

SolveMethod = Literal["auto", "product", "lazy", "astar", "dual", "branch", "milp", "beam"]
UNDER_PREDICATES = ("auto", "astar", "beam")


@overload
def solve(
    problem: Problem,
    method: SolveMethod = "auto",
    *,
    time_limit: float | None = None,
    width: int | None = WIDTH,
    n_jobs: int | None = None,
) -> Decoding: ...


@overload
def solve(
    problem: Iterable[Problem],
    method: SolveMethod = "auto",
    *,
    time_limit: float | None = None,
    width: int | None = WIDTH,
    n_jobs: int | None = None,
) -> list[Decoding]: ...


def solve(
    problem: Problem | Iterable[Problem],
    method: SolveMethod = "auto",
    *,
    time_limit: float | None = None,
    width: int | None = WIDTH,
    n_jobs: int | None = None,
) -> Decoding | list[Decoding]:
    """Find the best labelling under hard and soft constraints, with a certificate.

        ŷ = argmax_y score(y) − Σ_c ρ_c v_c(y)

    Parameters
    ----------
    problem
        A problem, or several. Those that share a plan and the weights of the model are decoded as
        one batch.
    method
        See the table above.
    time_limit
        Seconds for each problem; ``"product"`` and ``"lazy"`` end by themselves, and a beam goes on
        with a width of 10 at most.
    width
        Prefixes of each length that a beam goes on with; None: all, which is exact, and under
        predicates takes as many steps as there are labellings. A search under predicates that
        reaches a limit ends with such a beam.
    n_jobs
        Threads; predicates are asked on one.

    Returns
    -------
    Decoding or list of Decoding
        One answer a problem. The status is ``"feasible"`` where there is a gap: it was not closed
        in time, or not by ``"dual"`` or ``"beam"``, or constraints that are not linear need a
        larger product than the plan's budget allows; and ``"relaxed"`` where even a hard constraint
        is broken.

    Raises
    ------
    InfeasibleError
        Where no labelling satisfies the hard constraints, naming a minimal conflicting subset.
    TooLargeError
        Where ``"product"``, or ``"milp"`` with the constraints that are not linear, needs a product
        beyond that budget.
    RuleError
        For a method that predicates rule out, and for predicates that count wrongly.
    SearchLimitError
        Where a beam, or a search under predicates within its limits, met no labelling that
        satisfies the hard constraints, and no proof that there is none.

    Examples
    --------
    >>> from trelliswork.constraints import at_most
    >>> scores = [[2.0, 0.0], [0.0, 1.0], [2.0, 0.0]]
    >>> rule = at_most(1, "author").soft(0.5)
    >>> found = solve(Problem(scores, constraints=rule, labels=["author", "title"]))
    >>> found.labels, found.score, found.status
    (['author', 'title', 'author'], 4.5, 'optimal')
    """
    _check(method, time_limit, width)
    if isinstance(problem, Problem):
        return _solve_all([problem], method, time_limit, width, n_jobs)[0]
    return _solve_all(_several(problem), method, time_limit, width, n_jobs)


def _check(method: object, time_limit: Any, width: Any) -> None:
    choices = get_args(SolveMethod)
    if method not in choices:
        raise ValueError(
            f"method: expected one of {', '.join(map(repr, choices))}, got {method!r}."
        )
    check_time_limit(time_limit)
    check_width(width)


def _several(given: Any) -> list[Problem]:
    problems = list(given) if hasattr(given, "__iter__") else [given]
    for index, one in enumerate(problems):
        if not isinstance(one, Problem):
            raise TypeError(
                f"problem: expected a Problem or a list of these, got {type(one).__name__} at "
                f"{index}. Make one: tw.Problem(scores, …), or est.problem(x)."
            )
    return problems


def _solve_all(
    problems: Sequence[Problem],
    method: SolveMethod,
    time_limit: float | None,
    width: int | None,
    n_jobs: int | None,
) -> list[Decoding]:
    if method not in UNDER_PREDICATES:
        for problem in problems:
            problem.plan.refuse_predicates(
                f"method={method!r} needs all constraints as automata or counts. Use 'auto', "
                "'astar' or 'beam'."
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
        if found.status[b] == UNKNOWN:
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
    """Add the items that answers break; where that takes too large a product, branch."""
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
            certificate=Certificate(found.items.get(b, ())),
        )
        for b in range(len(batch.problems))
    ]


def _by_product(batch: ProblemBatch, n_jobs: int | None) -> list[Decoding]:
    """Run on the product of the model with all items that cost anything."""
    plan = batch.plan
    trellis = with_tolls(plan, batch.trellis, batch.evidence)
    items = tuple(np.flatnonzero(plan.item_penalties > 0.0).tolist())
    certificate, constant = Certificate(items), 0.0
    if items:
        longest = max(map(len, batch.problems))
        made = plan.item_product(items, longest)
        classes = batch.evidence.classes(made.tests)
        weights, constant = plan.item_weights(trellis.weights), plan.item_constant(made)
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
    if labels is None:  # too early: the best labelling of the model is better than none
        free = viterbi(problem.trellis, allowed=problem.open_labels(), n_jobs=1)
        labels = problem.plan.names(free.tags)
    value = problem.value(labels)
    bound = max(found.upper_bound, value)
    status: Status = "unverified" if found.finished else "feasible"
    return Decoding(
        labels=labels,
        score=value,
        upper_bound=bound,
        gap=bound - value,
        status="relaxed" if value == -np.inf else status,
        violations=broken_rules(problem, labels),
        method="milp",
        iterations=found.nodes,
    )
