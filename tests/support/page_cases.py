"""Parsed references for the tests of pages and formats: built from labelled pieces of text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trelliswork.citations import TOKENIZER, Name
from trelliswork.citations.reference import Alternative, Field, Reference

if TYPE_CHECKING:
    from collections.abc import Sequence

MARKS = " .,;:()[]“”\"'"


def fields_of(
    pieces: Sequence[tuple[str, str]], confidences: Sequence[float], start: int = 0
) -> tuple[Field, ...]:
    """Return the fields of labelled pieces of a text, each without the marks around it."""
    fields, at = [], start
    for (label, text), confidence in zip(pieces, confidences, strict=True):
        bare = text.strip(MARKS)
        if bare:
            first = at + text.index(bare)
            fields.append(Field(label, bare, first, first + len(bare), confidence))
        at += len(text)
    return tuple(fields)


def reference(
    *pieces: tuple[str, str], confidence: float = 0.9, start: int = 0, sure: Any = (), **values: Any
) -> Reference:
    """Return a reference that reads as the pieces, one after the other.

    `sure` are the confidences of the fields; `unruled` and `alternatives` may be given as pieces.
    """
    text = "".join(piece for _, piece in pieces)
    sure = sure or [confidence] * len(pieces)
    tokens, labels = [], []
    for label, piece in pieces:
        own = TOKENIZER.tokenize(piece).tokens
        tokens += own
        labels += [label] * len(own)
    if "unruled" in values:
        unruled = values["unruled"]
        values["unruled"] = fields_of(unruled, [0.0] * len(unruled), start)
    values["alternatives"] = tuple(
        Alternative(fields_of(other, [share] * len(other), start), share)
        for other, share in values.get("alternatives", ())
    )
    return Reference(
        text=text,
        start=start,
        end=start + len(text),
        fields=fields_of(pieces, sure, start),
        confidence=confidence,
        tokens=tuple(tokens),
        labels=tuple(labels),
        **values,
    )


SHANNON = reference(
    ("author", "Shannon, C. E. "),
    ("date", "(1948). "),
    ("title", "A mathematical theory of communication. "),
    ("journal", "Bell System Technical Journal, "),
    ("volume", "27"),
    ("issue", "(3), "),
    ("pages", "379–423. "),
    ("doi", "https://doi.org/10.1002/j.1538-7305.1948.tb01338.x"),
    confidence=0.964,
    sure=[0.999, 0.998, 0.991, 0.997, 0.994, 0.993, 0.9996, 1.0],
    type="article",
    authors=(Name("Shannon", "C. E."),),
    title="A mathematical theory of communication",
    container="Bell System Technical Journal",
    volume="27",
    issue="3",
    pages="379-423",
    year="1948",
    doi="10.1002/j.1538-7305.1948.tb01338.x",
)

VASWANI = reference(
    ("number", "[2] "),
    ("author", "A. Vaswani, N. Shazeer, N. Parmar et al., "),
    ("title", "“Attention is all you need,” "),
    ("booktitle", "in Advances in Neural Information Processing Systems, "),
    ("volume", "vol. 30, "),
    ("location", "Long Beach, CA, "),
    ("date", "Dec. 2017, "),
    ("pages", "pp. 5998–6008."),
    confidence=0.713,
    start=140,
    sure=[0.99, 0.97, 0.96, 0.81, 0.93, 0.72, 0.95, 0.99],
    type="inproceedings",
    key="2",
    authors=(Name("Vaswani", "A."), Name("Shazeer", "N."), Name("Parmar", "N.")),
    et_al=True,
    title="Attention is all you need",
    container="Advances in Neural Information Processing Systems",
    volume="30",
    place="Long Beach, CA",
    year="2017",
    month="December",
    pages="5998-6008",
    alternatives=(
        (
            (
                ("number", "[2] "),
                ("author", "A. Vaswani, N. Shazeer, N. Parmar et al., "),
                ("title", "“Attention is all you need,” "),
                ("booktitle", "in Advances in Neural Information Processing Systems, "),
                ("volume", "vol. 30, "),
                ("publisher", "Long Beach, CA, "),
                ("date", "Dec. 2017, "),
                ("pages", "pp. 5998–6008."),
            ),
            0.18,
        ),
        (
            (
                ("number", "[2] "),
                ("author", "A. Vaswani, N. Shazeer, N. Parmar et al., "),
                ("title", "“Attention is all you need,” "),
                ("booktitle", "in Advances in Neural Information Processing Systems, vol. 30, "),
                ("location", "Long Beach, CA, "),
                ("date", "Dec. 2017, "),
                ("pages", "pp. 5998–6008."),
            ),
            0.04,
        ),
    ),
)

NEUMANN = reference(
    ("author", "von Neumann, John, Jr. and World Health Organization. "),
    ("title", "Logics and the synthesis of reliable organisms from unreliable components. "),
    ("booktitle", "In Automata Studies, "),
    ("editor", "C. E. Shannon and J. McCarthy (eds.). "),
    ("location", "Princeton: "),
    ("publisher", "Princeton University Press, "),
    ("date", "1956."),
    confidence=0.31,
    start=400,
    sure=[0.88, 0.52, 0.47, 0.91, 0.99, 0.98, 0.97],
    type="incollection",
    authors=(
        Name("Neumann", "John", "von", "Jr."),
        Name(literal="World Health Organization"),
    ),
    editors=(Name("Shannon", "C. E."), Name("McCarthy", "J.")),
    title="Logics and the synthesis of reliable organisms from unreliable components",
    container="Automata Studies",
    place="Princeton",
    publisher="Princeton University Press",
    year="1956",
    unruled=(
        ("author", "von Neumann, John, Jr. and World Health Organization. "),
        ("title", "Logics and the synthesis of reliable organisms "),
        ("journal", "from unreliable components. "),
        ("title", "In Automata Studies, "),
        ("editor", "C. E. Shannon and J. McCarthy (eds.). "),
        ("location", "Princeton: "),
        ("publisher", "Princeton University Press, "),
        ("date", "1956."),
    ),
    broken_rules=("at_most(1, 'title')", "excludes('journal', 'publisher').soft(1.2)"),
)

HEBREW = reference(
    ("author", "כהן, י. "),
    ("date", "(2011). "),
    ("title", "מבוא לבלשנות עברית. "),
    ("location", "ירושלים: "),
    ("publisher", "מאגנס."),
    confidence=0.55,
    start=700,
    type="book",
    authors=(Name("כהן", "י."),),
    title="מבוא לבלשנות עברית",
    place="ירושלים",
    publisher="מאגנס",
    year="2011",
)

HOSTILE = reference(
    ("author", "<script>document.title='owned'</script> & \"Q\" 'x', "),
    ("title", "</style></script><img src=x onerror=alert(1)>\x00\u202e\u2067. "),
    ("url", "javascript:alert(1) "),
    ("note", "--></pre></main>\ud800"),
    confidence=0.02,
    start=900,
    type="misc",
    key='"><b>',
    authors=(Name("<script>document.title='owned'</script>"),),
    title="</style></script><img src=x onerror=alert(1)>\x00\u202e\u2067",
    url="javascript:alert(1)",
    note="--></pre></main>\ud800",
    broken_rules=("at_most(1, '<b>')",),
)

REFERENCES = (SHANNON, VASWANI, NEUMANN, HEBREW, HOSTILE)


def luminance(shade: str) -> float:
    parts = [int(shade[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)
