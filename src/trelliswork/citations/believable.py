"""A test whether a labelled text is a reference, by its fields."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

# A reference names the work, and two of: author, date, venue, publisher, numbers, an
# identifier; or three of these.
_CITED = frozenset({"title", "journal", "booktitle"})
_EVIDENCE = {
    "author": "who",
    "editor": "who",
    "translator": "who",
    "date": "when",
    "journal": "where",
    "booktitle": "where",
    "series": "where",
    "publisher": "publisher",
    "institution": "publisher",
    "location": "publisher",
    "tech": "number",
    "volume": "number",
    "issue": "number",
    "pages": "number",
    "doi": "identifier",
    "url": "identifier",
    "arxiv": "identifier",
    "isbn": "identifier",
}


def is_believable(labels: Iterable[str]) -> bool:
    """Return whether a labelled text has the fields of a reference.

    A model that has seen nothing but references takes a line of prose for a title, and is sure.
    """
    found = set(labels)
    kinds = {_EVIDENCE[label] for label in found if label in _EVIDENCE}
    return len(kinds) >= (2 if found & _CITED else 3)
