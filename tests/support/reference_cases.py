"""Parsed references for tests: read off rendered works, or with arbitrary text in every field."""

from __future__ import annotations

from functools import lru_cache

from hypothesis import strategies as st

from trelliswork.citations import STYLES, Name, load_works, render
from trelliswork.citations.meaning.interpret import interpret
from trelliswork.citations.meaning.trimming import trim
from trelliswork.citations.records import WORK_TYPES
from trelliswork.citations.reference import Alternative, Field, Reference


def reference(kind="misc", **values):
    """Return a reference without a text."""
    return Reference("", 0, 0, (), 1.0, type=kind, **values)


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


# Characters that break formats: their own marks, line ends, control characters, other scripts.
_SIGNS = (*"{}\\$&%#_^~\"'@=,", " and ", " others ", "--", "``", "''", "\\end{", "@book{x,")
_LINE_ENDS = ("\n", "\r\n", "\t", "\x00", "\x1f", "\x7f", "\x85", "\u2028", "\ufeff")
_FOREIGN = ("TY  - BOOK\n", "ER  - ", "😀", "שלום", "العربية", "王伟", "İ", "ﬁ")
NASTY = st.sampled_from(_SIGNS + _LINE_ENDS + _FOREIGN)
TEXTS = st.lists(NASTY | st.text(max_size=8), max_size=6).map("".join)


def _names(texts):
    whole = st.builds(Name, family=texts, given=texts, particle=texts, suffix=texts)
    return whole | st.builds(Name, literal=texts)


NAMES = _names(TEXTS)
TYPED_TEXTS = (
    *("key", "title", "container", "series", "volume", "issue", "pages", "year", "month", "day"),
    *("edition", "publisher", "place", "institution", "number", "genre", "doi", "url", "arxiv"),
    *("isbn", "issn", "note"),
)
CONFIDENCES = st.floats(0, 1) | st.just(float("nan"))


@st.composite
def _references(draw):
    # All values are of a few texts: to draw one for each would take longer than the tests.
    pool = draw(st.lists(TEXTS, min_size=1, max_size=8))
    texts = st.sampled_from([*[""] * len(pool), *pool])
    name_lists = st.lists(_names(texts), max_size=3).map(tuple)
    fields = st.builds(
        Field,
        label=st.sampled_from(["title", "author"]),
        text=texts,
        start=st.integers(0, 9),
        end=st.integers(9, 99),
        confidence=CONFIDENCES,
    )
    field_tuples = st.lists(fields, max_size=2).map(tuple)
    alternatives = st.builds(Alternative, field_tuples, CONFIDENCES)
    return draw(
        st.builds(
            Reference,
            text=texts,
            start=st.integers(0, 9),
            end=st.integers(9, 99),
            fields=field_tuples,
            confidence=CONFIDENCES,
            type=st.sampled_from([*WORK_TYPES, "misc"]),
            authors=name_lists,
            editors=name_lists,
            translators=name_lists,
            et_al=st.booleans(),
            alternatives=st.lists(alternatives, max_size=1).map(tuple),
            unruled=field_tuples,
            **dict.fromkeys(TYPED_TEXTS, texts),
        )
    )


REFERENCES = _references()
"""References that no parser would make, with all that may break a format in their values."""
