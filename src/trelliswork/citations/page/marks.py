"""Where the fields of a reading stand in the text of their reference, and how readings differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trelliswork.citations.fields import LABELS
from trelliswork.citations.page.escape import escaped, percent
from trelliswork.citations.page.palette import OTHER

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Sequence

    from trelliswork.citations.reference import Field, Reference

__all__ = ["changed", "class_of", "locate", "marked", "sureness"]

SURE, FAIR = 0.9, 0.6  # the confidences from which on a field is sure, and fairly sure

_CLASSES = {label: label for label in LABELS}


def class_of(label: str) -> str:
    """Return the style class of a label, which is never text of the input."""
    return _CLASSES.get(label, OTHER)


def sureness(confidence: float) -> str:
    """Return the style class of a confidence: ``sure``, ``fair`` or ``poor``."""
    if confidence >= SURE:
        return "sure"
    return "fair" if confidence >= FAIR else "poor"


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


def changed(fields: Sequence[Field], others: Sequence[Field]) -> list[Field]:
    """Return the fields that another reading does not have."""
    known = {(field.label, field.start, field.end) for field in others}
    return [field for field in fields if (field.label, field.start, field.end) not in known]


def marked(
    reference: Reference,
    fields: Sequence[Field],
    *,
    told: bool = True,
    differing: Container[Field] = (),
) -> str:
    """Return the text of a reference with its fields marked, as HTML.

    Parameters
    ----------
    reference
        The reference.
    fields
        Of the reading to show.
    told
        Whether to tell how sure each field is.
    differing
        The fields to stress, with their labels in sight.
    """
    text, parts, cursor = reference.text, [], 0
    for start, end, field in locate(reference, fields):
        label = escaped(field.label)
        classes = class_of(field.label)
        hint = label
        if told:
            classes += f" {sureness(field.confidence)}"
            hint += f" {percent(field.confidence)}"
        name = ""
        if field in differing:
            classes += " differs"
            name = f"<small>{label}</small>"
        parts.append(
            f'{escaped(text[cursor:start])}<mark class="{classes}" tabindex="0" '
            f'data-t="{hint}">{name}{escaped(text[start:end])}</mark>'
        )
        cursor = end
    parts.append(escaped(text[cursor:]))
    return "".join(parts)
