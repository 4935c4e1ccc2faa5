"""Commands and groups of commands whose help shows flags without a type."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand, TyperGroup

__all__ = ["PlainCommand", "PlainGroup"]


class PlainCommand(TyperCommand):
    """A command."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return arguments and options."""
        return _without_types(super().get_params(ctx))


class PlainGroup(TyperGroup):
    """A group of commands."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return arguments and options."""
        return _without_types(super().get_params(ctx))


def _without_types(parameters: list[Any]) -> list[Any]:
    """Set the metavariable of flags to nothing; the default is ``<bool>``, like a value."""
    for parameter in parameters:
        if getattr(parameter, "is_flag", False):
            parameter.metavar = ""
    return parameters
