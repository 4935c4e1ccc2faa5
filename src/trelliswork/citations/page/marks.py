"""The text of a reference as HTML, with its fields marked and all else escaped."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

from trelliswork.citations.fields import LABELS
from trelliswork.citations.page.palette import OTHER

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Sequence

    from trelliswork.citations.reference import Field, Reference


__all__ = [
    "class_of",
    "confidence_class",
    "escape_text",
    "fields_not_in",
    "locate",
    "mark_fields",
    "percent",
]

SURE, FAIR = 0.9, 0.6  # least confidence of a sure field, and of a fairly sure one

_CLASSES = {label: label for label in LABELS}

# HTML has no control characters; their pictures show where one was.
_CONTROLS = {code: 0x2400 + code for code in range(32) if chr(code) not in "\t\n"}

# Halves of surrogate pairs, as in damaged input, are not characters: no encoding writes them.
_HALVES = dict.fromkeys(range(0xD800, 0xE000), 0xFFFD)

_PICTURES = {**_CONTROLS, 0x7F: 0x2421, **_HALVES}

# Characters that change the direction of the text after them, and those that end this.
_POP, _POP_ISOLATE = "\u202c", "\u2069"

_ENDS = {
    **dict.fromkeys("\u202a\u202b\u202d\u202e", _POP),
    **dict.fromkeys("\u2066\u2067\u2068", _POP_ISOLATE),
}

_TURNS = re.compile(f"[{_POP}{_POP_ISOLATE}{''.join(_ENDS)}]")


def class_of(label: str) -> str:
    """Return the CSS class of a label, which is never text of the input."""
    return _CLASSES.get(label, OTHER)


def confidence_class(confidence: float) -> str:
    """Return the CSS class of a confidence: ``sure``, ``fair`` or ``poor``."""
    if confidence >= SURE:
        return "sure"
    return "fair" if confidence >= FAIR else "poor"


def escape_text(text: str) -> str:
    """Return text escaped for HTML, between tags and in quoted attributes.

    Marks that change the direction of writing are closed, so that they do not affect the text after
    it.
    """
    shown = escape(text.translate(_PICTURES), quote=True)
    return _ended(shown) if _TURNS.search(shown) else shown


def _ended(text: str) -> str:
    """Return text in which marks of direction are balanced."""
    open_ends: list[str] = []

    def kept(found: re.Match[str]) -> str:
        character = found[0]
        if character in _ENDS:
            open_ends.append(_ENDS[character])
        elif character not in open_ends or (character == _POP and open_ends[-1] != _POP):
            return ""
        else:
            while open_ends.pop() != character:
                pass  # the end of an isolate ends all that began in it
        return character

    return _TURNS.sub(kept, text) + "".join(reversed(open_ends))


def percent(share: float) -> str:
    """Return a probability in whole percent; only certainty is 0% or 100%.

    >>> percent(0.934), percent(0.9999), percent(0.0001), percent(1.0)
    ('93%', '&gt;99%', '&lt;1%', '100%')
    """
    if 0.0 < share < 0.005:
        return "&lt;1%"
    if 0.995 <= share < 1.0:
        return "&gt;99%"
    return f"{share:.0%}"


def locate(reference: Reference, fields: Iterable[Field]) -> list[tuple[int, int, Field]]:
    """Return the positions of fields in the text of a reference, from left to right.

    The offsets of fields are those of the input. The text of the reference lacks line breaks inside
    words and marks of lists, so that a field is somewhat before its offset. A field that is not
    found is left out.

    Parameters
    ----------
    reference
        The reference.
    fields
        The fields of one reading, from left to right.

    Returns
    -------
    list of (int, int, Field)
        Start and end in the text, and the field.
    """
    text, found, cursor = reference.text, [], 0
    slack = abs(reference.end - reference.start - len(text))
    for field in fields:
        if not field.text:
            continue
        at = text.find(field.text, max(cursor, field.start - reference.start - slack))
        if at < 0:
            at = text.find(field.text, cursor)
        if at >= 0:
            cursor = at + len(field.text)
            found.append((at, cursor, field))
    return found


def fields_not_in(fields: Sequence[Field], others: Sequence[Field]) -> list[Field]:
    """Return the fields that another reading does not have."""
    known = {(field.label, field.start, field.end) for field in others}
    return [field for field in fields if (field.label, field.start, field.end) not in known]


def mark_fields(
    reference: Reference,
    fields: Sequence[Field],
    *,
    show_confidence: bool = True,
    differing: Container[Field] = (),
) -> str:
    """Return the text of a reference with its fields marked, as HTML.

    Parameters
    ----------
    reference
        The reference.
    fields
        The fields of the reading to show.
    show_confidence
        Whether to show the confidence of each field.
    differing
        The fields to stress, with visible labels.
    """
    text, parts, cursor = reference.text, [], 0
    for start, end, field in locate(reference, fields):
        label = escape_text(field.label)
        classes = class_of(field.label)
        hint = label
        if show_confidence:
            classes += f" {confidence_class(field.confidence)}"
            hint += f" {percent(field.confidence)}"
        name = ""
        if field in differing:
            classes += " differs"
            name = f"<small>{label}</small>"
        parts.append(
            f'{escape_text(text[cursor:start])}<mark class="{classes}" tabindex="0" '
            f'data-t="{hint}">{name}{escape_text(text[start:end])}</mark>'
        )
        cursor = end
    parts.append(escape_text(text[cursor:]))
    return "".join(parts)
