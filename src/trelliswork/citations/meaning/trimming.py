"""Trimming of fields: the marks that separate a field from its neighbours are not part of it.

A label covers the punctuation after a field, and brackets and quotation marks around it. The
trimmed text keeps its words ("pp. 379–423"), the period of an abbreviation or an initial, and
brackets and quotation marks that open and close inside it.
"""

from __future__ import annotations

import re

PEOPLE = frozenset(("author", "editor", "translator"))
_ADDRESSES = frozenset(("url", "doi"))
_VENUES = frozenset(("journal", "booktitle", "series"))

_CLOSING_OF = {
    "(": ")",
    "[": "]",
    "{": "}",
    "<": ">",
    "“": "”",
    "‘": "’",
    "«": "»",
    "„": "“",
    "‚": "‘",
    '"': '"',
    "'": "'",
    "`": "'",
}
_OPENING_OF = {")": "(", "]": "[", "}": "{", ">": "<", "”": "“", "’": "‘", "»": "«"}
_EITHER = frozenset("\"'")
_SEPARATORS = frozenset(",;:|·•*")
_DASHES = frozenset("-–—/&+")
_BRACKETS = frozenset("([{<")
# Bounds the work on noise; no field has more pairs around it, or longer brackets at its start.
_MOST_PAIRS = 30
_FARTHEST = 300

_ABBREVIATIONS = frozenset(
    (
        *("al", "apr", "aufl", "aug", "bd", "calif", "co", "coll", "comp", "conf", "conn", "corp"),
        *("dec", "dept", "diss", "ed", "edn", "eds", "etc", "feb", "ff", "fl", "hg", "hrsg", "inc"),
        *("inst", "jan", "jg", "jr", "jul", "jun", "llc", "ltd", "mar", "mass", "mich", "nos"),
        *("nov", "nr", "oct", "okt", "penn", "pp", "proc", "rep", "rev", "sep", "sept", "ser"),
        *("sr", "st", "suppl", "symp", "tech", "trans", "transl", "trad", "univ", "verl", "vol"),
    )
)
_STATES = frozenset(
    (
        *("ariz", "colo", "fla", "ill", "ind", "kan", "md", "minn", "miss", "nev", "okla", "ont"),
        *("ore", "pa", "que", "tenn", "tex", "va", "vt", "wash", "wis", "wyo"),
    )
)
_ENDS_TITLE = frozenset(("al", "co", "etc", "inc", "jr", "ltd"))
_APOSTROPHE = re.compile(r"’(?=\w)")
_LAST_WORD = re.compile(r"[^\W\d_]*$")


def trim(text: str, first: int, last: int, label: str) -> tuple[int, int]:
    """Return the span of a field in a text without the separators around it.

    Parameters
    ----------
    text : str
        A reference.
    first, last : int
        The characters that have the label, end exclusive.
    label : str
        One of `trelliswork.citations.fields.LABELS`.

    Returns
    -------
    first, last : int
        Equal if there are only separators.

    Examples
    --------
    >>> text = "Smith, J. (1990). “A title,” Mach. Learn., vol. 3."
    >>> [text[slice(*trim(text, *span))] for span in [(0, 9, "author"), (9, 17, "date"),
    ...     (17, 29, "title"), (29, 43, "journal"), (43, 50, "volume")]]
    ['Smith, J.', '1990', 'A title', 'Mach. Learn.', 'vol. 3']
    """
    pairs = 0
    while True:
        before = first, last
        while first < last and _separates_in_front(text, first, last, label):
            first += 1
        while first < last and _separates_behind(text, first, last, label):
            last -= 1
        if last - first > 1 and pairs < _MOST_PAIRS and _wraps(text, first, last, label):
            first, last, pairs = first + 1, last - 1, pairs + 1
        if (first, last) == before:
            return first, last


def trim_text(text: str, label: str) -> str:
    """Return the text of one field without the separators around it."""
    first, last = trim(text, 0, len(text), label)
    return text[first:last]


def _separates_in_front(text: str, first: int, last: int, label: str) -> bool:
    mark = text[first]
    if mark.isalnum():
        return False
    if mark.isspace() or mark in _SEPARATORS or mark == ".":
        return True
    if mark in _DASHES:
        return label not in _ADDRESSES
    if mark in _EITHER:
        # "'t Hooft" keeps its apostrophe.
        return text.count(mark, first, last) == 1 and not (mark == "'" and label in PEOPLE)
    if mark in _CLOSING_OF:
        closing = _CLOSING_OF[mark]
        if text.find(closing, first + 1, last) < 0:
            return True
        return mark in _BRACKETS and not _closes(text, first, min(last, first + _FARTHEST))
    return mark in _OPENING_OF and not (mark == "’" and label in PEOPLE)


def _separates_behind(text: str, first: int, last: int, label: str) -> bool:
    mark = text[last - 1]
    if mark.isalnum():
        return False
    if mark.isspace() or mark in _SEPARATORS:
        return True
    if mark == ".":
        return not _abbreviates(text, first, last - 1, label)
    if mark in _DASHES:
        return label not in _ADDRESSES
    if mark in _EITHER:
        return text.count(mark, first, last) == 1
    if mark in _OPENING_OF:
        closed = text.count(mark, first, last)
        if mark == "’":
            closed -= len(_APOSTROPHE.findall(text, first, last))
        return closed > text.count(_OPENING_OF[mark], first, last)
    if mark == "“":
        return text.find("„", first, last) < 0
    return mark in _CLOSING_OF


def _wraps(text: str, first: int, last: int, label: str) -> bool:
    """Return whether the mark in front is closed by the one behind, and not before."""
    opening = text[first]
    closing = _CLOSING_OF.get(opening)
    if closing is None or text[last - 1] != closing:
        return False
    if opening == closing:
        return text.count(opening, first, last) == 2
    if label == "doi":
        return opening == "<"
    depth = 0
    for i in range(first, last - 1):
        if text[i] == opening:
            depth += 1
        elif text[i] == closing:
            depth -= 1
            # An apostrophe closes nothing: ‘Newton’s laws’.
            if depth == 0 and not (closing == "’" and text[i + 1].isalpha()):
                return False
            depth = max(depth, 1)
    return depth == 1


def _closes(text: str, first: int, last: int) -> bool:
    """Return whether the bracket in front is closed in the stretch: not in "(Mohr (Siebeck)"."""
    opening = text[first]
    closing = _CLOSING_OF[opening]
    depth = 0
    for i in range(first, last):
        if text[i] == opening:
            depth += 1
        elif text[i] == closing:
            depth -= 1
            if depth == 0:
                return True
    return False


def _abbreviates(text: str, first: int, period: int, label: str) -> bool:
    """Return whether a period belongs to the word before it."""
    # Longer words are no abbreviations, and a long text need not be read.
    found = _LAST_WORD.search(text, max(first, period - 12), period)
    word = "" if found is None else found[0].lower()
    if not word or label in _ADDRESSES:
        return False
    if label == "title":
        inside = period > first + 2 and text[period - 2] == "."
        return word in _ENDS_TITLE or (len(word) == 1 and inside)
    # "Yu." abbreviates a name; "Smith JA." only ends a list.
    two = label in PEOPLE and len(word) == 2 and not text[period - 1].isupper()
    if len(word) == 1 or two or word in _ABBREVIATIONS:
        return True
    if label == "location":
        return word in _STATES and text[period - 1].islower()
    if label not in _VENUES or word[-1] in "aeouy" or text[period - 1].isupper():
        return False
    # "Mach. Learn." abbreviates its last word as it does the first.
    return len(word) < 10 and text.find(".", first, period) > first + 1
