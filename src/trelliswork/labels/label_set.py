"""`LabelSet`: the labels of a task, their ids, and their meaning in a scheme."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from trelliswork._utils.tables import first_names
from trelliswork.data.sentence import Sentence
from trelliswork.errors import LabelError
from trelliswork.labels import schemes, segments
from trelliswork.labels.schemes import Scheme, infer_scheme
from trelliswork.labels.segments import Span, convert

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from trelliswork._typing import BoolArray, IdArray
    from trelliswork.data.sentence import Label

__all__ = ["LabelSet", "Scheme", "Span", "Transitions", "convert", "infer_scheme"]

UNLABELLED = -1
"""The id of a token whose label is not one name: unlabelled, or a set of alternatives."""


class Transitions(NamedTuple):
    """The labels that a scheme alone allows at the start, after one another and at the end.

    Attributes
    ----------
    start
        Shape ``(L,)``: may begin a sequence.
    step
        Shape ``(L, L)``: ``step[i, j]``, label ``j`` may follow label ``i``.
    end
        Shape ``(L,)``: may end a sequence.
    """

    start: BoolArray
    step: BoolArray
    end: BoolArray


@dataclass(frozen=True, init=False)
class LabelSet:
    """The ``L`` labels of a task, in the order of their ids, and their scheme.

    Parameters
    ----------
    names
        The labels; id ``i`` is ``names[i]``.
    scheme
        The form of segments: ``"plain"`` (a maximal run of one label), ``"iob1"``, ``"bio"``,
        ``"bioes"``, ``"bilou"``, or ``"path"`` (``I-authors/B-person``: every level its own B or
        I, a segment is a path prefix). See `trelliswork.labels.schemes` for the exact rules.
    outside
        The plain label that is no segment. ``None``: every maximal run is one. The other schemes
        have ``O``.

    Examples
    --------
    >>> labels = LabelSet(["O", "B-PER", "I-PER"], scheme="bio")
    >>> labels.spans(["B-PER", "I-PER", "O"])
    [Span(start=0, end=2, name='PER')]
    """

    names: tuple[str, ...]
    scheme: Scheme
    outside: str | None
    _ids: Mapping[str, int] = field(repr=False, compare=False)

    # Written out, because it takes any iterable and the field is a tuple.
    def __init__(
        self, names: Iterable[str], scheme: Scheme = "plain", outside: str | None = None
    ) -> None:
        if isinstance(names, str):
            raise TypeError(f"names: expected a sequence of labels, got the string {names!r}.")
        names = tuple(names)
        if not names:
            raise LabelError("Expected at least one label, got none.")
        schemes.check_scheme(scheme)
        if outside is not None and scheme != "plain":
            raise LabelError(
                f"outside: only plain labels choose it, {scheme} has {schemes.OUTSIDE!r}. "
                "Leave it out."
            )
        ids: dict[str, int] = {}
        for name in names:
            if not isinstance(name, str):
                raise TypeError(f"names: expected strings, got {type(name).__name__} {name!r}.")
            if name in ids:
                raise LabelError(f"Expected different labels, got {name!r} twice.")
            schemes.parse(name, scheme)
            ids[name] = len(ids)
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "scheme", scheme)
        object.__setattr__(self, "outside", outside)
        object.__setattr__(self, "_ids", ids)

    @classmethod
    def infer(
        cls,
        sequences: Iterable[Sequence[Label] | Sentence],
        scheme: Scheme | None = None,
        *,
        outside: str | None = None,
    ) -> LabelSet:
        """Return the set of labels that occur in a corpus or in label lists, sorted by name.

        Parameters
        ----------
        sequences
            A corpus, or label sequences. Names in sets of alternatives count too.
        scheme
            Their scheme; ``None`` guesses it, see `trelliswork.labels.schemes.infer_scheme`.
        outside
            The plain label that is no segment.
        """
        labels = [_labels_of(sequence) for sequence in sequences]
        names: set[str] = set().union(*map(schemes.names_in, labels))
        return cls(sorted(names), scheme or infer_scheme(labels), outside)

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __contains__(self, label: object) -> bool:
        return label in self._ids

    def id(self, label: str) -> int:
        """Return the id of a label."""
        try:
            return self._ids[label]
        except KeyError:
            raise LabelError(
                f"Unknown label {label!r}. Known are {first_names(self.names)}."
            ) from None

    def encode(self, labels: Sequence[Label]) -> IdArray:
        """Return the ids of a label sequence, shape ``(T,)``.

        A label that is ``None`` or a set of alternatives becomes ``-1``; see `allowed`.
        """
        ids = []
        for position, label in enumerate(labels):
            if not isinstance(label, str):
                ids.append(UNLABELLED)
            elif label in self._ids:
                ids.append(self._ids[label])
            else:
                raise self._unknown(label, position)
        return np.array(ids, dtype=np.int32)

    def decode(self, ids: Iterable[int]) -> list[str]:
        """Return the labels of a sequence of ids."""
        found = []
        for position, index in enumerate(ids):
            if not 0 <= index < len(self.names):
                raise LabelError(
                    f"position {position}: expected an id of 0 to {len(self) - 1}, got {index}."
                )
            found.append(self.names[index])
        return found

    def allowed(self, labels: Sequence[Label]) -> BoolArray:
        """Return which labels each token may have, shape ``(T, L)``.

        One entry is true for a name, those of its members for a set, all for ``None``.
        """
        mask = np.zeros((len(labels), len(self)), dtype=np.bool_)
        for position, label in enumerate(labels):
            if label is None:
                mask[position] = True
                continue
            for name in {label} if isinstance(label, str) else label:
                if name not in self._ids:
                    raise self._unknown(name, position)
                mask[position, self._ids[name]] = True
        return mask

    def validate(self, labels: Sequence[Label]) -> None:
        """Raise a `LabelError` naming the first label that is unknown or breaks the scheme."""
        for position, label in enumerate(labels):
            for name in sorted(schemes.names_in((label,))):
                if name not in self._ids:
                    raise self._unknown(name, position)
        schemes.check_sequence(labels, self.scheme)

    def is_valid(self, labels: Sequence[Label]) -> bool:
        """Return whether all labels are known and obey the scheme."""
        known = all(name in self._ids for name in schemes.names_in(labels))
        return known and not schemes.violations(labels, self.scheme)

    def spans(
        self, labels: Sequence[Label], *, strict: bool = False, level: int | None = None
    ) -> list[Span]:
        """Return the segments of a label sequence; see `trelliswork.labels.segments.spans`."""
        return segments.spans(labels, self.scheme, strict=strict, level=level, outside=self.outside)

    def begins(self, previous: str | None, label: str) -> tuple[str, ...]:
        """Return the names of the segments that begin at `label`, outer before inner.

        Parameters
        ----------
        previous
            The label before it, or ``None`` at the start of the sequence.
        label
            The label.
        """
        before = () if previous is None else self.parse(previous)
        levels = self.parse(label)
        depth = schemes.continued_levels(before, levels)
        return tuple(_path(levels, k) for k in range(depth, len(levels)))

    def parse(self, label: str) -> schemes.Levels:
        """Return the levels of a label as pairs ``(tag, name)``, outermost first."""
        return schemes.parse(label, self.scheme, self.outside)

    @cached_property
    def segment_names(self) -> tuple[str, ...]:
        """The names that segments of these labels can have, sorted."""
        levels = map(self.parse, self.names)
        return tuple(sorted({_path(lv, k) for lv in levels for k in range(len(lv))}))

    @cached_property
    def transitions(self) -> Transitions:
        """Labels that may begin, follow one another and end, by the scheme alone."""
        fault = schemes.transition_fault
        start = [fault(None, name, self.scheme) is None for name in self.names]
        end = [fault(name, None, self.scheme) is None for name in self.names]
        step = [[fault(a, b, self.scheme) is None for b in self.names] for a in self.names]
        arrays = Transitions(np.array(start), np.array(step), np.array(end))
        for array in arrays:
            array.flags.writeable = False  # shared by every caller
        return arrays

    @cached_property
    def beginnings(self) -> dict[str, BoolArray]:
        """The beginnings of segments of each name, shape ``(L + 1, L)``.

        Rows are the label before, the first of them being the start of the sequence; columns are
        the label.
        """
        shape = len(self.names) + 1, len(self.names)
        found = {name: np.zeros(shape, dtype=bool) for name in self.segment_names}
        for row, previous in enumerate((None, *self.names)):
            for column, label in enumerate(self.names):
                for name in self.begins(previous, label):
                    found[name][row, column] = True
        for array in found.values():
            array.flags.writeable = False  # shared by every caller
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return a plain dictionary that `from_dict` reads back."""
        return {"names": list(self.names), "scheme": self.scheme, "outside": self.outside}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> LabelSet:
        """Build the label set that `to_dict` described."""
        return cls(record["names"], record["scheme"], record.get("outside"))

    def _unknown(self, label: str, position: int) -> LabelError:
        return LabelError(
            f"position {position}: unknown label {label!r}. Known are {first_names(self.names)}."
        )


def _path(levels: schemes.Levels, k: int) -> str:
    """Return the name of the segment of level `k`."""
    return "/".join(name for _, name in levels[: k + 1])


def _labels_of(sequence: Sequence[Label] | Sentence) -> Sequence[Label]:
    return (sequence.labels or ()) if isinstance(sequence, Sentence) else sequence
