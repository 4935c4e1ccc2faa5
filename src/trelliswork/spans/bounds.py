"""Dual bounds of leaves: one pass over a chain of spans.

Python on the table and the rules, without the solver in the core: prices and decisions are given,
nothing is searched. See `trelliswork.spans.certificate`.
"""

from __future__ import annotations

from math import ceil, floor, inf
from typing import TYPE_CHECKING

import numpy as np

from trelliswork.proofs.answer import TOLERANCE
from trelliswork.spans.answers import gains, null_constant

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trelliswork._typing import BoolArray, FloatArray, IntArray
    from trelliswork.spans.certificate import SpanLeaf
    from trelliswork.spans.rules import RoleRule, SpanRulebook
    from trelliswork.spans.table import SpanTable


__all__ = ["leaf_bound"]

EPSILON = float(np.finfo(np.float64).eps)


def leaf_bound(
    table: SpanTable,
    book: SpanRulebook,
    leaf: SpanLeaf,
) -> float:
    """Return ``max G(y)`` over the assignments of a leaf; ``-inf`` without any.

    A bound on the rounding error is added.

    Parameters
    ----------
    table, book
        The table and its rules.
    leaf
        The leaf.
    """
    scores = gains(table)
    most = np.minimum(book.most, len(table.spans))
    is_open = scores > -inf if book.apart else _best_of_each_role(scores, most)
    counts: IntArray = np.zeros(len(table.roles), dtype=np.int64)
    total = null_constant(table)
    for span, role, taken in leaf.decisions:
        if taken and not is_open[span, role]:
            return -inf  # decisions that contradict each other
        if taken:
            total += float(scores[span, role])
            counts[role] += 1
        if taken and book.apart:
            is_open[_overlapping(table.spans, span)] = False
        is_open[span, role] = False
    limits = _narrowed(book.rules, counts, np.minimum(most, counts + is_open.sum(axis=0)))
    if limits is None:
        return -inf
    is_open &= limits > counts
    if not is_open.any():
        broken = [(rule.penalty, rule.violation(counts.tolist())) for rule in book.rules]
        return total - sum(penalty * degree for penalty, degree in broken if degree)
    paid: FloatArray = np.zeros(len(table.roles))
    terms = [total]
    for rule, price in zip(book.rules, leaf.prices, strict=True):
        terms += [-price * a * int(counts[role]) for role, a in rule.terms]
        terms.append(price * rule.bound)
        for role, coefficient in rule.terms:
            paid[role] += price * coefficient
    best = np.where(is_open, scores - paid, -inf)
    chain = _chain(table.spans, best.max(axis=1)) if book.apart else _sum(best)
    # Only spans with a positive sum are taken, so only the parts can be larger than the sum.
    parts = np.abs(scores[is_open]).max() + (len(leaf.prices) + 1) * np.abs(paid).max()
    n_taken = min(len(table.spans), int(limits.sum())) if book.apart else int(limits.sum())
    rounding = len(terms) * sum(map(abs, terms)) + best.size * chain + 2 * n_taken * float(parts)
    bound = sum(terms) + chain + EPSILON * rounding
    return bound if np.isfinite(bound) else inf


def _best_of_each_role(scores: FloatArray, most: IntArray) -> BoolArray:
    """Return the best spans of each role: rules depend on their number only."""
    kept = np.zeros(scores.shape, dtype=bool)
    for role, limit in enumerate(most.tolist()):
        kept[np.argsort(-scores[:, role], kind="stable")[:limit], role] = True
    return np.asarray(kept & (scores > -inf))


def _overlapping(spans: IntArray, span: int) -> BoolArray:
    start, end = spans[span]
    return np.asarray((spans[:, 0] < end) & (start < spans[:, 1]))


def _narrowed(rules: Sequence[RoleRule], least: IntArray, most: IntArray) -> IntArray | None:
    """Return upper bounds of the counts of roles, by propagation of the hard rules.

        Σ_r a_r n_r ≤ b   ⟹   a_r n_r ≤ b − Σ_{q ≠ r} min(a_q least_q, a_q most_q)

    until nothing changes. None if no counts are left.
    """
    low, high = least.tolist(), most.tolist()
    hard = [rule for rule in rules if rule.penalty == inf]
    changed = True
    while changed:
        changed = False
        for rule in hard:
            lowest = {role: a * (low if a > 0.0 else high)[role] for role, a in rule.terms}
            room = rule.bound + TOLERANCE - sum(lowest.values())
            for role, a in rule.terms:
                limit = (room + lowest[role]) / a
                if a > 0.0 and floor(limit) < high[role]:
                    high[role], changed = floor(limit), True
                elif a < 0.0 and ceil(limit) > low[role]:
                    low[role], changed = ceil(limit), True
            if room < 0.0 or any(low[role] > high[role] for role, _ in rule.terms):
                return None
    return np.array(high, dtype=np.int64)


def _chain(spans: IntArray, best: FloatArray) -> float:
    """Return the largest sum over spans that do not overlap."""
    edges, places = np.unique(spans, return_inverse=True)
    ends: list[list[tuple[int, float]]] = [[] for _ in range(edges.size)]
    for (start, end), score in zip(places.reshape(-1, 2).tolist(), best.tolist(), strict=True):
        ends[start].append((end, score))
    rest = [0.0] * (edges.size + 1)
    for t in range(edges.size - 1, -1, -1):
        rest[t] = max([rest[t + 1], *(score + rest[end] for end, score in ends[t])])
    return rest[0]


def _sum(best: FloatArray) -> float:
    """Return the largest sum over pairs that are independent of each other."""
    return float(np.maximum(best, 0.0).sum())
