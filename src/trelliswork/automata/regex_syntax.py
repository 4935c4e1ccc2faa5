"""The parser of regular expressions over labels. The syntax is described in `regex`."""

from __future__ import annotations

import difflib
import re
from typing import NamedTuple, NoReturn

from trelliswork.automata.regex_tree import (
    SPECIAL,
    Both,
    Concat,
    Either,
    Empty,
    Labels,
    Node,
    Not,
    Repeat,
)
from trelliswork.errors import RegexError

__all__ = ["error_at", "parse", "unknown_label"]

TOKEN = re.compile(
    rf"""(?P<space>\s+)|(?P<bounds>\{{\s*(?P<low>\d*)\s*(?P<comma>,?)\s*(?P<high>\d*)\s*\}})
    |(?P<quoted>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")|(?P<dots>\.+(?![^{SPECIAL}]))
    |(?P<word>[^{SPECIAL}]+)|(?P<sign>[()\[\]|&~*+?^])""",
    re.VERBOSE | re.DOTALL,
)
DEEPEST = 100  # nested parentheses and operators


def error_at(expression: str, column: int, message: str) -> RegexError:
    """Return a `RegexError` that shows the expression with a caret under a column."""
    first = expression.rfind("\n", 0, column) + 1
    line = expression[first:].split("\n", 1)[0].replace("\t", " ")
    below = " " * (column - first)
    return RegexError(f"column {column + 1}: {message}\n    {line}\n    {below}^")


def unknown_label(name: str, labels: tuple[str, ...]) -> str:
    """Return the message for an unknown label, with the nearest names."""
    close = difflib.get_close_matches(name, labels, n=3)
    if name.strip(".") in labels:
        return (
            f"unknown label {name!r}: the dot was read as part of the name. "
            f"Put a space before it: {name.replace('.', ' .')!r}."
        )
    if close:
        return f"unknown label {name!r}. Did you mean {' or '.join(map(repr, close))}?"
    shown = ", ".join(labels[:8]) + (", …" if len(labels) > 8 else "")
    return f"unknown label {name!r}. Known labels: {shown}."


class Token(NamedTuple):
    """A piece of an expression: its kind (for signs, the sign itself), text and column."""

    kind: str
    text: str
    column: int
    bounds: tuple[int, int | None] = (0, None)

    def __str__(self) -> str:
        return "the end of the expression" if self.kind == "end" else repr(self.text)


def tokenise(expression: str) -> list[Token]:
    """Split an expression into tokens, the last one of kind ``end``."""
    tokens = []
    column = 0
    while column < len(expression):
        found = TOKEN.match(expression, column)
        if found is None:
            raise error_at(expression, column, unreadable(expression[column]))
        kind, text = str(found.lastgroup), found.group()
        if found["bounds"] is not None:
            tokens.append(Token("bounds", text, column, read_bounds(found, expression)))
        elif kind == "quoted":
            name = re.sub(r"\\(.)", r"\1", text[1:-1], flags=re.DOTALL)
            if not name:
                message = "expected a label between the quotes. Write () for the empty sequence."
                raise error_at(expression, column, message)
            tokens.append(Token("word", name, column))
        elif kind == "dots":  # '..' is any label twice
            tokens += [Token("dot", ".", column + i) for i in range(len(text))]
        elif kind != "space":
            tokens.append(Token(text if kind == "sign" else kind, text, column))
        column = found.end()
    return [*tokens, Token("end", "", len(expression))]


def unreadable(character: str) -> str:
    """Return the reason why no token begins here."""
    if character in "'\"":
        return f"this quote is never closed: expected another {character}."
    if character == "{":
        return "expected a repetition {m}, {m,} or {m,n} here."
    if character == "}":
        return "a '}' without its '{'. Quote the label if it is part of one."
    return "a '\\' is read only between quotes. Quote the label: 'a\\\\b'."


def read_bounds(found: re.Match[str], expression: str) -> tuple[int, int | None]:
    """Return the least and the largest number of repetitions."""
    low, comma, high = found["low"], found["comma"], found["high"]
    if not low and not high:
        message = "expected a number: {m}, {m,} or {m,n}."
        raise error_at(expression, found.start(), message)
    if len(low) > 9 or len(high) > 9:
        message = "expected a number below a thousand million."
        raise error_at(expression, found.start(), message)
    least = int(low or 0)
    most = (int(high) if high else None) if comma else least
    if most is not None and most < least:
        message = f"expected the smaller number first, got {found.group()}."
        raise error_at(expression, found.start(), message)
    return least, most


class Parser:
    """A recursive-descent parser, one method a level of precedence, from loose to tight."""

    def __init__(self, expression: str) -> None:
        self.expression = expression
        self.tokens = tokenise(expression)
        self.index = 0
        self.depth = 0

    @property
    def next(self) -> Token:
        return self.tokens[self.index]

    def take(self) -> Token:
        self.index += 1
        return self.tokens[self.index - 1]

    def fail(self, expected: str, token: Token) -> NoReturn:
        message = f"expected {expected}, got {token}."
        raise error_at(self.expression, token.column, message)

    def deepen(self, token: Token) -> None:
        self.depth += 1
        if self.depth > DEEPEST:
            message = f"more than {DEEPEST} operators inside each other. Split the expression."
            raise error_at(self.expression, token.column, message)

    def whole(self) -> Node:
        node = self.either()
        if self.next.kind == "]":
            self.fail("the end or an operator (a ']' needs a '[' before)", self.next)
        if self.next.kind != "end":
            self.fail("the end or an operator", self.next)
        return node

    def either(self) -> Node:
        parts = [self.both()]
        while self.next.kind == "|":
            self.take()
            parts.append(self.both())
        return parts[0] if len(parts) == 1 else Either(tuple(parts))

    def both(self) -> Node:
        parts = [self.concat()]
        while self.next.kind == "&":
            self.take()
            parts.append(self.concat())
        return parts[0] if len(parts) == 1 else Both(tuple(parts))

    def concat(self) -> Node:
        parts = [self.prefixed()]
        while self.next.kind in ("word", "dot", "(", "[", "~"):
            parts.append(self.prefixed())
        return parts[0] if len(parts) == 1 else Concat(tuple(parts))

    def prefixed(self) -> Node:
        if self.next.kind != "~":
            return self.repeated()
        before = self.depth
        self.deepen(self.take())
        node = Not(self.prefixed())
        self.depth = before
        return node

    def repeated(self) -> Node:
        node = self.atom()
        before = self.depth
        signs = {"*": (0, None), "+": (1, None), "?": (0, 1)}
        while self.next.kind in ("*", "+", "?", "bounds"):
            token = self.take()
            self.deepen(token)
            node = Repeat(node, *signs.get(token.kind, token.bounds))
        self.depth = before
        return node

    def atom(self) -> Node:
        token = self.take()
        if token.kind == "word":
            return Labels((token.text,), columns=(token.column,))
        if token.kind == "dot":
            return Labels((), negated=True)
        if token.kind == "[":
            return self.label_class(token)
        if token.kind != "(":
            self.fail("a label, '.', '[', '(' or '~'", token)
        if self.next.kind == ")":
            self.take()
            return Empty()
        self.deepen(token)
        node = self.either()
        if self.next.kind != ")":
            where = f"column {token.column + 1}"
            self.fail(f"an operator or the ')' that closes the '(' at {where}", self.next)
        self.take()
        self.depth -= 1
        return node

    def label_class(self, opening: Token) -> Node:
        negated = self.next.kind == "^"
        if negated:
            self.take()
        words = []
        while self.next.kind == "word":
            words.append(self.take())
        if self.next.kind != "]":
            where = f"column {opening.column + 1}"
            self.fail(f"a label or the ']' that closes the '[' at {where}", self.next)
        self.take()
        names, columns = tuple(w.text for w in words), tuple(w.column for w in words)
        return Labels(names, negated, columns)


def parse(expression: str) -> Node:
    """Return the tree of a regular expression over labels.

    Raises
    ------
    RegexError
        With the expression, a caret at the column, the expected token and the one found.

    Examples
    --------
    >>> print(parse("O|(B-PER I-PER *)"))
    O | B-PER I-PER*
    """
    return Parser(expression).whole()
