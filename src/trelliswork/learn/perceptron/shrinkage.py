"""Sparse perceptrons: proximal steps between updates.

    (w, ρ) ← argmin_z ½ ‖z − (w, ρ)‖² + share × Ω(z)        after every batch of sentences

with ``share`` the share of the batch in all sentences, so that an epoch applies ``Ω`` once: online
proximal learning with the loss of the perceptron, the *sparseptron* of Martins, Smith, Figueiredo
and Aguiar, "Structured Sparsity in Structured Prediction" (2011). Weights that the updates do not
restore are exactly 0 after the step.

A step is an update like any other, ``Δ = z − w``, and part of all later iterates, which keeps the
average exact. An average over all iterates is hardly ever 0. So a weight that is 0 in the last
iterate is 0 in the result, and the other weights are averaged.
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

LEAST_STEPS = 10  # per epoch, given as many sentences


@dataclass(frozen=True)
class Sparsity:
    """The regularizer of a perceptron.

    Attributes
    ----------
    l1 : float
        Coefficient of the l1 norm of all weights and learned penalties.
    groups : GroupLasso or None
        Group norms.
    debias : bool
        Whether the nonzero weights are learned again without the regularizer.
    """

    l1: float = 0.0
    groups: GroupLasso | None = None
    debias: bool = False

    @property
    def is_on(self) -> bool:
        """Whether there is anything to shrink."""
        return self.l1 > 0 or (self.groups is not None and any(self.groups.strengths))


@dataclass(frozen=True, eq=False)
class Support:
    """Masks of the nonzero weights and penalties.

    Attributes
    ----------
    tables : tuple of numpy.ndarray
        Mask of each table of weights.
    penalties : numpy.ndarray
        Mask of the penalties, shape ``(C,)``.
    """

    tables: tuple[BoolArray, ...]
    penalties: BoolArray

    def hold(self, weights: PerceptronWeights) -> None:
        """Restrict updates to these weights."""
        for table, own in zip(weights.tables, self.tables, strict=True):
            table.learned = own

    def held_penalties(self, given: FloatArray) -> FloatArray:
        """Return given penalties, with 0 for the learned ones outside the support."""
        return np.where(np.isnan(given) & ~self.penalties, 0.0, given)


class Shrinkage:
    """Proximal steps on the weights and learned penalties of a perceptron.

    Parameters
    ----------
    sparsity
        ``Ω``.
    weights, penalties
        The weights and penalties, updated in place.
    encoder
        The features.
    n_sentences
        Number of sentences of an epoch.
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
        """Yield the sentences of an epoch in batches; a step follows each."""
        size = min(SENTENCES_AT_ONCE, max(1, -(-self._n_sentences // LEAST_STEPS)))
        for first in range(0, order.size, size):
            yield order[first : first + size]

    def step(self, n_seen: int) -> None:
        """Shrink the weights after `n_seen` sentences."""
        weights, penalties = self._weights, self._penalties
        flat = [
            *(t.values.reshape(-1) for t in weights.tables),
            penalties.values[penalties.learned],
        ]
        # Zeros stay 0 and add nothing to the norms: usually most of the table.
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
        """Return the current support; all penalties without l1."""
        return Support(
            tuple(table.values != 0.0 for table in self._weights.tables),
            (self._penalties.values != 0.0) | (not self._shrinks_penalties),
        )

    @property
    def n_alive(self) -> int:
        """Number of nonzero weights and learned penalties."""
        n_weights = sum(int(np.count_nonzero(table.values)) for table in self._weights.tables)
        learned = self._penalties.values[self._penalties.learned]
        return n_weights + int(np.count_nonzero(learned))
