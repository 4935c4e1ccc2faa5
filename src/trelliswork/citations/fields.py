"""Labels of reference tokens, those of the parser and those of Cora, and the names of months.

Punctuation belongs to the field it follows, "In" to the editors or the booktitle it introduces,
"pp." to the pages, "vol." to the volume, "(Eds.)" to the editors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trelliswork.data.tokenizer import Tokenizer
from trelliswork.labels.segments import convert

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trelliswork.labels.schemes import Scheme


TOKENIZER = Tokenizer("words")
"""A run of letters and digits, or a single mark: the tokens of the Cora references."""

LABELS = (
    "author",
    "editor",
    "translator",
    "title",
    "journal",
    "booktitle",
    "series",
    "volume",
    "issue",
    "pages",
    "date",
    "edition",
    "publisher",
    "location",
    "institution",
    "tech",
    "doi",
    "url",
    "arxiv",
    "isbn",
    "note",
    "number",
)
"""The labels of the parser.

``tech`` is the kind and the number of a report, a thesis, a standard or a preprint ("Tech. Rep.
CS-94-12", "PhD thesis"), ``institution`` who issued it, ``isbn`` an ISBN or ISSN, ``number`` the
number or key in front of a reference in a list ("[12]").
"""

SCHEME: Scheme = "bio"
"""The scheme of the models: the beginning of a field has weights of its own."""

FIELDS = (
    "author",
    "booktitle",
    "date",
    "editor",
    "institution",
    "journal",
    "location",
    "note",
    "pages",
    "publisher",
    "tech",
    "title",
    "volume",
)
"""The 13 labels of the Cora references."""

_IN_CORA = {
    "translator": "editor",
    "issue": "volume",
    "series": "booktitle",
    "edition": "note",
    "doi": "note",
    "url": "note",
    "arxiv": "tech",
    "isbn": "note",
}

MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)

SHORT_MONTHS = (
    "Jan.",
    "Feb.",
    "Mar.",
    "Apr.",
    "May",
    "June",
    "July",
    "Aug.",
    "Sept.",
    "Oct.",
    "Nov.",
    "Dec.",
)

BARE_MONTHS = tuple(month[:3] for month in MONTHS)

GERMAN_MONTHS = (
    "Januar",
    "Februar",
    "März",
    "April",
    "Mai",
    "Juni",
    "Juli",
    "August",
    "September",
    "Oktober",
    "November",
    "Dezember",
)


def to_scheme(labels: Sequence[str], scheme: Scheme) -> list[str]:
    """Return plain labels in the scheme of a model; each run of equal ones is a field.

    Examples
    --------
    >>> to_scheme(["author", "author", "title"], "bio")
    ['B-author', 'I-author', 'B-title']
    """
    return list(labels) if scheme == "plain" else convert(labels, "plain", scheme)


def to_plain(labels: Sequence[str], scheme: Scheme) -> list[str]:
    """Return the labels of a model without its scheme.

    Examples
    --------
    >>> to_plain(["B-author", "I-author", "B-title"], "bio")
    ['author', 'author', 'title']
    """
    return list(labels) if scheme == "plain" else [label.partition("-")[2] for label in labels]


def to_cora(labels: Sequence[str]) -> list[str]:
    """Return the labels of one reference in the conventions of Cora.

    There a volume holds its issue, a series is a booktitle or a journal, an edition, a DOI or an
    address on the web is a note, an arXiv number is tech. A number in front belongs to the field
    that follows it.

    Examples
    --------
    >>> to_cora(["number", "author", "title", "journal", "volume", "issue", "doi"])
    ['author', 'author', 'title', 'journal', 'volume', 'volume', 'note']
    """
    series = "journal" if "journal" in labels else "booktitle"
    found: list[str] = []
    following = "author"
    for label in reversed(labels):
        if label != "number":
            following = series if label == "series" else _IN_CORA.get(label, label)
        found.append(following)
    return found[::-1]
