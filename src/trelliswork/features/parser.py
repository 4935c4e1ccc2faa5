"""The parser of the template language (see :mod:`trelliswork.features.templates`)."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, NoReturn

from trelliswork.features.lexer import Token, canonical, template_error, tokenize, unquote
from trelliswork.features.program import (
    MAX_OFFSET,
    MAX_TEMPLATES,
    Attribute,
    Column,
    Lexicon,
    NamedPattern,
    Operation,
    Source,
    Template,
    Term,
    compile_pattern,
)
from trelliswork.features.segments import SEGMENT_PATTERNS

if TYPE_CHECKING:
    from collections.abc import Mapping

_MAX_LENGTH = 100
_MAX_BINS = 1000

#: What the tokens of a sentence are called.
TOKEN_COLUMNS = frozenset({"word", "token"})

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
    """A term and how it is written."""

    term: Term
    text: str


@dataclass
class ParsedTemplates:
    """What a template text says."""

    templates: list[Template] = field(default_factory=list)
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


class _RuleParser:
    """Recursive descent over the tokens of one rule."""

    def __init__(self, tokens: list[Token], parsed: ParsedTemplates, origin: str) -> None:
        self._tokens = tokens
        self._parsed = parsed
        self._origin = origin
        self._at = 0

    # -- tokens

    @property
    def _next(self) -> Token:
        return self._tokens[self._at]

    def _fail(self, message: str, token: Token | None = None, shift: int = 0) -> NoReturn:
        token = token or self._next
        raise template_error(self._origin, token.line, token.column + shift, message)

    def _take(self, kind: str, text: str | None = None, what: str | None = None) -> Token:
        token = self._next
        if token.kind != kind or (text is not None and token.text != text):
            expected = what or (repr(text) if text else f"a {kind}")
            self._fail(f"expected {expected}, got {token.describe()}.")
        self._at += 1
        return token

    def _is_next(self, text: str, after: int = 0) -> bool:
        at = self._at + after
        return at < len(self._tokens) and self._tokens[at].text == text

    def _skip(self, text: str) -> bool:
        found = self._is_next(text)
        self._at += found
        return found

    # -- rules

    def parse(self) -> None:
        if self._is_next("outside") and self._is_next(":", after=1):
            self._outside()
        elif self._next.text == "pattern" and self._tokens[self._at + 1].kind == "name":
            self._pattern()
        elif self._is_lexicon():
            self._lexicon()
        else:
            self._rule()
        self._take("end", what="the end of the line")

    def _outside(self) -> None:
        self._at += 2
        choice = self._take("name", what="'pad' or 'skip'")
        if choice.text not in ("pad", "skip"):
            self._fail(f"expected 'pad' or 'skip', got {choice.text!r}.", choice)
        self._parsed.pad = choice.text == "pad"

    def _pattern(self) -> None:
        self._at += 1
        name = self._take("name")
        if name.text in self._parsed.patterns:
            self._fail(f"pattern {name.text!r} is declared twice.", name)
        self._take("mark", "=")
        token = self._take("regex", what="a regular expression between slashes")
        pattern = NamedPattern(token.text[1:-1].replace(r"\/", "/"))
        try:
            compile_pattern(pattern)
        except ValueError as error:
            message, column = error.args
            escaped = pattern.expression[:column].count("/")
            self._fail(f"{message}.", token, shift=column + escaped + 1)
        self._parsed.patterns[name.text] = pattern

    def _is_lexicon(self) -> bool:
        after = 1 if self._next.text == "cased" and self._is_next("lexicon", after=1) else 0
        return self._is_next("lexicon", after) and self._tokens[self._at + after + 1].kind == "name"

    def _lexicon(self) -> None:
        cased = self._skip("cased")
        self._at += 1
        name = self._take("name")
        if name.text in self._parsed.lexicons:
            self._fail(f"lexicon {name.text!r} is given twice.", name)
        self._take("mark", "=")
        phrases = [self._string("a phrase in double quotes")]
        while self._next.kind == "string":
            phrases.append(self._string("a phrase"))
        self._parsed.lexicons[name.text] = Lexicon(tuple(phrases), cased)

    def _string(self, what: str) -> str:
        return unquote(self._take("string", what=what).text)

    def _rule(self) -> None:
        edge = self._is_next("edge") and self._is_next(":", after=1)
        self._at += 2 * edge
        start = self._next
        factors = [self._factor()]
        while self._skip("|"):
            factors.append(self._factor())
        # The product is not built before its size is known.
        n_templates = 1
        for choices in factors:
            n_templates *= len(choices)
        if n_templates + len(self._parsed.templates) > MAX_TEMPLATES:
            self._fail(f"more than {MAX_TEMPLATES} templates; use smaller windows.", start)
        for choice in product(*factors):
            terms = [term for factor in choice for term in factor]
            self._parsed.templates.append(_template(terms, edge=edge))
        self._parsed.rules.append(canonical(self._tokens))

    def _factor(self) -> list[tuple[NamedTerm, ...]]:
        if not (self._is_next("ngrams") and self._is_next("(", after=1)):
            return [(term,) for term in self._expression()]
        start = self._next
        self._at += 2
        terms = self._expression()
        self._take("mark", ",")
        lengths = self._range(1, _MAX_LENGTH, "a length")
        self._take("mark", ")")
        if lengths[-1] > len(terms):
            self._fail(f"no {lengths[-1]}-grams in a window of {len(terms)}.", start)
        return [tuple(terms[i : i + n]) for n in lengths for i in range(len(terms) - n + 1)]

    # -- expressions: each is the list of its alternatives, in the order of windows

    def _expression(self) -> list[NamedTerm]:
        token = self._next
        if token.kind == "string":
            return self._column(unquote(token.text), token.text)
        if token.kind != "name":
            self._fail(f"expected a column or a function, got {token.describe()}.")
        if self._is_next("(", after=1):
            return self._call(token)
        if token.text == "bias" and not self._is_next("[", after=1):
            self._at += 1
            return [NamedTerm(Term(Attribute(Source.BIAS), 0), "bias")]
        return self._column(token.text, token.text)

    def _column(self, name: str, written: str) -> list[NamedTerm]:
        self._at += 1
        column: Column = None if name in TOKEN_COLUMNS else name
        attribute = Attribute(Source.COLUMN, column)
        return [NamedTerm(Term(attribute, i), f"{written}[{i}]") for i in self._window()]

    def _window(self) -> range:
        if not self._skip("["):
            return range(1)
        window = self._range(-MAX_OFFSET, MAX_OFFSET, "an offset")
        self._take("mark", "]")
        return window

    def _range(self, low: int, high: int, what: str) -> range:
        first = self._number(low, high, what)
        if self._next.kind != "dots":
            return range(first, first + 1)
        self._at += 1
        token = self._next
        last = self._number(low, high, what)
        if last < first:
            self._fail(f"expected {what} of at least {first}, got {last}.", token)
        return range(first, last + 1)

    def _number(self, low: int, high: int, what: str) -> int:
        token = self._take("number", what=what)
        value = int(token.text) if len(token.text) < 10 else high + 1
        if not low <= value <= high:
            self._fail(f"expected {what} from {low} to {high}, got {token.text}.", token)
        return value

    def _call(self, name: Token) -> list[NamedTerm]:
        self._at += 2
        function = name.text
        if function in _MARKS:
            terms = [NamedTerm(Term(Attribute(_MARKS[function]), 0), f"{function}()")]
        elif function == "position":
            bins = self._number(1, _MAX_BINS, "a number of bins")
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
            pattern = self._declared("pattern", self._parsed.patterns)
            self._take("mark", ",")
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
            self._fail("ngrams(…) can only be joined by '|', not put inside a function.", name)
        else:
            known = ", ".join(_FUNCTIONS)
            self._fail(f"unknown function {function!r}; known are {known}.", name)
        self._take("mark", ")")
        return terms

    def _apply(
        self, named: NamedTerm, operation: Operation, argument: int | str, function: Token
    ) -> Term:
        attribute = named.term.attribute
        if attribute.source is not Source.COLUMN or attribute.is_presence:
            self._fail(
                f"{function.text}(…) needs the text of a column, not {named.text}.", function
            )
        operations = (*attribute.operations, (operation, argument))
        return Term(Attribute(Source.COLUMN, attribute.column, operations), named.term.offset)

    def _affixes(self, name: Token) -> list[NamedTerm]:
        terms = self._expression()
        self._take("mark", ",")
        lengths = self._range(1, _MAX_LENGTH, "a length")
        operation = _AFFIXES[name.text]
        return [
            NamedTerm(self._apply(t, operation, n, name), f"{name.text}({t.text}, {n})")
            for t in terms
            for n in lengths
        ]

    def _membership(self, name: Token) -> list[NamedTerm]:
        lexicon = self._declared("lexicon", self._parsed.lexicons)
        self._take("mark", ",")
        terms = []
        for t in self._expression():
            attribute = t.term.attribute
            if attribute.source is not Source.COLUMN or attribute.operations:
                self._fail(f"in(…) needs a column, not {t.text}.", name)
            member = Attribute(Source.LEXICON, attribute.column, arguments=(lexicon,))
            terms.append(NamedTerm(Term(member, t.term.offset), f"in({lexicon}, {t.text})"))
        return terms

    def _segment_start(self) -> list[NamedTerm]:
        written, names = "segment_start()", tuple(SEGMENT_PATTERNS)
        if self._is_next(")"):
            self._parsed.patterns.update(SEGMENT_PATTERNS)
        else:
            end = self._declared("pattern", self._parsed.patterns)
            self._take("mark", ",")
            names = (end, self._declared("pattern", self._parsed.patterns))
            written = f"segment_start({names[0]}, {names[1]})"
        self._take("mark", ")")
        attribute = Attribute(Source.SEGMENT_START, arguments=names)
        windowed = self._is_next("[")
        return [
            NamedTerm(Term(attribute, i), f"{written}[{i}]" if windowed else written)
            for i in self._window()
        ]

    def _declared(self, what: str, declared: Mapping[str, object]) -> str:
        token = self._take("name", what=f"the name of a {what}")
        if token.text not in declared:
            known = ", ".join(n for n in declared if "." not in n) or "none"
            self._fail(f"unknown {what} {token.text!r}; declared before this line: {known}.", token)
        return token.text


def _template(terms: list[NamedTerm], *, edge: bool) -> Template:
    literals = []
    for i, named in enumerate(terms):
        joint = "|" if i else ""
        value = "" if named.term.attribute.is_presence else "="
        literals.append(f"{joint}{named.text}{value}")
    group = "|".join(named.text for named in terms)
    return Template(tuple(t.term for t in terms), edge, (*literals, ""), group)
