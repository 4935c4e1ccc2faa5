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

from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, NoReturn, get_args, overload

import numpy as np

from trelliswork.certificate import Certificate, Leaf
from trelliswork.conflicts import feasible_rules, open_labels
from trelliswork.decoding import Decoding
from trelliswork.derived import derive
from trelliswork.inference import viterbi
from trelliswork.lazy import best_lazily
from trelliswork.milp import solve_milp
from trelliswork.priced import CORE_METHODS, OPTIMAL, priced_batch
from trelliswork.problem import Problem
from trelliswork.trellis import Trellis

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from numpy.typing import NDArray

    from trelliswork.evidence import Evidence
    from trelliswork.plan import Plan
    from trelliswork.priced import PricedMethod

    BoolArray = NDArray[np.bool_]

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
    if method == "milp":
        return [_by_milp(problem, number, time_limit) for number, problem in enumerate(problems)]
    answers: dict[int, Decoding] = {}
    for members in _groups(problems):
        batch = _Batch.stack(members, [problems[i] for i in members])
        if method in ("lazy", "product"):
            decoded = _by_automata(batch, method, time_limit, n_jobs)
        else:
            decoded = _by_prices(batch, method, time_limit, n_jobs)
        answers |= zip(members, decoded, strict=True)
    return [answers[i] for i in range(len(problems))]


@dataclass(frozen=True, eq=False)
class _Batch:
    """Problems with one plan and one model."""

    problems: list[Problem]
    trellis: Trellis
    evidence: Evidence
    allowed: NDArray[np.bool_] | None

    @classmethod
    def stack(cls, numbers: list[int], problems: list[Problem]) -> _Batch:
        first = problems[0]
        offsets = np.cumsum([0, *map(len, problems)])
        sentences = [problem.evidence.sentences[0] for problem in problems]
        position, allowed = None, None
        if first.trellis.position_weights is not None:
            position = np.concatenate([p.trellis.position_weights for p in problems])
        if any(problem.allowed is not None for problem in problems):
            everything = first.plan.tag_mask(np.ones((1, len(first.labels)), dtype=bool))
            allowed = np.concatenate(
                [
                    np.repeat(everything, len(p), axis=0) if p.allowed is None else p.allowed
                    for p in problems
                ]
            )
        trellis = Trellis(
            np.concatenate([problem.trellis.scores for problem in problems]),
            first.trellis.automaton,
            offsets=offsets,
            weights=first.trellis.weights,
            position_weights=position,
            start=first.trellis.start,
            end=first.trellis.end,
        )
        evidence = first.plan.evidence(sentences, trellis.offsets, numbers)
        return cls(problems, trellis, evidence, allowed)

    @property
    def plan(self) -> Plan:
        return self.problems[0].plan

    def take(self, members: list[int]) -> _Batch:
        """Return some of the problems."""
        numbers = [self.evidence.numbers[i] for i in members]
        return _Batch.stack(numbers, [self.problems[i] for i in members])

    def refuse(self, member: int) -> NoReturn:
        """Raise the error for a problem that no labelling fits, naming what conflicts."""
        feasible_rules(self.plan, self.evidence, member, self.allowed, "error")
        raise AssertionError("some labelling fits")


def _groups(problems: Sequence[Problem]) -> list[list[int]]:
    """Return the problems that can be decoded together."""
    groups: dict[Hashable, list[int]] = {}
    for index, problem in enumerate(problems):
        trellis = problem.trellis
        shared = (trellis.weights, trellis.start, trellis.end)
        width = None if trellis.position_weights is None else trellis.position_weights.shape[1]
        key = (
            id(problem.plan),
            trellis.scores.shape[1:],
            width,
            *(None if values is None else values.tobytes() for values in shared),
        )
        groups.setdefault(key, []).append(index)
    return list(groups.values())


def _by_prices(
    batch: _Batch, method: PricedMethod, time_limit: float | None, n_jobs: int | None
) -> list[Decoding]:
    found = priced_batch(
        batch.plan,
        batch.trellis,
        batch.evidence,
        method=method,
        allowed=batch.allowed,
        time_limit=time_limit,
        n_jobs=n_jobs,
    )
    names, offsets = batch.trellis.offsets, batch.trellis.offsets
    answers = []
    for b, problem in enumerate(batch.problems):
        own = found.tags[offsets[b] : offsets[b + 1]]
        if np.isneginf(found.scores[b]):
            batch.refuse(b)
        answers.append(
            _decoding(
                problem,
                problem.plan.names(own),
                float(found.scores[b]),
                float(found.bounds[b]),
                "optimal" if found.status[b] == OPTIMAL else "feasible",
                CORE_METHODS[found.methods[b]],
                int(found.iterations[b]),
                found.certificate(b),
            )
        )
    return answers


def _by_automata(
    batch: _Batch, method: Literal["lazy", "product"], time_limit: float | None, n_jobs: int | None
) -> list[Decoding]:
    """Decode on products, by lazy intersection or on the product of everything."""
    return []


def _by_milp(problem: Problem, number: int, time_limit: float | None) -> Decoding:
    found = solve_milp(problem, time_limit)
    if found is None:
        raise _Batch.stack([number], [problem]).conflict(0)
    labels = found.labels
    if labels is None:  # too early: the best labelling without automata may do
        free = viterbi(problem.trellis, allowed=problem.open_labels(), n_jobs=1)
        labels = problem.plan.names(free.tags)
        if problem.value(labels) == -np.inf:
            raise TimeoutError(
                f"problem {number}: HiGHS found no labelling that obeys the hard constraints in "
                f"{time_limit} s. Allow more, or use method='auto'."
            )
    value = problem.value(labels)
    bound = max(found.upper_bound, value)
    return Decoding(
        labels=labels,
        score=value,
        upper_bound=bound,
        gap=bound - value,
        status="unverified" if found.finished else "feasible",
        violations=_violations(problem, labels),
        method="milp",
        iterations=found.nodes,
    )


def _violations(problem: Problem, labels: Sequence[str]) -> dict[str, int]:
    broken = problem.violations(labels)
    return {repr(problem.constraints[i]): degree for i, degree in broken.items()}
