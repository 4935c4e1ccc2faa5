"""Hidden Markov models by smoothed maximum likelihood, from labels or posteriors.

    P(o | y) = (c(o, y) + κ_y P(s | y) P(o | s)) / (c(y) + κ_y)        s: the shape of o
    P(s | y) = (c(s, y) + α) / (c(y) + α S)
    κ_y = λ (1 + number of observations seen with y)
    P(y' | y) = (c(y, y') + τ / (L + 1)) / (c(y) + τ),  and P(end | y) likewise
    P(y_1 = y) = (c(first, y) + τ / L) / (B + τ)

with ``c`` the counts of labelled tokens, or the expected counts under a model. ``κ`` follows Witten
and Bell: a label seen with many different words is likely to occur with more new ones. Expected
counts below 1 add their value to the number of observations seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from trelliswork.inference.verbs import marginals
from trelliswork.learn.learner import Learned
from trelliswork.learn.penalties.counts import count_penalties
from trelliswork.models.batches import feasible_batches
from trelliswork.models.model import CRFModel
from trelliswork.models.pair_weights import PairWeights

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trelliswork._typing import FloatArray
    from trelliswork.features import Encoder, ObservationEncoder
    from trelliswork.learn.protocols import Protocol
    from trelliswork.models.structure import Structure
    from trelliswork.planning.plan import Plan


__all__ = ["HMMCounts", "HMMLearner"]


@dataclass(frozen=True, eq=False)
class HMMCounts:
    """Observed or expected counts.

    Attributes
    ----------
    features : numpy.ndarray
        Number of tokens with each feature and label, shape ``(O + 2, L)``: the observations, then
        first tokens of sequences, then last tokens.
    transitions : numpy.ndarray
        Number of transitions, shape ``(L, L)``.
    """

    features: FloatArray
    transitions: FloatArray

    def plus(self, other: HMMCounts) -> HMMCounts:
        """Return the sum of two counts."""
        return HMMCounts(self.features + other.features, self.transitions + other.transitions)


class HMMLearner:
    """Learns a hidden Markov model, with penalties of soft constraints by counting.

    Parameters
    ----------
    structure
        A first-order chain.
    encoder
        Words and shapes, fitted on all sequences, labelled and unlabelled.
    plan
        The constraints for decoding.
    training
        The protocol: ``"L"``, ``"L+CI"``, or ``"L+wCI"``, which counts penalties.
    smoothing, shape_smoothing, transition_smoothing
        ``λ``, ``α`` and ``τ``.
    n_jobs
        Threads.
    """

    def __init__(
        self,
        structure: Structure,
        encoder: ObservationEncoder,
        plan: Plan,
        *,
        training: Protocol = "L+wCI",
        smoothing: float = 1.0,
        shape_smoothing: float = 0.5,
        transition_smoothing: float = 1.0,
        n_jobs: int | None = None,
    ) -> None:
        self.structure = structure
        self.encoder: Encoder = encoder
        self.plan = plan
        self.training = training
        self.smoothing = smoothing
        self.shape_smoothing = shape_smoothing
        self.transition_smoothing = transition_smoothing
        self.n_jobs = n_jobs
        self._n_observations = encoder.n_observations
        self._shapes = encoder.shape_of
        self._shares = encoder.shares

    def learn(
        self,
        sequences: Sequence[Any],
        names: Sequence[Sequence[str]],
        weights: FloatArray | None = None,
    ) -> Learned:
        """Learn from labelled sequences, each counted `weights` times."""
        model = self.estimate(self.count(sequences, names, weights))
        if self.training != "L+wCI" or not self.plan.soft:
            return Learned(model, self.plan)
        labels = self.structure.labels
        penalties = count_penalties(self.plan.constraints, sequences, names, labels, weights)
        return Learned(model, self.plan.with_penalties(penalties))

    def learn_expected(
        self,
        sequences: Sequence[Any],
        learned: Learned,
        *,
        labelled: HMMCounts | None = None,
    ) -> Learned:
        """Take one step of expectation maximisation on sequences without labels.

        Parameters
        ----------
        sequences
            The sequences.
        learned
            The current model and constraints, which give the posteriors. The result has the same
            constraints and penalties.
        labelled
            Counts of labelled sequences to add, from `count`.

        Raises
        ------
        TooLargeError
            If the product with all constraints, which posteriors need, exceeds the decoding
            budget of the plan.
        """
        counts = self.expect(sequences, learned)
        if labelled is not None:
            counts = counts.plus(labelled)
        return Learned(self.estimate(counts), learned.plan)

    def mix(self, first: CRFModel, second: CRFModel, share: float) -> CRFModel:
        """Return the model whose probabilities are a convex combination of those of two models.

        Its distributions sum to 1 as well. `share` is the share of the first model.
        """

        def mixed(one: FloatArray, other: FloatArray) -> FloatArray:
            return _log(share * np.exp(one) + (1.0 - share) * np.exp(other))

        return self._model(
            mixed(first.state.weights, second.state.weights),
            mixed(first.pattern_weights, second.pattern_weights),
        )

    def count(
        self,
        sequences: Sequence[Any],
        names: Sequence[Sequence[str]],
        weights: FloatArray | None = None,
    ) -> HMMCounts:
        """Return the counts of labelled sequences, each counted `weights` times."""
        features = self.encoder.transform(list(sequences))
        labels, offsets = self.structure.labels, features.offsets
        ids = labels.encode([label for own in names for label in own])
        lengths = np.diff(offsets)
        weighs = np.repeat(np.ones(lengths.size) if weights is None else weights, lengths)
        tokens = np.zeros((ids.size, len(labels)))
        tokens[np.arange(ids.size), ids] = weighs
        transitions = np.zeros((len(labels), len(labels)))
        follows = np.ones(ids.size, dtype=bool)
        follows[offsets[:-1][lengths > 0]] = False
        after = np.flatnonzero(follows)
        np.add.at(transitions, (ids[after - 1], ids[after]), weighs[after])
        return HMMCounts(features.state.to_scipy().T @ tokens, transitions)

    def expect(self, sequences: Sequence[Any], learned: Learned) -> HMMCounts:
        """Return the expected counts under a model and its constraints.

        For a sequence that cannot satisfy all constraints, conflicting ones are dropped.
        """
        given, n_labels = list(sequences), len(self.structure.labels)
        expected = np.zeros((self._n_observations + 2, n_labels))
        transitions = np.zeros(n_labels * n_labels)
        for members, trellis in feasible_batches(
            learned.model, learned.plan, given, on_infeasible="relax", n_jobs=self.n_jobs
        ):
            posterior = marginals(trellis, n_jobs=self.n_jobs)
            features = self.encoder.transform([given[b] for b in members.tolist()])
            expected += features.state.to_scipy().T @ posterior.labels
            # A product with soft constraints has further patterns after those of the model.
            transitions += posterior.pattern_counts[: transitions.size]
        return HMMCounts(expected, transitions.reshape(n_labels, n_labels))

    def estimate(self, counts: HMMCounts) -> CRFModel:
        """Return the smoothed maximum likelihood model."""
        seen = counts.features[: self._n_observations]
        first, last = counts.features[self._n_observations :]
        n_labels, n_shapes = seen.shape[1], int(self._shapes.max()) + 1
        total = seen.sum(axis=0)
        by_shape = np.zeros((n_shapes, n_labels))
        np.add.at(by_shape, self._shapes, seen)
        shape = (by_shape + self.shape_smoothing) / (total + self.shape_smoothing * n_shapes)
        kappa = self.smoothing * (1.0 + np.minimum(seen, 1.0).sum(axis=0))
        emission = seen + kappa * shape[self._shapes] * self._shares[:, None]
        added = self.transition_smoothing
        leaving = counts.transitions.sum(axis=1) + last + added
        features = np.concatenate(
            [
                emission / (total + kappa),
                [(first + added / n_labels) / (first.sum() + added)],
                [(last + added / (n_labels + 1)) / leaving],
            ]
        )
        steps = (counts.transitions + added / (n_labels + 1)) / leaving[:, None]
        return self._model(_log(features.ravel()), _log(steps.ravel()))

    def _model(self, state: FloatArray, transitions: FloatArray) -> CRFModel:
        n_labels, n_features = len(self.structure.labels), self._n_observations + 2
        offsets = np.arange(n_features + 1, dtype=np.int64) * n_labels
        outputs = np.tile(np.arange(n_labels, dtype=np.int32), n_features)
        weights = PairWeights(offsets, outputs, state)
        return CRFModel(self.structure, self.encoder, weights, transitions)


def _log(probabilities: FloatArray) -> FloatArray:
    """Return finite logarithms, even if smoothing underflows to 0."""
    return np.log(np.maximum(probabilities, np.finfo(np.float64).tiny))
