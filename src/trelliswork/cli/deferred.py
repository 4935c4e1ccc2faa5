"""Commands whose modules are imported when they run.

Importing all of them takes longer than most runs of one command, and than the help should take.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand

from trelliswork.cli.panels import spelled_out

__all__ = ["deferred"]


def deferred(name: str) -> type[TyperCommand]:
    """Return a command class that imports and runs ``trelliswork.cli.<name>.<name>``.

    The ``EXAMPLES`` of that module end its help.
    """

    class Deferred(TyperCommand):
        """A name and a line of help; the command is imported to read its arguments."""

        def make_context(self, *args: Any, **extra: Any) -> Any:
            module = import_module(f"trelliswork.cli.{name}")
            alone = typer.Typer(add_completion=False, rich_markup_mode="markdown")
            alone.command(name, epilog=module.EXAMPLES)(spelled_out(getattr(module, name)))
            return typer.main.get_command(alone).make_context(*args, **extra)

    return Deferred
