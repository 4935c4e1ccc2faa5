"""`write`: parsed references in any of the formats.

BibTeX, CSL-JSON and RIS are for other programs. JSON lines hold all there is: typed values, fields
with their offsets and confidences, other readings. CoNLL has the training data of a model.
"""

from __future__ import annotations

import math
from dataclasses import fields
from io import StringIO
from typing import TYPE_CHECKING, Any

from trelliswork.citations.reference import Reference
from trelliswork.citations.writing.bibtex import to_bibtex
from trelliswork.citations.writing.csl_json import dump_json, to_csl, to_csl_json
from trelliswork.citations.writing.ris import to_ris
from trelliswork.data.conll import write_conll
from trelliswork.data.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from trelliswork.citations.records import Name
    from trelliswork.citations.reference import Field

__all__ = [
    "FORMATS",
    "to_bibtex",
    "to_conll",
    "to_csl",
    "to_csl_json",
    "to_jsonl",
    "to_ris",
    "write",
]

_OWN_FORM = ("confidence", "fields", "authors", "editors", "translators", "alternatives", "unruled")
_AS_THEY_ARE = tuple(field.name for field in fields(Reference) if field.name not in _OWN_FORM)
_NAME_PARTS = ("family", "given", "particle", "suffix", "literal")


def write(references: Sequence[Reference], to: str = "bibtex") -> str:
    """Write references in a format.

    Parameters
    ----------
    references : sequence of Reference
        References from `trelliswork.citations.parse`.
    to : str
        One of `FORMATS`: ``"bibtex"``, ``"csl-json"``, ``"ris"``, ``"jsonl"`` or ``"conll"``.
    """
    if to not in FORMATS:
        raise ValueError(f"to: expected {', '.join(map(repr, FORMATS))}, got {to!r}.")
    return FORMATS[to](references)


def to_jsonl(references: Sequence[Reference]) -> str:
    """Write references as JSON, one object a line, with the attributes of `Reference`.

    Names are objects with the parts they have; a confidence that is not a number is ``null``.
    """
    return "".join([dump_json(_record(reference)) + "\n" for reference in references])


def to_conll(references: Sequence[Reference]) -> str:
    """Write the tokens of references with their labels, a blank line after each reference.

    References without tokens are left out: CoNLL has no empty sequences.

    Raises
    ------
    DataError
        A token or a label holds a tab or a line end.
    """
    written = StringIO()
    sentences = [
        Sentence(reference.tokens, labels=reference.labels)
        for reference in references
        if reference.tokens
    ]
    write_conll(sentences, written)
    return written.getvalue().encode("utf-8", "replace").decode("utf-8")


FORMATS: dict[str, Callable[[Sequence[Reference]], str]] = {
    "bibtex": to_bibtex,
    "csl-json": to_csl_json,
    "ris": to_ris,
    "jsonl": to_jsonl,
    "conll": to_conll,
}
"""The writer of each format, by name."""


def _record(reference: Reference) -> dict[str, Any]:
    record: dict[str, Any] = {name: getattr(reference, name) for name in _AS_THEY_ARE}
    for role in ("authors", "editors", "translators"):
        record[role] = [_name(name) for name in getattr(reference, role)]
    record["confidence"] = _number(reference.confidence)
    record["fields"] = [_field(field) for field in reference.fields]
    record["unruled"] = [_field(field) for field in reference.unruled]
    record["alternatives"] = [
        {
            "fields": [_field(field) for field in other.fields],
            "confidence": _number(other.confidence),
        }
        for other in reference.alternatives
    ]
    return record


def _field(field: Field) -> dict[str, Any]:
    return {
        "label": field.label,
        "text": field.text,
        "start": field.start,
        "end": field.end,
        "confidence": _number(field.confidence),
    }


def _name(name: Name) -> dict[str, str]:
    return {part: value for part in _NAME_PARTS if (value := getattr(name, part))}


def _number(confidence: float) -> float | None:
    return confidence if math.isfinite(confidence) else None
