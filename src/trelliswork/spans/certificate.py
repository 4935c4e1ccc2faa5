"""Certificates of assignments: what proves one the best, without the search that found it.

    P(y) = score(y) − Σ_c ρ_c v_c(n(y))

Every rule has a row below its violation, so that for prices ``λ_c`` in ``[0, ρ_c]``

    G(y) = score(y) − Σ_c λ_c (a_c·n(y) − b_c)  ≥  P(y)

and ``max_y G(y)`` is one pass over a chain of spans. A certificate splits the assignments into
*leaves* by decisions about spans and roles, each with prices of its own; the maximum is over what
the decisions and hard rules leave open, and where that is nothing, the decisions are the
assignment. Where no leaf has a maximum above ``P(y)``, nothing is better than ``y``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["SpanCertificate", "SpanDecision", "SpanLeaf"]

SpanDecision = tuple[int, int, bool]
"""The index of a span, the index of a role, and whether that span fills that role."""


@dataclass(frozen=True, eq=False)
class SpanLeaf:
    """Some of the assignments, and what bounds the best of them.

    Attributes
    ----------
    decisions : tuple of (int, int, bool)
        What the assignments of the leaf have in common, from the root of the search on.
    prices : numpy.ndarray
        ``λ``, in the order of the rules, shape ``(C,)``.
    """

    decisions: tuple[SpanDecision, ...]
    prices: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SpanCertificate:
    """Why no assignment is better: every assignment belongs to one of the leaves.

    Attributes
    ----------
    decision_offsets : numpy.ndarray
        The decisions of leaf ``i`` are those from ``decision_offsets[i]`` to
        ``decision_offsets[i + 1]``, shape ``(leaves + 1,)``.
    decisions : numpy.ndarray
        Indices of spans and roles, and 1 where the span fills the role, shape ``(D, 3)``.
    prices : numpy.ndarray
        ``λ`` of each leaf, shape ``(leaves, C)``.
    """

    decision_offsets: NDArray[np.int64]
    decisions: NDArray[np.int64]
    prices: NDArray[np.float64]

    @property
    def leaves(self) -> list[SpanLeaf]:
        """The leaves, one by one."""
        decided = [(s, r, taken != 0) for s, r, taken in self.decisions.tolist()]
        ends = self.decision_offsets.tolist()
        return [
            SpanLeaf(tuple(decided[first:end]), prices)
            for first, end, prices in zip(ends, ends[1:], self.prices, strict=False)
        ]

    def __repr__(self) -> str:
        return f"SpanCertificate({len(self.prices)} leaves)"
