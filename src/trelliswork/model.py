"""The chain model: weights of features and transitions, and the scores they give.

    score(y) = Σ_t Σ_f x[t, f] W[f, y_t]
             + Σ_{t > 0} ( T[y_{t−1}, y_t] + Σ_f e[t, f] V[f, y_{t−1}, y_t] )

with ``x`` the token features and ``e`` the transition ("edge") features. Only some (feature, label)
pairs have a weight; the others are 0. ``F`` features, ``L`` labels, ``K`` pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from trelliswork import _core
from trelliswork.automaton import Automaton
from trelliswork.decoding import decode_batch
from trelliswork.features.restore import restore as restore_encoder
from trelliswork.labels import LabelSet
from trelliswork.parallel import resolve_jobs
from trelliswork.trellis import Trellis

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from numpy.typing import NDArray

    from trelliswork.features import EncodedFeatures, Encoder, FeatureMatrix
    from trelliswork.plan import Plan

__all__ = ["ChainModel", "PairWeights"]


@dataclass(frozen=True, eq=False)
class PairWeights:
    """Weights of (feature, output) pairs, feature by feature.

    Attributes
    ----------
    offsets : numpy.ndarray
        Pairs of feature ``f``: ``offsets[f]`` to ``offsets[f + 1]``; shape ``(F + 1,)``.
    outputs : numpy.ndarray
        Output of each pair, a label or a transition ``y' * L + y``, rising, shape ``(K,)``.
    weights : numpy.ndarray
        Shape ``(K,)``.
    """

    offsets: NDArray[np.int64]
    outputs: NDArray[np.int32]
    weights: NDArray[np.float64]

    @property
    def features(self) -> NDArray[np.int64]:
        """Feature of each pair, shape ``(K,)``."""
        return np.repeat(np.arange(self.offsets.size - 1), np.diff(self.offsets))

    def score(self, matrix: FeatureMatrix, n_outputs: int, n_jobs: int) -> NDArray[np.float64]:
        """``X W``, shape ``(N, n_outputs)``."""
        scores = np.empty((matrix.shape[0], n_outputs))
        rows = _core.FeatureRows(matrix.indptr, matrix.indices, matrix.values)
        self._scorer(n_outputs).score(rows, scores, n_jobs)
        return scores

    def _scorer(self, n_outputs: int) -> _core.FeatureScorer:
        scorer: _core.FeatureScorer | None = self.__dict__.get("_cached_scorer")
        if scorer is None:
            scorer = _core.FeatureScorer(n_outputs, self.offsets, self.outputs, self.weights)
            self.__dict__["_cached_scorer"] = scorer
        return scorer


@dataclass(frozen=True, eq=False)
class ChainModel:
    """A trained first-order model. Immutable: threads may share one.

    Attributes
    ----------
    labels : LabelSet
        The ``L`` labels.
    encoder : Encoder
        From input to features.
    state : PairWeights
        ``W``: outputs are labels.
    transitions : numpy.ndarray
        ``T``, shape ``(L, L)``, rows = previous label.
    edge : PairWeights or None
        ``V``: outputs are transitions.
    """

    labels: LabelSet
    encoder: Encoder
    state: PairWeights
    transitions: NDArray[np.float64]
    edge: PairWeights | None = None

    @cached_property
    def automaton(self) -> Automaton:
        """The complete first-order automaton over the labels."""
        return Automaton.chain(len(self.labels))

    def encode(self, sequences: Sequence[object], *, n_jobs: int | None = None) -> EncodedFeatures:
        """Turn input into features; unknown features are left out."""
        return self.encoder.transform(sequences, n_jobs=resolve_jobs(n_jobs))

    def trellis(self, sequences: Sequence[object], *, n_jobs: int | None = None) -> Trellis:
        """Score a batch of sequences: what every verb of `trelliswork.inference` takes."""
        features = self.encode(sequences, n_jobs=n_jobs)
        jobs = resolve_jobs(n_jobs)
        n_labels = len(self.labels)
        edge_scores = None
        if self.edge is not None and features.edge is not None:
            edge_scores = self.edge.score(features.edge, n_labels * n_labels, jobs)
        return Trellis(
            self.state.score(features.state, n_labels, jobs),
            self.automaton,
            offsets=features.offsets,
            weights=self.transitions,
            position_weights=edge_scores,
        )

    def decode(
        self, sequences: Sequence[object], plan: Plan, *, n_jobs: int | None = None
    ) -> list[list[str]]:
        """Return the best labelling of each sequence under constraints, as far as they can hold."""
        trellis = self.trellis(sequences, n_jobs=n_jobs)
        evidence = plan.evidence(sequences, trellis.offsets)
        found = decode_batch(plan, trellis, evidence, on_infeasible="relax", n_jobs=n_jobs)
        names = self.names(found.tags)
        return [names[first:last] for first, last in pairwise(trellis.offsets.tolist())]

    def names(self, ids: NDArray[np.int32]) -> list[str]:
        """Return the names of an array of label ids."""
        return list(self._names[ids])

    @cached_property
    def _names(self) -> NDArray[np.object_]:
        return np.array(self.labels.names, dtype=object)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return everything numeric, by name; see :meth:`restore`."""
        parts: dict[str, NDArray[Any]] = {
            "state.offsets": self.state.offsets,
            "state.outputs": self.state.outputs,
            "state.weights": self.state.weights,
            "transitions": self.transitions,
        }
        if self.edge is not None:
            parts |= {
                "edge.offsets": self.edge.offsets,
                "edge.outputs": self.edge.outputs,
                "edge.weights": self.edge.weights,
            }
        return parts | {f"encoder.{key}": value for key, value in self.encoder.arrays().items()}

    def settings(self) -> dict[str, Any]:
        """Return everything else, as JSON values."""
        return {"labels": self.labels.to_dict(), "encoder": self.encoder.settings()}

    @classmethod
    def restore(cls, settings: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> ChainModel:
        """Rebuild a model from :meth:`settings` and :meth:`arrays`; nothing is executed."""
        labels = LabelSet.from_dict(settings["labels"])
        prefix = "encoder."
        encoder = restore_encoder(
            settings["encoder"],
            {k.removeprefix(prefix): v for k, v in arrays.items() if k.startswith(prefix)},
        )
        n_labels = len(labels)
        transitions = np.ascontiguousarray(arrays["transitions"], dtype=np.float64)
        if transitions.shape != (n_labels, n_labels):
            raise ValueError(
                f"transitions: expected shape {(n_labels, n_labels)}, got {transitions.shape}."
            )

        def pairs(name: str) -> PairWeights:
            return PairWeights(
                np.ascontiguousarray(arrays[f"{name}.offsets"], dtype=np.int64),
                np.ascontiguousarray(arrays[f"{name}.outputs"], dtype=np.int32),
                np.ascontiguousarray(arrays[f"{name}.weights"], dtype=np.float64),
            )

        edge = pairs("edge") if "edge.weights" in arrays else None
        return cls(labels, encoder, pairs("state"), transitions, edge)

    def __reduce__(self) -> tuple[Any, ...]:
        # The encoder and the scorer live in the core: pickle what a model file holds instead.
        return ChainModel.restore, (self.settings(), self.arrays())
