"""``trelliswork tag``: label a stream of sentences."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from trelliswork.cli.answers import answer, to_conll, to_jsonl
from trelliswork.cli.errors import PlacedLines, PlacedSentences, no_warnings_of
from trelliswork.cli.options.data import (
    Format,
    TokenizerKind,
    choose_format,
    choose_tokenizer,
    columns_read,
    iter_sentences,
    split_columns,
)
from trelliswork.cli.options.rules import RuleOptions
from trelliswork.cli.options.shared import (
    Comment,
    OnInfeasible,
    RunOptions,
    TokenPattern,
)
from trelliswork.cli.output import say
from trelliswork.cli.streaming import Lines, RememberedLines, StandardInput, batches, iter_raw
from trelliswork.cli.targets import check_targets
from trelliswork.data.files import open_for_writing
from trelliswork.data.tokenizer import Tokenizer
from trelliswork.errors import DataError, InfeasibleError, TooLargeError
from trelliswork.taggers.load import load_saved

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from trelliswork.cli.answers import Answer
    from trelliswork.data.sentence import Sentence
    from trelliswork.taggers.trained import TrainedTagger

__all__ = ["EXAMPLES", "tag"]

EXAMPLES = """Examples:

- `trelliswork tag m.tw < in.conll > out.conll`

- `trelliswork tag m.tw in.conll.gz --marginals --nbest 5 --format jsonl > out.jsonl`

- `trelliswork tag m.tw in.conll --rules rules.txt > out.conll`

- `echo "Ann met Bob." | trelliswork tag m.tw --raw`
"""

MANY_RULES = 10  # more may take a while to compile into one product
MAX_PLACES = 5  # of infeasible sentences named at the end


@dataclass(frozen=True, kw_only=True)
class InputOptions:
    """Options of the input."""

    panel: ClassVar[str] = "Input"

    input_format: Annotated[
        Format | None,
        typer.Option(help="Input format. Default: by file name; conll for standard input."),
    ] = None
    columns: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,…",
            help="Column names, such as word,pos,label. Default: as in training; the label column "
            "may be missing.",
        ),
    ] = None
    separator: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="Column separator of input and output. Default: as in training.",
        ),
    ] = None
    comment: Comment = None
    raw: Annotated[
        bool,
        typer.Option("--raw", help="Read raw text, one sentence per line, and tokenise it."),
    ] = False
    tokenizer: Annotated[
        TokenizerKind | None,
        typer.Option(
            metavar="KIND",
            help="Tokeniser of raw text: whitespace, words or regex. Default: as in training.",
        ),
    ] = None
    token_pattern: TokenPattern = None


@dataclass(frozen=True, kw_only=True)
class OutputOptions:
    """Options of the output."""

    panel: ClassVar[str] = "Output"

    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Output file, written only when complete; - is standard output, batch by batch.",
        ),
    ] = "-"
    output_format: Annotated[
        Format | None,
        typer.Option(
            "--format", help="Output format. Default: that of the input; jsonl with --raw."
        ),
    ] = None
    marginals: Annotated[
        bool, typer.Option("--marginals", help="Add the probability of each label.")
    ] = False
    all_marginals: Annotated[
        bool,
        typer.Option(
            "--all-marginals",
            help="Add the probabilities of all labels of each token (jsonl only).",
        ),
    ] = False
    nbest: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="K", help="Write the K best labellings with their probabilities."
        ),
    ] = None
    mark: Annotated[
        bool,
        typer.Option(
            "--mark",
            help="In CoNLL output, put a comment before each sentence whose labels break a hard "
            "rule. JSON lines always say so.",
        ),
    ] = False


@dataclass(frozen=True, kw_only=True)
class TaggingRuleOptions(RuleOptions):
    """The rules of `tag`."""

    on_infeasible: Annotated[
        OnInfeasible,
        typer.Option(
            metavar="ACTION",
            help="If no labelling of a sentence satisfies the rules: stop (error), drop rules "
            "until one does (relax), or drop all rules (unconstrained).",
        ),
    ] = OnInfeasible.RELAX


def tag(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="Model file written by `train`.")],
    reading: InputOptions,
    writing: OutputOptions,
    rules: TaggingRuleOptions,
    run: RunOptions,
    source: Annotated[
        str,
        typer.Argument(
            metavar="INPUT",
            help="Sentences, with or without labels: CoNLL columns or JSON lines, also as .gz; - "
            "is standard input.",
            show_default=True,
        ),
    ] = "-",
) -> None:
    """Label sentences as they come in, in constant memory.

    CoNLL output has the columns of the input, the label and, with `--marginals`, its probability.
    Labels of the input are kept before the new ones, as `evaluate` expects them. Rules given here
    replace those of the model.
    """
    check_targets({"--output": writing.output}, [model, source, rules.rules])
    tagger = load_saved(model)
    tagger.n_jobs, tagger.on_infeasible = run.jobs, rules.on_infeasible.value
    tagger = rules.read().apply_to(tagger)
    declared = choose_tokenizer(reading.tokenizer, reading.token_pattern)
    if reading.raw:
        input_format = Format.JSONL
    elif declared is not None:
        raise ValueError("--tokenizer: expected with --raw only; other input is already cut.")
    else:
        input_format = choose_format(source, reading.input_format)
    output_format = writing.output_format or input_format
    if writing.all_marginals and output_format is Format.CONLL:
        raise ValueError("--all-marginals: expected with --format jsonl only.")
    standard_input = StandardInput() if source == "-" else None
    placed = PlacedLines(standard_input or source, one_each=input_format is Format.JSONL)
    lines: Lines = placed
    records: RememberedLines | None = None
    separator = reading.separator
    if reading.raw:
        _check_tokens_suffice(tagger, model)
        sentences = iter_raw(lines, declared or _own_tokenizer(tagger, model))
    else:
        if input_format is output_format is Format.JSONL:
            records = lines = RememberedLines(lines)
        separator = separator or tagger.metadata_.get("separator")
        sentences = iter_sentences(
            tagger,
            lines,
            input_format,
            split_columns(reading.columns),
            separator,
            reading.comment,
        )
    waiting = PlacedSentences(sentences, placed)
    ask = Asking(tagger, marginals=writing.marginals or writing.all_marginals, nbest=writing.nbest)
    relaxed = Relaxed()
    # The library warns once for every batch and question; `relaxed` sums it up instead.
    with open_for_writing(writing.output) as stream, no_warnings_of("trelliswork.models.batches"):
        for batch in batches(waiting, standard_input):
            for found in _one_by_one(ask, batch, waiting):
                relaxed.see(found, waiting.place)
                if output_format is Format.CONLL:
                    stream.write(to_conll(found, separator or "\t", mark=writing.mark))
                else:
                    given = {} if records is None else json.loads(records.recall())
                    stream.write(to_jsonl(found, given=given, all_marginals=writing.all_marginals))
                waiting.done()
            stream.flush()
    if relaxed.count:
        say(str(relaxed))


class Asking:
    """Labels batches; gives scores of labellings if probabilities cost too much.

    Parameters
    ----------
    tagger
        The tagger.
    marginals, nbest
        See `answer`.
    """

    def __init__(self, tagger: TrainedTagger, *, marginals: bool, nbest: int | None) -> None:
        self._ask = partial(answer, tagger, marginals=marginals, nbest=nbest)
        self._only_ranks = nbest is not None and not marginals
        n_rules = len(tagger.plan_.constraints)
        if (marginals or nbest is not None) and n_rules > MANY_RULES:
            say(f"probabilities need all {n_rules:,} rules in one product, which may take a while")

    def __call__(self, batch: list[Sentence]) -> list[Answer]:
        """Label a batch of sentences."""
        try:
            return self._ask(batch)
        except TooLargeError as error:
            if not self._only_ranks:
                raise TooLargeError(
                    "--marginals: the rules are too many for probabilities, which need all of them "
                    "in one product. Tag without --marginals, or give fewer rules for it, with "
                    "--rules FILE or --rule TEXT."
                ) from error
        say(
            "warning: --nbest: the rules are too many for probabilities, which need all of them in "
            "one product; scores are written instead"
        )
        self._only_ranks = False
        self._ask = partial(self._ask, with_probabilities=False)
        return self._ask(batch)


@dataclass
class Relaxed:
    """Count of the sentences that cannot satisfy all rules, and places of the first ones."""

    count: int = 0
    total: int = 0
    places: list[str] = field(default_factory=list)

    def see(self, found: Answer, place: str) -> None:
        """Count an answer, and remember the place of its sentence."""
        self.total += 1
        if found.broken_rules is not None:
            self.count += 1
            if len(self.places) < MAX_PLACES:
                self.places.append(place)

    def __str__(self) -> str:
        left = self.count - len(self.places)
        return (
            f"{self.count:,} of {self.total:,} sentences cannot satisfy all rules: "
            f"{', '.join(self.places)}{f' and {left:,} more' if left else ''}"
        )


def _one_by_one(
    ask: Callable[[list[Sentence]], list[Answer]], batch: list[Sentence], waiting: PlacedSentences
) -> Iterator[Answer]:
    """Yield the answers of a batch, up to the first sentence without an answer."""
    try:
        yield from ask(batch)
    except InfeasibleError:
        for sentence in batch:
            try:
                yield from ask([sentence])
            except InfeasibleError as error:
                message = str(error).removeprefix("sequence 0: ")
                raise InfeasibleError(f"{waiting.place}: {message}") from error


def _check_tokens_suffice(tagger: TrainedTagger, path: Path) -> None:
    needed = columns_read(tagger)
    if needed:
        raise DataError(
            f"--raw: {path} reads the column {needed[0]!r}, which raw text does not have. Give "
            "CoNLL columns or JSON lines."
        )


def _own_tokenizer(tagger: TrainedTagger, path: Path) -> Tokenizer:
    """Return the tokeniser stored with the model."""
    declared = tagger.metadata_.get("tokenizer")
    if declared is None:
        raise DataError(
            f"--raw: {path} was trained without a tokenizer. Choose one: --tokenizer whitespace, "
            "--tokenizer words, or --token-pattern REGEX."
        )
    return Tokenizer.from_dict(declared)
