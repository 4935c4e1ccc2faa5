"""Reading files of labels to score: gold ones, predicted ones, and both side by side."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trelliswork.cli.data import Format, NamedLines, choose_format, read_corpus
from trelliswork.conll import iter_conll
from trelliswork.corpus import Corpus
from trelliswork.errors import DataError
from trelliswork.jsonl import iter_jsonl
from trelliswork.sentence import LABEL_COLUMN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trelliswork.sentence import Label

__all__ = ["LabelReader", "Predictions"]

GOLD, PREDICTED, CONFIDENCE = "gold", "predicted", "confidence"


@dataclass(frozen=True, slots=True)
class Predictions:
    """What a file of predictions holds, sentence by sentence.

    Attributes
    ----------
    labels
        The predicted labels.
    gold
        The gold labels beside them, where they were asked for.
    confidences
        How sure the model was of each label, where the file says so.
    """

    labels: list[tuple[Label, ...]]
    gold: list[tuple[Label, ...]] | None
    confidences: list[list[float]] | None


@dataclass(frozen=True, slots=True)
class LabelReader:
    """How the files of one evaluation are read.

    Attributes
    ----------
    data_format
        Their format; ``None``: by the name of each.
    columns
        The names of their columns. ``label``, ``gold``, ``predicted`` and ``confidence`` mean what
        they say; without them the last columns are taken. A file of another width (`tag` adds
        columns) is read without names.
    confidence_column
        The name or number of the confidence column, counted from 1, from the end if negative.
    separator
        What separates columns; see `iter_conll`.
    unknown, alternatives
        How gold cells say "unlabelled" and "one of these"; see `iter_conll`.
    """

    data_format: Format | None = None
    columns: Sequence[str] | None = None
    confidence_column: str | None = None
    separator: str | None = None
    unknown: str | None = None
    alternatives: str | None = None

    def read_gold(self, path: str) -> list[tuple[Label, ...]]:
        """Read the labels of a file."""
        named = self.columns is not None and LABEL_COLUMN in self.columns
        corpus = read_corpus(
            path,
            data_format=self.data_format,
            columns=self.columns if named else None,
            separator=self.separator,
            unknown=self.unknown,
            alternatives=self.alternatives,
        )
        return corpus.labels

    def read_predictions(self, path: str, *, with_gold: bool = False) -> Predictions:
        """Read predicted labels, and the gold labels beside them where asked for."""
        lines = NamedLines(path)
        if choose_format(path, self.data_format) is Format.JSONL:
            return _read_records(lines, with_gold=with_gold)
        names = self._layout(lines.name, lines.count_columns(self.separator), with_gold=with_gold)
        corpus = Corpus(
            iter_conll(
                lines,
                names,
                self.separator,
                unknown=self.unknown,
                alternatives=self.alternatives,
            ),
            lines.name,
        )
        confidences = None
        if CONFIDENCE in names:
            confidences = [
                [_number(cell, lines.name, index) for cell in sentence.columns[CONFIDENCE]]
                for index, sentence in enumerate(corpus)
            ]
        return Predictions(
            [sentence.columns[PREDICTED] for sentence in corpus],
            corpus.labels if with_gold else None,
            confidences,
        )

    def _layout(self, file: str, width: int, *, with_gold: bool) -> list[str]:
        """Name the columns of a file of predictions by what they hold."""
        fits = self.columns is not None and len(self.columns) == width
        given = list(self.columns or []) if fits else [""] * width
        free = list(range(width))
        names = [f"col{i}" for i in free]
        confidence = self._confidence_place(given)
        if confidence is not None:
            if not 0 <= confidence < width:
                raise DataError(
                    f"{file}: no column {self.confidence_column}: it has {width}. "
                    "Count from 1, or from the end with -1."
                )
            free.remove(confidence)
            names[confidence] = CONFIDENCE
        if len(free) < 1 + with_gold:
            raise DataError(
                f"{file}: expected {'gold and predicted labels' if with_gold else 'labels'}, got "
                f"{width} columns."
            )
        own = LABEL_COLUMN if LABEL_COLUMN in given and not with_gold else PREDICTED
        predicted = given.index(own) if own in given else free[-1]
        free.remove(predicted)
        names[predicted] = PREDICTED
        if with_gold:
            names[given.index(GOLD) if GOLD in given else free[-1]] = LABEL_COLUMN
        return names

    def _confidence_place(self, given: list[str]) -> int | None:
        wanted = self.confidence_column
        if wanted is None:
            return given.index(CONFIDENCE) if CONFIDENCE in given else None
        if wanted in given:
            return given.index(wanted)
        try:
            number = int(wanted)
        except ValueError:
            raise ValueError(
                f"--confidence-column: expected a number or one of the --columns, got {wanted!r}."
            ) from None
        return number - 1 if number > 0 else len(given) + number


def _read_records(lines: NamedLines, *, with_gold: bool) -> Predictions:
    lines.keep()
    corpus = Corpus(iter_jsonl(lines, []), lines.name)
    records: list[dict[str, Any]] = [json.loads(line) for line in lines if line.strip()]
    gold: list[tuple[Label, ...]] | None = None
    if with_gold:
        gold = []
        for index, record in enumerate(records):
            if not isinstance(record.get(GOLD), list):
                raise DataError(
                    f'{lines.name}: sentence {index}: expected gold labels under "{GOLD}", got '
                    f"{', '.join(record)}. Give the gold labels as a file of their own."
                )
            gold.append(tuple(frozenset(g) if isinstance(g, list) else g for g in record[GOLD]))
    confidences = None
    if records and all(isinstance(record.get("confidences"), list) for record in records):
        confidences = [record["confidences"] for record in records]
    return Predictions(corpus.labels, gold, confidences)


def _number(cell: str, file: str, sentence: int) -> float:
    try:
        return float(cell)
    except ValueError:
        raise DataError(
            f"{file}: sentence {sentence}: expected a confidence between 0 and 1, got {cell!r}. "
            "Choose the column with --confidence-column."
        ) from None
