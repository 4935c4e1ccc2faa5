"""Settings of a trained tagger, as its model file holds them.

A file has the oldest format that can hold the tagger, so that earlier versions can read it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trelliswork.constraints import Predicate
from trelliswork.taggers.model_file import FORMAT_VERSION, model_file

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trelliswork.taggers.base import Tagger


__all__ = ["file_size", "tagger_settings"]

# Parameters that files of version 1 lack, with the values they had then.
SINCE_VERSION_2: dict[str, Any] = {
    "order": 1,
    "max_segment": 1,
    "adjacent": False,
    "patterns": None,
    "min_pattern_count": 1,
    "max_patterns": None,
    "edge_order": 1,
}
# The same for version 2: soft constraints are new.
SINCE_VERSION_3: dict[str, Any] = {"penalties": "likelihood", "held_out": 0.2}
# The same for version 3: training protocols and labels without training examples are new.
SINCE_VERSION_4: dict[str, Any] = {"training": None, "labels": None}
# The same for version 4: sparse training is new.
SINCE_VERSION_5: dict[str, Any] = {
    "l1": 0.0,
    "regularizer": None,
    "solver": "auto",
    "debias": False,
    "gap_tol": 1e-4,
}


def tagger_settings(tagger: Tagger) -> tuple[dict[str, Any], int]:
    """Return the settings of a trained tagger as JSON values, and the file version they need."""
    parameters = tagger._parameters_to_json()
    version = FORMAT_VERSION
    if type(tagger).__name__ == "CRFTagger":  # readable by earlier versions
        least = 1 if tagger.model_.is_first_order_chain else 2
        if tagger.plan_.soft or any("count(" in text for text in parameters["constraints"]):
            least = 3
        newer = any(".per_token()" in text for text in parameters["constraints"])
        if newer or parameters["penalties"] == "counts":
            least = 4
        parameters, version = _oldest_parameters(parameters, least)
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
        tagger.plan_.costs.check()  # a file without them would be useless
        settings["penalties"] = tagger.plan_.penalties[list(tagger.plan_.soft)].tolist()
    return settings, version


def file_size(tagger: Tagger) -> int:
    """Return the size of the model file of a trained tagger in bytes, without writing it."""
    settings, version = tagger_settings(tagger)
    return len(model_file(settings, tagger.model_.arrays(), version))


def _oldest_parameters(saved: Mapping[str, Any], version: int) -> tuple[dict[str, Any], int]:
    """Return parameters in the oldest format that can hold them, and its version.

    Parameters
    ----------
    saved
        The parameters as JSON values.
    version
        The lowest version that the rest of the file needs.
    """
    found, needed = dict(saved), 5
    news = (SINCE_VERSION_5, SINCE_VERSION_4, SINCE_VERSION_3, SINCE_VERSION_2)
    for earlier, added in zip((4, 3, 2, 1), news, strict=True):
        if earlier < version or any(found[name] != default for name, default in added.items()):
            break
        found = {name: value for name, value in found.items() if name not in added}
        needed = earlier
    return found, needed
