"""The parser of the template language (see :mod:`trelliswork.features.templates`)."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Literal

from trelliswork.features.program import (
    MAX_OFFSET,
    MAX_TEMPLATES,
    Attribute,
    Lexicon,
    NamedPattern,
    Operation,
    Part,
    Source,
    Template,
    Term,
    compile_pattern,
)
from trelliswork.features.segment_rules import SEGMENT_PATTERNS, SegmentRule, read_segment_rule
from trelliswork.features.template_lexer import (
    RuleReader,
    Token,
    canonical,
    column_of,
    tokenize,
    unquote,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

_MAX_LENGTH = 100
_MAX_BINS = 1000

_PREFIXES: tuple[Part | Literal["segment"], ...] = ("edge", "begin", "end", "segment")

_SIMPLE = {
    "lower": Operation.LOWER,
    "shape": Operation.SHAPE,
    "short_shape": Operation.SHORT_SHAPE,
}
_AFFIXES = {"prefix": Operation.PREFIX, "suffix": Operation.SUFFIX}
_PATTERN_TESTS = {"match": Operation.MATCH, "search": Operation.SEARCH}
_MARKS = {"bias": Source.BIAS, "first": Source.FIRST, "last": Source.LAST}
_FUNCTIONS = sorted(
    [*_SIMPLE, *_AFFIXES, *_PATTERN_TESTS, *_MARKS, "in", "position", "segment_start", "ngrams"],
)


@dataclass(frozen=True)
class NamedTerm:
    """A term and its text."""

    term: Term
    text: str


@dataclass
class ParsedTemplates:
    """The content of a template text."""

    templates: list[Template] = field(default_factory=list)
    segment_rules: list[SegmentRule] = field(default_factory=list)
    patterns: dict[str, NamedPattern] = field(default_factory=dict)
    lexicons: dict[str, Lexicon] = field(default_factory=dict)
    rules: list[str] = field(default_factory=list)
    pad: bool = True


def parse_templates(text: str, lexicons: Mapping[str, Lexicon], origin: str) -> ParsedTemplates:
    """Parse a text in the template language."""
    parsed = ParsedTemplates(lexicons=dict(lexicons))
    for tokens in tokenize(text, origin):
        _RuleParser(tokens, parsed, origin).parse()
    return parsed


class _RuleParser(RuleReader):
    """A recursive-descent parser of the tokens of one rule."""

    def __init__(self, tokens: list[Token], parsed: ParsedTemplates, origin: str) -> None:
        super().__init__(tokens, origin)
        self._parsed = parsed

    # -- rules

    def parse(self) -> None:
        if self.is_next("outside") and self.is_next(":", after=1):
            self._outside()
        elif self.ahead.text == "pattern" and self.is_name(after=1):
            self._pattern()
        elif self._is_lexicon():
            self._lexicon()
        else:
            self._rule()
        self.take("end", what="the end of the line")

    def _outside(self) -> None:
        self.advance(2)
        choice = self.take("name", what="'pad' or 'skip'")
        if choice.text not in ("pad", "skip"):
            self.fail(f"expected 'pad' or 'skip', got {choice.text!r}.", choice)
        self._parsed.pad = choice.text == "pad"

    def _pattern(self) -> None:
        self.advance()
        name = self.take("name")
        if name.text in self._parsed.patterns:
            self.fail(f"pattern {name.text!r} is declared twice.", name)
        self.take("mark", "=")
        token = self.take("regex", what="a regular expression between slashes")
        pattern = NamedPattern(token.text[1:-1].replace(r"\/", "/"))
        try:
            compile_pattern(pattern)
        except ValueError as error:
            message, column = error.args
            escaped = pattern.expression[:column].count("/")
            self.fail(f"{message}.", token, shift=column + escaped + 1)
        self._parsed.patterns[name.text] = pattern

    def _is_lexicon(self) -> bool:
        after = 1 if self.ahead.text == "cased" and self.is_next("lexicon", after=1) else 0
        return self.is_next("lexicon", after) and self.is_name(after + 1)

    def _lexicon(self) -> None:
        cased = self.skip("cased")
        self.advance()
        name = self.take("name")
        if name.text in self._parsed.lexicons:
            self.fail(f"lexicon {name.text!r} is given twice.", name)
        self.take("mark", "=")
        phrases = [self.string("a phrase in double quotes")]
        while self.ahead.kind == "string":
            phrases.append(self.string("a phrase"))
        self._parsed.lexicons[name.text] = Lexicon(tuple(phrases), cased)

    def _part(self) -> Part | Literal["segment"]:
        """Read the part that a rule describes; tokens by default."""
        for part in _PREFIXES:
            if self.is_next(part) and self.is_next(":", after=1):
                self.advance(2)
                return part
        return "state"

    def _rule(self) -> None:
        part = self._part()
        if part == "segment":
            self._parsed.segment_rules.append(read_segment_rule(self, self._parsed.lexicons))
            self._parsed.rules.append(canonical(self._tokens))
            return
        start = self.ahead
        factors = [self._factor()]
        while self.skip("|"):
            factors.append(self._factor())
        # The product is not built before its size is known.
        n_templates = 1
        for choices in factors:
            n_templates *= len(choices)
        if n_templates + len(self._parsed.templates) > MAX_TEMPLATES:
            self.fail(f"more than {MAX_TEMPLATES} templates; use smaller windows.", start)
        for choice in product(*factors):
            terms = [term for factor in choice for term in factor]
            self._parsed.templates.append(_template(terms, part))
        self._parsed.rules.append(canonical(self._tokens))

    def _factor(self) -> list[tuple[NamedTerm, ...]]:
        if not (self.is_next("ngrams") and self.is_next("(", after=1)):
            return [(term,) for term in self._expression()]
        start = self.ahead
        self.advance(2)
        terms = self._expression()
        self.take("mark", ",")
        lengths = self.interval(1, _MAX_LENGTH, "a length")
        self.take("mark", ")")
        if lengths[-1] > len(terms):
            self.fail(f"no {lengths[-1]}-grams in a window of {len(terms)}.", start)
        return [tuple(terms[i : i + n]) for n in lengths for i in range(len(terms) - n + 1)]

    # -- expressions: each is the list of its alternatives, in the order of windows

    def _expression(self) -> list[NamedTerm]:
        token = self.ahead
        if token.kind == "string":
            return self._column(unquote(token.text), token.text)
        if token.kind != "name":
            self.fail(f"expected a column or a function, got {token.describe()}.")
        if self.is_next("(", after=1):
            return self._call(token)
        if token.text == "bias" and not self.is_next("[", after=1):
            self.advance()
            return [NamedTerm(Term(Attribute(Source.BIAS), 0), "bias")]
        return self._column(token.text, token.text)

    def _column(self, name: str, written: str) -> list[NamedTerm]:
        self.advance()
        attribute = Attribute(Source.COLUMN, column_of(name))
        return [NamedTerm(Term(attribute, i), f"{written}[{i}]") for i in self._window()]

    def _window(self) -> range:
        if not self.skip("["):
            return range(1)
        window = self.interval(-MAX_OFFSET, MAX_OFFSET, "an offset")
        self.take("mark", "]")
        return window

    def _call(self, name: Token) -> list[NamedTerm]:
        self.advance(2)
        function = name.text
        if function in _MARKS:
            terms = [NamedTerm(Term(Attribute(_MARKS[function]), 0), f"{function}()")]
        elif function == "position":
            bins = self.number(1, _MAX_BINS, "a number of bins")
            attribute = Attribute(Source.POSITION, arguments=(bins,))
            terms = [NamedTerm(Term(attribute, 0), f"position({bins})")]
        elif function == "segment_start":
            return self._segment_start()
        elif function in _SIMPLE:
            operation = _SIMPLE[function]
            terms = [
                NamedTerm(self._apply(t, operation, 0, name), f"{function}({t.text})")
                for t in self._expression()
            ]
        elif function in _AFFIXES:
            terms = self._affixes(name)
        elif function in _PATTERN_TESTS:
            pattern = self.declared("pattern", self._parsed.patterns)
            self.take("mark", ",")
            operation = _PATTERN_TESTS[function]
            terms = [
                NamedTerm(
                    self._apply(t, operation, pattern, name), f"{function}({pattern}, {t.text})"
                )
                for t in self._expression()
            ]
        elif function == "in":
            terms = self._membership(name)
        elif function == "ngrams":
            self.fail("ngrams(…) can only be joined by '|', not put inside a function.", name)
        else:
            known = ", ".join(_FUNCTIONS)
            self.fail(f"unknown function {function!r}; known are {known}.", name)
        self.take("mark", ")")
        return terms

    def _apply(
        self, named: NamedTerm, operation: Operation, argument: int | str, function: Token
    ) -> Term:
        attribute = named.term.attribute
        if attribute.source is not Source.COLUMN or attribute.is_presence:
            self.fail(f"{function.text}(…) needs the text of a column, not {named.text}.", function)
        operations = (*attribute.operations, (operation, argument))
        return Term(Attribute(Source.COLUMN, attribute.column, operations), named.term.offset)

    def _affixes(self, name: Token) -> list[NamedTerm]:
        terms = self._expression()
        self.take("mark", ",")
        lengths = self.interval(1, _MAX_LENGTH, "a length")
        operation = _AFFIXES[name.text]
        return [
            NamedTerm(self._apply(t, operation, n, name), f"{name.text}({t.text}, {n})")
            for t in terms
            for n in lengths
        ]

    def _membership(self, name: Token) -> list[NamedTerm]:
        lexicon = self.declared("lexicon", self._parsed.lexicons)
        self.take("mark", ",")
        terms = []
        for t in self._expression():
            attribute = t.term.attribute
            if attribute.source is not Source.COLUMN or attribute.operations:
                self.fail(f"in(…) needs a column, not {t.text}.", name)
            member = Attribute(Source.LEXICON, attribute.column, arguments=(lexicon,))
            terms.append(NamedTerm(Term(member, t.term.offset), f"in({lexicon}, {t.text})"))
        return terms

    def _segment_start(self) -> list[NamedTerm]:
        written, names = "segment_start()", tuple(SEGMENT_PATTERNS)
        if self.is_next(")"):
            self._parsed.patterns.update(SEGMENT_PATTERNS)
        else:
            end = self.declared("pattern", self._parsed.patterns)
            self.take("mark", ",")
            names = (end, self.declared("pattern", self._parsed.patterns))
            written = f"segment_start({names[0]}, {names[1]})"
        self.take("mark", ")")
        attribute = Attribute(Source.SEGMENT_START, arguments=names)
        windowed = self.is_next("[")
        return [
            NamedTerm(Term(attribute, i), f"{written}[{i}]" if windowed else written)
            for i in self._window()
        ]


def _template(terms: list[NamedTerm], part: Part) -> Template:
    literals = []
    described = f"{part}: " if part in ("begin", "end") else ""
    for i, named in enumerate(terms):
        joint = "|" if i else described
        value = "" if named.term.attribute.is_presence else "="
        literals.append(f"{joint}{named.text}{value}")
    group = "|".join(named.text for named in terms)
    return Template(tuple(t.term for t in terms), part, (*literals, ""), group)
