"""The lines of references in a document, without headings and page furniture.

Blank lines are left out, and the additions of printing:

* a heading that says "References", "Works Cited", "Literaturverzeichnis", "参考文献", …;
* page numbers: lines with nothing but a number, or "Page 12", "- 12 -", "12 of 30", that stand
  alone between blank lines or pages, at the edge of a page, or in a row with another one
  (11, 12); a year is left out only where it stands alone;
* running heads: the first or last line of a page if it is there on at least half of the pages,
  and on two, whatever number of a page stands on its left or right.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from trelliswork.citations.documents.list_words import HEADINGS
from trelliswork.citations.documents.running_heads import running_heads

BLANKS = "".join(
    map(
        chr,
        [
            *range(0x21),  # control characters count as blanks
            *range(0x7F, 0xA1),
            0x1680,
            *range(0x2000, 0x200C),
            *(0x2028, 0x2029, 0x202F, 0x205F, 0x2060, 0x3000, 0xFEFF),
        ],
    )
)
"""White space, control characters, and zero-width marks without meaning."""

_LINE_END = re.compile(r"\r\n|[\n\r\f\v\x85\u2028\u2029]")
_PAGE_NUMBER = re.compile(
    r"(?:[-–—]\s?)?(?:(?:page|p\.|seite|página|стр\.)\s?)?(?P<number>\d{1,4})"
    r"(?:\s?[-–—]|\s?(?:/|of|von|de|sur)\s?\d{1,4})?",
    re.IGNORECASE,
)
_HEADING = re.compile(r"(?:#+|[\dIVX]{1,4}(?:\.\d{1,2})*\.?)?(\D+?)[:.]?")


@dataclass(frozen=True, slots=True)
class Line:
    """A line that is not blank.

    Attributes
    ----------
    text : str
        Without the blanks around it.
    start, end : int
        ``document[start:end]`` is the text.
    indent : int
        The columns before it.
    page : int
        Counted from 0; a form feed begins a new one.
    after_gap, after_page : bool
        Whether a blank line or the edge of a page lies between it and the line before.
    after_heading : bool
        Whether the heading of a list of references does.
    """

    text: str
    start: int
    end: int
    indent: int
    page: int
    after_gap: bool = False
    after_page: bool = False
    after_heading: bool = False


def content_lines(document: str) -> list[Line]:
    """Return the lines that belong to references, from top to bottom."""
    lines = _lines(document)
    headings = _headings(lines)
    furniture = headings | _running_heads(lines, headings)
    furniture |= _page_numbers(lines, furniture)
    kept: list[Line] = []
    gap = page = heading = False
    for index, line in enumerate(lines):
        gap |= line.after_gap
        page |= line.after_page
        if index in furniture:
            page = True
            heading |= index in headings
            continue
        kept.append(replace(line, after_gap=gap, after_page=page, after_heading=heading))
        gap = page = heading = False
    return kept


def _lines(document: str) -> list[Line]:
    lines: list[Line] = []
    begin, page, gap, new_page = 0, 0, False, False
    ends = [(match.start(), match.end()) for match in _LINE_END.finditer(document)]
    for stop, after in [*ends, (len(document), len(document))]:
        line = document[begin:stop]
        body = line.lstrip(BLANKS)
        if body:
            start = stop - len(body)
            text = body.rstrip(BLANKS)
            indent = len(line[: start - begin].expandtabs(8))
            lines.append(Line(text, start, start + len(text), indent, page, gap, new_page))
            gap = new_page = False
        elif begin < stop or "\f" not in (document[begin - 1 : begin], document[stop:after]):
            gap = True
        if document[stop:after] == "\f":
            page += 1
            new_page = True
        begin = after
    return lines


def _headings(lines: list[Line]) -> set[int]:
    return {index for index, line in enumerate(lines) if _is_heading(line.text)}


def _is_heading(text: str) -> bool:
    if len(text) > 60:
        return False
    match = _HEADING.fullmatch("".join(text.split()))
    return match is not None and match[1].casefold() in HEADINGS


def _page_edges(lines: list[Line], without: set[int]) -> tuple[set[int], set[int]]:
    """Return the first and the last lines of pages, if there are several pages."""
    tops: dict[int, int] = {}
    bottoms: dict[int, int] = {}
    for index, line in enumerate(lines):
        if index not in without:
            tops.setdefault(line.page, index)
            bottoms[line.page] = index
    if len(tops) < 2:
        return set(), set()
    return set(tops.values()), set(bottoms.values())


def _running_heads(lines: list[Line], without: set[int]) -> set[int]:
    found: set[int] = set()
    # The second round sees the lines below a page number that the first one removed.
    for _ in range(2):
        for edge in _page_edges(lines, without | found):
            found |= running_heads({i: (lines[i].text, lines[i].page) for i in edge})
    return found


def _page_numbers(lines: list[Line], without: set[int]) -> set[int]:
    numbers: dict[int, int] = {}
    for index, line in enumerate(lines):
        match = _PAGE_NUMBER.fullmatch(line.text) if len(line.text) < 20 else None
        if match:
            numbers[index] = int(match["number"])
    row = list(numbers.items())
    if _number_references(lines, row, without):
        return set()
    tops, bottoms = _page_edges(lines, without)
    found: set[int] = set()
    for place, (index, number) in enumerate(row):
        is_year = 1500 <= number < 2100
        neighbours = row[max(0, place - 1) : place] + row[place + 1 : place + 2]
        in_a_row = any(abs(other - number) == 1 for _, other in neighbours)
        before = index == 0 or lines[index].after_gap or lines[index].after_page
        last = index + 1 == len(lines)
        after = last or lines[index + 1].after_gap or lines[index + 1].after_page
        at_edge = index in tops or index in bottoms
        if (before and after) or (not is_year and (at_edge or in_a_row)):
            found.add(index)
    return found


def _number_references(lines: list[Line], row: list[tuple[int, int]], without: set[int]) -> bool:
    """Return whether numbers in lines of their own count the references: they begin the list."""
    if len(row) < 2 or any(index not in without for index in range(row[0][0])):
        return False
    (first, number), (_, following) = row[:2]
    return following == number + 1 and not lines[first + 1].after_gap
