"""The record of a reference: its typed values as a table, with identifiers as links."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote

from trelliswork.citations.page.marks import class_of, confidence_class, escape_text, percent

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trelliswork.citations.records import Name
    from trelliswork.citations.reference import Field, Reference

__all__ = ["record_table"]

_PEOPLE = {"author": "authors", "editor": "editors", "translator": "translators"}
_VALUES = {
    "journal": ("container",),
    "booktitle": ("container",),
    "date": ("day", "month", "year"),
    "location": ("place",),
    "tech": ("genre", "number"),
    "isbn": ("isbn", "issn"),
    "number": ("key",),
}
"""The attributes with the values of a label; by default the one of its name."""
_WEB = re.compile(r"https?://[^\s\"'<>]+", re.IGNORECASE)


def record_table(reference: Reference) -> str:
    """Return a table of values and confidences, one row a label."""
    fields: dict[str, list[Field]] = {}
    for field in reference.fields:
        fields.setdefault(field.label, []).append(field)
    rows = "".join(_row(reference, label, found) for label, found in fields.items())
    return (
        '<table><thead class="unseen"><tr><th>field</th><th>value</th><th>confidence</th></tr>'
        f"</thead><tbody>{rows}</tbody></table>"
    )


def _row(reference: Reference, label: str, fields: list[Field]) -> str:
    # What could not be interpreted is shown as it is written.
    value = _value(reference, label) or _written(field.text for field in fields)
    sure = "<br>".join(
        f'<span class="{confidence_class(field.confidence)}">{percent(field.confidence)}</span>'
        for field in fields
    )
    return (
        f'<tr><th scope="row"><i class="{class_of(label)}"></i>{escape_text(label)}</th>'
        f'<td dir="auto">{value}</td><td class="sure-of">{sure}</td></tr>'
    )


def _value(reference: Reference, label: str) -> str:
    if label in _PEOPLE:
        names: tuple[Name, ...] = getattr(reference, _PEOPLE[label])
        people = [_person(name) for name in names]
        if label == "author" and reference.et_al and people:
            people.append("<li>et al.</li>")
        return f"<ul>{''.join(people)}</ul>" if people else ""
    values = [getattr(reference, name, "") for name in _VALUES.get(label, (label,))]
    return " ".join(_linked(label, value) for value in values if value)


def _person(name: Name) -> str:
    if name.literal:
        return f'<li title="an organisation">{escape_text(name.literal)}</li>'
    family = " ".join(part for part in (name.particle, name.family) if part)
    rest = [part for part in (name.given, name.suffix) if part]
    return f"<li>{', '.join([f'<b>{escape_text(family)}</b>', *map(escape_text, rest)])}</li>"


def _linked(label: str, value: str) -> str:
    """Return a value, as a link if it is surely safe: no script, no local address."""
    shown = escape_text(value)
    address = ""
    if label == "doi" and value.startswith("10."):
        address = f"https://doi.org/{_quoted(value)}"
    elif label == "arxiv" and re.fullmatch(r"[\w.\-/]+", value, re.ASCII):
        address = f"https://arxiv.org/abs/{value}"
    elif label == "url" and _WEB.fullmatch(value):
        address = value
    return f'<a href="{escape_text(address)}" rel="noreferrer">{shown}</a>' if address else shown


def _quoted(value: str) -> str:
    return quote(value, safe="/:;().,_-", errors="replace")


def _written(texts: Iterable[str]) -> str:
    return " · ".join(f"<q>{escape_text(text)}</q>" for text in texts)
