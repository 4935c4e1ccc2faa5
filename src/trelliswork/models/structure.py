"""The structure of a model without weights: letters, label patterns, segments."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from trelliswork.automata.patterns import Patterns
from trelliswork.errors import DataError
from trelliswork.features.matrix import SegmentSpec
from trelliswork.labels.label_set import LabelSet
from trelliswork.labels.segmentation import Letters, Segmentation

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from trelliswork._typing import BoolArray, IdArray, IntArray
    from trelliswork.automata.automaton import Automaton
    from trelliswork.data.sentence import Label
    from trelliswork.labels.gold import GoldLabels
    from trelliswork.labels.segmentation import MaxSegment

__all__ = ["Structure", "length_buckets", "n_length_buckets"]


@dataclass(frozen=True)
class Structure:
    """The shape of a model: a chain of any order, or a semi-Markov model of any order.

    Attributes
    ----------
    labels : LabelSet
        The labels of tokens.
    patterns : Patterns
        The ``P`` label patterns that have a weight, over ``L`` letters: labels of tokens in a
        chain, names of segments in a semi-Markov model.
    segmentation : Segmentation or None
        The correspondence of segments and token labels; None in a chain.
    edge_order : int
        Patterns up to this order may have weights for features of the observation.
    """

    labels: LabelSet
    patterns: Patterns
    segmentation: Segmentation | None = None
    edge_order: int = 1

    @classmethod
    def chain(cls, labels: LabelSet) -> Structure:
        """Return the structure of a first-order chain, with all transitions as patterns."""
        return cls(labels, Patterns.chain(len(labels)))

    @classmethod
    def choose(
        cls,
        labels: LabelSet,
        sequences: Sequence[Sequence[Label]],
        *,
        order: int = 1,
        max_segment: MaxSegment = 1,
        adjacent: bool = False,
        patterns: Iterable[Sequence[str]] | None = None,
        min_count: int = 1,
        max_patterns: int | None = None,
        all_transitions: bool = False,
        edge_order: int = 1,
    ) -> Structure:
        """Return the structure for a training set.

        Parameters
        ----------
        labels, sequences
            The labels of the training set, and its label sequences.
        order
            Maximum order of the patterns, which have 2 to ``order + 1`` letters.
        max_segment, adjacent
            Maximum segment length, 1 for a chain, and whether equal plain segments may be adjacent;
            see `Segmentation.choose`.
        patterns
            Patterns of letter names to use instead of the observed ones.
        min_count, max_patterns
            Minimum count of a pattern, and maximum number of patterns.
        all_transitions
            Whether all pairs of letters have a weight, observed or not.
        edge_order
            Patterns up to this order may have weights for features of the observation.
        """
        segmentation = None
        if max_segment != 1:
            segmentation = Segmentation.choose(labels, sequences, max_segment, adjacent=adjacent)
            labels = segmentation.labels
        cut = min_count > 1 or max_patterns is not None
        if segmentation is None and order == 1 and patterns is None and not cut:
            return cls(labels, Patterns.chain(len(labels)), None, edge_order)
        bare = cls(labels, Patterns.of((), len(labels)), segmentation)
        names = bare.letter_names
        if patterns is not None:
            found = Patterns.named(patterns, names)
        else:
            gold = bare.encode(sequences)
            offsets = np.cumsum([0, *map(len, sequences)]).astype(np.int64)
            seen = bare.letters_of(gold, offsets)
            found = Patterns.observe(
                seen.letters,
                seen.offsets,
                len(names),
                order,
                min_count=min_count,
                max_patterns=max_patterns,
            )
            if gold.allowed is not None:
                found = bare._with_pairs(found, gold.open_pairs(offsets))
        if all_transitions:
            found = bare._with_pairs(found, np.ones((len(names),) * 2, dtype=bool))
        return cls(labels, found, segmentation, edge_order)

    def _with_pairs(self, patterns: Patterns, wanted: BoolArray) -> Patterns:
        """Return patterns with wanted pairs of letters, (L, L), added if they can occur."""
        may = wanted.copy()
        if self.segmentation is not None:
            np.fill_diagonal(
                may, may.diagonal() & self.segmentation.repeats & ~self.segmentation.continues
            )
        pairs = {(int(a), int(b)) for a, b in np.argwhere(may)}
        more = Patterns.of({*patterns, *pairs}, patterns.n_labels)
        if patterns.counts is None:
            return more
        counts = np.zeros(len(more), dtype=np.int64)
        counts[patterns.places_in(more, np.arange(patterns.n_labels))] = patterns.counts
        return Patterns(patterns.n_labels, more.offsets, more.letters, counts)

    @cached_property
    def automaton(self) -> Automaton:
        """The automaton of the patterns."""
        if self.segmentation is None:
            return self.patterns.automaton()
        return self.patterns.automaton(
            repeats=self.segmentation.repeats, continues=self.segmentation.continues
        )

    @property
    def n_letters(self) -> int:
        """Number of letters, ``L``."""
        return self.patterns.n_labels

    @property
    def letter_names(self) -> tuple[str, ...]:
        """The names of the letters."""
        return self.labels.names if self.segmentation is None else self.segmentation.names

    @property
    def n_durations(self) -> int:
        """Maximum segment length, ``D``; 1 in a chain."""
        return 1 if self.segmentation is None else self.segmentation.max_duration

    def durations_of(self, offsets: IntArray) -> int:
        """Return the maximum segment length in a batch.

        Parameters
        ----------
        offsets
            Sequence ``b`` is tokens ``offsets[b]`` to ``offsets[b + 1]``, shape ``(B + 1,)``.
        """
        longest = int(np.diff(offsets).max(initial=1))
        return max(1, min(self.n_durations, longest))

    @cached_property
    def n_edge_patterns(self) -> int:
        """Number of patterns, from the first, with weights for features of the observation."""
        return int(np.searchsorted(self.patterns.lengths, self.edge_order + 1, side="right"))

    def encode(self, sequences: Sequence[Sequence[Label]]) -> GoldLabels:
        """Return label sequences as letters."""
        from trelliswork.labels.gold import GoldLabels

        if self.segmentation is not None:
            return self.segmentation.encode(sequences)
        return GoldLabels.encode(self.labels, sequences)

    def letters_of(self, gold: GoldLabels, offsets: IntArray) -> Letters:
        """Return gold labels with one letter per segment, the input of patterns."""
        if self.segmentation is not None:
            return self.segmentation.letters_of(gold, offsets)
        return Letters(gold.ids, offsets, np.arange(gold.ids.size))

    def known_segments(self, gold: GoldLabels, lengths: Sequence[int]) -> SegmentSpec | None:
        """Return the gold segments to extract features from; None in a chain.

        Parameters
        ----------
        gold
            The labels of the training set.
        lengths
            The number of tokens of its sequences.
        """
        if self.segmentation is None:
            return None
        starts, ends = gold.segments(np.cumsum([0, *lengths]).astype(np.int64))
        inside = ~self.segmentation.continues[gold.ids[starts]]
        return SegmentSpec(starts[inside], ends[inside], self.n_durations)

    def settings(self) -> dict[str, Any]:
        """Return the structure without its arrays, as JSON values."""
        found: dict[str, Any] = {"labels": self.labels.to_dict()}
        if self.segmentation is not None:
            found["segmentation"] = self.segmentation.settings()
        if not self.patterns.is_chain or self.edge_order != 1:
            found["edge_order"] = int(self.edge_order)
        return found

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the patterns as arrays; empty if they are all transitions of a chain."""
        return {} if self.patterns.is_chain else self.patterns.arrays()

    @classmethod
    def restore(cls, settings: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Structure:
        """Return the structure with these `settings` and `arrays`."""
        labels = LabelSet.from_dict(settings["labels"])
        segmentation = None
        if "segmentation" in settings:
            segmentation = Segmentation.restore(labels, settings["segmentation"])
        n_letters = len(labels) if segmentation is None else segmentation.n_letters
        patterns = Patterns.restore(n_letters, arrays) if arrays else Patterns.chain(n_letters)
        edge_order = settings.get("edge_order", 1)
        if not isinstance(edge_order, int) or isinstance(edge_order, bool) or edge_order < 0:
            raise DataError(f"edge_order: expected a number from 0 up, got {edge_order!r}.")
        return cls(labels, patterns, segmentation, edge_order)


def length_buckets(n_durations: int) -> IdArray:
    """Return the weight index of each segment length, shape ``(D,)``.

    Lengths up to 8 have separate weights; beyond, there are four weights per doubling: 9–10, 11–12,
    13–14, 15–16, 17–20, 21–24, … .

    Examples
    --------
    >>> length_buckets(13).tolist()
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 9, 9, 10]
    """
    return _bucket(np.arange(1, n_durations + 1)).astype(np.int32)


def n_length_buckets(n_durations: int) -> int:
    """Return the number of weights of segment lengths."""
    return int(_bucket(np.array([n_durations]))[0]) + 1


def _bucket(length: IntArray) -> IntArray:
    doubling = np.maximum(np.ceil(np.log2(length)).astype(np.int64) - 3, 0)
    width = 2 ** np.maximum(doubling, 1)
    within = (length - 1 - 4 * width) // width
    return np.where(length <= 8, length - 1, 8 + 4 * (doubling - 1) + within)
