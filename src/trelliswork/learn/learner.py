"""The learner interface used by CoDL: `learn` and `mix`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trelliswork._typing import FloatArray
    from trelliswork.features import Encoder
    from trelliswork.models.model import CRFModel
    from trelliswork.models.structure import Structure
    from trelliswork.planning.plan import Plan

__all__ = ["Learned", "Learner"]


@dataclass(frozen=True, eq=False)
class Learned:
    """The result of learning, ``(w, ρ)``.

    Attributes
    ----------
    model : CRFModel
        The weights ``w``.
    plan : Plan
        The constraints for decoding, with their penalties ``ρ``.
    """

    model: CRFModel
    plan: Plan

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended learning early."""
        return False


class Learner(Protocol):
    """A learner of ``(w, ρ)`` with fixed labels, structure, features and constraints.

    All models of a learner have the same structure and encoder, so that they can be mixed.
    """

    structure: Structure
    encoder: Encoder

    def learn(
        self,
        sequences: Sequence[Any],
        names: Sequence[Sequence[str]],
        weights: FloatArray | None = None,
    ) -> Learned:
        """Learn from labelled sequences.

        Parameters
        ----------
        sequences, names
            The sequences and their labels, all known.
        weights
            Weight of each sequence, shape ``(B,)``. Default: 1.
        """

    def mix(self, first: CRFModel, second: CRFModel, share: float) -> CRFModel:
        """Return a convex combination of two models.

        The combination is of probabilities for a hidden Markov model, and of weights otherwise.

        Parameters
        ----------
        first, second
            Models of this learner.
        share
            The share of the first model, from 0 to 1.
        """
