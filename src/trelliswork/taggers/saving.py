"""A trained tagger as the content of a model file: settings, arrays and a version.

What a model file needs to become a tagger again, and a tagger that needs nothing else.

Tagging with a saved model takes neither a learner nor scikit-learn, whose import alone lasts longer
than to read the file and to tag some hundred sentences.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from trelliswork._utils.threads import check_jobs
from trelliswork.constraints import Predicate
from trelliswork.constraints.text.parser import parse
from trelliswork.decoding.conflicts import check_on_infeasible
from trelliswork.errors import DataError
from trelliswork.models.model import CRFModel
from trelliswork.planning.plan import DECODING_BUDGET, Plan
from trelliswork.taggers.model_file import FORMAT_VERSION, model_file
from trelliswork.taggers.parameters import oldest_parameters
from trelliswork.taggers.trained import TrainedTagger

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from trelliswork.constraints import Constraint
    from trelliswork.decoding.conflicts import OnInfeasible
    from trelliswork.taggers.base import Tagger


__all__ = ["SavedTagger", "described", "file_size", "restore_model", "restored", "restored_model"]


NEWEST = FORMAT_VERSION
"""What taggers that earlier versions do not know need."""


def described(tagger: Tagger) -> tuple[dict[str, Any], int]:
    """Return the settings of a trained tagger as JSON can hold them, and the version they need."""
    parameters = tagger._saved_parameters()
    version = NEWEST
    if type(tagger).__name__ == "CRFTagger":  # which earlier versions can read
        least = 1 if tagger.model_.is_first_order_chain else 2
        if tagger.plan_.soft or any("count(" in text for text in parameters["constraints"]):
            least = 3
        newer = any(".per_token()" in text for text in parameters["constraints"])
        if newer or parameters["penalties"] == "counts":
            least = 4
        parameters, version = oldest_parameters(parameters, least)
    if tagger.plan_.predicates:
        version = max(version, 4)
    settings: dict[str, Any] = {
        "estimator": type(tagger).__name__,
        "parameters": parameters,
        "plan": tagger.plan_.budgets(),
        "model": tagger.model_.settings(),
        "training": tagger._training_record(),
        "metadata": tagger.metadata_,
    }
    if tagger.plan_.predicates:
        rules = (tagger.plan_.constraints[i].hard for i in tagger.plan_.predicates)
        settings["predicates"] = [rule.name for rule in rules if isinstance(rule, Predicate)]
    if tagger.plan_.soft:
        tagger.plan_.costs.check()  # without them the file would be of no use
        settings["penalties"] = tagger.plan_.penalties[list(tagger.plan_.soft)].tolist()
    return settings, version


def file_size(tagger: Tagger) -> int:
    """Return how many bytes the model file of a trained tagger has; nothing is written."""
    settings, version = described(tagger)
    return len(model_file(settings, tagger.model_.arrays(), version))


def restored(
    kind: type[Tagger],
    settings: Mapping[str, Any],
    arrays: Mapping[str, NDArray[Any]],
    predicates: Mapping[str, Predicate] | None = None,
) -> Tagger:
    """Return the tagger that `described` and its model's arrays stand for; nothing is executed.

    Its predicates, which are never saved, are those given.
    """
    tagger = kind(**kind._restored_parameters(settings["parameters"], predicates))
    restore_model(
        tagger,
        settings,
        arrays,
        constrained_training=getattr(tagger, "constrained_training", False),
        train_soft=getattr(tagger, "penalties", None) == "likelihood",
    )
    tagger._restore_training(settings["training"])
    return tagger


class SavedTagger(TrainedTagger):
    """A trained tagger that is no estimator: it can tag, and not be trained again.

    Parameters
    ----------
    constraints
        The rules.
    on_infeasible
        What to do where no labelling satisfies them.
    decoding_budget
        Most arcs of a product.
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


def restored_model(
    settings: Mapping[str, Any],
    arrays: Mapping[str, NDArray[Any]],
    predicates: Mapping[str, Predicate] | None = None,
) -> SavedTagger:
    """Return what the settings and the arrays of a model file stand for; nothing is executed."""
    parameters = settings["parameters"]
    rules = parameters.get("constraints") or ()  # old files have none
    tagger = SavedTagger(
        tuple(parse(text, predicates=predicates) for text in rules),
        parameters.get("on_infeasible", "error"),
        parameters.get("decoding_budget", DECODING_BUDGET),
        parameters.get("n_jobs"),
    )
    # What old files of CRFs do not name; other taggers have no such parameters.
    is_crf = settings["estimator"] == "CRFTagger"
    penalties = parameters.get("penalties", "likelihood" if is_crf else None)
    restore_model(
        tagger,
        settings,
        arrays,
        constrained_training=parameters.get("constrained_training", is_crf),
        train_soft=penalties == "likelihood",
    )
    return tagger


def restore_model(
    tagger: TrainedTagger,
    settings: Mapping[str, Any],
    arrays: Mapping[str, NDArray[Any]],
    *,
    constrained_training: bool,
    train_soft: bool,
) -> None:
    """Set what a tagger has learned from a model file.

    Parameters
    ----------
    tagger
        A tagger with its parameters.
    settings, arrays
        What the file holds.
    constrained_training, train_soft
        Whether training was under its constraints, and learned the penalties of the soft ones.
    """
    check_on_infeasible(tagger.on_infeasible)
    check_jobs(tagger.n_jobs)
    tagger.model_ = CRFModel.restore(settings["model"], arrays)
    tagger.labels_ = tagger.model_.labels
    tagger.classes_ = np.array(tagger.labels_.names)
    # Files written before budgets could be chosen do not name them.
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
