"""Arguments of rules: checks, and their printing."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trelliswork.labels.segments import Span


Unit: TypeAlias = Literal["segment", "token"]
"""The counted units of a rule: segments, or the labels of tokens."""


def call(word: str, *arguments: object, **options: object) -> str:
    """Return the source of a call; options that are ``None`` are left out."""
    shown = [*map(repr, arguments), *(f"{k}={v!r}" for k, v in options.items() if v is not None)]
    return f"{word}({', '.join(shown)})"


def unless(unit: Unit, default: Unit) -> Unit | None:
    """Return the unit if it has to be printed, i.e. is not the default; else ``None``."""
    return None if unit == default else unit


def check_unit(word: str, unit: object) -> None:
    """Raise a `ValueError` unless the unit is known."""
    if unit not in get_args(Unit):
        raise ValueError(f"{word}: expected unit 'segment' or 'token', got {unit!r}.")


def check_name(word: str, name: object) -> str:
    """Return the name; raise an error unless it is a string that is not empty."""
    if not isinstance(name, str):
        raise TypeError(f"{word}: expected a label, got {type(name).__name__} {name!r}.")
    if not name:
        raise ValueError(f"{word}: expected a label, got an empty string.")
    return str(name)  # NumPy's strings print as calls


def check_names(word: str, names: Sequence[object]) -> tuple[str, ...]:
    """Return the names without repetition; raise an error if one is invalid or there are none."""
    if not names:
        raise ValueError(f"{word}: expected at least one label, got none.")
    return tuple(dict.fromkeys(check_name(word, name) for name in names))


def check_count(word: str, number: object) -> int:
    """Return a whole number from 0 up; raise an error for anything else."""
    if isinstance(number, bool) or not hasattr(number, "__index__"):
        raise TypeError(f"{word}: expected a whole number, got {type(number).__name__} {number!r}.")
    value = operator.index(number)
    if value < 0:
        raise ValueError(f"{word}: expected 0 or more, got {value}.")
    return value


def join_words(texts: Sequence[str], word: str = "and") -> str:
    """Return a list in English: ``a, b and c``."""
    *rest, last = texts
    return f"{', '.join(rest)} {word} {last}" if rest else last


def either(names: Sequence[str]) -> str:
    """Return names as a list of alternatives: ``'a', 'b' or 'c'``."""
    return join_words([repr(name) for name in names], "or")


def places(spans: Sequence[Span | int], limit: int = 5) -> str:
    """Return positions of segments or tokens as text: ``token 3``, ``tokens 0-3 and 9-11``."""
    texts = [_place(span) for span in spans[:limit]]
    if len(spans) > limit:
        texts.append(f"{len(spans) - limit} more places")
    single = len(texts) == 1 and "-" not in texts[0]
    return f"token{'' if single else 's'} {join_words(texts)}"


def _place(span: Span | int) -> str:
    if isinstance(span, int):
        return str(span)
    start, end = span[:2]
    return str(start) if end == start + 1 else f"{start}-{end - 1}"
