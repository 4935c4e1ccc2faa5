"""The ``trelliswork`` program: its commands and global options."""

from __future__ import annotations

import io
import logging
import sys
from typing import Annotated

import typer

from trelliswork import __version__
from trelliswork.cli.cite import cite
from trelliswork.cli.deferred import deferred
from trelliswork.cli.errors import ReportingGroup
from trelliswork.cli.output import show
from trelliswork.cli.signals import end_at_once

__all__ = ["app", "main"]

app = typer.Typer(
    name="trelliswork",
    cls=ReportingGroup,
    no_args_is_help=True,
    add_completion=False,
    # Tracebacks are shown with --debug only, in the form of Python.
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)
# The commands, each in a module of the same name, with the first sentence of its help.
COMMANDS = {
    "train": "Train a tagger and write it to a file: a CRF over tokens or segments, an HMM, a "
    "perceptron.",
    "tag": "Label sentences as they come in, in constant memory.",
    "evaluate": "Score predicted labels: accuracy, precision, recall and F1 of every field, "
    "calibration.",
    "explain": "Show what rules compile into, which are superfluous, and which the gold labels "
    "break.",
    "inspect": "Show what a model has learned: sizes, templates, top features and transitions, "
    "training.",
    "select": "Choose feature templates by group lasso, and train a small model that has only "
    "these.",
}
for name, summary in COMMANDS.items():
    app.command(name, cls=deferred(name), help=summary)(lambda: None)
app.add_typer(cite.app, name="cite")


def _show_version(asked: bool) -> None:
    if asked:
        show(f"trelliswork {__version__}")
        raise typer.Exit


@app.callback(
    epilog="""Examples:

- `trelliswork train train.conll --dev dev.conll --out m.tw --features chunking`

- `trelliswork tag m.tw < in.conll > out.conll`

- `trelliswork evaluate gold.conll out.conll`

- `trelliswork inspect m.tw`

- `trelliswork select train.conll --dev dev.conll --features chunking --templates kept.txt`

- `trelliswork explain --rules rules.txt --data train.conll`

- `trelliswork cite refs.txt > refs.bib`
"""
)
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
    debug: Annotated[
        bool,
        typer.Option("--debug", help="Show the log of the library and tracebacks of errors."),
    ] = False,
) -> None:
    """Sequence labelling under rules: train, tag, evaluate and inspect models."""
    if debug:
        logging.basicConfig(level=logging.DEBUG, format="%(name)s: %(message)s")


def main() -> None:
    """Run the program. This is the entry point of the package."""
    end_at_once()
    for stream in (sys.stdout, sys.stderr):
        # Tables are drawn with "─", which not every terminal can show.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    app()
