"""Settings of a tagger that cannot mean what they say on these data: told before training."""

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
    """Log a warning for settings without an effect, and for those that hardly were meant.

    Parameters
    ----------
    settings
        The settings of the learner.
    structure
        What was made of them and of the training labels.

    Raises
    ------
    LabelError
        For a pattern that was asked for and can never occur.
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
    """Raise a `LabelError` where constraints name a label that training does not show.

    Few labelled sequences may lack one that there is, so the error says how to name it.
    """
    given = as_constraints(constraints)
    missing = labels_to_name(given, labels)
    for constraint in given if missing else ():
        try:
            constraint.check(labels)
        except LabelError as error:
            raise LabelError(
                f"{error} Where there are such labels and training shows none, name them: "
                f"labels={missing!r}."
            ) from error


def labels_to_name(constraints: Iterable[Constraint], labels: LabelSet) -> list[str]:
    """Return labels that a label set lacks, for all that constraints name to be known."""
    tags = TAGS.get(labels.scheme, {})
    found: list[str] = []
    for constraint in constraints:
        for name, unit in constraint.unknown_names(labels):
            if "*" in name or name in labels:  # a pattern of names, or no name of a segment
                continue
            whole = unit == "token" or not tags
            found += [name] if whole else _tagged(name, tuple(tags), labels.scheme == "path")
    return list(dict.fromkeys(found))


def _tagged(name: str, tags: tuple[str, ...], is_path: bool) -> list[str]:
    *outer, inner = name.split("/") if is_path else [name]
    before = "".join(f"I-{level}/" for level in outer)
    return [f"{before}{tag}-{inner}" for tag in tags]


def warn_of_no_features(features: EncodedFeatures, min_count: int) -> None:
    """Log a warning where training has no features of tokens or segments to learn from."""
    parts = (features.state, features.begin, features.end, features.segment)
    if not any(part.n_features for part in parts if part is not None):
        logger.warning(
            "no feature occurs %d times or more: the model will know transitions only", min_count
        )


def warn_of_no_weights(model: CRFModel) -> None:
    """Log a warning where l1 or norms of groups have left no weight to any feature."""
    parts = (model.state, model.edge, model.begin, model.end, model.segment, model.length)
    if not any(part.weights.size for part in parts if part is not None):
        logger.warning(
            "no feature has a weight: l1 or the regularizer is too strong; try a tenth of it, or "
            "see regularization_path"
        )


def warn_of_long_segments(
    sequences: Sequence[Sequence[Label]], segmentation: Segmentation | None
) -> None:
    """Log a warning where a model cannot give the gold labels of a development set.

    Parameters
    ----------
    sequences
        The gold labels.
    segmentation
        The segments of the model; None in a chain, which can give any.
    """
    if segmentation is None or segmentation.is_hidden:  # runs of several segments read the same
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
        logger.warning("adjacent=True changes nothing in a chain; set max_segment as well")
    elif segmentation.labels.scheme == "bio":
        logger.warning("adjacent=True changes nothing here: segments of bio labels may touch")


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
