"""Identifiers in references: DOI, web address, arXiv, ISBN, ISSN.

They are found by their form, in text of any label. Line breaks and tokenizers leave blanks inside
them; in a field that is an identifier, these are removed.
"""

from __future__ import annotations

import re
from urllib.parse import unquote

_DOI = re.compile(r"10\s?\.\s?\d{4,9}\s?(?:/|%2[fF])\s?\S+")
# After a period, a capital is the next sentence.
_DOI_GAP = re.compile(
    r"(?<=[/_\-(:;<])\s+|\s+(?=[./_\-():;>])|(?<=\.)\s+(?=[a-z0-9])|(?<=\))\s+(?=\d)"
)
_ADDRESS = re.compile(r"(?:https?|ftp)\s?:\s?/\s?/\s?\S+|\bwww\s?\.\s?\S+", re.IGNORECASE)
# Only where a word begins, so that a long run of letters is read once.
_BARE_ADDRESS = re.compile(
    r"(?<![\w-])(?<![\w-]\.)(?:[\w-]++\.)+[a-z]{2,6}(?:/\S*)?(?!\w)", re.IGNORECASE
)
_AFTERWARDS = re.compile(
    r"[\s(\[](?:accessed|retrieved|last\s+(?:accessed|visited|checked|modified)|visited"
    r"|viewed|downloaded|checked|abgerufen|zugriff|letzter|consult|accès|accesso|acesso|date|doi\b"
    r"|pmid|isbn|arxiv:)",
    re.IGNORECASE,
)
_OPEN_END, _OPEN_START = tuple("/-_=&?:~%#+@"), tuple("/.-_=&?:~%#+@")

_ARCHIVES = (
    r"(?:acc-phys|adap-org|alg-geom|ao-sci|astro-ph|atom-ph|bayes-an|chao-dyn|chem-ph|cmp-lg"
    r"|comp-gas|cond-mat|cs|dg-ga|funct-an|gr-qc|hep-ex|hep-lat|hep-ph|hep-th|math|math-ph|mtrl-th"
    r"|nlin|nucl-ex|nucl-th|patt-sol|physics|plasm-ph|q-alg|q-bio|quant-ph|solv-int|stat|supr-con)"
)
_OLD_ARXIV = re.compile(rf"(?<![\w/.-])({_ARCHIVES}(?:\.[A-Z]{{2}})?\s?/\s?\d{{7}})(?:v\d+)?(?!\d)")
_NEW_ARXIV = re.compile(r"(?<!\d)(?<!\d\.)(\d{4}\s?\.\s?\d{4,5})(?:v\d+)?(?!\d)")
_SAYS_ARXIV = re.compile(r"arxiv|\bcorr\b|\babs/", re.IGNORECASE)

_ISBN = re.compile(r"(?<![\d-])(?:97[89][- –]?)?\d(?:[- –]?\d){8}[- –]?[\dXx](?![\d-]*\d)")
_ISSN = re.compile(r"(?<![\d-])\d{4}[-–]\d{3}[\dXx](?![\w-])")
_SAYS_ISSN = re.compile(r"issn", re.IGNORECASE)

_TRAILING = ".,;:'\"”’»>*"
_BRACKETS = {")": "(", "]": "[", "}": "{", ">": "<"}


def find_doi(text: str) -> str:
    """Return the first DOI of a text, without its prefix and the text after it.

    Examples
    --------
    >>> find_doi("See https://doi.org/10.1002/j.1538-7305.1948.tb01338.x.")
    '10.1002/j.1538-7305.1948.tb01338.x'
    """
    if "10" not in text:
        return ""
    found = _DOI.search(text)
    return "" if found is None else _tidy_doi(found[0])


def parse_doi(text: str) -> str:
    """Return the DOI of a field that is one, with inner blanks removed."""
    text = _cut(text)
    found = _DOI.search(text)
    if found is None:
        return ""
    return _tidy_doi(_DOI_GAP.sub("", text[found.start() :]).split()[0])


def _tidy_doi(doi: str) -> str:
    doi = "".join(doi.split())
    return _balanced(unquote(doi) if "%" in doi else doi)


def find_url(text: str) -> str:
    """Return the first address of a text that starts with "https://", "www." or the like."""
    found = _ADDRESS.search(text)
    return "" if found is None else _balanced("".join(found[0].split()))


def parse_url(text: str) -> str:
    """Return the address of a field that is one, with inner blanks removed.

    Examples
    --------
    >>> parse_url("Available at: http://www. w3.org/Provider/ Style/URI (accessed May 2010)")
    'http://www.w3.org/Provider/Style/URI'
    """
    text = _cut(text)
    found = _ADDRESS.search(text) or _BARE_ADDRESS.search(text)
    if found is None:
        return ""
    first, *others = text[found.start() :].split()
    address = first
    for other in others:
        # After a period, a capital is the next sentence.
        joined = (
            address.endswith(_OPEN_END)
            or other.startswith(_OPEN_START)
            or (address.endswith(".") and not other[0].isupper())
        )
        if not joined:
            break
        address += other
    return _balanced(address)


def find_arxiv(text: str, *, labelled: bool = False) -> str:
    """Return the arXiv number of a text, without version and subject class.

    Parameters
    ----------
    text : str
        The text to search.
    labelled : bool
        Whether the text is known to be an arXiv number; otherwise it must name arXiv.

    Examples
    --------
    >>> find_arxiv("arXiv:1706.03762v5 [cs.CL]"), find_arxiv("hep-ph/9209268")
    ('1706.03762', 'hep-ph/9209268')
    """
    if "/" in text:
        old = _OLD_ARXIV.search(text)
        if old is not None:
            return "".join(old[1].split())
    if not labelled and _SAYS_ARXIV.search(text) is None:
        return ""
    new = _NEW_ARXIV.search(text)
    return "" if new is None else "".join(new[1].split())


def find_isbn(text: str) -> str:
    """Return the ISBN of a text: ten or thirteen digits, hyphens as they are."""
    for found in _ISBN.finditer(text):
        digits = sum(character.isalnum() for character in found[0])
        if digits in (10, 13):
            return found[0].replace("–", "-").upper()
    return ""


def find_issn(text: str, *, labelled: bool = False) -> str:
    """Return the ISSN of a text, which must name it unless it is `labelled` as one."""
    if not labelled and _SAYS_ISSN.search(text) is None:
        return ""
    found = _ISSN.search(text)
    return "" if found is None else found[0].replace("–", "-").upper()


def _cut(text: str) -> str:
    """Cut off remarks after an identifier, such as the date of access."""
    for found in _AFTERWARDS.finditer(text):
        # In "Retrieved from http://..." the remark precedes the address.
        if "/" in text[: found.start()]:
            return text[: found.start()]
    return text


def _balanced(identifier: str) -> str:
    """Strip punctuation from the end, and brackets that the identifier does not open."""
    while identifier:
        last = identifier[-1]
        opening = _BRACKETS.get(last)
        unbalanced = opening is not None and identifier.count(last) > identifier.count(opening)
        if not unbalanced and (opening is not None or last not in _TRAILING):
            break
        identifier = identifier[:-1]
    return identifier
