"""What semi-supervised learning needs of any way to learn a model: to learn, and to mix models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from trelliswork.features import Encoder
    from trelliswork.models.model import CRFModel
    from trelliswork.models.structure import Structure
    from trelliswork.planning.plan import Plan

__all__ = ["Learned", "Learner"]


@dataclass(frozen=True, eq=False)
class Learned:
    """What was learned: ``(w, ρ)``.

    Attributes
    ----------
    model : CRFModel
        The weights ``w``.
    plan : Plan
        The constraints that the model decodes under, with their penalties ``ρ``.
    """

    model: CRFModel
    plan: Plan

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended learning early."""
        return False


class Learner(Protocol):
    """A way to learn ``(w, ρ)``, settled on labels, structure, features and constraints.

    All models of one learner have the same structure and encoder, so that they can be mixed.
    """

    structure: Structure
    encoder: Encoder

    def learn(
        self,
        sequences: Sequence[Any],
        names: Sequence[Sequence[str]],
        weights: NDArray[np.float64] | None = None,
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
        """Return the convex combination of two models: `share` of the first, the rest the second.

        In the space where the learner's parameters live: probabilities or weights.
        """
