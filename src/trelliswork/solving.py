"""The public functions `solve` and `verify`: dispatch on the kind of problem.

The methods are described in `trelliswork.decoding.solve` for labellings, in
`trelliswork.graphs.solve` for factor graphs and in `trelliswork.spans.solve` for spans.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args, overload

from trelliswork._utils.arguments import check_time_limit
from trelliswork.decoding.answers import Decoding
from trelliswork.decoding.prefixes import WIDTH, check_width
from trelliswork.decoding.problem import Problem
from trelliswork.decoding.solve import SolveMethod, solve_problems
from trelliswork.decoding.verify import LabellingClaim
from trelliswork.graphs.answers import Solution
from trelliswork.graphs.graph import FactorGraph
from trelliswork.graphs.solve import GraphMethod, solve_graphs
from trelliswork.graphs.verify import GraphClaim
from trelliswork.proofs.verification import Verification, check
from trelliswork.spans.answers import Assignment
from trelliswork.spans.table import SpanTable
from trelliswork.spans.verify import SpanClaim

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from trelliswork.graphs.answers import AD3Options, GraphProgress
    from trelliswork.proofs.verification import Claim

__all__ = ["SolveMethod", "solve", "verify"]

KINDS: tuple[tuple[type, type, Callable[[Any, Any], Claim]], ...] = (
    # the problem, its answer, the claim to check
    (Problem, Decoding, LabellingClaim),
    (FactorGraph, Solution, GraphClaim),
    (SpanTable, Assignment, SpanClaim),
)


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
    problem: FactorGraph,
    method: GraphMethod = "auto",
    *,
    time_limit: float | None = None,
    max_nodes: int | None = None,
    callback: Callable[[GraphProgress], object] | None = None,
    warm_start: Solution | None = None,
    ad3: AD3Options | None = None,
    n_jobs: int | None = None,
) -> Solution: ...


@overload
def solve(
    problem: Iterable[Problem],
    method: SolveMethod = "auto",
    *,
    time_limit: float | None = None,
    width: int | None = WIDTH,
    n_jobs: int | None = None,
) -> list[Decoding]: ...


@overload
def solve(
    problem: Iterable[FactorGraph],
    method: GraphMethod = "auto",
    *,
    time_limit: float | None = None,
    max_nodes: int | None = None,
    callback: Callable[[GraphProgress], object] | None = None,
    warm_start: Sequence[Solution] | None = None,
    ad3: AD3Options | None = None,
    n_jobs: int | None = None,
) -> list[Solution]: ...


def solve(
    problem: Problem | FactorGraph | Iterable[Problem] | Iterable[FactorGraph],
    method: Any = "auto",
    *,
    time_limit: float | None = None,
    width: int | None = WIDTH,
    max_nodes: int | None = None,
    callback: Callable[[GraphProgress], object] | None = None,
    warm_start: Solution | Sequence[Solution] | None = None,
    ad3: AD3Options | None = None,
    n_jobs: int | None = None,
) -> Decoding | Solution | list[Decoding] | list[Solution]:
    """Find the best labelling under hard and soft constraints, with a certificate.

        ŷ = argmax_y score(y) − Σ_c ρ_c v_c(y)

    or the best assignment of a factor graph, with a certificate too.

    Parameters
    ----------
    problem
        A problem, a factor graph, or several of one kind. Problems that share a plan and the
        weights of the model are decoded as one batch.
    method
        For problems: ``"auto"``, ``"product"``, ``"lazy"``, ``"astar"`` and ``"branch"``, all
        exact; ``"dual"`` and ``"beam"``, exact if their gap closes; ``"milp"``, HiGHS. For graphs:
        ``"auto"`` and ``"branch"``, branch and bound around AD3, exact; ``"ad3"``, ``"lp"``,
        ``"dual"``, the relaxation; ``"milp"``, HiGHS.
    time_limit
        Seconds for each problem, and for each round of one: rules that an answer breaks are added
        in rounds. ``"product"`` and ``"lazy"`` have no limit, and a beam continues
        with a width of at most 10.
    width
        Prefixes of each length that a beam keeps; None: all, which is exact, and under predicates
        takes as many steps as there are labellings. A search under predicates that reaches a limit
        ends with such a beam.
    max_nodes
        For graphs: most nodes of branch and bound, for each graph. Default: no limit.
    callback
        For graphs: called with a `GraphProgress` now and then; returning True ends that graph.
    warm_start
        For graphs: the answer to a graph of the same shape, or one for each graph.
    ad3
        For graphs: options of AD3.
    n_jobs
        Threads; predicates are called on one.

    Returns
    -------
    Decoding, Solution, or a list of these
        One answer per problem. The status is ``"feasible"`` if a gap is left: the time ran out,
        ``"dual"`` or ``"beam"`` did not close it, or constraints that are not linear need a larger
        product than the plan's budget allows. It is ``"relaxed"`` if even a hard constraint is
        violated.

    Raises
    ------
    InfeasibleError
        If no labelling satisfies the hard constraints, naming a minimal conflicting subset. An
        infeasible graph raises nothing: its status says so.
    TooLargeError
        If ``"product"``, or ``"milp"`` with the constraints that are not linear, needs a product
        beyond that budget.
    RuleError
        For a method that predicates rule out, and for predicates whose counts are invalid.
    SearchLimitError
        If a beam, or a search under predicates within its limits, found no labelling that satisfies
        the hard constraints, and no proof that there is none.

    Examples
    --------
    >>> from trelliswork.constraints import at_most
    >>> scores = [[2.0, 0.0], [0.0, 1.0], [2.0, 0.0]]
    >>> rule = at_most(1, "author").soft(0.5)
    >>> found = solve(Problem(scores, constraints=rule, labels=["author", "title"]))
    >>> found.labels, found.score, found.status
    (['author', 'title', 'author'], 4.5, 'optimal')
    """
    check_time_limit(time_limit)
    problems = _several(problem)
    if not problems:  # of either kind: an empty list
        _check(method, width, (*get_args(SolveMethod), *get_args(GraphMethod)))
        return []
    if isinstance(problems[0], FactorGraph):
        _refuse("a Problem", width=None if width == WIDTH else width)
        starts = [warm_start] if isinstance(warm_start, Solution) else warm_start
        solutions = solve_graphs(
            problems,
            method,
            time_limit=time_limit,
            max_nodes=max_nodes,
            callback=callback,
            warm_start=starts,
            ad3=ad3,
            n_jobs=n_jobs,
        )
        return solutions[0] if isinstance(problem, FactorGraph) else solutions
    _check(method, width, get_args(SolveMethod))
    _refuse(
        "a factor graph", max_nodes=max_nodes, callback=callback, warm_start=warm_start, ad3=ad3
    )
    decodings = solve_problems(problems, method, time_limit, width, n_jobs)
    return decodings[0] if isinstance(problem, Problem) else decodings


@overload
def verify(problem: Problem, decoding: Decoding) -> Verification: ...


@overload
def verify(problem: FactorGraph, decoding: Solution) -> Verification: ...


@overload
def verify(problem: SpanTable, decoding: Assignment) -> Verification: ...


def verify(
    problem: Problem | FactorGraph | SpanTable, decoding: Decoding | Solution | Assignment
) -> Verification:
    """Check an answer to a problem, and prove again that it is the best one.

    Runs one dynamic program for each leaf of the certificate (in a factor graph, for each factor
    and leaf), without any search. The tolerance is 1e-9, absolute and relative.

    Parameters
    ----------
    problem
        The problem, the factor graph, or the table of spans.
    decoding
        The answer, from `trelliswork.solve`, `trelliswork.assign` or anywhere else. An assignment
        is proven the best under its own `constraints`.

    Examples
    --------
    >>> import trelliswork as tw
    >>> scores = [[2.0, 0.0], [0.0, 1.0], [2.0, 0.0]]
    >>> rule = tw.at_most(1, "author").soft(1.5)
    >>> problem = tw.Problem(scores, constraints=rule, labels=["author", "title"])
    >>> bool(verify(problem, tw.solve(problem)))
    True
    """
    for of_problem, of_answer, kind in KINDS:
        if isinstance(problem, of_problem) and isinstance(decoding, of_answer):
            return check(kind, problem, decoding)
    raise TypeError(
        f"verify: expected a Problem and its Decoding, got {type(problem).__name__} and "
        f"{type(decoding).__name__}. A FactorGraph goes with its Solution, and a SpanTable with "
        "its Assignment."
    )


def _check(method: object, width: Any, choices: tuple[str, ...]) -> None:
    if method not in choices:
        names = ", ".join(map(repr, dict.fromkeys(choices)))
        raise ValueError(f"method: expected one of {names}, got {method!r}.")
    check_width(width)


def _refuse(kind: str, **options: object) -> None:
    for name, value in options.items():
        if value is not None:
            raise ValueError(f"{name}: this is an option of {kind} alone; leave it out.")


def _several(given: Any) -> list[Any]:
    """Return problems, or graphs, in a list."""
    problems = list(given) if hasattr(given, "__iter__") else [given]  # a single one
    kind = FactorGraph if problems and isinstance(problems[0], FactorGraph) else Problem
    for index, one in enumerate(problems):
        if not isinstance(one, kind):
            raise TypeError(
                f"problem: expected a {kind.__name__} or a list of these, got "
                f"{type(one).__name__} at {index}. Make one: tw.Problem(scores, …), or "
                "tagger.problem(x), or tw.FactorGraph()."
            )
    return problems
