"""Parse a list of references in a dozen styles with the model that ships with the package.

Prints each reference with its fields in colour and how sure they are, and what the rules changed;
writes BibTeX and a page to look at. The model has never seen these references: it was trained on
generated ones. From a shell, the same is

    trelliswork cite examples/references.txt --output references.bib --html references.html
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from trelliswork.citations import Parser
from trelliswork.citations.page import render_page
from trelliswork.citations.writing.formats import FORMATS

if TYPE_CHECKING:
    from trelliswork.citations import Reference

HERE = Path(__file__).parent
COLOURS = {
    "author": "bright_cyan",
    "editor": "cyan",
    "translator": "cyan",
    "title": "bright_green",
    "journal": "magenta",
    "booktitle": "bright_magenta",
    "series": "magenta",
    "volume": "dodger_blue1",
    "issue": "dodger_blue1",
    "pages": "bright_blue",
    "date": "bright_yellow",
    "edition": "grey62",
    "publisher": "gold3",
    "location": "sandy_brown",
    "institution": "orange3",
    "tech": "salmon1",
}
SURE = 0.9


def show(console: Console, document: str, reference: Reference) -> None:
    """Print a reference, its fields and what the rules changed."""
    start = reference.start
    coloured = Text(document[start : reference.end])
    fields = Text()
    for field in reference.fields:
        colour = COLOURS.get(field.label, "grey62")
        coloured.stylize(colour, field.start - start, field.end - start)
        fields.append(f"  {field.label:<12}", colour)
        sure = "bold" if field.confidence >= SURE else "dim"
        fields.append(f"{field.confidence:4.0%}  ", sure)
        fields.append(shorten(field.text, console.width - 24) + "\n")
    console.print(Text(f"[{reference.key}] {reference.type}", "bold"))
    console.print(coloured)
    console.print(fields, end="")
    read = {(field.label, field.start, field.end) for field in reference.fields}
    alone = [f for f in reference.unruled if (f.label, f.start, f.end) not in read]
    if alone:
        said = "; ".join(f"{field.label}: {field.text}" for field in alone)
        rules = " and ".join(reference.broken_rules)
        console.print(Text(f"  The model alone reads {said}, which breaks {rules}.", "dim"))
    console.print()


def main(output: Path) -> None:
    console = Console(highlight=False)
    document = (HERE / "references.txt").read_text(encoding="utf-8")
    began = time.perf_counter()
    parser = Parser.load()
    loaded = time.perf_counter()
    references = parser.parse(document)
    read = time.perf_counter()
    for reference in references:
        show(console, document, reference)
    output.mkdir(parents=True, exist_ok=True)
    bibtex, page = output / "references.bib", output / "references.html"
    bibtex.write_text(FORMATS["bibtex"](references), encoding="utf-8")
    page.write_text(render_page(references, source="references.txt"), encoding="utf-8")
    changed = sum(bool(reference.unruled) for reference in references)
    console.print(
        f"[bold]{len(references)} references[/]: model loaded in {loaded - began:.2f} s, all read "
        f"in {read - loaded:.2f} s; rules changed the reading of {changed}.\n"
        f"BibTeX: {bibtex}\nA page to look at: {page}"
    )


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "build/demo"))
