"""Templates of references: slots that vanish with empty fields, and punctuation tied to its field.

A template is a row of slots, then the mark that ends the reference::

    {$lead}{. $title}{. $container}{, $volume}{($issue)|, no. $issue}{:$pages}{, $date}.

- A slot `{before$field after}` is written when the field has a value, and vanishes otherwise.
- The punctuation and blanks a slot starts with *separate* it from the field before it. They carry
  that field's label, as in the Cora references, and are left out at the start of the reference.
- All else in the slot ("pp. ", an opening bracket or quotation mark) carries its own label.
- After a bar, the form that is written when the previous slot of the template vanished.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

_SLOT = re.compile(r"\{([^{}]*)\}")
_FORM = re.compile(r"(?P<separator>[\s.,;:]*)(?P<before>[^$]*)\$(?P<field>[a-z]+)(?P<after>[^$]*)$")
_STOPS = ".?!"


class Piece(NamedTuple):
    """A stretch of text that has one label."""

    text: str
    label: str


@dataclass(frozen=True)
class _Form:
    separator: str
    before: str
    field: str
    after: str


@dataclass(frozen=True)
class _Template:
    slots: tuple[tuple[_Form, ...], ...]
    end: str


def fill(template: str, values: Mapping[str, Piece]) -> list[Piece]:
    """Write the fields of a reference in the order and with the punctuation of a template.

    Parameters
    ----------
    template : str
        Slots, as explained above.
    values : mapping
        The text and the label of each field; a field that is missing or empty makes no slot.

    Returns
    -------
    list of Piece
        Their texts, joined, are the reference.
    """
    parsed = _parse(template)
    pieces: list[Piece] = []
    previous_written = True
    for forms in parsed.slots:
        form = forms[0] if previous_written else forms[-1]
        value = values.get(form.field)
        previous_written = value is not None and value.text != ""
        if value is None or not previous_written:
            continue
        _separate(pieces, form.separator)
        text = form.before + _close(value.text, form.after)
        pieces.append(Piece(text, value.label))
    _separate(pieces, parsed.end)
    return pieces


@lru_cache(maxsize=256)
def _parse(template: str) -> _Template:
    slots: list[tuple[_Form, ...]] = []
    for slot in _SLOT.findall(template):
        matches = [_FORM.match(form) for form in slot.split("|")]
        forms = tuple(_Form(**match.groupdict()) for match in matches if match)
        if len(forms) != len(matches):
            raise ValueError(f"expected '{{before$field after}}', got {{{slot}}} in {template!r}")
        slots.append(forms)
    between = _SLOT.split(template)[::2]
    if not slots or any(between[:-1]):
        raise ValueError(f"expected slots in braces and nothing between them, got {template!r}")
    return _Template(tuple(slots), end=between[-1])


def _separate(pieces: list[Piece], separator: str) -> None:
    """Append the separator to the last piece, without doubling a full stop or a comma."""
    if not pieces:
        return
    last = pieces[-1]
    bare = last.text.rstrip("”’\"'»")
    # "et al." takes a comma, “a quoted sentence.” does not.
    swallowed = {".": _STOPS, ",": "?!,." if bare != last.text else "?!,"}.get(separator[:1], "")
    if bare.endswith(tuple(swallowed)):
        separator = separator[1:]
    pieces[-1] = Piece(last.text + separator, last.label)


def _close(text: str, after: str) -> str:
    # “Why?,” is never written: the question mark takes the comma's place.
    if after[:1] in {".", ","} and text.endswith(tuple(_STOPS)):
        after = after[1:]
    return text + after
