"""Certificates of graphs: what proves that an assignment is the best one.

A graph with scores ``c`` and factors ``m`` is worth ``c·z + Σ_m h_m(z_m)``. Whatever *shares*
``θ_mk`` of its variables' scores the links get,

    D(θ) = Σ_m max_{z ∈ Z_m} [ θ_m·z + h_m(z) ] + Σ_j max_{z_j} (c_j − Σ_{links of j} θ) z_j
         ≥ max_z c·z + Σ_m h_m(z_m)

because on the right all factors have to agree. A certificate splits the assignments into *leaves*
by decisions about variables, each with shares of its own; every maximum is over what agrees with
the decisions and with what these leave no choice about. Where no leaf has a ``D`` above the value
of ``z``, nothing is better than ``z``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trelliswork.proofs.certificate import Certificate, Leaf

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["GraphCertificate", "GraphDecision", "GraphLeaf"]

GraphDecision = tuple[int, bool]
"""A variable and its value."""


@dataclass(frozen=True, eq=False)
class GraphLeaf(Leaf[GraphDecision]):
    """Some of the assignments, and shares that bound the best of them.

    Attributes
    ----------
    decisions : tuple of (int, bool)
        What the assignments of the leaf have in common, from the root of the search on: variables
        and their values.
    shares : numpy.ndarray
        ``θ``, what each link gets of the score of its variable, shape ``(K,)``.
    """

    shares: NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class GraphCertificate(Certificate[GraphLeaf]):
    """The proof that no assignment is better.

    Attributes
    ----------
    leaves : tuple of GraphLeaf
        Every assignment belongs to one of them.
    """

    leaves: tuple[GraphLeaf, ...]
