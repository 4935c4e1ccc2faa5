"""Options of ``train`` about sentences without labels, and how these are read."""

from __future__ import annotations

import errno
import os
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

from trelliswork.cli.options.data import Format, NamedLines, choose_format
from trelliswork.cli.streaming import iter_raw
from trelliswork.data.conll import iter_conll
from trelliswork.data.corpus import Corpus
from trelliswork.data.jsonl import iter_jsonl
from trelliswork.data.sentence import LABEL_COLUMN
from trelliswork.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from trelliswork.data.sentence import Sentence
    from trelliswork.data.tokenizer import Tokenizer

__all__ = [
    "Cycles",
    "Gamma",
    "IncludeLabelled",
    "LabelledSize",
    "Labelling",
    "LabellingName",
    "LeaveOutRest",
    "TopK",
    "Unlabelled",
    "UnlabelledFormat",
    "UnlabelledFormatOption",
    "check_some_left",
    "draw_labelled",
    "read_unlabelled",
]


class UnlabelledFormat(StrEnum):
    """How sentences without labels are written in a file."""

    RAW = "raw"
    CONLL = "conll"
    JSONL = "jsonl"


class LabellingName(StrEnum):
    """What is learned from a sentence without labels."""

    TOP1 = "top1"
    TOPK = "topk"
    POSTERIOR = "posterior"


Unlabelled = Annotated[
    list[str] | None,
    typer.Option(
        metavar="FILE",
        help="Sentences without labels, to learn from as well: text with one a line (.txt, cut by "
        "--tokenizer), CoNLL columns or JSON lines, whose labels are dropped. May be given again.",
    ),
]
UnlabelledFormatOption = Annotated[
    UnlabelledFormat | None,
    typer.Option(help="Format of --unlabelled. Default: by the name (.txt, .jsonl, .conll)."),
]
LabelledSize = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Use the labels of so many sentences of TRAIN, drawn by --seed. The others are "
        "learned from without their labels; only the names of these are known.",
    ),
]
LeaveOutRest = Annotated[
    bool,
    typer.Option(
        "--leave-out-rest", help="Do not learn from what --labelled-size leaves of TRAIN."
    ),
]
Gamma = Annotated[
    float,
    typer.Option(
        min=0.0,
        max=1.0,
        help="Share of what TRAIN alone shows, in every cycle over sentences without labels.",
    ),
]
Cycles = Annotated[int, typer.Option(min=1, help="Most cycles over sentences without labels.")]
Labelling = Annotated[
    LabellingName,
    typer.Option(
        help="What is learned from each of them: its best labelling, the --top-k best by weight, "
        "or (hmm only) all by their probability."
    ),
]
TopK = Annotated[int, typer.Option(min=1, help="How many labellings --labelling topk takes.")]
IncludeLabelled = Annotated[
    bool,
    typer.Option("--include-labelled", help="Learn from TRAIN again in every cycle, too."),
]


def draw_labelled(corpus: Corpus, size: int, seed: int) -> tuple[Corpus, list[Sentence]]:
    """Draw sentences whose labels are used, by a seed; return them, and the others without labels.

    Order is kept in both.
    """
    if size > len(corpus):
        raise DataError(
            f"--labelled-size: expected at most {len(corpus)}, as many sentences as "
            f"{corpus.source} has, got {size}."
        )
    chosen = set(np.random.default_rng(seed).permutation(len(corpus))[:size].tolist())
    drawn = [sentence for i, sentence in enumerate(corpus) if i in chosen]
    rest = [sentence.with_labels(None) for i, sentence in enumerate(corpus) if i not in chosen]
    return Corpus(drawn, corpus.source), rest


def check_some_left(size: int | None, corpus: Corpus, n_unlabelled: int) -> None:
    """Raise an error where nothing would be left without labels to learn from."""
    if size is not None and not n_unlabelled:
        raise DataError(
            f"--labelled-size: expected fewer than the {len(corpus)} sentences of {corpus.source}, "
            f"so that some are left without labels, got {size}. Give a smaller number, sentences "
            "without labels with --unlabelled, or --leave-out-rest."
        )


def read_unlabelled(
    path: str,
    given: UnlabelledFormat | None,
    columns: Sequence[str],
    needed: Sequence[str | int] = (),
    *,
    separator: str | None = None,
    comment: str | None = None,
    tokenizer: Tokenizer | None = None,
) -> list[Sentence]:
    """Read sentences, and drop labels that they have.

    Parameters
    ----------
    path
        The file.
    given
        Its format. Default: by its name.
    columns
        The names of the columns that the labelled sentences have, labels aside.
    needed
        Those beside the tokens that the model or the rules read, by name or number.
    separator, comment
        As in the labelled sentences.
    tokenizer
        How raw text is cut.

    Raises
    ------
    DataError
        For raw text without a tokenizer, for a file without sentences or without a column that is
        needed, and for what the readers refuse.
    """
    if path != "-" and not Path(path).exists():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
    chosen = given or _format_of(path)
    sentences: Iterable[Sentence]
    if chosen is UnlabelledFormat.RAW:
        if tokenizer is None:
            raise DataError(
                f"{path}: expected to be told how to cut raw text. Add --tokenizer whitespace, "
                "--tokenizer words, or --token-pattern REGEX."
            )
        _check_columns(path, columns[:1], columns, needed)
        sentences = iter_raw(path, tokenizer)
    elif chosen is UnlabelledFormat.JSONL:
        named = [name for i, name in enumerate(columns) if name in needed or i in needed]
        sentences = iter_jsonl(path, [name for name in named if name != columns[0]])
    else:
        lines = NamedLines(path)
        own = list(columns[: lines.count_columns(separator, comment) or None])
        _check_columns(path, own, columns, needed)
        names = [*own, LABEL_COLUMN]
        sentences = iter_conll(lines, names, separator, labelled=None, comment=comment)
    try:
        found = [sentence.with_labels(None) for sentence in sentences if len(sentence)]
    except DataError as error:
        if given is not None or chosen is not UnlabelledFormat.CONLL:
            raise
        raise DataError(
            f"{error} For text with a sentence a line, add --unlabelled-format raw."
        ) from error
    if not found:
        raise DataError(f"{path}: expected sentences, got none.")
    return found


def _check_columns(
    path: str, own: Sequence[str], columns: Sequence[str], needed: Sequence[str | int]
) -> None:
    """Raise an error where a file lacks a column that is read."""
    for i, name in enumerate(columns):
        if name not in own and (name in needed or i in needed):
            raise DataError(
                f"{path}: expected the column {name!r}, as the features or the rules read it, got "
                f"{', '.join(own)} alone. Add the column; or train without it, with --features or "
                "--model hmm."
            )


def _format_of(path: str) -> UnlabelledFormat:
    if path.lower().removesuffix(".gz").endswith(".txt"):
        return UnlabelledFormat.RAW
    known = choose_format(path, None)
    return UnlabelledFormat.JSONL if known is Format.JSONL else UnlabelledFormat.CONLL
