"""Reading the tokens of one rule: what every part of the template parser does."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from trelliswork.features.template_lexer import Token, template_error, unquote

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trelliswork.features.program import Column

#: What the tokens of a sentence are called.
TOKEN_COLUMNS = frozenset({"word", "token"})


class RuleReader:
    """The tokens of one rule and a place in them; errors name line and column."""

    def __init__(self, tokens: list[Token], origin: str) -> None:
        self._tokens = tokens
        self._origin = origin
        self._at = 0

    @property
    def ahead(self) -> Token:
        """The token that comes next."""
        return self._tokens[self._at]

    def fail(self, message: str, token: Token | None = None, shift: int = 0) -> NoReturn:
        """Raise an error that points at a token, the next one unless another is given."""
        token = token or self.ahead
        raise template_error(self._origin, token.line, token.column + shift, message)

    def advance(self, count: int = 1) -> None:
        """Pass over tokens that were looked at."""
        self._at += count

    def take(self, kind: str, text: str | None = None, what: str | None = None) -> Token:
        """Return the next token and pass over it; it has to be what is expected."""
        token = self.ahead
        if token.kind != kind or (text is not None and token.text != text):
            expected = what or (repr(text) if text else f"a {kind}")
            self.fail(f"expected {expected}, got {token.describe()}.")
        self._at += 1
        return token

    def is_next(self, text: str, after: int = 0) -> bool:
        """Tell whether a token comes next, or so many tokens after the next."""
        at = self._at + after
        return at < len(self._tokens) and self._tokens[at].text == text

    def is_name(self, after: int) -> bool:
        """Tell whether a name comes so many tokens after the next."""
        return self._tokens[self._at + after].kind == "name"

    def skip(self, text: str) -> bool:
        """Pass over a token if it comes next, and tell whether it did."""
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


def column_of(name: str) -> Column:
    """Return the column that a name in a rule means."""
    return None if name in TOKEN_COLUMNS else name
