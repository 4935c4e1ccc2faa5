"""Rules split into the parts of the violation sum: rows, bits and token charges.

    Σ_c ρ_c v_c(y) = Σ_{terms i} ρ_i v_i(y) + Σ_{token charges}

A *term* is a *row*, ``v_i(y) = max(0, a_i·n(y) − b_i)`` with ``n(y)`` counts of segments, tokens or
runs, or a *bit*: ``v_i(y) = [y ∉ language_i]``, or a number of changes (`PerToken`). A *token
charge* belongs to a soft rule about single tokens and is subtracted from their scores, see
`trelliswork.planning.token_charges`. A rule that is joined by ``&`` has the terms and charges of
its parts. ``L`` letters of the model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from trelliswork.constraints.per_token import PerToken
from trelliswork.errors import RuleError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from trelliswork._typing import IntArray
    from trelliswork.constraints import Constraint
    from trelliswork.constraints.rows import Row
    from trelliswork.labels.label_set import LabelSet
    from trelliswork.labels.segmentation import Segmentation

__all__ = ["Term", "TokenCharge", "letter_table", "split_rules"]


@dataclass(frozen=True)
class Term:
    """One term of the violation sum: a row or a bit.

    Attributes
    ----------
    constraint : int
        Index of the rule that it is a part of.
    row : Row or None
        The row, where it is one.
    rule : Constraint or None
        The rule of a bit.
    """

    constraint: int
    row: Row | None
    rule: Constraint | None

    def __repr__(self) -> str:
        return f"Term({self.constraint}, {self.row if self.rule is None else self.rule!r})"


@dataclass(frozen=True)
class TokenCharge:
    """A part of a soft rule that charges single tokens.

    Attributes
    ----------
    constraint : int
        Index of the rule.
    rule : Constraint
        The part, which is position-wise.
    """

    constraint: int
    rule: Constraint


def split_rules(
    constraints: Iterable[tuple[int, Constraint]],
    labels: LabelSet,
    segmentation: Segmentation | None,
) -> tuple[tuple[Term, ...], tuple[TokenCharge, ...]]:
    """Return the terms and the token charges of rules, given with their indices, in order.

    In a semi-Markov model, whether a hard rule holds may be independent of segment lengths although
    its degree is not; it is then a bit.

    Raises
    ------
    RuleError
        If a semi-Markov model cannot count what a soft rule counts.
    """
    terms: list[Term] = []
    charges: list[TokenCharge] = []
    for index, constraint in constraints:
        for part in constraint.hard.conjuncts:
            if constraint.is_soft and isinstance(part, PerToken) and not part.counts_changes:
                charges.append(TokenCharge(index, part))
                continue
            rows = part.rows
            if rows is not None and not constraint.is_soft:
                rows = rows if _are_readable(rows, labels, segmentation) else None
            if rows is None:
                if constraint.is_soft and isinstance(part, PerToken) and segmentation is not None:
                    raise RuleError(
                        f"{constraint!r}: a semi-Markov model does not count changes. Leave "
                        ".per_token() out, or set max_segment=1."
                    )
                terms.append(Term(index, None, part))
            else:
                terms += [Term(index, row, None) for row in rows]
    return tuple(terms), tuple(charges)


def _are_readable(rows: Sequence[Row], labels: LabelSet, segmentation: Segmentation | None) -> bool:
    try:
        for row in rows:
            letter_table(row, labels, segmentation)
    except RuleError:
        return False
    return True


def letter_table(row: Row, labels: LabelSet, segmentation: Segmentation | None) -> IntArray:
    """Return the increments of a row by pairs of letters of a model.

    Parameters
    ----------
    row
        The row.
    labels
        The labels of tokens.
    segmentation
        How they are read as segments, in a semi-Markov model: its letters are segments. Otherwise
        letters are labels.

    Returns
    -------
    numpy.ndarray
        Shape ``(L + 1, L)``; row 0 is for the first letter.

    Raises
    ------
    RuleError
        If the row depends on the lengths of segments, in a semi-Markov model.
    """
    table = row.table(labels)
    if segmentation is None:
        return table
    first, rest = segmentation.token_of_tag.reshape(2, segmentation.n_letters)
    for y, name in enumerate(segmentation.names):
        goes_on = segmentation.limits[y] > 1
        adds = table[[first[y] + 1, rest[y] + 1], rest[y]].any()
        if goes_on and (adds or (table[first[y] + 1] != table[rest[y] + 1]).any()):
            raise RuleError(
                f"{row}: depends on how many tokens a segment of {name!r} has, and a semi-Markov "
                "model reads one letter a segment. Count segments (unit='segment'), or set "
                "max_segment=1."
            )
    before = np.concatenate([[0], first + 1])
    of_letters: IntArray = table[np.ix_(before, first)]
    return of_letters
