"""Parsed templates: attributes of tokens, n-grams of them, and their native program.

Both template languages, ours and CRF++'s, are parsed to the classes of this module, and
:func:`compile_program` hands them to the core.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Literal

from trelliswork import _core
from trelliswork.features.shapes import unicode_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

#: A column of a sentence: ``None`` for its tokens, a name, or a number counted from the tokens.
Column = str | int | None

#: The subject of a template: a token, the transition into it, a segment that begins or ends there.
Part = Literal["state", "edge", "begin", "end"]

MAX_OFFSET = 100
MAX_TEMPLATES = 10_000


class Source(IntEnum):
    """The source of an attribute's value; the numbers are the core's."""

    COLUMN = 0
    LEXICON = 1
    SEGMENT_START = 2
    POSITION = 3
    FIRST = 4
    LAST = 5
    BIAS = 6


class Operation(IntEnum):
    """A step from one string to the next; the numbers are the core's."""

    LOWER = 0
    PREFIX = 1
    SUFFIX = 2
    SHAPE = 3
    SHORT_SHAPE = 4
    MATCH = 5
    SEARCH = 6
    TEST = 7
    EXTRACT = 8


_USES_PATTERN = frozenset(
    {Operation.MATCH, Operation.SEARCH, Operation.TEST, Operation.EXTRACT},
)
# Present or absent: they have no padding value outside the sentence.
_PRESENCE = frozenset({Operation.MATCH, Operation.SEARCH})


@dataclass(frozen=True)
class Attribute:
    """One property of a token.

    Attributes
    ----------
    source : Source
    column : str, int or None
        The column that it reads, if any.
    operations : tuple of (Operation, int or str)
        Applied from left to right; the argument is a length or the name of a pattern.
    arguments : tuple of (int or str)
        Lexicon: its name. Position: the number of bins. Segment start: the names of the patterns
        of tokens that end and that start a segment.
    """

    source: Source
    column: Column = None
    operations: tuple[tuple[Operation, int | str], ...] = ()
    arguments: tuple[int | str, ...] = ()

    @property
    def is_presence(self) -> bool:
        """Whether the attribute is present or absent instead of having a value."""
        if self.source is Source.COLUMN:
            return bool(self.operations) and self.operations[-1][0] in _PRESENCE
        return self.source not in (Source.POSITION, Source.LEXICON)

    @property
    def is_padded(self) -> bool:
        """Whether the attribute has a padding value outside the sentence."""
        return self.source is Source.COLUMN and not self.is_presence


@dataclass(frozen=True)
class Term:
    """An attribute of the token at a distance from the current one."""

    attribute: Attribute
    offset: int


@dataclass(frozen=True)
class Template:
    """An n-gram of terms; each of its values is a feature.

    Attributes
    ----------
    terms : tuple of Term
    part : {"state", "edge", "begin", "end"}
        A feature of the token, of the transition into it, or of a segment that begins or ends
        there.
    literals : tuple of str
        The texts around the values in the name of a feature; one more than terms.
    group : str
        Templates of one group whose terms are equal up to a shift share their features.
    """

    terms: tuple[Term, ...]
    part: Part
    literals: tuple[str, ...]
    group: str


@dataclass(frozen=True)
class NamedPattern:
    """A regular expression, in Python's syntax or in Wapiti's."""

    expression: str
    wapiti: bool = False


@dataclass(frozen=True)
class Lexicon:
    """A list of phrases; case is ignored unless ``cased``.

    A phrase is split at white space; each word has to equal one token.
    """

    phrases: tuple[str, ...]
    cased: bool = False


def columns_of(templates: Iterable[Template]) -> list[Column]:
    """Return the columns that templates read, each once, in the order of the templates."""
    reads_column = (Source.COLUMN, Source.LEXICON, Source.SEGMENT_START)
    return list(
        dict.fromkeys(
            term.attribute.column
            for template in templates
            for term in template.terms
            if term.attribute.source in reads_column
        )
    )


def compile_program(
    templates: Sequence[Template],
    columns: Mapping[Column, int],
    patterns: Mapping[str, NamedPattern],
    lexicons: Mapping[str, Lexicon],
    *,
    pad: bool,
) -> _core.FeatureProgram:
    """Build the native program, in which attributes, patterns and lexicons have numbers.

    ``columns`` says where each column lies in a batch.
    """
    attributes: dict[Attribute, int] = {}
    groups: dict[str, int] = {}
    for template in templates:
        groups.setdefault(template.group, len(groups))
        for term in template.terms:
            attributes.setdefault(term.attribute, len(attributes))
    pattern_ids = {name: i for i, name in enumerate(patterns)}
    lexicon_ids = {name: i for i, name in enumerate(lexicons)}

    def argument_id(source: Source, argument: int | str) -> int:
        if isinstance(argument, int):
            return argument
        return lexicon_ids[argument] if source is Source.LEXICON else pattern_ids[argument]

    native_attributes = []
    for attribute in attributes:
        arguments = [argument_id(attribute.source, a) for a in attribute.arguments]
        first, second, *_ = [*arguments, 0, 0]
        operations = [
            (int(operation), pattern_ids[str(a)] if operation in _USES_PATTERN else int(a))
            for operation, a in attribute.operations
        ]
        column = columns.get(attribute.column, 0)
        padded = pad and attribute.is_padded
        native_attributes.append(
            (int(attribute.source), column, operations, first, second, padded),
        )
    native_templates = [
        (
            [(attributes[term.attribute], term.offset) for term in template.terms],
            template.part == "edge",
            groups[template.group],
            list(template.literals),
        )
        for template in templates
    ]
    needs_table = bool(patterns or lexicons) or any(a.operations for a in attributes)
    unicode = unicode_table() if needs_table else None
    return _core.FeatureProgram(
        len(columns),
        native_attributes,
        native_templates,
        [compile_pattern(pattern) for pattern in patterns.values()],
        [([p.split() for p in lx.phrases], not lx.cased) for lx in lexicons.values()],
        unicode,
    )


def compile_pattern(pattern: NamedPattern) -> _core.Regex:
    """Compile a pattern, or raise a ``ValueError`` with a message and a column as arguments."""
    return _core.Regex(pattern.expression, pattern.wapiti, unicode_table())
