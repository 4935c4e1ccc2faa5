"""Invented numbers of works: years, pages, volumes, identifiers, addresses on the web."""

from __future__ import annotations

import re
import unicodedata
import zlib
from typing import TYPE_CHECKING

from trelliswork.citations.fields import MONTHS
from trelliswork.citations.invention.stock import load_stock, pick

if TYPE_CHECKING:
    from random import Random

LAST_YEAR = 2024
_FIRST_YEAR = 1900
_FIRST_DOI = 1998

_ARCHIVES = {
    "astro": "astro-ph",
    "condensed": "cond-mat",
    "particles": "hep-th hep-ph hep-ex gr-qc hep-lat nucl-th",
    "mathematics": "math math-ph math.AG math.NT",
    "ai": "cs cs.CL cs.LG",
    "systems": "cs cs.DS",
    "theory": "cs math.CO quant-ph",
    "statistics": "math.ST math",
}
_DOI_KINDS = {
    "inproceedings": "proceedings",
    "incollection": "chapter",
    "book": "book",
    "collection": "book",
}
_DOI_FIELDS = {
    "ai": "computing",
    "systems": "computing",
    "theory": "computing",
    "engineering": "computing",
    "particles": "physics",
    "condensed": "physics",
    "astro": "physics",
    "biology": "life",
    "chemistry": "life",
    "medicine": "life",
    "earth": "life",
}
_ISBN_GROUPS = {
    "": (("0", 3), ("0", 4), ("1", 4), ("1", 5)),
    "german": (("3", 3), ("3", 5)),
    "french": (("2", 2), ("2", 4)),
    "spanish": (("84", 3), ("84", 4)),
    "italian": (("88", 2), ("88", 4)),
    "portuguese": (("85", 3), ("972", 2)),
    "dutch": (("90", 2), ("90", 4)),
    "swedish": (("91", 2), ("91", 4)),
    "polish": (("83", 2), ("83", 4)),
}
_SEASONS = ("Spring", "Summer", "Fall", "Winter", "Autumn")


def invent_year(rng: Random, since: int = _FIRST_YEAR) -> int:
    """Draw a year from 1900 to 2024, most of them after 1975, none before `since`."""
    while True:
        chance = rng.random()
        if chance < 0.06:
            year = rng.randrange(_FIRST_YEAR, 1950)
        elif chance < 0.17:
            year = rng.randrange(1950, 1975)
        elif chance < 0.95:
            year = rng.randrange(1975, 2021)
        else:
            year = rng.randrange(2021, LAST_YEAR + 1)
        if year >= since:
            return year


def invent_month(rng: Random, *, of_journal: bool) -> str:
    """Draw a month; issues of journals now and then have a season or two months."""
    chance = rng.random() if of_journal else 1.0
    if chance < 0.03:
        return pick(rng, _SEASONS)
    index = rng.randrange(12)
    if chance < 0.06 and index < 11:
        return f"{MONTHS[index]}/{MONTHS[index + 1]}"
    return MONTHS[index]


def invent_volume(rng: Random, journal: str, year: int) -> str:
    """Return the volume of a journal in a year, as if the journal had one a year."""
    founded = 1850 + zlib.crc32(journal.encode()) % 140
    if year > founded and rng.random() < 0.9:
        return str(year - founded)
    chance = rng.random()
    if chance < 0.1:
        return to_roman(rng.randint(1, 60))
    return str(rng.randint(1, 40) if chance < 0.8 else rng.randint(40, 700))


def invent_issue(rng: Random) -> str:
    """Draw the issue of a volume."""
    chance = rng.random()
    if chance < 0.04:
        first = rng.randrange(1, 11)
        return f"{first}-{first + 1}"
    if chance < 0.06:
        return pick(rng, ("Suppl 1", "Suppl. 2", "Suppl", "Supplement", "S1", "Special Issue"))
    if chance < 0.09:
        return f"{rng.randint(1, 12)}{pick(rng, 'ABab')}"
    if chance < 0.13:
        return str(rng.randint(100, 9999))
    return str(rng.randint(1, 4) if chance < 0.6 else rng.randint(1, 12))


def invent_pages(rng: Random, year: int) -> str:
    """Draw the pages of an article, with a plain hyphen between first and last."""
    chance = rng.random()
    if chance < 0.1 and year >= 2003:
        return fill_shape(
            pick(rng, ("e####", "e######", "1#####", "0#####", "###", "##")), year, rng
        )
    if chance > 0.985:
        return f"{pick(rng, 'LLR')}{rng.randint(1, 99)}"
    first, last = _page_range(rng, int(10 ** rng.uniform(0 if chance < 0.25 else 1.7, 3.4)))
    if chance > 0.975:
        return f"S{first}-S{last}"
    if chance > 0.96:
        return f"{rng.randint(1, 30)}-{rng.randint(31, 60)}"
    return str(first) if 0.1 < chance < 0.13 else f"{first}-{last}"


def invent_chapter_pages(rng: Random) -> str:
    """Draw the pages of a chapter or a paper in proceedings."""
    chance = rng.random()
    if chance < 0.05:
        return f"1-{rng.randint(4, 30)}"
    first, last = _page_range(rng, rng.randint(1, 900))
    return str(first) if chance > 0.97 else f"{first}-{last}"


def _page_range(rng: Random, first: int) -> tuple[int, int]:
    return first, first + 1 + int(rng.expovariate(1 / (10 if rng.random() < 0.7 else 25)))


def invent_doi(rng: Random, type_: str, discipline: str, year: int) -> str:
    """Draw a DOI of a shape that the publishers of a discipline give to works of a type."""
    kind = _DOI_KINDS.get(type_, "article")
    if kind == "article" and rng.random() < 0.6:
        kind = _DOI_FIELDS.get(discipline, kind)
    return fill_shape(load_stock("shapes")[f"{kind} doi"].pick(rng), year, rng)


def doi_is_likely(rng: Random, year: int) -> bool:
    """Draw whether a paper has a known DOI."""
    return rng.random() < (0.4 if year >= _FIRST_DOI else 0.12)


def invent_arxiv(rng: Random, discipline: str, year: int) -> str:
    """Draw an arXiv identifier: "hep-th/9711200" before 2007, "1706.03762" after."""
    month = rng.randint(1, 12)
    if year < 2007 or (year == 2007 and month < 4):
        archive = pick(rng, _ARCHIVES.get(discipline, "physics q-bio nlin").split())
        return f"{archive}/{year % 100:02d}{month:02d}{rng.randint(1, 999):03d}"
    width = 4 if year < 2015 else 5
    last = min(10**width - 1, 24000)
    version = f"v{rng.randint(1, 4)}" if rng.random() < 0.12 else ""
    return f"{year % 100:02d}{month:02d}.{rng.randint(1, last):0{width}d}{version}"


def invent_isbn(rng: Random, language: str, year: int) -> str:
    """Draw an ISBN with a valid check digit: ten digits before 2007, thirteen after."""
    group, registrant = rng.choice(_ISBN_GROUPS[language])
    publisher = "".join(pick(rng, "0123456789") for _ in range(registrant))
    title = "".join(pick(rng, "0123456789") for _ in range(9 - len(group) - registrant))
    body = group + publisher + title
    parts = [group, publisher, title]
    if year >= 2007:
        parts = ["978", *parts, isbn13_digit("978" + body)]
    else:
        parts.append(isbn10_digit(body))
    return ("-" if rng.random() < 0.7 else "").join(parts)


def isbn10_digit(body: str) -> str:
    """Return the check digit of nine digits: Σ (10 - i) dᵢ is a multiple of 11, X stands for 10."""
    rest = -sum((10 - i) * int(digit) for i, digit in enumerate(body)) % 11
    return "X" if rest == 10 else str(rest)


def isbn13_digit(body: str) -> str:
    """Return the check digit of twelve digits: with weights 1, 3, 1, … the sum is 0 modulo 10."""
    return str(-sum((1, 3)[i % 2] * int(digit) for i, digit in enumerate(body)) % 10)


def invent_report_number(rng: Random, year: int, issuer: str) -> str:
    """Draw the number of a report; some begin with the short name of the issuer, if it has one."""
    shape = load_stock("shapes")["report"].pick(rng)
    if "{short}" in shape and not issuer:
        shape = "TR-{yy}-##"
    return fill_shape(shape, year, rng).replace("{short}", issuer)


def invent_standard(rng: Random, year: int) -> tuple[str, str, str]:
    """Draw the issuer of a standard (short), its number, and the issuer in full."""
    short, shape, issuer = load_stock("shapes")["standard"].pick(rng).split("|")
    return short, fill_shape(shape, year, rng), issuer


def fill_shape(shape: str, year: int, rng: Random) -> str:
    """Put a year, digits and letters into a shape.

    A "#" is a digit, the first of a row not a 0; "%" is a capital, "~" a small letter, "{year}" the
    year and "{yy}" its last two digits.
    """
    shape = shape.replace("{year}", str(year)).replace("{yy}", f"{year % 100:02d}")
    out = []
    previous = ""
    for mark in shape:
        if mark == "#":
            out.append(pick(rng, "0123456789" if previous.isdigit() else "123456789"))
        elif mark == "%":
            out.append(pick(rng, "ABCDEFGHIJKLMNPRST"))
        elif mark == "~":
            out.append(pick(rng, "abcdefghijklmnoprstuvw"))
        else:
            out.append(mark)
        previous = out[-1]
    return "".join(out)


def to_slug(title: str, words: int = 4) -> str:
    """Write the first words of a title as in an address on the web: "history-of-rome"."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    return "-".join(re.findall(r"[a-z0-9]+", plain)[:words]) or "index"


def to_roman(number: int) -> str:
    """Write a number below 400 in roman numerals."""
    numerals = ((100, "C"), (90, "XC"), (50, "L"), (40, "XL"), (10, "X"), (9, "IX"), (5, "V"))
    out = ""
    for value, letters in (*numerals, (4, "IV"), (1, "I")):
        count, number = divmod(number, value)
        out += letters * count
    return out
