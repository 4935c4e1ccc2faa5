"""The lexer of the template language, and `RuleReader`, a cursor over the tokens of one rule.

Tokens know their line and column, and so do the errors of a reader.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from trelliswork.errors import TemplateError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trelliswork.features.program import Column


_TOKEN = re.compile(
    r"""
    (?P<blank>[ \t]+)
  | (?P<comment>\#.*)
  | (?P<dots>\.\.)
  | (?P<number>[+-]?\d+)
  | (?P<name>[^\W\d]\w*)
  | (?P<string>"(?:[^"\\]|\\.)*")
  | (?P<regex>/(?:[^/\\]|\\.)+/)
  | (?P<mark>[()\[\]|,=:])
    """,
    re.VERBOSE,
)


@dataclass(frozen=True)
class Token:
    """A piece of template text.

    Attributes
    ----------
    kind : str
        ``name``, ``number``, ``string``, ``regex``, ``dots``, ``mark`` or ``end``.
    text : str
        The source of the token.
    line, column : int
        Its position, counted from 1.
    """

    kind: str
    text: str
    line: int
    column: int

    def describe(self) -> str:
        """Name the token for an error message."""
        return "the end of the line" if self.kind == "end" else repr(self.text)


def template_error(origin: str, line: int, column: int, message: str) -> TemplateError:
    """Return an error that points at a line and column of the text."""
    place = f"{line}:{column}"
    return TemplateError(f"{origin}:{place}: {message}" if origin else f"{place}: {message}")


def tokenize(text: str, origin: str) -> list[list[Token]]:
    """Split a text into rules; an indented line continues the rule before it."""
    rules: list[list[Token]] = []
    for number, line in enumerate(text.split("\n"), start=1):
        tokens = _tokenize_line(line.rstrip("\r"), number, origin)
        if not tokens:
            continue
        if line[0] in " \t" and rules:
            rules[-1].extend(tokens)
        else:
            rules.append(tokens)
    for rule in rules:
        last = rule[-1]
        rule.append(Token("end", "", last.line, last.column + len(last.text)))
    return rules


def _tokenize_line(line: str, number: int, origin: str) -> list[Token]:
    tokens = []
    at = 0
    while at < len(line):
        found = _TOKEN.match(line, at)
        if found is None:
            problem = {
                '"': 'a string that is not closed: expected another "',
                "/": "a pattern that is empty or not closed: expected another /",
            }.get(line[at], f"unexpected character {line[at]!r}")
            raise template_error(origin, number, at + 1, problem + ".")
        kind = found.lastgroup or ""
        if kind not in ("blank", "comment"):
            tokens.append(Token(kind, found.group(), number, at + 1))
        at = found.end()
    return tokens


def canonical(tokens: list[Token]) -> str:
    """Write a rule with uniform spaces."""
    text = ""
    for token in tokens:
        if token.text == "|":
            text += " | "
        elif token.text in (",", ":"):
            text += token.text + " "
        else:
            text += token.text
    return text


def quote(text: str) -> str:
    """Write a string as the template language reads it."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + escaped.replace("\n", "\\n").replace("\r", "\\r") + '"'


def unquote(text: str) -> str:
    """Read a string of the template language."""
    out = []
    characters = iter(text[1:-1])
    for character in characters:
        if character == "\\":
            escaped = next(characters)
            out.append({"n": "\n", "r": "\r"}.get(escaped, escaped))
        else:
            out.append(character)
    return "".join(out)


class RuleReader:
    """A cursor over the tokens of one rule; errors name line and column."""

    def __init__(self, tokens: list[Token], origin: str) -> None:
        self._tokens = tokens
        self._origin = origin
        self._at = 0

    @property
    def ahead(self) -> Token:
        """The next token."""
        return self._tokens[self._at]

    def fail(self, message: str, token: Token | None = None, shift: int = 0) -> NoReturn:
        """Raise an error that points at a token, by default the next one."""
        token = token or self.ahead
        raise template_error(self._origin, token.line, token.column + shift, message)

    def advance(self, count: int = 1) -> None:
        """Pass over the next tokens."""
        self._at += count

    def take(self, kind: str, text: str | None = None, what: str | None = None) -> Token:
        """Return the next token and pass over it; raise an error if it is not the expected one."""
        token = self.ahead
        if token.kind != kind or (text is not None and token.text != text):
            expected = what or (repr(text) if text else f"a {kind}")
            self.fail(f"expected {expected}, got {token.describe()}.")
        self._at += 1
        return token

    def is_next(self, text: str, after: int = 0) -> bool:
        """Return whether the next token, or the one `after` tokens later, has this text."""
        at = self._at + after
        return at < len(self._tokens) and self._tokens[at].text == text

    def is_name(self, after: int) -> bool:
        """Return whether the token `after` tokens after the next one is a name."""
        return self._tokens[self._at + after].kind == "name"

    def skip(self, text: str) -> bool:
        """Pass over the next token if it has this text; return whether it did."""
        found = self.is_next(text)
        self._at += found
        return found

    def string(self, what: str) -> str:
        """Read a string in double quotes."""
        return unquote(self.take("string", what=what).text)

    def number(self, low: int, high: int, what: str) -> int:
        """Read a number from ``low`` to ``high``."""
        token = self.take("number", what=what)
        value = int(token.text) if len(token.text) < 10 else high + 1
        if not low <= value <= high:
            self.fail(f"expected {what} from {low} to {high}, got {token.text}.", token)
        return value

    def interval(self, low: int, high: int, what: str) -> range:
        """Read ``3`` or ``1..4``; both ends belong to the range."""
        first = self.number(low, high, what)
        if self.ahead.kind != "dots":
            return range(first, first + 1)
        self._at += 1
        token = self.ahead
        last = self.number(low, high, what)
        if last < first:
            self.fail(f"expected {what} of at least {first}, got {last}.", token)
        return range(first, last + 1)

    def declared(self, what: str, declared: Mapping[str, object]) -> str:
        """Read the name of a pattern or a lexicon declared before."""
        token = self.take("name", what=f"the name of a {what}")
        if token.text not in declared:
            known = ", ".join(n for n in declared if "." not in n) or "none"
            self.fail(f"unknown {what} {token.text!r}; declared before this line: {known}.", token)
        return token.text


#: Names of the column of tokens.
TOKEN_COLUMNS = frozenset({"word", "token"})


def column_of(name: str) -> Column:
    """Return the column that a name in a rule stands for."""
    return None if name in TOKEN_COLUMNS else name
