"""Corrections of labels: fields whose words contradict the label of the model.

* An address in a date is cut out of it.
* "Retrieved May | 4 | 2019 | from" is not a journal with a volume: a date of access is a note, up
  to the address.
* A book number or an address is neither the number of a report nor a volume nor a page.
* "431 | pp." is not a volume: the number of pages of a book is a note.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trelliswork.citations.reference import Field

__all__ = ["relabel_fields"]

_LIGATURES = {0xFB00 + i: letters for i, letters in enumerate(("ff", "fi", "fl", "ffi", "ffl"))}
_ADDRESS = re.compile(r"https?://\S+")
_CONTAINERS = frozenset(("journal", "booktitle", "series", "publisher"))
_LOOKED_AT = re.compile(
    r"\W*(?:(?:last )?(?:retrieved|accessed|visited)|abgerufen|zugegriffen|consulté|recuperado"
    r"|consultado|geraadpleegd|hämtad)\b",
    re.IGNORECASE,
)
_OF_LOOKING = frozenset(("volume", "issue", "pages", "date", "note"))
_NUMBERED = frozenset(("tech", "volume", "pages"))
_IDENTIFIER = re.compile(r"\W*(?:isbn|issn|https?)\b", re.IGNORECASE)
_PAGES = re.compile(r"(?:pp?|pages?|s|seiten|págs?)\.?", re.IGNORECASE)


def relabel_fields(fields: Iterable[Field]) -> list[tuple[str, str]]:
    """Return the corrected label and the text of each field, with ligatures as letters.

    Parameters
    ----------
    fields : iterable of Field
        From left to right.
    """
    found: list[tuple[str, str]] = []
    looked_at = False
    for field in fields:
        label, said = field.label, field.text.translate(_LIGATURES)
        if label == "date" and (address := _ADDRESS.search(said)) is not None:
            found.append(("url", address[0].rstrip(",;.")))
            said = (said[: address.start()] + said[address.end() :]).strip(" ,;")
        if not said:
            continue
        if label in _CONTAINERS and _LOOKED_AT.match(said):
            label, looked_at = "note", True
        elif looked_at and label in _OF_LOOKING:
            found[-1] = ("note", f"{found[-1][1]} {said}")
            continue
        else:
            looked_at = False
        if label in _NUMBERED and _IDENTIFIER.match(said):
            label = "note"
        elif label in ("note", "pages") and _PAGES.fullmatch(said) and found:
            before, number = found[-1]
            if before == "volume" and number.isdigit():
                found[-1] = ("note", f"{number} {said}")
                continue
        found.append((label, said))
    return found
