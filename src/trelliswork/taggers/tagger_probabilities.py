"""How sure a trained tagger is: probabilities of labels, labellings, segments and rules."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from trelliswork import inference
from trelliswork.decoding.on_products import constrained_trellis
from trelliswork.decoding.probabilities import span_probabilities, token_marginals
from trelliswork.features.inputs import allowed_labels, as_labels, as_sequences
from trelliswork.inference.certain_segments import collect_spans
from trelliswork.inference.trellis import rows_of
from trelliswork.models.batches import feasible_batches, scored_batches, token_offsets
from trelliswork.planning.plan import Plan, as_constraints

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from trelliswork.decoding.conflicts import OnInfeasible
    from trelliswork.inference.trellis import Trellis
    from trelliswork.labels.label_set import LabelSet
    from trelliswork.models.batches import ScoredBatch
    from trelliswork.models.model import CRFModel

__all__ = ["ProbabilityMethods"]


class ProbabilityMethods:
    """The methods that a tagger has for probabilities: sums over all labellings under rules."""

    model_: CRFModel
    labels_: LabelSet
    plan_: Plan
    decoding_budget: int
    n_jobs: int | None
    on_infeasible: OnInfeasible

    def _check_is_fitted(self) -> None:
        """Raise where there is no model yet, which only a tagger that is trained later knows."""

    def predict_marginals(self, X: Any) -> list[NDArray[np.float64]]:  # noqa: N803
        """Return ``P(y_t = y | x)``, one array of shape ``(T, n_labels)`` a sequence."""
        sequences = as_sequences(X)
        found: list[NDArray[np.float64]] = [np.zeros((0, 0))] * len(sequences)
        for members, trellis in self._groups(sequences):
            posterior = token_marginals(self.plan_, trellis, self.n_jobs)
            for b, own in zip(members.tolist(), _split(posterior, trellis), strict=True):
                found[b] = own
        return found

    def predict_nbest(self, X: Any, k: int) -> list[list[tuple[list[str], float]]]:  # noqa: N803
        """Return the `k` most probable labellings of each sequence with their probabilities.

        Best first; fewer than `k` where there are no more. Probabilities need the product with all
        constraints; `decode_nbest` does without. With ``adjacent=True`` they are segmentations,
        several of which may read the same.
        """
        sequences = as_sequences(X)
        answers: list[list[tuple[list[str], float]]] = [[] for _ in sequences]
        for members, trellis in self._groups(sequences):
            best = inference.kbest(trellis, k, n_jobs=self.n_jobs)
            log_z = inference.log_partition(trellis, n_jobs=self.n_jobs)
            probability = np.exp(best.scores - log_z[:, None])
            bounds = pairwise(trellis.offsets.tolist())
            for b, (member, (first, last)) in enumerate(zip(members, bounds, strict=True)):
                answers[member] = [
                    (self.plan_.names(best.tags[i, first:last]), float(probability[b, i]))
                    for i in range(len(best.tags))
                    if np.isfinite(best.scores[b, i])
                ]
        return answers

    def log_probability(self, X: Any, y: Any = None) -> NDArray[np.float64]:  # noqa: N803
        """Return ``log p(y | x)`` of each sequence, shape ``(B,)``, summed over open labels.

        ``-inf`` for labels that break a constraint. In a model with ``adjacent=True`` the sum of
        all segmentations that read as these labels.
        """
        sequences = as_sequences(X)
        gold = allowed_labels(self.labels_, as_labels(sequences, y), "y")
        offsets = token_offsets(sequences)
        found = np.empty(len(sequences))
        for members, trellis in self._groups(sequences):
            mask = self.plan_.tag_mask(gold[rows_of(offsets, members)])
            inside = inference.log_partition(trellis, allowed=mask, n_jobs=self.n_jobs)
            found[members] = inside - inference.log_partition(trellis, n_jobs=self.n_jobs)
        return found

    def probability_of(self, X: Any, constraint: Any) -> NDArray[np.float64]:  # noqa: N803
        """Return how probable it is that a constraint holds, *without* those of the tagger.

        ``P(y ∈ L | x)`` under the unconstrained model: how far a constraint agrees with what the
        model believes anyway.

        Parameters
        ----------
        X
            Sequences, as for ``fit``.
        constraint
            A constraint, a regular expression, an automaton, or a sequence of these, which hold
            together.

        Returns
        -------
        numpy.ndarray
            Shape ``(B,)``.
        """
        self._check_is_fitted()
        sequences = as_sequences(X)
        asked = Plan(
            self.labels_,
            [asked_for.hard for asked_for in as_constraints(constraint)],
            model=self.plan_.model,
            segmentation=self.plan_.segmentation,
            decoding_budget=self.decoding_budget,
        )
        found = np.empty(len(sequences))
        for numbers, own, free in self._batches(sequences):
            inside = constrained_trellis(asked, free, asked.evidence(own, free.offsets, numbers))
            log_odds = inference.log_partition(inside, n_jobs=self.n_jobs)
            log_odds -= inference.log_partition(free, n_jobs=self.n_jobs)
            found[numbers.start : numbers.stop] = np.exp(log_odds)
        return found

    def span_probability(
        self,
        X: Any,  # noqa: N803
        spans: Sequence[Sequence[tuple[int, int, str]]],
    ) -> list[NDArray[np.float64]]:
        """Return how probable segments are: that ``[start, end)`` is one of that very name.

        Not available with ``adjacent=True``.

        Parameters
        ----------
        X
            Sequences, as for ``fit``.
        spans
            For each sequence, ``(start, end, name)`` of the segments in question; see
            `LabelSet.spans`.

        Returns
        -------
        list of numpy.ndarray
            One probability a span.
        """
        sequences = as_sequences(X)
        collect_spans(spans, self.labels_, np.diff(token_offsets(sequences)))
        found: list[NDArray[np.float64]] = [np.zeros(0)] * len(spans)
        for members, trellis in self._groups(sequences):
            own = [spans[b] for b in members.tolist()]
            probabilities = span_probabilities(self.plan_, trellis, own, self.n_jobs)
            for b, values in zip(members.tolist(), probabilities, strict=True):
                found[b] = values
        return found

    def trellis(self, X: Any) -> inference.Trellis:  # noqa: N803
        """Return the scores of a batch, on which every verb of `trelliswork.inference` works.

        On the product of the model with all constraints. A sequence that no labelling fits has no
        path there.
        """
        self._check_is_fitted()
        sequences = as_sequences(X)
        free = self.model_.trellis(sequences, n_jobs=self.n_jobs)
        if not self.plan_.constraints:
            return free
        evidence = self.plan_.evidence(sequences, free.offsets)
        return constrained_trellis(self.plan_, free, evidence)

    def _groups(self, sequences: list[Any]) -> Iterator[tuple[NDArray[np.int64], Trellis]]:
        """Return the indices of all sequences, and the trellises that they have a path on."""
        self._check_is_fitted()
        return feasible_batches(
            self.model_,
            self.plan_,
            sequences,
            on_infeasible=self.on_infeasible,
            n_jobs=self.n_jobs,
        )

    def _batches(self, sequences: list[Any]) -> Iterator[ScoredBatch]:
        return scored_batches(self.model_, self.plan_, sequences, self.n_jobs)


def _split(rows: NDArray[np.float64], trellis: Trellis) -> list[NDArray[np.float64]]:
    """Return the rows of each sequence."""
    return [rows[first:last] for first, last in pairwise(trellis.offsets.tolist())]
