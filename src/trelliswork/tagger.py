"""What every trained tagger can do with its model: predict, explain how sure it is, and score."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from trelliswork import inference
from trelliswork.inputs import allowed_labels, as_labels, as_sequences
from trelliswork.report import report

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from trelliswork.labels import LabelSet
    from trelliswork.model import ChainModel

__all__ = ["Tagger"]


class Tagger(BaseEstimator):  # type: ignore[misc]
    """Base of the estimators: everything but ``fit``, which sets `model_` and `labels_`."""

    model_: ChainModel
    labels_: LabelSet
    n_jobs: int | None

    def predict(self, X: Any, *, known: Any = None) -> list[list[str]]:  # noqa: N803
        """Return the best labelling of each sequence.

        Parameters
        ----------
        X
            Sequences, as for ``fit``.
        known
            What is known of the labels, as ``y`` in ``fit``: the best labelling that agrees.
        """
        check_is_fitted(self)
        sequences = as_sequences(X)
        allowed = None
        if known is not None:
            given = as_labels(sequences, known, "known")
            allowed = allowed_labels(self.labels_, given, "known")
        return self.model_.decode(sequences, allowed=allowed, n_jobs=self.n_jobs)

    def predict_marginals(self, X: Any) -> list[NDArray[np.float64]]:  # noqa: N803
        """Return ``P(y_t = y | x)``, one array of shape ``(T, L)`` a sequence."""
        trellis = self.trellis(X)
        posterior = inference.marginals(trellis, n_jobs=self.n_jobs).labels
        return np.split(posterior, trellis.offsets[1:-1]) if trellis.n_sequences else []

    def predict_nbest(self, X: Any, k: int) -> list[list[tuple[list[str], float]]]:  # noqa: N803
        """Return the `k` most probable labellings of each sequence with their probabilities.

        Best first; fewer than `k` where there are no more.
        """
        trellis = self.trellis(X)
        best = inference.kbest(trellis, k, n_jobs=self.n_jobs)
        log_z = inference.log_partition(trellis, n_jobs=self.n_jobs)
        probability = np.exp(best.scores - log_z[:, None])
        return [
            [
                (self.model_.names(best.labels[i, first:last]), float(probability[b, i]))
                for i in range(len(best.labels))
                if np.isfinite(best.scores[b, i])
            ]
            for b, (first, last) in enumerate(pairwise(trellis.offsets.tolist()))
        ]

    def log_probability(self, X: Any, y: Any = None) -> NDArray[np.float64]:  # noqa: N803
        """Return ``log p(y | x)`` of each sequence, shape ``(B,)``, summed over open labels."""
        sequences = as_sequences(X)
        names = as_labels(sequences, y)
        trellis = self.trellis(sequences)
        gold = allowed_labels(self.labels_, names, "y")
        inside = inference.log_partition(trellis, allowed=gold, n_jobs=self.n_jobs)
        return inside - inference.log_partition(trellis, n_jobs=self.n_jobs)

    def trellis(self, X: Any) -> inference.Trellis:  # noqa: N803
        """Return the scores of a batch, on which every verb of `trelliswork.inference` works."""
        check_is_fitted(self)
        return self.model_.trellis(as_sequences(X), n_jobs=self.n_jobs)

    def score(self, X: Any, y: Any = None) -> float:  # noqa: N803
        """Return the token accuracy; use `trelliswork.report` for segments."""
        sequences = as_sequences(X)
        return report(as_labels(sequences, y), self.predict(sequences)).token_accuracy

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Samples are sequences of different lengths, not the rows of one array.
        tags.input_tags.two_d_array = False
        tags.target_tags.required = False  # a labelled corpus brings its own
        return tags
