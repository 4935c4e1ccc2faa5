"""A trained tagger as the content of a model file: settings, arrays and a version."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trelliswork.constraints import Predicate
from trelliswork.taggers.model_file import FORMAT_VERSION, model_file
from trelliswork.taggers.parameters import oldest_parameters
from trelliswork.taggers.saved import restore_model

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from trelliswork.taggers.base import Tagger

__all__ = ["described", "file_size", "restored"]

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
        tagger.plan_.check_penalties()  # without them the file would be of no use
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
