"""CoNLL files: one token a line, tab- or space-separated columns, blank lines between sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trelliswork.data.files import open_for_writing, read_lines, source_name
from trelliswork.data.other_formats import text_format
from trelliswork.data.sentence import LABEL_COLUMN, TOKEN_COLUMN, Label, Sentence
from trelliswork.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from trelliswork.data.files import Source, Target

BLANK = " \t\r\n"


def iter_conll(
    source: Source,
    columns: Sequence[str] | None = ("word", "label"),
    separator: str | None = None,
    *,
    labelled: bool | None = True,
    comment: str | None = None,
    unknown: str | None = None,
    alternatives: str | None = None,
) -> Iterator[Sentence]:
    """Yield the sentences of a CoNLL file one by one, in constant memory.

    Lines of nothing but spaces and tabs separate sentences; ``-DOCSTART-`` lines are data.

    Parameters
    ----------
    source
        A path (``.gz`` is decompressed), ``"-"`` for standard input, or an open stream.
    columns
        The names of the columns in order. ``"label"`` holds the labels; the first other column
        holds the tokens. ``None`` infers them from the first line: the first is ``"word"``, the
        last is ``"label"``, those between are ``"col1"``, ``"col2"``, …
    separator
        Separator of cells; ``None``: a tab if the line has one, else a run of spaces.
    labelled
        ``True``: the label column is there. ``False``: it is not, even where `columns` names it.
        ``None``: the first line decides: one cell less than `columns` means no label.
    comment
        Lines that begin with this are skipped. ``None``: there are no comments.
    unknown
        The cell that means "unlabelled": it is read as ``None``.
    alternatives
        Separator of alternatives in a label cell: with ``"|"``, ``A|B`` means A or B.
        ``None``: label cells are names as they stand.

    Raises
    ------
    DataError
        If a line has the wrong number of cells, or the first is of another format, such as brat
        or JSON, naming file and line.
    """
    name = source_name(source)
    split = _splitter(separator)
    layout = None if columns is None else _check_columns(columns)
    decode = _label_decoder(unknown, alternatives)
    rows: list[list[str]] = []
    names: tuple[str, ...] | None = None
    numbers: list[int] = []

    def finish() -> Sentence:
        assert names is not None
        if any(len(row) != len(names) for row in rows):
            raise _wrong_width(name, numbers, rows, names)
        cells = dict(zip(names, zip(*rows, strict=True), strict=True))
        labels = cells.pop(LABEL_COLUMN, None)
        tokens = next(iter(cells.values()))
        if labels is None:
            return Sentence(tokens, cells)
        decoded = decode(labels)
        if "" in decoded:
            raise DataError(
                f"{name}:{numbers[decoded.index('')]}: expected a label, got an empty cell. "
                'Fill it in, or pass unknown="" if it means unlabelled.'
            )
        return Sentence(tokens, cells, decoded)

    for number, line in enumerate(read_lines(source), start=1):
        if not line.strip(BLANK):
            if rows:
                yield finish()
                rows, numbers = [], []
        elif comment is None or not line.startswith(comment):
            rows.append(split(line))
            numbers.append(number)
            if names is None:
                where = f"{name}:{number}"
                if (other := text_format(line)) is not None and separator is None:
                    raise DataError(f"{where}: expected columns, got {other}")
                names = _resolve_columns(layout, len(rows[0]), labelled, where)
    if rows:
        yield finish()


def write_conll(
    sentences: Iterable[Sentence],
    target: Target,
    columns: Sequence[str] | None = None,
    separator: str = "\t",
    *,
    unknown: str = "?",
    alternatives: str = "|",
) -> None:
    """Write sentences as a CoNLL file; a path is written atomically, compressed for ``.gz``.

    Parameters
    ----------
    sentences
        The sentences; an iterator is written in constant memory.
    target
        A path, ``"-"`` for standard output, or a text stream.
    columns
        The columns to write, in order. ``None``: all columns of the first sentence, then
        ``"label"`` if it has labels.
    separator
        Separator of cells.
    unknown, alternatives
        How an unlabelled token and a set of alternatives are written; see `iter_conll`.

    Raises
    ------
    DataError
        If a sentence lacks a column, or a cell would not be read back as it was.
    """
    names = None if columns is None else _check_columns(columns)
    with open_for_writing(target) as stream:
        for index, sentence in enumerate(sentences):
            if names is None:
                names = (*sentence.columns, *([] if sentence.labels is None else [LABEL_COLUMN]))
            cells = [
                _column(sentence, name, index, unknown=unknown, alternatives=alternatives)
                for name in names
            ]
            block = "\n".join(map(separator.join, zip(*cells, strict=True)))
            _check_block(block, index, len(sentence), len(names), separator)
            stream.write(block + "\n\n")


def _check_columns(columns: Sequence[str]) -> tuple[str, ...]:
    names = (columns,) if isinstance(columns, str) else tuple(columns)
    if len(set(names)) != len(names):
        raise ValueError(f"columns: expected different names, got {names}.")
    if not set(names) - {LABEL_COLUMN}:
        raise ValueError(f"columns: expected one that is not {LABEL_COLUMN!r}, got {names}.")
    return names


def _resolve_columns(
    columns: tuple[str, ...] | None, width: int, labelled: bool | None, where: str
) -> tuple[str, ...]:
    """Name the columns of a file whose first line has `width` cells."""
    if columns is None:
        if width == 1 and labelled:
            raise DataError(
                f"{where}: expected at least 2 columns (token and label), got 1. Set the "
                "separator, or pass labelled=False for a file without labels."
            )
        with_label = width > 1 and labelled is not False
        between = [f"col{i}" for i in range(1, width - with_label)]
        return (TOKEN_COLUMN, *between, *([LABEL_COLUMN] if with_label else []))
    without = tuple(name for name in columns if name != LABEL_COLUMN)
    if labelled is False or (labelled is None and width == len(without)):
        return without
    return columns


def _wrong_width(
    name: str, numbers: list[int], rows: list[list[str]], names: tuple[str, ...]
) -> DataError:
    offset = next(i for i, row in enumerate(rows) if len(row) != len(names))
    expected = f"{len(names)} column" + ("s" if len(names) > 1 else "")
    return DataError(
        f"{name}:{numbers[offset]}: expected {expected}, got {len(rows[offset])}. "
        f"The columns are {', '.join(names)}: correct the line, or set columns= or separator= "
        "to match the file."
    )


def _splitter(separator: str | None) -> Callable[[str], list[str]]:
    if separator == "":
        raise ValueError("separator: expected one or more characters, or None; got ''.")
    if separator is not None:
        return lambda line: line.split(separator)

    def split(line: str) -> list[str]:
        if "\t" in line:
            return line.split("\t")
        # Not str.split(): it would cut tokens at no-break and ideographic spaces.
        return [cell for cell in line.split(" ") if cell]

    return split


def _label_decoder(
    unknown: str | None, alternatives: str | None
) -> Callable[[tuple[str, ...]], tuple[Label, ...]]:
    def decode(cell: str) -> Label:
        if cell == unknown:
            return None
        if alternatives is not None and alternatives in cell:
            return frozenset(cell.split(alternatives))
        return cell

    if unknown is None and alternatives is None:
        return lambda cells: cells
    return lambda cells: tuple(map(decode, cells))


def _column(
    sentence: Sentence, name: str, index: int, *, unknown: str, alternatives: str
) -> tuple[str, ...]:
    if name != LABEL_COLUMN and name in sentence.columns:
        return sentence.columns[name]
    if name == LABEL_COLUMN and sentence.labels is not None:
        return tuple(
            label
            if isinstance(label, str)
            else unknown
            if label is None
            else alternatives.join(sorted(label))
            for label in sentence.labels
        )
    has = [*sentence.columns, *([] if sentence.labels is None else [LABEL_COLUMN])]
    raise DataError(
        f"sentence {index}: no column {name!r}; it has {', '.join(has)}. "
        "Name the columns to write in columns=."
    )


def _check_block(block: str, index: int, tokens: int, columns: int, separator: str) -> None:
    """Check that a written sentence reads back unchanged."""
    if not tokens:
        raise DataError(
            f"sentence {index}: it has no tokens, and CoNLL cannot hold an empty sentence. "
            "Leave it out or use write_jsonl."
        )
    clean = (
        block.count("\n") == tokens - 1
        and block.count(separator) == tokens * (columns - 1)
        and "\r" not in block
        and all(line.strip(BLANK) for line in block.split("\n"))
    )
    if not clean:
        raise DataError(
            f"sentence {index}: a cell holds a line end or the separator {separator!r}, or a line "
            "is blank. Choose another separator or use write_jsonl."
        )
