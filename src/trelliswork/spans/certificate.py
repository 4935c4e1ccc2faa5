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

from trelliswork.proofs.certificate import Certificate, Leaf

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["SpanCertificate", "SpanDecision", "SpanLeaf"]

SpanDecision = tuple[int, int, bool]
"""The index of a span, the index of a role, and whether that span fills that role."""


@dataclass(frozen=True, eq=False)
class SpanLeaf(Leaf[SpanDecision]):
    """Some of the assignments, and what bounds the best of them.

    Attributes
    ----------
    decisions : tuple of (int, int, bool)
        What the assignments of the leaf have in common, from the root of the search on.
    prices : sequence of float
        ``λ``, in the order of the rules, shape ``(C,)``.
    """

    prices: Sequence[float]


@dataclass(frozen=True, eq=False, repr=False)
class SpanCertificate(Certificate[SpanLeaf]):
    """The proof that no assignment is better.

    Attributes
    ----------
    leaves : tuple of SpanLeaf
        Every assignment belongs to one of them.
    """

    leaves: tuple[SpanLeaf, ...]
