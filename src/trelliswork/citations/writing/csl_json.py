"""The CSL-JSON writer, for Zotero, pandoc and citation processors.

The variables are those that `trelliswork.citations.records.csl` gives a work. A reference says two
things that a work does not: that there are more authors ("et al."), which is a last author
``others`` as pandoc writes it, and the letter of a year ("1948a"), which is its ``year-suffix``.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from trelliswork.citations.records.csl import (
    CSL_TYPES,
    VARIABLES,
    add_arxiv,
    add_issuer,
    date_to_csl,
    name_to_csl,
)
from trelliswork.citations.writing.citation_keys import citation_keys

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trelliswork.citations.records import Name
    from trelliswork.citations.reference import Reference

_ROLES = {"author": "authors", "editor": "editors", "translator": "translators"}


def to_csl(references: Sequence[Reference]) -> list[dict[str, Any]]:
    """Return references as items of CSL-JSON, in order, without fields that were not found."""
    keys = citation_keys(references)
    return [_item(reference, key) for reference, key in zip(references, keys, strict=True)]


def to_csl_json(references: Sequence[Reference]) -> str:
    """Write references as a CSL-JSON file."""
    return dump_json(to_csl(references), indent=2) + "\n"


def dump_json(value: object, *, indent: int | None = None) -> str:
    """Return JSON that UTF-8 can encode: half of a surrogate pair becomes "?"."""
    written = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)
    return written.encode("utf-8", "replace").decode("utf-8")


def _item(reference: Reference, key: str) -> dict[str, Any]:
    item: dict[str, Any] = {"id": key, "type": CSL_TYPES.get(reference.type, "document")}
    for variable, role in _ROLES.items():
        names: tuple[Name, ...] = getattr(reference, role)
        if written := [parts for name in names if (parts := name_to_csl(name))]:
            item[variable] = written
    if reference.et_al and "author" in item:
        item["author"].append({"literal": "others"})
    for field, variable in VARIABLES.items():
        if value := getattr(reference, field):
            item[variable] = value
    if reference.issn:
        item["ISSN"] = reference.issn
    if reference.genre:
        item["genre"] = reference.genre
    if reference.year:
        item |= _issued(reference)
    add_issuer(item, reference.institution)
    add_arxiv(item, reference.arxiv, is_preprint=reference.type == "preprint")
    return item


def _issued(reference: Reference) -> dict[str, Any]:
    year, letter = reference.year, ""
    if year[-1:].isalpha() and year[:-1].isdecimal():
        year, letter = year[:-1], year[-1]
    issued = date_to_csl(year, reference.month, reference.day)
    return {"issued": issued} | ({"year-suffix": letter} if letter else {})
