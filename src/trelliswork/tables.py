"""Plain-text tables for reports."""

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


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    first, *others = [
        cell.rjust(width) if i else cell.ljust(width)
        for i, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ]
    return "  ".join([first, *others]).rstrip()
