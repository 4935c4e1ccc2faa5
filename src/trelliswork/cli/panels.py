"""Option groups: dataclasses whose fields are the options of one help panel."""

from __future__ import annotations

import inspect
from copy import copy
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any, TypeGuard, get_args, get_type_hints

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["spelled_out"]


def spelled_out(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command for typer, with one parameter for each option of its groups.

    A parameter of `command` whose annotation is a dataclass is an option group. Each field of the
    dataclass is an option with the name, the `typer.Option` annotation and the default of the
    field, or another group. The class variable ``panel`` names the help panel of the options.
    """
    signature = inspect.signature(command, eval_str=True)
    groups: dict[str, type[Any]] = {}
    parameters: list[inspect.Parameter] = []
    for name, parameter in signature.parameters.items():
        if _is_group(parameter.annotation):
            groups[name] = parameter.annotation
            parameters += _parameters(parameter.annotation)
        else:
            parameters.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))

    @wraps(command)
    def run(**values: Any) -> None:
        taken = {name: _take(group, values) for name, group in groups.items()}
        command(**values, **taken)

    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return run


def _parameters(group: type[Any]) -> list[inspect.Parameter]:
    """Return the options of a group as the parameters of a function."""
    found: list[inspect.Parameter] = []
    for name, default, annotation in _options(group):
        if _is_group(annotation):
            found += _parameters(annotation)
            continue
        kind, option = get_args(annotation)
        option = copy(option)
        option.rich_help_panel = group.panel
        found.append(
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=inspect.Parameter.empty if default is MISSING else default,
                annotation=Annotated[kind, option],
            )
        )
    return found


def _take(group: type[Any], values: dict[str, Any]) -> Any:
    """Build a group from the values of its options, which are removed from `values`."""
    return group(
        **{
            name: _take(annotation, values) if _is_group(annotation) else values.pop(name)
            for name, _, annotation in _options(group)
        }
    )


def _options(group: type[Any]) -> list[tuple[str, Any, Any]]:
    """Return the name, the default and the annotation of each field."""
    annotations = get_type_hints(group, include_extras=True)
    return [(field.name, field.default, annotations[field.name]) for field in fields(group)]


def _is_group(annotation: object) -> TypeGuard[type[Any]]:
    return isinstance(annotation, type) and is_dataclass(annotation)
