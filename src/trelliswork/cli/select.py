"""``trelliswork select``: which feature templates earn their keep."""

from __future__ import annotations

import json
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from trelliswork.cli.errors import placed, say
from trelliswork.cli.options.data import (
    CorpusReader,
    check_writable,
    choose_tokenizer,
    split_columns,
)
from trelliswork.cli.options.feature_option import resolve_features
from trelliswork.cli.options.shared import (
    Alternatives,
    Comment,
    Jobs,
    Outside,
    SchemeName,
    Separator,
    TokenPattern,
    Unknown,
)
from trelliswork.cli.options.sparsity import GapTol, NormName, NormOption
from trelliswork.cli.options.structure import L2, MaxSegment, Order, read_l2, read_max_segment
from trelliswork.cli.options.training import (
    Columns,
    DataFormat,
    Features,
    MaxIter,
    MinCount,
    Quiet,
    Tokenizer,
    Tol,
    Train,
)
from trelliswork.cli.options.training_data import TrainingData
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
    """How a point of the path is picked."""

    BEST = "best"
    WITHIN = "within"
    ONE_SE = "one_se"


def select(
    corpus: Train,
    dev: Annotated[
        str,
        typer.Option(
            metavar="FILE|SHARE",
            help="What models are measured on: a file, or a share of TRAIN to hold out.",
        ),
    ] = "0.2",
    features: Features = "ner",
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Where to write the chosen model.")
    ] = None,
    templates: Annotated[
        Path | None,
        typer.Option(help="Where to write the templates kept, for `train --features`."),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(help="Where to draw F1 against size, as a PNG. Needs the plots extra."),
    ] = None,
    rule: Annotated[
        Rule,
        typer.Option(
            help="Which model to choose: the best; the smallest within --tolerance of the best; "
            "the smallest within one standard error of it."
        ),
    ] = Rule.WITHIN,
    tolerance: Annotated[
        float, typer.Option(min=0.0, help="For --rule within: 0.003 is 0.3 points of F1.")
    ] = 0.003,
    points: Annotated[
        int, typer.Option(min=2, help="How many strengths of the penalty to try.")
    ] = 15,
    least: Annotated[
        float,
        typer.Option(help="The weakest strength, as a share of the one that drops all templates."),
    ] = 0.001,
    debias: Annotated[
        bool,
        typer.Option(
            "--debias/--no-debias",
            help="Fit the weights that are left once more, without what dropped the others.",
        ),
    ] = True,
    norm: NormOption = NormName.L2,
    order: Order = 1,
    max_segment: MaxSegment = "1",
    l2: L2 = "1.0",
    min_count: MinCount = 1,
    max_iter: MaxIter = 200,
    tol: Tol = 1e-5,
    gap_tol: GapTol = 1e-4,
    columns: Columns = None,
    data_format: DataFormat = None,
    scheme: SchemeName = None,
    outside: Outside = None,
    separator: Separator = None,
    comment: Comment = None,
    unknown: Unknown = None,
    alternatives: Alternatives = None,
    tokenizer: Tokenizer = None,
    token_pattern: TokenPattern = None,
    jobs: Jobs = None,
    seed: Annotated[
        int, typer.Option(help="Seed of what --dev SHARE draws, and of the standard error.")
    ] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON, for programs.")] = False,
    quiet: Quiet = False,
) -> None:
    """Find the feature templates that earn their keep, and a small model that has only these.

    A CRF is trained under a penalty on whole templates (a group lasso), first so strong that none
    is left, then weaker and weaker. A template comes in when it explains enough. Every model on the
    way is measured on the development set, and a small one that is nearly as good as the best is
    chosen.

    The table has a line for each strength: templates, features and weights that are left, the size
    of the file, how near the loss is to its minimum, and the F1. Below it stand the templates and
    where they live.

    Ctrl-C ends it early; the choice is then among the models so far.
    """
    for path in (out, templates, plot):
        if path is not None:
            check_writable(path)
    if plot is not None:
        check_plots()
    declared = choose_tokenizer(tokenizer, token_pattern)
    tagger = CRFTagger(
        order=order,
        max_segment=read_max_segment(max_segment),
        l2=read_l2(l2),
        regularizer=GroupLasso("template", norm=norm.value, adaptive=True),
        features=resolve_features(features),
        min_count=min_count,
        max_iter=max_iter,
        tol=tol,
        gap_tol=gap_tol,
        scheme=None if scheme is None else check_scheme(scheme),
        outside=outside,
        n_jobs=jobs,
        random_state=seed,
        verbose=not quiet and sys.stderr.isatty(),
    )
    reader = CorpusReader(
        data_format, split_columns(columns), separator, comment, unknown, alternatives
    )
    data = TrainingData(reader.read(corpus), reader, corpus)
    data.hold_out(dev, seed)
    try:
        found = select_templates(
            data.training,
            data.dev,
            n=points,
            least=least,
            rule=rule.value,
            tolerance=tolerance,
            debias=debias,
            tagger=tagger,
            random_state=seed,
            on_step=log_line if not quiet and not tagger.verbose else None,
        )
    except TrellisworkError as error:
        if error.sequence is None:
            raise
        raise placed(error, data.place(error.sequence)) from error
    found.tagger.metadata_ = {
        "columns": [*data.training.column_names, LABEL_COLUMN],
        "separator": separator,
        "tokenizer": None if declared is None else declared.to_dict(),
    }
    _write(found, out, templates, plot)
    if found.path.interrupted:
        say("interrupted; the choice is among the models so far")
    if as_json:
        typer.echo(json.dumps(found.to_dict(), indent=2, ensure_ascii=False))
    elif not quiet:
        typer.echo(str(found))


def _write(
    found: TemplateSelection, out: Path | None, templates: Path | None, plot: Path | None
) -> None:
    if out is not None:
        found.tagger.save(out)
    if templates is not None:
        if not found.kept:
            say(f"warning: no template is worth its price; {templates} holds the first")
        with open_for_writing(templates) as stream:
            stream.write(str(found.templates))
    if plot is not None:
        found.plot(plot)
