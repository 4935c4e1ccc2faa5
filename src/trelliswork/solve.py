"""One entrance to all ways of decoding under constraints.

| method | what it does | exact |
| --- | --- | --- |
| ``"product"`` | Viterbi on the product of the model with all items | yes |
| ``"lazy"`` | Viterbi, with the items added that the answer breaks, until none is new | yes |
| ``"dual"`` | prices on rows, by projected subgradients | where the gap closes |
| ``"astar"`` | A* over the product, never built, guided by scores without constraints | yes |
| ``"branch"`` | best-first branch and bound over the dual | yes |
| ``"milp"`` | a mixed-integer program, solved by HiGHS | yes, without a certificate |
| ``"auto"`` | the dual first, then what closes its gap | yes |
"""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, get_args, overload

import numpy as np

from trelliswork.decoding import Decoding
from trelliswork.inference import viterbi
from trelliswork.milp import solve_milp
from trelliswork.problem import Problem
from trelliswork.trellis import Trellis

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from numpy.typing import NDArray

__all__ = ["SolveMethod", "solve"]

SolveMethod = Literal["auto", "product", "lazy", "astar", "dual", "branch", "milp"]


@overload
def solve(
    problem: Problem,
    method: SolveMethod = "auto",
    *,
    time_limit: float | None = None,
    n_jobs: int | None = None,
) -> Decoding: ...


@overload
def solve(
    problem: Iterable[Problem],
    method: SolveMethod = "auto",
    *,
    time_limit: float | None = None,
    n_jobs: int | None = None,
) -> list[Decoding]: ...


def solve(
    problem: Problem | Iterable[Problem],
    method: SolveMethod = "auto",
    *,
    time_limit: float | None = None,
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
        Seconds for each problem; ``"product"`` and ``"lazy"`` end by themselves. Where it is
        reached, the best labelling found so far has the status ``"feasible"``.
    n_jobs
        Threads.

    Returns
    -------
    Decoding or list of Decoding
        One answer a problem.

    Raises
    ------
    InfeasibleError
        Where no labelling satisfies the hard constraints, naming a minimal conflicting subset.
    TooLargeError
        Where ``"product"``, or ``"milp"`` with the constraints that are not linear, needs a larger
        product than the plan's budget allows.
    TimeoutError
        Where ``"milp"`` found no labelling in time.

    Examples
    --------
    >>> from trelliswork.constraints import at_most
    >>> scores = [[2.0, 0.0], [0.0, 1.0], [2.0, 0.0]]
    >>> rule = at_most(1, "author").soft(1.5)
    >>> found = solve(Problem(scores, constraints=rule, labels=["author", "title"]))
    >>> found.labels, found.score, found.status
    (['author', 'title', 'author'], 3.5, 'optimal')
    """
    _check(method, time_limit)
    if isinstance(problem, Problem):
        return _solve_all([problem], method, time_limit, n_jobs)[0]
    return _solve_all(_several(problem), method, time_limit, n_jobs)


def _check(method: object, time_limit: object) -> None:
    choices = get_args(SolveMethod)
    if method not in choices:
        raise ValueError(f"method: expected one of {', '.join(map(repr, choices))}, got {method!r}.")
    if time_limit is None:
        return
    if isinstance(time_limit, bool) or not isinstance(time_limit, Real) or not time_limit > 0:
        raise ValueError(f"time_limit: expected seconds, more than 0, or None, got {time_limit!r}.")


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
    problems: Sequence[Problem], method: SolveMethod, time_limit: float | None, n_jobs: int | None
) -> list[Decoding]:
    return [_by_milp(problem, time_limit) for problem in problems]


def _by_milp(problem: Problem, time_limit: float | None) -> Decoding:
    found = solve_milp(problem, time_limit)
    labels = found.labels
    if labels is None:  # too early: the best labelling without automata may do
        free = viterbi(problem.trellis, allowed=problem.open_labels(), n_jobs=1)
        labels = problem.plan.names(free.tags)
        if problem.value(labels) == -np.inf:
            raise TimeoutError(
                f"milp: no labelling of {len(problem)} tokens that obeys the hard constraints was "
                f"found in {time_limit} s. Allow more, or use method='auto'."
            )
    value = problem.value(labels)
    bound = max(found.upper_bound, value)
    broken = problem.violations(labels)
    return Decoding(
        labels=labels,
        score=value,
        upper_bound=bound,
        gap=bound - value,
        status="unverified" if found.finished else "feasible",
        violations={repr(problem.constraints[i]): degree for i, degree in broken.items()},
        method="milp",
        iterations=found.nodes,
    )
