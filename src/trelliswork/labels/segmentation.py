"""`Segmentation`: the segments of a semi-Markov model, and their token labels.

A semi-Markov model puts a *letter* on a segment of several tokens. There are ``L`` letters, the
names of segments, and the outside letter where the labels have one. The segments of a sequence are
carried token by token as ``2 L`` *tags*: tag ``y`` where a segment of letter ``y`` begins, tag
``y + L`` on its other tokens. A tag says which label its token has: in BIO ``B-y`` and ``I-y``,
with plain labels ``y`` and ``y``.

Tokens outside are read one by one: each is a segment of length 1 for the kernel, so that a run of
any length is possible, and the whole run is one letter for patterns and constraints. ``N`` tokens,
``B`` sequences, ``D`` tokens of the longest segment.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from trelliswork.errors import DataError, LabelError
from trelliswork.labels.gold import GoldLabels
from trelliswork.labels.label_set import LabelSet
from trelliswork.labels.schemes import OUTSIDE
from trelliswork.labels.segment_runs import (
    MaxSegment,
    bound_of,
    check_labels,
    check_lengths,
    longest_where_open,
    read_runs,
    with_both_tags,
)
from trelliswork.labels.segments import Span

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from trelliswork._typing import BoolArray, FloatArray, IdArray, IntArray
    from trelliswork.data.sentence import Label


__all__ = ["Letters", "MaxSegment", "Segmentation"]


LONGEST = 2**31  # the core counts tokens of a segment with 32 bits


class Letters(NamedTuple):
    """Label sequences with one letter a segment; a run of outside tokens is one segment.

    Attributes
    ----------
    letters
        Shape ``(M,)``; -1 for a token whose label is open.
    offsets
        Sequence ``b`` is letters ``offsets[b]`` to ``offsets[b + 1]``, shape ``(B + 1,)``.
    tokens
        The token at which each of them begins, shape ``(M,)``.
    """

    letters: IdArray
    offsets: IntArray
    tokens: IntArray


@dataclass(frozen=True)
class Segmentation:
    """The correspondence of token labels and semi-Markov segments; made by `choose`.

    Parameters
    ----------
    labels
        Token labels, plain or BIO; in BIO both labels of every segment name.
    limits
        Longest segment of each letter, in tokens; 1 for the outside letter, whose runs have no
        bound.
    adjacent
        With plain labels: whether a segment may follow another of the same letter. Labels do not
        show the border between the two, so that several segmentations read the same. In BIO
        segments may always follow one another.
    """

    labels: LabelSet
    limits: tuple[int, ...]
    adjacent: bool = False

    def __post_init__(self) -> None:
        check_labels(self.labels)
        in_range = all(1 <= limit < LONGEST for limit in self.limits)
        if len(self.limits) != len(self.names) or not in_range:
            raise ValueError(
                f"limits: expected a number from 1 to {LONGEST - 1} for each of "
                f"{', '.join(self.names)}, got {self.limits}."
            )
        if len(self.names) == 1 and not (self.adjacent or self.repeats[0] or self.continues[0]):
            raise LabelError(
                f"Expected two labels or more, got {self.names[0]!r} alone: with plain labels a "
                "segment ends where the label changes. Set adjacent=True, or max_segment=1."
            )

    @classmethod
    def choose(
        cls,
        labels: LabelSet,
        sequences: Sequence[Sequence[Label]],
        max_segment: MaxSegment,
        *,
        adjacent: bool = False,
    ) -> Segmentation:
        """Return the segmentation that fits a training set.

        Parameters
        ----------
        labels
            Its labels. In BIO, where ``B-x`` or ``I-x`` is missing it is added.
        sequences
            Its label sequences.
        max_segment
            Longest segment, in tokens; by name (a name that is left out takes the longest one
            seen); or ``"auto"``, the longest one seen of every name, where a set of alternatives
            counts as each of them, and a token without a label as part of any segment beside it.
        adjacent
            With plain labels: allow a segment to follow another of the same name.

        Raises
        ------
        LabelError
            For labels of another scheme, and for sequences that break BIO.
        DataError
            At a segment that is longer than allowed.

        Examples
        --------
        >>> labels = LabelSet(["author", "title"])
        >>> found = Segmentation.choose(labels, [["author", "author", "title"]], "auto")
        >>> found.limits
        (2, 1)
        """
        try:
            full = with_both_tags(check_labels(labels))
            blank = cls(full, (1,) * len(_letter_names(full)), adjacent)
        except LabelError as error:
            raise LabelError(f"y: {error}") from error
        bound = np.array([bound_of(name, max_segment, full) for name in blank.names])  # 0: as seen
        made = cls(full, tuple(np.maximum(bound, 1).tolist()), adjacent)
        read = read_runs(made, sequences)
        longest = longest_where_open(made, sequences)
        np.maximum.at(longest, read.letters, read.lengths)
        limits = np.where(bound > 0, bound, longest)
        limits[made.continues] = 1
        made = cls(full, tuple(limits.tolist()), adjacent)
        check_lengths(made, read)
        return made

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the ``L`` letters; the outside letter has the name of its label."""
        return _letter_names(self.labels)

    @property
    def n_letters(self) -> int:
        """Number of letters, ``L``."""
        return len(self.names)

    @property
    def max_duration(self) -> int:
        """Maximum number of tokens of any segment, ``D``."""
        return max(self.limits)

    @cached_property
    def longest(self) -> IdArray:
        """Maximum number of tokens of a segment of each letter, shape ``(L,)``."""
        return np.array(self.limits, dtype=np.int32)

    @cached_property
    def repeats(self) -> BoolArray:
        """Letters that may follow themselves as a new segment, shape ``(L,)``."""
        return np.full(len(self.names), self.adjacent or self.labels.scheme == "bio")

    @cached_property
    def continues(self) -> BoolArray:
        """Letters whose runs are one segment of any length, shape ``(L,)``: the outside letter."""
        outside = OUTSIDE if self.labels.scheme == "bio" else self.labels.outside
        found = np.array([name == outside for name in self.names])
        if self.labels.scheme == "bio":  # a segment may be called O: the outside letter is last
            found[:-1] = False
            found[-1] = OUTSIDE in self.labels
        return found

    @property
    def is_hidden(self) -> bool:
        """Whether several segmentations have the same token labels."""
        return self.adjacent and self.labels.scheme == "plain"

    @cached_property
    def token_of_tag(self) -> IdArray:
        """Token label of each tag, shape ``(2 L,)``."""
        if self.labels.scheme == "plain":
            return np.tile(np.arange(len(self.names), dtype=np.int32), 2)
        first, rest = (
            [
                OUTSIDE if outside else f"{tag}-{name}"
                for name, outside in zip(self.names, self.continues.tolist(), strict=True)
            ]
            for tag in "BI"
        )
        return np.array([self.labels.id(label) for label in (*first, *rest)], dtype=np.int32)

    @cached_property
    def tag_names(self) -> tuple[str, ...]:
        """Token label of each tag, by name."""
        return tuple(self.labels.names[y] for y in self.token_of_tag)

    @cached_property
    def letter_set(self) -> LabelSet:
        """Letters as BIO labels, one a segment, for rules on segments; ids are letters."""
        return LabelSet(
            [
                OUTSIDE if outside else f"B-{name}"
                for name, outside in zip(self.names, self.continues.tolist(), strict=True)
            ],
            scheme="bio",
        )

    def encode(self, sequences: Sequence[Sequence[Label]]) -> GoldLabels:
        """Return gold labels as letters; gold segments of plain labels are maximal runs.

        Where a token is open, the sequence may have any segments inside `allowed`; `begins` is then
        true wherever one may begin for all that is known.

        Raises
        ------
        LabelError
            For labels that are unknown or break BIO.
        DataError
            At a segment that is longer than allowed.
        """
        read = read_runs(self, sequences)
        check_lengths(self, read)
        allowed = None
        if (read.ids < 0).any():
            flat = [label for sequence in sequences for label in sequence]
            allowed = self.tag_mask(self.labels.allowed(flat))
            sequence = np.repeat(np.arange(len(sequences)), np.diff(read.offsets))  # of each token
            n_open = np.bincount(sequence, read.ids < 0, minlength=len(sequences))
            closed = np.flatnonzero(n_open[sequence] == 0)
            allowed[closed] = False
            allowed[closed, (~read.begins[closed]).astype(np.intp), read.ids[closed]] = True
        return GoldLabels(ids=read.ids, begins=read.begins, allowed=allowed)

    def letters_of(self, gold: GoldLabels, offsets: IntArray) -> Letters:
        """Return gold labels with one letter a segment, the form that patterns count.

        Parameters
        ----------
        gold
            The labels, from `encode`.
        offsets
            Sequence ``b`` is tokens ``offsets[b]`` to ``offsets[b + 1]``, shape ``(B + 1,)``.
        """
        assert gold.begins is not None, "encoded by a segmentation"
        goes_on = np.zeros(gold.ids.size, dtype=bool)
        goes_on[1:] = (gold.ids[1:] == gold.ids[:-1]) & (gold.ids[1:] >= 0)
        goes_on &= self.continues[np.maximum(gold.ids, 0)]
        goes_on[offsets[:-1][offsets[:-1] < gold.ids.size]] = False
        shown = gold.begins & ~goes_on
        counts = np.concatenate([[0], np.cumsum(shown)])
        return Letters(gold.ids[shown], counts[offsets], np.flatnonzero(shown))

    def tag_mask(self, token_mask: BoolArray) -> BoolArray:
        """Return the letters that may begin and continue at each token, shape ``(N, 2, L)``.

        Parameters
        ----------
        token_mask
            Labels that each token may have, one column a token label.
        """
        found: BoolArray = token_mask[:, self.token_of_tag]
        return found.reshape(len(token_mask), 2, len(self.names))

    def token_probabilities(self, tags: FloatArray) -> FloatArray:
        """Return the probabilities of token labels, one column a label, from those of tags.

        Parameters
        ----------
        tags
            ``P(letter y begins at t)`` and ``P(it goes on)``, shape ``(N, 2, L)``.
        """
        flat = tags.reshape(len(tags), 2 * len(self.names))
        found = np.zeros((len(tags), len(self.labels)))
        for of_tag, label in zip(flat.T, self.token_of_tag, strict=True):
            found[:, label] += of_tag
        return found

    def spans(self, tags: Iterable[int]) -> list[Span]:
        """Return the segments of one sequence of tags, without outside ones."""
        found: list[Span] = []
        n_letters = len(self.names)
        for position, tag in enumerate(tags):
            letter = tag % n_letters
            if self.continues[letter]:
                continue
            if tag < n_letters:
                found.append(Span(position, position + 1, self.names[letter]))
            else:
                found[-1] = found[-1]._replace(end=position + 1)
        return found

    def spell_limits(self) -> str:
        """Return the longest segments as text: ``author 6, title 4``; without the outside letter.

        Examples
        --------
        >>> Segmentation(LabelSet(["author", "title"]), (6, 4)).spell_limits()
        'author 6, title 4'
        """
        letters = zip(self.names, self.limits, self.continues.tolist(), strict=True)
        return ", ".join(f"{name} {limit}" for name, limit, outside in letters if not outside)

    def blank_scores(self, n_tokens: int) -> FloatArray:
        """Return scores that allow every segment and prefer none, shape ``(N, D, L)``."""
        durations = np.arange(self.max_duration)[:, None]
        allowed = np.where(durations < self.longest, 0.0, -np.inf)
        return np.broadcast_to(allowed, (n_tokens, *allowed.shape))

    def settings(self) -> dict[str, Any]:
        """Return the settings for `restore`, apart from the labels, as JSON values."""
        return {"limits": list(self.limits), "adjacent": bool(self.adjacent)}

    @classmethod
    def restore(cls, labels: LabelSet, settings: Mapping[str, Any]) -> Segmentation:
        """Rebuild a segmentation from its `settings`."""
        limits, adjacent = settings["limits"], settings["adjacent"]
        if not isinstance(limits, list) or any(type(limit) is not int for limit in limits):
            raise DataError(f"limits: expected a list of whole numbers, got {limits!r}.")
        if not isinstance(adjacent, bool):
            raise DataError(f"adjacent: expected true or false, got {adjacent!r}.")
        if with_both_tags(labels) != labels:
            raise DataError("labels: expected both B and I of every segment name.")
        made = cls(labels, tuple(limits), adjacent)
        if (made.longest[made.continues] != 1).any():
            raise DataError(f"limits: expected 1 token of the outside letter, got {limits}.")
        return made


def _letter_names(labels: LabelSet) -> tuple[str, ...]:
    if labels.scheme == "plain":
        return labels.names
    return (*labels.segment_names, *((OUTSIDE,) if OUTSIDE in labels else ()))
