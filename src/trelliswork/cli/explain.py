"""``trelliswork explain``: cost, faults and effects of rules."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from trelliswork._utils.tables import shorten
from trelliswork.cli.errors import PlacedLines, PlacedSentences, placed
from trelliswork.cli.explain_input import show_changes
from trelliswork.cli.options.data import (
    CorpusReader,
    Format,
    choose_format,
    iter_sentences,
    split_columns,
    split_names,
)
from trelliswork.cli.options.rules import RuleOptions
from trelliswork.cli.options.shared import AsJson, LabelNames, Outside, RunOptions, SchemeName
from trelliswork.cli.options.structure import read_max_segment
from trelliswork.cli.output import show, show_heading, show_json
from trelliswork.cli.streaming import StandardInput
from trelliswork.constraints import lint
from trelliswork.constraints.soft import priced_rule
from trelliswork.errors import LabelError, TooLargeError, TrellisworkError
from trelliswork.evaluation.rule_report import count_violations, rule_table
from trelliswork.labels.label_set import LabelSet
from trelliswork.labels.schemes import check_scheme
from trelliswork.labels.segmentation import Segmentation
from trelliswork.planning.plan import TRAINING_BUDGET, plan
from trelliswork.taggers.load import load

if TYPE_CHECKING:
    from trelliswork.constraints import Constraint, Finding
    from trelliswork.data.corpus import Corpus
    from trelliswork.evaluation.rule_report import RuleViolations
    from trelliswork.planning.plan import Plan
    from trelliswork.taggers.base import Tagger

__all__ = ["EXAMPLES", "explain"]

EXAMPLES = """Examples:

- `trelliswork explain --rules rules.txt --data train.conll`

- `trelliswork explain --rules rules.txt --data train.conll --max-segment auto`

- `trelliswork explain m.tw`

- `trelliswork explain m.tw --rule "at_most(1, title)" --data dev.conll`

- `trelliswork explain m.tw in.conll --rules rules.txt --limit 5`
"""


@dataclass(frozen=True, kw_only=True)
class DataOptions:
    """The labelled sentences that rules are checked against, and their labels."""

    panel: ClassVar[str] = "Data"

    data: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Labelled sentences to check the rules against. Without MODEL, they also define "
            "the labels.",
        ),
    ] = None
    reader: CorpusReader
    more: LabelNames = None
    scheme: SchemeName = None
    outside: Outside = None
    max_segment: Annotated[
        str,
        typer.Option(
            metavar="N|auto|LABEL=N,…",
            help="Read the labels as segments of at most N tokens, as `train` does.",
        ),
    ] = "1"


@dataclass(frozen=True, kw_only=True)
class OutputOptions:
    """Options of the output."""

    panel: ClassVar[str] = "Output"

    limit: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=0,
            help="Maximum number of changed sentences of INPUT to show. Default: 20; all with "
            "--json.",
        ),
    ] = None
    as_json: AsJson = False


def explain(
    options: DataOptions,
    rules: RuleOptions,
    output: OutputOptions,
    run: RunOptions,
    model: Annotated[
        Path | None,
        typer.Argument(
            metavar="MODEL", help="Model file written by `train`, with its labels and rules."
        ),
    ] = None,
    source: Annotated[
        str | None,
        typer.Argument(
            metavar="INPUT",
            help="Sentences to decode with and without the rules, in the formats of `tag`.",
        ),
    ] = None,
) -> None:
    """Show what rules compile into, which are superfluous, and which the gold labels break.

    Rules and labels come from a model, or from `--rules`, `--rule` and `--data`. With INPUT, the
    command shows the sentences whose labels the rules change, the rules responsible, and the cost
    of each.
    """
    longest = read_max_segment(options.max_segment)
    own = (
        (options.more, options.scheme, options.outside) if longest == 1 else (options.max_segment,)
    )
    if model is not None and any(option is not None for option in own):
        raise ValueError(
            "--labels, --scheme, --outside, --max-segment: expected without a model, which has its "
            "own."
        )
    tagger = None if model is None else load(model)
    reader = options.reader
    if source is not None and tagger is not None:
        _explain_input(
            rules.read().apply_to(tagger).set_params(n_jobs=run.jobs), source, reader, output
        )
        return
    if output.limit is not None:
        raise ValueError("--limit: expected with INPUT, sentences to decode, only.")
    corpus = None if options.data is None else reader.read(options.data)
    given = rules.read()
    constraints = given.constraints
    segmentation = None
    if tagger is not None:
        labels, segmentation = tagger.labels_, tagger.plan_.segmentation
        constraints = constraints or tagger.plan_.constraints
    elif corpus is not None:
        named = None if options.scheme is None else check_scheme(options.scheme)
        labels = LabelSet.infer(corpus, named, outside=options.outside)
        if (more := split_names(options.more)) is not None:
            labels = LabelSet(sorted({*labels.names, *more}), labels.scheme, options.outside)
        if longest != 1:
            gold = [sentence.labels or () for sentence in corpus]
            try:
                segmentation = Segmentation.choose(labels, gold, longest)
            except TrellisworkError as error:
                if error.sequence is None:
                    raise
                raise placed(error, reader.place(str(options.data), error.sequence)) from error
            labels = segmentation.labels
    else:
        raise ValueError("explain: expected a model or --data, whose labels the rules are about.")
    if not constraints:
        raise ValueError("explain: expected rules: of the model, from --rules or from --rule.")
    given.check(labels, more=tagger is None)
    try:
        found = plan(
            labels,
            constraints,
            model=None if tagger is None else tagger.plan_.model,
            segmentation=segmentation,
            training_budget=TRAINING_BUDGET if tagger is None else tagger.plan_.training_budget,
        )
    except TooLargeError as error:
        raise given.too_large(error, labels) from error
    if tagger is not None:
        found = found.with_penalties_of(tagger.plan_)
    constraints = tuple(  # as the model reads them
        priced_rule(rule, penalty)
        for rule, penalty in zip(found.constraints, found.penalties.tolist(), strict=True)
    )
    findings = lint(constraints, labels)
    broken = None
    if corpus is not None and options.data is not None:
        for index, sentence in enumerate(corpus):
            try:
                labels.allowed(sentence.labels or ())
            except LabelError as error:
                raise LabelError(f"{reader.place(options.data, index)}: {error}") from error
        broken = count_violations(
            constraints,
            [sentence.labels or () for sentence in corpus],
            scheme=labels,
            sentences=list(corpus),
        )
    if output.as_json:
        record = _record(found, constraints, findings, broken)
        show_json(record)
    else:
        examples = {} if broken is None else _examples(broken, reader, str(options.data))
        _show(found, findings, broken, corpus, examples)


def _explain_input(
    tagger: Tagger, source: str, reader: CorpusReader, output: OutputOptions
) -> None:
    """Decode sentences with and without rules, and show the difference."""
    if not tagger.plan_.constraints:
        raise ValueError("explain: expected rules: of the model, from --rules or from --rule.")
    reading = choose_format(source, reader.data_format)
    lines = PlacedLines(
        StandardInput() if source == "-" else source, one_each=reading is Format.JSONL
    )
    sentences = iter_sentences(
        tagger,
        lines,
        reading,
        split_columns(reader.columns),
        reader.separator or tagger.metadata_.get("separator"),
        reader.comment,
    )
    show_changes(
        tagger.set_params(on_infeasible="relax"),
        PlacedSentences(sentences, lines),
        limit=output.limit,
        as_json=output.as_json,
    )


def _examples(
    broken: tuple[RuleViolations, ...], reader: CorpusReader, data: str
) -> dict[int, str]:
    """Return the places of the sentences shown, by index."""
    return {
        count.example: reader.place(data, count.example)
        for count in broken
        if count.example is not None
    }


def _record(
    found: Plan,
    constraints: tuple[Constraint, ...],
    findings: list[Finding],
    broken: tuple[RuleViolations, ...] | None,
) -> dict[str, Any]:
    return {
        "labels": found.labels.to_dict(),
        "plan": [
            {
                "rule": repr(rule),
                "where": p.where,
                "states": p.states,
                "arcs": p.arcs,
                "cost": p.cost,
            }
            for rule, p in zip(constraints, found.placements, strict=True)
        ],
        "training": {
            "states": found.training.hard_product.automaton.n_states,
            "arcs": found.training.hard_product.automaton.n_arcs,
        },
        "findings": [
            {"kind": f.kind, "rules": [repr(r) for r in f.rules], "message": f.message}
            for f in findings
        ],
        "gold": None if broken is None else [count.to_dict() for count in broken],
    }


def _show(
    found: Plan,
    findings: list[Finding],
    broken: tuple[RuleViolations, ...] | None,
    corpus: Corpus | None,
    examples: dict[int, str],
) -> None:
    labels = found.labels
    show(f"{len(labels)} labels ({labels.scheme}): {' '.join(labels.names)}")
    show_heading("Plan")
    show(str(found))
    show_heading("Findings")
    show("\n".join(str(finding) for finding in findings) or "none")
    if broken is not None and corpus is not None:
        show_heading("Gold labels that break a rule")
        show(rule_table([("sentences", broken)]))
        for count in broken:
            if count.example is not None:
                sentence = corpus[count.example]
                names = [str(label) for label in sentence.labels or ()]
                reasons = " ".join(count.rule.explain(names, sentence, scheme=labels))
                place = examples[count.example]
                show(f"\n{place}: {shorten(repr(count.rule))}: {reasons}")
                show(" ".join(f"{t}/{y}" for t, y in zip(sentence.tokens, names, strict=True)))
