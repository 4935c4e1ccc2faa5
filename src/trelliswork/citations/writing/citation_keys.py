"""Citation keys for the entries of a bibliography: shannon1948mathematical."""

from __future__ import annotations

import re
import unicodedata
from itertools import count
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trelliswork.citations.reference import Reference

_SPELLED = "ß ss ẞ SS ø o Ø O ł l Ł L đ d Đ D æ ae Æ AE œ oe Œ OE þ th Þ Th ð d Ð D ı i ŋ ng"


def _spelled_letters(pairs: str) -> dict[int, str]:
    words = pairs.split()
    return str.maketrans(dict(zip(words[::2], words[1::2], strict=True)))


_LETTERS = _spelled_letters(_SPELLED)
_SMALL_WORDS = frozenset(
    (
        *("a", "an", "and", "as", "at", "by", "for", "from", "in", "is", "of", "on", "or", "the"),
        *("to", "with", "das", "dem", "den", "der", "des", "die", "ein", "eine", "und", "von"),
        *("uber", "zu", "zum", "zur", "au", "aux", "de", "du", "et", "la", "le", "les", "sur"),
        *("un", "une", "del", "el", "en", "las", "los", "una", "gli", "i", "il", "lo", "uno"),
    )
)
_WORD = re.compile(r"[A-Za-z0-9]+")
_YEAR = re.compile(r"[0-9]{4}")
_OWN_KEY = re.compile(r"[A-Za-z][A-Za-z0-9_:.+/-]*")
_LONGEST = 40
_NAMELESS = "ref"


def citation_keys(references: Sequence[Reference]) -> list[str]:
    """Return a key for each reference: its own, or author, year and a word of the title.

    Keys of a ``.bbl`` file and of a list ("[Sha48]") stay if they begin with a letter and are such
    as BibTeX takes; a number is not a key. Generated keys are of letters and digits of ASCII and
    begin with a letter. All differ: where they would not, the second one ends in "a", the next in
    "b" and so on.
    """
    used: set[str] = set()
    tried: dict[str, int] = {}
    keys = []
    for reference in references:
        base = reference.key if _OWN_KEY.fullmatch(reference.key) else _base(reference)
        key = base
        if key in used:
            for number in count(tried.get(base, 0)):
                key = base + _letters(number)
                if key not in used:
                    tried[base] = number + 1
                    break
        used.add(key)
        keys.append(key)
    return keys


def _base(reference: Reference) -> str:
    people = reference.authors or reference.editors or reference.translators
    who = ""
    if people:
        name = people[0]
        if name.literal or not name.family:
            who = _first_word(name.literal or name.given)
        else:
            who = "".join(_WORD.findall(_fold(f"{name.particle}{name.family}")))
    year = _YEAR.search(reference.year)
    word = _first_word(reference.title) or ("" if who else _first_word(reference.container))
    key = f"{who[:_LONGEST]}{'' if year is None else year[0]}{word[:_LONGEST]}".lower()
    return key if key[:1].isalpha() else _NAMELESS + key


def _first_word(text: str) -> str:
    """Return the first significant word, else the first."""
    words = _WORD.findall(_fold(text[: 4 * _LONGEST]))
    return next((word for word in words if word.lower() not in _SMALL_WORDS), "".join(words[:1]))


def _fold(text: str) -> str:
    if text.isascii():
        # An apostrophe is no end of a word: "Gödel's" and "O'Brien" are one.
        return text.replace("'", "")
    folded = unicodedata.normalize("NFKD", text.translate(_LETTERS)).replace("’", "")
    return folded.encode("ascii", "ignore").decode("ascii").replace("'", "")


def _letters(number: int) -> str:
    """Return a number in letters: a, b, ..., z, aa, ab, ..."""
    letters = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(ord("a") + rest) + letters
    return letters
