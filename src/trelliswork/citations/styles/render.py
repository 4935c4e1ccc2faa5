"""`render`: a work in a citation style, as pieces of text with labels.

The labels are those of `trelliswork.citations.fields`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from trelliswork.citations.fields import MONTHS
from trelliswork.citations.styles.marks import closing, opening, unmark
from trelliswork.citations.styles.names import INITIALS, NameStyle, format_names
from trelliswork.citations.styles.template import Piece, fill
from trelliswork.citations.styles.wording import (
    ENGLISH,
    Wording,
    abbreviate_venue,
    format_edition,
    format_month,
    sentence_case,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trelliswork.citations.records import Name, Work

# Slots that many styles share: "Cambridge, MA: MIT Press", also in brackets with the year.
PLACE_PUBLISHER = "{. $place}{: $publisher|. $publisher}"
PLACE_PUBLISHER_YEAR = "{ ($place}{: $publisher| ($publisher}{, $date)| ($date)}"

_TEMPLATE_OF = {
    "article": "article",
    "inproceedings": "chapter",
    "incollection": "chapter",
    "book": "book",
    "collection": "book",
    "phdthesis": "report",
    "mastersthesis": "report",
    "techreport": "report",
    "standard": "report",
    "preprint": "report",
    "webpage": "online",
    "software": "online",
}
_WHOLE_BOOKS = ("book", "collection", "phdthesis")


@dataclass(frozen=True)
class Style:
    """A citation style: five templates, and the form of their fields.

    Attributes
    ----------
    name : str
        Name of the style.
    article, chapter, book, report, online : str
        A template (see `trelliswork.citations.styles.template`) for each family of works.
    tail : str
        Slots written after each of them.
    end : str
        The mark that ends the reference.
    names, editor_names : NameStyle
        For those who open the reference, and for the editors within it.
    wording : Wording
        The words the style adds.
    key : {"", "number", "alpha"}
        Form of `$key`: nothing, a running number, or letters and year as in "Sha48".
    months : tuple of str
        Names of the twelve months; empty if dates are years.
    date : str
        The format of a date that has a month.
    volume, issue : str
        Together, the volume of an article: "27" and "(3)".
    dash : str
        Between the first and the last page.
    pages : {"full", "short", "first"}
        379–423, 379–83 or 379.
    venue : {"full", "abbreviated", "undotted"}
        Whether names of journals and proceedings are abbreviated.
    lower_titles : bool
        Whether titles of papers lose their capitals.
    """

    name: str
    article: str
    chapter: str
    book: str
    report: str
    online: str
    tail: str = "{. $note}"
    end: str = "."
    names: NameStyle = INITIALS
    editor_names: NameStyle = INITIALS
    wording: Wording = ENGLISH
    key: Literal["", "number", "alpha"] = ""
    months: tuple[str, ...] = MONTHS
    date: str = "{month} {year}"
    volume: str = "{volume}"
    issue: str = "({issue})"
    dash: str = "–"
    pages: Literal["full", "short", "first"] = "full"
    venue: Literal["full", "abbreviated", "undotted"] = "full"
    lower_titles: bool = False


def render(work: Work, style: Style, *, number: int = 1) -> list[Piece]:
    """Write a work as a reference.

    Parameters
    ----------
    work : Work
        The cited work.
    style : Style
        The style.
    number : int
        The number of the reference, in styles that count them.

    Returns
    -------
    list of Piece
        Text and label; the texts, joined, are the reference, and no word crosses two pieces.
    """
    template: str = getattr(style, _TEMPLATE_OF[work.type])
    values = {
        name: Piece(text, label) for name, (text, label) in _values(work, style, number).items()
    }
    return [
        inner
        for outer in fill(template + style.tail + style.end, values)
        for inner in unmark(opening(outer.label) + outer.text + closing())
    ]


def _values(work: Work, style: Style, number: int) -> dict[str, tuple[str, str]]:
    """Return the text and the label of every field that a template may use."""
    opener = "author" if work.author else "editor"
    venue_label = "journal" if work.type == "article" else "booktitle"
    # Editors who open the reference are not named again.
    inner = work.editor if work.author else ()
    return {
        "key": (_key(work, style, number), "number"),
        "lead": (_lead(work, style), opener),
        "editors": (_editors(inner, style.editor_names, style), "editor"),
        "edited": (format_names(inner, style.editor_names), "editor"),
        "title": (_title(work, style), "title"),
        "container": (_venue(work.container, style), venue_label),
        "series": (_venue(work.series, style), "series"),
        "volume": (_volume(work, style), "volume"),
        "issue": (work.issue, "issue"),
        "pages": (_pages(work.pages, style), "pages"),
        "date": (_date(work, style), "date"),
        "year": (work.year, "date"),
        "publisher": (work.publisher, "publisher"),
        "place": (work.place, "location"),
        "institution": _issuer(work),
        "genre": (_genre(work, style.wording), "arxiv" if work.arxiv else "tech"),
        "edition": (format_edition(work.edition, style.wording), "edition"),
        "doi": (work.doi, "doi"),
        "url": (work.url, "url"),
        "note": (work.note, "note"),
    }


def _lead(work: Work, style: Style) -> str:
    if work.author:
        return format_names(work.author, style.names)
    return _editors(work.editor, style.names, style)


def _editors(editors: Sequence[Name], names: NameStyle, style: Style) -> str:
    if not editors:
        return ""
    word = style.wording.editor if len(editors) == 1 else style.wording.editors
    return format_names(editors, names) + word


def _issuer(work: Work) -> tuple[str, str]:
    """Return the issuer of a thesis or a report unless it is the author; else the publisher."""
    issuer = work.school or work.institution
    if not issuer:
        return work.publisher, "publisher"
    own = any(issuer == name.literal for name in work.author)
    return "" if own else issuer, "institution"


def _title(work: Work, style: Style) -> str:
    lower = style.lower_titles and work.type not in _WHOLE_BOOKS
    return sentence_case(work.title) if lower else work.title


def _venue(name: str, style: Style) -> str:
    if style.venue == "full":
        return name
    short = abbreviate_venue(name)
    return short.replace(".", "") if style.venue == "undotted" else short


def _volume(work: Work, style: Style) -> str:
    if work.type != "article":
        return work.volume
    if not work.volume:
        return f"{opening('issue')}no. {work.issue}{closing()}" if work.issue else ""
    volume = style.volume.format(volume=work.volume)
    if not work.issue:
        return volume
    issue = style.issue.format(issue=work.issue)
    own = issue.lstrip(" .,;:")  # the separator belongs to the volume
    return volume + issue.removesuffix(own) + opening("issue") + own + closing()


def _pages(pages: str, style: Style) -> str:
    first, hyphen, last = pages.partition("-")
    if style.pages == "first" or not hyphen:
        return first
    if style.pages == "short" and first.isdigit() and len(first) == len(last) > 2:
        last = last[-2:] if first[:-2] == last[:-2] else last
    return f"{first}{style.dash}{last}"


def _date(work: Work, style: Style) -> str:
    if not work.month or not style.months:
        return work.year
    month = format_month(work.month, style.months)
    return style.date.format(month=f"{month} {work.day}".rstrip(), year=work.year)


def _genre(work: Work, wording: Wording) -> str:
    """Return the kind of document of a thesis, a report, a standard or the like."""
    match work.type:
        case "phdthesis":
            return wording.phd
        case "mastersthesis":
            return wording.masters
        case "techreport":
            # "Memo 12" includes the kind; "CS-94-12" does not.
            named = re.search(r"[A-Za-z][a-z]{2,}", work.number)
            return work.number if named else f"{wording.report} {work.number}".rstrip()
        case "standard":
            return work.number or wording.standard
        case "preprint":
            return f"{wording.preprint} arXiv:{work.arxiv}" if work.arxiv else "Preprint"
        case "software":
            return wording.software
        case _:
            return ""


def _key(work: Work, style: Style, number: int) -> str:
    if style.key == "number":
        return str(number)
    if style.key != "alpha":
        return ""
    names = [re.sub(r"\W", "", name.family or name.literal) for name in work.author or work.editor]
    letters = names[0][:3] if len(names) == 1 else "".join(name[0] for name in names[:3])
    return letters + ("+" if len(names) > 3 else "") + work.year[-2:]
