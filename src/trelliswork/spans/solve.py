"""The methods of assigning spans to roles under constraints, by name.

| method | algorithm | exact |
| --- | --- | --- |
| ``"chain"`` | spans as one chain, prices on all other rules, and branch and bound | yes |
| ``"branch"`` | AD3 on a factor graph, and branch and bound | yes |
| ``"ad3"`` | the relaxation of that graph by AD3, rounded role by role | if it is tight |
| ``"milp"`` | an integer program, solved by HiGHS | yes, without a certificate |
| ``"lp"`` | its relaxation, by HiGHS, rounded role by role | if it is tight |
| ``"auto"`` | ``"chain"`` if it applies, else ``"branch"`` | yes |

The chain of spans that do not overlap is solved in one pass over the sentence. All other rules have
prices (`cpp/spans/dual`), and if these leave a gap, branch and bound splits the assignments
(`cpp/spans/solver`). This needs rules that are linear in the counts of roles: soft overlaps are
not, nor are pair rules about roles that fill more than once. The graph is that of Das, Martins and
Smith (2012); see `trelliswork.spans.graph`.
"""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal, cast, get_args, overload

from trelliswork._utils.arguments import check_time_limit
from trelliswork.constraints.given import as_constraints
from trelliswork.graphs.answers import AD3Options
from trelliswork.spans.answers import Assignment, GraphAssignMethod, NoAnswerError
from trelliswork.spans.chain import assign_by_chain
from trelliswork.spans.conflicts import infeasible, unsolved
from trelliswork.spans.graph import assign_by_graph
from trelliswork.spans.rules import SpanRulebook, compile_rules
from trelliswork.spans.table import SpanTable

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["SpanMethod", "assign"]

SpanMethod = Literal["auto", "chain", "branch", "ad3", "milp", "lp"]
MAX_NODES = 2**62


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
    """Find the best assignment of spans to roles under constraints, with a certificate.

        ŷ = argmax_y score(y) − Σ_c ρ_c v_c(y)

    A role need not be filled, and fills at most once, unless a rule about it alone sets another
    limit (``at_most(3, role)``, even a soft one) or asks for more (``at_least(2, role)``).

    Parameters
    ----------
    table
        A table, or several.
    constraints
        ``no_overlap()``, ``excludes``, ``requires`` (one-way), ``at_most``, ``at_least``,
        ``exactly``, comparisons of counts, several joined by ``&``; hard, or soft with a penalty.
        For several tables: those of all, or a list of lists, one for each table.
    method
        ``"auto"``: ``"chain"`` if it applies, else ``"branch"``. ``"chain"``: spans that do not
        overlap as one chain, with prices on rules, and branch and bound; exact. ``"branch"``:
        AD3 on a factor graph, and branch and bound; exact. ``"milp"``: HiGHS; exact, without a
        certificate. ``"ad3"`` and ``"lp"``: the linear relaxation, rounded role by role.
    time_limit
        Seconds for each table, more than 0.
    max_nodes
        Maximum number of nodes of branch and bound, for each table.
    ad3
        Options of ``"ad3"`` and ``"branch"``.
    n_jobs
        Threads, for several tables.

    Returns
    -------
    Assignment or list of Assignment
        The best assignment if the status is ``"optimal"``; one with a gap if a limit was reached
        first.

    Raises
    ------
    InfeasibleError
        If no assignment satisfies the hard constraints, naming those that conflict; its `sequence`
        is the index of the table.
    RuleError, LabelError
        For constraints of other kinds, or about roles that are not in the table.
    SearchLimitError
        If a limit was reached before an assignment was found.

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
    _check_options(max_nodes, ad3)
    alone = isinstance(table, SpanTable)
    tables = [cast("SpanTable", table)] if alone else _several(table)
    books = _rulebooks(tables, constraints, alone)
    try:
        found = _assign_all(tables, books, method, time_limit, max_nodes, ad3, n_jobs)
    except NoAnswerError as none:
        b = none.place
        raise (infeasible(tables[b], books[b], b) if none.is_proven else unsolved(b)) from None
    return found[0] if alone else found


def _check_options(max_nodes: Any, ad3: Any) -> None:
    is_number = isinstance(max_nodes, Integral) and not isinstance(max_nodes, bool)
    if max_nodes is not None and not (is_number and 1 <= max_nodes <= MAX_NODES):
        raise ValueError(f"max_nodes: expected a whole number above 0, or None, got {max_nodes!r}.")
    if ad3 is not None and not isinstance(ad3, AD3Options):
        raise TypeError(f"ad3: expected AD3Options, got {type(ad3).__name__} {ad3!r}.")


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
    """Return the compiled constraints of each table; tables with the same roles share them."""
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
    return books


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
        for table, book in zip(tables, books, strict=True):
            if not book.chains(table):
                raise ValueError(
                    "method='chain' needs no_overlap() to be hard or not to be there, and no pair "
                    "rules or null scores of roles that may fill more than once. Use 'auto'."
                )
    by_chain = [
        b
        for b, (table, book) in enumerate(zip(tables, books, strict=True))
        if method in ("auto", "chain") and book.chains(table)
    ]
    answers: dict[int, Assignment] = {}
    if by_chain:
        own = [tables[b] for b in by_chain], [books[b] for b in by_chain]
        found = assign_by_chain(*own, by_chain, time_limit, max_nodes, n_jobs)
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
