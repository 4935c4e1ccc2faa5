"""Names as BibTeX writes them: "von Neumann, John and {World Health Organization}".

A braced group is one word. A name entirely in braces is an organisation, and so is one with an
inner small word that no family name has: "University of Toronto".
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from trelliswork.citations.documents.latex import decode_latex
from trelliswork.citations.documents.list_words import PARTICLES
from trelliswork.citations.records.works import Name

if TYPE_CHECKING:
    from collections.abc import Iterable

_SUFFIXES = frozenset({"jr", "jr.", "sr", "sr.", "ii", "iii", "iv"})
_OTHERS = "others"


def parse_names(text: str) -> tuple[Name, ...]:
    """Return the people and organisations of a BibTeX field; "and others" is left out.

    Examples
    --------
    >>> parse_names("von Neumann, John and Donald E. Knuth and {The R Project} and others")
    (Name(family='Neumann', given='John', particle='von', suffix='', literal=''),
     Name(family='Knuth', given='Donald E.', particle='', suffix='', literal=''),
     Name(family='', given='', particle='', suffix='', literal='The R Project'))
    """
    names = []
    for written in _split(text, r"(?:^|\s)and(?=\s|$)"):
        whole = plain(written)
        if whole.strip(" ,") not in {"", _OTHERS}:
            name = _parse_name(written, whole)
            names.append(name if name.family or name.literal else Name(literal=whole))
    return tuple(names)


def plain(latex: str) -> str:
    """Return LaTeX as one line of plain text, in composed characters."""
    text = decode_latex(latex, comments=False)[0]
    return unicodedata.normalize("NFC", " ".join(text.split()))


def _split(text: str, separator: str) -> list[str]:
    """Split a text at the matches of a pattern outside braces."""
    parts: list[str] = []
    depth = start = 0
    for match in re.finditer(rf"(?P<brace>[{{}}])|{separator}", text, re.IGNORECASE):
        if match["brace"]:
            depth = max(0, depth + (1 if match["brace"] == "{" else -1))
        elif depth == 0:
            parts.append(text[start : match.start()])
            start = match.end()
    parts.append(text[start:])
    return [part.strip() for part in parts if part.strip()]


def _parse_name(text: str, whole: str) -> Name:
    family, *others = _split(text, ",")
    words = _split(family, r"[\s~]+")
    if others:
        particle, family = _particle_first(words)
        *suffixes, given = others
        if suffixes and given.casefold() in _SUFFIXES:  # the order of those who do not know it
            suffixes, given = [given], suffixes[0]
        return Name(family, plain(given), particle, _join(suffixes))
    if len(words) > 1:
        return Name(literal=whole) if _is_organisation(words) else _given_first(words)
    in_braces = family.startswith("{") and not family.startswith("{\\")
    return Name(literal=whole) if in_braces else Name(family=whole)


def _join(words: Iterable[str]) -> str:
    return plain(" ".join(words))


def _is_small(word: str) -> bool:
    """Return whether a word begins with a small letter; a braced group never does."""
    text = plain(word)
    return text[:1].islower() and not (word.startswith("{") and not word.startswith("{\\"))


def _is_organisation(words: list[str]) -> bool:
    return any(_is_small(word) and plain(word) not in PARTICLES for word in words[1:-1])


def _given_first(words: list[str]) -> Name:
    suffix = ""
    if len(words) > 2 and words[-1].casefold() in _SUFFIXES:
        *words, suffix = words
        words[-1] = words[-1].rstrip(",")
    small = [i for i, word in enumerate(words[:-1]) if _is_small(word)]
    if not small:
        return Name(_join(words[-1:]), _join(words[:-1]), "", suffix)
    first, last = small[0], small[-1] + 1
    return Name(_join(words[last:]), _join(words[:first]), _join(words[first:last]), suffix)


def _particle_first(words: list[str]) -> tuple[str, str]:
    count = next((i for i, word in enumerate(words[:-1]) if not _is_small(word)), len(words) - 1)
    return _join(words[:count]), _join(words[count:])
