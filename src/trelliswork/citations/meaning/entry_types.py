"""The type of a cited work, guessed from its fields and a few words in them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_MASTERS = re.compile(
    r"\bmaster|\bm\.?\s?(?:s|sc|a|eng|phil)\.?\b[^,;]{0,12}\bthes|diplom|magister|mémoire|laurea"
    r"|dissertação|bachelor|\bb\.?\s?sc\b|honou?rs thesis",
    re.IGNORECASE,
)
_DOCTORAL = re.compile(
    r"ph\.?\s?d|d\.?\s?phil|doctor|dissertation|\bdiss\b|thes[ei]s|thèse|tesis?\b|tese\b|habilitation"
    r"|диссертац|proefschrift|avhandling|väitöskirja",
    re.IGNORECASE,
)
_THESIS = re.compile(r"\b(?:dissertation|thesis|thèse|tesis|tese|diplomarbeit)\b", re.IGNORECASE)
_STANDARD = re.compile(
    r"\bRFC\b|\bISO\b|\bIEC\b|\bDIN\b|\bANSI\b|\bFIPS\b|\bECMA\b|\bITU-T\b|\bNIST (?:SP|FIPS)\b"
    r"|\bIEEE\s+(?:Std|Standard)\b|\b(?:[Ss]tandard|[Nn]orm)\b|W3C Recommendation|\bBS EN\b"
)
_PREPRINT = re.compile(r"arxiv|preprint|biorxiv|medrxiv|\bssrn\b|eprint", re.IGNORECASE)
_SOFTWARE = re.compile(
    r"\bsoftware\b|\bcomputer program\b|\bsource code\b|\b(?:R|python) package\b|github\.com"
    r"|gitlab\.|\[computer",
    re.IGNORECASE,
)
_CONFERENCE = re.compile(
    r"\bproc\b|proceedings?|conf\b|confer[eê]n[cz]|conférence|symp\b|symposi|simposi|workshop|w'shop"
    r"|\bmeeting|congre[sg]|kongress|konferenz|tagung|\bactes\b|\batti\b|\bactas\b|\banais\b"
    r"|colloqu|coloquio|kolloquium|convention|seminar|\bint(?:ernational|\.|l)?\.? joint\b"
    r"|\bneural inf(?:ormation|\b)|труды|конференц|会议|論文集"
    r"|(?-i:\b[A-Z][A-Za-z]{2,15}(?<=[A-Z]{2})[ -]?(?:[’']?\d\d|(?:19|20)\d\d)\b)",
    re.IGNORECASE,
)


def guess_type(texts: Mapping[str, str]) -> str:
    """Guess the type of a work.

    Parameters
    ----------
    texts : mapping of str to str
        The text of each field that the reference has, by label.

    Returns
    -------
    str
        One of `trelliswork.citations.records.works.WORK_TYPES`, or "misc".

    Examples
    --------
    >>> guess_type({"author": "J. Smith", "title": "Nets", "tech": "Master's thesis"})
    'mastersthesis'
    >>> guess_type({"author": "J. Smith", "booktitle": "Handbook of Nets", "pages": "1-9"})
    'incollection'
    """
    get = texts.get
    tech = get("tech", "")
    if tech:
        kind = _kind_of_report(tech, texts)
        if kind:
            return kind
    journal = get("journal", "")
    if journal:
        return "preprint" if _PREPRINT.search(journal) is not None else "article"
    if "booktitle" in texts:
        return _kind_of_chapter(texts["booktitle"], texts)
    if tech:
        return "techreport"
    return _kind_of_whole(texts)


def _kind_of_report(tech: str, texts: Mapping[str, str]) -> str:
    """Return the type for a text such as "PhD thesis", or nothing if it is uncertain."""
    if _MASTERS.search(tech) is not None:
        return "mastersthesis"
    if _DOCTORAL.search(tech) is not None:
        return "phdthesis"
    if "journal" in texts or "booktitle" in texts:
        return ""
    if _STANDARD.search(tech) is not None:
        return "standard"
    if _SOFTWARE.search(tech) is not None:
        return "software"
    if _PREPRINT.search(tech) is not None:
        return "preprint"
    return "techreport"


def _kind_of_chapter(booktitle: str, texts: Mapping[str, str]) -> str:
    if _CONFERENCE.search(booktitle) is not None:
        return "inproceedings"
    # A series is a booktitle to some: a book in it has neither pages nor editors.
    whole = "publisher" in texts and "pages" not in texts and "editor" not in texts
    return "book" if whole else "incollection"


def _kind_of_whole(texts: Mapping[str, str]) -> str:
    """Return the type of a work that is not part of another one."""
    has = texts.__contains__
    if has("arxiv") and not has("publisher"):
        return "preprint"
    note, url, title = (texts.get(label, "") for label in ("note", "url", "title"))
    # A published title may be about software.
    said = f"{note} {url}" if has("publisher") else f"{title} {note} {url}"
    if _SOFTWARE.search(said) is not None and not has("pages"):
        return "software"
    if note and _THESIS.search(note) is not None:
        return "phdthesis" if _MASTERS.search(note) is None else "mastersthesis"
    if has("institution") and not has("publisher"):
        return "standard" if _STANDARD.search(f"{note} {title}") is not None else "techreport"
    if has("editor") and not has("author"):
        return "collection"
    if url and not (has("publisher") or has("edition") or has("isbn") or has("doi")):
        return "webpage"
    if has("publisher") or has("edition") or has("isbn") or has("location"):
        return "book"
    return "misc"
