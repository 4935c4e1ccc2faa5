"""The noise of real references: omissions of writers, and errors of typesetting and scanning.

Some of it happens before a reference is written (`vary_work`, `vary_style`), some to its text
(`distort`). Text noise maps pieces to pieces, so that every character keeps its label.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from trelliswork.citations.styles.template import Piece
from trelliswork.citations.styles.wording import abbreviate_venue

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from random import Random

    from trelliswork.citations.records import Work
    from trelliswork.citations.styles.names import NameStyle
    from trelliswork.citations.styles.render import Style


@dataclass(frozen=True)
class Noise:
    """Probabilities of each kind of noise.

    Attributes
    ----------
    drop : float
        Scale of the rates at which fields are left out (1: a DOI half of the time, pages seldom).
    remark : float
        Per reference: a remark such as "To appear" is added.
    no_title : float
        Per article: the title is left out, as physicists do.
    year_letter : float
        Per reference: the year has a letter that distinguishes it from others, "1991a".
    lower_title, venue : float
        Per reference: the title in lower case, the venue abbreviated or spelled out.
    given, et_al : float
        Per reference: initials for full given names or the other way, "et al." after one author.
    number : float
        Per reference: a number is written in front, or left out where the style has one.
    plain : float
        Per reference: typographic dashes and quotation marks as on a typewriter or in TeX.
    lose_mark, double_mark, lose_space : float
        Per punctuation mark.
    break_word, confuse : float
        Per word: a hyphen and a line break inside, letters misread.
    """

    drop: float = 1.0
    remark: float = 0.04
    no_title: float = 0.0
    year_letter: float = 0.04
    lower_title: float = 0.1
    venue: float = 0.2
    given: float = 0.2
    et_al: float = 0.08
    number: float = 0.12
    plain: float = 0.5
    lose_mark: float = 0.015
    double_mark: float = 0.004
    lose_space: float = 0.01
    break_word: float = 0.015
    confuse: float = 0.004


# Names and year are never left out: a text without them is no reference.
_DROP_RATES = {
    "doi": 0.5,
    "month": 0.3,
    "series": 0.3,
    "note": 0.3,
    "edition": 0.2,
    "place": 0.2,
    "url": 0.2,
    "issue": 0.15,
    "publisher": 0.1,
    "pages": 0.08,
    "volume": 0.03,
}
_REMARKS = (
    "To appear",
    "In press",
    "Submitted for publication",
    "Reprinted with corrections",
    "Cited by the first author",
    "Accessed 12 May 2019",
    "Invited talk",
    "Special issue",
)
_CONFUSIONS = (("rn", "m"), ("m", "rn"), ("l", "1"), ("O", "0"), ("0", "O"), ("e", "c"), ("h", "b"))
_TYPEWRITER = str.maketrans({"“": '"', "”": '"', "‘": "'", "’": "'", "–": "-"})
_TEX = str.maketrans({"“": "``", "”": "''", "‘": "`", "’": "'", "–": "--"})


def vary_work(work: Work, noise: Noise, rng: Random) -> Work:
    """Return a work with fields left out or rewritten, as writers of references do."""
    changes: dict[str, Any] = {
        field: "" for field, rate in _DROP_RATES.items() if rng.random() < rate * noise.drop
    }
    if work.author and work.editor and rng.random() < 0.15 * noise.drop:
        changes["editor"] = ()
    if rng.random() < noise.remark:
        changes["note"] = rng.choice(_REMARKS)
    if work.type == "article" and rng.random() < noise.no_title:
        changes["title"] = ""
    if rng.random() < noise.year_letter:
        changes["year"] = work.year + rng.choice("abc")
    if rng.random() < noise.lower_title and "title" not in changes:
        changes["title"] = work.title[:1] + work.title[1:].lower()
    if rng.random() < noise.venue:
        changes["container"] = abbreviate_venue(work.container)
    return replace(work, **changes)


def vary_style(style: Style, noise: Noise, rng: Random) -> Style:
    """Return a style with the variations that are common in handmade bibliographies."""
    names = style.names
    if rng.random() < noise.given:
        names = replace(names, given=_other_given(names))
    if rng.random() < noise.et_al:
        names = replace(names, at_most=1, keep=1)
    venue = "full" if rng.random() < noise.venue else style.venue
    key = "" if rng.random() < noise.number else style.key
    return replace(style, names=names, venue=venue, key=key)


def distort(pieces: list[Piece], noise: Noise, rng: Random) -> list[Piece]:
    """Apply all noise of the text, from numbering to misread letters."""
    if not _is_numbered(pieces) and rng.random() < noise.number:
        pieces = add_number(pieces, rng)
    if rng.random() < noise.plain:
        pieces = change_marks(pieces, rng)
    pieces = lose_marks(pieces, noise.lose_mark, rng)
    pieces = double_marks(pieces, noise.double_mark, rng)
    pieces = lose_spaces(pieces, noise.lose_space, rng)
    pieces = break_words(pieces, noise.break_word, rng)
    pieces = confuse_letters(pieces, noise.confuse, rng)
    return keep_apart(pieces)


def add_number(pieces: list[Piece], rng: Random) -> list[Piece]:
    """Write "[12] " or "12. " in front."""
    form = rng.choice(("[{}] ", "{}. ", "({}) "))
    return [Piece(form.format(rng.randint(1, 99)), "number"), *pieces]


def change_marks(pieces: list[Piece], rng: Random) -> list[Piece]:
    """Change all dashes and quotation marks: to a typewriter's, to TeX's, or to a typesetter's."""
    change = rng.choice((_to_typewriter, _to_typewriter, _to_tex, _to_typeset))
    return [Piece(change(piece.text), piece.label) for piece in pieces]


def lose_marks(pieces: list[Piece], rate: float, rng: Random) -> list[Piece]:
    """Lose punctuation marks."""
    return _substitute(r"[.,;:()]", lambda mark: "", pieces, rate, rng)


def double_marks(pieces: list[Piece], rate: float, rng: Random) -> list[Piece]:
    """Write punctuation marks twice."""
    return _substitute(r"[.,]", lambda mark: mark * 2, pieces, rate, rng)


def lose_spaces(pieces: list[Piece], rate: float, rng: Random) -> list[Piece]:
    """Lose the blank after punctuation, unless two words would run together."""
    return _substitute(r"(?<=[.,;:)]) ", lambda blank: "", pieces, rate, rng)


def break_words(pieces: list[Piece], rate: float, rng: Random) -> list[Piece]:
    """Break long words with a hyphen and a blank, as at the end of a line: "recog- nition"."""

    def hyphenate(word: str) -> str:
        at = rng.randint(3, len(word) - 3)
        return f"{word[:at]}- {word[at:]}"

    return _substitute(r"(?<![\w/.])[^\W\d_]{6,}(?![\w/])", hyphenate, pieces, rate, rng)


def confuse_letters(pieces: list[Piece], rate: float, rng: Random) -> list[Piece]:
    """Misread a letter of a word, as scanners do: "modern" as "modem"."""

    def misread(word: str) -> str:
        seen, read = rng.choice(_CONFUSIONS)
        return word.replace(seen, read, 1)

    return _substitute(r"\w{2,}", misread, pieces, rate, rng)


def keep_apart(pieces: Iterable[Piece]) -> list[Piece]:
    """Insert a blank if noise made words of two fields touch: a token has one label."""
    apart: list[Piece] = []
    for piece in pieces:
        if not piece.text:
            continue
        if apart and re.match(r"\w\w", apart[-1].text[-1] + piece.text[0]):
            apart[-1] = Piece(apart[-1].text + " ", apart[-1].label)
        apart.append(piece)
    return apart


def _substitute(
    pattern: str, change: Callable[[str], str], pieces: list[Piece], rate: float, rng: Random
) -> list[Piece]:
    """Change each match of a pattern with a given probability, piece by piece."""

    def maybe(match: re.Match[str]) -> str:
        return change(match[0]) if rng.random() < rate else match[0]

    return [Piece(re.sub(pattern, maybe, piece.text), piece.label) for piece in pieces]


def _to_typewriter(text: str) -> str:
    return text.translate(_TYPEWRITER)


def _to_tex(text: str) -> str:
    return text.translate(_TEX)


def _to_typeset(text: str) -> str:
    # Hyphens inside words and identifiers stay; those between pages become dashes.
    return re.sub(r"(?<=\d)-(?=\d)", "–", text).replace("'", "’")


def _is_numbered(pieces: list[Piece]) -> bool:
    return bool(re.match(r"\[|\d+\.", pieces[0].text))


def _other_given(names: NameStyle) -> Literal["full", "initials"]:
    return "full" if names.given == "initials" else "initials"
