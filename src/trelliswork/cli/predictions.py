"""Reader of gold and predicted labels for ``trelliswork evaluate``."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

from trelliswork.cli.options.data import (
    Format,
    LabelFile,
    NamedLines,
    check_labelled,
    choose_format,
    default_columns,
)
from trelliswork.cli.output import say
from trelliswork.data.conll import iter_conll
from trelliswork.data.corpus import Corpus, read_conll, read_jsonl
from trelliswork.data.jsonl import iter_jsonl
from trelliswork.data.sentence import LABEL_COLUMN, Sentence
from trelliswork.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trelliswork.data.sentence import Label

__all__ = ["LabelReader"]

GOLD, PREDICTED, CONFIDENCE = "gold", "predicted", "confidence"
ROLES = (LABEL_COLUMN, GOLD, PREDICTED, CONFIDENCE)


@dataclass(frozen=True, slots=True)
class LabelReader:
    """Reader of the files of one evaluation.

    Attributes
    ----------
    data_format
        The format of the files; ``None``: by file name.
    columns
        Column names. ``label``, ``gold``, ``predicted`` and ``confidence`` have a meaning; without
        them the last columns are read. A file of another width (`tag` adds columns) is read without
        names.
    confidence_column
        The name or number of the confidence column, counted from 1, from the end if negative.
    separator, comment
        Column separator and beginning of a comment; see `iter_conll`.
    unknown, alternatives
        Marks of unlabelled tokens and of alternative labels in gold cells; see `iter_conll`.
    tested
        Columns that rules read; JSON lines of gold labels must have them.
    """

    data_format: Format | None = None
    columns: Sequence[str] | None = None
    confidence_column: str | None = None
    separator: str | None = None
    comment: str | None = None
    unknown: str | None = None
    alternatives: str | None = None
    tested: Sequence[str] = ()

    def read_gold(self, path: str) -> LabelFile:
        """Read the labels of a file."""
        if choose_format(path, self.data_format) is Format.JSONL:
            corpus = check_labelled(read_jsonl(path, self.tested))
            return LabelFile(str(corpus.source), None, list(corpus), corpus.labels)
        lines = NamedLines(path)
        width = lines.count_columns(self.separator, self.comment)
        names = list(self._given(width) or default_columns(width))
        if LABEL_COLUMN not in names:
            names[names.index(GOLD) if GOLD in names else -1] = LABEL_COLUMN
        corpus = read_conll(
            lines,
            names,
            self.separator,
            comment=self.comment,
            unknown=self.unknown,
            alternatives=self.alternatives,
        )
        return LabelFile(lines.name, width, _sentences(corpus, names), corpus.labels)

    def read_predictions(self, path: str, *, with_gold: bool = False) -> LabelFile:
        """Read predicted labels, and the gold labels beside them if requested."""
        lines = NamedLines(path)
        if choose_format(path, self.data_format) is Format.JSONL:
            return _read_records(lines, self.tested if with_gold else (), with_gold=with_gold)
        width = lines.count_columns(self.separator, self.comment)
        names = self._layout(lines.name, width, with_gold=with_gold)
        corpus = Corpus(
            iter_conll(
                lines,
                names,
                self.separator,
                labelled=with_gold,
                comment=self.comment,
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
        return LabelFile(
            lines.name,
            width,
            _sentences(corpus, names),
            [sentence.columns[PREDICTED] for sentence in corpus],
            corpus.labels if with_gold else None,
            confidences,
        )

    def check_columns(self, *files: LabelFile) -> None:
        """Raise an error if ``--columns`` fits none of the files."""
        widths = {file.name: file.width for file in files if file.width is not None}
        if self.columns is not None and widths and len(self.columns) not in widths.values():
            found = ", ".join(f"{width} in {name}" for name, width in widths.items())
            raise ValueError(
                f"--columns: expected as many names as there are columns ({found}), got "
                f"{len(self.columns)}: {','.join(self.columns)}."
            )

    def check_labels(self, predicted: LabelFile, gold: LabelFile) -> None:
        """Warn if predicted and gold labels have no label in common (wrong column?).

        If columns seem to be missing, this is an error.
        """
        named = predicted.width is not None and self._given(predicted.width) is not None
        if named or len(predicted.labels) != len(gold.labels):
            return
        known = _names(gold.labels)
        guesses = _names(predicted.labels)
        if not guesses or known & guesses:
            return
        message = (
            f"{predicted.name}: expected labels as in {gold.name}, {min(known, default='')!r} for "
            f"example, got only others, such as {min(guesses)!r}. If its last column has "
            "no labels, add them or name the columns with --columns."
        )
        if predicted.width is not None and predicted.width < (gold.width or 0):
            raise DataError(message)
        say(f"warning: {message}")

    def _given(self, width: int) -> list[str] | None:
        """Return the given column names if they fit the file, else ``None``."""
        fits = self.columns is not None and len(self.columns) == width
        return list(self.columns or ()) if fits else None

    def _layout(self, file: str, width: int, *, with_gold: bool) -> list[str]:
        """Return the names of the columns of a file of predictions, by role."""
        given = self._given(width) or [""] * width
        free = list(range(width))
        names = [f"col{i}" if name in ROLES else name for i, name in enumerate(given)]
        confidence = self._confidence_place(given)
        if confidence is not None:
            if not 0 <= confidence < width:
                raise DataError(
                    f"{file}: no column {self.confidence_column}: it has {width}. "
                    "Count from 1, or from the end with -1."
                )
            if given[confidence] in {LABEL_COLUMN, GOLD, PREDICTED}:
                raise ValueError(
                    f"--confidence-column: {self.confidence_column} is also the column "
                    f"{given[confidence]}. Choose another."
                )
            free.remove(confidence)
            names[confidence] = CONFIDENCE
        own = PREDICTED if PREDICTED in given or with_gold else LABEL_COLUMN
        roles = {own: PREDICTED, GOLD: LABEL_COLUMN} if with_gold else {own: PREDICTED}
        places = {role: given.index(name) for name, role in roles.items() if name in given}
        free = [place for place in free if place not in places.values()]
        missing = [role for role in roles.values() if role not in places]
        # Without names, if both labels are expected, one more column holds the tokens.
        if len(free) < len(missing) + (with_gold and len(missing) == 2):
            raise DataError(
                f"{file}: expected {'tokens, gold and predicted labels' if with_gold else 'labels'}"
                f", got {width} columns. Give the predicted labels, or name the columns with "
                "--columns."
            )
        for role in missing:
            places[role] = free.pop()
        for role, place in places.items():
            names[place] = role
        # Without names, the other columns have the default names of `train`.
        unnamed = [place for place, name in enumerate(names) if not name]
        for place, name in zip(unnamed, default_columns(len(unnamed) + 1), strict=False):
            names[place] = name
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


def _names(labels: list[tuple[Label, ...]]) -> set[str]:
    """Return the labels that occur, including alternatives."""
    every = chain.from_iterable(labels)
    groups = ({label} if isinstance(label, str) else label for label in every if label is not None)
    return set(chain.from_iterable(groups))


def _sentences(corpus: Corpus, names: Sequence[str]) -> list[Sentence] | None:
    """Return the columns other than labels and confidences; ``None`` if there are none.

    The first of them holds the tokens.
    """
    own = [name for name in names if name not in ROLES]
    if not own:
        return None
    return [
        Sentence(sentence.columns[own[0]], {name: sentence.columns[name] for name in own})
        for sentence in corpus
    ]


def _read_records(lines: NamedLines, columns: Sequence[str], *, with_gold: bool) -> LabelFile:
    lines.keep()
    corpus = check_labelled(Corpus(iter_jsonl(lines, columns), lines.name))
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
    return LabelFile(lines.name, None, list(corpus), corpus.labels, gold, confidences)


def _number(cell: str, file: str, sentence: int) -> float:
    try:
        return float(cell)
    except ValueError:
        raise DataError(
            f"{file}: sentence {sentence}: expected a confidence between 0 and 1, got {cell!r}. "
            "Choose the column with --confidence-column."
        ) from None
