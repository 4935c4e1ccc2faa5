"""Base class of the estimators: adds `score` and `save` to `TrainedTagger`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from trelliswork.evaluation.report import report
from trelliswork.features.inputs import as_labels, as_sequences
from trelliswork.learn.sparsity.pruning import without_zeros
from trelliswork.taggers.model_file import write_model_file
from trelliswork.taggers.parameters import parameters_from_json, parameters_to_json
from trelliswork.taggers.saving import tagger_settings
from trelliswork.taggers.trained import TrainedTagger

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from trelliswork.constraints import Predicate
    from trelliswork.learn.learner import Learned

__all__ = ["Tagger"]


class Tagger(TrainedTagger, BaseEstimator):  # type: ignore[misc]
    """Base class of the estimators. Subclasses define ``fit``, which calls `_keep`.

    Methods apply the constraints of the tagger unless documented otherwise.
    """

    def _check_is_fitted(self) -> None:
        check_is_fitted(self)

    def _keep(self, learned: Learned) -> None:
        """Set the attributes that all trained taggers have."""
        if self._makes_zeros():
            learned = without_zeros(learned)
        self.model_ = learned.model
        self.plan_ = learned.plan
        self.labels_ = learned.model.labels
        self.classes_ = np.array(self.labels_.names)
        self.metadata_ = {}

    def _makes_zeros(self) -> bool:
        """Return whether training is sparse: weights of 0 are then left out of the model."""
        l1, groups = getattr(self, "l1", 0.0), getattr(self, "regularizer", None)
        return l1 > 0 or groups is not None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the tagger to a file, atomically. Read it back with `trelliswork.load`."""
        self._check_is_fitted()
        settings, version = tagger_settings(self)
        write_model_file(path, settings, self.model_.arrays(), version)

    def _parameters_to_json(self) -> dict[str, Any]:
        """Return the parameters as JSON values."""
        return parameters_to_json(self.get_params(deep=False), self.plan_)

    @classmethod
    def _parameters_from_json(
        cls, saved: Mapping[str, Any], predicates: Mapping[str, Predicate] | None = None
    ) -> dict[str, Any]:
        """Return the parameters that `_parameters_to_json` wrote; predicates are given by name."""
        return parameters_from_json(saved, predicates)

    def _training_record(self) -> dict[str, Any]:
        """Return the training log and results as JSON values."""
        return {}

    def _restore_training(self, record: Mapping[str, Any]) -> None:
        """Set the attributes that `_training_record` saved."""

    def score(self, X: Any, y: Any = None) -> float:  # noqa: N803
        """Return the token accuracy. For segment scores, use `trelliswork.report`."""
        sequences = as_sequences(X)
        return report(as_labels(sequences, y), self.predict(sequences)).token_accuracy

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Samples are sequences of different lengths, not rows of an array.
        tags.input_tags.two_d_array = False
        tags.target_tags.required = False  # a labelled corpus has its own
        return tags
