"""The beginning of the list of references in a longer document, such as a whole paper.

The list begins after the first heading that it follows: the lines from there to the next heading
are marked from the first one on, or most of their entries open like a reference and have a year.
The text before the heading is left out unless it looks like a list itself, as the sections of a
bibliography do.
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
"""Least share of references in a list; lines before a heading need more."""
HEAD = 40
"""Number of lines read after a heading; an appendix may follow the list."""


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
    # In a script without capitals openings give no evidence.
    return opening_evidence(block[0].text) >= 0 and any(is_dated(line.text) for line in block)
