"""Certificates of labellings: proofs that a labelling is the best one.

    P(y) = score(y) − Σ_c ρ_c v_c(y)

Every constraint is a sum of *terms*, rows ``max(0, a·n(y) − b)`` and bits. For a set ``K`` of terms
that are counted exactly and prices ``λ_i`` in ``[0, ρ_i]`` of the rows outside ``K``,

    G(y) = score(y) − Σ_{i ∈ K} ρ_i v_i(y) − Σ_{rows i ∉ K} λ_i (a_i·n(y) − b_i)  ≥  P(y)

and ``max_y G(y)`` is one dynamic program. A certificate splits the labellings into *leaves*, each
with prices of its own: if no leaf has a maximum above ``P(y)``, nothing is better than ``y``.
`trelliswork.verify` evaluates these maxima.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from trelliswork.proofs import certificate as proofs

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Certificate", "Decision", "Leaf"]

Decision = tuple[int, frozenset[str], bool]
"""A token, a set of labels, and whether the token's label is one of them."""


@dataclass(frozen=True)
class Leaf(proofs.Leaf[Decision]):
    """Some of the labellings, and prices that bound the best of them.

    Attributes
    ----------
    decisions : tuple of (int, frozenset of str, bool)
        The decisions shared by the labellings of the leaf, from the root of the search on: the
        label of a token is one of a set, or is none of it.
    prices : mapping of int to float
        ``λ`` by the index of its term in ``plan.terms``; rows that are left out have price 0.
        Prices of rows that are counted exactly do not enter ``G``: they bound partial counts, so
        that verification can prune; see `trelliswork.decoding.counted_bounds`.
    """

    decisions: tuple[Decision, ...] = ()
    prices: Mapping[int, float] = field(default_factory=dict)


@dataclass(frozen=True, repr=False)
class Certificate(proofs.Certificate[Leaf]):
    """The proof that no labelling is better.

    Attributes
    ----------
    terms : tuple of int
        The terms that are counted exactly, by their indices in ``plan.terms``.
    leaves : tuple of Leaf
        Every labelling belongs to one of them.
    """

    terms: tuple[int, ...] = ()
    leaves: tuple[Leaf, ...] = (Leaf(),)
