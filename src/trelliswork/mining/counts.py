"""Counts and positions of all names in labellings, as one integer table.

The table has shape columns × sentences and is computed once. A candidate rule is then a comparison
of two columns, and thousands of them are one array operation. ``n`` sentences, ``S`` segment names,
``E`` elements of the hierarchy.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from trelliswork.constraints.reading import segment_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trelliswork._typing import IdArray
    from trelliswork.labels.label_set import LabelSet


__all__ = ["Columns", "Occurrences"]

NEVER = np.iinfo(np.int32).max // 2
"""The start of a missing segment: after all others, and far from overflow."""


@dataclass(frozen=True)
class Columns:
    """The columns of the table; the names are those that rules can mention.

    Attributes
    ----------
    labels
        The labels, which define the segments.
    names
        The ``S`` segment names, sorted.
    """

    labels: LabelSet
    names: tuple[str, ...]

    @cached_property
    def elements(self) -> dict[str, tuple[int, ...]]:
        """The elements of the hierarchy that occur under several parents, and their names.

        ``**/person`` with the places in `names` of ``authors/person`` and ``venue/editor/person``.
        An element under one parent only has the name of its path.
        """
        if self.labels.scheme != "path":
            return {}
        last = dict.fromkeys(name.rpartition("/")[2] for name in self.names)
        found = {}
        for element in last:
            meant = segment_names(self.labels, f"**/{element}")
            places = tuple(i for i, name in enumerate(self.names) if name in meant)
            if len(places) > 1:
                found[f"**/{element}"] = places
        return found

    @cached_property
    def countable(self) -> tuple[str, ...]:
        """Names of the count columns, which come first: ``S`` names, then ``E`` elements."""
        return (*self.names, *self.elements)

    @property
    def zero(self) -> int:
        """The column of zeros, for rules about one name."""
        return len(self.countable)

    @property
    def last(self) -> int:
        """The first of the ``S`` columns with the start of the last segment of each name."""
        return self.zero + 1

    @property
    def first(self) -> int:
        """The first of the ``S`` columns with the start of the first segment of each name."""
        return self.last + len(self.names)


@dataclass(frozen=True, eq=False)
class Occurrences:
    """Counts and positions of the segments of ``n`` labellings.

    Attributes
    ----------
    table
        Shape ``(columns, n)``; see `Columns`. A missing last segment has start -1, a missing first
        one `NEVER`.
    """

    table: IdArray

    @classmethod
    def read(cls, columns: Columns, labellings: Sequence[Sequence[str]]) -> Occurrences:
        """Count the segments of labellings; other names are ignored."""
        place = {name: i for i, name in enumerate(columns.names)}
        n_names = len(place)
        table = np.zeros((columns.first + n_names, len(labellings)), dtype=np.int32)
        counts, last, first = (
            table[start : start + n_names] for start in (0, columns.last, columns.first)
        )
        last[:] = -1
        first[:] = NEVER
        for sentence, names in enumerate(labellings):
            for start, _, name in columns.labels.spans(names):
                if (i := place.get(name)) is None:
                    continue
                counts[i, sentence] += 1
                last[i, sentence] = max(last[i, sentence], start)
                first[i, sentence] = min(first[i, sentence], start)
        for row, places in enumerate(columns.elements.values(), start=n_names):
            table[row] = counts[list(places)].sum(axis=0)
        return cls(table)
