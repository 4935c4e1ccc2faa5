"""Values in the text of a rule: their positions, and names without quotes."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Bare", "Placed", "plain", "shown"]


class Bare(str):
    """A name written without quotes."""

    __slots__ = ()


class Placed(NamedTuple):
    """A value and its position in the text."""

    value: object
    at: int


def plain(value: object) -> object:
    """Return a name without quotes as a string, any other value unchanged."""
    return str(value) if isinstance(value, Bare) else value


def shown(value: object) -> str:
    """Return the source of a value, for messages."""
    return str(value) if isinstance(value, Bare) else repr(value)
