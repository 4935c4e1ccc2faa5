"""Certificates of assignments of spans: proofs that an assignment is the best one.

    P(y) = score(y) − Σ_c ρ_c v_c(n(y))

The violation of every rule is at least that of its row, so for prices ``λ_c`` in ``[0, ρ_c]``

    G(y) = score(y) − Σ_c λ_c (a_c·n(y) − b_c)  ≥  P(y)

and ``max_y G(y)`` is one pass over a chain of spans. A certificate splits the assignments into
*leaves* by decisions about spans and roles, each with prices of its own. The maximum is over the
pairs that the decisions and hard rules leave open; without any, the decisions are the assignment.
If no leaf has a maximum above ``P(y)``, nothing is better than ``y``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trelliswork.proofs.certificate import Certificate, Leaf

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trelliswork._typing import FloatArray

__all__ = ["SpanCertificate", "SpanDecision", "SpanLeaf"]

SpanDecision = tuple[int, int, bool]
"""The index of a span, the index of a role, and whether that span fills that role."""


@dataclass(frozen=True, eq=False)
class SpanLeaf(Leaf[SpanDecision]):
    """Some of the assignments, and prices that bound the best of them.

    Attributes
    ----------
    decisions : tuple of (int, int, bool)
        The decisions shared by the assignments of the leaf, from the root of the search on.
    prices : numpy.ndarray or sequence of float
        ``λ``, in the order of the rules, shape ``(C,)``.
    """

    prices: FloatArray | Sequence[float]


@dataclass(frozen=True, eq=False, repr=False)
class SpanCertificate(Certificate[SpanLeaf]):
    """The proof that no assignment is better.

    Attributes
    ----------
    leaves : tuple of SpanLeaf
        Every assignment belongs to one of them.
    """

    leaves: tuple[SpanLeaf, ...]
