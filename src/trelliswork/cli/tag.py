"""``trelliswork tag``: label what comes in, as it comes in."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trelliswork.cli.answers import answer, to_conll, to_jsonl
from trelliswork.cli.errors import no_warnings_of, say
from trelliswork.cli.options.data import (
    Format,
    TokenizerKind,
    choose_format,
    choose_tokenizer,
    columns_read,
    iter_sentences,
    split_columns,
)
from trelliswork.cli.options.rules import GivenRules
from trelliswork.cli.options.shared import (
    Comment,
    Jobs,
    OnInfeasible,
    RuleFile,
    RuleTexts,
    TokenPattern,
)
from trelliswork.cli.places import PlacedLines, PlacedSentences
from trelliswork.cli.streaming import Lines, RememberedLines, StandardInput, batches, iter_raw
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

MANY_RULES = 10  # whose product may take more than a moment
MOST_PLACES = 5  # of sentences that cannot satisfy all rules, named at the end


def tag(
    model: Annotated[Path, typer.Argument(help="A model file that `train` wrote.")],
    source: Annotated[
        str,
        typer.Argument(
            metavar="[INPUT]",
            help="Sentences, with or without labels: CoNLL columns or JSON lines, .gz too; - is "
            "standard input.",
            show_default=True,
        ),
    ] = "-",
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            help="Where to write. A file appears only when all is done; standard output (-) gets "
            "each batch at once.",
        ),
    ] = "-",
    output_format: Annotated[
        Format | None,
        typer.Option(
            "--format", help="Format to write. Default: that of the input; JSON lines with --raw."
        ),
    ] = None,
    input_format: Annotated[
        Format | None,
        typer.Option(
            help="Format to read. Default: by the name of INPUT; CoNLL for standard input."
        ),
    ] = None,
    raw: Annotated[
        bool,
        typer.Option("--raw", help="INPUT is plain text, one sentence a line: cut it into tokens."),
    ] = False,
    tokenizer: Annotated[
        TokenizerKind | None,
        typer.Option(help="How to cut raw text. Default: as declared when the model was trained."),
    ] = None,
    token_pattern: TokenPattern = None,
    rules: RuleFile = None,
    rule: RuleTexts = None,
    marginals: Annotated[
        bool, typer.Option("--marginals", help="Add how probable each label is.")
    ] = False,
    all_marginals: Annotated[
        bool,
        typer.Option(
            "--all-marginals",
            help="Add how probable every label of every token is (JSON lines only).",
        ),
    ] = False,
    nbest: Annotated[
        int | None,
        typer.Option(min=1, metavar="K", help="Give the K best labellings and probabilities."),
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(
            metavar="word,pos,label",
            help="Names of the columns. Default: those the model was trained with; the label "
            "column may be missing.",
        ),
    ] = None,
    separator: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT", help="What separates columns, in and out. Default: as in training."
        ),
    ] = None,
    comment: Comment = None,
    on_infeasible: Annotated[
        OnInfeasible,
        typer.Option(
            help="What to do with a sentence that no labelling under the rules of the model fits: "
            "stop, drop rules until one fits, or drop all. JSON lines mark such answers."
        ),
    ] = OnInfeasible.RELAX,
    mark: Annotated[
        bool,
        typer.Option(
            "--mark",
            help="Mark such answers in CoNLL columns, too: with a comment before the sentence.",
        ),
    ] = False,
    jobs: Jobs = None,
) -> None:
    """Label sentences as they come in, in constant memory.

    CoNLL output has the columns of the input, then the label, then its probability with
    `--marginals`. Labels in the input stay, before the new ones, as `evaluate` takes them. Rules
    that are given stand in for those of the model.
    """
    tagger = load_saved(model)
    tagger.n_jobs, tagger.on_infeasible = jobs, on_infeasible.value
    tagger = GivenRules.read(rules, rule).apply_to(tagger)
    declared = choose_tokenizer(tokenizer, token_pattern)
    if raw:
        reading = Format.JSONL
    elif declared is not None:
        raise ValueError("--tokenizer: expected with --raw only; other input is already cut.")
    else:
        reading = choose_format(source, input_format)
    writing = output_format or reading
    if all_marginals and writing is Format.CONLL:
        raise ValueError("--all-marginals: expected with --format jsonl only.")
    standard_input = StandardInput() if source == "-" else None
    placed = PlacedLines(standard_input or source, one_each=reading is Format.JSONL)
    lines: Lines = placed
    records: RememberedLines | None = None
    if raw:
        _check_tokens_suffice(tagger, model)
        sentences = iter_raw(lines, declared or _own_tokenizer(tagger, model))
    else:
        if reading is writing is Format.JSONL:
            records = lines = RememberedLines(lines)
        separator = separator or tagger.metadata_.get("separator")
        sentences = iter_sentences(
            tagger, lines, reading, split_columns(columns), separator, comment
        )
    waiting = PlacedSentences(sentences, placed)
    ask = Asking(tagger, marginals=marginals or all_marginals, nbest=nbest)
    relaxed = Relaxed()
    # The library tells of every batch, and once for each thing that is asked of it.
    with open_for_writing(output) as stream, no_warnings_of("trelliswork.models.batches"):
        for batch in batches(waiting, standard_input):
            for found in _one_by_one(ask, batch, waiting):
                relaxed.see(found, waiting.place)
                if writing is Format.CONLL:
                    stream.write(to_conll(found, separator or "\t", mark=mark))
                else:
                    given = {} if records is None else json.loads(records.recall())
                    stream.write(to_jsonl(found, given=given, all_marginals=all_marginals))
                waiting.done()
            stream.flush()
    if relaxed.count:
        say(str(relaxed))


class Asking:
    """Asks a tagger, and does without probabilities of labellings where they cost too much.

    Parameters
    ----------
    tagger
        The tagger.
    marginals, nbest
        What is asked for; see `answer`.
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
    """The sentences that cannot satisfy all rules: how many, and where the first ones are."""

    count: int = 0
    total: int = 0
    places: list[str] = field(default_factory=list)

    def see(self, found: Answer, place: str) -> None:
        """Take note of an answer, and of where its sentence is."""
        self.total += 1
        if found.broken_rules is not None:
            self.count += 1
            if len(self.places) < MOST_PLACES:
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
    """Yield the answers of a batch; all those before a sentence that has none."""
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
    """Return the tokeniser declared with the model."""
    declared = tagger.metadata_.get("tokenizer")
    if declared is None:
        raise DataError(
            f"--raw: {path} was trained without a tokenizer. Choose one: --tokenizer whitespace, "
            "--tokenizer words, or --token-pattern REGEX."
        )
    return Tokenizer.from_dict(declared)
