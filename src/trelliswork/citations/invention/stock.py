"""Stocks of words and names, from which `trelliswork.citations.invention.works` composes records.

A stock is a text file in the folder ``stock``. A line in brackets opens a section; every other line
is an entry, and the entries are sorted. Where many of them begin with the same words, those stand
in the brackets: "Algebra" under ``[journal: Journal of]`` is an entry "Journal of Algebra" of the
section ``journal``. An entry may have parts, with bars between them ("MIT Press|Cambridge, MA"),
and it may end in the year before which it is not to be used ("word embeddings@2010").
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

from trelliswork.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

_FOLDER = "stock"
_TRIES = 5


class Section:
    """The entries of a section, to draw from.

    Parameters
    ----------
    lines : sequence of str
        The entries as they are written in the file.

    Attributes
    ----------
    entries : tuple of str
        Without their years.
    since : tuple of int
        The first year of each; 0 if the file names none.
    """

    def __init__(self, lines: Sequence[str]) -> None:
        parts = [line.rpartition("@") if _is_dated(line) else (line, "", "0") for line in lines]
        self.entries = tuple(text for text, _, _ in parts)
        self.since = tuple(int(year) for _, _, year in parts)
        self._oldest = self.since.index(min(self.since))

    def __len__(self) -> int:
        return len(self.entries)

    def pick(self, rng: Random, year: int = 9999) -> str:
        """Draw an entry that may be used in `year`; the oldest one if none is found quickly."""
        for _ in range(_TRIES):
            index = int(rng.random() * len(self.entries))
            if self.since[index] <= year:
                return self.entries[index]
        return self.entries[self._oldest]


def pick(rng: Random, items: Sequence[str]) -> str:
    """Draw one of a few strings, as `rng.choice` does, at half its cost."""
    return items[int(rng.random() * len(items))]


@cache
def load_stock(name: str) -> dict[str, Section]:
    """Return the sections of a stock.

    Raises
    ------
    DataError
        The file begins with an entry, or one of its sections has none.
    """
    path = resources.files(__package__).joinpath(_FOLDER, f"{name}.txt")
    return parse_stock(path.read_text(encoding="utf-8").splitlines(), source=path.name)


def parse_stock(lines: Sequence[str], *, source: str) -> dict[str, Section]:
    """Read the lines of a stock; `source` is its name in error messages."""
    sections: dict[str, list[str]] = {}
    entries: list[str] | None = None
    prefix = ""
    for number, line in enumerate(lines, start=1):
        if line.startswith("[") and line.endswith("]"):
            name, shared, words = line[1:-1].partition(": ")
            prefix = f"{words} " if shared else ""
            entries = sections.setdefault(name, [])
        elif entries is None:
            raise DataError(f"{source}:{number}: expected a section such as [given], got {line!r}.")
        else:
            entries.append(prefix + line)
    empty = [name for name, found in sections.items() if not found]
    if empty:
        raise DataError(f"{source}: expected entries in section [{empty[0]}], got none.")
    return {name: Section(found) for name, found in sections.items()}


def _is_dated(line: str) -> bool:
    text, mark, year = line.rpartition("@")
    return bool(text and mark) and len(year) == 4 and year.isdigit()
