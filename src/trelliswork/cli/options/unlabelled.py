"""Options of ``train`` for few labels, and reading of sentences without labels."""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

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
    "FewLabelsOptions",
    "LabellingName",
    "UnlabelledFormat",
    "check_some_left",
    "draw_labelled",
    "read_unlabelled",
]


class UnlabelledFormat(StrEnum):
    """File formats of sentences without labels."""

    RAW = "raw"
    CONLL = "conll"
    JSONL = "jsonl"


class LabellingName(StrEnum):
    """Labellings to learn from."""

    TOP1 = "top1"
    TOPK = "topk"
    POSTERIOR = "posterior"


@dataclass(frozen=True, kw_only=True)
class FewLabelsOptions:
    """Learning from sentences without labels."""

    panel: ClassVar[str] = "Few labels"

    unlabelled: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE",
            help="Sentences without labels to learn from: raw text, one sentence per line (.txt, "
            "cut by --tokenizer), CoNLL columns or JSON lines. Their labels, if any, are dropped. "
            "May be repeated.",
        ),
    ] = None
    unlabelled_format: Annotated[
        UnlabelledFormat | None,
        typer.Option(
            help="Format of --unlabelled. Default: by file name (.txt, .jsonl, else conll)."
        ),
    ] = None
    labelled_size: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Use the labels of N sentences of TRAIN, drawn with --seed. The other sentences "
            "are used without labels.",
        ),
    ] = None
    leave_out_rest: Annotated[
        bool,
        typer.Option(
            "--leave-out-rest", help="With --labelled-size: ignore the other sentences of TRAIN."
        ),
    ] = False
    gamma: Annotated[
        float,
        typer.Option(
            metavar="FLOAT",
            min=0.0,
            max=1.0,
            help="Weight of the supervised model when it is mixed with the model of each cycle.",
        ),
    ] = 0.9
    cycles: Annotated[
        int,
        typer.Option(metavar="N", min=1, help="Maximum cycles of labelling and learning."),
    ] = 10
    labelling: Annotated[
        LabellingName,
        typer.Option(
            metavar="NAME",
            help="Labels to learn from: the best labelling (top1), the --top-k best, weighted "
            "(topk), or all by their probability (posterior; hmm only).",
        ),
    ] = LabellingName.TOP1
    top_k: Annotated[
        int,
        typer.Option(metavar="N", min=1, help="Number of labellings of --labelling topk."),
    ] = 10
    include_labelled: Annotated[
        bool,
        typer.Option("--include-labelled", help="Learn from TRAIN, too, in every cycle."),
    ] = False


def draw_labelled(corpus: Corpus, size: int, seed: int) -> tuple[Corpus, list[Sentence]]:
    """Draw the sentences whose labels are used; return them, and the others without labels.

    Both parts keep their order.
    """
    if size > len(corpus):
        raise DataError(
            f"--labelled-size: expected at most {len(corpus)}, the number of sentences of "
            f"{corpus.source}, got {size}."
        )
    chosen = set(np.random.default_rng(seed).permutation(len(corpus))[:size].tolist())
    drawn = [sentence for i, sentence in enumerate(corpus) if i in chosen]
    rest = [sentence.with_labels(None) for i, sentence in enumerate(corpus) if i not in chosen]
    return Corpus(drawn, corpus.source), rest


def check_some_left(size: int | None, corpus: Corpus, n_unlabelled: int) -> None:
    """Raise an error if no sentences without labels are left to learn from."""
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
    """Read sentences, and drop their labels, if any.

    Parameters
    ----------
    path
        The file.
    given
        Its format. Default: by its name.
    columns
        Names of the columns of the labelled sentences, without the label.
    needed
        Columns, except the tokens, that the model or the rules read, by name or number.
    separator, comment
        As in the labelled sentences.
    tokenizer
        The tokeniser of raw text.

    Raises
    ------
    DataError
        If raw text has no tokeniser, if a file lacks sentences or a needed column, or if it cannot
        be read.
    """
    if path != "-" and not Path(path).exists():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
    chosen = given or _format_of(path)
    sentences: Iterable[Sentence]
    if chosen is UnlabelledFormat.RAW:
        if tokenizer is None:
            raise DataError(
                f"{path}: expected a tokenizer for raw text. Add --tokenizer whitespace, "
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
            f"{error} For text with one sentence per line, add --unlabelled-format raw."
        ) from error
    if not found:
        raise DataError(f"{path}: expected sentences, got none.")
    return found


def _check_columns(
    path: str, own: Sequence[str], columns: Sequence[str], needed: Sequence[str | int]
) -> None:
    """Raise an error if a file lacks a column that is read."""
    for i, name in enumerate(columns):
        if name not in own and (name in needed or i in needed):
            raise DataError(
                f"{path}: expected the column {name!r}, which the features or the rules read, got "
                f"only {', '.join(own)}. Add the column, or train without it, with --features or "
                "--model hmm."
            )


def _format_of(path: str) -> UnlabelledFormat:
    if path.lower().removesuffix(".gz").endswith(".txt"):
        return UnlabelledFormat.RAW
    known = choose_format(path, None)
    return UnlabelledFormat.JSONL if known is Format.JSONL else UnlabelledFormat.CONLL
