"""The RIS writer, for EndNote, Zotero and Mendeley.

A record is a line a tag, from ``TY`` to ``ER``. A tag says different things in records of
different types; those here are the ones that readers agree on.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from trelliswork.citations.fields import MONTHS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trelliswork.citations.records import Name
    from trelliswork.citations.reference import Reference

_TYPE_OF = {
    "article": "JOUR",
    "inproceedings": "CPAPER",
    "book": "BOOK",
    "incollection": "CHAP",
    "collection": "EDBOOK",
    "phdthesis": "THES",
    "mastersthesis": "THES",
    "techreport": "RPRT",
    "preprint": "UNPB",
    "standard": "STAND",
    "webpage": "ELEC",
    "software": "COMP",
}
_NOT_PRINTED = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_YEAR = re.compile(r"[0-9]{4}")


def to_ris(references: Sequence[Reference]) -> str:
    """Write references as a RIS file, in their order."""
    return "\n".join([_record(reference) for reference in references])


def _record(reference: Reference) -> str:
    first, _, last = reference.pages.partition("-")
    if "," in reference.pages:
        # Several stretches have no first and last page.
        first, last = reference.pages, ""
    found = _YEAR.search(reference.year)
    year = "" if found is None else found[0]
    publisher = reference.publisher or reference.institution
    notes = [reference.note]
    if reference.publisher and reference.institution:
        notes.append(reference.institution)
    if reference.arxiv:
        notes.append(f"arXiv:{reference.arxiv}")
    if reference.et_al:
        notes.append("et al.")  # as an author it would be a person
    lines = [
        ("TY", _TYPE_OF.get(reference.type, "GEN")),
        *[("AU", _name(name)) for name in reference.authors],
        *[("ED", _name(name)) for name in reference.editors],
        *[("A4", _name(name)) for name in reference.translators],
        ("TI", reference.title),
        ("T2", reference.container),
        ("T3", reference.series),
        ("VL", reference.volume),
        ("IS", reference.issue),
        ("M1", reference.number),
        ("M3", reference.genre),
        ("SP", first),
        ("EP", last),
        ("PY", year),
        ("DA", _date(reference, year)),
        ("ET", reference.edition),
        ("PB", publisher),
        ("CY", reference.place),
        ("SN", reference.isbn),
        ("SN", reference.issn),
        ("DO", reference.doi),
        ("UR", reference.url or _address_of_arxiv(reference)),
        *[("N1", note) for note in notes],
    ]
    written = [f"{tag}  - {value}\n" for tag, text in lines if (value := _one_line(text))]
    return "".join(written) + "ER  - \n"


def _one_line(text: str) -> str:
    return " ".join(_NOT_PRINTED.sub(" ", text).split()) if text else ""


def _name(name: Name) -> str:
    """Write a name as "Last, First, Suffix"."""
    if name.literal or not name.family:
        return name.literal or name.given
    last = f"{name.particle} {name.family}" if name.particle else name.family
    # A suffix stands third, after a given name that may be empty.
    parts = (last, name.given, name.suffix) if name.suffix else (last, name.given)
    return ", ".join(parts).rstrip(", ")


def _date(reference: Reference, year: str) -> str:
    """Write a date as year/month/day/other; without a month there is only the year."""
    if not year or not reference.month:
        return ""
    if reference.month not in MONTHS:
        return f"{year}///{reference.month}"
    day = reference.day.zfill(2) if reference.day else ""
    return f"{year}/{MONTHS.index(reference.month) + 1:02d}/{day}/"


def _address_of_arxiv(reference: Reference) -> str:
    return f"https://arxiv.org/abs/{reference.arxiv}" if reference.arxiv else ""
