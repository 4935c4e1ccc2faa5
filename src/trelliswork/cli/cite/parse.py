"""``trelliswork cite parse``: parse a list of references into records."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trelliswork.cli.cite.input import (
    Model,
    Source,
    counted,
    open_parser,
    read_document,
)
from trelliswork.cli.output import say
from trelliswork.cli.targets import check_targets
from trelliswork.data.files import open_for_writing

if TYPE_CHECKING:
    from trelliswork.citations.reference import Reference

__all__ = ["EXAMPLES", "parse"]

EXAMPLES = """Examples:

- `trelliswork cite refs.txt > refs.bib`

- `trelliswork cite paper.bbl --to csl-json --output refs.json --html refs.html`

- `trelliswork cite refs.txt --to jsonl --alternatives 3 | jq .confidence`

- `cat refs.txt | trelliswork cite --to ris`
"""

UNSURE = 0.5


class Format(StrEnum):
    """Output formats."""

    BIBTEX = "bibtex"
    CSL_JSON = "csl-json"
    RIS = "ris"
    JSONL = "jsonl"
    CONLL = "conll"


def parse(
    source: Source = "-",
    to: Annotated[
        Format | None,
        typer.Option(
            "--to",
            "-t",
            metavar="FORMAT",
            help=f"Output format: {', '.join(Format)}. Default: bibtex; none if --html is given "
            "alone.",
        ),
    ] = None,
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Output file, written only when complete; - is standard output.",
        ),
    ] = "-",
    html: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write an HTML page, too: fields in colour, confidences, changes by the rules.",
        ),
    ] = None,
    model: Model = None,
    alternatives: Annotated[
        int,
        typer.Option(
            min=0, metavar="K", help="Add K alternative readings of each reference (jsonl, HTML)."
        ),
    ] = 0,
    exact: Annotated[
        bool,
        typer.Option(
            "--exact",
            help="Compute confidences under all rules at once instead of the relevant ones. Slow: "
            "a few references per second.",
        ),
    ] = False,
) -> None:
    """Parse references into records.

    Every record obeys the rules of the model: one title, one journal or book, and so on. JSON lines
    hold everything: typed values, the place and confidence of each field, alternative readings. A
    line at the end gives the numbers of references read and of uncertain ones.
    """
    from trelliswork.citations.writing import FORMATS

    if html == Path("-"):
        raise typer.BadParameter(
            "expected a file to write the page to, got '-'.", param_hint="--html"
        )
    if to is None and (html is None or output != "-"):
        to = Format.BIBTEX
    check_targets({"--output": output, "--html": html}, [source, model])
    parser = open_parser(model)
    document = read_document(source)
    found = parser.iterate(
        document.text,
        name=document.name,
        alternatives=alternatives,
        exact=exact,
        by_field=html is not None or to is Format.JSONL,  # the others do not write it
    )
    references = list(counted(found))
    if to is not None:
        with open_for_writing(output) as stream:
            stream.write(FORMATS[to.value](references))
    if html is not None:
        from trelliswork.citations.page import render_page

        with open_for_writing(html) as stream:
            stream.write(render_page(references, source=document.name))
    _summarise(references, html)


def _summarise(references: list[Reference], html: Path | None) -> None:
    if not references:
        say("No references: the input has no text.")
        return
    from trelliswork.citations.parser import LONGEST

    unsure = sum(reference.confidence < UNSURE for reference in references)
    changed = sum(bool(reference.unruled) for reference in references)
    unread = sum(not reference.tokens for reference in references)
    said = [
        f"{len(references)} reference{'s' if len(references) > 1 else ''}, {unsure} uncertain "
        f"(below {UNSURE}), {changed} where rules changed the reading."
    ]
    if unread:
        said.append(f"{unread} not read: more than {LONGEST:,} characters, or no words.")
    if html is not None:
        said.append(f"Look at {html}.")
    say(" ".join(said))
