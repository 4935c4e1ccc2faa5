"""``trelliswork cite review``: write the least certain references for correction by hand."""

from __future__ import annotations

from typing import Annotated

import typer

from trelliswork.cli.cite.input import Model, Source, open_parser, read_document
from trelliswork.cli.output import say
from trelliswork.cli.targets import check_targets
from trelliswork.data.files import open_for_writing

__all__ = ["EXAMPLES", "review"]

EXAMPLES = """Examples:

- `trelliswork cite review refs.txt > review.txt`

- `$EDITOR review.txt`

- `trelliswork cite train --add review.txt --out mine.tw`
"""


def review(
    source: Source = "-",
    model: Model = None,
    most: Annotated[
        int, typer.Option("--most", "-n", min=1, metavar="N", help="Number of references.")
    ] = 20,
    output: Annotated[
        str,
        typer.Option("--output", "-o", metavar="FILE", help="Output file; - is standard output."),
    ] = "-",
) -> None:
    """Write the least certain references to a text file, for correction by hand.

    The file has one field per line, the least certain reference first, and instructions at its top.
    `cite train --add` learns from the corrected file in seconds.
    """
    from trelliswork.citations.review import write_review

    check_targets({"--output": output}, [source, model])
    document = read_document(source)
    found = open_parser(model).iterate(document.text, name=document.name)
    references = [reference for reference in found if reference.tokens]  # the others were not read
    with open_for_writing(output) as stream:
        stream.write(write_review(references, most=most))
    say(f"{min(most, len(references))} of {len(references)} references to review.")
