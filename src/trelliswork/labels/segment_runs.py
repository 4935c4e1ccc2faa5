"""Token labels as runs of letters of a semi-Markov model, with the checks this needs."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import TYPE_CHECKING, Literal

import numpy as np

from trelliswork.errors import DataError, LabelError
from trelliswork.labels.label_set import LabelSet
from trelliswork.labels.schemes import check_sequence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trelliswork._typing import BoolArray, IdArray, IntArray
    from trelliswork.data.sentence import Label
    from trelliswork.labels.segmentation import Segmentation


__all__ = [
    "MaxSegment",
    "Runs",
    "bound_of",
    "check_labels",
    "check_lengths",
    "longest_where_open",
    "read_runs",
    "with_both_tags",
]

MAX_TOKENS = 1_000_000

MaxSegment = int | Mapping[str, int] | Literal["auto"]
"""Longest segment in tokens: of all names, of some by name, or as long as seen in training."""


class Runs:
    """Token labels as letters: ``ids`` and ``begins`` of tokens, and the runs they form.

    ``starts``, ``lengths`` and ``letters`` have one entry a run of known tokens that is certainly
    inside one segment.
    """

    def __init__(self, ids: IdArray, begins: BoolArray, offsets: IntArray) -> None:
        self.ids, self.begins, self.offsets = ids, begins, offsets
        edges = begins.copy()
        edges[1:] |= ids[1:] != ids[:-1]  # a label that goes on after an open token starts no run
        edges[offsets[:-1][np.diff(offsets) > 0]] = True
        starts = np.flatnonzero(edges)
        lengths = np.diff(starts, append=ids.size)
        known = ids[starts] >= 0
        self.starts, self.lengths = starts[known], lengths[known]
        self.letters = ids[self.starts]


def read_runs(segmentation: Segmentation, sequences: Sequence[Sequence[Label]]) -> Runs:
    """Return the letters of token labels and the beginnings of segments, as far as known."""
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


def longest_where_open(
    segmentation: Segmentation, sequences: Sequence[Sequence[Label]]
) -> IntArray:
    """Return the most tokens of a segment of each letter at open labels, shape ``(L,)``.

    1 where none are. A set of alternatives counts as each of them. A token without a label may
    belong to any segment beside it, but does not make one by itself.
    """
    longest = np.ones(segmentation.n_letters, dtype=np.int64)
    for sequence in sequences:
        if all(isinstance(label, str) for label in sequence):
            continue
        allowed = segmentation.tag_mask(segmentation.labels.allowed(sequence))
        shown = np.array([label is not None for label in sequence])
        lengths = np.zeros(segmentation.n_letters, dtype=np.int64)
        certain = np.zeros(segmentation.n_letters, dtype=bool)  # a token shows the letter
        for (begins, goes_on), is_shown in zip(allowed, shown, strict=True):
            extends = goes_on & (lengths > 0)
            lengths = np.where(extends, lengths + 1, begins)
            certain = (certain & extends) | ((lengths > 0) & is_shown)
            np.maximum(longest, lengths * certain, out=longest)
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
    """Return labels that define segments, or raise a `LabelError`."""
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
    """Return BIO labels with ``B-x`` and ``I-x`` for every name ``x``; plain ones unchanged."""
    if labels.scheme == "plain":
        return labels
    wanted = [f"{tag}-{name}" for name in labels.segment_names for tag in "BI"]
    missing = [label for label in wanted if label not in labels]
    return LabelSet((*labels.names, *missing), labels.scheme) if missing else labels


def bound_of(name: str, max_segment: MaxSegment, labels: LabelSet) -> int:
    """Return the bound given for a name; 0 if the training data decide."""
    if isinstance(max_segment, str) and max_segment == "auto":
        return 0
    if isinstance(max_segment, Mapping):
        unknown = [key for key in max_segment if key not in labels.segment_names]
        if unknown:
            raise LabelError(
                f"max_segment: unknown segment {unknown[0]!r}. Known are "
                f"{', '.join(labels.segment_names)}."
            )
        return _whole(max_segment[name], 1) if name in max_segment else 0
    return _whole(max_segment, 2)


def _whole(value: object, least: int) -> int:
    is_whole = isinstance(value, Integral) and not isinstance(value, bool)
    number = int(value) if isinstance(value, Integral) else 0
    if not is_whole or not least <= number <= MAX_TOKENS:
        raise ValueError(
            f"max_segment: expected a number of tokens from {least} up to {MAX_TOKENS:,}, such "
            f"numbers by name, or 'auto', got {value!r}."
        )
    return number
