"""`interpret`: labelled fields to a reference with typed values."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from trelliswork.citations.meaning.entry_types import guess_type
from trelliswork.citations.meaning.identifiers import (
    find_arxiv,
    find_doi,
    find_isbn,
    find_issn,
    find_url,
    parse_doi,
    parse_url,
)
from trelliswork.citations.meaning.people import parse_people
from trelliswork.citations.meaning.relabelled import relabel_fields
from trelliswork.citations.meaning.trimming import PEOPLE
from trelliswork.citations.meaning.values import (
    Date,
    is_page_count,
    parse_container,
    parse_date,
    parse_edition,
    parse_issue,
    parse_pages,
    parse_report,
    parse_title,
    parse_volume,
)
from trelliswork.citations.reference import Alternative, Field, Reference

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from trelliswork.citations.records import Name

__all__ = ["interpret"]

_ARCHIVE = re.compile(r"(?:arxiv|corr)\b", re.IGNORECASE)
_UNDATED = re.compile(r"\W*(?:n\.?\s?d\.?|o\.?\s?[dj]\.?|s\.?\s?[da]\.?|no date|undated)\W*", re.I)
_INTRODUCES = re.compile(
    r"(?:https?://)?(?:dx\.)?doi(?:\.org/?)?[:\s]*|arxiv[:\s]*|isbn[:\s]*|issn[:\s]*|url[:\s]*"
    r"|\[?online\]?|available\s(?:at|from|online)?:?|retrieved\sfrom:?|https?://",
    re.IGNORECASE,
)
_PUBLISHES = re.compile(
    r"press|verlag|publish|springer|wiley|elsevier|books|editions?\b|\binc\b|\bltd\b", re.IGNORECASE
)
_INTRODUCED = re.compile(r"\W*(doi|arxiv|isbn|issn|url|https?)\b", re.IGNORECASE)
# The label of a note that begins with the word, and its reader.
_READER_OF: dict[str, tuple[str, Callable[[str], str]]] = {
    "doi": ("doi", parse_doi),
    "arxiv": ("arxiv", find_arxiv),
    "isbn": ("isbn", find_isbn),
    "issn": ("isbn", find_issn),
    "url": ("url", parse_url),
    "http": ("url", parse_url),
    "https": ("url", parse_url),
}
_PAGES_BEHIND = re.compile(r"[:,]\s*(?:pp?\.\s*)?([A-Za-z]?\d+\s*[-–]+\s*[A-Za-z]?\d+)$")
_EDGES = " \t\n,;:"


def interpret(
    text: str,
    fields: Sequence[Field],
    *,
    start: int = 0,
    end: int | None = None,
    key: str = "",
    confidence: float = 1.0,
    tokens: Sequence[str] = (),
    labels: Sequence[str] = (),
    alternatives: Sequence[Alternative] = (),
    unruled: Sequence[Field] = (),
    broken_rules: Sequence[str] = (),
) -> Reference:
    """Return the reference with typed values of labelled fields.

    Parameters
    ----------
    text : str
        The reference on one line.
    fields : sequence of Field
        From left to right; names and notes are all kept. Of several others with the same label
        the first counts, and the rest are notes.
    start, end : int
        Span of the reference in the input; by default the whole input.
    key, confidence, tokens, labels, alternatives, unruled, broken_rules
        As in `trelliswork.citations.reference.Reference`.

    Returns
    -------
    Reference
        Identifiers are also found in fields that are labelled otherwise. The text of a field that
        gives no value is a note.
    """
    texts, notes, people, et_al = _gather(fields)
    if {"booktitle", "editor"} <= texts.keys() and not {
        "author",
        "title",
        "journal",
    } & texts.keys():
        texts["title"] = texts.pop("booktitle")  # the cited work is the edited book
    get = texts.get
    doi, url, arxiv, isbn, issn = _identifiers(texts, "; ".join(notes))
    # An address that is but a DOI has become one.
    known = {
        "doi": doi,
        "url": url or find_doi(get("url", "")),
        "arxiv": arxiv,
        "isbn": isbn or issn,
    }
    for label, value in known.items():
        if label in texts and not value:
            notes.append(texts.pop(label))
    year, month, day = parse_date(texts["date"]) if "date" in texts else Date()
    if not year and "date" in texts and _UNDATED.fullmatch(texts["date"]) is None:
        notes.append(texts["date"].strip("()[] .,"))
    pages, volume_text = get("pages", ""), get("volume", "")
    if volume_text and not pages:
        volume_text, pages = _split_pages(volume_text)
    elif pages:
        said, pages = pages, "" if is_page_count(pages) else parse_pages(pages)
        if not pages:
            notes.append(said)
    volume, issue = parse_volume(volume_text) if volume_text else ("", "")
    if "issue" in texts:
        issue = parse_issue(texts["issue"])
    genre, number = parse_report(texts["tech"]) if "tech" in texts else ("", "")
    if arxiv:
        texts["arxiv"] = arxiv
        number = "" if arxiv in number else number
    found = (doi, url, arxiv, isbn, issn)
    if any(found):
        notes = [rest for said in notes if (rest := _without(said, found))]
        # The rest of the field of an identifier is not lost: "10.1136/bmj.n71. PMID: 3".
        for label in ("url", "doi"):
            rest = _without(said, found) if (said := get(label, "")) else ""
            if rest and rest != said:
                notes.append(rest)

    container = ""
    if "journal" in texts:
        container = parse_container(texts["journal"], "journal")
        if _ARCHIVE.match(container) is not None and arxiv:
            # "arXiv preprint arXiv:1706.03762", "CoRR abs/1706.03762"
            container, volume = "", "" if arxiv in get("volume", "") else volume
            genre = genre or "arXiv preprint"
            texts["journal"] = genre
        if "booktitle" in texts:
            notes.append(texts["booktitle"])
    elif "booktitle" in texts:
        container = parse_container(texts["booktitle"], "booktitle")
    if url:
        texts["url"] = url
    publisher, place = _publisher(get("publisher", ""), get("location", ""))
    return Reference(
        text=text,
        start=start,
        end=start + len(text) if end is None else end,
        fields=tuple(fields),
        confidence=confidence,
        type=guess_type(texts),
        key=key or get("number", "").strip("[](). "),
        authors=people.get("author", ()),
        editors=people.get("editor", ()),
        translators=people.get("translator", ()),
        et_al=et_al,
        title=parse_title(get("title", "")),
        container=container,
        series=parse_container(get("series", ""), "series"),
        volume=volume,
        issue=issue,
        pages=pages,
        year=year,
        month=month,
        day=day,
        edition=parse_edition(get("edition", "")),
        publisher=publisher,
        place=place,
        institution=get("institution", "").strip(_EDGES),
        number=number,
        genre=genre,
        doi=doi,
        url=url,
        arxiv=arxiv,
        isbn=isbn,
        issn=issn,
        note="; ".join(notes),
        alternatives=tuple(alternatives),
        tokens=tuple(tokens),
        labels=tuple(labels),
        unruled=tuple(unruled),
        broken_rules=tuple(broken_rules),
    )


def _gather(
    fields: Sequence[Field],
) -> tuple[dict[str, str], list[str], dict[str, tuple[Name, ...]], bool]:
    """Return the text of each label, the notes, the names of each role, and "et al."."""
    texts: dict[str, str] = {}
    notes: list[str] = []
    people: dict[str, tuple[Name, ...]] = {}
    et_al = False
    for label, said in relabel_fields(fields):
        if label in PEOPLE:
            names, more = parse_people(said)
            people[label] = people.get(label, ()) + names
            et_al = et_al or (more and label == "author")
        elif label == "note":
            notes.append(said)
        elif label == "date" and label in texts:
            first, other = parse_date(texts[label]).year, parse_date(said).year
            if first and other and first != other:
                notes.append(said)  # a date of access, or of the first edition
            else:
                texts[label] += f" {said}"
            continue
        elif label in texts and label != "number":
            if said != texts[label]:
                notes.append(said)
            continue
        texts.setdefault(label, said)
    return texts, [said for said in notes if not _is_identifier(said, texts)], people, et_al


def _is_identifier(note: str, texts: dict[str, str]) -> bool:
    """Return whether a note is an identifier; it then gets its label unless a field has it."""
    introduced = _INTRODUCED.match(note)
    if introduced is None:
        return False
    label, reads = _READER_OF[introduced[1].lower()]
    if label in texts or not reads(note):
        return False
    texts[label] = note
    return True


def _split_pages(volume: str) -> tuple[str, str]:
    """Cut pages off a volume: "127(1): 79–183"."""
    found = _PAGES_BEHIND.search(volume)
    return (volume, "") if found is None else (volume[: found.start()], parse_pages(found[1]))


def _identifiers(texts: dict[str, str], note: str) -> tuple[str, str, str, str, str]:
    """Find DOI, address, arXiv number, ISBN and ISSN, first where they are labelled."""
    get = texts.get
    url_text, tech, labelled_doi = get("url", ""), get("tech", ""), get("doi", "")
    elsewhere = f"{url_text} {note} {tech}" if url_text or note or tech else ""
    doi = parse_doi(labelled_doi) if labelled_doi else ""
    url = parse_url(url_text) if url_text else ""
    arxiv = find_arxiv(get("arxiv", ""), labelled=True) if "arxiv" in texts else ""
    numbers = get("isbn", "")
    isbn = find_isbn(numbers) if numbers else ""
    issn = find_issn(numbers, labelled=not isbn) if numbers else ""
    if elsewhere:
        doi = doi or find_doi(url or url_text) or find_doi(elsewhere)
        url = url or find_url(elsewhere)
        arxiv = arxiv or find_arxiv(elsewhere)
        if not isbn and ("ISBN" in note or "isbn" in note):
            isbn = find_isbn(note)
        issn = issn or find_issn(note)
    if not arxiv:
        journal = get("journal", "")
        if journal and _ARCHIVE.match(journal) is not None:
            arxiv = find_arxiv(f"{journal} {get('volume', '')}")
        elif labelled_doi or doi:
            arxiv = find_arxiv(doi)
    # The address of a DOI adds nothing to the DOI.
    if doi and "doi.org/" in url:
        url = ""
    return doi, url, arxiv, isbn, issn


def _without(note: str, identifiers: Sequence[str]) -> str:
    """Take identifiers that have fields of their own out of a note."""
    bare = note
    for identifier in identifiers:
        if identifier:
            bare = bare.replace(identifier, " ")
    if bare == note:
        return note
    bare = " ".join(_INTRODUCES.sub(" ", bare).split()).strip(_EDGES + ".()[]")
    return bare if any(map(str.isalpha, bare)) else ""


def _publisher(publisher: str, place: str) -> tuple[str, str]:
    """Split publisher and place if one field has both: "Cambridge, MA: MIT Press"."""
    publisher, place = publisher.strip(_EDGES), place.strip(_EDGES)
    if not place and ": " in publisher:
        left, _, right = publisher.partition(": ")
        if _PUBLISHES.search(left) is not None and _PUBLISHES.search(right) is None:
            return left.strip(_EDGES), right.strip(_EDGES)
        return right.strip(_EDGES), left.strip(_EDGES)
    return publisher, place
