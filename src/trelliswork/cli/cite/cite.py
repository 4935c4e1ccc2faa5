"""``trelliswork cite``: references in, records out; and models of one's own."""

from __future__ import annotations

import sys
from typing import Any

import typer
from typer.core import TyperGroup

from trelliswork.cli.deferred import deferred

__all__ = ["app"]

READ = "parse"


class ReadsByDefault(TyperGroup):
    """Commands of which one need not be named: ``cite refs.txt`` is ``cite parse refs.txt``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put in the name of the command that is meant."""
        given = args[0] if args else ""
        if not given and sys.stdin is not None and not sys.stdin.isatty():
            args = [READ]
        elif given and given not in self.commands and given not in ctx.help_option_names:
            args = [READ, *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=ReadsByDefault,
    no_args_is_help=True,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)
COMMANDS = {
    "parse": "Read references and write BibTeX, CSL-JSON, RIS, JSON lines or CoNLL columns. This "
    "is what `cite` does where no other command is named.",
    "adapt": "Adapt a model to references of your own, without labels.",
    "review": "Write the least certain references as text to be corrected by hand.",
    "train": "Train a model: on corrected references, on your own bibliography, or from the "
    "beginning.",
}
for name, summary in COMMANDS.items():
    app.command(name, cls=deferred(f"cite.{name}"), help=summary)(lambda: None)


@app.callback(
    epilog="""Examples:

- `trelliswork cite refs.txt > refs.bib`

- `trelliswork cite refs.txt --html refs.html`

- `pdftotext -f 11 -l 12 paper.pdf - | trelliswork cite --to csl-json`

- `trelliswork cite adapt refs.txt --out mine.tw`, then `trelliswork cite refs.txt --model mine.tw`

- `trelliswork cite review refs.txt > review.txt`, correct it, then
  `trelliswork cite train --add review.txt --out mine.tw`

`trelliswork cite parse --help` lists the options of the first three.
"""
)
def _cite() -> None:
    """Read references: BibTeX and the like from a list as it stands in a paper.

    Takes a text file, a `.bbl` file or standard input; lists with numbers, with keys in brackets
    and with hanging indents are split into references. A file that has the name of a command is
    given with its directory: `trelliswork cite ./train`.
    """
