"""JSON-lines files: one sentence a line, an object of ``tokens``, ``labels`` and other columns."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from trelliswork.data.files import open_for_writing, read_lines, source_name
from trelliswork.data.sentence import TOKEN_COLUMN, Label, Sentence
from trelliswork.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from trelliswork.data.files import Source, Target

RESERVED = ("tokens", "labels", "text", "offsets")


def iter_jsonl(source: Source, columns: Sequence[str] | None = None) -> Iterator[Sentence]:
    """Yield the sentences of a JSON-lines file one by one, in constant memory.

    A line is an object such as ``{"tokens": ["Ann"], "labels": ["B-PER"], "pos": ["NNP"]}``.
    Only ``tokens`` is required. A label may be ``null`` (unlabelled) or a list (alternatives);
    ``text`` and ``offsets`` give the raw text. Every other key whose value is a list is a column;
    a key with any other value, an id for example, is passed over.

    Parameters
    ----------
    source
        A path (``.gz`` is decompressed), ``"-"`` for standard input, or an open stream.
    columns
        The columns to read beside the tokens. ``None``: every key whose value is a list.

    Raises
    ------
    DataError
        If a line is no such object, naming file and line.
    """
    name = source_name(source)
    for number, line in enumerate(read_lines(source), start=1):
        if not line.strip():
            continue
        where = f"{name}:{number}"
        try:
            record = json.loads(line)
        except (json.JSONDecodeError, RecursionError) as error:
            raise DataError(
                f"{where}: expected one JSON object a line, got invalid JSON ({error})."
            ) from error
        yield _sentence(record, columns, where)


def write_jsonl(sentences: Iterable[Sentence], target: Target) -> None:
    """Write sentences as JSON lines; a path is written atomically, compressed for ``.gz``.

    Parameters
    ----------
    sentences
        The sentences; an iterator is written in constant memory.
    target
        A path, ``"-"`` for standard output, or a text stream.
    """
    with open_for_writing(target) as stream:
        for index, sentence in enumerate(sentences):
            stream.write(json.dumps(_record(sentence, index), ensure_ascii=False) + "\n")


def _sentence(record: Any, columns: Sequence[str] | None, where: str) -> Sentence:
    if not isinstance(record, dict):
        raise DataError(f"{where}: expected a JSON object, got {type(record).__name__}.")
    if not isinstance(record.get("tokens"), list):
        raise DataError(
            f'{where}: expected a list of strings under "tokens", got '
            f"{type(record.get('tokens')).__name__}; the keys are {', '.join(record) or 'none'}."
        )
    if columns is None:
        columns = [k for k, v in record.items() if k not in RESERVED and isinstance(v, list)]
    missing = [column for column in columns if column not in record]
    if missing:
        raise DataError(f"{where}: expected a column {missing[0]!r}, got {', '.join(record)}.")
    labels = record.get("labels")
    text = record.get("text")
    if not isinstance(text, (str, type(None))):
        raise DataError(f'{where}: expected a string under "text", got {type(text).__name__}.')
    try:
        return Sentence(
            record["tokens"],
            {column: record[column] for column in columns},
            None if labels is None else _labels(labels),
            text,
            record.get("offsets"),
        )
    except (TypeError, ValueError) as error:
        raise DataError(f"{where}: {error}") from error


def _labels(values: Any) -> list[Label]:
    if not isinstance(values, list):
        raise TypeError(f"labels: expected a list, got {type(values).__name__}.")
    # Sentence checks the rest; only a list of alternatives must become a set first.
    return [frozenset(map(_name, v)) if isinstance(v, list) else v for v in values]


def _name(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"labels: expected strings as alternatives, got {value!r}.")
    return value


def _record(sentence: Sentence, index: int) -> dict[str, Any]:
    record: dict[str, Any] = {"tokens": sentence.tokens}
    for name, column in sentence.columns.items():
        if name in RESERVED:
            raise DataError(
                f"sentence {index}: a column is named {name!r}, which has its own meaning in "
                "JSON lines. Rename the column."
            )
        # Reading adds the tokens under this name.
        if name != TOKEN_COLUMN or column != sentence.tokens:
            record[name] = column
    if sentence.labels is not None:
        record["labels"] = [
            sorted(label) if isinstance(label, frozenset) else label for label in sentence.labels
        ]
    if sentence.text is not None:
        record["text"] = sentence.text
    if sentence.offsets is not None:
        record["offsets"] = sentence.offsets
    return record
