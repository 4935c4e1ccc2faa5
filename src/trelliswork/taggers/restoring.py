"""Restore a tagger from the content of its model file.

`load` restores the estimator; `load_saved` restores a `SavedTagger`, which can tag but not train.
Tagging with a saved model imports neither a learner nor scikit-learn: importing those takes longer
than reading the file and tagging some hundred sentences.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from trelliswork._utils.threads import check_jobs
from trelliswork.constraints.text.parser import parse
from trelliswork.decoding.conflicts import check_on_infeasible
from trelliswork.errors import DataError
from trelliswork.models.model import CRFModel
from trelliswork.planning.plan import DECODING_BUDGET, Plan
from trelliswork.taggers.trained import TrainedTagger

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from trelliswork.constraints import Constraint, Predicate
    from trelliswork.decoding.conflicts import OnInfeasible
    from trelliswork.taggers.base import Tagger


__all__ = ["SavedTagger", "restore_saved_tagger", "restore_tagger"]


class SavedTagger(TrainedTagger):
    """A trained tagger for tagging alone: no estimator, it cannot be trained again.

    Parameters
    ----------
    constraints
        The rules.
    on_infeasible
        What to do if no labelling satisfies them.
    decoding_budget
        Maximum number of arcs of a product.
    n_jobs
        Threads, as scikit-learn counts them.
    """

    def __init__(
        self,
        constraints: Sequence[Constraint],
        on_infeasible: OnInfeasible,
        decoding_budget: int,
        n_jobs: int | None,
    ) -> None:
        self.constraints = constraints
        self.on_infeasible = on_infeasible
        self.decoding_budget = decoding_budget
        self.n_jobs = n_jobs


def restore_tagger(
    kind: type[Tagger],
    settings: Mapping[str, Any],
    arrays: Mapping[str, NDArray[Any]],
    predicates: Mapping[str, Predicate] | None = None,
) -> Tagger:
    """Return the estimator that a model file holds, without executing code from the file.

    Parameters
    ----------
    kind
        The class of the estimator.
    settings, arrays
        The content of the file.
    predicates
        The predicates among its constraints, by name; they are never saved.
    """
    tagger = kind(**kind._parameters_from_json(settings["parameters"], predicates))
    _restore_model(
        tagger,
        settings,
        arrays,
        constrained_training=getattr(tagger, "constrained_training", False),
        train_soft=getattr(tagger, "penalties", None) == "likelihood",
    )
    tagger._restore_training(settings["training"])
    return tagger


def restore_saved_tagger(
    settings: Mapping[str, Any],
    arrays: Mapping[str, NDArray[Any]],
    predicates: Mapping[str, Predicate] | None = None,
) -> SavedTagger:
    """Return the tagger that a model file holds, without executing code from the file."""
    parameters = settings["parameters"]
    rules = parameters.get("constraints") or ()  # old files have none
    tagger = SavedTagger(
        tuple(parse(text, predicates=predicates) for text in rules),
        parameters.get("on_infeasible", "error"),
        parameters.get("decoding_budget", DECODING_BUDGET),
        parameters.get("n_jobs"),
    )
    # Old files of CRFs lack these parameters; other taggers never have them.
    is_crf = settings["estimator"] == "CRFTagger"
    penalties = parameters.get("penalties", "likelihood" if is_crf else None)
    _restore_model(
        tagger,
        settings,
        arrays,
        constrained_training=parameters.get("constrained_training", is_crf),
        train_soft=penalties == "likelihood",
    )
    return tagger


def _restore_model(
    tagger: TrainedTagger,
    settings: Mapping[str, Any],
    arrays: Mapping[str, NDArray[Any]],
    *,
    constrained_training: bool,
    train_soft: bool,
) -> None:
    """Set the learned attributes of a tagger from a model file.

    Parameters
    ----------
    tagger
        The tagger, with its parameters set.
    settings, arrays
        The content of the file.
    constrained_training
        Whether the constraints applied in training.
    train_soft
        Whether soft constraints took part in training.
    """
    check_on_infeasible(tagger.on_infeasible)
    check_jobs(tagger.n_jobs)
    tagger.model_ = CRFModel.restore(settings["model"], arrays)
    tagger.labels_ = tagger.model_.labels
    tagger.classes_ = np.array(tagger.labels_.names)
    # Files of the first versions do not name the budgets.
    old = {} if constrained_training else {"training_budget": 0}
    plan = Plan(
        tagger.labels_,
        tagger.constraints,
        model=tagger.model_.automaton,
        segmentation=tagger.model_.segmentation,
        train_soft=train_soft,
        **settings.get("plan", old),
    )
    tagger.plan_ = _with_penalties(plan, settings.get("penalties", []))
    tagger.metadata_ = dict(settings["metadata"])


def _with_penalties(plan: Plan, values: Any) -> Plan:
    """Return a plan with the penalties of its soft constraints from a file."""
    if not isinstance(values, list) or len(values) != len(plan.soft):
        raise DataError(f"penalties: expected {len(plan.soft)} numbers, got {values!r}.")
    penalties = plan.penalties
    for constraint, value in zip(plan.soft, values, strict=True):
        if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
            raise DataError(f"penalties: expected numbers, got {value!r}.")
        penalties[constraint] = value
    return plan.with_penalties(penalties)
