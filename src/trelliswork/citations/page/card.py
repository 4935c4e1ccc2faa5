"""The card of a reference: its text, the effect of the rules, its record and other readings."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from trelliswork.citations.page.marks import (
    class_of,
    escape_text,
    fields_not_in,
    mark_fields,
    percent,
)
from trelliswork.citations.page.record import record_table

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Sequence

    from trelliswork.citations.reference import Alternative, Field, Reference


__all__ = ["card", "rule_in_words"]

STEPS = 20  # of a bar for a confidence

_SOFT = re.compile(r"\.soft\([^()]*\)$")

_COUNT = re.compile(r"(at_most|at_least|exactly)\((\d+), '([^']*)'\)")

_PAIR = re.compile(r"(excludes|precedes|requires)\('([^']*)', '([^']*)'\)")

_COUNTED = {"at_most": "at most", "at_least": "at least", "exactly": "exactly"}

_PAIRED = {
    "excludes": "no {0} together with {1}",
    "precedes": "{0} comes before {1}",
    "requires": "{0} only together with {1}",
}

_NUMBERS = {"0": "no", "1": "one", "2": "two", "3": "three"}


def card(number: int, reference: Reference, bibtex: str, *, is_open: bool) -> str:
    """Return the card of a reference as HTML.

    Parameters
    ----------
    number
        Number of the reference, counted from 1.
    reference
        The reference.
    bibtex
        Its BibTeX entry.
    is_open
        Whether its record is open at first.
    """
    least: dict[str, float] = {}
    for field in reference.fields:
        least[field.label] = min(field.confidence, least.get(field.label, 1.0))
    by_field = " ".join(f"{class_of(label)}:{sure:.3f}" for label, sure in least.items())
    flag = '<span class="flag">changed by rules</span>' if reference.unruled else ""
    entry = "\n".join(map(escape_text, bibtex.strip().split("\n")))
    key = f'<span class="key">[{escape_text(reference.key)}]</span>' if reference.key else ""
    return (
        f'<article id="r{number}" data-sure="{reference.confidence:.4f}" data-fields="{by_field}"'
        f"{' data-changed' if reference.unruled else ''}>"
        f'<header><a href="#r{number}">{number}</a>{key}'
        f'<span class="type">{escape_text(reference.type)}</span>{flag}'
        f'<span class="bar p{_step(reference.confidence)}">'
        f'<span class="unseen">confidence </span>{percent(reference.confidence)}</span></header>\n'
        f'<p class="text" dir="auto">{mark_fields(reference, reference.fields)}</p>\n'
        f"{_rules(reference)}"
        f"<details{' open' if is_open else ''}><summary>Record{_others(reference)}</summary>"
        f'<div class="record">{record_table(reference)}'
        f'<div class="bibtex"><pre>{entry}</pre></div></div>\n'
        f"{_alternatives(reference)}</details></article>\n"
    )


def _step(confidence: float) -> int:
    return round(STEPS * min(1.0, max(0.0, confidence)))


def _rules(reference: Reference) -> str:
    """Return the effect of the rules and its reasons; empty if they changed nothing."""
    broken = "".join(
        f'<li title="{escape_text(rule)}">{escape_text(rule_in_words(rule))}</li>'
        for rule in reference.broken_rules
    )
    if not reference.unruled:
        if not broken:
            return ""
        return (
            f'<section class="rules"><p>This reading breaks rules:</p><ul>{broken}</ul></section>'
        )
    own = fields_not_in(reference.fields, reference.unruled)
    alone = fields_not_in(reference.unruled, reference.fields)
    why = f"<p>The model’s own reading breaks:</p><ul>{broken}</ul>" if broken else ""
    return (
        '<section class="rules"><div class="readings">'
        "<div><h3>The model alone</h3>"
        f'<p dir="auto">{_text_of(reference, reference.unruled, alone)}</p>'
        "</div><div><h3>Under the rules</h3>"
        f'<p dir="auto">{_text_of(reference, reference.fields, own)}</p>'
        f"</div></div>{why}</section>\n"
    )


def _text_of(reference: Reference, fields: Sequence[Field], differing: Container[Field]) -> str:
    return mark_fields(reference, fields, show_confidence=False, differing=differing)


def _others(reference: Reference) -> str:
    count = len(reference.alternatives)
    return f", {count} other reading{'s' if count > 1 else ''}" if count else ""


def _alternatives(reference: Reference) -> str:
    """Return the other readings: the probability of each, and the fields that only it has."""
    if not reference.alternatives:
        return ""
    items = "".join(_alternative(reference, other) for other in reference.alternatives)
    return f'<h3>Other readings</h3><ol class="others">{items}</ol>'


def _alternative(reference: Reference, other: Alternative) -> str:
    fields = _differences(fields_not_in(other.fields, reference.fields))
    return (
        f'<li><span class="bar p{_step(other.confidence)}">{percent(other.confidence)}</span>'
        f'<span dir="auto">{fields or "the same fields"}</span></li>'
    )


def _differences(fields: Iterable[Field]) -> str:
    return " ".join(
        f'<mark class="{class_of(field.label)}"><small>{escape_text(field.label)}</small>'
        f"{escape_text(field.text)}</mark>"
        for field in fields
    )


def rule_in_words(rule: str) -> str:
    """Return a rule in words; its source if there are no words for it.

    >>> rule_in_words("at_most(1, 'title')")
    'at most one title'
    >>> rule_in_words("precedes('author', 'title').soft(0.7)")
    'preferably, author comes before title'
    """
    hard = _SOFT.sub("", rule)
    preferably = "" if hard == rule else "preferably, "
    if found := _COUNT.fullmatch(hard):
        kind, number, label = found.groups()
        return f"{preferably}{_COUNTED[kind]} {_NUMBERS.get(number, number)} {label}"
    if found := _PAIR.fullmatch(hard):
        kind, *labels = found.groups()
        return preferably + _PAIRED[kind].format(*labels)
    if hard.startswith("changes_only_at("):
        return f"{preferably}a field ends at a mark"
    return rule
