"""``trelliswork cite``: parse references into records, and train models for it."""

from __future__ import annotations

import sys
from typing import Any

import typer

from trelliswork.cli.deferred import deferred
from trelliswork.cli.help import PlainGroup

__all__ = ["app"]

READ = "parse"


class ReadsByDefault(PlainGroup):
    """A group with a default command: ``cite refs.txt`` is ``cite parse refs.txt``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Insert the default command if no command is named."""
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
    "parse": "Parse references into BibTeX, CSL-JSON, RIS, JSON lines or CoNLL columns. This is "
    "the default command.",
    "adapt": "Adapt a model to your own references, without labels.",
    "review": "Write the least certain references to a text file, for correction by hand.",
    "train": "Train a model on corrected references, on your own bibliography, or from scratch.",
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

`trelliswork cite parse --help` lists the options of the first three examples.
"""
)
def _cite() -> None:
    """Parse the references of a paper into BibTeX and other formats.

    The input is a text file, a `.bbl` file or standard input. Lists with numbers, keys in brackets
    or hanging indents are split into references. Give a file that has the name of a command with
    its directory: `trelliswork cite ./train`.
    """
