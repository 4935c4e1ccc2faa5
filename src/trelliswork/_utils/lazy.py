"""Packages that import their names on first use.

The names are listed once, in the package's stub (``__init__.pyi``), which type checkers read too.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
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
        Its file, ``__file__``. The stub beside it has ``name as name`` for every name, in lines or
        blocks of lines that begin with ``from module import``.
    """
    module_of, module = {}, ""
    # Neither `ast` nor `pathlib`: importing them takes longer than all the rest of this.
    with open(f"{file}i", encoding="utf-8") as stub:  # noqa: PTH123
        for line in stub:
            words = line.replace(",", "").split()
            if words[:1] == ["from"]:
                module = words[1]
            if words[-2:-1] == ["as"]:
                module_of[words[-1]] = module

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
        own = (name for name in vars(sys.modules[package]) if name.startswith("__"))
        return sorted({*own, *names})

    return get, list_names, names
