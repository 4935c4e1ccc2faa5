"""Options of ``train``: one group for each help panel.

The training data of ``train`` and ``select``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from trelliswork._utils.tables import shorten
from trelliswork.cli.options.data import CorpusReader, TokenizerKind
from trelliswork.cli.options.dev import hold_out, read_share
from trelliswork.cli.options.rules import RuleOptions
from trelliswork.cli.options.shared import (
    LabelNames,
    OnInfeasible,
    Outside,
    RunOptions,
    SchemeName,
    Seed,
    TokenPattern,
)
from trelliswork.cli.options.sparsity import GapTol, SparsityOptions
from trelliswork.cli.options.structure import ModelOptions
from trelliswork.cli.options.unlabelled import FewLabelsOptions, draw_labelled
from trelliswork.errors import DataError

if TYPE_CHECKING:
    from trelliswork.data.corpus import Corpus
    from trelliswork.data.sentence import Sentence


__all__ = [
    "ConvergenceOptions",
    "LabelledDataOptions",
    "OnConflict",
    "OutputOptions",
    "PenaltyMethod",
    "Train",
    "TrainOptions",
    "TrainingData",
    "TrainingName",
    "TrainingRuleOptions",
    "TrainingRunOptions",
]


class TrainingName(StrEnum):
    """Training protocols; see `trelliswork.learn.protocols`."""

    L = "L"
    L_CI = "L+CI"
    L_WCI = "L+wCI"
    CIBT = "CIBT"
    WCIBT = "wCIBT"


class OnConflict(StrEnum):
    """Treatment of training sentences whose labels break a rule."""

    ERROR = "error"
    SKIP = "skip"


class PenaltyMethod(StrEnum):
    """Ways to learn the penalties of soft rules."""

    LIKELIHOOD = "likelihood"
    COUNTS = "counts"
    PERCEPTRON = "perceptron"
    SSVM = "ssvm"


Train = Annotated[
    str,
    typer.Argument(
        metavar="TRAIN",
        help="Labelled sentences: CoNLL columns or JSON lines, also as .gz; - is standard input.",
    ),
]


@dataclass(frozen=True, kw_only=True)
class LabelledDataOptions:
    """Labelled sentences, as `train` and `select` read them."""

    panel: ClassVar[str] = "Data"

    dev: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|SHARE",
            help="Development set for early stopping: a file, or the share of TRAIN to hold out "
            "(0.1).",
        ),
    ] = None
    reader: CorpusReader
    scheme: SchemeName = None
    outside: Outside = None
    allow_single_label: Annotated[
        bool,
        typer.Option(
            "--allow-single-label",
            help="Train on data with one label only, which are refused as probably another column "
            "or format.",
        ),
    ] = False
    tokenizer: Annotated[
        TokenizerKind | None,
        typer.Option(
            metavar="KIND",
            help="Tokeniser that produced TRAIN: whitespace, words or regex. Stored for `tag "
            "--raw`.",
        ),
    ] = None
    token_pattern: TokenPattern = None


@dataclass(frozen=True, kw_only=True)
class TrainingDataOptions(LabelledDataOptions):
    """The data of `train`."""

    labels: LabelNames = None


@dataclass(frozen=True, kw_only=True)
class TrainingRuleOptions(RuleOptions):
    """The rules of `train`, and their part in training."""

    training: Annotated[
        TrainingName | None,
        typer.Option(
            metavar="PROTOCOL",
            help="Use of the rules. L: none. L+CI: hard, in `tag` only. L+wCI: soft, in `tag` "
            "only, with penalties counted in TRAIN. CIBT: hard, in training and `tag`. wCIBT: "
            "soft, in training and `tag`, with learned penalties. Default: L+wCI; for crf, given "
            "by --decode-only-rules and --penalties.",
        ),
    ] = None
    penalties: Annotated[
        PenaltyMethod,
        typer.Option(
            metavar="METHOD",
            help="How to learn penalties of soft rules that have none: with the weights "
            "(likelihood), by counting in TRAIN (counts), or by decoding held-out sentences "
            "(perceptron, ssvm).",
        ),
    ] = PenaltyMethod.LIKELIHOOD
    held_out: Annotated[
        float,
        typer.Option(
            metavar="SHARE",
            help="Share of TRAIN held out for --penalties perceptron and ssvm.",
        ),
    ] = 0.2
    decode_only_rules: Annotated[
        bool,
        typer.Option(
            "--decode-only-rules", help="Train without the rules; apply them only in `tag`."
        ),
    ] = False
    on_conflict: Annotated[
        OnConflict,
        typer.Option(help="Treatment of sentences of TRAIN whose labels break a rule."),
    ] = OnConflict.ERROR
    on_infeasible: Annotated[
        OnInfeasible,
        typer.Option(
            metavar="ACTION",
            help="If no labelling of a sentence satisfies the rules while training decodes: stop "
            "(error), drop rules until one does (relax), or drop all rules (unconstrained). `tag` "
            "has its own option.",
        ),
    ] = OnInfeasible.ERROR


@dataclass(frozen=True, kw_only=True)
class ConvergenceOptions:
    """Stopping criteria of minimisation."""

    panel: ClassVar[str] = "Stopping"

    max_iter: Annotated[int, typer.Option(metavar="N", min=0, help="Maximum iterations.")] = 200
    tol: Annotated[
        float,
        typer.Option(
            metavar="FLOAT",
            min=0.0,
            help="Stop when ten iterations change the loss by less than this share.",
        ),
    ] = 1e-5
    gap_tol: GapTol = 1e-4


@dataclass(frozen=True, kw_only=True)
class StoppingOptions(ConvergenceOptions):
    """Stopping criteria of training."""

    epochs: Annotated[int, typer.Option(metavar="N", min=1, help="perceptron: maximum epochs.")] = (
        20
    )
    dev_every: Annotated[
        int,
        typer.Option(
            metavar="N", min=1, help="Iterations between evaluations on the development set."
        ),
    ] = 5
    patience: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Stop after N evaluations without a better score. Default: 10; for epochs and "
            "cycles, 3.",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class OutputOptions:
    """Options of the output of `train`."""

    panel: ClassVar[str] = "Output"

    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="Model file to write.")]


@dataclass(frozen=True, kw_only=True)
class TrainingRunOptions(RunOptions):
    """Options of a run of `train` or `select`."""

    seed: Seed = 0
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Show neither progress nor summary.")
    ] = False


@dataclass(frozen=True, kw_only=True)
class TrainOptions:
    """All options of `train`, in the order of its help."""

    data: TrainingDataOptions
    model: ModelOptions
    rules: TrainingRuleOptions
    sparsity: SparsityOptions
    few_labels: FewLabelsOptions
    stopping: StoppingOptions
    output: OutputOptions
    run: TrainingRunOptions


class TrainingData:
    """Labelled sentences, sentences without labels and a development set.

    Parameters
    ----------
    everything
        All labelled sentences.
    reader, path
        The reader and the file that they come from.
    """

    def __init__(self, everything: Corpus, reader: CorpusReader, path: str) -> None:
        self.everything = self.training = everything
        self.unlabelled: list[Sentence] = []
        self.dev: Corpus | None = None
        self._reader, self._path = reader, path

    def hold_out(self, dev: str, seed: int) -> None:
        """Read the development set, or hold out a share of the sentences."""
        share = read_share(dev)
        if share is None:
            self.dev = replace(self._reader, data_format=None).read(dev)
        else:
            self.training, self.dev = hold_out(self.training, share, seed)

    def keep_labels_of(self, size: int, seed: int, rest_is_used: bool) -> None:
        """Draw the sentences whose labels are used; keep the others, if used, without labels."""
        self.training, rest = draw_labelled(self.training, size, seed)
        self.unlabelled += rest if rest_is_used else []

    def check_several_labels(self) -> None:
        """Raise an error if all labels are one: there is nothing to learn from them.

        Raises
        ------
        DataError
            Naming the label, and the options that tell what the columns are.
        """
        names = self.label_names()
        if len(names) == 1:
            count = sum(len(sentence.labels or ()) for sentence in self.everything)
            tokens = "the only token has" if count == 1 else f"all {count:,} tokens have"
            raise DataError(
                f"{self.everything.source}: expected several labels, but {tokens} the label "
                f"{shorten(repr(names[0]))}. Is it another format, or another column (--columns)? "
                "If not, add --allow-single-label."
            )

    def label_names(self) -> list[str]:
        """Return the labels of all sentences, alternatives included."""
        names: set[str] = set()
        for sentence in self.everything:
            for label in sentence.labels or ():
                names |= {label} if isinstance(label, str) else set(label or ())
        return sorted(names)

    def place(self, sequence: int) -> str:
        """Return the file and line of a labelled sentence."""
        wanted = self.training[sequence]
        index = next(i for i, sentence in enumerate(self.everything) if sentence is wanted)
        return self._reader.place(self._path, index)
