"""Commands whose modules are imported when they run.

Importing all of them takes longer than most runs of one command, and than the help should take.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand

from trelliswork.cli.help import PlainCommand
from trelliswork.cli.output import say
from trelliswork.cli.panels import spelled_out
from trelliswork.cli.signals import ending_signals

__all__ = ["deferred"]


class EndingCommand(PlainCommand):
    """A command that signals end."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        with ending_signals() as ending:
            try:
                return super().invoke(ctx)
            except KeyboardInterrupt:
                say("interrupted")
                raise typer.Exit(ending.exit_code) from None


def deferred(name: str) -> type[TyperCommand]:
    """Return a command class that imports and runs a function of ``trelliswork.cli.<name>``.

    The function is called like the last part of the name. The ``EXAMPLES`` of the module end its
    help.
    """
    command = name.rpartition(".")[2]

    class Deferred(TyperCommand):
        """A name and a line of help; the command is imported to read its arguments."""

        def make_context(self, *args: Any, **extra: Any) -> Any:
            module = import_module(f"trelliswork.cli.{name}")
            alone = typer.Typer(add_completion=False, rich_markup_mode="markdown")
            run = spelled_out(getattr(module, command))
            alone.command(command, cls=EndingCommand, epilog=module.EXAMPLES)(run)
            return typer.main.get_command(alone).make_context(*args, **extra)

    return Deferred
