"""`Entry`: one reference of a document on one line, with the origin of each character.

Runs of blanks and line breaks become one blank. Marks without width are dropped: soft hyphens,
zero-width spaces, byte order marks, and joiners after Latin, Greek or Cyrillic letters; in scripts
that need joiners they stay. Where a line breaks, three kinds of blanks are left out:

* between two characters of Chinese or Japanese;
* inside a range of numbers ("379-" and "423") and inside a URL that goes on;
* after a hyphen that a letter precedes and a letter follows. The hyphen itself is dropped where
  the word was cut: it stays before a capital or a digit, in a word that already has one, in a word
  that the document writes with a hyphen elsewhere, and, unless the document writes the word without
  one, after the first part and before the second part of a usual compound ("non-", "-based").
  Before "and" or "or" the blank stays too ("pre- and").
"""

from __future__ import annotations

import re
from array import array
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from trelliswork.citations.documents.list_lines import BLANKS
from trelliswork.citations.documents.list_words import FIRST_PARTS, SECOND_PARTS, SUSPENDED

if TYPE_CHECKING:
    from collections.abc import Sequence

_NO_WIDTH = "\u00ad\u200b\u200c\u200d\u2060\ufeff"
_AROUND = BLANKS + _NO_WIDTH
_JOINER = "(?<![\u0590-\U0010ffff])[\u200c\u200d]"
# What becomes a single blank or nothing, single blanks included.
_BETWEEN = re.compile(f"(?:[{re.escape(BLANKS)}\u00ad]|{_JOINER})+")
_UNEVEN = re.compile(f"  |[{re.escape(BLANKS.replace(' ', ''))}\u00ad]|{_JOINER}")
_CUT_WORD = re.compile(r"([^\W\d_]+(?:[-‐'’][^\W\d_]+)*)[-‐]\Z")
_WORD = re.compile(r"[^\W\d_]+(?:[-‐][^\W\d_]+)*")
_URL_END = re.compile(r"(?:://|\bwww\.|\bdoi:|\b10\.\d{4,9}/)[^\s<>\"]*[/_=?&%-]\Z", re.IGNORECASE)
_URL_REST = re.compile(r"[\w%~]+[./_=?&%~-][\w%~]")
_WIDE = re.compile("[\u2e80-\u312f\u31a0-\u9fff\uf900-\ufaff\uff00-\uff60\U00020000-\U0003ffff]")


@dataclass(frozen=True, slots=True)
class Entry:
    """One reference of a document.

    Attributes
    ----------
    text : str
        The reference on one line, without its number or key.
    start, end : int
        Its span in the document, in characters, end exclusive.
    key : str
        Its number or key in the list: "12", "Sha48"; empty without one.
    origins : sequence of int or None
        For each character of `text` its place in the document; ``None`` where these are `start`,
        ``start + 1``, …
    ends : sequence of int or None
        For each character of `text` the end of what stands for it in the document; ``None`` where
        that is one character.
    """

    text: str
    start: int
    end: int
    key: str = ""
    origins: Sequence[int] | None = field(default=None, compare=False, repr=False)
    ends: Sequence[int] | None = field(default=None, compare=False, repr=False)

    def locate(self, first: int, last: int) -> tuple[int, int]:
        """Return the span of the document for characters `first` to `last` of the text.

        Both spans exclude their ends. An empty span is located before its character.
        """
        if not 0 <= first <= last <= len(self.text):
            raise ValueError(
                f"expected a span within the {len(self.text)} characters of the reference, got "
                f"{first} to {last}."
            )
        if self.origins is None:
            return self.start + first, self.start + last
        if first == last:
            place = self.end if first == len(self.text) else self.origins[first]
            return place, place
        end = self.origins[last - 1] + 1 if self.ends is None else self.ends[last - 1]
        return self.origins[first], end


class Vocabulary:
    """The words of a document, read on first use."""

    def __init__(self, document: str) -> None:
        self._document = document
        self._words: frozenset[str] | None = None

    def __contains__(self, word: str) -> bool:
        if self._words is None:
            self._words = frozenset(map(str.casefold, _WORD.findall(self._document)))
        return word.casefold() in self._words


def join_lines(
    document: str, spans: Sequence[tuple[int, int]], vocabulary: Vocabulary, key: str = ""
) -> Entry | None:
    """Return the reference in these spans, one a line; ``None`` if they are blank."""
    texts: list[str] = []
    origins = array("q")
    cut = False
    for begin, end in spans:
        text, places = _even(document, begin, end)
        if not text:
            continue
        if texts and not cut:
            drop, blank = _seam(texts[-1], text, vocabulary)
            if drop:
                texts[-1] = texts[-1][:-1]
                origins.pop()
            if blank:
                texts.append(" ")
                origins.append(origins[-1] + 1)
        texts.append(text)
        origins.extend(places)
        cut = document[begin:end].rstrip(BLANKS).endswith("\u00ad")
    if not texts:
        return None
    start, stop = origins[0], origins[-1] + 1
    joined = "".join(texts)
    plain = document[start:stop] == joined
    return Entry(joined, start, stop, key, None if plain else origins)


def even_out(text: str) -> tuple[str, Sequence[int]]:
    """Return a text with single blanks and without zero-width marks, and its origins."""
    return _even(text, 0, len(text))


def _even(document: str, begin: int, end: int) -> tuple[str, Sequence[int]]:
    line = document[begin:end]
    begin += len(line) - len(line.lstrip(_AROUND))
    line = line.strip(_AROUND)
    if not _UNEVEN.search(line):
        return line, range(begin, begin + len(line))
    pieces: list[str] = []
    places = array("q")
    last = 0
    for match in _BETWEEN.finditer(line):
        pieces.append(line[last : match.start()])
        places.extend(range(begin + last, begin + match.start()))
        if visible := match[0].lstrip(_NO_WIDTH):
            pieces.append(" ")
            places.append(begin + match.end() - len(visible))
        last = match.end()
    pieces.append(line[last:])
    places.extend(range(begin + last, begin + len(line)))
    return "".join(pieces), places


def _seam(before: str, after: str, vocabulary: Vocabulary) -> tuple[bool, bool]:
    """Return whether a line loses its last character, and whether a blank follows."""
    last, first = before[-1], after[0]
    if _WIDE.match(last) and _WIDE.match(first):
        return False, False
    if last in "-‐–" and first.isdigit() and before[-2:-1].isdigit():
        return False, False
    if last in "/_=?&%-" and _URL_END.search(before[-300:]):
        goes_on = _URL_REST.match(after[:80]) or (last == "-" and first.isalnum())
        return False, not goes_on
    cut = _CUT_WORD.search(before[-80:])
    rest = _WORD.match(after[:80])
    if not cut or not rest:
        return False, True
    if rest[0].casefold() in SUSPENDED:
        return False, True
    return not _keeps_hyphen(cut[1], rest[0], vocabulary), False


def _keeps_hyphen(left: str, right: str, vocabulary: Vocabulary) -> bool:
    if not right[0].islower() or re.search("[-‐'’]", left) or f"{left}-{right}" in vocabulary:
        return True
    if left + right in vocabulary:
        return False
    return left.casefold() in FIRST_PARTS or right.casefold() in SECOND_PARTS
