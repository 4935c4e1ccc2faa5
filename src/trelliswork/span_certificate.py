"""Certificates of assignments: what proves one the best, without the search that found it.

    P(y) = score(y) − Σ_c ρ_c v_c(n(y))

For prices ``λ_c`` in ``[0, ρ_c]`` of the rules that are not counted exactly,

    G(y) = score(y) − Σ_{c counted} ρ_c v_c(n(y)) − Σ_{c not} λ_c (a_c·n(y) − b_c)  ≥  P(y)

and ``max_y G(y)`` is a dynamic program over spans and the counts of some roles: those of the rules
that are counted. A certificate splits the assignments into *leaves*, each with prices and counted
roles of its own: where no leaf has a maximum above ``P(y)``, nothing is better than ``y``.
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
    counted : numpy.ndarray
        The roles whose counts the proof keeps, shape ``(R,)``, boolean. Rules about these alone are
        counted exactly.
    prices : numpy.ndarray
        ``λ``, shape ``(C,)``. Those of rules that are counted do not enter ``G``: they bound what
        counting can come to.
    """

    decisions: tuple[SpanDecision, ...]
    counted: NDArray[np.bool_]
    prices: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SpanCertificate:
    """Why no assignment is better: every assignment belongs to one of the leaves."""

    leaves: tuple[SpanLeaf, ...]
