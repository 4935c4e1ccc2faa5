"""Text for the terminal: all that the commands show goes through here.

Labels, features and names of files come from others. A terminal would obey escape sequences in
them, so control characters are shown as pictures instead. Data for other programs, such as the
output of ``tag``, are written as they are.
"""

from __future__ import annotations

import json
import re
from typing import Any

import typer

__all__ = ["say", "show", "show_heading", "show_json", "visible"]

# Control characters except tab and line feed, and those that change the direction of text.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def show(text: str = "", *, err: bool = False) -> None:
    """Write text to standard output, or to standard error."""
    typer.echo(visible(text), err=err)


def show_heading(text: str) -> None:
    """Write a heading to standard output, after an empty line."""
    typer.secho(f"\n{visible(text)}", bold=True)


def show_json(record: Any) -> None:
    """Write a value to standard output as JSON."""
    text = json.dumps(record, indent=2, ensure_ascii=False)
    typer.echo(_CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text))


def say(message: str) -> None:
    """Write a message to standard error, after the name of the program."""
    typer.echo(f"trelliswork: {visible(message)}", err=True)


def visible(text: str) -> str:
    r"""Return text in which control characters are pictures or escapes.

    Examples
    --------
    >>> visible("\x1b[31mred\x9b")
    '␛[31mred\\x9b'
    """
    return _CONTROL.sub(_picture, text)


def _picture(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
