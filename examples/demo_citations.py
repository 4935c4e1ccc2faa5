"""Train a citation tagger on well-known works, then parse references it has never seen.

The training data is made here and now: 315 bibliographic records that ship with the package,
rendered in 20 citation styles with the noise that real references have. Scores are for works *and*
styles that were held out. Then rules, and what they cost: each field in one piece.
"""

from __future__ import annotations

import time
from textwrap import shorten

from rich.console import Console
from rich.table import Table
from rich.text import Text

import trelliswork as tw
from trelliswork.citations import (
    FRESH_REFERENCES,
    STYLES,
    TOKENIZER,
    LabelledReference,
    load_works,
    split,
)

COLOURS = {
    "author": "bright_cyan",
    "booktitle": "bright_magenta",
    "date": "bright_yellow",
    "editor": "cyan",
    "institution": "orange3",
    "journal": "magenta",
    "location": "sandy_brown",
    "note": "grey62",
    "pages": "bright_blue",
    "publisher": "gold3",
    "tech": "salmon1",
    "title": "bright_green",
    "volume": "dodger_blue1",
}


def as_corpus(references: list[LabelledReference]) -> tw.Corpus:
    return tw.Corpus.from_lists([r.tokens for r in references], [r.labels for r in references])


def show_scores(console: Console, tagger: tw.CRFTagger, sets: dict[str, tw.Corpus]) -> None:
    reports = {name: tw.report(corpus, tagger.predict(corpus)) for name, corpus in sets.items()}
    table = Table(title="F1 by field, exact spans", title_justify="left")
    table.add_column("field")
    for name, corpus in sets.items():
        table.add_column(f"{name}\n({len(corpus)} references)", justify="right")
    fields = [{scores.name: scores for scores in report.fields} for report in reports.values()]
    for field in tagger.classes_:
        row = [by_name.get(field) for by_name in fields]
        cells = [f"{100 * scores.f1:.1f}" if scores else "" for scores in row]
        table.add_row(Text(field, COLOURS.get(field, "")), *cells)
    table.add_section()
    table.add_row("all fields", *(f"{100 * r.f1:.1f}" for r in reports.values()))
    table.add_row("token accuracy", *(f"{100 * r.token_accuracy:.1f}" for r in reports.values()))
    console.print(table)


def show_rules(console: Console, tagger: tw.CRFTagger, train: tw.Corpus, test: tw.Corpus) -> None:
    # A field that is never split in training is one run of tokens, wherever it occurs.
    rules = [
        rule
        for rule in map(tw.contiguous, tagger.classes_)
        if not any(rule.violations(reference.labels, scheme="plain") for reference in train)
    ]
    table = Table(title="References that break a rule, and F1", title_justify="left")
    for column in ("", "break a rule", "F1", "time"):
        table.add_column(column, justify="left" if not column else "right")
    for name, constraints in (("without rules", ()), ("with rules", rules)):
        ruled = tagger.with_constraints(constraints)
        began = time.perf_counter()
        predicted = ruled.predict(test)
        seconds = time.perf_counter() - began
        broken = sum(any(r.violations(p, scheme="plain") for r in rules) for p in predicted)
        scores = tw.report(test, predicted)
        table.add_row(name, f"{broken}", f"{100 * scores.f1:.1f}", f"{seconds:.2f} s")
    console.print(
        f"\n[bold]{len(rules)} rules[/], one for each field that is never split in training: "
        f"[dim]{', '.join(map(repr, rules[:3]))}, …[/]"
    )
    console.print(table)


def show_parse(console: Console, tagger: tw.CRFTagger, text: str) -> None:
    sentence = TOKENIZER.tokenize(text)
    (labels,) = tagger.predict([sentence])
    (marginals,) = tagger.predict_marginals([sentence])
    coloured = Text(text)
    fields = Text()
    for start, end, name in tagger.labels_.spans(labels):
        first, last = sentence.offsets[start][0], sentence.offsets[end - 1][1]
        coloured.stylize(COLOURS.get(name, ""), first, last)
        # As sure of a field as of its least certain token.
        confidence = marginals[start:end, tagger.labels_.id(name)].min()
        fields.append(f"  {name:<12}", COLOURS.get(name, ""))
        fields.append(f"{confidence:4.0%}  ", "bold" if confidence > 0.9 else "dim")
        fields.append(shorten(text[first:last].strip(" ,.;:"), console.width - 24) + "\n")
    console.print(coloured)
    console.print(fields)


def main() -> None:
    console = Console(highlight=False)
    began = time.perf_counter()
    data = split(load_works(), STYLES, seed=0)
    train, dev = as_corpus(data.train), as_corpus(data.dev)
    console.print(
        f"[bold]{len(load_works())} works in {len(STYLES)} styles[/]: "
        f"{len(train)} references to learn from, {sum(map(len, train)):,} tokens."
    )
    tagger = tw.CRFTagger(features="citation", l2=0.1, max_iter=100, verbose=True)
    tagger.fit(train, dev=dev)
    console.print(
        f"Trained {tagger.model_.state.weights.size:,} weights in {tagger.n_iter_} iterations "
        f"({tagger.stop_reason_.replace('_', ' ')}), {time.perf_counter() - began:.1f} s in all.\n"
    )
    sets = {
        "new works": as_corpus(data.new_works),
        "new works, new styles": as_corpus(data.new_styles),
    }
    show_scores(console, tagger, sets)
    show_rules(console, tagger, train, sets["new works, new styles"])
    console.print("\n[bold]References it has never seen[/] (how sure, then the field):\n")
    for reference in FRESH_REFERENCES:
        show_parse(console, tagger, reference)


if __name__ == "__main__":
    main()
