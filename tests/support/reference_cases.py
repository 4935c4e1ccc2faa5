"""Parsed references for tests: read off rendered works, or with arbitrary text in every field."""

from __future__ import annotations

from functools import lru_cache

from hypothesis import strategies as st

from trelliswork.citations import STYLES, Name, load_works, render
from trelliswork.citations.meaning.interpret import interpret
from trelliswork.citations.meaning.trimming import trim
from trelliswork.citations.records import WORK_TYPES
from trelliswork.citations.reference import Alternative, Field, Reference


def rendered(work, style):
    """Return a work in a style, read back from its rightly labelled text."""
    pieces = render(work, style, number=3)
    text = "".join(piece.text for piece in pieces)
    fields, first, at = [], 0, 0
    for i, piece in enumerate(pieces):
        at += len(piece.text)
        if i + 1 < len(pieces) and pieces[i + 1].label == piece.label:
            continue
        start, end = trim(text, first, at, piece.label)
        fields.append(Field(piece.label, text[start:end], start, end, 1.0))
        first = at
    return interpret(text, fields)


@lru_cache(maxsize=1)
def all_rendered():
    """Return (work, style, reference) for every shipped work in every style."""
    return [(work, style, rendered(work, style)) for work in load_works() for style in STYLES]


# What breaks formats: their own marks, line ends, control characters, other scripts.
_SIGNS = (*"{}\\$&%#_^~\"'@=,", " and ", " others ", "--", "``", "''", "\\end{", "@book{x,")
_LINE_ENDS = ("\n", "\r\n", "\t", "\x00", "\x1f", "\x7f", "\x85", "\u2028", "\ufeff")
_FOREIGN = ("TY  - BOOK\n", "ER  - ", "😀", "שלום", "العربية", "王伟", "İ", "ﬁ")
NASTY = st.sampled_from(_SIGNS + _LINE_ENDS + _FOREIGN)
TEXTS = st.lists(NASTY | st.text(max_size=8), max_size=6).map("".join)
NAMES = st.builds(Name, family=TEXTS, given=TEXTS, particle=TEXTS, suffix=TEXTS) | st.builds(
    Name, literal=TEXTS
)
NAME_LISTS = st.lists(NAMES, max_size=3).map(tuple)
CONFIDENCES = st.floats(0, 1) | st.just(float("nan"))
FIELDS = st.builds(
    Field,
    label=st.sampled_from(["title", "author"]),
    text=TEXTS,
    start=st.integers(0, 9),
    end=st.integers(9, 99),
    confidence=CONFIDENCES,
)
FIELD_TUPLES = st.lists(FIELDS, max_size=2).map(tuple)
TYPED_TEXTS = (
    *("key", "title", "container", "series", "volume", "issue", "pages", "year", "month", "day"),
    *("edition", "publisher", "place", "institution", "number", "genre", "doi", "url", "arxiv"),
    *("isbn", "issn", "note"),
)
REFERENCES = st.builds(
    Reference,
    text=TEXTS,
    start=st.integers(0, 9),
    end=st.integers(9, 99),
    fields=FIELD_TUPLES,
    confidence=CONFIDENCES,
    type=st.sampled_from([*WORK_TYPES, "misc"]),
    authors=NAME_LISTS,
    editors=NAME_LISTS,
    translators=NAME_LISTS,
    et_al=st.booleans(),
    alternatives=st.lists(st.builds(Alternative, FIELD_TUPLES, CONFIDENCES), max_size=1).map(tuple),
    unruled=FIELD_TUPLES,
    **dict.fromkeys(TYPED_TEXTS, st.just("") | TEXTS),
)
"""References that no parser would make, with all that may break a format in their values."""
