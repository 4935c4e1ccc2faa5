"""`Sentence`: tokens, further columns and optional labels."""

from __future__ import annotations

import operator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias, cast

from trelliswork.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Label: TypeAlias = str | frozenset[str] | None
"""One token's label: a name, ``None`` (unlabelled), or a set of alternatives."""

TOKEN_COLUMN = "word"
LABEL_COLUMN = "label"


@dataclass(frozen=True, slots=True, init=False)
class Sentence:
    """One sequence to label.

    Parameters
    ----------
    tokens
        The ``T`` tokens.
    columns
        Every column but the labels, by name, each of length ``T``. The token column is one of
        them under its own name, so that a feature template looks up any column in the same way:
        it is added as ``"word"``, unless one of the columns is the very object `tokens`.
    labels
        ``T`` labels, or ``None`` where the sentence is unlabelled. A single entry may be ``None``
        (this token is unlabelled) or a set of names (one of these is right).
    text
        The raw text that the tokens were cut from.
    offsets
        ``T`` pairs ``(start, end)``: token ``t`` is ``text[start:end]``.

    Examples
    --------
    >>> Sentence(["Ann", "sings"], labels=["B-PER", "O"]).columns["word"]
    ('Ann', 'sings')
    """

    tokens: tuple[str, ...]
    columns: Mapping[str, tuple[str, ...]] = field(hash=False)
    labels: tuple[Label, ...] | None
    text: str | None
    offsets: tuple[tuple[int, int], ...] | None

    # Written out, because it takes any iterable and the fields are tuples.
    def __init__(
        self,
        tokens: Iterable[str],
        columns: Mapping[str, Iterable[str]] | None = None,
        labels: Iterable[Label | set[str]] | None = None,
        text: str | None = None,
        offsets: Iterable[tuple[int, int]] | None = None,
    ) -> None:
        words = _strings("tokens", tokens)
        given = {} if columns is None else columns
        if LABEL_COLUMN in given:
            raise DataError(f"Column {LABEL_COLUMN!r} is reserved. Pass the labels as labels=.")
        cells = {
            name: words if column is tokens else _strings(f"column {name!r}", column)
            for name, column in given.items()
        }
        # By identity: a lemma column may equal the tokens in one sentence and not in the next.
        named = any(column is words for column in cells.values())
        if not named and cells.get(TOKEN_COLUMN) != words:
            if TOKEN_COLUMN in cells:
                raise DataError(
                    f"Column {TOKEN_COLUMN!r} differs from the tokens. Give the column another "
                    "name, or pass it as the tokens."
                )
            cells = {TOKEN_COLUMN: words, **cells}
        for name, column in cells.items():
            _check_length(f"column {name!r}", len(column), len(words))
        names = None if labels is None else _labels(labels)
        if names is not None:
            _check_length("labels", len(names), len(words))
        places = None if offsets is None else _offsets(offsets, text)
        if places is not None:
            _check_length("offsets", len(places), len(words))
        object.__setattr__(self, "tokens", words)
        object.__setattr__(self, "columns", cells)
        object.__setattr__(self, "labels", names)
        object.__setattr__(self, "text", text)
        object.__setattr__(self, "offsets", places)

    def __len__(self) -> int:
        return len(self.tokens)

    def with_labels(self, labels: Iterable[Label | set[str]] | None) -> Sentence:
        """Return the same sentence with other labels.

        Parameters
        ----------
        labels
            ``T`` labels, or ``None`` to drop them.
        """
        return Sentence(self.tokens, self.columns, labels, self.text, self.offsets)

    def surface(self, start: int, end: int) -> str:
        """Return the text of tokens ``start`` (inclusive) to ``end`` (exclusive).

        The raw text if known, with its spaces; else the tokens joined by single spaces.
        """
        if not 0 <= start <= end <= len(self):
            raise IndexError(f"no tokens {start}:{end} in a sentence of {len(self)} tokens")
        if self.text is None or self.offsets is None or start == end:
            return " ".join(self.tokens[start:end])
        return self.text[self.offsets[start][0] : self.offsets[end - 1][1]]


def _strings(what: str, values: Iterable[str]) -> tuple[str, ...]:
    if isinstance(values, str):
        raise TypeError(f"{what}: expected a sequence of strings, got the string {values!r}.")
    strings = tuple(values)
    if set(map(type, strings)) <= {str}:
        return strings
    for position, value in enumerate(strings):
        if not isinstance(value, str):
            raise TypeError(
                f"{what}: expected strings, got {type(value).__name__} {value!r} "
                f"at position {position}."
            )
    return strings


def _labels(values: Iterable[object]) -> tuple[Label, ...]:
    if isinstance(values, str):
        raise TypeError(f"labels: expected a sequence of labels, got the string {values!r}.")
    labels = tuple(values)
    if set(map(type, labels)) <= {str}:
        return cast("tuple[str, ...]", labels)
    return tuple(
        value if isinstance(value, str) else _unusual_label(position, value)
        for position, value in enumerate(labels)
    )


def _unusual_label(position: int, value: object) -> Label:
    """Check a label that is not a string: ``None`` or a set of alternatives."""
    if value is None:
        return None
    if isinstance(value, (set, frozenset)):
        if not value:
            raise DataError(
                f"labels: the set of alternatives at position {position} is empty. "
                "Use None for an unlabelled token."
            )
        if all(isinstance(name, str) for name in value):
            return cast("frozenset[str]", frozenset(value))
    raise TypeError(
        f"labels: expected a string, None or a set of strings, got {type(value).__name__} "
        f"{value!r} at position {position}."
    )


def _check_length(what: str, got: int, expected: int) -> None:
    if got != expected:
        raise DataError(f"{what}: expected {expected} entries, one a token, got {got}.")


def _offsets(values: Iterable[tuple[int, int]], text: str | None) -> tuple[tuple[int, int], ...]:
    try:
        offsets = tuple((operator.index(start), operator.index(end)) for start, end in values)
    except (TypeError, ValueError) as error:
        raise TypeError(f"offsets: expected pairs of integers (start, end): {error}.") from error
    limit = None if text is None else len(text)
    last = 0
    for position, (start, end) in enumerate(offsets):
        if not last <= start <= end or (limit is not None and end > limit):
            raise DataError(
                f"offsets: ({start}, {end}) at position {position} is out of order or outside the "
                "text. Offsets are (start, end) character positions that ascend with the tokens."
            )
        last = end
    return offsets
