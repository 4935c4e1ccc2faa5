"""Rows: rules that are linear in counts, the form that decoding prices.

The violation of a row is the excess of a weighted sum of counts over its bound,

    v(y) = max(0, a · n(y) − b),

where ``n(y)`` counts the segments, the tokens, or the runs of tokens of some names. The sum grows
from token to token by what a label adds after the one before it (`Row.table`), so that a price on
the row is a score on pairs of labels.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from trelliswork.constraints.monitors import Symbols
from trelliswork.constraints.reading import segment_names, token_names

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trelliswork._typing import IntArray
    from trelliswork.constraints.reading import Reading
    from trelliswork.labels.label_set import LabelSet

__all__ = ["Row", "RowUnit", "Term", "merge_terms"]

RowUnit: TypeAlias = Literal["segment", "token", "run"]
"""The counted units: segments, tokens, or unbroken runs of tokens that a name stands for."""

Term: TypeAlias = tuple[int, str, RowUnit]
"""A coefficient, the name that it counts, and the unit."""


@dataclass(frozen=True)
class Row:
    """A linear rule ``Σ coefficient · count(name) ≤ bound``.

    Attributes
    ----------
    terms
        Triples (coefficient, name, unit), no two about the same name and unit and none of 0: they
        are merged when the row is made, in the order in which they are first mentioned.
    bound
        The bound.

    Examples
    --------
    >>> Row(((1, "a", "segment"), (2, "a", "segment")), 1).terms
    ((3, 'a', 'segment'),)
    """

    terms: tuple[Term, ...]
    bound: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "terms", merge_terms(self.terms))

    def violations(self, reading: Reading) -> int:
        """Return ``max(0, a · n(y) − b)`` of one labelling."""
        total = sum(c * count(reading, name, unit) for c, name, unit in self.terms)
        return max(0, total - self.bound)

    def table(self, labels: LabelSet) -> IntArray:
        """Return the summand of each label on the left side, given the label before it.

        The left side of a labelling ``y`` is the sum of ``table[y[t-1] + 1, y[t]]`` over its
        tokens, of ``table[0, y[0]]`` for the first.

        Parameters
        ----------
        labels
            The ``L`` labels.

        Returns
        -------
        ndarray of int64
            Shape ``(L + 1, L)``, read-only; row 0 is for the first token.
        """
        return _table(self, labels)


def merge_terms(terms: Iterable[Term]) -> tuple[Term, ...]:
    """Add up terms of the same name and unit, and drop those with coefficient 0."""
    sums: dict[tuple[str, RowUnit], int] = {}
    for coefficient, name, unit in terms:
        sums[name, unit] = sums.get((name, unit), 0) + coefficient
    return tuple((total, name, unit) for (name, unit), total in sums.items() if total)


def count(reading: Reading, name: str, unit: RowUnit) -> int:
    """Return the number of segments, tokens or runs of tokens of a name in one labelling."""
    if unit == "segment":
        return len(reading.segments_of(name))
    tokens = reading.tokens_of(name)
    if unit == "token":
        return len(tokens)
    return sum(token != before + 1 for before, token in zip([-2, *tokens], tokens, strict=False))


@lru_cache(maxsize=4096)
def _table(row: Row, labels: LabelSet) -> IntArray:
    table = np.zeros((len(labels) + 1, len(labels)), dtype=np.int64)
    for coefficient, name, unit in row.terms:
        table += coefficient * _counts(labels, name, unit)
    table.flags.writeable = False  # shared by every caller
    return table


@lru_cache(maxsize=1024)
def _counts(labels: LabelSet, name: str, unit: RowUnit) -> IntArray:
    """Return the number of a name's units that begin at each pair of labels, ``(L + 1, L)``."""
    if unit == "segment":
        wanted = segment_names(labels, name)
        begun = Symbols.of_begins(labels, lambda names: sum(other in wanted for other in names))
        return np.array(begun.values, dtype=np.int64)[begun.table]
    inside = np.array([label in token_names(labels, name) for label in labels])
    before = np.concatenate([[False], inside]) & (unit == "run")
    return (inside[None, :] & ~before[:, None]).astype(np.int64)
