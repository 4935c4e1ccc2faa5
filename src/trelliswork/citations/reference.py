"""`Reference`: the fields of a parsed reference, as text and as typed values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trelliswork.citations.records import Name


@dataclass(frozen=True, slots=True)
class Field:
    """A field: a span of the input with its label.

    Attributes
    ----------
    label : str
        One of `trelliswork.citations.LABELS`.
    text : str
        Its text, without the marks that separate it from its neighbours; line breaks
        are blanks, and words that a line break cut in two are whole.
    start, end : int
        Its span in the input, in characters, end exclusive.
    confidence : float
        The probability that this very stretch is this very field, from 0 to 1.
    """

    label: str
    text: str
    start: int
    end: int
    confidence: float


@dataclass(frozen=True, slots=True)
class Alternative:
    """Another reading of the whole reference.

    Attributes
    ----------
    fields : tuple of Field
        From left to right.
    confidence : float
        The probability of this reading.
    """

    fields: tuple[Field, ...]
    confidence: float


@dataclass(frozen=True, slots=True)
class Reference:
    """A parsed reference; an empty string or tuple is a field that was not found.

    Attributes
    ----------
    text : str
        The reference on one line.
    start, end : int
        Its span in the input, in characters, end exclusive.
    fields : tuple of Field
        From left to right.
    confidence : float
        The probability that the whole reading is right.
    type : str
        The guessed type: one of `trelliswork.citations.records.works.WORK_TYPES`, or "misc".
    key : str
        Its number or key in the list: "12", "Sha48".
    authors, editors, translators : tuple of Name
        People and organisations, in the order of the text.
    et_al : bool
        Whether "et al." or the like stands for more authors.
    container : str
        The journal of an article; the proceedings or the book of a chapter.
    pages : str
        First and last page with a plain hyphen between them; a shortened last page is completed.
    year, month, day : str
        "1948", "July", "12"; the year with its letter, "1948a".
    publisher, place : str
        The publisher and its place.
    institution : str
        The school of a thesis; the issuer of a report.
    number : str
        The number of a report or a standard.
    genre : str
        The kind of a report, a thesis or the like, as written: "PhD thesis", "Technical Report".
    doi, url, arxiv, isbn, issn : str
        Without a prefix: "10.1002/...", "https://...", "1706.03762", "0-262-...".
    alternatives : tuple of Alternative
        Other readings, the most probable first, if requested.
    tokens, labels : tuple of str
        The tokens and the labels of the model.
    unruled : tuple of Field
        The fields of the model alone, if the rules changed them; otherwise empty.
    broken_rules : tuple of str
        The rules that `unruled` breaks.
    """

    text: str
    start: int
    end: int
    fields: tuple[Field, ...]
    confidence: float
    type: str = "misc"
    key: str = ""
    authors: tuple[Name, ...] = ()
    editors: tuple[Name, ...] = ()
    translators: tuple[Name, ...] = ()
    et_al: bool = False
    title: str = ""
    container: str = ""
    series: str = ""
    volume: str = ""
    issue: str = ""
    pages: str = ""
    year: str = ""
    month: str = ""
    day: str = ""
    edition: str = ""
    publisher: str = ""
    place: str = ""
    institution: str = ""
    number: str = ""
    genre: str = ""
    doi: str = ""
    url: str = ""
    arxiv: str = ""
    isbn: str = ""
    issn: str = ""
    note: str = ""
    alternatives: tuple[Alternative, ...] = ()
    tokens: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    unruled: tuple[Field, ...] = ()
    broken_rules: tuple[str, ...] = ()
