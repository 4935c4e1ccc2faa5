"""Plain-text tables for reports, and names in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def text_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table with a ruled header: first column left, others right."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    lines = [_line(header, widths), "  ".join("─" * width for width in widths)]
    lines += [_line(row, widths) for row in rows]
    return "\n".join(lines)


def percent(value: float) -> str:
    """Return a proportion as a percentage with two decimals, as conlleval prints it."""
    return f"{100 * value:.2f}"


def shorten(text: str, width: int = 72) -> str:
    """Return the text cut to one line: the automaton of a rule may print as many."""
    return text if len(text) <= width else f"{text[: width - 1]}…"


def join_names(names: Sequence[str], limit: int = 6) -> str:
    """Join names in English: ``a``, ``both a and b``, ``a, b and c``, ``a, b and 7 more``."""
    if len(names) == 2:
        return f"both {names[0]} and {names[1]}"
    if len(names) > limit:
        names = [*names[: limit - 1], f"{len(names) - limit + 1} more"]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def first_names(names: Sequence[str], limit: int = 8) -> str:
    """Return the first names, quoted: ``'a', 'b'``, ``'a', 'b' and 7 more``."""
    shown = ", ".join(map(repr, names[:limit]))
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit} more"


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    first, *others = [
        cell.rjust(width) if i else cell.ljust(width)
        for i, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ]
    return "  ".join([first, *others]).rstrip()
