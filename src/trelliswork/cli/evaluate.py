"""``trelliswork evaluate``: how good predicted labels are."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trelliswork._utils.tables import percent, text_table
from trelliswork.cli.errors import say
from trelliswork.cli.options.data import Format, check_writable, split_columns
from trelliswork.cli.options.rules import GivenRules, columns_tested
from trelliswork.cli.options.shared import (
    Alternatives,
    Comment,
    Outside,
    RuleFile,
    RuleTexts,
    SchemeName,
    Separator,
    Unknown,
)
from trelliswork.cli.predictions import LabelReader
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

MOST_MISTAKES = 20  # kinds of them shown


def evaluate(
    gold: Annotated[
        str,
        typer.Argument(
            help="Gold labels: CoNLL columns or JSON lines, .gz too; - is standard input. Alone: "
            "a file with gold and predicted labels in its last two columns, as conlleval reads it."
        ),
    ],
    predicted: Annotated[
        str | None,
        typer.Argument(help="Predicted labels of the same sentences, in the last column."),
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(
            metavar="word,…",
            help="Names of the columns; label, gold, predicted and confidence mean what they say.",
        ),
    ] = None,
    data_format: Annotated[
        Format | None,
        typer.Option("--format", help="Format of all files. Default: by their names."),
    ] = None,
    scheme: SchemeName = None,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict", help="Leave out segments with invalid tags. Default: as conlleval."
        ),
    ] = False,
    level: Annotated[
        int | None,
        typer.Option(min=1, help="Level of path labels to score, 1 outermost. Default: all."),
    ] = None,
    outside: Outside = None,
    rules: RuleFile = None,
    rule: RuleTexts = None,
    separator: Separator = None,
    comment: Comment = None,
    unknown: Unknown = None,
    alternatives: Alternatives = None,
    ignore_tokens: Annotated[
        bool,
        typer.Option("--ignore-tokens", help="Do not check that all files have the same tokens."),
    ] = False,
    confusion: Annotated[
        bool, typer.Option("--confusion", help="Show which labels are taken for which.")
    ] = False,
    compare: Annotated[
        str | None,
        typer.Option(
            metavar="OTHER",
            help="Predictions of another system: test by approximate randomisation whether it "
            "differs.",
        ),
    ] = None,
    shuffles: Annotated[int, typer.Option(min=1, help="Shuffles of that test.")] = 10_000,
    seed: Annotated[int, typer.Option(help="Seed of that test.")] = 0,
    confidence_column: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|NUMBER",
            help="CoNLL column with confidences: a name, or a number from 1, -1 the last. JSON "
            'lines have them under "confidences". With confidences, a calibration table is shown.',
        ),
    ] = None,
    bins: Annotated[int, typer.Option(min=1, help="Rows of the calibration table.")] = 10,
    plot: Annotated[
        Path | None, typer.Option(help="Draw F1 by field and the confusions, as a PNG.")
    ] = None,
    calibration_plot: Annotated[
        Path | None, typer.Option(help="Draw accuracy against confidence, as a PNG.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON, for programs.")] = False,
) -> None:
    """Score predicted labels: accuracy, precision, recall and F1 of every field, calibration.

    The numbers equal conlleval's unless `--strict` is given.
    """
    for path in (plot, calibration_plot):
        if path is not None:
            check_writable(path)
    names = None if scheme is None else check_scheme(scheme)
    given = GivenRules.read(rules, rule)
    reader = LabelReader(
        data_format,
        split_columns(columns),
        confidence_column,
        separator,
        comment,
        unknown,
        alternatives,
        columns_tested(given.constraints),
    )
    found = reader.read_predictions(
        gold if predicted is None else predicted, with_gold=predicted is None
    )
    other = None if compare is None else reader.read_predictions(compare)
    reference = reader.read_gold(gold) if found.gold is None else replace(found, labels=found.gold)
    right = reference.labels
    systems = [found] if other is None else [found, other]
    reader.check_columns(reference, *systems)
    for system in systems:
        if not ignore_tokens:
            system.check_tokens(reference)
        reader.check_labels(system, reference)
    scores = report(
        right,
        found.labels,
        scheme=names,
        strict=strict,
        level=level,
        outside=outside,
        constraints=given.constraints,
        sentences=reference.sentences,
    )
    if given.constraints:
        try:  # a small file may lack a label that a rule rightly names
            given.check(LabelSet.infer([*right, *found.labels], scores.scheme, outside=outside))
        except LabelError as error:
            say(str(error))
    sure = None
    if found.confidences is not None:
        sure = calibration(right, found.labels, found.confidences, bins)
    elif calibration_plot is not None:
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
            shuffles=shuffles,
            random_state=seed,
            scheme=names,
            strict=strict,
            level=level,
            outside=outside,
        )
    if plot is not None:
        scores.plot(plot)
    if sure is not None and calibration_plot is not None:
        sure.plot(calibration_plot)
    if as_json:
        typer.echo(json.dumps(_record(scores, sure, test), indent=2, ensure_ascii=False))
    else:
        _show(scores, sure, test, confusion=confusion)


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
    typer.echo(str(scores))
    if confusion:
        _heading("Confusions")
        typer.echo(_mistakes(scores.confusion))
    if sure is not None:
        _heading("Calibration")
        typer.echo(str(sure))
    if test is not None:
        _heading("Comparison")
        typer.echo(str(test))


def _mistakes(confusion: Confusion) -> str:
    """Draw the most frequent confusions, with their share of the gold label's tokens."""
    sizes = {label: sum(row) for label, row in zip(confusion.labels, confusion.counts, strict=True)}
    mistakes = confusion.errors()
    if not mistakes:
        return "none"
    rows = [
        [right, guess, str(count), percent(count / sizes[right])]
        for right, guess, count in mistakes[:MOST_MISTAKES]
    ]
    table = text_table(("gold", "predicted", "tokens", "% of gold"), rows)
    left = len(mistakes) - len(rows)
    return table if not left else f"{table}\nand {left} more"


def _heading(text: str) -> None:
    typer.secho(f"\n{text}", bold=True)
