"""``trelliswork cite adapt``: adapt a model to unlabelled references."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from trelliswork.cli.cite.input import Model, Source, load_trainable, read_document
from trelliswork.cli.output import say
from trelliswork.cli.targets import check_targets

__all__ = ["EXAMPLES", "adapt"]

EXAMPLES = """Examples:

- `trelliswork cite adapt refs.txt --out mine.tw`

- `trelliswork cite refs.txt --model mine.tw > refs.bib`
"""

FEW = 30


def adapt(
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="Model file to write.")],
    source: Source = "-",
    model: Model = None,
    cycles: Annotated[
        int, typer.Option(min=1, metavar="N", help="Number of passes over the references.")
    ] = 1,
) -> None:
    """Adapt a model to your own references, without labels.

    The model labels your references under its rules and learns from the labels that it is sure of,
    while it stays close to its old weights. Start with a hundred references or more of the kind
    that you want to read. This takes seconds.
    """
    from trelliswork.citations.adaptation import adapt
    from trelliswork.citations.documents import split_references
    from trelliswork.citations.fields import TOKENIZER
    from trelliswork.citations.parser import LONGEST

    began = time.perf_counter()
    check_targets({"--out": out}, [source])
    document = read_document(source)
    entries = split_references(document.text, name=document.name)
    read = [TOKENIZER.tokenize(entry.text) for entry in entries if len(entry.text) <= LONGEST]
    kept = [sentence for sentence in read if sentence.tokens]
    if 0 < len(kept) < FEW:
        say(f"{len(kept)} references are few; a hundred or more of one kind adapt better.")

    def show(cycle: int, used: int, changed: float) -> None:
        seconds = time.perf_counter() - began
        of = "" if used == len(entries) else f" (of {len(entries)} texts)"
        say(
            f"cycle {cycle}: {used} references{of}, {100 * changed:.1f}% of their labels changed, "
            f"{seconds:.1f} s"
        )

    adapted = adapt(load_trainable(model), kept, cycles=cycles, on_cycle=show)
    adapted.save(out)
    say(f"{out}: the adapted model.")
