"""Works as items of CSL-JSON, the format of Zotero, pandoc and citation processors.

`work_to_csl` writes them and `trelliswork.citations.records.read_csl` reads them back. Fields
without a CSL variable of their own are written where users of CSL expect them:

=====================  ===========================================================
field of `Work`        CSL variable
=====================  ===========================================================
``type``               ``type``; ``genre`` distinguishes the two kinds of theses
``container``          ``container-title``
``series``             ``collection-title``
``pages``              ``page``
``year`` to ``day``     ``issued``
``place``              ``publisher-place``
``school``             ``publisher``
``institution``        ``publisher``, or ``authority`` where there is a publisher
``arxiv``              ``number`` of a preprint, otherwise ``archive_location``
=====================  ===========================================================

The others keep their names. Reading gives back the same work but for these: a collection that has
an author comes back as a book, and a book that has none as a collection; the publisher of a thesis,
a report or a standard comes back as its school or institution if it has no other; of a date that is
neither year nor month ("12 July", "c1900") only these come back; and so does the publisher of a
preprint unless it is arXiv.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from trelliswork.citations.fields import MONTHS

if TYPE_CHECKING:
    from trelliswork.citations.records.works import Name, Work

CSL_TYPES = {
    "article": "article-journal",
    "inproceedings": "paper-conference",
    "book": "book",
    "incollection": "chapter",
    "collection": "book",
    "phdthesis": "thesis",
    "mastersthesis": "thesis",
    "techreport": "report",
    "preprint": "article",
    "standard": "standard",
    "webpage": "webpage",
    "software": "software",
}
"""The CSL type of each of `trelliswork.citations.records.works.WORK_TYPES`."""

GENRES = {"phdthesis": "PhD thesis", "mastersthesis": "Master's thesis"}
"""The genre of a thesis, by type of work."""

SEASONS = ("Spring", "Summer", "Autumn", "Winter")
"""CSL counts the seasons from 1 in this order."""

VARIABLES = {
    "title": "title",
    "container": "container-title",
    "series": "collection-title",
    "volume": "volume",
    "issue": "issue",
    "pages": "page",
    "publisher": "publisher",
    "place": "publisher-place",
    "number": "number",
    "edition": "edition",
    "doi": "DOI",
    "url": "URL",
    "isbn": "ISBN",
    "note": "note",
}
"""The CSL variable of fields that have one."""

ROLES = ("author", "editor", "translator")

_LONGEST_YEAR = 5
_DAY = re.compile("0?[1-9]|[12][0-9]|3[01]")
_NAME_PARTS = {
    "family": "family",
    "given": "given",
    "particle": "non-dropping-particle",
    "suffix": "suffix",
    "literal": "literal",
}


def work_to_csl(work: Work) -> dict[str, Any]:
    """Return a work as an item of CSL-JSON, without unknown fields.

    Examples
    --------
    >>> from trelliswork.citations.records.works import Name, Work
    >>> author = (Name(family="Neumann", given="John", particle="von"),)
    >>> item = work_to_csl(Work("vN51", "book", "A Title", "1951", author, month="July"))
    >>> item["issued"], item["author"]
    ({'date-parts': [[1951, 7]]},
     [{'family': 'Neumann', 'given': 'John', 'non-dropping-particle': 'von'}])
    """
    item: dict[str, Any] = {"id": work.id, "type": CSL_TYPES[work.type]}
    for field, variable in VARIABLES.items():
        if value := getattr(work, field):
            item[variable] = value
    for role in ROLES:
        if names := getattr(work, role):
            item[role] = [name_to_csl(name) for name in names]
    item["issued"] = date_to_csl(work.year, work.month, work.day)
    if work.type in GENRES:
        item["genre"] = GENRES[work.type]
    add_issuer(item, work.school or work.institution)
    add_arxiv(item, work.arxiv, is_preprint=work.type == "preprint")
    return item


def add_issuer(item: dict[str, Any], issuer: str) -> None:
    """Add the issuer of a thesis or a report to an item that has its publisher already."""
    if issuer:
        item["authority" if "publisher" in item else "publisher"] = issuer


def add_arxiv(item: dict[str, Any], arxiv: str, *, is_preprint: bool) -> None:
    """Add an arXiv number to an item that is complete otherwise."""
    if not arxiv:
        return
    if is_preprint and "number" not in item:
        item["number"] = f"arXiv:{arxiv}"
    else:
        item["archive_location"] = arxiv
    # Without a publisher a preprint would be an article that appeared nowhere.
    item.setdefault("publisher" if is_preprint else "archive", "arXiv")


def name_to_csl(name: Name) -> dict[str, str]:
    """Return a name in CSL-JSON; an organisation is a ``literal``."""
    parts = ("literal",) if name.literal else _NAME_PARTS
    return {_NAME_PARTS[part]: value for part in parts if (value := getattr(name, part))}


def date_to_csl(year: str, month: str = "", day: str = "") -> dict[str, Any]:
    """Return a date in CSL-JSON: as numbers if possible, otherwise as text.

    Parameters
    ----------
    year : str
        "1951"; anything else, such as "1951a" or "in press", becomes a ``literal``.
    month : str
        An English name of a month or a season, or other text, or empty.
    day : str
        "12"; it counts only with the name of a month and if a month may have it.
    """
    if year.isascii() and year.isdecimal() and len(year) <= _LONGEST_YEAR:
        number = int(year)
        if month in MONTHS:
            parts = [number, MONTHS.index(month) + 1]
            return {"date-parts": [[*parts, int(day)] if _DAY.fullmatch(day) else parts]}
        if month in SEASONS:
            return {"date-parts": [[number]], "season": SEASONS.index(month) + 1}
        if not month:
            return {"date-parts": [[number]]}
    return {"literal": f"{month} {year}".strip()}
