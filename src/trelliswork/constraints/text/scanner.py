"""The scanner of rule text: signs, numbers, strings, and names without quotes."""

from __future__ import annotations

import ast
import re
import warnings

__all__ = ["PlacedError", "Scanner"]

# A byte order mark is no part of a name, wherever an editor has left it.
_BLANK = re.compile(r"(?:[\s\ufeff]|#[^\n]*)*")
_SIGN = re.compile(r"<=|>=|==|!=|[<>|&+*.:,=()\[\]{}~]|-")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w/.])")
_STRING = re.compile(r"""[rR]?(?:'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")""", re.DOTALL)
# What ends a name: blanks, quotes, brackets and the signs of rules. A minus, a slash, an asterisk
# and a dot are part of labels such as B-PER and **/person; a colon only where no suffix can follow.
_NAME = re.compile(r"""[^\s,()\[\]{}'"=#&|~<>!:]+""")
_NAME_INSIDE = re.compile(r"""[^\s,()\[\]{}'"=#&|~<>!]+""")
_QUOTE = re.compile(r"""[rR]?(['"])""")
_KEYWORD = re.compile(r"([^\W\d]\w*)\s*=(?!=)")


class PlacedError(Exception):
    """An error at a position of a text; the parser turns it into a `RuleError`.

    Parameters
    ----------
    at
        The place, counted from 0.
    message
        What was expected, and what was found.
    """

    def __init__(self, at: int, message: str) -> None:
        super().__init__(message)
        self.at = at


class Scanner:
    """A cursor in the text of one rule; it skips blanks and comments.

    Parameters
    ----------
    text
        The text.

    Attributes
    ----------
    at : int
        The place.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self.at = 0
        self._skip()

    @property
    def is_done(self) -> bool:
        """Whether nothing is left."""
        return self.at == len(self._text)

    @property
    def at_end_of_value(self) -> bool:
        """Whether a comma or a closing bracket comes next, or nothing."""
        return self._text[self.at : self.at + 1] in ",)]}"  # the empty text is in any

    def ahead(self) -> str:
        """Describe the next token, for messages."""
        if self.is_done:
            return "the end of the rule"
        found = self._match(_STRING) or self._match(_NUMBER) or self._match(_NAME)
        return found.group() if found else repr(self._text[self.at])

    def sign(self) -> str | None:
        """Return the sign that comes next, if any, without taking it."""
        found = self._match(_SIGN)
        return found.group() if found else None

    def take(self, sign: str) -> bool:
        """Take a sign if it comes next."""
        if self.sign() != sign:
            return False
        self._advance(len(sign))
        return True

    def word(self) -> str | None:
        """Return the name that comes next, if any, without taking it."""
        found = self._match(_NAME)
        return found.group() if found else None

    def take_word(self, word: str) -> None:
        """Take a name that is known to come next, or the beginning of one."""
        self._advance(len(word))

    def number(self) -> int | float | None:
        """Take a number if one comes next."""
        found = self._match(_NUMBER)
        if found is None:
            return None
        text, start = found.group(), self.at
        self._advance(len(text))
        try:
            return float(text) if set(text) & set(".eE") else int(text)
        except ValueError:  # more digits than Python reads
            raise PlacedError(start, f"expected a smaller number, got {text[:20]}….") from None

    def string(self) -> str | None:
        """Take a string in quotes if one comes next."""
        found = self._match(_STRING)
        if found is None:
            if quote := self._match(_QUOTE):
                raise PlacedError(
                    self.at, f"expected a string, but no {quote.group(1)} closes this."
                )
            return None
        start, text = self.at, found.group()
        self._advance(len(text))
        if "\\" not in text:  # most strings, at a fraction of the time
            return text[text.index(text[-1]) + 1 : -1]
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a backslash before any letter, as in '\d', is one
                return str(ast.literal_eval(text))
        except (SyntaxError, ValueError) as error:
            reason = getattr(error, "msg", None) or str(error)
            raise PlacedError(start, f"expected a string, but {reason}.") from None

    def name(self, *, inside: bool) -> str | None:
        """Take a name without quotes if one comes next.

        Parameters
        ----------
        inside
            Whether the name is in parentheses, where it may have colons.
        """
        found = self._match(_NAME_INSIDE if inside else _NAME)
        if found is None:
            return None
        self._advance(len(found.group()))
        return found.group()

    def keyword(self) -> str | None:
        """Take the name of an option and its ``=`` if these come next."""
        found = self._match(_KEYWORD)
        if found is None:
            return None
        self._advance(len(found.group()))
        return found.group(1)

    def unexpected(self, expected: str) -> PlacedError:
        """Return an error for an unexpected token."""
        return PlacedError(self.at, f"expected {expected}, got {self.ahead()}.")

    def _match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        return pattern.match(self._text, self.at)

    def _advance(self, n: int) -> None:
        self.at += n
        self._skip()

    def _skip(self) -> None:
        found = self._match(_BLANK)
        assert found is not None  # it also matches the empty string
        self.at = found.end()
