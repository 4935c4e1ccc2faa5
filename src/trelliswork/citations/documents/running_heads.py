"""Running heads: lines repeated on pages, such as the title of a journal beside a page number.

The first or the last line of a page is one if it stands on at least half of the pages, and on two:
literally, or beside a number that counts the pages, "117 TESTS, VOL. 3" and "TESTS, VOL. 3 118".
Last lines of references may well be alike but for their numbers; these do not count pages.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_NUMBER = re.compile(r"[-–—(\[]?(\d{1,4})[-–—)\]]?")
_PAGE = frozenset(("page", "p.", "seite", "s.", "página", "стр."))
_OF = frozenset(("of", "von", "de", "sur", "/"))
_RULES = frozenset("|·•-–—")


def running_heads(edge: Mapping[int, tuple[str, int]]) -> set[int]:
    """Return which lines are repeated.

    Parameters
    ----------
    edge : mapping
        The first or the last lines of the pages by index: their text and their page.
    """
    same: dict[tuple[tuple[str, ...], int | None], list[int]] = defaultdict(list)
    for index, (text, page) in edge.items():
        words = text.split()
        if any(map(str.isalpha, text)):
            same[tuple(words), None].append(index)
        for number, rest in (_without_left(words), _without_right(words)):
            if number is not None and any(map(str.isalpha, "".join(rest))):
                same[tuple(rest), number - page].append(index)
    fewest = max(2.0, len(edge) / 2)
    return {index for members in same.values() if len(members) >= fewest for index in members}


def _without_left(words: list[str]) -> tuple[int | None, list[str]]:
    """Return the page number on the left, and the words behind it."""
    rest = words[1:] if words and words[0].casefold() in _PAGE else words
    number = _number(rest[0]) if rest else None
    rest = rest[1:]
    if len(rest) > 1 and rest[0].casefold() in _OF and _number(rest[1]) is not None:
        rest = rest[2:]
    return number, rest[1:] if rest and rest[0] in _RULES else rest


def _without_right(words: list[str]) -> tuple[int | None, list[str]]:
    """Return the page number on the right, and the words in front of it."""
    rest = words
    if len(rest) > 2 and rest[-2].casefold() in _OF and _number(rest[-1]) is not None:
        rest = rest[:-2]
    number = _number(rest[-1]) if rest else None
    rest = rest[:-1]
    if rest and rest[-1].casefold() in _PAGE:
        rest = rest[:-1]
    return number, rest[:-1] if rest and rest[-1] in _RULES else rest


def _number(word: str) -> int | None:
    match = _NUMBER.fullmatch(word)
    return None if match is None or 1500 <= int(match[1]) < 2100 else int(match[1])
