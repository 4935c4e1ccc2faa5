"""The best assignment of spans to roles under constraints.

| method | what it does | exact |
| --- | --- | --- |
| ``"chain"`` | spans as one chain, prices on all other rules, and branch and bound | yes |
| ``"branch"`` | AD3 on a factor graph, and branch and bound | yes |
| ``"ad3"`` | the relaxation of that graph by AD3, rounded role by role | where it is tight |
| ``"milp"`` | an integer program, solved by HiGHS | yes, without a certificate |
| ``"lp"`` | its relaxation, by HiGHS, rounded role by role | where it is tight |
| ``"auto"`` | ``"chain"``; ``"branch"`` where overlaps have a price | yes |

The chain of spans that do not overlap is solved in one pass over the sentence. Prices make up for
all other rules (`cpp/span_dual`), and where they leave a gap, branch and bound splits the
assignments (`cpp/span_solver`). The graph is that of Das, Martins and Smith (2012); see
`trelliswork.span_graphs`.
"""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal, cast, get_args, overload

from trelliswork import _core
from trelliswork.constraints.given import as_constraints
from trelliswork.parallel import resolve_jobs
from trelliswork.priced import check_time_limit
from trelliswork.span_answers import answer, gains, infeasible, null_constant, unsolved
from trelliswork.span_certificate import SpanCertificate, SpanLeaf
from trelliswork.span_graphs import assign_by_graph
from trelliswork.span_rules import SpanRulebook, compile_rules
from trelliswork.spans import Assignment, GraphAssignMethod, SpanTable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trelliswork.graph_solution import AD3Options

__all__ = ["SpanMethod", "assign"]

SpanMethod = Literal["auto", "chain", "branch", "ad3", "milp", "lp"]
MAX_ITERATIONS = 200  # of the prices, at the root
TOLERANCE = 1e-9  # of a gap, relative to 1 + |score|
OPTIMAL, INFEASIBLE, UNKNOWN = 0, 2, 3  # the core's statuses


@overload
def assign(
    table: SpanTable,
    constraints: Any = (),
    method: SpanMethod = "auto",
    *,
    time_limit: float | None = None,
    max_nodes: int | None = None,
    ad3: AD3Options | None = None,
    n_jobs: int | None = None,
) -> Assignment: ...


@overload
def assign(
    table: Iterable[SpanTable],
    constraints: Any = (),
    method: SpanMethod = "auto",
    *,
    time_limit: float | None = None,
    max_nodes: int | None = None,
    ad3: AD3Options | None = None,
    n_jobs: int | None = None,
) -> list[Assignment]: ...


def assign(
    table: SpanTable | Iterable[SpanTable],
    constraints: Any = (),
    method: SpanMethod = "auto",
    *,
    time_limit: float | None = None,
    max_nodes: int | None = None,
    ad3: AD3Options | None = None,
    n_jobs: int | None = None,
) -> Assignment | list[Assignment]:
    """Fill roles with spans as well as constraints allow, with a certificate.

        ŷ = argmax_y score(y) − Σ_c ρ_c v_c(y)

    A role fills at most once, unless a constraint ``at_most(n, role)`` or ``exactly(n, role)``
    names it, and need not be filled at all.

    Parameters
    ----------
    table
        A table, or several.
    constraints
        ``no_overlap()``, ``excludes``, ``requires`` (one-way), ``at_most``, ``at_least``,
        ``exactly``, comparisons of counts, several joined by ``&``; hard, or soft with a penalty.
        For several tables: those of all, or a list of lists, one for each table.
    method
        See the table above.
    time_limit
        Seconds for each table.
    max_nodes
        Most nodes of branch and bound, for each table.
    ad3
        Options of ``"ad3"`` and ``"branch"``.
    n_jobs
        Threads, for several tables.

    Returns
    -------
    Assignment or list of Assignment
        The best, where the status is ``"optimal"``; with a gap, where a limit was reached first.

    Raises
    ------
    InfeasibleError
        Where no assignment satisfies the hard constraints, naming those that conflict.
    RuleError, LabelError
        For constraints of other kinds, or about roles that the table does not have.
    SearchLimitError
        Where a limit was reached before any assignment was found.

    Examples
    --------
    >>> from trelliswork.constraints import no_overlap, requires
    >>> table = SpanTable(
    ...     [(0, 2), (1, 3), (3, 5)],
    ...     ["Agent", "Theme", "Source"],
    ...     [[2.0, 0.5, 0.0], [1.8, 0.1, 1.9], [0.0, 0.4, 1.0]],
    ... )
    >>> found = assign(table, [no_overlap(), requires("Agent", "Theme")])
    >>> found.roles, found.score, found.status
    ({'Agent': (0, 2), 'Theme': (3, 5), 'Source': None}, 2.4, 'optimal')
    """
    choices = get_args(SpanMethod)
    if method not in choices:
        raise ValueError(
            f"method: expected one of {', '.join(map(repr, choices))}, got {method!r}."
        )
    check_time_limit(time_limit)
    if max_nodes is not None and (not isinstance(max_nodes, Integral) or max_nodes < 1):
        raise ValueError(f"max_nodes: expected 1 or more, or None, got {max_nodes!r}.")
    alone = isinstance(table, SpanTable)
    tables = [cast("SpanTable", table)] if alone else _several(table)
    books = _rulebooks(tables, constraints, alone)
    found = _assign_all(tables, books, method, time_limit, max_nodes, ad3, n_jobs)
    return found[0] if alone else found


def _several(given: Any) -> list[SpanTable]:
    tables = list(given) if isinstance(given, Iterable) else [given]
    for index, one in enumerate(tables):
        if not isinstance(one, SpanTable):
            raise TypeError(
                f"table: expected a SpanTable or a list of these, got {type(one).__name__} at "
                f"{index}. Make one: tw.SpanTable(spans, roles, scores)."
            )
    return tables


def _rulebooks(tables: Sequence[SpanTable], constraints: Any, alone: bool) -> list[SpanRulebook]:
    """Return what the constraints mean for each table; tables of one frame share it."""
    is_nested = (
        not alone
        and isinstance(constraints, list | tuple)
        and any(isinstance(part, list | tuple) for part in constraints)
    )
    if not is_nested:
        rules = as_constraints(constraints)
        of_roles = {roles: compile_rules(roles, rules) for roles in {t.roles for t in tables}}
        books = [of_roles[table.roles] for table in tables]
    elif len(constraints) != len(tables):
        raise ValueError(
            f"constraints: expected a list for each of the {len(tables)} tables, got "
            f"{len(constraints)}."
        )
    else:
        books = [
            compile_rules(table.roles, as_constraints(rules))
            for table, rules in zip(tables, constraints, strict=True)
        ]
    return [book.fitted(table) for table, book in zip(tables, books, strict=True)]


def _assign_all(
    tables: Sequence[SpanTable],
    books: Sequence[SpanRulebook],
    method: SpanMethod,
    time_limit: float | None,
    max_nodes: int | None,
    ad3: AD3Options | None,
    n_jobs: int | None,
) -> list[Assignment]:
    if method == "chain":
        for book in books:
            if not book.is_chain:
                raise ValueError(
                    "method='chain' needs no_overlap() to be hard, or not to be there. Use 'auto' "
                    "or 'branch'."
                )
    by_chain = [b for b, book in enumerate(books) if method in ("auto", "chain") and book.is_chain]
    answers: dict[int, Assignment] = {}
    if by_chain:
        own = [tables[b] for b in by_chain], [books[b] for b in by_chain]
        found = _by_chain(*own, by_chain, time_limit, max_nodes, n_jobs)
        if len(found) == len(tables):
            return found
        answers |= zip(by_chain, found, strict=True)
    rest = [b for b in range(len(tables)) if b not in answers]
    if rest:
        kind: GraphAssignMethod = "branch" if method == "auto" or method == "chain" else method
        own = [tables[b] for b in rest], [books[b] for b in rest]
        found = assign_by_graph(*own, rest, kind, time_limit, max_nodes, ad3, n_jobs)
        answers |= zip(rest, found, strict=True)
    return [answers[b] for b in range(len(tables))]


def _by_chain(
    tables: Sequence[SpanTable],
    books: Sequence[SpanRulebook],
    places: Sequence[int],
    time_limit: float | None,
    max_nodes: int | None,
    n_jobs: int | None,
) -> list[Assignment]:
    (
        status,
        payoff,
        bound,
        iterations,
        nodes,
        choice_offsets,
        choices,
        leaf_offsets,
        decision_offsets,
        decisions,
        prices,
    ) = _core.solve_spans(
        [table.spans for table in tables],
        [gains(table, book) for table, book in zip(tables, books, strict=True)],
        [book.native for book in books],
        [book.apart for book in books],
        MAX_ITERATIONS,
        TOLERANCE,
        time_limit or 0.0,
        max_nodes or 0,
        resolve_jobs(n_jobs),
    )
    pairs = [(s, r) for s, r in choices.reshape(-1, 2).tolist()]
    decided = [(s, r, bool(taken)) for s, r, taken in decisions.reshape(-1, 3).tolist()]
    ends = decision_offsets.tolist()
    first_rule = 0
    found = []
    for b, (table, book) in enumerate(zip(tables, books, strict=True)):
        n_rules = len(book.rules)
        leaves = []
        for leaf in range(leaf_offsets[b], leaf_offsets[b + 1]):
            leaves.append(
                SpanLeaf(
                    tuple(decided[ends[leaf] : ends[leaf + 1]]),
                    prices[first_rule : first_rule + n_rules],
                )
            )
            first_rule += n_rules
        if status[b] == INFEASIBLE:
            raise infeasible(table, book, places[b])
        if status[b] == UNKNOWN:
            raise unsolved(places[b])
        constant = null_constant(table, book)
        own = pairs[choice_offsets[b] : choice_offsets[b + 1]]
        found.append(
            answer(
                table,
                book,
                own,
                float(payoff[b]) + constant,
                float(bound[b]) + constant,
                "optimal" if status[b] == OPTIMAL else "feasible",
                method="chain",
                iterations=int(iterations[b]),
                nodes=int(nodes[b]),
                certificate=SpanCertificate(tuple(leaves)),
            )
        )
    return found
