r"""References from a ``.bbl``, the list that BibTeX writes for LaTeX.

A reference goes from one ``\bibitem`` to the next, or to the end of the ``thebibliography`` around
it. The ``.bbl`` of biblatex is different: it has the fields of the records as TeX commands, and no
printed references.
"""

from __future__ import annotations

import re

from trelliswork.citations.documents.entry import Entry, even_out
from trelliswork.citations.documents.latex import decode_latex_spans
from trelliswork.errors import DataError

_ITEM = re.compile(r"\\bibitem\b\s*(?=[\[{])")
# A \bibitem in a comment does not count.
_COMMENT_OR_ITEM = re.compile(rf"(?:\\%|%[^\n\r]*)|(?P<item>{_ITEM.pattern})")
_END = re.compile(r"\\end\s*\{thebibliography\}")
_BIBLATEX = re.compile(r"\\(?:datalist|sortlist|refsection)\b|biblatex auxiliary file|biblatex bbl")


def is_bbl(text: str) -> bool:
    r"""Return whether a text is a ``.bbl``, of BibTeX or of biblatex."""
    # Two searches for plain words spare other documents the patterns.
    if "\\bibitem" in text and _ITEM.search(text):
        return True
    return _is_biblatex(text)


def _is_biblatex(text: str) -> bool:
    return "\\entry{" in text and _BIBLATEX.search(text) is not None


def split_bbl(text: str, *, name: str = "") -> list[Entry]:
    r"""Return the references of a ``.bbl``, each with its citation key.

    Raises
    ------
    DataError
        It is a ``.bbl`` of biblatex.
    """
    if _is_biblatex(text):
        raise DataError(
            f"{name or 'the .bbl'}: expected the list of references that BibTeX writes, with "
            "\\bibitem, got a file of biblatex, which holds records and no printed references. "
            "Parse the printed list of the document instead, or give the .bib to `--from`."
        )
    starts = [match.start() for match in _COMMENT_OR_ITEM.finditer(text) if match["item"]]
    entries = []
    for begin, end in zip(starts, [*starts[1:], len(text)], strict=True):
        if closing := _END.search(text, begin, end):
            end = closing.start()
        if entry := _read_item(text, begin, end):
            entries.append(entry)
    return entries


def _read_item(text: str, begin: int, end: int) -> Entry | None:
    match = _ITEM.match(text, begin)
    assert match is not None
    body = _skip_label(text, match.end(), end)
    key = ""
    if text[body : body + 1] == "{":
        close = text.find("}", body, end)
        if close >= 0:
            key, body = text[body + 1 : close].strip(), close + 1
    plain, starts, ends = decode_latex_spans(text[body:end])
    plain, kept = even_out(plain)
    if not plain:
        return None
    origins = [body + starts[place] for place in kept]
    until = [body + ends[place] for place in kept]
    return Entry(plain, origins[0], until[-1], key, origins, until)


def _skip_label(text: str, place: int, end: int) -> int:
    r"""Return the end of the optional argument of a ``\bibitem``, which may hold brackets."""
    if text[place : place + 1] != "[":
        return place
    depth = 0
    for match in re.compile(r"\\.|[{}\]]", re.DOTALL).finditer(text, place, end):
        if match[0] == "]" and depth == 0:
            place = match.end()
            while text[place : place + 1].isspace() or text[place : place + 1] == "%":
                place += 1
            return place
        depth += (match[0] == "{") - (match[0] == "}")
    return place
