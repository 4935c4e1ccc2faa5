"""The bound of a leaf of a certificate of spans: a dynamic program over spans and counts.

It shares nothing with the solver but the rules; see `trelliswork.span_certificate`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from trelliswork.span_answers import gains, null_constant

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from trelliswork.span_certificate import SpanLeaf
    from trelliswork.span_rules import RoleRule, SpanRulebook
    from trelliswork.spans import SpanTable

    FloatArray = NDArray[np.float64]
    Steps = list[list[tuple[int, NDArray[np.float64]]]]

__all__ = ["leaf_bound"]


def leaf_bound(table: SpanTable, book: SpanRulebook, leaf: SpanLeaf, floor: float) -> float:
    """Return ``max G(y)`` over the assignments of a leaf, or `floor` where that is more.

    Parameters
    ----------
    table, book
        The table and its rules.
    leaf
        Decisions, prices, and the roles that are counted.
    floor
        Assignments whose bound does not pass it are left out.
    """
    scores = gains(table, book)
    most = np.minimum(book.most, len(table.spans))
    open_scores = scores.copy() if book.apart else _best_of_each_role(scores, most)
    counts = np.zeros(len(table.roles), dtype=np.int64)
    total = null_constant(table, book)
    for span, role, taken in leaf.decisions:
        if not taken:
            open_scores[span, role] = -np.inf
            continue
        if open_scores[span, role] == -np.inf:
            return floor  # decisions that contradict each other: there is no such assignment
        total += float(scores[span, role])
        counts[role] += 1
        if book.apart:
            open_scores[_overlapping(table.spans, span)] = -np.inf
        else:
            open_scores[span, role] = -np.inf
    most -= counts
    open_scores[:, most <= 0] = -np.inf
    prices = leaf.prices.tolist()
    for rule, price in zip(book.rules, prices, strict=True):
        total -= price * rule.excess(counts.tolist())
        for role, coefficient in rule.terms:
            open_scores[:, role] -= price * coefficient
    steps = _steps(table.spans, open_scores) if book.apart else _single_steps(open_scores)
    ends = _reach(steps, np.asarray(leaf.counted, dtype=bool), most, floor - total)
    counted = [
        (rule, price)
        for rule, price in zip(book.rules, prices, strict=True)
        if all(leaf.counted[role] for role, _ in rule.terms)
    ]
    values = [
        total + worth - _missed(counted, (counts + np.array(more, dtype=np.int64)).tolist())
        for more, worth in ends.items()
    ]
    return max([floor, *values])


def _missed(counted: Sequence[tuple[RoleRule, float]], counts: Sequence[int]) -> float:
    """Return what prices miss of the costs of rules, ``Σ ρ v(n) − λ (a·n − b)``."""
    missed = 0.0
    for rule, price in counted:
        violation = rule.violation(counts)
        missed += rule.penalty * violation if violation else 0.0
        missed -= price * rule.excess(counts) if price else 0.0
    return missed


def _best_of_each_role(scores: FloatArray, most: NDArray[np.int64]) -> FloatArray:
    """Return the scores of the spans that roles can need: rules see only how many there are."""
    kept = np.full_like(scores, -np.inf)
    for role, limit in enumerate(most.tolist()):
        best = np.argsort(-scores[:, role], kind="stable")[:limit]
        kept[best, role] = scores[best, role]
    return kept


def _overlapping(spans: NDArray[np.int64], span: int) -> NDArray[np.bool_]:
    start, end = spans[span]
    return np.asarray((spans[:, 0] < end) & (start < spans[:, 1]))


def _steps(spans: NDArray[np.int64], scores: FloatArray) -> Steps:
    """Return, for every token, where the spans that start there end, and their scores."""
    steps: Steps = [[] for _ in range(int(spans.max(initial=0)))]
    for (start, end), row in zip(spans.tolist(), scores, strict=True):
        steps[start].append((end, row))
    return steps


def _single_steps(scores: FloatArray) -> Steps:
    """Return every pair of a span and a role at a token of its own."""
    steps: Steps = []
    for span, role in np.argwhere(np.isfinite(scores)).tolist():
        row = np.full(scores.shape[1], -np.inf)
        row[role] = scores[span, role]
        steps.append([(len(steps) + 1, row)])
    return steps


def _reach(
    steps: Steps, counted: NDArray[np.bool_], most: NDArray[np.int64], least: float
) -> dict[tuple[int, ...], float]:
    """Return the best sum of scores for each way to fill the counted roles, above `least`."""
    n_tokens, n_roles = len(steps), len(counted)
    rest = [0.0] * (n_tokens + 1)
    for t in range(n_tokens - 1, -1, -1):
        best = [float(row.max(initial=-np.inf)) + rest[end] for end, row in steps[t]]
        rest[t] = max([rest[t + 1], *best])
    states: list[dict[tuple[int, ...], float]] = [{} for _ in range(n_tokens + 1)]
    states[0][(0,) * n_roles] = 0.0
    for t in range(n_tokens):
        for counts, worth in states[t].items():
            if worth + rest[t + 1] > least:
                _offer(states[t + 1], counts, worth)
            for end, row in steps[t]:
                for role in np.flatnonzero(worth + row + rest[end] > least).tolist():
                    more = counts
                    if counted[role]:
                        if counts[role] >= most[role]:
                            continue
                        more = (*counts[:role], counts[role] + 1, *counts[role + 1 :])
                    _offer(states[end], more, worth + float(row[role]))
        states[t].clear()
    return states[n_tokens]


def _offer(states: dict[tuple[int, ...], float], counts: tuple[int, ...], worth: float) -> None:
    if worth > states.get(counts, -np.inf):
        states[counts] = worth
