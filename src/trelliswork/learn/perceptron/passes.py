"""Passes of the structured perceptron over its sentences, in the core or in Python.

The core decodes and learns if there are neither constraints nor features on transitions. Both kinds
of passes give the same weights, bit for bit. ``B`` sentences, ``N`` tokens,
``C`` constraints.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from trelliswork import _core
from trelliswork.inference.trellis import Trellis
from trelliswork.learn.perceptron.weights import rows_of_sentences

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trelliswork._typing import BoolArray, FloatArray, IdArray, IntArray
    from trelliswork.features import EncodedFeatures
    from trelliswork.learn.perceptron.answers import ConstrainedAnswers, FreeAnswers
    from trelliswork.learn.perceptron.weights import PerceptronWeights


__all__ = ["CorePass", "Penalties", "SentencePass", "Sentences"]

SENTENCES_AT_ONCE = 1024  # in one call of the core; Ctrl-C waits for its end


@dataclass(frozen=True, eq=False)
class Sentences:
    """Labelled sentences.

    Attributes
    ----------
    sequences : sequence
        The sentences as they were given.
    features : EncodedFeatures
        Their features.
    gold : numpy.ndarray
        ``y*``, shape ``(N,)``.
    amounts : numpy.ndarray
        ``a``, the weight of each, shape ``(B,)``.
    """

    sequences: Sequence[Any]
    features: EncodedFeatures
    gold: IdArray
    amounts: FloatArray

    def __len__(self) -> int:
        return len(self.amounts)


class Penalties:
    """The penalties ``ρ`` of all constraints, given or learned from 0.

    Parameters
    ----------
    given
        Shape ``(C,)``; nan where the penalty is to be learned.

    Attributes
    ----------
    values : numpy.ndarray
        ``ρ``, shape ``(C,)``.
    learned : numpy.ndarray
        Indices of the learned penalties.
    """

    def __init__(self, given: FloatArray) -> None:
        self.learned = np.flatnonzero(np.isnan(given))
        self.values = np.where(np.isnan(given), 0.0, given)
        self._sum = np.zeros(self.learned.size)
        self._n_steps = 0

    def update(self, found: IntArray, gold: IntArray, amount: float) -> None:
        """Add the violations of the answer, ``v(ŷ)``, less those of gold, ``v(y*)``."""
        change = amount * (found - gold)[self.learned]
        self.values[self.learned] = np.maximum(0.0, self.values[self.learned] + change)

    def count(self, n_visits: int = 1) -> None:
        """Count sentences in the average."""
        self._sum += n_visits * self.values[self.learned]
        self._n_steps += n_visits

    def result(self, *, average: bool, support: BoolArray | None = None) -> FloatArray:
        """Return the penalties, averaged over all steps or the last, shape ``(C,)``.

        Parameters
        ----------
        average
            Whether to average.
        support
            Mask of the penalties that may be nonzero, shape ``(C,)``. Default: all.
        """
        found = self.values.copy()
        if average and self._n_steps:
            found[self.learned] = self._sum / self._n_steps
            if support is not None:
                found[~support] = 0.0
        return found


class CorePass:
    """Passes without constraints and without features on transitions.

    Parameters
    ----------
    weights
        The weights, updated in place.
    sentences
        The training set.
    """

    def __init__(self, weights: PerceptronWeights, sentences: Sentences) -> None:
        features, structure = sentences.features, weights.structure
        fired_offsets, fired = structure.patterns.fired(sentences.gold, features.offsets)
        self._weights = weights
        self._core = _core.Perceptron(
            structure.automaton._core,
            features.offsets,
            features.state.indptr,
            features.state.indices,
            features.state.values,
            features.state.n_features,
            sentences.gold,
            fired_offsets,
            fired,
            sentences.amounts,
        )

    def run(self, order: IntArray) -> tuple[int, int]:
        """Learn from sentences in this order; return the numbers of wrong sentences and tokens."""
        weights = self._weights
        state, patterns = weights.state, weights.patterns
        mistakes = wrong_tokens = 0
        for first in range(0, order.size, SENTENCES_AT_ONCE):
            chosen = order[first : first + SENTENCES_AT_ONCE]
            found = self._core.run(
                chosen,
                weights.step,
                state.values,
                state.late,
                patterns.values[0],
                patterns.late[0],
                None if state.learned is None else state.learned.view(np.uint8),
                None if patterns.learned is None else patterns.learned[0].view(np.uint8),
            )
            weights.step += chosen.size
            mistakes, wrong_tokens = mistakes + found[0], wrong_tokens + found[1]
        return mistakes, wrong_tokens


class SentencePass:
    """Passes that decode one sentence after the other, with or without constraints.

    Parameters
    ----------
    weights
        The weights, updated in place.
    sentences
        The training set.
    answers
        The decoder.
    penalties
        ``ρ``, updated in place.
    """

    def __init__(
        self,
        weights: PerceptronWeights,
        sentences: Sentences,
        answers: FreeAnswers | ConstrainedAnswers,
        penalties: Penalties,
    ) -> None:
        features = sentences.features
        self._weights, self._answers, self._penalties = weights, answers, penalties
        self._amounts = sentences.amounts.tolist()
        self._gold = np.split(sentences.gold, features.offsets[1:-1])
        self._state = rows_of_sentences(features.state, features.offsets)
        self._edge = None
        if weights.edge is not None and features.edge is not None:
            self._edge = rows_of_sentences(features.edge, features.offsets)

    def run(self, order: IntArray) -> tuple[int, int]:
        """Learn from sentences in this order; return the numbers of wrong sentences and tokens."""
        wrong_tokens = [self.visit(b) for b in order.tolist()]
        return sum(n > 0 for n in wrong_tokens), sum(wrong_tokens)

    def visit(self, b: int) -> int:
        """Learn from one sentence; return its number of wrong tokens."""
        gold, amount = self._gold[b], self._amounts[b]
        edge = None if self._edge is None else self._edge[b]
        answer = self._answers.best(b, self._trellis(b), self._penalties.values)
        n_wrong = int((answer.labels != gold).sum())
        if n_wrong:
            self._weights.update(self._state[b], edge, gold, answer.labels, amount)
            self._penalties.update(answer.violations, self._answers.gold_violations[b], amount)
        self._weights.step += 1
        self._penalties.count()
        return n_wrong

    def _trellis(self, b: int) -> Trellis:
        weights = self._weights
        positions = None
        if weights.edge is not None and self._edge is not None:
            positions = self._edge[b] @ weights.edge.values
        return Trellis(
            self._state[b] @ weights.state.values,
            weights.structure.automaton,
            weights=weights.patterns.values[0],
            position_weights=positions,
        )
