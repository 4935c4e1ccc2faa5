"""Certificates of factor graphs: proofs that an assignment is the best one.

An assignment ``z`` of a graph with scores ``c`` and factors ``m`` has the score
``c·z + Σ_m h_m(z_m)``. For any *shares* ``θ_mk``, the parts of the scores of variables that are
given to links,

    D(θ) = Σ_m max_{z ∈ Z_m} [ θ_m·z + h_m(z) ] + Σ_j max_{z_j} (c_j − Σ_{links of j} θ) z_j
         ≥ max_z c·z + Σ_m h_m(z_m)

because on the right all factors have to agree. A certificate splits the assignments into *leaves*
by decisions about variables, each with shares of its own. Every maximum is over the values that
agree with the decisions and with the values that these force. If no leaf has a ``D`` above the
score of ``z``, nothing is better than ``z``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trelliswork.proofs.certificate import Certificate, Leaf

if TYPE_CHECKING:
    from trelliswork._typing import FloatArray

__all__ = ["GraphCertificate", "GraphDecision", "GraphLeaf"]

GraphDecision = tuple[int, bool]
"""A variable and its value."""


@dataclass(frozen=True, eq=False)
class GraphLeaf(Leaf[GraphDecision]):
    """Some of the assignments, and shares that bound the best of them.

    Attributes
    ----------
    decisions : tuple of (int, bool)
        The decisions shared by the assignments of the leaf, from the root of the search on:
        variables and their values.
    shares : numpy.ndarray
        ``θ``, the part of the score of its variable that each link gets, shape ``(K,)``.
    """

    shares: FloatArray


@dataclass(frozen=True, eq=False, repr=False)
class GraphCertificate(Certificate[GraphLeaf]):
    """The proof that no assignment is better.

    Attributes
    ----------
    leaves : tuple of GraphLeaf
        Every assignment belongs to one of them.
    """

    leaves: tuple[GraphLeaf, ...]
