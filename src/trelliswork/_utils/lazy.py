"""Packages that import their names on first use.

The names are listed once, in the package's stub (``__init__.pyi``), which type checkers read too.
"""

from __future__ import annotations

import ast
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["attach_stub"]


def attach_stub(
    package: str, file: str
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package.

    Parameters
    ----------
    package
        Its name, ``__name__``.
    file
        Its file, ``__file__``. The stub beside it has a line ``from module import name as name``
        for every name.
    """
    stub = ast.parse(Path(file).with_suffix(".pyi").read_text(encoding="utf-8"))
    module_of = {
        alias.name: node.module
        for node in stub.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }

    def get(name: str) -> Any:
        module = module_of.get(name)
        if module is not None and module != package:
            value = getattr(import_module(module), name)
        elif name.startswith("__") or find_spec(f"{package}.{name}") is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        else:  # a module of the package
            value = import_module(f"{package}.{name}")
        setattr(sys.modules[package], name, value)
        return value

    names = sorted(module_of)

    def list_names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *names})

    return get, list_names, names
