"""Commands whose modules are imported when they are run.

To import all of them takes longer than most runs of one, and than anyone wants to wait for help.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand

__all__ = ["deferred"]


def deferred(name: str) -> type[TyperCommand]:
    """Return the class of a command, a function in the module ``trelliswork.cli.<name>``.

    The function is called like the last part of that name. The module also has ``EXAMPLES``, which
    end its help.
    """
    command = name.rpartition(".")[2]

    class Deferred(TyperCommand):
        """A name and a line of help; the command itself as soon as there are arguments for it."""

        def make_context(self, *args: Any, **extra: Any) -> Any:
            module = import_module(f"trelliswork.cli.{name}")
            alone = typer.Typer(add_completion=False, rich_markup_mode="markdown")
            alone.command(command, epilog=module.EXAMPLES)(getattr(module, command))
            return typer.main.get_command(alone).make_context(*args, **extra)

    return Deferred
