"""The reader of BibTeX and biblatex files.

`bibtexparser` splits the file into entries and fields; it comes with the extra ``cite``. The fields
are interpreted here: macros and ``#``, ``crossref``, LaTeX, names, and the fields of `Work`.
"""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING

from trelliswork.citations.documents.latex import decode_latex
from trelliswork.citations.fields import MONTHS
from trelliswork.citations.meaning.identifiers import find_arxiv
from trelliswork.citations.meaning.values import parse_date
from trelliswork.citations.records.bibtex_names import parse_names, plain
from trelliswork.citations.records.records import RecordCollector, Records
from trelliswork.citations.records.works import Name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from bibtexparser.library import Library
    from bibtexparser.model import Entry

WORK_TYPE_OF = {
    "article": "article",
    "suppperiodical": "article",
    "inproceedings": "inproceedings",
    "conference": "inproceedings",
    "proceedings": "collection",
    "mvproceedings": "collection",
    "book": "book",
    "booklet": "book",
    "mvbook": "book",
    "inbook": "incollection",
    "bookinbook": "incollection",
    "suppbook": "incollection",
    "incollection": "incollection",
    "suppcollection": "incollection",
    "inreference": "incollection",
    "collection": "collection",
    "mvcollection": "collection",
    "reference": "collection",
    "phdthesis": "phdthesis",
    "thesis": "phdthesis",
    "mastersthesis": "mastersthesis",
    "techreport": "techreport",
    "report": "techreport",
    "manual": "techreport",
    "misc": "techreport",
    "unpublished": "techreport",
    "standard": "standard",
    "patent": "standard",
    "online": "webpage",
    "electronic": "webpage",
    "www": "webpage",
    "webpage": "webpage",
    "dataset": "webpage",
    "software": "software",
}
"""The type of work that each type of entry is read as; entries of other types are skipped."""

_FIELDS = {
    # The first of the fields that an entry has.
    "container": ("journal", "journaltitle", "booktitle"),
    "series": ("series",),
    "volume": ("volume",),
    "pages": ("pages", "eid", "articleno", "article-number"),
    "publisher": ("publisher",),
    "place": ("address", "location", "venue"),
    "school": ("school", "institution"),
    "institution": ("institution", "organization"),
    "edition": ("edition",),
    "isbn": ("isbn",),
    "note": ("note",),
}
_LONGEST_MACRO = 10_000
_PIECE = re.compile(r"[{\"]|[^\s#{}\"]+")
_ADDRESS = re.compile(r"(?:https?://|www\.)[^\s{}]+")
_MASTERS = re.compile(r"master|mathesis|bachelor|diplom|licen[ct]", re.IGNORECASE)
_SOFTWARE = re.compile(r"software|source code|computer program", re.IGNORECASE)


def read_bibtex(text: str, *, source: str) -> Records:
    """Read the entries of a BibTeX or biblatex file.

    The types of `WORK_TYPE_OF` are read; an entry of type ``misc`` or ``unpublished`` may turn out
    to be a preprint, software or a web page. An organisation stands in for authors and editors.

    Parameters
    ----------
    text : str
        The content of the file.
    source : str
        Name of the file in messages.

    Raises
    ------
    ImportError
        `bibtexparser` is not installed.
    """
    collector = RecordCollector()
    library = _parse(text)
    macros = _macros(library)
    entries = [
        (where, entry, _values(entry, macros))
        for where, entry in _entries(library, source, collector)
    ]
    by_key = {entry.key.casefold(): values for _, entry, values in reversed(entries)}
    for where, entry, values in entries:
        kind = entry.entry_type.casefold()
        if kind not in WORK_TYPE_OF:
            collector.skip(where, f"{entry.key!r} has the type {kind!r}, which no style is for.")
            continue
        if parent := by_key.get(values.get("crossref", "").strip().casefold()):
            values = _inherited(values, parent)
        type_ = _work_type(kind, values)
        names = _work_names(values)
        fields = _work_fields(type_, values)
        if "author" not in values and names["author"]:
            # An organisation that stands in for the author would be named twice.
            body = names["author"][0].literal
            fields |= {name: "" for name in ("institution", "publisher") if fields[name] == body}
        collector.add(where, entry.key, type_, fields, names)
    return collector.records()


def _parse(text: str) -> Library:
    try:
        from bibtexparser.entrypoint import parse_string
    except ImportError as error:
        raise ImportError(
            'Reading BibTeX needs bibtexparser: pip install "trelliswork[cite]"'
        ) from error
    log = logging.getLogger("bibtexparser")
    if not log.handlers:
        # It reports what we report ourselves; without a handler that would go to the terminal.
        log.addHandler(logging.NullHandler())
    return parse_string(text, parse_stack=[])


def _entries(
    library: Library, source: str, collector: RecordCollector
) -> Iterator[tuple[str, Entry]]:
    """Yield the entries with their places, including those with a repeated key or field."""
    from bibtexparser.model import Entry, ParsingFailedBlock

    for block in library.blocks:
        where = f"{source}:{(block.start_line or 0) + 1}"
        if isinstance(block, ParsingFailedBlock):
            if isinstance(block.ignore_error_block, Entry):
                yield where, block.ignore_error_block
            else:
                # The first line is enough; the parser's own message is about its internals.
                first = (block.raw or "").strip().split("\n", 1)[0][:60]
                collector.skip(where, f"expected an entry, got {first!r}.")
        elif isinstance(block, Entry):
            yield where, block


def _macros(library: Library) -> dict[str, str]:
    macros = {month[:3].casefold(): month for month in MONTHS}
    for string in library.strings:
        # Macros of macros may double at every line.
        macros[string.key.casefold()] = _evaluate(str(string.value), macros)[:_LONGEST_MACRO]
    return macros


def _values(entry: Entry, macros: Mapping[str, str]) -> dict[str, str]:
    """Return the fields of an entry as LaTeX; the first of two with the same name counts."""
    values: dict[str, str] = {}
    for field in entry.fields:
        values.setdefault(field.key.casefold(), _evaluate(str(field.value), macros))
    return {name: value for name, value in values.items() if value.strip()}


def _evaluate(value: str, macros: Mapping[str, str]) -> str:
    """Return the text of a value: strings in quotes or braces, macros, numbers, joined by #."""
    pieces = []
    place = 0
    while match := _PIECE.search(value, place):
        if match[0] in '{"':
            end = _closing(value, match.start())
            pieces.append(value[match.end() : end])
            place = end + 1
        else:
            pieces.append(macros.get(match[0].casefold(), match[0]))
            place = match.end()
    return "".join(pieces)


def _closing(value: str, start: int) -> int:
    """Return the end of the string that a brace or a quotation mark opens."""
    depth = 0
    for match in re.finditer(r"[{}\"]", value[start + 1 :]):
        if depth == 0 and match[0] == {"{": "}", '"': '"'}[value[start]]:
            return start + 1 + match.start()
        depth += (match[0] == "{") - (match[0] == "}")
    return len(value)


def _inherited(values: dict[str, str], parent: dict[str, str]) -> dict[str, str]:
    """Return the fields of an entry, completed by those of the entry it refers to."""
    inherited = {name: value for name, value in parent.items() if name != "crossref"}
    title = inherited.pop("title", "")
    inherited.setdefault("booktitle", title)
    return {name: value for name, value in inherited.items() if value} | values


def _work_type(kind: str, values: Mapping[str, str]) -> str:
    type_ = WORK_TYPE_OF[kind]
    if kind == "thesis" and _MASTERS.search(values.get("type", "")):
        return "mastersthesis"
    if kind == "inbook" and "booktitle" not in values:
        return "book"  # BibTeX gives a part of a book the title of the book
    if type_ == "book" and "author" not in values and "editor" in values:
        return "collection"
    if kind in {"misc", "unpublished"} or type_ == "webpage":
        if _arxiv(values):
            return "preprint"
        if _SOFTWARE.search(" ".join(values.get(name, "") for name in ("howpublished", "type"))):
            return "software"
        return "webpage" if _url(values) else type_
    return type_


def _work_fields(type_: str, values: Mapping[str, str]) -> dict[str, str]:
    fields = {field: _first(values, *names) for field, names in _FIELDS.items()}
    titles = (plain(values.get(name, "")) for name in ("title", "subtitle"))
    fields["title"] = ": ".join(filter(None, titles))
    date = parse_date(plain(values.get("date", "")))
    fields["year"] = _first(values, "year") or date.year
    fields["month"] = _month(_first(values, "month")) or date.month
    fields["day"] = date.day
    fields["arxiv"] = _arxiv(values)
    fields["doi"] = _verbatim(values.get("doi", ""))
    fields["url"] = _url(values)
    if _ADDRESS.search(fields["note"]) or find_arxiv(fields["note"]):
        fields["note"] = ""  # it says what another field says now
    number, issue = _first(values, "number"), _first(values, "issue")
    if type_ in {"techreport", "standard", "webpage", "software"}:
        fields["number"] = number
    elif type_ == "article":
        fields["issue"] = number or issue
    elif fields["series"] and not fields["volume"]:
        fields["volume"] = number  # a series is numbered in either way
    else:
        fields["issue"] = issue
    if type_ in {"phdthesis", "mastersthesis"}:
        return fields | {"institution": ""}
    if type_ not in {"techreport", "standard"}:
        fields["publisher"] = fields["publisher"] or fields["institution"]
        fields["institution"] = ""
    return fields | {"school": ""}


def _first(values: Mapping[str, str], *names: str) -> str:
    return next((text for name in names if (text := plain(values.get(name, "")))), "")


def _month(text: str) -> str:
    if text.isdecimal() and len(text) < 3 and 1 <= int(text) <= len(MONTHS):
        return MONTHS[int(text) - 1]
    return parse_date(text).month or text


def _verbatim(value: str) -> str:
    """Return a value that is mostly verbatim, not LaTeX: a DOI, an address."""
    text = value if "\\url" in value or "\\href" in value else f"\\url{{{value}}}"
    return "".join(decode_latex(text, comments=False)[0].split())


def _url(values: Mapping[str, str]) -> str:
    if "url" in values:
        return _verbatim(values["url"])
    for name in ("howpublished", "note"):
        if found := _ADDRESS.search(plain(values.get(name, ""))):
            return found[0].rstrip(".,;)")
    return ""


def _arxiv(values: Mapping[str, str]) -> str:
    prefix = values.get("archiveprefix", values.get("eprinttype", "arxiv"))
    if prefix.strip().casefold() == "arxiv" and "eprint" in values:
        return find_arxiv(_verbatim(values["eprint"]), labelled=True)
    others = ("howpublished", "note", "number", "url", "doi")
    return next((found for name in others if (found := find_arxiv(values.get(name, "")))), "")


def _work_names(values: Mapping[str, str]) -> dict[str, tuple[Name, ...]]:
    names = {role: parse_names(values.get(role, "")) for role in ("author", "editor", "translator")}
    if not names["author"] and not names["editor"]:
        body = _first(values, "organization", "institution")
        names["author"] = (Name(literal=body),) if body else ()
    return names
