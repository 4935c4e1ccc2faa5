"""``trelliswork evaluate``: score predicted labels against gold labels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from trelliswork._utils.tables import percent, text_table
from trelliswork.cli.options.data import Format, split_columns
from trelliswork.cli.options.rules import RuleOptions, columns_tested
from trelliswork.cli.options.shared import (
    Alternatives,
    AsJson,
    Comment,
    Outside,
    SchemeName,
    Seed,
    Separator,
    Unknown,
)
from trelliswork.cli.output import say, show, show_heading, show_json
from trelliswork.cli.predictions import LabelReader
from trelliswork.cli.targets import check_targets
from trelliswork.errors import DataError, LabelError
from trelliswork.evaluation.calibration import calibration
from trelliswork.evaluation.report import report
from trelliswork.evaluation.significance import randomization_test
from trelliswork.labels.label_set import LabelSet
from trelliswork.labels.schemes import check_scheme

if TYPE_CHECKING:
    from trelliswork.evaluation.calibration import Calibration
    from trelliswork.evaluation.confusion import Confusion
    from trelliswork.evaluation.report import Report
    from trelliswork.evaluation.significance import SignificanceTest

__all__ = ["EXAMPLES", "evaluate"]

EXAMPLES = """Examples:

- `trelliswork evaluate gold.conll predicted.conll`

- `trelliswork tag m.tw test.conll --marginals | trelliswork evaluate - --confidence-column -1`

- `trelliswork evaluate gold.jsonl a.jsonl --compare b.jsonl`
"""

MAX_MISTAKES = 20  # kinds of confusions shown


@dataclass(frozen=True, kw_only=True)
class DataOptions:
    """Options of the label files."""

    panel: ClassVar[str] = "Data"

    columns: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,…",
            help="Column names, such as word,gold,predicted; label, gold, predicted and confidence "
            "name the roles of columns.",
        ),
    ] = None
    data_format: Annotated[
        Format | None,
        typer.Option("--format", help="Format of all files. Default: by file name."),
    ] = None
    separator: Separator = None
    comment: Comment = None
    unknown: Unknown = None
    alternatives: Alternatives = None
    ignore_tokens: Annotated[
        bool,
        typer.Option("--ignore-tokens", help="Do not check that all files have the same tokens."),
    ] = False


@dataclass(frozen=True, kw_only=True)
class ScoringOptions:
    """Options of the scores."""

    panel: ClassVar[str] = "Scoring"

    scheme: SchemeName = None
    outside: Outside = None
    strict: Annotated[
        bool,
        typer.Option(
            "--strict",
            help="Ignore segments with invalid tags. Default: repair them, as conlleval does.",
        ),
    ] = False
    level: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="Level of path labels to score; 1 is outermost. Default: all."
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class ComparisonOptions:
    """The significance test against another system."""

    panel: ClassVar[str] = "Comparison"

    compare: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Predictions of another system. An approximate randomisation test tells whether "
            "the scores differ.",
        ),
    ] = None
    shuffles: Annotated[
        int, typer.Option(metavar="N", min=1, help="Number of shuffles of the test.")
    ] = 10_000
    seed: Seed = 0


@dataclass(frozen=True, kw_only=True)
class CalibrationOptions:
    """The comparison of confidences with accuracy."""

    panel: ClassVar[str] = "Calibration"

    confidence_column: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|N",
            help="CoNLL column of the confidences: a name, or a number from 1 (-1: the last). JSON "
            'lines have them under "confidences". They add a calibration table.',
        ),
    ] = None
    bins: Annotated[
        int, typer.Option(metavar="N", min=1, help="Rows of the calibration table.")
    ] = 10
    calibration_plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Plot accuracy against confidence, as a PNG."),
    ] = None


@dataclass(frozen=True, kw_only=True)
class OutputOptions:
    """Options of the output."""

    panel: ClassVar[str] = "Output"

    confusion: Annotated[
        bool, typer.Option("--confusion", help="Show which labels are mistaken for which.")
    ] = False
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Plot F1 by field and the confusions, as a PNG."),
    ] = None
    as_json: AsJson = False


def evaluate(
    gold: Annotated[
        str,
        typer.Argument(
            metavar="GOLD",
            help="Gold labels: CoNLL columns or JSON lines, also as .gz; - is standard input. A "
            "single file has gold and predicted labels in its last two columns, as for conlleval.",
        ),
    ],
    data: DataOptions,
    scoring: ScoringOptions,
    rules: RuleOptions,
    comparison: ComparisonOptions,
    confidence: CalibrationOptions,
    output: OutputOptions,
    predicted: Annotated[
        str | None,
        typer.Argument(
            metavar="PREDICTED",
            help="Predicted labels of the same sentences, in the last column.",
        ),
    ] = None,
) -> None:
    """Score predicted labels: accuracy, precision, recall and F1 of every field, calibration.

    The numbers equal conlleval's unless `--strict` is given.
    """
    check_targets(
        {"--plot": output.plot, "--calibration-plot": confidence.calibration_plot},
        [gold, predicted, rules.rules],
    )
    names = None if scoring.scheme is None else check_scheme(scoring.scheme)
    given = rules.read()
    reader = LabelReader(
        data.data_format,
        split_columns(data.columns),
        confidence.confidence_column,
        data.separator,
        data.comment,
        data.unknown,
        data.alternatives,
        columns_tested(given.constraints),
    )
    found = reader.read_predictions(
        gold if predicted is None else predicted, with_gold=predicted is None
    )
    other = None if comparison.compare is None else reader.read_predictions(comparison.compare)
    reference = reader.read_gold(gold) if found.gold is None else replace(found, labels=found.gold)
    right = reference.labels
    systems = [found] if other is None else [found, other]
    reader.check_columns(reference, *systems)
    for system in systems:
        if not data.ignore_tokens:
            system.check_tokens(reference)
        reader.check_labels(system, reference)
    scores = report(
        right,
        found.labels,
        scheme=names,
        strict=scoring.strict,
        level=scoring.level,
        outside=scoring.outside,
        constraints=given.constraints,
        sentences=reference.sentences,
    )
    if given.constraints:
        try:  # a small file may lack a label that a rule names
            known = LabelSet.infer([*right, *found.labels], scores.scheme, outside=scoring.outside)
            given.check(known)
        except LabelError as error:
            say(str(error))
    sure = None
    if found.confidences is not None:
        sure = calibration(right, found.labels, found.confidences, confidence.bins)
    elif confidence.calibration_plot is not None:
        raise DataError(
            f"--calibration-plot: {predicted or gold} has no confidences. Tag with --marginals, "
            "and name their column with --confidence-column."
        )
    test = None
    if other is not None:
        test = randomization_test(
            right,
            found.labels,
            other.labels,
            shuffles=comparison.shuffles,
            random_state=comparison.seed,
            scheme=names,
            strict=scoring.strict,
            level=scoring.level,
            outside=scoring.outside,
        )
    if output.plot is not None:
        scores.plot(output.plot)
    if sure is not None and confidence.calibration_plot is not None:
        sure.plot(confidence.calibration_plot)
    if output.as_json:
        show_json(_record(scores, sure, test))
    else:
        _show(scores, sure, test, confusion=output.confusion)


def _record(
    scores: Report, sure: Calibration | None, test: SignificanceTest | None
) -> dict[str, Any]:
    return scores.to_dict() | {
        "calibration": None if sure is None else sure.to_dict(),
        "comparison": None if test is None else test.to_dict(),
    }


def _show(
    scores: Report, sure: Calibration | None, test: SignificanceTest | None, *, confusion: bool
) -> None:
    show(str(scores))
    if confusion:
        show_heading("Confusions")
        show(_mistakes(scores.confusion))
    if sure is not None:
        show_heading("Calibration")
        show(str(sure))
    if test is not None:
        show_heading("Comparison")
        show(str(test))


def _mistakes(confusion: Confusion) -> str:
    """Return a table of the most frequent confusions, as shares of the gold label's tokens."""
    sizes = {label: sum(row) for label, row in zip(confusion.labels, confusion.counts, strict=True)}
    mistakes = confusion.errors()
    if not mistakes:
        return "none"
    rows = [
        [right, guess, str(count), percent(count / sizes[right])]
        for right, guess, count in mistakes[:MAX_MISTAKES]
    ]
    table = text_table(("gold", "predicted", "tokens", "% of gold"), rows)
    left = len(mistakes) - len(rows)
    return table if not left else f"{table}\nand {left} more"
