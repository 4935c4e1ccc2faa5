"""A parsed reference: its fields as they stand in the text, and as typed values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trelliswork.citations.records import Name


@dataclass(frozen=True, slots=True)
class Field:
    """A stretch of the input that is one field.

    Attributes
    ----------
    label : str
        One of `trelliswork.citations.LABELS`.
    text : str
        What is written there, without the marks that separate it from its neighbours; line breaks
        are blanks, and words that a line break cut in two are whole.
    start, end : int
        Where it stands in the input: characters, end exclusive.
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
    """One reference; an empty string or tuple is a field that was not found.

    Attributes
    ----------
    text : str
        The reference on one line.
    start, end : int
        Where it stands in the input: characters, end exclusive.
    fields : tuple of Field
        From left to right.
    confidence : float
        The probability that the whole reading is right.
    type : str
        A guess: one of `trelliswork.citations.records.works.WORK_TYPES`, or "misc".
    key : str
        The number or key that the list gives it: "12", "Sha48".
    authors, editors, translators : tuple of Name
        People and organisations, in the order of the text.
    et_al : bool
        Whether "et al." or the like stands for more authors.
    container : str
        The journal of an article; the proceedings or the book that hold a chapter.
    pages : str
        First and last page with a plain hyphen between them; a shortened last page is completed.
    year, month, day : str
        "1948", "July", "12"; the year with its letter, "1948a".
    publisher, place : str
        Who published it, and where.
    institution : str
        The school of a thesis; who issued a report.
    number : str
        The number of a report or a standard.
    genre : str
        What a report, a thesis or the like calls itself: "PhD thesis", "Technical Report".
    doi, url, arxiv, isbn, issn : str
        Without what introduces them: "10.1002/...", "https://...", "1706.03762", "0-262-...".
    alternatives : tuple of Alternative
        Other readings, the most probable first, where they were asked for.
    tokens, labels : tuple of str
        What the model read and what it said of it, token by token.
    unruled : tuple of Field
        What the model alone reads, where the rules made it read something else; otherwise empty.
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
