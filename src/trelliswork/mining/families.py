"""The families of rules for mining, as arrays of candidates.

========================  ====================================================================
template                  rules, for all segment names ``i`` and ``j``
========================  ====================================================================
``"singleton"``           ``at_most(1, i)``
``"pairwise"``            ``count(i) + count(j)`` and ``count(i) - count(j)``, ``<=`` and
                          ``>=`` 0, 1, 2 and 3
``"hierarchical"``        ``count(i) - count(j) <= 0`` for elements of the hierarchy, at any depth
                          (``**/person``), and for a parent and its child or two children of one
                          parent; labels that are no paths have none
``"precedence"``          ``precedes(i, j)``, unless one is a part of the other
========================  ====================================================================

Each rule occurs once: ``count(i) - count(j) >= 0`` is ``count(j) - count(i) <= 0``. Rules that
always hold, such as a sum of counts ``>= 0``, are left out. All four are comparisons of two columns
of `Occurrences`:

    degree(y) = max(0, a · n_left(y) + b · n_right(y) − bound)
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, permutations
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np

from trelliswork.constraints import at_most, count, precedes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trelliswork._typing import IdArray, IntArray
    from trelliswork.constraints import Constraint
    from trelliswork.mining.counts import Columns, Occurrences

__all__ = ["TEMPLATES", "Candidates", "Template", "candidates"]

Template: TypeAlias = Literal["singleton", "pairwise", "hierarchical", "precedence"]
TEMPLATES: tuple[Template, ...] = get_args(Template)
BOUNDS = range(4)
"""Bounds of pairwise rules, as in the paper."""

AT_ONCE = 4_000_000  # entries of candidates × sentences: 16 MB


@dataclass(frozen=True, eq=False)
class Candidates:
    """``K`` candidate rules of one template.

    Attributes
    ----------
    template
        The family.
    terms
        Columns and their coefficients, ``(left, a, right, b)``, shape ``(K, 4)``.
    bounds
        Shape ``(K,)``.
    """

    template: Template
    terms: IdArray
    bounds: IdArray

    def __len__(self) -> int:
        return len(self.bounds)

    def take(self, chosen: IntArray) -> Candidates:
        """Return some of the candidates."""
        return Candidates(self.template, self.terms[chosen], self.bounds[chosen])

    def degrees(self, seen: Occurrences) -> Iterator[IdArray]:
        """Yield the violations of the rules, shape ``(k, n)``, for some rules at a time."""
        step = max(1, AT_ONCE // max(1, seen.table.shape[1]))
        for begin in range(0, len(self), step):
            left, a, right, b = self.terms[begin : begin + step].T
            degree = seen.table[left] * a[:, None]
            degree += seen.table[right] * b[:, None]
            degree -= self.bounds[begin : begin + step, None]
            # Precedence is broken or not: the distance of two positions is meaningless.
            yield np.clip(degree, 0, 1 if self.template == "precedence" else None)

    def violation_counts(self, seen: Occurrences) -> IntArray:
        """Return the number of labellings that break each rule, shape ``(K,)``."""
        counts = [np.count_nonzero(degree, axis=1) for degree in self.degrees(seen)]
        return np.concatenate([np.zeros(0, dtype=np.int64), *counts])

    def constraint(self, columns: Columns, index: int) -> Constraint:
        """Return one candidate as a hard rule, in its usual notation."""
        left, a, right, b = self.terms[index].tolist()
        bound = int(self.bounds[index])
        names = columns.countable
        if self.template == "singleton":
            return at_most(bound, names[left])
        if self.template == "precedence":
            return precedes(names[left - columns.last], names[right - columns.first])
        one, other = count(names[left]), count(names[right])
        if a == b:
            return one + other <= bound if a > 0 else one + other >= -bound
        return one - other <= bound if bound >= 0 else other - one >= -bound


def candidates(template: Template, columns: Columns) -> Candidates:
    """Return all rules of a template about the names of a table."""
    names = range(len(columns.names))
    if template == "singleton":
        return _collect(template, [((i, 1, columns.zero, 0), (1,)) for i in names])
    if template == "precedence":
        starts = [
            (columns.last + i, 1, columns.first + j, -1)
            for i, j in permutations(names, 2)
            if not _is_inside(columns.names[i], columns.names[j])
        ]
        return _collect(template, [(terms, (0,)) for terms in starts])
    if template == "hierarchical":
        return _collect(template, [((i, 1, j, -1), (0,)) for i, j in _related(columns)])
    most, least = tuple(BOUNDS), tuple(-k for k in BOUNDS if k > 0)
    sums = [
        ((i, sign, j, sign), bounds)
        for i, j in combinations(names, 2)
        for sign, bounds in ((1, most), (-1, least))
    ]
    # i − j >= k is j − i <= −k: over both orders of a pair, each rule comes once.
    differences = [((i, 1, j, -1), most + least) for i, j in permutations(names, 2)]
    return _collect(template, [*sums, *differences])


def _is_inside(one: str, other: str) -> bool:
    """Return whether segments of one name lie within those of the other, unordered."""
    return other.startswith(f"{one}/") or one.startswith(f"{other}/")


def _related(columns: Columns) -> list[tuple[int, int]]:
    """Return the ordered pairs of columns that hierarchical rules compare."""
    if columns.labels.scheme != "path":
        return []
    merged = {i for places in columns.elements.values() for i in places}
    anywhere = [i for i in range(columns.zero) if i not in merged]  # elements, each once
    pairs = dict.fromkeys(permutations(anywhere, 2))
    parents = [name.rpartition("/")[0] for name in columns.names]
    for i, j in permutations(range(len(parents)), 2):
        siblings = parents[i] == parents[j] != ""
        if siblings or columns.names[i] == parents[j] or columns.names[j] == parents[i]:
            pairs[i, j] = None
    return list(pairs)


def _collect(
    template: Template, found: Iterable[tuple[tuple[int, int, int, int], tuple[int, ...]]]
) -> Candidates:
    rows = [(*terms, bound) for terms, bounds in found for bound in bounds]
    table = np.array(rows, dtype=np.int32).reshape(-1, 5)
    return Candidates(template, table[:, :4], table[:, 4])
