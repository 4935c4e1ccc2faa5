"""``trelliswork select``: choose feature templates along a regularisation path."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, ClassVar

import typer

from trelliswork.cli.errors import placed
from trelliswork.cli.options.data import choose_tokenizer
from trelliswork.cli.options.shared import AsJson
from trelliswork.cli.options.sparsity import NormName, NormOption
from trelliswork.cli.options.structure import (
    L2,
    Features,
    MaxSegment,
    MinCount,
    Order,
    read_l2,
    read_max_segment,
    resolve_features,
)
from trelliswork.cli.options.training import (
    ConvergenceOptions,
    LabelledDataOptions,
    Train,
    TrainingData,
    TrainingRunOptions,
)
from trelliswork.cli.output import say, show, show_json
from trelliswork.cli.targets import check_targets
from trelliswork.cli.training_log import log_line
from trelliswork.data.files import open_for_writing
from trelliswork.data.sentence import LABEL_COLUMN
from trelliswork.errors import TrellisworkError
from trelliswork.evaluation.plots import check_plots
from trelliswork.labels.schemes import check_scheme
from trelliswork.learn.sparsity.group_lasso import GroupLasso
from trelliswork.selection.templates import TemplateSelection, select_templates
from trelliswork.taggers.crf import CRFTagger

__all__ = ["EXAMPLES", "select"]

EXAMPLES = """Examples:

- `trelliswork select train.conll --dev dev.conll --features chunking --out m.tw`

- `trelliswork select train.conll --features chunking --templates kept.txt --plot path.png`

- `trelliswork select train.conll --dev 0.1 --rule one_se --points 30 --least 1e-4 --out m.tw`

- `trelliswork train all.conll --features kept.txt --out m.tw`
"""


class Rule(StrEnum):
    """Criteria for the choice of a model on the path."""

    BEST = "best"
    WITHIN = "within"
    ONE_SE = "one_se"


@dataclass(frozen=True, kw_only=True)
class OutputOptions:
    """Files and formats of the result."""

    panel: ClassVar[str] = "Output"

    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="Write the chosen model to this file."),
    ] = None
    templates: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write the chosen templates to this file, for `train --features`."
        ),
    ] = None
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Plot F1 against size, as a PNG. Needs the plots extra."),
    ] = None
    as_json: AsJson = False


@dataclass(frozen=True, kw_only=True)
class DataOptions(LabelledDataOptions):
    """Labelled sentences and the development set."""

    dev: Annotated[
        str,
        typer.Option(
            metavar="FILE|SHARE",
            help="Development set to measure models on: a file, or the share of TRAIN to hold out.",
        ),
    ] = "0.2"


@dataclass(frozen=True, kw_only=True)
class ModelOptions:
    """The model that is trained at each strength."""

    panel: ClassVar[str] = "Model"

    features: Features = "ner"
    min_count: MinCount = 1
    order: Order = 1
    max_segment: MaxSegment = "1"
    l2: L2 = "1.0"


@dataclass(frozen=True, kw_only=True)
class SelectionOptions:
    """The path of penalty strengths, and the choice of a model on it."""

    panel: ClassVar[str] = "Selection"

    rule: Annotated[
        Rule,
        typer.Option(
            metavar="NAME",
            help="Model to choose: the best; the smallest at most --tolerance below it (within); "
            "the smallest within one standard error of it (one_se).",
        ),
    ] = Rule.WITHIN
    tolerance: Annotated[
        float,
        typer.Option(
            metavar="FLOAT", min=0.0, help="For --rule within: 0.003 is 0.3 points of F1."
        ),
    ] = 0.003
    points: Annotated[
        int, typer.Option(metavar="N", min=2, help="Number of penalty strengths to try.")
    ] = 15
    least: Annotated[
        float,
        typer.Option(
            metavar="FLOAT",
            help="Weakest strength, as a share of the one that drops all templates.",
        ),
    ] = 0.001
    debias: Annotated[
        bool,
        typer.Option(
            "--debias/--no-debias", help="Refit the remaining weights without the group penalty."
        ),
    ] = True
    norm: NormOption = NormName.L2


def select(
    corpus: Train,
    settings: DataOptions,
    model: ModelOptions,
    selection: SelectionOptions,
    stopping: ConvergenceOptions,
    output: OutputOptions,
    run: TrainingRunOptions,
) -> None:
    """Choose feature templates by group lasso, and train a small model that has only these.

    A CRF is trained with a penalty on whole templates (group lasso), first so strong that it drops
    all of them, then weaker and weaker: templates enter one by one. Every model on the path is
    measured on the development set, and a small model that is nearly as good as the best is chosen.

    The table has one line for each strength: the remaining templates, features and weights, file
    size, duality gap and F1. Below it, each template is shown with the strength at which it enters.

    Ctrl-C ends the path early; the choice is among the models so far.
    """
    check_targets(
        {"--out": output.out, "--templates": output.templates, "--plot": output.plot},
        [corpus, settings.dev],
    )
    if output.plot is not None:
        check_plots()
    declared = choose_tokenizer(settings.tokenizer, settings.token_pattern)
    tagger = CRFTagger(
        order=model.order,
        max_segment=read_max_segment(model.max_segment),
        l2=read_l2(model.l2),
        regularizer=GroupLasso("template", norm=selection.norm.value, adaptive=True),
        features=resolve_features(model.features),
        min_count=model.min_count,
        max_iter=stopping.max_iter,
        tol=stopping.tol,
        gap_tol=stopping.gap_tol,
        scheme=None if settings.scheme is None else check_scheme(settings.scheme),
        outside=settings.outside,
        n_jobs=run.jobs,
        random_state=run.seed,
        verbose=not run.quiet and sys.stderr.isatty(),
    )
    reader = settings.reader
    data = TrainingData(reader.read(corpus), reader, corpus)
    if not settings.allow_single_label:
        data.check_several_labels()
    data.hold_out(settings.dev, run.seed)
    try:
        found = select_templates(
            data.training,
            data.dev,
            n=selection.points,
            least=selection.least,
            rule=selection.rule.value,
            tolerance=selection.tolerance,
            debias=selection.debias,
            tagger=tagger,
            random_state=run.seed,
            on_step=log_line if not run.quiet and not tagger.verbose else None,
        )
    except TrellisworkError as error:
        if error.sequence is None:
            raise
        raise placed(error, data.place(error.sequence)) from error
    found.tagger.metadata_ = {
        "columns": [*data.training.column_names, LABEL_COLUMN],
        "separator": reader.separator,
        "tokenizer": None if declared is None else declared.to_dict(),
    }
    _write(found, output)
    if found.path.interrupted:
        say("interrupted; the choice is among the models so far")
    if output.as_json:
        show_json(found.to_dict())
    elif not run.quiet:
        show(str(found))


def _write(found: TemplateSelection, output: OutputOptions) -> None:
    if output.out is not None:
        found.tagger.save(output.out)
    if output.templates is not None:
        if not found.kept:
            say(f"warning: no template is worth its price; {output.templates} holds the first")
        with open_for_writing(output.templates) as stream:
            stream.write(str(found.templates))
    if output.plot is not None:
        found.plot(output.plot)
