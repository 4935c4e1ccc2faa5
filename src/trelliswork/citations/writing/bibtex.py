r"""The BibTeX writer.

Values are plain text to BibTeX: what LaTeX would take for commands is escaped, braces always
match, and a value is one line. Letters stay as they are (UTF-8). In titles, words with capitals
inside ("DNA", "WordNet") are in braces, since styles change the case of titles; organisations are,
because they are not first and last names. Addresses and DOIs are not escaped: styles print them
verbatim.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from trelliswork.citations.documents.latex import encode_latex
from trelliswork.citations.writing.citation_keys import citation_keys

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trelliswork.citations.records import Name
    from trelliswork.citations.reference import Reference

_YEAR_LETTER = re.compile(r"(?<=[0-9]{4})[a-z]\Z")  # citation styles add it again
_ENTRY_OF = {
    "article": "article",
    "inproceedings": "inproceedings",
    "incollection": "incollection",
    "book": "book",
    "collection": "book",
    "phdthesis": "phdthesis",
    "mastersthesis": "mastersthesis",
    "techreport": "techreport",
}
_THESES = ("phdthesis", "mastersthesis")
_CONTAINER = {"article": "journal", "inproceedings": "booktitle", "incollection": "booktitle"}
_ISSUER = {
    "phdthesis": "school",
    "mastersthesis": "school",
    "techreport": "institution",
    "inproceedings": "organization",
}
_NOT_PRINTED = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufeff\ufffe\uffff]")
_WORD = re.compile(r"\w+")
# A comma or an "and" in a part of a name would begin the next part or the next name.
_CUTS_NAMES = re.compile(r",|\b(?:and|others)\b", re.IGNORECASE)
_IN_ADDRESS = {"{": "%7B", "}": "%7D", "\\": "%5C"}
_UNSAFE_IN_ADDRESS = re.compile(r"[{}\\]")


def to_bibtex(references: Sequence[Reference]) -> str:
    """Write references as a ``.bib`` file, in their order.

    Returns
    -------
    str
        One entry a reference, each with a key of its own such as ``shannon1948mathematical``.
    """
    keys = citation_keys(references)
    return "\n".join(
        [_entry(reference, key) for reference, key in zip(references, keys, strict=True)]
    )


def _entry(reference: Reference, key: str) -> str:
    kind = _ENTRY_OF.get(reference.type, "misc")
    lines = [f"  {field} = {{{value}}},\n" for field, value in _fields(reference, kind) if value]
    return f"@{kind}{{{key},\n{''.join(lines)}}}\n"


def _fields(reference: Reference, kind: str) -> list[tuple[str, str]]:
    """Return the fields of an entry as BibTeX writes them, some of them empty."""
    plain = _plain_fields(reference, kind)
    return [
        ("author", _names(reference.authors, et_al=reference.et_al)),
        ("editor", _names(reference.editors)),
        ("title", _title(reference.title)),
        *[(field, encode_latex(_one_line(value))) for field, value in plain.items() if value],
        ("pages", encode_latex(_one_line(reference.pages)).replace("-", "--")),
        ("translator", _names(reference.translators)),
        ("eprint", _address(reference.arxiv)),
        ("archiveprefix", "arXiv" if reference.arxiv else ""),
        ("doi", _address(reference.doi)),
        ("url", _address(reference.url)),
    ]


def _plain_fields(reference: Reference, kind: str) -> dict[str, str]:
    """Return the BibTeX fields of a reference; values without a field become a note."""
    notes = [reference.note]
    values = {
        _CONTAINER.get(kind, "howpublished"): reference.container,
        "series": reference.series,
        "volume": reference.volume,
        "number": reference.issue,
        "year": _YEAR_LETTER.sub("", reference.year),
        "month": reference.month,
        "day": reference.day,
        "edition": reference.edition,
        "publisher": reference.publisher,
        "address": reference.place,
        "isbn": reference.isbn,
        "issn": reference.issn,
    }
    if kind == "book" and reference.container:
        values["series"] = values.pop("howpublished")
        notes.append(reference.series)
    if reference.institution:
        field = _ISSUER.get(kind, "publisher")
        if values.get(field):
            notes.append(reference.institution)
        else:
            values[field] = reference.institution
    elif kind in _THESES or kind == "techreport":
        values[_ISSUER[kind]] = values.pop("publisher")
    if kind == "techreport" or kind in _THESES:
        values["type"] = reference.genre
        _put(values, "number", reference.number, notes)
    elif kind == "misc":
        said = [part for part in (reference.genre, reference.number) if part]
        if reference.arxiv:
            # The archive is named already.
            said = [part for part in said if "arxiv" not in part.lower()]
        _put(values, "howpublished", " ".join(said), notes)
    else:
        notes += [reference.genre, reference.number]
    values["note"] = "; ".join([note for note in notes if note])
    return values


def _put(values: dict[str, str], field: str, value: str, notes: list[str]) -> None:
    """Set a field if it is free; otherwise add to the notes."""
    if values.get(field):
        notes.append(value)
    else:
        values[field] = value


def _one_line(text: str) -> str:
    if text.isascii() and text.isprintable() and "  " not in text:
        return text.strip()
    return " ".join(_NOT_PRINTED.sub(" ", text).split())


def _title(title: str) -> str:
    title = _one_line(title)
    if title.isupper() or title.islower():
        return encode_latex(title)
    pieces = []
    done = 0
    for match in _WORD.finditer(title):
        word = match[0]
        rest = word[1:]
        if not rest.islower() and rest != rest.lower():
            pieces += [encode_latex(title[done : match.start()]), "{", encode_latex(word), "}"]
            done = match.end()
    return "".join([*pieces, encode_latex(title[done:])])


def _names(names: Sequence[Name], *, et_al: bool = False) -> str:
    written = [one for name in names if (one := _name(name))]
    if et_al and written:
        written.append("others")
    return " and ".join(written)


def _name(name: Name) -> str:
    """Write a name as "von Last, Jr, First"."""
    last = "" if name.literal else _name_part(name.family)
    if not last:
        whole = encode_latex(_one_line(name.literal or name.given))
        return f"{{{whole}}}" if whole else ""
    given, suffix = _name_part(name.given), _name_part(name.suffix)
    if not given and (" " in last or suffix) and last[0] != "{":
        # Without a comma, only the last word would be the family name.
        last = f"{{{f'{last} {suffix}'.rstrip()}}}"
        suffix = ""
    if particle := _name_part(name.particle):
        last = f"{particle} {last}"
    return ", ".join([part for part in (last, suffix, given) if part])


def _name_part(part: str) -> str:
    part = _one_line(part)
    encoded = encode_latex(part)
    # Some readers lose a command that begins a name.
    if encoded[:1] == "\\" or _CUTS_NAMES.search(part) is not None:
        return f"{{{encoded}}}"
    return encoded


def _address(address: str) -> str:
    address = "".join(_NOT_PRINTED.sub("", address).split()) if address else ""
    return _UNSAFE_IN_ADDRESS.sub(lambda match: _IN_ADDRESS[match[0]], address)
