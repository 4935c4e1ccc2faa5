"""Token labels read as the letters of a semi-Markov model, and what may stand in the way."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import TYPE_CHECKING, Literal

import numpy as np

from trelliswork.errors import DataError, LabelError
from trelliswork.labels import LabelSet
from trelliswork.schemes import check_sequence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from trelliswork.segmentation import Segmentation
    from trelliswork.sentence import Label

    BoolArray = NDArray[np.bool_]
    IdArray = NDArray[np.int32]
    IntArray = NDArray[np.int64]

__all__ = [
    "MaxSegment",
    "Runs",
    "bound_of",
    "check_labels",
    "check_lengths",
    "longest_among_alternatives",
    "read_runs",
    "with_both_tags",
]

MaxSegment = int | Mapping[str, int] | Literal["auto"]
"""Most tokens of a segment: of every one, of some by name, or of the longest one seen."""


class Runs:
    """Token labels read as letters: ``ids`` and ``begins`` of tokens, and the runs they make.

    ``starts``, ``lengths`` and ``letters`` have one entry a run of known tokens that is certainly
    inside one segment.
    """

    def __init__(self, ids: IdArray, begins: BoolArray, offsets: IntArray) -> None:
        self.ids, self.begins, self.offsets = ids, begins, offsets
        edges = begins.copy()
        edges[1:] |= ids[1:] != ids[:-1]  # what goes on after an open token has no start of its own
        edges[offsets[:-1][np.diff(offsets) > 0]] = True
        starts = np.flatnonzero(edges)
        lengths = np.diff(starts, append=ids.size)
        known = ids[starts] >= 0
        self.starts, self.lengths = starts[known], lengths[known]
        self.letters = ids[self.starts]


def read_runs(segmentation: Segmentation, sequences: Sequence[Sequence[Label]]) -> Runs:
    """Return the letters of token labels and where segments begin, as far as known."""
    offsets = np.cumsum([0, *map(len, sequences)]).astype(np.int64)
    labels = np.concatenate(
        [np.zeros(0, np.int32), *(_ids(segmentation.labels, s, b) for b, s in enumerate(sequences))]
    )
    is_first = np.zeros(labels.size, dtype=bool)
    is_first[offsets[:-1][np.diff(offsets) > 0]] = True
    before = np.where(is_first, -1, np.roll(labels, 1))
    letter_of = np.zeros(len(segmentation.labels), dtype=np.int32)
    letter_of[segmentation.token_of_tag] = np.tile(np.arange(len(segmentation.names)), 2)
    ids = np.where(labels >= 0, letter_of[labels], -1).astype(np.int32)
    if segmentation.labels.scheme == "plain":
        begins = labels != before
    else:
        _check_bio(segmentation.labels, sequences, offsets, labels, before, is_first)
        begins = segmentation.token_of_tag[np.maximum(ids, 0)] == labels
    begins |= is_first & (labels >= 0) | (labels < 0) | segmentation.continues[np.maximum(ids, 0)]
    return Runs(ids, begins, offsets)


def _ids(labels: LabelSet, sequence: Sequence[Label], index: int) -> IdArray:
    try:
        return labels.encode(sequence)
    except LabelError as error:
        raise _placed(LabelError(f"y: sequence {index}, {error}"), index) from error


def _placed(error: LabelError, sequence: int) -> LabelError:
    error.sequence = sequence
    return error


def _check_bio(
    label_set: LabelSet,
    sequences: Sequence[Sequence[Label]],
    offsets: IntArray,
    labels: IdArray,
    before: IdArray,
    is_first: BoolArray,
) -> None:
    may_begin, may_follow, _ = label_set.transitions
    fine = np.where(is_first, may_begin[labels], may_follow[before, labels])
    fine |= (labels < 0) | ((before < 0) & ~is_first)
    for position in np.flatnonzero(~fine)[:1]:
        sequence = int(np.searchsorted(offsets, position, side="right")) - 1
        try:
            check_sequence(sequences[sequence], "bio")
        except LabelError as error:
            broken = LabelError(
                f"y: sequence {sequence}, {error} Segments begin with B in a semi-Markov "
                "model: mend the labels with trelliswork.convert(labels, 'bio', 'bio', "
                "repair=True), or set max_segment=1."
            )
            raise _placed(broken, sequence) from error


def longest_among_alternatives(
    segmentation: Segmentation, sequences: Sequence[Sequence[Label]]
) -> IntArray:
    """Return how long segments of each letter can be where labels are sets, shape ``(L,)``.

    1 where there are none. A token without a label ends a run.
    """
    longest = np.ones(segmentation.n_letters, dtype=np.int64)
    for sequence in sequences:
        if not any(isinstance(label, frozenset) for label in sequence):
            continue
        shown = [frozenset[str]() if label is None else label for label in sequence]
        may_begin, may_go_on = segmentation.tag_mask(segmentation.labels.allowed(shown)).swapaxes(
            0, 1
        )
        lengths = np.zeros(segmentation.n_letters, dtype=np.int64)
        for begins, goes_on in zip(may_begin, may_go_on, strict=True):
            lengths = np.maximum((lengths + 1) * goes_on, begins)
            np.maximum(longest, lengths, out=longest)
    return longest


def check_lengths(segmentation: Segmentation, read: Runs) -> None:
    """Raise a `DataError` at the first segment that is longer than allowed."""
    too_long = np.flatnonzero(read.lengths > segmentation.longest[read.letters])
    if not too_long.size:
        return
    letters, lengths = read.letters[too_long], read.lengths[too_long]
    sequences = np.searchsorted(read.offsets, read.starts[too_long], side="right") - 1
    sequence, name = int(sequences[0]), segmentation.names[letters[0]]
    longest = np.zeros(segmentation.n_letters, dtype=np.int64)
    np.maximum.at(longest, letters, lengths)
    needed = ", ".join(
        f"{segmentation.names[y]} {longest[y]}" for y in np.argsort(-longest) if longest[y]
    )
    error = DataError(
        f"y: sequence {sequence}, token {read.starts[too_long[0]] - read.offsets[sequence]}: a "
        f"segment of {name!r} has {lengths[0]} tokens, and max_segment allows "
        f"{segmentation.limits[letters[0]]}. Longest are {needed}; "
        f"{np.unique(sequences).size} of {read.offsets.size - 1} sequences have such segments. "
        f"Raise it to {longest.max()} or more, or set max_segment='auto'."
    )
    error.sequence = sequence
    raise error


def check_labels(labels: LabelSet) -> LabelSet:
    """Return labels that segments can be read from, or raise a `LabelError`."""
    if labels.scheme not in ("plain", "bio"):
        advice = (
            "Choose one level of them."
            if labels.scheme == "path"
            else f"Convert them with trelliswork.convert(labels, {labels.scheme!r}, 'bio')."
        )
        raise LabelError(
            "Expected plain or bio labels in a model with segments of several tokens "
            f"(max_segment), got {labels.scheme}. {advice}"
        )
    return labels


def with_both_tags(labels: LabelSet) -> LabelSet:
    """Return BIO labels with ``B-x`` and ``I-x`` for every name ``x``; plain ones as they are."""
    if labels.scheme == "plain":
        return labels
    wanted = [f"{tag}-{name}" for name in labels.segment_names for tag in "BI"]
    missing = [label for label in wanted if label not in labels]
    return LabelSet((*labels.names, *missing), labels.scheme) if missing else labels


def bound_of(name: str, max_segment: MaxSegment, labels: LabelSet) -> int:
    """Return the bound that was given for a name; 0 where what was seen decides."""
    if isinstance(max_segment, str) and max_segment == "auto":
        return 0
    if isinstance(max_segment, Mapping):
        unknown = [key for key in max_segment if key not in labels.segment_names]
        if unknown:
            raise LabelError(
                f"max_segment: no segment is called {unknown[0]!r}. Known are "
                f"{', '.join(labels.segment_names)}."
            )
        return _whole(max_segment[name], 1) if name in max_segment else 0
    return _whole(max_segment, 2)


def _whole(value: object, least: int) -> int:
    if not isinstance(value, Integral) or isinstance(value, bool) or int(value) < least:
        raise ValueError(
            f"max_segment: expected a number of tokens from {least} up, such numbers by name, or "
            f"'auto', got {value!r}."
        )
    return int(value)
