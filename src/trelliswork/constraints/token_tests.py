"""Token tests: declarative conditions on single tokens, saved with the rules that use them.

A test is data, not code: a regular expression or a list of words, and the column it looks at.
Tests combine with ``&``, ``|`` and ``~`` into tests.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from trelliswork import _core
from trelliswork.data.sentence import TOKEN_COLUMN, Sentence
from trelliswork.errors import DataError
from trelliswork.features.shapes import unicode_table

if TYPE_CHECKING:
    from trelliswork._typing import BoolArray

__all__ = ["SentenceLike", "TokenTest", "token"]

SentenceLike: TypeAlias = (
    Sentence | Sequence[str] | Sequence[tuple[str, ...]] | Sequence[Mapping[str, Any]]
)
"""Input of a test: a sentence, its tokens as strings, (token, tag) rows, or feature dicts."""


class TokenTest(ABC):
    """A condition on single tokens; see `token`."""

    def passes(self, sentence: SentenceLike) -> BoolArray:
        """Return which tokens pass, shape ``(T,)``.

        Parameters
        ----------
        sentence
            A `Sentence`, a list of tokens, of (token, tag) rows, or of feature dicts.
        """
        return self.evaluate(lambda test: test.ask(sentence))

    @abstractmethod
    def evaluate(self, outcomes: Callable[[Token], BoolArray]) -> BoolArray:
        """Return the outcomes of the test, given those of its atoms."""

    @property
    @abstractmethod
    def atoms(self) -> tuple[Token, ...]:
        """The distinct simple tests that it consists of."""

    def __and__(self, other: object) -> TokenTest:
        if not isinstance(other, TokenTest):
            return NotImplemented
        return AllTests((*_parts(AllTests, self), *_parts(AllTests, other)))

    def __or__(self, other: object) -> TokenTest:
        if not isinstance(other, TokenTest):
            return NotImplemented
        return AnyTest((*_parts(AnyTest, self), *_parts(AnyTest, other)))

    def __invert__(self) -> TokenTest:
        return NotTest(self)

    def __bool__(self) -> bool:
        raise TypeError(
            f"{self!r} is a test, neither true nor false. Combine tests with &, | and ~ instead "
            "of 'and', 'or' and 'not'; ask test.passes(sentence) for the answers."
        )


@dataclass(frozen=True, repr=False)
class Token(TokenTest):
    """A simple test; made by `token`."""

    regex: str | None
    lexicon: frozenset[str] | None
    column: str | None
    ignore_case: bool

    @property
    def atoms(self) -> tuple[Token, ...]:
        return (self,)

    def evaluate(self, outcomes: Callable[[Token], BoolArray]) -> BoolArray:
        return outcomes(self)

    def ask(self, sentence: SentenceLike) -> BoolArray:
        """Return which tokens pass, shape ``(T,)``."""
        cells = _cells(sentence, self)
        found = np.ones(len(cells), dtype=np.bool_)
        if self.regex is not None:
            matches = _pattern(self.regex, self.ignore_case).fullmatch
            found = np.fromiter(map(matches, cells), np.bool_, len(cells))
        if self.lexicon is not None:
            words = [cell.lower() for cell in cells] if self.ignore_case else cells
            found &= np.fromiter(map(self.lexicon.__contains__, words), np.bool_, len(cells))
        return found

    def __repr__(self) -> str:
        arguments = []
        if self.regex is not None:
            arguments.append(f"regex={self.regex!r}")
        if self.lexicon is not None:
            arguments.append(f"lexicon={sorted(self.lexicon)!r}")
        if self.column is not None:
            arguments.append(f"column={self.column!r}")
        if self.ignore_case:
            arguments.append("ignore_case=True")
        return f"token({', '.join(arguments)})"


@dataclass(frozen=True, repr=False)
class Combined(TokenTest):
    """A combination of tests."""

    parts: tuple[TokenTest, ...]

    @property
    def atoms(self) -> tuple[Token, ...]:
        return tuple(dict.fromkeys(atom for part in self.parts for atom in part.atoms))


@dataclass(frozen=True, repr=False)
class AllTests(Combined):
    """Conjunction: passes if all its parts pass."""

    def evaluate(self, outcomes: Callable[[Token], BoolArray]) -> BoolArray:
        return reduce(np.logical_and, (part.evaluate(outcomes) for part in self.parts))

    def __repr__(self) -> str:
        return f"({' & '.join(map(repr, self.parts))})"


@dataclass(frozen=True, repr=False)
class AnyTest(Combined):
    """Disjunction: passes if one of its parts passes."""

    def evaluate(self, outcomes: Callable[[Token], BoolArray]) -> BoolArray:
        return reduce(np.logical_or, (part.evaluate(outcomes) for part in self.parts))

    def __repr__(self) -> str:
        return f"({' | '.join(map(repr, self.parts))})"


@dataclass(frozen=True, repr=False)
class NotTest(TokenTest):
    """Negation: passes if its part fails."""

    part: TokenTest

    @property
    def atoms(self) -> tuple[Token, ...]:
        return self.part.atoms

    def evaluate(self, outcomes: Callable[[Token], BoolArray]) -> BoolArray:
        return ~self.part.evaluate(outcomes)

    def __repr__(self) -> str:
        return f"~{self.part!r}"


@dataclass(frozen=True, repr=False)
class Before(TokenTest):
    """Passes if the token before passes, and at the first token of a sentence.

    Rules about the ends of segments use it at the beginning of the next one; not a word for users.
    """

    part: TokenTest

    @property
    def atoms(self) -> tuple[Token, ...]:
        return self.part.atoms

    def evaluate(self, outcomes: Callable[[Token], BoolArray]) -> BoolArray:
        """Return the outcomes for the tokens of one sentence."""
        found = np.roll(self.part.evaluate(outcomes), 1)
        found[:1] = True
        return found

    def __repr__(self) -> str:
        return f"before({self.part!r})"


def token(
    regex: str | None = None,
    lexicon: Iterable[str] | None = None,
    column: str | None = None,
    *,
    ignore_case: bool = False,
) -> TokenTest:
    """Return a test of single tokens.

    Parameters
    ----------
    regex
        Passes where this regular expression matches the *whole* token, as ``match()`` does in
        feature templates; write ``.*x.*`` to find ``x`` anywhere. Matching takes linear time;
        look-around and back-references are refused.
    lexicon
        Passes if the token is one of these strings. With `regex` too, both must hold.
    column
        The column, or the key of the feature dicts, to look at instead of the token. In
        ``(token, tag)`` rows any other name than ``"word"`` is the tag.
    ignore_case
        Whether to ignore case, in both.

    Examples
    --------
    >>> year = token(regex="(19|20)[0-9][0-9]")
    >>> year.passes(["in", "1998", "."]).tolist()
    [False, True, False]
    >>> (year | token(lexicon=["in"])).passes(["in", "1998", "."]).tolist()
    [True, True, False]
    """
    if regex is None and lexicon is None:
        raise ValueError("token: expected a regex, a lexicon or both, got neither.")
    if not isinstance(regex, str | None) or not isinstance(column, str | None):
        wrong = column if isinstance(regex, str | None) else regex
        raise TypeError(f"token: expected a string, got {type(wrong).__name__} {wrong!r}.")
    if regex is not None:
        _pattern(regex, ignore_case)  # errors appear here rather than at the first sentence
    regex, column = (None if text is None else str(text) for text in (regex, column))
    return Token(regex, _lexicon(lexicon, ignore_case), column, bool(ignore_case))


def _lexicon(lexicon: Iterable[str] | None, ignore_case: bool) -> frozenset[str] | None:
    if lexicon is None:
        return None
    if isinstance(lexicon, str):
        raise TypeError(f"token: expected a collection of words, got the string {lexicon!r}.")
    words = frozenset(lexicon)
    if not words:
        raise ValueError("token: expected words in the lexicon, got none: no token would pass.")
    for word in words:
        if not isinstance(word, str):
            raise TypeError(f"token: expected words, got {type(word).__name__} {word!r}.")
    return frozenset(map(str.lower if ignore_case else str, words))


@lru_cache(maxsize=1024)
def _pattern(expression: str, ignore_case: bool) -> _core.Regex:
    prefix = "(?i)" if ignore_case and not expression.startswith("(?i)") else ""
    try:
        return _core.Regex(prefix + expression, False, unicode_table())
    except ValueError as error:
        message, *column = error.args
        where = f" at column {column[0] - len(prefix) + 1}" if column else ""
        raise ValueError(f"token: regex {expression!r}{where}: {message}") from None


def _parts(kind: type[Combined], test: TokenTest) -> tuple[TokenTest, ...]:
    return test.parts if isinstance(test, kind) else (test,)


def _cells(sentence: SentenceLike, test: Token) -> Sequence[str]:
    """Return the strings that a test reads, one a token."""
    if isinstance(sentence, Sentence):
        if test.column is None:
            return sentence.tokens
        if test.column not in sentence.columns:
            raise DataError(_missing(test, sentence.columns))
        return sentence.columns[test.column]
    if isinstance(sentence, str):
        raise TypeError(f"sentence: expected a list of tokens, got the string {sentence!r}.")
    return [_cell(item, position, test) for position, item in enumerate(sentence)]


def _cell(item: object, position: int, test: Token) -> str:
    key = test.column or TOKEN_COLUMN
    if isinstance(item, Mapping):
        if key not in item:
            raise DataError(f"token {position}: {_missing(test, item)}")
        value = item[key]
        return value if isinstance(value, str) else str(value)
    if isinstance(item, tuple) and item:
        return _field(item, position, test)
    if not isinstance(item, str):
        raise TypeError(
            f"{test!r}: expected a token or a feature dict at position {position}, got "
            f"{type(item).__name__}."
        )
    if key != TOKEN_COLUMN:
        raise DataError(
            f"{test!r} looks at column {key!r}, but the sentence is a list of tokens. "
            "Pass a Sentence with that column."
        )
    return item


def _field(row: tuple[object, ...], position: int, test: Token) -> str:
    """Return the cell of a row that a test reads: the token, or in (token, tag) the tag."""
    place = 0 if test.column in (None, TOKEN_COLUMN) else 1
    if place == 1 and len(row) != 2:
        raise DataError(
            f"token {position}: {test!r} looks at column {test.column!r}, which has no known place "
            f"in a row of {len(row)}. Pass a Sentence with named columns; in (token, tag) rows it "
            "is the tag."
        )
    cell = row[place]
    if not isinstance(cell, str):
        raise TypeError(
            f"{test!r}: expected a string in the row at position {position}, got "
            f"{type(cell).__name__}."
        )
    return cell


def _missing(test: Token, there: Iterable[object]) -> str:
    known = ", ".join(sorted(map(repr, there)))
    return (
        f"{test!r} looks at {test.column or TOKEN_COLUMN!r}, which is not there. Known are {known}."
    )
