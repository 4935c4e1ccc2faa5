"""A package whose names are imported when they are asked for, not before."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["serve"]


def serve(package: str, names: Mapping[str, tuple[str, ...]]) -> None:
    """Let a package, and the modules in it, be asked for names that it has not imported.

    Parameters
    ----------
    package
        Its name. It is being imported.
    names
        What it offers, by the module that holds it, relative to the package.
    """
    module = sys.modules[package]
    module.__dict__["_module_of"] = {name: own for own, held in names.items() for name in held}
    module.__class__ = _Package


class _Package(ModuleType):
    """A package that imports what it is asked for.

    Some functions have the name of their module: ``trelliswork.plan`` is a function, in the module
    of that name. Python binds a module to its package wherever it is first imported; here that
    must not hide the function.
    """

    _module_of: dict[str, str]

    def __getattr__(self, name: str) -> Any:
        if name in self._module_of:
            value = getattr(import_module(f"{self.__name__}.{self._module_of[name]}"), name)
        elif name.startswith("__") or find_spec(f"{self.__name__}.{name}") is None:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        else:
            value = import_module(f"{self.__name__}.{name}")
        setattr(self, name, value)
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        if self._module_of.get(name) == name and isinstance(value, ModuleType):
            value = getattr(value, name)
        super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.__all__})
