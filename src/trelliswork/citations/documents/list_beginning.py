"""Where the list of references begins in a document that holds more, such as a whole paper.

The list begins after the first heading that it follows: the lines from there to the next heading
are marked from the first one on, or most of what they are cut into opens like a reference and has a
year. What precedes the heading is left out unless it looks like a list itself, as do the sections
of a bibliography.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from trelliswork.citations.documents.list_breaks import choose_breaks, is_dated, opening_evidence
from trelliswork.citations.documents.list_marks import find_marks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trelliswork.citations.documents.list_lines import Line

HALF = 0.5
"""The share of references from which on lines are a list; those before a heading need more."""
HEAD = 40
"""How many lines after a heading are looked at; an appendix may follow the list."""


def lines_of_list(lines: Sequence[Line]) -> Sequence[Line]:
    """Return the lines from the heading of the list on; all lines if there is no such heading."""
    starts = [index for index, line in enumerate(lines) if line.after_heading]
    for start, end in pairwise([*starts, len(lines)]):
        if _share_of_references(lines[start : min(end, start + HEAD)]) >= HALF:
            return lines if _share_of_references(lines[:start]) > HALF else lines[start:]
    return lines


def _share_of_references(lines: Sequence[Line]) -> float:
    if not lines:
        return 0.0
    if 0 in find_marks(lines):
        return 1.0
    blocks = [lines[begin:end] for begin, end in pairwise([*choose_breaks(lines), len(lines)])]
    return sum(map(_is_reference, blocks)) / len(blocks)


def _is_reference(block: Sequence[Line]) -> bool:
    # A script without capitals says nothing about openings.
    return opening_evidence(block[0].text) >= 0 and any(is_dated(line.text) for line in block)
