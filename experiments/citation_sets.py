"""The four sets of real references, and what their labels mean to the parser.

Every set draws the lines between fields elsewhere. So that one model can be scored on all of them,
its labels and theirs are mapped to labels in common, set by set: where a set does not tell two
fields apart (a volume and its issue in Cora), neither does the score. UMass and GROBID leave the
marks between fields and the words that introduce them ("pp.", "In") without a label, Cora and
AnyStyle give them to a field; what the parser says is written in the way of the set. UMass labels
each author alone; what stands between two of them counts as author.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import accumulate
from typing import TYPE_CHECKING

from trelliswork.citations import TOKENIZER
from trelliswork.citations.fields import to_cora

if TYPE_CHECKING:
    from collections.abc import Sequence

_LEAD_INS = frozenset(
    [
        "in",
        "pp",
        "p",
        "pages",
        "page",
        "vol",
        "volume",
        "no",
        "number",
        "nr",
        "issue",
        "eds",
        "ed",
        "editor",
        "editors",
        "edited",
        "by",
        "doi",
        "dept",
        "and",
    ]
)


@dataclass(frozen=True)
class CitationSet:
    """One set of references.

    Attributes
    ----------
    name : str
        The directory of its files.
    theirs, ours : dict
        From a label of the set, and from one of the parser, to the label in common; what is not
        named stays as it is.
    outside : bool
        Whether marks between fields, and words that introduce them, have no label.
    """

    name: str
    theirs: dict[str, str] = field(default_factory=dict)
    ours: dict[str, str] = field(default_factory=dict)
    outside: bool = False

    def gold(self, labels: Sequence[str]) -> list[str]:
        """Return what the set says of the tokens of one reference, in common labels."""
        bare = (label.removeprefix("B-").removeprefix("I-") for label in labels)
        found = [self.theirs.get(label, label) for label in bare]
        return _joined(found) if self.outside else found

    def predicted(self, tokens: Sequence[str], labels: Sequence[str]) -> list[str]:
        """Return what the parser says of them, in common labels."""
        if self.name == "cora":
            return to_cora(labels)
        found = [self.ours.get(label, label) for label in labels]
        return _without_edges(tokens, found) if self.outside else found

    def cut(self, tokens: Sequence[str]) -> tuple[list[str], list[int]]:
        """Return the tokens as the parser cuts them, and which of them begins each one given."""
        parts = [TOKENIZER.tokenize(token).tokens or (token,) for token in tokens]
        starts = list(accumulate((len(part) for part in parts), initial=0))[:-1]
        return [piece for part in parts for piece in part], starts


SETS = (
    CitationSet("cora"),
    CitationSet(
        "umass_citation",
        theirs={
            "year": "date",
            "month": "date",
            "address": "location",
            "number": "issue",
            "type": "tech",
            "school": "institution",
            "organization": "institution",
            "chapter": "note",
        },
        ours={
            "translator": "editor",
            "doi": "note",
            "url": "note",
            "arxiv": "note",
            "isbn": "note",
            "number": "O",
        },
        outside=True,
    ),
    CitationSet(
        "anystyle",
        theirs={
            "container-title": "booktitle",
            "collection-title": "series",
            "citation-number": "number",
            "genre": "tech",
            "source": "note",
            "medium": "note",
            "director": "author",
            "producer": "author",
        },
        ours={"issue": "volume", "institution": "publisher", "arxiv": "url"},
    ),
    CitationSet(
        "grobid_citation",
        theirs={"web": "url", "collaboration": "author", "chapter": "note"},
        ours={
            "translator": "editor",
            "edition": "note",
            "doi": "idno",
            "arxiv": "idno",
            "isbn": "idno",
            "number": "O",
        },
        outside=True,
    ),
)


def _joined(labels: list[str]) -> list[str]:
    """Give what stands between two people to the list of people: UMass labels each one alone."""
    found = list(labels)
    last = -1
    for i, label in enumerate(labels):
        if label == "O":
            continue
        if label in ("author", "editor") and last >= 0 and labels[last] == label:
            found[last:i] = [label] * (i - last)
        last = i
    return found


def _without_edges(tokens: Sequence[str], labels: Sequence[str]) -> list[str]:
    """Take the label from the marks around each field and from the words that introduce it."""
    found = list(labels)
    start = 0
    while start < len(found):
        end = start
        while end < len(found) and found[end] == found[start]:
            end += 1
        first, last = start, end
        while first < last and _is_edge(tokens[first], words=True):
            first += 1
        while last > first and _is_edge(tokens[last - 1], words=False):
            last -= 1
        found[start:first] = ["O"] * (first - start)
        found[last:end] = ["O"] * (end - last)
        start = end
    return found


def _is_edge(token: str, *, words: bool) -> bool:
    if words and token.lower().rstrip(".") in _LEAD_INS:
        return True
    return not any(character.isalnum() for character in token)
