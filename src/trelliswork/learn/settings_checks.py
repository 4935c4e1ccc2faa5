"""Warn before training about settings that have no effect on this data."""

from __future__ import annotations

import logging
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from trelliswork.constraints.given import as_constraints
from trelliswork.errors import LabelError
from trelliswork.labels.schemes import OUTSIDE, TAGS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from trelliswork.constraints import Constraint
    from trelliswork.data.sentence import Label
    from trelliswork.features import EncodedFeatures
    from trelliswork.labels.label_set import LabelSet
    from trelliswork.labels.segmentation import Segmentation
    from trelliswork.learn.crf_settings import CRFSettings
    from trelliswork.models.model import CRFModel
    from trelliswork.models.structure import Structure

__all__ = [
    "check_rule_names",
    "check_settings",
    "labels_to_name",
    "warn_of_long_segments",
    "warn_of_no_features",
    "warn_of_no_weights",
]

logger = logging.getLogger(__name__)


def check_settings(settings: CRFSettings, structure: Structure) -> None:
    """Log a warning for settings that have no effect or are probably unintended.

    Parameters
    ----------
    settings
        The settings of the learner.
    structure
        The structure chosen for the training labels.

    Raises
    ------
    LabelError
        If a given pattern can never occur.
    """
    segmentation = structure.segmentation
    if settings.adjacent:
        _warn_of_adjacent(segmentation)
    if segmentation is not None:
        _warn_of_plain_outside(segmentation)
        _check_patterns(settings.patterns or (), segmentation)
    least = settings.min_pattern_count
    observed = settings.patterns is None and settings.order > 0
    if observed and least > 1 and not len(structure.patterns):
        logger.warning(
            "no label pattern occurs %d times: the model has no transitions; lower "
            "min_pattern_count",
            least,
        )


def check_rule_names(constraints: Any, labels: LabelSet) -> None:
    """Raise a `LabelError` if constraints name a label that does not occur in training.

    A small training set may lack an existing label, so the message says how to declare it.
    """
    given = as_constraints(constraints)
    missing = labels_to_name(given, labels)
    for constraint in given if missing else ():
        try:
            constraint.check(labels)
        except LabelError as error:
            raise LabelError(
                f"{error} If such labels exist but do not occur in training, declare them: "
                f"labels={missing!r}."
            ) from error


def labels_to_name(constraints: Iterable[Constraint], labels: LabelSet) -> list[str]:
    """Return the labels that constraints name and a label set lacks."""
    tags = TAGS.get(labels.scheme, {})
    found: list[str] = []
    for constraint in constraints:
        for name, unit in constraint.unknown_names(labels):
            if "*" in name or name in labels:  # a pattern of names, or not the name of a segment
                continue
            whole = unit == "token" or not tags
            found += [name] if whole else _tagged(name, tuple(tags), labels.scheme == "path")
    return list(dict.fromkeys(found))


def _tagged(name: str, tags: tuple[str, ...], is_path: bool) -> list[str]:
    *outer, inner = name.split("/") if is_path else [name]
    before = "".join(f"I-{level}/" for level in outer)
    return [f"{before}{tag}-{inner}" for tag in tags]


def warn_of_no_features(features: EncodedFeatures, min_count: int) -> None:
    """Log a warning if training has no features of tokens or segments."""
    parts = (features.state, features.begin, features.end, features.segment)
    if not any(part.n_features for part in parts if part is not None):
        logger.warning(
            "no feature occurs %d times or more: the model will have transitions only", min_count
        )


def warn_of_no_weights(model: CRFModel) -> None:
    """Log a warning if l1 or group norms have made the weights of all features 0."""
    parts = (model.state, model.edge, model.begin, model.end, model.segment, model.length)
    if not any(part.weights.size for part in parts if part is not None):
        logger.warning(
            "no feature has a weight: l1 or the regularizer is too strong; try a tenth of it, or "
            "see regularization_path"
        )


def warn_of_long_segments(
    sequences: Sequence[Sequence[Label]], segmentation: Segmentation | None
) -> None:
    """Log a warning if a development set has segments longer than the model allows.

    Parameters
    ----------
    sequences
        The gold labels.
    segmentation
        The segmentation of the model; None for a chain, which has no limit.
    """
    if segmentation is None or segmentation.is_hidden:  # a run may be several segments
        return
    limits = dict(zip(segmentation.names, segmentation.limits, strict=True))
    too_long = sum(
        any(span.end - span.start > limits.get(span.name, len(sequence)) for span in spans)
        for sequence in sequences
        for spans in (segmentation.labels.spans(sequence),)
    )
    if too_long:
        logger.warning(
            "%d of %d dev sequences have segments longer than max_segment allows: they cannot be "
            "predicted",
            too_long,
            len(sequences),
        )


def _warn_of_adjacent(segmentation: Segmentation | None) -> None:
    if segmentation is None:
        logger.warning("adjacent=True has no effect in a chain; set max_segment as well")
    elif segmentation.labels.scheme == "bio":
        logger.warning("adjacent=True has no effect here: segments of bio labels may be adjacent")


def _warn_of_plain_outside(segmentation: Segmentation) -> None:
    labels = segmentation.labels
    if labels.scheme == "plain" and labels.outside is None and OUTSIDE in labels:
        logger.warning(
            "%r is a segment like any other here, of at most %d tokens; set outside=%r to read "
            "such tokens one by one",
            OUTSIDE,
            segmentation.limits[labels.id(OUTSIDE)],
            OUTSIDE,
        )


def _check_patterns(patterns: Sequence[Sequence[str]], segmentation: Segmentation) -> None:
    once = ~segmentation.repeats | segmentation.continues
    single = {name for name, alone in zip(segmentation.names, once.tolist(), strict=True) if alone}
    outside = {
        name
        for name, runs in zip(segmentation.names, segmentation.continues.tolist(), strict=True)
        if runs
    }
    for place, pattern in enumerate(patterns):
        for before, after in pairwise(pattern):
            if before == after and after in single:
                advice = "" if after in outside else ", or set adjacent=True"
                raise LabelError(
                    f"patterns[{place}]: {tuple(pattern)} can never occur: a run of {after!r} is "
                    f"one segment. Leave it out{advice}."
                )
