"""Marks in front of references: numbers, keys in brackets, bullets.

A number at the beginning of a line may belong to a reference: "12. Springer, 1998" is the rest of
one after a line break. So numbers are marks only together. For each way to write them, the
numbers that count best are looked for: each is one more than the one before it, at most two are
missing in between, and a new count may begin at 1; of several lines that could bear the same
number, the one that looks like the beginning of a reference is taken. Numbers are believed if the
first line has one and a second one follows, or if there are at least three, the first of them in
the first quarter of the document; and if at least half of the lines that begin with a number in
this way count, apart from larger numbers, which are years or pages.

Keys ("[Sha48]", "[Smith et al., 2003]", also numbers in brackets that do not count) and bullets
are believed if the first line and at least one more have one; all bullets are the same, and no two
keys are.

Whatever the marks, they are not believed where most lines without one, and at least two, begin as
references do: a list in which only some of the references have a number is no numbered list.

Where line breaks were lost, marks stand inside of lines: "[1] … [2] … [3] …". If the first line
has a number, a line is also cut before the next number in the same form wherever a blank is in
front of it and what follows looks like the beginning of a reference, provided that no line begins
with that number and that there are at least three numbers in all, or two in brackets.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import TYPE_CHECKING

from trelliswork.citations.documents.list_breaks import ending_evidence, opening_evidence
from trelliswork.citations.documents.list_lines import Line
from trelliswork.citations.documents.list_words import NO_KEYS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

_NUMBER = re.compile(
    r"(?:[\[［【]\s?(?P<bracket>\d{1,5})\s?[\]］】]"
    r"|[(（]\s?(?P<parenthesis>\d{1,5})\s?[)）]"
    r"|(?P<closing>\d{1,5})\s?[)）]"
    r"|(?P<dot>\d{1,5})(?:\s?[.](?!\d)|[．、])"
    r"|(?P<bare>\d{1,5})(?=\s+[^\W\d_]|\s+[\"“‘«]|\s*\Z))\s*"
)
_KEY = re.compile(r"[\[［]\s?(?P<key>[^\[\]［］]{1,60}?)\s?[\]］](?![.,;:)\]])\s*")
_KEY_FORM = re.compile(r"\d+|.*\d{2}.*|[^\W\d_][\w+*’'-]{0,11}")
_BULLET = re.compile(r"(?P<bullet>[•◦▪▫■□●○‣⁃∙·*–—+^-])\s+(?=\S)")

# The same marks at the beginning of a line or after a single blank inside of one.
_INNER_NUMBER = {
    "bracket": re.compile(r"(?:^|(?<=\S) )\[(\d{1,5})\](?!\S)"),
    "parenthesis": re.compile(r"(?:^|(?<=[.\])”\"]) )\((\d{1,5})\)(?!\S)"),
    "closing": re.compile(r"(?:^|(?<=[.\])”\"]) )(\d{1,5})\)(?!\S)"),
    "dot": re.compile(r"(?:^|(?<=[.\])”\"]) )(\d{1,5})\.(?!\S)"),
}

LARGEST_FIRST = 999
"""No list begins with a larger number: it would be a year."""
CLEAR_OPENING = 1.5
"""Evidence of an opening such as "Smith, J." or "J. Smith"; few second lines have as much."""
MISSING = 0.6
"""Cost of a missing number, in numbers found; a new count costs five times as much."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A mark in front of a reference.

    Attributes
    ----------
    form : str
        Its form: "bracket", "dot", …, "key" or "bullet".
    key : str
        The number or the key, without its brackets or period; empty for a bullet.
    width : int
        The characters of the line that it takes, with the blanks after it.
    """

    form: str
    key: str
    width: int


def cut_at_marks(lines: Sequence[Line]) -> Sequence[Line]:
    """Return the lines, cut before inner numbers that continue the count of the first line."""
    first = _number_mark(lines[0].text) if lines else None
    inner = None if first is None else _INNER_NUMBER.get(first.form)
    if first is None or inner is None or int(first.key) > LARGEST_FIRST:
        return lines
    lowest = number = int(first.key)
    needed = 0.0 if first.form == "bracket" else 1.0
    in_front = {
        int(mark.key) for mark in _marked(lines, _number_mark).values() if mark.form == first.form
    }
    cut: list[Line] = []
    for line, following in zip_longest(lines, lines[1:]):
        begin = 0
        for match in inner.finditer(line.text):
            if int(match[1]) != number + 1:
                continue
            if match.start():
                opening = line.text[match.end() : match.end() + 120].lstrip()
                if len(opening) < 20 and following is not None:
                    opening = f"{opening} {following.text}".lstrip()
                if number + 1 in in_front or opening_evidence(opening) < needed:
                    continue
                cut.append(_part(line, begin, match.start()))
                begin = match.start() + 1
            number += 1
        cut.append(_part(line, begin, len(line.text)) if begin else line)
    return cut if number - lowest + 1 >= (2 if first.form == "bracket" else 3) else lines


def _part(line: Line, begin: int, end: int) -> Line:
    """Return a part of a line; only the first part keeps the space above the line."""
    text = line.text[begin:end]
    start = line.start + begin
    if not begin:
        return replace(line, text=text, end=start + len(text))
    return Line(text, start, start + len(text), line.indent, line.page)


def find_marks(lines: Sequence[Line]) -> dict[int, Mark]:
    """Return the marks of a marked list by line; empty for a list without marks."""
    marks = max((_counted(lines), _keyed(lines), _bulleted(lines)), key=len)
    alone = {i for i, mark in marks.items() if not lines[i].text[mark.width :].strip()}
    others = [i for i in range(1, len(lines)) if i not in marks and i - 1 not in alone]
    beginnings = sum(_begins(lines[i - 1].text, lines[i].text) for i in others)
    # One alone may be the rest of a title: "… und verwandte Systeme. / Teil I. Monatshefte".
    return {} if beginnings > max(1, len(others) / 2) else marks


def _begins(before: str, text: str) -> bool:
    """Return whether a line without a mark begins a reference after another line."""
    # Without the number that some of them have, too: "55 Mason, J."
    number = _number_mark(text)
    bare = text[number.width :] if number else text
    return opening_evidence(bare) >= CLEAR_OPENING and ending_evidence(before) > 0.0


def common_marks(texts: Sequence[str]) -> list[Mark] | None:
    """Return the marks of references that all have one of the same form, in any order.

    Numbers without any sign are not taken for marks here, nor are years.
    """
    for read in (_number_mark, _key_mark, _bullet_mark):
        marks = [mark for text in texts if (mark := read(text))]
        if len(marks) < len(texts) or len({mark.form for mark in marks}) != 1:
            continue
        if marks[0].form == "bare" or all(_is_year(mark.key) for mark in marks):
            continue
        return marks
    return None


def _number_mark(text: str) -> Mark | None:
    match = _NUMBER.match(text)
    if not match or match.lastgroup is None:
        return None
    return Mark(match.lastgroup, match[match.lastgroup], match.end())


def _key_mark(text: str) -> Mark | None:
    match = _KEY.match(text)
    if not match:
        return None
    key = match["key"]
    words = re.findall(r"\w+", key.casefold())
    if not _KEY_FORM.fullmatch(key) or not words or words[0] in NO_KEYS:
        return None
    return Mark("key", key, match.end())


def _bullet_mark(text: str) -> Mark | None:
    match = _BULLET.match(text)
    return Mark(f"bullet {match['bullet']}", "", match.end()) if match else None


def _is_year(key: str) -> bool:
    return key.isdecimal() and 1500 <= int(key) < 2100


def _marked(lines: Iterable[Line], read: Callable[[str], Mark | None]) -> dict[int, Mark]:
    return {i: mark for i, line in enumerate(lines) if (mark := read(line.text))}


def _keyed(lines: Sequence[Line]) -> dict[int, Mark]:
    marks = _marked(lines, _key_mark)
    distinct = len({mark.key for mark in marks.values()}) == len(marks)
    return marks if 0 in marks and len(marks) > 1 and distinct else {}


def _bulleted(lines: Sequence[Line]) -> dict[int, Mark]:
    marks = _marked(lines, _bullet_mark)
    if 0 not in marks:
        return {}
    # A dash that is moved in belongs to a reference.
    widest = lines[0].indent + 1
    same = {
        i: mark
        for i, mark in marks.items()
        if mark.form == marks[0].form and lines[i].indent <= widest
    }
    return same if len(same) > 1 else {}


def _counted(lines: Sequence[Line]) -> dict[int, Mark]:
    by_form: dict[str, list[tuple[int, Mark]]] = {}
    for index, mark in _marked(lines, _number_mark).items():
        by_form.setdefault(mark.form, []).append((index, mark))
    best: dict[int, Mark] = {}
    for marks in by_form.values():
        chain = _longest_count(lines, marks)
        first = next(iter(chain))
        largest = max(int(mark.key) for mark in chain.values())
        candidates = sum(int(mark.key) <= largest for _, mark in marks)
        believed = first == 0 or (len(chain) > 2 and first <= len(lines) / 4)
        if believed and 2 * len(chain) >= candidates and len(chain) > max(1, len(best)):
            best = chain
    return best


def _longest_count(lines: Sequence[Line], marks: list[tuple[int, Mark]]) -> dict[int, Mark]:
    """Return the marks that count best, in one pass: a number has few possible predecessors."""
    worth = [0.0] * len(marks)
    previous = [-1] * len(marks)
    by_number: dict[int, int] = {}  # the best count that ends with a number, by its last mark
    best = 0
    for here, (index, mark) in enumerate(marks):
        number = int(mark.key)
        choices = [(0.0, -1)] if number <= LARGEST_FIRST else [(-1.0, -1)]
        if number == 1 and here:
            choices.append((worth[best] - 5 * MISSING, best))
        for missing in range(3):
            other = by_number.get(number - 1 - missing)
            if other is not None:
                choices.append((worth[other] - missing * MISSING, other))
        gained, previous[here] = max(choices)
        # An opening that looks like a reference decides between lines with the same number, the
        # more so if no sign says that it is one.
        weight = 0.35 if mark.form == "bare" else 0.1
        worth[here] = gained + 1 + weight * opening_evidence(lines[index].text[mark.width :])
        if number not in by_number or worth[here] > worth[by_number[number]]:
            by_number[number] = here
        if worth[here] > worth[best]:
            best = here
    chain = []
    while best >= 0:
        chain.append(marks[best])
        best = previous[best]
    return dict(reversed(chain))
