"""`PaddedBatch`: the arguments of every recursion of the layer."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["PaddedBatch"]


class PaddedBatch(NamedTuple):
    """The scores of a padded batch of ``B`` sequences of up to ``T`` tokens with ``K`` tags.

    Attributes
    ----------
    emissions
        ``φ``, float32 or float64, shape ``(T, B, K)``, or ``(B, T, K)`` with `batch_first`.
    tags
        Gold tags, int64, the first two axes of `emissions`; ``None``: ``log Z`` alone is wanted.
    mask
        True at the tokens, bool, the first two axes of `emissions`; ``None``: everywhere.
    start, end, transitions
        Shapes ``(K,)``, ``(K,)`` and ``(K, K)``.
    batch_first
        The order of the axes.
    """

    emissions: Tensor
    tags: Tensor | None
    mask: Tensor | None
    start: Tensor
    end: Tensor
    transitions: Tensor
    batch_first: bool

    @property
    def scores(self) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """The differentiable tensors: emissions, start, end, transitions."""
        return self.emissions, self.start, self.end, self.transitions

    @property
    def n_sequences(self) -> int:
        """``B``."""
        return self.emissions.shape[0 if self.batch_first else 1]

    @property
    def n_positions(self) -> int:
        """``T``."""
        return self.emissions.shape[1 if self.batch_first else 0]
