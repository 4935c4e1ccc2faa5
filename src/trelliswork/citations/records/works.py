"""`Work` and `Name`: bibliographic records, and those that ship with the package.

One JSON object a line: the fields of `Work`, all strings but the lists of names.
"""

from __future__ import annotations

import json
import unicodedata
from dataclasses import dataclass, fields
from functools import lru_cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from trelliswork.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterable

WORK_TYPES = (
    "article",
    "inproceedings",
    "book",
    "incollection",
    "collection",
    "phdthesis",
    "mastersthesis",
    "techreport",
    "preprint",
    "standard",
    "webpage",
    "software",
)

_FILE = "works.jsonl"


@dataclass(frozen=True)
class Name:
    """A person (family, given and so on) or, with `literal`, an organisation.

    Attributes
    ----------
    family, given : str
        "Neumann", "John".
    particle : str
        Words before the family name: "von".
    suffix : str
        Words after it: "Jr."
    literal : str
        A name written as it is, whatever the style: "World Health Organization".
    """

    family: str = ""
    given: str = ""
    particle: str = ""
    suffix: str = ""
    literal: str = ""


@dataclass(frozen=True)
class Work:
    """A bibliographic record; an empty string or tuple is an unknown field.

    Attributes
    ----------
    id : str
        Unique among the records.
    type : str
        One of `WORK_TYPES`.
    author, editor, translator : tuple of Name
        At least one of the first two is not empty.
    container : str
        The journal of an article; the proceedings or the book that hold a chapter.
    pages : str
        First and last page with a plain hyphen between them.
    number : str
        The number of a report or a standard.

    Notes
    -----
    The other attributes are what their names say, as in BibTeX.
    """

    id: str
    type: str
    title: str
    year: str
    author: tuple[Name, ...] = ()
    editor: tuple[Name, ...] = ()
    container: str = ""
    series: str = ""
    volume: str = ""
    issue: str = ""
    pages: str = ""
    month: str = ""
    publisher: str = ""
    place: str = ""
    school: str = ""
    institution: str = ""
    number: str = ""
    edition: str = ""
    doi: str = ""
    url: str = ""
    arxiv: str = ""
    note: str = ""
    translator: tuple[Name, ...] = ()
    isbn: str = ""
    day: str = ""


_NAME_FIELDS = frozenset(field.name for field in fields(Name))
_WORK_FIELDS = frozenset(field.name for field in fields(Work))
_ROLES = ("author", "editor", "translator")
_REQUIRED = ("id", "type", "title", "year")


@lru_cache(maxsize=1)
def load_works() -> tuple[Work, ...]:
    """Return the works shipped with the package, in the order of the file.

    Raises
    ------
    DataError
        A line of the file is not a valid record; the message names file and line.
    """
    text = resources.files(__package__).joinpath(_FILE).read_text(encoding="utf-8")
    return parse_works(text.split("\n"), source=_FILE)


def parse_works(lines: Iterable[str], *, source: str) -> tuple[Work, ...]:
    """Read records, one JSON object a line; blank lines are skipped.

    Parameters
    ----------
    lines : iterable of str
        The lines of a file of records.
    source : str
        Name of the file in error messages.
    """
    works: list[Work] = []
    seen: dict[str, int] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        where = f"{source}:{number}"
        work = _parse_work(line, where)
        if work.id in seen:
            raise DataError(
                f"{where}: expected a new id, got {work.id!r}, which line {seen[work.id]} has."
            )
        seen[work.id] = number
        works.append(work)
    return tuple(works)


def _parse_work(line: str, where: str) -> Work:
    try:
        # Composed characters: a combining accent would otherwise be a token of its own.
        record = json.loads(unicodedata.normalize("NFC", line))
    except json.JSONDecodeError as error:
        raise DataError(f"{where}: expected a JSON object, got {error.msg}.") from error
    if not isinstance(record, dict):
        raise DataError(f"{where}: expected a JSON object, got {type(record).__name__}.")
    _check_strings(record, _WORK_FIELDS, where, but=_ROLES)
    for key in _REQUIRED:
        if not record.get(key, "").strip():
            raise DataError(f"{where}: expected a non-empty {key!r}, got none.")
    if record["type"] not in WORK_TYPES:
        raise DataError(
            f"{where}: expected a type among {', '.join(WORK_TYPES)}, got {record['type']!r}."
        )
    for role in _ROLES:
        record[role] = _parse_names(record.get(role, []), f"{where}: {role}")
    if not record["author"] and not record["editor"]:
        raise DataError(f"{where}: expected an author or an editor, got neither.")
    return Work(**record)


def _parse_names(names: object, where: str) -> tuple[Name, ...]:
    if not isinstance(names, list):
        raise DataError(f"{where}: expected a list of names, got {type(names).__name__}.")
    for name in names:
        if not isinstance(name, dict):
            raise DataError(f"{where}: expected a name as an object, got {name!r}.")
        _check_strings(name, _NAME_FIELDS, where)
        if not name.get("family") and not name.get("literal"):
            raise DataError(f"{where}: expected a name with 'family' or 'literal', got {name!r}.")
    return tuple(Name(**name) for name in names)


def _check_strings(
    record: dict[str, Any], allowed: frozenset[str], where: str, but: tuple[str, ...] = ()
) -> None:
    for key, value in record.items():
        if key not in allowed:
            raise DataError(
                f"{where}: expected fields among {', '.join(sorted(allowed))}, got {key!r}."
            )
        if key not in but and not isinstance(value, str):
            raise DataError(f"{where}: expected {key!r} to be a string, got {value!r}.")
