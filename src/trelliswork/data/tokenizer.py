"""`Tokenizer`: raw text to tokens with character offsets.

A tokeniser is data, not code: a name or a regular expression, saved with the model as a plain
dictionary.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from trelliswork.data.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Kind: TypeAlias = Literal["whitespace", "words", "regex"]

PATTERNS = {"whitespace": r"\S+", "words": r"\w+|[^\w\s]"}
JOINERS = "\u200c\u200d"


@dataclass(frozen=True, slots=True)
class Tokenizer:
    r"""A tokeniser of raw text.

    Parameters
    ----------
    kind
        ``"whitespace"``: maximal runs of anything but white space. ``"words"``: the same with
        every punctuation mark split off as a token of its own; combining marks stay with their
        word. ``"regex"``: the matches of `pattern`, left to right; text between is skipped.
    pattern
        The regular expression of kind ``"regex"``, in the syntax of `re`.

    Examples
    --------
    >>> Tokenizer("words").tokenize("Ann, Bob").tokens
    ('Ann', ',', 'Bob')
    >>> Tokenizer("regex", r"\d+").tokenize("pp. 61-205").offsets
    ((4, 6), (7, 10))
    """

    kind: Kind = "words"
    pattern: str | None = None
    _compiled: re.Pattern[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise ValueError(
                f"Tokenizer: expected one of {', '.join(get_args(Kind))}, got {self.kind!r}. "
                'For a regular expression use Tokenizer("regex", pattern).'
            )
        if (self.kind == "regex") != (self.pattern is not None):
            raise ValueError(
                f"Tokenizer: expected a pattern with kind 'regex' and with no other, got kind "
                f"{self.kind!r} and pattern {self.pattern!r}."
            )
        pattern = PATTERNS[self.kind] if self.pattern is None else self.pattern
        try:
            compiled = re.compile(pattern)
        except re.error as error:
            raise ValueError(
                f"Tokenizer: {pattern!r} is not a regular expression: {error}."
            ) from error
        object.__setattr__(self, "_compiled", compiled)

    def tokenize(self, text: str) -> Sentence:
        """Return `text` as a sentence of tokens, with the text and the character offsets."""
        offsets = tuple(self._spans(text))
        return Sentence(tuple(text[s:e] for s, e in offsets), text=text, offsets=offsets)

    def _spans(self, text: str) -> Iterator[tuple[int, int]]:
        matches = (m.span() for m in self._compiled.finditer(text) if m.end() > m.start())
        return (
            _rejoin_marks(text, matches) if self.kind == "words" and _has_marks(text) else matches
        )

    def to_dict(self) -> dict[str, str]:
        """Return a plain dictionary that `from_dict` reads back."""
        return {"kind": self.kind} | ({} if self.pattern is None else {"pattern": self.pattern})

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Tokenizer:
        """Build the tokeniser that `to_dict` described."""
        surplus = set(record) - {"kind", "pattern"}
        if surplus or "kind" not in record:
            raise ValueError(
                f"Tokenizer: expected the keys 'kind' and 'pattern', got {sorted(record)}."
            )
        pattern = record.get("pattern")
        if not isinstance(pattern, (str, type(None))):
            raise ValueError(f"Tokenizer: expected a string as pattern, got {pattern!r}.")
        return cls(record["kind"], pattern)


def _has_marks(text: str) -> bool:
    """Return whether a text has a combining mark or a joiner."""
    return not text.isascii() and any(map(_is_mark, set(text)))


def _is_mark(character: str) -> bool:
    return character in JOINERS or unicodedata.category(character).startswith("M")


def _rejoin_marks(text: str, spans: Iterator[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    r"""Join combining marks to the word around them: ``\w`` does not match them.

    Without this, decomposed accents and the vowel signs of Indic scripts would cut words apart.
    """
    start = end = -1
    after_mark = False
    for left, right in spans:
        character = text[left]
        is_mark = _is_mark(character)
        is_word = character.isalnum() or character == "_"
        if left == end and (is_mark or (after_mark and is_word)):
            end = right
        else:
            if end >= 0:
                yield start, end
            start, end = left, right
        after_mark = is_mark
    if end >= 0:
        yield start, end
