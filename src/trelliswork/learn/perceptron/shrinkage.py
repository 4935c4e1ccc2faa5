"""Sparse perceptrons: proximal steps between the updates.

    (w, ρ) ← argmin_z ½ ‖z − (w, ρ)‖² + share × Ω(z)        after every batch of sentences

with ``share`` the sentences of the batch among all, so that an epoch makes up for one ``Ω``: online
proximal learning with the loss of the perceptron, the *sparseptron* of Martins, Smith, Figueiredo
and Aguiar, "Structured Sparsity in Structured Prediction" (2011). What no batch brings back fast
enough is exactly 0 after the step.

A step is an update as any other, ``Δ = z − w``, and part of all iterates after it, which keeps the
average exact. An average over all iterates is hardly ever 0. So what is 0 at the last iterate is 0
in the result, and the rest has its average.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from trelliswork.learn.perceptron.passes import SENTENCES_AT_ONCE
from trelliswork.learn.sparsity.regularizer import Regularizer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trelliswork._typing import BoolArray, FloatArray, IntArray
    from trelliswork.features import Encoder
    from trelliswork.learn.perceptron.passes import Penalties
    from trelliswork.learn.perceptron.weights import PerceptronWeights
    from trelliswork.learn.sparsity.group_lasso import GroupLasso


__all__ = ["Shrinkage", "Sparsity", "Support"]

LEAST_STEPS = 10  # an epoch, where there are as many sentences


@dataclass(frozen=True)
class Sparsity:
    """What makes weights exactly 0.

    Attributes
    ----------
    l1 : float
        Coefficient of the l1 norm of all weights, and of penalties that are learned.
    groups : GroupLasso or None
        Norms of groups of weights.
    debias : bool
        Whether what survives is learned once more by itself.
    """

    l1: float = 0.0
    groups: GroupLasso | None = None
    debias: bool = False

    @property
    def is_on(self) -> bool:
        """Whether anything is shrunk at all."""
        return self.l1 > 0 or (self.groups is not None and any(self.groups.strengths))


@dataclass(frozen=True, eq=False)
class Support:
    """What is not 0.

    Attributes
    ----------
    tables : tuple of numpy.ndarray
        Of each table of weights.
    penalties : numpy.ndarray
        Of the penalties, shape ``(C,)``.
    """

    tables: tuple[BoolArray, ...]
    penalties: BoolArray

    def hold(self, weights: PerceptronWeights) -> None:
        """Let updates change these weights only."""
        for table, own in zip(weights.tables, self.tables, strict=True):
            table.learned = own

    def held_penalties(self, given: FloatArray) -> FloatArray:
        """Return penalties, nan where they are to be learned, of which the others are 0."""
        return np.where(np.isnan(given) & ~self.penalties, 0.0, given)


class Shrinkage:
    """Proximal steps on the weights of a perceptron, and on the penalties it learns.

    Parameters
    ----------
    sparsity
        ``Ω``.
    weights, penalties
        What is shrunk, in place.
    encoder
        The features.
    n_sentences
        Sentences of an epoch.
    """

    def __init__(
        self,
        sparsity: Sparsity,
        weights: PerceptronWeights,
        penalties: Penalties,
        encoder: Encoder,
        n_sentences: int,
    ) -> None:
        self._weights, self._penalties = weights, penalties
        self._shrinks_penalties = sparsity.l1 > 0
        self._n_sentences = n_sentences
        layout = weights.layout(penalties.learned.size)
        groups = sparsity.groups
        levels = () if groups is None else groups.levels(layout, encoder)
        self._regularizer = Regularizer(layout.size, sparsity.l1, levels, layout.penalties)

    def batches(self, order: IntArray) -> Iterator[IntArray]:
        """Return the sentences of an epoch in the batches that a step follows."""
        size = min(SENTENCES_AT_ONCE, max(1, -(-self._n_sentences // LEAST_STEPS)))
        for first in range(0, order.size, size):
            yield order[first : first + size]

    def step(self, n_seen: int) -> None:
        """Shrink the weights for so many sentences."""
        weights, penalties = self._weights, self._penalties
        flat = [
            *(t.values.reshape(-1) for t in weights.tables),
            penalties.values[penalties.learned],
        ]
        # What is 0 stays so, and does not count in any norm: most of the table, as a rule.
        alive = [np.flatnonzero(values) for values in flat]
        starts = np.cumsum([0, *(values.size for values in flat[:-1])])
        places = np.concatenate([s + own for s, own in zip(starts, alive, strict=True)])
        before = np.concatenate([values[own] for values, own in zip(flat, alive, strict=True)])
        share = n_seen / max(self._n_sentences, 1)
        after = np.split(
            self._regularizer.take(places).prox(before, share),
            np.cumsum([own.size for own in alive])[:-1],
        )
        for table, own, new in zip(weights.tables, alive, after, strict=False):
            table.move(own, new, weights.step)
        penalties.values[penalties.learned[alive[-1]]] = after[-1]

    def support(self) -> Support:
        """Return what is not 0 now; all penalties where nothing shrinks them."""
        return Support(
            tuple(table.values != 0.0 for table in self._weights.tables),
            (self._penalties.values != 0.0) | (not self._shrinks_penalties),
        )

    @property
    def n_alive(self) -> int:
        """Weights and learned penalties that are not 0."""
        n_weights = sum(int(np.count_nonzero(table.values)) for table in self._weights.tables)
        learned = self._penalties.values[self._penalties.learned]
        return n_weights + int(np.count_nonzero(learned))
