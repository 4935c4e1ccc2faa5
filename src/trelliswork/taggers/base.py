"""What every estimator can do with its model: all of `TrainedTagger`, be scored, and be saved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from trelliswork.evaluation.report import report
from trelliswork.features.inputs import as_labels, as_sequences
from trelliswork.learn.sparsity.pruning import without_zeros
from trelliswork.taggers.model_file import write_model_file
from trelliswork.taggers.parameters import restored_parameters, saved_parameters
from trelliswork.taggers.saving import described
from trelliswork.taggers.trained import TrainedTagger

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from trelliswork.constraints import Predicate
    from trelliswork.learn.learner import Learned

__all__ = ["Tagger"]


class Tagger(TrainedTagger, BaseEstimator):  # type: ignore[misc]
    """Base of the estimators: everything but ``fit``, which sets `model_`, `labels_` and `plan_`.

    All of it is under the constraints of the tagger, unless it says otherwise.
    """

    def _check_is_fitted(self) -> None:
        check_is_fitted(self)

    def _keep(self, learned: Learned) -> None:
        """Set the attributes that every trained tagger has."""
        if self._makes_zeros():
            learned = without_zeros(learned)
        self.model_ = learned.model
        self.plan_ = learned.plan
        self.labels_ = learned.model.labels
        self.classes_ = np.array(self.labels_.names)
        self.metadata_ = {}

    def _makes_zeros(self) -> bool:
        """Return whether training is asked to make weights 0, which are no part of the model."""
        l1, groups = getattr(self, "l1", 0.0), getattr(self, "regularizer", None)
        return l1 > 0 or groups is not None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to one file, atomically; read it with `trelliswork.load`."""
        self._check_is_fitted()
        settings, version = described(self)
        write_model_file(path, settings, self.model_.arrays(), version)

    def _saved_parameters(self) -> dict[str, Any]:
        """Return the parameters as JSON can hold them."""
        return saved_parameters(self.get_params(deep=False), self.plan_)

    @classmethod
    def _restored_parameters(
        cls, saved: Mapping[str, Any], predicates: Mapping[str, Predicate] | None = None
    ) -> dict[str, Any]:
        """Return the parameters that `_saved_parameters` described; predicates are given."""
        return restored_parameters(saved, predicates)

    def _training_record(self) -> dict[str, Any]:
        """Return how training went, as JSON can hold it."""
        return {}

    def _restore_training(self, record: Mapping[str, Any]) -> None:
        """Set the attributes that `_training_record` was made from."""

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
