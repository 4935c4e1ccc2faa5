"""The reader of CSL-JSON, the format of Zotero, pandoc and citation processors."""

from __future__ import annotations

import json
import re
import unicodedata
from typing import Any

from trelliswork.citations.fields import MONTHS
from trelliswork.citations.meaning.identifiers import find_arxiv
from trelliswork.citations.meaning.values import parse_date
from trelliswork.citations.records.csl import ROLES, SEASONS, VARIABLES
from trelliswork.citations.records.records import RecordCollector, Records
from trelliswork.citations.records.works import Name
from trelliswork.errors import DataError

WORK_TYPE_OF = {
    "article": "preprint",
    "article-journal": "article",
    "article-magazine": "article",
    "article-newspaper": "article",
    "review": "article",
    "review-book": "article",
    "paper-conference": "inproceedings",
    "speech": "inproceedings",
    "book": "book",
    "classic": "book",
    "pamphlet": "book",
    "chapter": "incollection",
    "entry": "incollection",
    "entry-dictionary": "incollection",
    "entry-encyclopedia": "incollection",
    "collection": "collection",
    "thesis": "phdthesis",
    "report": "techreport",
    "document": "techreport",
    "manuscript": "techreport",
    "standard": "standard",
    "regulation": "standard",
    "patent": "standard",
    "webpage": "webpage",
    "post": "webpage",
    "post-weblog": "webpage",
    "dataset": "webpage",
    "software": "software",
}
"""The type of work that each CSL type is read as; items of other types are skipped."""

_MASTERS = re.compile(r"master|magister|diplom|bachelor|licen[ct]|\bM\.?\s?(?:Sc?|A|Phil)\b", re.I)
_MARKUP = re.compile(r"</?(?:i|b|em|strong|sub|sup|sc|span)\b[^<>]*>", re.IGNORECASE)
# What Zotero keeps in its field for everything else: "tex.ids: …", "PMID: 123".
_EXTRA = re.compile(r"^(?:[A-Za-z][\w .-]{1,30}:\s|arXiv:).*$", re.MULTILINE)
_ISSUERS = {
    "phdthesis": "school",
    "mastersthesis": "school",
    "techreport": "institution",
    "standard": "institution",
}


def read_csl(text: str, *, source: str) -> Records:
    """Read a list of CSL-JSON items, an object that holds one, or one item a line.

    The types of `WORK_TYPE_OF` are read. A book without an author is a collection, a thesis is a
    master's where its genre says so, and an article that has a journal is no preprint.

    Parameters
    ----------
    text : str
        The content of the file.
    source : str
        Name of the file in messages.

    Raises
    ------
    DataError
        The text is no JSON, or there are no items in it.
    """
    collector = RecordCollector()
    for number, item in enumerate(_items(text, source), start=1):
        where = f"{source}: item {number}"
        if not isinstance(item, dict):
            collector.skip(where, f"expected an object, got {type(item).__name__}.")
            continue
        key = _string(item.get("id")) or f"item{number}"
        csl_type = _string(item.get("type"))
        if csl_type not in WORK_TYPE_OF:
            collector.skip(where, f"{key!r} has the type {csl_type!r}, which no style is for.")
            continue
        names = {role: _names(item.get(role)) for role in ROLES}
        type_, fields = _fields(item, WORK_TYPE_OF[csl_type], authored=bool(names["author"]))
        collector.add(where, key, type_, fields, names)
    return collector.records()


def _items(text: str, source: str) -> list[Any]:
    # Composed characters: a combining accent would otherwise be a token of its own.
    text = unicodedata.normalize("NFC", text.lstrip("\ufeff"))
    try:
        found = json.loads(text)
    except json.JSONDecodeError as error:
        return _lines(text, source, error)
    except (RecursionError, ValueError) as error:
        raise _unreadable(source, error) from error
    if isinstance(found, dict):
        lists = [found[key] for key in ("items", "references") if isinstance(found.get(key), list)]
        found = lists[0] if lists else [found] if "type" in found else None
    if not isinstance(found, list):
        raise DataError(
            f"{source}: expected CSL-JSON, a list of items or an object with 'items', got neither. "
            "Zotero exports it as “CSL JSON”, pandoc with `-t csljson`."
        )
    return found


def _lines(text: str, source: str, whole: json.JSONDecodeError) -> list[Any]:
    items = []
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                items.append(json.loads(line))
            except json.JSONDecodeError as error:
                # A file whose first line is an item has one a line; otherwise it is one value.
                at = number if items else whole.lineno
                message = (error if items else whole).msg
                raise DataError(
                    f"{source}:{at}: expected CSL-JSON, a list of items or one a line, got "
                    f"something else: {message}."
                ) from error
            except (RecursionError, ValueError) as error:
                raise _unreadable(f"{source}:{number}", error) from error
    if not items:
        raise DataError(f"{source}: expected CSL-JSON, got an empty file.")
    return items


def _unreadable(where: str, error: Exception) -> DataError:
    """Return the error for JSON that is nested too deeply or has too long numbers."""
    return DataError(f"{where}: expected CSL-JSON, got what cannot be read: {error}.")


def _string(value: object) -> str:
    """Return a text or a number as one line without markup; an empty string for anything else."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return ""
    return " ".join(_MARKUP.sub("", str(value)).split())


def _fields(item: dict[str, Any], type_: str, *, authored: bool) -> tuple[str, dict[str, str]]:
    fields = {field: _string(item.get(variable)) for field, variable in VARIABLES.items()}
    fields["year"], fields["month"], fields["day"] = _date(item.get("issued"))
    fields["place"] = fields["place"] or _string(item.get("event-place"))
    if fields["series"]:
        fields["volume"] = fields["volume"] or _string(item.get("collection-number"))
    extra = str(item.get("note") or "")
    fields["note"] = _string(_EXTRA.sub("", extra))
    archive = _string(item.get("archive")).casefold() == "arxiv"
    fields["arxiv"] = (
        find_arxiv(_string(item.get("archive_location")), labelled=archive)
        or find_arxiv(fields["number"])
        or find_arxiv(extra)
    )
    if type_ == "preprint":
        type_ = _without_arxiv(fields)
    elif type_ == "phdthesis" and _MASTERS.search(_string(item.get("genre"))):
        type_ = "mastersthesis"
    elif type_ == "book" and not authored:
        type_ = "collection"
    if type_ in _ISSUERS:
        issuer = _string(item.get("authority"))
        if not issuer:
            issuer, fields["publisher"] = fields["publisher"], ""
        fields[_ISSUERS[type_]] = issuer
    if type_ == "article" and fields["number"]:
        # The number of an article that has no pages.
        fields["pages"] = fields["pages"] or fields["number"]
        fields["number"] = ""
    return type_, fields


def _without_arxiv(fields: dict[str, str]) -> str:
    """Return the type of an ``article``, and remove arXiv from other fields."""
    if fields["container"] and not find_arxiv(fields["container"]):
        return "article"
    if fields["arxiv"] and find_arxiv(fields["number"]):
        fields["number"] = ""
    if fields["publisher"].casefold() == "arxiv":
        fields["publisher"] = ""
    return "preprint"


def _names(value: object) -> tuple[Name, ...]:
    names = (_name(name) for name in (value if isinstance(value, list) else []))
    return tuple(name for name in names if name is not None)


def _name(value: object) -> Name | None:
    if isinstance(value, str):
        value = {"literal": value}
    if not isinstance(value, dict):
        return None
    part = {key: _string(value.get(key)) for key in value}
    family, given = part.get("family", ""), part.get("given", "")
    if not family:
        literal = part.get("literal") or given
        return Name(literal=literal) if literal else None
    particles = (part.get("dropping-particle", ""), part.get("non-dropping-particle", ""))
    particle = " ".join(filter(None, particles))
    if not particle:
        # Programs that leave the particle in the family name leave the cutting to their readers.
        words = family.split()
        first = next((i for i, word in enumerate(words) if not word.islower()), 0)
        particle, family = " ".join(words[:first]), " ".join(words[first:])
    return Name(family, given, particle, part.get("suffix", ""))


def _date(value: object) -> tuple[str, str, str]:
    """Return year, month and day, or the text in their place."""
    if not isinstance(value, dict):
        value = {"raw": value}
    parts = value.get("date-parts")
    first = parts[0] if isinstance(parts, list) and parts and isinstance(parts[0], list) else []
    numbers = [_string(part) for part in first]
    if numbers and numbers[0]:
        month = _count(numbers[1]) if len(numbers) > 1 else 0
        season = _string(value.get("season"))
        if not month and (counted := _count(season)):
            month = 12 + counted
        # Some programs count the seasons on after December, from 13 or from 21.
        names = dict(enumerate((*MONTHS, *SEASONS), start=1)) | dict(enumerate(SEASONS, start=21))
        named = names.get(month, season.capitalize() if not season.isdecimal() else "")
        return numbers[0], named, numbers[2] if len(numbers) > 2 and named in MONTHS else ""
    written = _string(value.get("literal")) or _string(value.get("raw"))
    date = parse_date(written)
    return date if date.year else (written, "", "")


def _count(digits: str) -> int:
    """Return a number of at most two digits, such as that of a month; 0 for anything else."""
    return int(digits) if digits.isdecimal() and len(digits) < 3 else 0
