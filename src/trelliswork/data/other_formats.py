"""Files of other formats, which would be read as columns: told by their beginnings."""

from __future__ import annotations

import json
import re

__all__ = ["binary_format", "text_format"]

# The first bytes of files that are no text. A zlib stream is what spaCy writes.
BINARY = (
    (b"PK\x03\x04", "a zip archive, such as a spreadsheet (.xlsx, .ods) or a .docx"),
    (b"\xd0\xcf\x11\xe0", "an old spreadsheet or document (.xls, .doc)"),
    (b"%PDF-", "a PDF"),
    (b"\x1f\x8b", "gzip data without .gz in its name"),
    (b"\x78\x01", "zlib data, such as spaCy's binary format (.spacy)"),
    (b"\x78\x9c", "zlib data, such as spaCy's binary format (.spacy)"),
    (b"\x78\xda", "zlib data, such as spaCy's binary format (.spacy)"),
    (b"\x80\x04", "a Python pickle"),
    (b"\x80\x05", "a Python pickle"),
    (b"SQLite format 3", "a database"),
    (b"PAR1", "a Parquet file"),
    (b"ARROW1", "an Arrow file"),
    (b"\xff\xfe", "UTF-16 text"),
    (b"\xfe\xff", "UTF-16 text"),
)
BRAT = re.compile(
    r"T\d+\t\S+ \d+ \d+(;\d+ \d+)*\t|R\d+\t\S+ Arg1:\w+ Arg2:|E\d+\t\S+:T\d+|[AMN]\d+\t\S+ \w+\d+"
    r"|\*\t\S+ T\d+|#\d+\t\S+ [TRE]\d+\t"
)
ATTRIBUTE = r"""\s+[\w.:-]+\s*=\s*("[^"]*"|'[^']*')"""
XML = re.compile(rf"\s*<(\?xml\b|!DOCTYPE\b|[A-Za-z][\w.:-]*({ATTRIBUTE})+\s*/?>)")
ADVICE = {
    "brat standoff annotations": "Convert them to columns or JSON lines first.",
    "JSON": "Name the file .jsonl, with one sentence per line, or set the format.",
    "XML": "Convert it to columns or JSON lines first.",
}


def text_format(line: str) -> str | None:
    r"""Return the other format that a first line is of, and what to do; None: it may be columns.

    Examples
    --------
    >>> text_format("T1\tPerson 0 5\tSteve")
    'brat standoff annotations. Convert them to columns or JSON lines first.'
    >>> text_format("Steve\tB-PER")
    """
    kind = None
    if BRAT.match(line):
        kind = "brat standoff annotations"
    elif XML.match(line):
        kind = "XML"
    elif _is_json(line):
        kind = "JSON"
    return None if kind is None else f"{kind}. {ADVICE[kind]}"


def binary_format(beginning: bytes) -> str | None:
    """Return the binary format that a file is of, by its first bytes; None: an unknown one."""
    if beginning[8:9] == b"{" and b"trelliswork-model" in beginning[:1000]:
        return "a trelliswork model"
    return next((kind for magic, kind in BINARY if beginning.startswith(magic)), None)


def _is_json(line: str) -> bool:
    text = line.strip()
    if text in ("{", "[{"):
        return True
    try:
        return isinstance(json.loads(text), list | dict)
    except ValueError:
        return text.startswith('{"') and ":" in text  # the first of several lines
