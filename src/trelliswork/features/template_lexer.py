"""Splitting template text into tokens that know their line and column."""

from __future__ import annotations

import re
from dataclasses import dataclass

from trelliswork.errors import TemplateError

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
        As written.
    line, column : int
        Where it starts, counted from 1.
    """

    kind: str
    text: str
    line: int
    column: int

    def describe(self) -> str:
        """Name the token for an error message."""
        return "the end of the line" if self.kind == "end" else repr(self.text)


def template_error(origin: str, line: int, column: int, message: str) -> TemplateError:
    """Make an error that points at a place in the text."""
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
