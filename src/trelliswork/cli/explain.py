"""``trelliswork explain``: what rules cost, what is wrong with them, and what they change."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trelliswork._utils.tables import shorten
from trelliswork.cli.errors import placed
from trelliswork.cli.explain_input import show_changes
from trelliswork.cli.options.data import (
    CorpusReader,
    Format,
    choose_format,
    iter_sentences,
    split_columns,
    split_names,
)
from trelliswork.cli.options.rules import GivenRules
from trelliswork.cli.options.shared import (
    Alternatives,
    Comment,
    Jobs,
    LabelNames,
    Outside,
    RuleFile,
    RuleTexts,
    SchemeName,
    Separator,
    Unknown,
)
from trelliswork.cli.options.structure import read_max_segment
from trelliswork.cli.places import PlacedLines, PlacedSentences
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


def explain(
    model: Annotated[
        Path | None,
        typer.Argument(help="A model file that `train` wrote. Its labels, and its rules."),
    ] = None,
    source: Annotated[
        str | None,
        typer.Argument(
            metavar="[INPUT]",
            help="Sentences, with or without labels, as for `tag`: show what the rules change.",
        ),
    ] = None,
    rules: RuleFile = None,
    rule: RuleTexts = None,
    data: Annotated[
        str | None,
        typer.Option(help="Labelled sentences to hold against the rules; the labels, too."),
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(metavar="word,pos,label", help="Names of the columns of the data."),
    ] = None,
    data_format: Annotated[
        Format | None,
        typer.Option("--format", help="Format of the data. Default: by its name."),
    ] = None,
    more: LabelNames = None,
    scheme: SchemeName = None,
    outside: Outside = None,
    max_segment: Annotated[
        str,
        typer.Option(
            metavar="INT|auto|LABEL=INT,…",
            help="Read the labels as segments of so many tokens, as `train` does.",
        ),
    ] = "1",
    separator: Separator = None,
    comment: Comment = None,
    unknown: Unknown = None,
    alternatives: Alternatives = None,
    limit: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Most changed sentences of INPUT to show. Default: 20; all with --json.",
        ),
    ] = None,
    jobs: Jobs = None,
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON, for programs.")] = False,
) -> None:
    """Show what rules compile into, which are superfluous, and which the gold labels break.

    Rules and labels come from a model, or from `--rules`, `--rule` and `--data`. With INPUT: the
    sentences whose labels the rules change, which rules acted there, and what each of them costs.
    """
    longest = read_max_segment(max_segment)
    own = (more, scheme, outside) if longest == 1 else (max_segment,)
    if model is not None and any(option is not None for option in own):
        raise ValueError(
            "--labels, --scheme, --outside, --max-segment: expected without a model, which has its "
            "own."
        )
    tagger = None if model is None else load(model)
    if source is not None and tagger is not None:
        _explain_input(
            GivenRules.read(rules, rule).apply_to(tagger).set_params(n_jobs=jobs),
            source,
            data_format,
            split_columns(columns),
            separator,
            comment,
            limit=limit,
            as_json=as_json,
        )
        return
    if limit is not None:
        raise ValueError("--limit: expected with INPUT, sentences to decode, only.")
    reader = CorpusReader(
        data_format, split_columns(columns), separator, comment, unknown, alternatives
    )
    corpus = None if data is None else reader.read(data)
    given = GivenRules.read(rules, rule)
    constraints = given.constraints
    segmentation = None
    if tagger is not None:
        labels, segmentation = tagger.labels_, tagger.plan_.segmentation
        constraints = constraints or tagger.plan_.constraints
    elif corpus is not None:
        named = None if scheme is None else check_scheme(scheme)
        labels = LabelSet.infer(corpus, named, outside=outside)
        if more is not None:
            labels = LabelSet(
                sorted({*labels.names, *(split_names(more) or ())}), labels.scheme, outside
            )
        if longest != 1:
            gold = [sentence.labels or () for sentence in corpus]
            try:
                segmentation = Segmentation.choose(labels, gold, longest)
            except TrellisworkError as error:
                if error.sequence is None:
                    raise
                raise placed(error, reader.place(str(data), error.sequence)) from error
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
    if corpus is not None and data is not None:
        for index, sentence in enumerate(corpus):
            try:
                labels.allowed(sentence.labels or ())
            except LabelError as error:
                raise LabelError(f"{reader.place(data, index)}: {error}") from error
        broken = count_violations(
            constraints,
            [sentence.labels or () for sentence in corpus],
            scheme=labels,
            sentences=list(corpus),
        )
    if as_json:
        record = _record(found, constraints, findings, broken)
        typer.echo(json.dumps(record, indent=2, ensure_ascii=False))
    else:
        examples = {} if broken is None else _examples(broken, reader, str(data))
        _show(found, findings, broken, corpus, examples)


def _explain_input(
    tagger: Tagger,
    source: str,
    data_format: Format | None,
    columns: tuple[str, ...] | None,
    separator: str | None,
    comment: str | None,
    *,
    limit: int | None,
    as_json: bool,
) -> None:
    """Decode sentences with and without rules, and show the difference."""
    if not tagger.plan_.constraints:
        raise ValueError("explain: expected rules: of the model, from --rules or from --rule.")
    reading = choose_format(source, data_format)
    lines = PlacedLines(
        StandardInput() if source == "-" else source, one_each=reading is Format.JSONL
    )
    separator = separator or tagger.metadata_.get("separator")
    sentences = iter_sentences(tagger, lines, reading, columns, separator, comment)
    show_changes(
        tagger.set_params(on_infeasible="relax"),
        PlacedSentences(sentences, lines),
        limit=limit,
        as_json=as_json,
    )


def _examples(
    broken: tuple[RuleViolations, ...], reader: CorpusReader, data: str
) -> dict[int, str]:
    """Return the places of the sentences that are shown, by their index."""
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
            "states": found.training.automaton.n_states,
            "arcs": found.training.automaton.n_arcs,
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
    typer.echo(f"{len(labels)} labels ({labels.scheme}): {' '.join(labels.names)}")
    _heading("Plan")
    typer.echo(str(found))
    _heading("Findings")
    typer.echo("\n".join(str(finding) for finding in findings) or "none")
    if broken is not None and corpus is not None:
        _heading("Gold labels that break a rule")
        typer.echo(rule_table([("sentences", broken)]))
        for count in broken:
            if count.example is not None:
                sentence = corpus[count.example]
                names = [str(label) for label in sentence.labels or ()]
                reasons = " ".join(count.rule.explain(names, sentence, scheme=labels))
                place = examples[count.example]
                typer.echo(f"\n{place}: {shorten(repr(count.rule))}: {reasons}")
                typer.echo(
                    " ".join(f"{t}/{y}" for t, y in zip(sentence.tokens, names, strict=True))
                )


def _heading(text: str) -> None:
    typer.secho(f"\n{text}", bold=True)
