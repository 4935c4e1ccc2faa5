"""Template rules of whole segments, and the patterns of likely segment borders.

``segment: text`` and the like are parsed here and compiled to a native program. The attribute
``segment_start()`` of tokens is written in the patterns at the end.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

from trelliswork import _core
from trelliswork.features.program import NamedPattern
from trelliswork.features.shapes import unicode_table
from trelliswork.features.template_lexer import column_of, unquote

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from trelliswork.features.program import Column, Lexicon
    from trelliswork.features.template_lexer import RuleReader


class SegmentSource(IntEnum):
    """The property of a segment that a rule reads; the numbers are the core's."""

    TEXT = 0
    SHAPE = 1
    ENDS = 2
    LEXICON = 3


_SOURCES = {
    "text": SegmentSource.TEXT,
    "shape": SegmentSource.SHAPE,
    "ends": SegmentSource.ENDS,
    "in": SegmentSource.LEXICON,
}


@dataclass(frozen=True)
class SegmentRule:
    """One rule of whole segments.

    Attributes
    ----------
    source : SegmentSource
    column : str, int or None
        Column that the rule reads.
    lexicon : str or None
        Name of its lexicon, if it has one.
    name : str
        Prefix of its features: ``segment: text`` in ``segment: text=new york``.
    """

    source: SegmentSource
    column: Column
    lexicon: str | None
    name: str


def read_segment_rule(reader: RuleReader, lexicons: Mapping[str, Lexicon]) -> SegmentRule:
    """Parse the rest of a rule after ``segment:``."""
    token = reader.take("name", what="text, shape, ends or in(…)")
    source = _SOURCES.get(token.text)
    if source is None:
        reader.fail(f"expected text, shape, ends or in(…), got {token.text!r}.", token)
    lexicon: str | None = None
    arguments = []
    written = ""
    if source is SegmentSource.LEXICON:
        reader.take("mark", "(")
        lexicon = reader.declared("lexicon", lexicons)
        arguments.append(lexicon)
        if reader.skip(","):
            written = _column(reader)
        reader.take("mark", ")")
    elif reader.skip("("):
        written = _column(reader)
        reader.take("mark", ")")
    column = column_of(unquote(written) if written.startswith('"') else written or "word")
    if column is not None:
        arguments.append(written)
    of = f"({', '.join(arguments)})" if arguments else ""
    return SegmentRule(source, column, lexicon, f"segment: {token.text}{of}")


def _column(reader: RuleReader) -> str:
    kind = "string" if reader.ahead.kind == "string" else "name"
    return reader.take(kind, what="the name of a column").text


def compile_segment_rules(
    rules: Sequence[SegmentRule],
    columns: Mapping[Column, int],
    lexicons: Mapping[str, Lexicon],
) -> _core.SegmentProgram:
    """Build the native program of rules; ``columns`` has the index of each column in a batch."""
    ids = {name: i for i, name in enumerate(dict.fromkeys(r.lexicon for r in rules if r.lexicon))}
    return _core.SegmentProgram(
        len(columns),
        [
            (int(r.source), columns[r.column], ids[r.lexicon] if r.lexicon else 0, r.name)
            for r in rules
        ],
        [([p.split() for p in lexicons[n].phrases], not lexicons[n].cased) for n in ids],
        unicode_table(),
    )


# Names with a dot cannot be declared, so these never clash with a user's.
SEGMENT_PATTERNS: Mapping[str, NamedPattern] = {
    # Closing marks, but not the point of an initial ("J."); opening marks that are tokens of their
    # own and words that announce a number, because what follows them is a segment.
    "segment.end": NamedPattern(
        r"(.*[^A-Z.])?\.|.*[,;:?!]|.*[)\]\"”]|[(\[“‘`'«]+"
        r"|[Pp]p\.?|[Pp]ages?|[Vv]ol(ume)?\.?|[Nn]o\.?"
    ),
    "segment.start": NamedPattern(
        r"(?i)[(\[\"“].+|in|vol(ume)?\.?|nos?\.?|number|pages?|pp?\.?|eds?\.?|edited|editors?"
        r"|proc(eedings)?\.?|tech(nical)?\.?|ph\.?d\.?|to|submitted|accepted|available|url|doi"
        r"|https?:.*",
    ),
}
