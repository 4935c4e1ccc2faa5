"""Lets docstrings use three habits of reStructuredText in a Markdown site.

Roles such as ``:func:`~package.name` `` become links, tables ruled with ``=`` become tables of
Markdown, and a literal block keeps one of its two colons.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from griffe import Extension

if TYPE_CHECKING:
    from griffe import Object

ROLE = re.compile(r":(?:class|func|meth|mod|attr):`(?P<short>~?)(?P<path>[\w.]+)`")
RULE = r"=+(?: +=+)+"
TABLE = re.compile(rf"^{RULE}\n(?:.+\n)*?(?:{RULE}\n(?:.+\n)*?)?{RULE}$", re.MULTILINE)
LITERAL = re.compile(r"::$", re.MULTILINE)


class Roles(Extension):
    """Rewrites every docstring before it is parsed."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Rewrite one docstring."""
        if obj.docstring is not None:
            text = ROLE.sub(_link, obj.docstring.value)
            text = TABLE.sub(_table, text)
            obj.docstring.value = LITERAL.sub(":", text)


def _link(role: re.Match[str]) -> str:
    path = role["path"]
    if not path.startswith("trelliswork."):
        return f"`{path}`"
    return f"[`{path.rpartition('.')[2] if role['short'] else path}`][{path}]"


def _table(ruled: re.Match[str]) -> str:
    lines = ruled.group().splitlines()
    starts = [column.start() for column in re.finditer("=+", lines[0])]
    ends = [*starts[1:], None]
    rows = [
        [line[a:b].strip().replace("|", r"\|") for a, b in zip(starts, ends, strict=True)]
        for line in lines
        if not re.fullmatch(RULE, line)
    ]
    has_header = re.fullmatch(RULE, lines[2]) is not None
    header = rows.pop(0) if has_header else [""] * len(starts)
    return "\n".join(f"| {' | '.join(row)} |" for row in [header, ["---"] * len(starts), *rows])
