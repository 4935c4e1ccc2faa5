"""Lets docstrings use the roles of Sphinx: ``:func:`~package.name` `` becomes a link."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from griffe import Extension

if TYPE_CHECKING:
    from griffe import Object

ROLE = re.compile(r":(?:class|func|meth|mod|attr):`(?P<short>~?)(?P<path>[\w.]+)`")


class Roles(Extension):
    """Rewrites the roles in every docstring before it is parsed."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Rewrite one docstring."""
        if obj.docstring is not None:
            obj.docstring.value = ROLE.sub(_link, obj.docstring.value)


def _link(role: re.Match[str]) -> str:
    path = role["path"]
    if not path.startswith("trelliswork."):
        return f"`{path}`"
    return f"[`{path.rpartition('.')[2] if role['short'] else path}`][{path}]"
