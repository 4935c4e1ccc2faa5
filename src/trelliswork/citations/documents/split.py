r"""`split_references`: cut a document into its references.

The whole document decides, not the single line:

1. Additions of printing are left out (`trelliswork.citations.documents.list_lines`): the heading,
   page numbers, running heads; and the text before the heading of a list
   (`trelliswork.citations.documents.list_beginning`), as it does in a whole paper.
2. If the references are marked, by numbers that count, keys in brackets, or bullets
   (`trelliswork.citations.documents.list_marks`), each one goes from its mark to the next. What
   precedes the first mark is cut as a document of its own.
3. Otherwise blank lines, indentation or line ends part them, whichever makes the best references of
   the whole document (`trelliswork.citations.documents.list_breaks`).

Then the lines of each are joined (`trelliswork.citations.documents.entry`). A ``.bbl`` has its own
reader (`trelliswork.citations.documents.bbl`), which is also used for any text with a ``\bibitem``
in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trelliswork.citations.documents.bbl import is_bbl, split_bbl
from trelliswork.citations.documents.entry import Entry, Vocabulary, join_lines
from trelliswork.citations.documents.list_beginning import lines_of_list
from trelliswork.citations.documents.list_breaks import choose_breaks
from trelliswork.citations.documents.list_lines import content_lines
from trelliswork.citations.documents.list_marks import common_marks, cut_at_marks, find_marks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trelliswork.citations.documents.list_lines import Line

__all__ = ["Entry", "split_references"]


def split_references(text: str, *, name: str = "") -> list[Entry]:
    r"""Return the references of a document, in order.

    Parameters
    ----------
    text : str
        A list of references: one a line or wrapped, numbered, keyed, bulleted, with hanging indents
        or blank lines between; the text of a PDF's references; or a ``.bbl``.
    name : str
        Name of the document in messages.

    Raises
    ------
    DataError
        The text is a ``.bbl`` of biblatex, which holds no printed references.

    Examples
    --------
    >>> document = "[1] A. Turing. On comput-\n    able numbers. 1936.\n[2] C. Shannon. 1948."
    >>> [(entry.key, entry.text) for entry in split_references(document)]
    [('1', 'A. Turing. On computable numbers. 1936.'), ('2', 'C. Shannon. 1948.')]
    """
    if is_bbl(text):
        return split_bbl(text, name=name)
    lines = cut_at_marks(lines_of_list(content_lines(text)))
    vocabulary = Vocabulary(text)
    marks = find_marks(lines)
    if not marks:
        return _split_unmarked(text, lines, vocabulary)
    starts = list(marks)
    entries = _split_unmarked(text, lines[: starts[0]], vocabulary)
    for begin, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        spans = _spans(lines[begin:end], marks[begin].width)
        if entry := join_lines(text, spans, vocabulary, marks[begin].key):
            entries.append(entry)
    return entries


def _split_unmarked(text: str, lines: Sequence[Line], vocabulary: Vocabulary) -> list[Entry]:
    if not lines:
        return []
    starts = choose_breaks(lines)
    blocks = [lines[b:e] for b, e in zip(starts, [*starts[1:], len(lines)], strict=True)]
    marks = common_marks([block[0].text for block in blocks])
    entries = []
    for index, block in enumerate(blocks):
        key, width = (marks[index].key, marks[index].width) if marks else ("", 0)
        if entry := join_lines(text, _spans(block, width), vocabulary, key):
            entries.append(entry)
    return entries


def _spans(lines: Sequence[Line], width: int) -> list[tuple[int, int]]:
    """Return the spans of lines in the document, without a mark in front of the first."""
    first, *rest = lines
    return [(first.start + width, first.end), *((line.start, line.end) for line in rest)]
