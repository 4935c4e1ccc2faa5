"""Where the fields of a reading stand in the text of their reference, and how readings differ.

Text of references as HTML, whatever is in it.
"""

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

# HTML has no NUL and no other control characters; their pictures show that something was there.
_CONTROLS = {code: 0x2400 + code for code in range(32) if chr(code) not in "\t\n"}

# Halves of surrogate pairs, which damaged input has, are no characters: no encoding writes them.
_HALVES = dict.fromkeys(range(0xD800, 0xE000), 0xFFFD)

_PICTURES = {**_CONTROLS, 0x7F: 0x2421, **_HALVES}

# Characters that turn the direction of what follows, and those that end this.
_POP, _POP_ISOLATE = "\u202c", "\u2069"

_ENDS = {
    **dict.fromkeys("\u202a\u202b\u202d\u202e", _POP),
    **dict.fromkeys("\u2066\u2067\u2068", _POP_ISOLATE),
}

_TURNS = re.compile(f"[{_POP}{_POP_ISOLATE}{''.join(_ENDS)}]")


def class_of(label: str) -> str:
    """Return the style class of a label, which is never text of the input."""
    return _CLASSES.get(label, OTHER)


def confidence_class(confidence: float) -> str:
    """Return the style class of a confidence: ``sure``, ``fair`` or ``poor``."""
    if confidence >= SURE:
        return "sure"
    return "fair" if confidence >= FAIR else "poor"


def escape_text(text: str) -> str:
    """Return text that means nothing but itself, between tags and in quoted attributes.

    Nor does it change how the text after it is written: what turns its direction is ended in it.
    """
    shown = escape(text.translate(_PICTURES), quote=True)
    return _ended(shown) if _TURNS.search(shown) else shown


def _ended(text: str) -> str:
    """Return text in which every turn of direction ends, and nothing ends that has not begun."""
    open_ends: list[str] = []

    def kept(found: re.Match[str]) -> str:
        character = found[0]
        if character in _ENDS:
            open_ends.append(_ENDS[character])
        elif character not in open_ends or (character == _POP and open_ends[-1] != _POP):
            return ""
        else:
            while open_ends.pop() != character:
                pass  # to end an isolate ends all that began in it
        return character

    return _TURNS.sub(kept, text) + "".join(reversed(open_ends))


def percent(share: float) -> str:
    """Return a probability in whole percent; only what is certain is 0% or 100%.

    >>> percent(0.934), percent(0.9999), percent(0.0001), percent(1.0)
    ('93%', '&gt;99%', '&lt;1%', '100%')
    """
    if 0.0 < share < 0.005:
        return "&lt;1%"
    if 0.995 <= share < 1.0:
        return "&gt;99%"
    return f"{share:.0%}"


def locate(reference: Reference, fields: Iterable[Field]) -> list[tuple[int, int, Field]]:
    """Return where fields stand in the text of a reference, from left to right.

    Fields know their place in the input. The text of the reference is that place on one line:
    joined words and marks of lists are missing, so that a field stands somewhat before the place
    that its offsets say. One that is not there is left out.

    Parameters
    ----------
    reference
        The reference.
    fields
        Of one reading, from left to right.

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
        Of the reading to show.
    show_confidence
        Whether to tell how sure each field is.
    differing
        The fields to stress, with their labels in sight.
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
