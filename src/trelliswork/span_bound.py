"""The bound of a leaf of a certificate of spans: one pass over a chain.

It shares nothing with the solver but the rules; see `trelliswork.span_certificate`.
"""

from __future__ import annotations

from math import inf
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
    IntArray = NDArray[np.int64]

__all__ = ["leaf_bound"]

ROUNDING = 1e-9  # of sums of coefficients


def leaf_bound(table: SpanTable, book: SpanRulebook, leaf: SpanLeaf) -> float:
    """Return ``max G(y)`` over the assignments of a leaf; ``-inf`` where there is none.

    Parameters
    ----------
    table, book
        The table and its rules.
    leaf
        Decisions and prices.
    """
    scores = gains(table, book)
    most = np.minimum(book.most, len(table.spans))
    is_open = scores > -inf if book.apart else _best_of_each_role(scores, most)
    counts: IntArray = np.zeros(len(table.roles), dtype=np.int64)
    total = null_constant(table, book)
    for span, role, taken in leaf.decisions:
        if taken and not is_open[span, role]:
            return -inf  # decisions that contradict each other
        if taken:
            total += float(scores[span, role])
            counts[role] += 1
        if taken and book.apart:
            is_open[_overlapping(table.spans, span)] = False
        is_open[span, role] = False
    room = _room(book.rules, counts, np.minimum(most - counts, is_open.sum(axis=0)))
    if room is None:
        return -inf
    is_open &= room > 0
    if not is_open.any():
        broken = [(rule.penalty, rule.violation(counts.tolist())) for rule in book.rules]
        return total - sum(penalty * degree for penalty, degree in broken if degree)
    paid: FloatArray = np.zeros(len(table.roles))
    for rule, price in zip(book.rules, leaf.prices.tolist(), strict=True):
        total -= price * rule.excess(counts.tolist())
        for role, coefficient in rule.terms:
            paid[role] += price * coefficient
    best = np.where(is_open, scores - paid, -inf)
    return total + (_chain(table.spans, best.max(axis=1)) if book.apart else _sum(best))


def _best_of_each_role(scores: FloatArray, most: IntArray) -> NDArray[np.bool_]:
    """Return the spans that roles can need: rules see only how many there are."""
    kept = np.zeros(scores.shape, dtype=bool)
    for role, limit in enumerate(most.tolist()):
        kept[np.argsort(-scores[:, role], kind="stable")[:limit], role] = True
    return np.asarray(kept & (scores > -inf))


def _overlapping(spans: IntArray, span: int) -> NDArray[np.bool_]:
    start, end = spans[span]
    return np.asarray((spans[:, 0] < end) & (start < spans[:, 1]))


def _room(rules: Sequence[RoleRule], counts: IntArray, most: IntArray) -> IntArray | None:
    """Return how often roles can still be filled; 0 where a hard rule has no room for one more.

    None where a hard rule cannot be satisfied any more.
    """
    room = most.copy()
    for rule in rules:
        if rule.penalty < inf:
            continue
        if rule.kind == "linear":
            least = sum(a * max(0, room[role]) for role, a in rule.terms if a < 0.0)
            left = ROUNDING - rule.excess(counts.tolist()) - least
            if left < 0.0:
                return None
            for role, a in rule.terms:
                if a > left:
                    room[role] = 0
            continue
        (first, _), (second, _) = rule.terms
        if rule.kind == "both":
            room[first] *= counts[second] == 0
            room[second] *= counts[first] == 0
        else:
            room[first] *= counts[second] + room[second] > 0
    return room


def _chain(spans: IntArray, best: FloatArray) -> float:
    """Return the largest sum over spans that do not overlap."""
    starts: dict[int, list[int]] = {}
    for s, start in enumerate(spans[:, 0].tolist()):
        starts.setdefault(start, []).append(s)
    rest = [0.0] * (int(spans.max(initial=0)) + 1)
    for t in range(len(rest) - 2, -1, -1):
        ahead = (float(best[s]) + rest[int(spans[s, 1])] for s in starts.get(t, ()))
        rest[t] = max([rest[t + 1], *ahead])
    return rest[0]


def _sum(best: FloatArray) -> float:
    """Return the largest sum over pairs that do not mind each other."""
    return float(np.maximum(best, 0.0).sum())
