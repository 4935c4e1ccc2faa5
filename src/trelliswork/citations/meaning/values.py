"""Typed values from the text of one field: dates, pages, volumes, editions, titles, reports.

Each function takes the text of a field, with the words that its style added, and returns the value
without them. An unreadable text gives an empty string, never an error: the text of the field is
kept anyway. Identifiers are in `trelliswork.citations.meaning.identifiers`.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from trelliswork.citations.fields import BARE_MONTHS, GERMAN_MONTHS, MONTHS
from trelliswork.citations.meaning.trimming import trim_text

_OTHER_MONTHS = (
    "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
    "jänner fevrier maerz avr mai juni juli aout sept okt nov dez",
    "ene feb mrz abr mai jun jul ago sep okt nov déc",
    "jan fév mär apr mag giu lug aoû sett oct nov dic",
    "gen févr mar apr may juil lug ago set ott nov dec",
)
_SEASONS = {"spring": "Spring", "summer": "Summer", "autumn": "Autumn", "fall": "Autumn"}
_SEASONS["winter"] = "Winter"


def _month_names() -> dict[str, str]:
    names = {}
    for language in (
        MONTHS,
        BARE_MONTHS,
        GERMAN_MONTHS,
        *(months.split() for months in _OTHER_MONTHS),
    ):
        for month, name in zip(MONTHS, language, strict=True):
            names[name.lower()] = month
    return names


_MONTH_OF = _month_names()

_YEAR = re.compile(r"(?<!\d)(1[4-9]\d\d|20\d\d)([a-z]?)(?![\w])")
_NUMERIC = re.compile(
    r"(?<!\d)(?:(?P<y>[12]\d{3})[-/.年]\s?(?P<m>\d\d?)(?:[-/.月]\s?(?P<d>\d\d?)(?!\d))?"
    r"|(?P<a>\d\d?)(?P<mark>[./])\s?(?P<b>\d\d?)(?P=mark)\s?(?P<z>[12]\d{3})(?!\d))"
)
_WORD = re.compile(r"[^\W\d_]+")
_LAST_WORD = re.compile(r"([^\W_]+)[\W_]*\Z")
_FIRST_WORD = re.compile(r"[\W_]*([^\W_]+)")
_BESIDE_MONTHS = frozenset(("of", "the", "de", "del", "di", "do", "and", "und", "et", "y", "e"))
_DAY_BEHIND = re.compile(r"\.?\s*(\d\d?)(?:st|nd|rd|th)?(?!\d)")
_DAY_IN_FRONT = re.compile(
    r"(?<!\d)(\d\d?)(?:st|nd|rd|th|\.|º|er)?(?:\s*[-–—/]\s*\d\d?\.?)?"
    r"\s*(?:de\s|of\s)?\s*$"
)
_ACCESSED = re.compile(
    r"[(\[]?\b(?:accessed|retrieved|visited|last\s+(?:accessed|visited|checked)|abgerufen|consult"
    r"|zugriff|accesso|acesso)",
    re.IGNORECASE,
)


def _one_line(text: str) -> str:
    return " ".join(text.split())


class Date(NamedTuple):
    """A date: year with its letter, English month or season, day; empty where not known."""

    year: str = ""
    month: str = ""
    day: str = ""


def parse_date(text: str) -> Date:
    """Read a date in any of the usual ways.

    Examples
    --------
    >>> parse_date("(1991, July 3)"), parse_date("5.–8. Juli 2012")
    (Date(year='1991', month='July', day='3'), Date(year='2012', month='July', day='5'))
    >>> parse_date("[1994a]"), parse_date("n.d.")
    (Date(year='1994a', month='', day=''), Date(year='', month='', day=''))
    """
    if text.isdigit() and len(text) == 4 and text.isascii():
        return Date(text)
    accessed = _ACCESSED.search(text)
    if accessed is not None:
        text = text[: accessed.start()]
    found = _YEAR.search(text)
    year = found[1] + found[2] if found is not None else ""
    for word in _WORD.finditer(text):
        lowered = word[0].lower()
        month = _MONTH_OF.get(lowered)
        if month is not None and _stands_in_a_date(text, word.start(), word.end()):
            return Date(year, month, _day(text, word.start(), word.end()))
        if lowered in _SEASONS:
            return Date(year, _SEASONS[lowered])
    numeric = _NUMERIC.search(text)
    return Date(year) if numeric is None else _numeric_date(numeric, year)


def _stands_in_a_date(text: str, start: int, end: int) -> bool:
    """Return whether a possible month has a number or a month beside it: not in "data set"."""
    before, after = _LAST_WORD.search(text[:start]), _FIRST_WORD.match(text, end)
    if before is None or after is None:
        return True
    return any(
        word[1][0].isdigit() or word[1].lower() in _BESIDE_MONTHS or word[1].lower() in _MONTH_OF
        for word in (before, after)
    )


def _day(text: str, start: int, end: int) -> str:
    for found in (_DAY_BEHIND.match(text, end), _DAY_IN_FRONT.search(text[:start])):
        if found is not None and 1 <= int(found[1]) <= 31:
            return found[1].lstrip("0")
    return ""


def _numeric_date(found: re.Match[str], year: str) -> Date:
    """Read 2012-07-05, 5.7.2012 or 5/13/2012; 5/7/2012 may be May or July and is neither."""
    if found["y"] is not None:
        month, day = int(found["m"]), int(found["d"] or 0)
        year = year or found["y"]
    else:
        first, second = int(found["a"]), int(found["b"])
        year = year or found["z"]
        if found["mark"] == "." or first > 12:
            month, day = second, first
        elif second > 12:
            month, day = first, second
        else:
            return Date(year)
    # "1991-12" may be a range of years cut short; 13 is no month.
    if not 1 <= month <= 12 or day > 31:
        return Date(year)
    return Date(year, MONTHS[month - 1], str(day) if day else "")


_PAGE = r"[A-Za-z]{0,3}\d[\dA-Za-z.:]*|[ivxlcdm]+(?![a-zA-Z])"
_DASH = r"\s*(?:-{1,3}|[‐‑‒–—―−~_]|\bto\b|\bbis\b|\ba\b)\s*"
_RANGE = re.compile(rf"(?<![\w.])({_PAGE})(?:{_DASH}({_PAGE}))?")
_PAGE_WORDS = re.compile(
    r"\b(?:pages?|pp?|pgs?|pag|págs?|seiten?|ss?|стр|с|art(?:icle)?|no|id)\b\.?:?\s*", re.IGNORECASE
)
_PAGE_COUNT = re.compile(
    r"(?:[ivxlc]+\s*[+,]\s*)?\d+\s*(?:pp?|pages?|pgs|seiten|s|págs?)\b\.?", re.IGNORECASE
)


def is_page_count(text: str) -> bool:
    """Return whether a text is a number of pages: "xii + 345 pp."."""
    return _PAGE_COUNT.fullmatch(text.strip()) is not None


def parse_pages(text: str) -> str:
    """Read pages: plain hyphens, the last page completed, ranges with commas between them.

    Examples
    --------
    >>> parse_pages("pp. 379–83"), parse_pages("S. 12 ff."), parse_pages("L69"), parse_pages("e12")
    ('379-383', '12', 'L69', 'e12')
    """
    ranges = []
    for first, last in _RANGE.findall(_PAGE_WORDS.sub("", text)):
        first, last = first.rstrip(".:"), last.rstrip(".:")
        if last and first.isdigit() and last.isdigit() and len(last) < len(first):
            completed = first[: -len(last)] + last
            last = completed if int(completed) > int(first) else last
        ranges.append(f"{first}-{last}" if last and last != first else first)
    return ", ".join(ranges)


_SINGLE = r"(?:[A-Za-z]{0,3}[-\s]?\d[\w.]*(?:\s?[-–&+]\s?\d\w*)?|[IVXLCDMivxlcdm]+\b|[A-Z]\b)"
_NUMBER = rf"(?:\d+/\d+|{_SINGLE})"
_VOLUME_WORD = r"(?:volumes?|vols?|v|bde?|band|tomes?|tomo|t|jg|jahrg(?:ang)?|том|т|año|anno)"
_ISSUE_WORD = (
    r"(?:numbers?|numéro|número|núm|num|nos?|nrs?|n\s?[º°]|no?|issues?|iss|heft|h|fasc|№|#)"
)
_VOLUME = re.compile(rf"(?<!\w){_VOLUME_WORD}\b\.?\s*({_NUMBER})", re.IGNORECASE)
_VOLUME_IN_FRONT = re.compile(rf"^{_VOLUME_WORD}(?!\w)\.?\s*", re.IGNORECASE)
_CHINESE_VOLUME = re.compile(r"(?:第?\s?(\d+)\s?[卷巻권])?\s?,?\s?(?:第?\s?(\d+)\s?[期号號호])?")
_ISSUE = re.compile(rf"(?<!\w){_ISSUE_WORD}(?!\w)\.?\s*({_NUMBER})", re.IGNORECASE)
_VOLUME_AND_ISSUE = re.compile(
    rf"({_SINGLE}?)\s*(?:[(\[]\s*([^()\[\]]+?)\s*[)\]]|[,:./]\s*({_NUMBER}))?"
)
_EDGES = " .,;:"


def parse_volume(text: str) -> tuple[str, str]:
    """Read volume and issue from a field that may hold both.

    Examples
    --------
    >>> parse_volume("vol. 27, no. 3"), parse_volume("27(3–4)"), parse_volume("Bd. 4")
    (('27', '3'), ('27', '3-4'), ('4', ''))
    """
    # "1997 Nov 15;9(8)": the text before a semicolon is the end of a date.
    text = _one_line(text).strip(_EDGES).rpartition(";")[2].strip(_EDGES)
    if text.isdigit():
        return text, ""
    if not text.isascii() and (counted := _CHINESE_VOLUME.fullmatch(text)) is not None:
        return counted[1] or "", counted[2] or ""
    volume, issue = _VOLUME.search(text), _ISSUE.search(text)
    if volume is not None and issue is not None:
        return _plain(volume[1]), _plain(issue[1])
    if issue is not None:
        # "27, no. 3", "no. 3" or "27 (no. 3)"
        # or "vol. PAMI-6, no. 3", which is not a usual number
        before = _VOLUME_IN_FRONT.sub("", text[: issue.start()]).strip(_EDGES + "([")
        return before, _plain(issue[1])
    rest = text if volume is None else text[volume.start(1) :]
    both = _VOLUME_AND_ISSUE.fullmatch(rest)
    if both is not None and (both[1] or both[2]):
        # A decimal number is volume and issue too: "27.3".
        first, point, second = both[1].partition(".")
        issued = both[2] or both[3] or (second if point else "")
        return _plain(first), _plain(issued)
    return (text, "") if volume is None else (_plain(volume[1]), "")


def parse_issue(text: str) -> str:
    """Read an issue: "no. 3", "(3)", "Heft 2"."""
    text = _one_line(text)
    found = _ISSUE.search(text)
    return _plain(text.strip(_EDGES + "()[]") if found is None else found[1])


def _plain(number: str) -> str:
    return re.sub(r"\s?[–—]\s?", "-", number).strip(_EDGES)


_EDITION_WORD = re.compile(
    r"\b(?:editions?|edn?s?|éditions?|éd|edición|edizione|edição|auflage|aufl|ausgabe|изд)\b\.?",
    re.IGNORECASE,
)


def parse_edition(text: str) -> str:
    """Read an edition without the word: "2nd ed." is "2nd", "3. Aufl." is "3"."""
    text = _one_line(text)
    bare = _EDITION_WORD.sub("", text).strip(_EDGES + "()[]")
    return bare or text.strip(_EDGES + "()[]")


_OF = re.compile(r"of\s+")
_IN = re.compile(
    r"(?:in|en|dans|em)\s*:\s*|in\s+(?!(?:search|defen[cs]e|vivo|vitro|situ|silico|praise|pursuit"
    r"|memor(?:y|iam)|hono(?:u?)r|the\s+(?:beginning|shadow|mind))\b)",
    re.IGNORECASE,
)


def parse_title(text: str) -> str:
    """Strip quotation marks and final punctuation from a title; "?" and "!" stay.

    Examples
    --------
    >>> parse_title("“Why Most Published Research Findings Are False,”")
    'Why Most Published Research Findings Are False'
    """
    return trim_text(text, "title")


def parse_container(text: str, label: str) -> str:
    """Read the name of a journal, a book or a series, without the word that introduces it.

    Parameters
    ----------
    text : str
        "In Proceedings of ...", "In: Mind", "of Lecture Notes in Computer Science".
    label : {"journal", "booktitle", "series"}
        A journal may be called "In Vitro": there, only "In:" introduces.
    """
    text = trim_text(text, label)
    found = _OF.match(text) if label == "series" else _IN.match(text)
    if found is None or (label == "journal" and ":" not in found[0]):
        return text
    return trim_text(text[found.end() :], label)


_NUMBER_WORD = re.compile(r"(?:\b(?:no|nos|nr|num|number)\b\.?|#|№)\s*$", re.IGNORECASE)
_DIGIT = re.compile(r"\d")
_STANDARD = re.compile(r"\b(?:Std|Standard|ISO|IEC|DIN|ANSI|EN|BS)\b.*\d")


def parse_report(text: str) -> tuple[str, str]:
    """Read the genre of a report or a thesis, and its number.

    Examples
    --------
    >>> parse_report("Tech. Rep. CS-94-12"), parse_report("PhD thesis"), parse_report("RFC 2616")
    (('Tech. Rep.', 'CS-94-12'), ('PhD thesis', ''), ('', 'RFC 2616'))
    """
    text = _one_line(text).strip(" ,;:()[]")
    if _STANDARD.search(text) is not None:
        return "", text
    words = text.split()
    first = next((i for i, word in enumerate(words) if _DIGIT.search(word)), len(words))
    last = first
    # "TR 95-12", "FIPS PUB 197": the capitals belong to the number.
    while first > 0 and words[first - 1].isupper() and last < len(words):
        first -= 1
    while last < len(words) - 1 and words[last][-1] != "," and words[last + 1][0].isupper():
        last += 1
    genre = _NUMBER_WORD.sub("", " ".join(words[:first]))
    return genre.strip(" ,;:([-"), " ".join(words[first : last + 1]).strip(" ,;:()[]")
