"""The objective of a chain model: negative log-likelihood, and how parameters map to weights.

    loss(w) = Σ_b weight_b (log Z_b − log Z_b over the allowed labellings) + l2 ‖w‖²

For a fully labelled sequence the allowed labelling is one, and its log Z is its score. The sum over
sequences is split between threads; any range of sequences can be asked for by itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from trelliswork import _core
from trelliswork.automaton import Automaton
from trelliswork.model import ChainModel, PairWeights

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from trelliswork.features import EncodedFeatures, Encoder, FeatureMatrix
    from trelliswork.labels import LabelSet
    from trelliswork.sentence import Label

    FloatArray = NDArray[np.float64]

__all__ = ["GoldLabels", "Objective"]

Pairs = Literal["observed", "all"]

# The core numbers the L × L outputs of an edge feature with 16 bits.
_MOST_LABELS_WITH_EDGES = 256


@dataclass(frozen=True, eq=False)
class GoldLabels:
    """Labels of a training set as arrays.

    Attributes
    ----------
    ids : numpy.ndarray
        Label of every token, ``-1`` where it is not one name, shape ``(N,)``.
    allowed : numpy.ndarray or None
        Labels that every token may have, shape ``(N, L)``; None when all tokens have one name.
    begins : numpy.ndarray or None
        Whether a segment begins at the token, shape ``(N,)``; None in a chain.
    """

    ids: NDArray[np.int32]
    allowed: NDArray[np.bool_] | None
    begins: NDArray[np.bool_] | None = None

    @classmethod
    def encode(cls, labels: LabelSet, sequences: Sequence[Sequence[Label]]) -> GoldLabels:
        """Encode label sequences, in which ``None`` is unlabelled and a set lists alternatives."""
        flat = [label for sequence in sequences for label in sequence]
        ids = labels.encode(flat)
        return cls(ids, labels.allowed(flat) if (ids < 0).any() else None)

    @property
    def evidence(self) -> NDArray[np.bool_] | None:
        """`allowed` without the unlabelled tokens, which show no (feature, label) pair."""
        if self.allowed is None:
            return None
        return self.allowed & ~self.allowed.all(axis=1, keepdims=True)


class Objective:
    """The regularised negative log-likelihood of a chain model.

    Parameters
    ----------
    features
        Features of the training set.
    gold
        Its labels.
    n_labels
        ``L``.
    weights
        Weight of each sequence, shape ``(B,)``; default 1.
    l2
        Coefficient of ``‖w‖²``.
    pairs, transitions
        Which (feature, label) pairs and transitions have a weight: those ``"observed"`` in the
        labels, or ``"all"``.
    automaton
        The labellings that both sums run over: a product of the chain, see
        `trelliswork.product`. It must accept the gold labels. Default: all labellings.
    classes
        Class of each token, shape ``(N,)``, for an automaton with guards.
    open_labels
        Labels that the constraints leave to each token, shape ``(N, L)``. Default: all.

    Attributes
    ----------
    n_parameters : int
        Pairs, then transitions, then pairs of edge features.
    """

    def __init__(
        self,
        features: EncodedFeatures,
        gold: GoldLabels,
        n_labels: int,
        *,
        weights: FloatArray | None = None,
        l2: float = 0.0,
        pairs: Pairs = "observed",
        transitions: Pairs = "observed",
        automaton: Automaton | None = None,
        classes: NDArray[np.uint8] | None = None,
        open_labels: NDArray[np.bool_] | None = None,
    ) -> None:
        self.l2 = l2
        self.n_labels = n_labels
        self._automaton = Automaton.chain(n_labels) if automaton is None else automaton
        rows = _rows(features.state)
        evidence = gold.evidence
        self._state_pairs = _core.observed_pairs(
            rows,
            features.state.n_features,
            n_labels,
            gold.ids,
            None if evidence is None else evidence.view(np.uint8),
            pairs == "all",
        )
        observed = _observed_transitions(gold, features.offsets, n_labels)  # (N,), -1: none
        self._transitions = (
            np.arange(n_labels * n_labels, dtype=np.int32)
            if transitions == "all"
            else _seen_transitions(observed, gold, features.offsets, n_labels)
        )
        if features.edge is not None and n_labels > _MOST_LABELS_WITH_EDGES:
            raise ValueError(
                f"edge features: expected at most {_MOST_LABELS_WITH_EDGES} labels, got {n_labels}."
                " Leave out the features on transitions."
            )
        edge_rows = None if features.edge is None else _rows(features.edge)
        self._edge_pairs = None
        if features.edge is not None and edge_rows is not None:
            self._edge_pairs = _core.observed_pairs(
                edge_rows,
                features.edge.n_features,
                n_labels * n_labels,
                observed,
                None,
                pairs == "all",
            )
        edge_offsets, edge_outputs = self._edge_pairs or (None, None)
        self._core = _core.Objective(
            self._automaton._core,
            features.offsets,
            gold.ids,
            None if gold.allowed is None else gold.allowed.view(np.uint8),
            weights,
            rows,
            *self._state_pairs,
            self._transitions,
            edge_rows,
            edge_offsets,
            edge_outputs,
            classes,
            None if open_labels is None else open_labels.view(np.uint8),
        )

    @property
    def n_parameters(self) -> int:
        """Length of the parameter vector."""
        return self._core.n_parameters

    @property
    def n_sequences(self) -> int:
        """Number of training sequences, ``B``."""
        return self._core.n_sequences

    def value_and_grad(
        self,
        parameters: FloatArray,
        gradient: FloatArray,
        *,
        sequences: range | None = None,
        n_jobs: int = 1,
    ) -> float:
        """Return the objective and write its gradient.

        Parameters
        ----------
        parameters, gradient
            Shape ``(n_parameters,)``; `gradient` is overwritten.
        sequences
            Only these, and no penalty: the values and gradients of disjoint ranges add up to the
            likelihood term of the whole. Default: all, with the penalty.
        n_jobs
            Threads. The result is the same for the same number of threads.
        """
        first, last, l2 = 0, self.n_sequences, self.l2
        if sequences is not None:
            if sequences.step != 1:
                raise ValueError(f"sequences: expected a range of step 1, got {sequences}.")
            first, last, l2 = sequences.start, sequences.stop, 0.0
        return self._core.value_and_grad(parameters, gradient, l2, first, last, n_jobs)

    def gold_counts(self) -> FloatArray:
        """How often each parameter is seen in the fully labelled sequences, weighted."""
        counts = np.empty(self.n_parameters)
        self._core.gold_counts(counts)
        return counts

    def model(self, parameters: FloatArray, labels: LabelSet, encoder: Encoder) -> ChainModel:
        """Return the model that a parameter vector stands for."""
        state, transitions, edge = self._split(parameters)
        matrix = np.zeros(self.n_labels * self.n_labels)
        matrix[self._transitions] = transitions
        return ChainModel(
            labels,
            encoder,
            PairWeights(*self._state_pairs, state.copy()),
            matrix.reshape(self.n_labels, self.n_labels),
            None if self._edge_pairs is None else PairWeights(*self._edge_pairs, edge.copy()),
        )

    def parameters_like(
        self, earlier: ChainModel, labels: LabelSet, encoder: Encoder
    ) -> FloatArray:
        """Return parameters that start from an earlier model.

        Weights carry over by the names of features and labels; what is new starts at 0.
        """
        n_labels = len(labels)
        old_ids = np.array([earlier.labels.id(n) if n in earlier.labels else -1 for n in labels])
        known = np.flatnonzero(old_ids >= 0)
        # Transition y'→y of this model, in the numbering of the earlier one; -1: not there.
        old_transitions = np.full((n_labels, n_labels), -1)
        old_transitions[np.ix_(known, known)] = (
            old_ids[known, None] * len(earlier.labels) + old_ids[None, known]
        )
        parameters = np.zeros(self.n_parameters)
        state, transitions, edge = self._split(parameters)
        pairs = PairWeights(*self._state_pairs, state)
        _carry_over(
            pairs, encoder.feature_names(), old_ids, earlier.state, earlier.encoder.feature_names()
        )
        old = old_transitions.ravel()[self._transitions]
        transitions[old >= 0] = earlier.transitions.ravel()[old[old >= 0]]
        if self._edge_pairs is not None and earlier.edge is not None:
            _carry_over(
                PairWeights(*self._edge_pairs, edge),
                encoder.edge_feature_names(),
                old_transitions.ravel(),
                earlier.edge,
                earlier.encoder.edge_feature_names(),
            )
        return parameters

    def _split(self, parameters: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        n_state = self._state_pairs[1].size
        n_transitions = self._transitions.size
        return (
            parameters[:n_state],
            parameters[n_state : n_state + n_transitions],
            parameters[n_state + n_transitions :],
        )


def _rows(matrix: FeatureMatrix) -> _core.FeatureRows:
    return _core.FeatureRows(matrix.indptr, matrix.indices, matrix.values)


def _observed_transitions(
    gold: GoldLabels, offsets: NDArray[np.int64], n_labels: int
) -> NDArray[np.int32]:
    """Transition into each token as ``y' * L + y``; -1 for a first token or an open label."""
    before = np.full(gold.ids.size, -1, dtype=np.int32)
    before[1:] = gold.ids[:-1]
    firsts = offsets[:-1][offsets[:-1] < offsets[1:]]
    before[firsts] = -1
    both = (before >= 0) & (gold.ids >= 0)
    return np.where(both, before * n_labels + gold.ids, -1).astype(np.int32)


def _seen_transitions(
    observed: NDArray[np.int32], gold: GoldLabels, offsets: NDArray[np.int64], n_labels: int
) -> NDArray[np.int32]:
    """Transitions that occur, or may occur between tokens whose labels are open."""
    seen = np.zeros((n_labels, n_labels), dtype=bool)
    seen.ravel()[observed[observed >= 0]] = True
    if gold.allowed is not None:
        first = np.zeros(gold.ids.size, dtype=bool)
        first[offsets[:-1][offsets[:-1] < offsets[1:]]] = True
        open_ends = np.flatnonzero(~first & (observed < 0))
        for i in open_ends[open_ends > 0]:
            seen |= np.outer(gold.allowed[i - 1], gold.allowed[i])
    return np.flatnonzero(seen).astype(np.int32)


def _carry_over(
    pairs: PairWeights,
    names: list[str],
    old_outputs: NDArray[np.int64],
    earlier: PairWeights,
    earlier_names: list[str],
) -> None:
    """Copy the weights of the pairs that an earlier model has too."""
    place = {name: i for i, name in enumerate(earlier_names)}
    old_features = np.array([place.get(name, -1) for name in names], dtype=np.int64)
    feature = old_features[pairs.features]
    output = old_outputs[pairs.outputs]
    # Both (feature, output) and its place in the earlier model, as one sorted key.
    n_outputs = int(max(earlier.outputs.max(initial=0), output.max(initial=0))) + 1
    keys = earlier.features * n_outputs + earlier.outputs
    wanted = feature * n_outputs + output
    at = np.searchsorted(keys, wanted)
    at[at == keys.size] = 0
    found = (feature >= 0) & (output >= 0)
    if keys.size:
        found &= keys[at] == wanted
        pairs.weights[found] = earlier.weights[at[found]]
