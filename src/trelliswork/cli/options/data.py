"""Labelled data on the command line: formats, columns, corpora, tokenisers.

The content of a label file: gold labels or predictions.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from itertools import chain, islice
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from trelliswork.cli.errors import PlacedLines
from trelliswork.cli.options.rules import columns_tested
from trelliswork.cli.options.shared import Alternatives, Comment, Separator, Unknown
from trelliswork.data.conll import iter_conll
from trelliswork.data.corpus import Corpus, read_conll, read_jsonl
from trelliswork.data.files import read_lines, source_name
from trelliswork.data.jsonl import iter_jsonl
from trelliswork.data.sentence import LABEL_COLUMN, TOKEN_COLUMN
from trelliswork.data.tokenizer import Tokenizer
from trelliswork.errors import DataError
from trelliswork.features import ObservationEncoder, TemplateEncoder

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trelliswork.data.files import Source
    from trelliswork.data.sentence import Label, Sentence
    from trelliswork.data.tokenizer import Kind
    from trelliswork.taggers.trained import TrainedTagger


__all__ = [
    "CorpusReader",
    "Format",
    "LabelFile",
    "NamedLines",
    "TokenizerKind",
    "check_labelled",
    "choose_format",
    "choose_tokenizer",
    "columns_read",
    "default_columns",
    "iter_sentences",
    "split_columns",
    "split_names",
]


_JSON_SUFFIXES = (".jsonl", ".ndjson", ".json")


class Format(StrEnum):
    """File formats of sentences."""

    CONLL = "conll"
    JSONL = "jsonl"


class TokenizerKind(StrEnum):
    """The kinds of `trelliswork.data.tokenizer.Tokenizer`."""

    WHITESPACE = "whitespace"
    WORDS = "words"
    REGEX = "regex"


class _OneLine(list[str]):
    """A line of a file, as a source of its own."""

    def __init__(self, name: str, line: str) -> None:
        super().__init__([line])
        self.name = name


class NamedLines:
    """The lines of a source, with its name for messages and its number of columns.

    Parameters
    ----------
    source
        A path, or ``"-"`` for standard input.
    """

    def __init__(self, source: str) -> None:
        self.name = source_name(source)
        self._lines = read_lines(source)
        self._seen: list[str] = []

    def __iter__(self) -> Iterator[str]:
        return chain(self._seen, self._lines)

    def keep(self) -> None:
        """Read everything now, so that the lines can be iterated more than once."""
        self._seen += self._lines

    def count_columns(self, separator: str | None = None, comment: str | None = None) -> int:
        """Return the number of cells of the first line of CoNLL columns, 0 if there is none."""
        for line in self._lines:
            self._seen.append(line)
            # The reader itself decides what a cell is.
            one = _OneLine(self.name, line)
            cells = iter_conll(one, None, separator, labelled=False, comment=comment)
            sentence = next(cells, None)
            if sentence is not None:
                return len(sentence.columns)
        return 0


def choose_format(path: str, given: Format | None) -> Format:
    """Return the given format, or else the format by the name of a file."""
    if given is not None:
        return given
    name = path.lower().removesuffix(".gz")
    return Format.JSONL if name.endswith(_JSON_SUFFIXES) else Format.CONLL


def split_columns(names: str | None) -> tuple[str, ...] | None:
    """Return the names in ``word,pos,label``; ``None`` if not given."""
    if names is None:
        return None
    columns = tuple(name.strip() for name in names.split(","))
    if not all(columns):
        raise ValueError(f"--columns: expected names such as word,pos,label, got {names!r}.")
    return columns


def split_names(names: str | None) -> list[str] | None:
    """Return the names in ``author,title``; ``None`` if not given."""
    if names is None:
        return None
    found = [name.strip() for name in names.split(",")]
    if not all(found):
        raise ValueError(f"--labels: expected names such as author,title, got {names!r}.")
    return found


def default_columns(width: int) -> tuple[str, ...]:
    """Return default names for the columns of a labelled CoNLL file.

    The first is the token, the last the label; a single column between is the part of speech.
    """
    between = ["pos"] if width == 3 else [f"col{i}" for i in range(1, width - 1)]
    return (TOKEN_COLUMN, *between, LABEL_COLUMN)


@dataclass(frozen=True, kw_only=True)
class CorpusReader:
    """Reader of labelled corpora, in either format; an option group."""

    panel: ClassVar[str] = "Data"

    columns: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,…",
            help="Column names, such as word,pos,label. Default: word first, label last; one "
            "between is pos, several are col1, col2, …",
        ),
    ] = None
    data_format: Annotated[
        Format | None,
        typer.Option("--format", help="Data format. Default: by file name (.jsonl, else conll)."),
    ] = None
    separator: Separator = None
    comment: Comment = None
    unknown: Unknown = None
    alternatives: Alternatives = None

    def read(self, path: str) -> Corpus:
        """Read a labelled corpus."""
        columns = split_columns(self.columns)
        if choose_format(path, self.data_format) is Format.JSONL:
            own = None if columns is None else [c for c in columns if c != LABEL_COLUMN][1:]
            return check_labelled(read_jsonl(path, own))
        if columns is not None and LABEL_COLUMN not in columns:
            raise ValueError(
                f'--columns: expected one column called "{LABEL_COLUMN}", got {",".join(columns)}.'
            )
        lines = NamedLines(path)
        return read_conll(
            lines,
            columns or default_columns(lines.count_columns(self.separator, self.comment)),
            self.separator,
            comment=self.comment,
            unknown=self.unknown,
            alternatives=self.alternatives,
        )

    def place(self, path: str, index: int) -> str:
        """Return the file and line of a sentence of a corpus read before.

        Standard input cannot be read again: the number of the sentence stands in for the line.
        """
        if path == "-":
            return f"{source_name(path)}: sentence {index}"
        one_each = choose_format(path, self.data_format) is Format.JSONL
        lines = PlacedLines(path, one_each=one_each)
        sentences: Iterable[object] = (
            (line for line in lines if line.strip())
            if one_each
            else iter_conll(lines, None, self.separator, labelled=False, comment=self.comment)
        )
        next(islice(sentences, index, None))
        return f"{lines.name}:{lines.begin}"


def check_labelled(corpus: Corpus) -> Corpus:
    """Return a corpus of JSON lines, or raise an error if a sentence has no labels."""
    for index, sentence in enumerate(corpus):
        if sentence.labels is None:
            raise DataError(
                f'{corpus.source}: sentence {index}: expected a list of labels under "labels", got '
                "none."
            )
    return corpus


def columns_read(tagger: TrainedTagger) -> list[str | int]:
    """Return the columns, except the tokens, that a model reads, by name or number."""
    encoder = tagger.model_.encoder
    columns: list[str | int] = []
    if isinstance(encoder, TemplateEncoder):
        columns = [c for c in encoder.templates.program.columns if c not in (None, 0)]
    elif not isinstance(encoder, ObservationEncoder):
        raise DataError(
            "The model was trained on feature dictionaries or matrices, not on tokens. Use it from "
            "Python: trelliswork.load(path).predict(features)."
        )
    return list(dict.fromkeys([*columns, *columns_tested(tagger.plan_.constraints)]))


def iter_sentences(
    tagger: TrainedTagger,
    source: Source,
    data_format: Format,
    columns: tuple[str, ...] | None,
    separator: str | None,
    comment: str | None,
) -> Iterator[Sentence]:
    """Read sentences with the columns that the model was trained with."""
    needed = columns_read(tagger)
    named = [column for column in needed if isinstance(column, str)]
    if columns is None:
        columns = tuple(tagger.metadata_.get("columns") or [TOKEN_COLUMN, *named, LABEL_COLUMN])
    if data_format is Format.CONLL:
        return iter_conll(source, columns, separator, labelled=None, comment=comment)
    if len(named) == len(needed):
        return iter_jsonl(source, named)
    # Columns read by number must all be there, in order.
    return iter_jsonl(source, [column for column in columns if column != LABEL_COLUMN][1:])


def choose_tokenizer(kind: TokenizerKind | None, pattern: str | None) -> Tokenizer | None:
    """Return the tokeniser given by the options; a pattern alone means kind ``regex``."""
    if kind is None and pattern is None:
        return None
    name: Kind = "regex" if kind is None else kind.value
    return Tokenizer(name, pattern)


@dataclass(frozen=True, slots=True)
class LabelFile:
    """The content of a label file, sentence by sentence.

    Attributes
    ----------
    name
        Its name, for messages.
    width
        Number of columns; ``None`` for JSON lines.
    sentences
        The tokens and other columns, if there are any.
    labels
        The labels: predicted ones in a file of predictions.
    gold
        The gold labels beside them, if requested.
    confidences
        The confidence of each label, if the file has any.
    """

    name: str
    width: int | None
    sentences: list[Sentence] | None
    labels: list[tuple[Label, ...]]
    gold: list[tuple[Label, ...]] | None = None
    confidences: list[list[float]] | None = None

    @property
    def tokens(self) -> list[tuple[str, ...]] | None:
        """The tokens, if there are any."""
        return None if self.sentences is None else [s.tokens for s in self.sentences]

    def check_tokens(self, gold: LabelFile) -> None:
        """Raise an error if the tokens differ from those of the gold labels.

        Different numbers of sentences or tokens are found later, when labels are compared.
        """
        own, others = self.tokens, gold.tokens
        if own is None or others is None or len(own) != len(others):
            return
        for index, (mine, right) in enumerate(zip(own, others, strict=True)):
            if len(mine) == len(right) and mine != right:
                place = next(i for i, token in enumerate(mine) if token != right[i])
                raise DataError(
                    f"{self.name}: sentence {index}, token {place}: expected {right[place]!r} as "
                    f"in {gold.name}, got {mine[place]!r}. Give labels of the same text, or "
                    "--ignore-tokens."
                )
