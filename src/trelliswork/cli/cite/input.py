"""Documents and models that the commands of ``trelliswork cite`` read."""

from __future__ import annotations

import codecs
import gzip
import io
import sys
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from trelliswork.data.files import standard_input
from trelliswork.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trelliswork.citations.parser import Parser
    from trelliswork.taggers.crf import CRFTagger

__all__ = [
    "Document",
    "Model",
    "Source",
    "counted",
    "load_trainable",
    "open_parser",
    "read_document",
]

T = TypeVar("T")
LARGEST = 64 * 2**20
"""Bytes of the largest document."""

Source = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="References of a paper: a text file (such as the output of pdftotext) or a .bbl file; "
        "- is standard input.",
        show_default=True,
    ),
]
Model = Annotated[
    Path | None,
    typer.Option(
        "--model",
        "-m",
        metavar="FILE",
        help="Model file written by `cite adapt` or `cite train`. Default: the one in the package.",
    ),
]


@dataclass(frozen=True)
class Document:
    """The text of a file, with its name."""

    text: str
    name: str


def open_parser(model: Path | None) -> Parser:
    """Return the parser of a model file, or the one in the package."""
    from trelliswork.citations.parser import Parser

    return Parser.load(model)


def load_trainable(model: Path | None) -> CRFTagger:
    """Return the tagger of a model file, or the one in the package, to train further.

    Raises
    ------
    DataError
        If it is not a conditional random field.
    """
    from trelliswork.citations.parser import Parser, model_path
    from trelliswork.taggers.crf import CRFTagger
    from trelliswork.taggers.load import load

    with model_path(model) as path:
        tagger = load(path)
    if not isinstance(tagger, CRFTagger):
        raise DataError(f"{model}: expected a model of `cite`, got a {type(tagger).__name__}.")
    Parser(tagger)  # checks the labels
    return tagger


def read_document(source: str) -> Document:
    """Read a file, possibly compressed (``.gz``), or standard input as text.

    Raises
    ------
    DataError
        If the file is too large, damaged, or not text.
    """
    name = "<stdin>" if source == "-" else source
    content = _read(source, name)
    if len(content) > LARGEST:
        raise DataError(
            f"{name}: expected {LARGEST // 2**20} MiB of references at most, got more. Cut it into "
            "several files."
        )
    return Document(_decode(content, name), name)


def counted(references: Iterable[T]) -> Iterator[T]:
    """Show the number of references read so far, if standard error is a terminal."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield from references
        return
    from rich.console import Console
    from rich.progress import MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("reading"), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        yield from progress.track(references, total=None)


def _read(source: str, name: str) -> bytes:
    """Return the bytes of a source, at most one more than `LARGEST`."""
    if source == "-":
        return standard_input().read(LARGEST + 1)
    with Path(source).open("rb") as file:
        content = file.read(LARGEST + 1)
    if Path(source).suffix != ".gz":
        return content
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as unpacked:
            return unpacked.read(LARGEST + 1)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DataError(
            f"{name}: damaged gzip data ({error}). Fetch the file again, or rename it if it is not "
            "compressed."
        ) from error


def _decode(content: bytes, name: str) -> str:
    if content.startswith(b"%PDF-"):
        raise DataError(
            f"{name}: expected text, got a PDF. Take its text out first: "
            "pdftotext -f 11 -l 12 FILE.pdf - | trelliswork cite (the pages of its list)"
        )
    wide = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    encoding = "utf-16" if wide else "utf-8-sig"
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise DataError(
            f"{name}:{line}: expected UTF-8, got byte 0x{content[error.start]:02x} at offset "
            f"{error.start}. If it is text in another encoding, pipe it through iconv."
        ) from error
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise DataError(f"{name}:{line}: expected text, got a NUL character: binary data?")
    return text
