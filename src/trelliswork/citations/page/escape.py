"""Text of references as HTML, whatever is in it."""

from __future__ import annotations

import re
from html import escape

__all__ = ["escaped", "percent"]

# HTML has no NUL and no other control characters; their pictures show that something was there.
_CONTROLS = {code: 0x2400 + code for code in range(32) if chr(code) not in "\t\n"}
# Halves of surrogate pairs, which damaged input has, are no characters: no encoding writes them.
_HALVES = dict.fromkeys(range(0xD800, 0xE000), 0xFFFD)
_PICTURES = {**_CONTROLS, 0x7F: 0x2421, **_HALVES}

# Characters that turn the direction of what follows, and those that end this.
_POP, _POP_ISOLATE = "\u202c", "\u2069"
_ENDS = {
    **dict.fromkeys("\u202a\u202b\u202d\u202e", _POP),
    **dict.fromkeys("\u2066\u2067\u2068", _POP_ISOLATE),
}
_TURNS = re.compile(f"[{_POP}{_POP_ISOLATE}{''.join(_ENDS)}]")


def escaped(text: str) -> str:
    """Return text that means nothing but itself, between tags and in quoted attributes.

    Nor does it change how the text after it is written: what turns its direction is ended in it.
    """
    shown = escape(text.translate(_PICTURES), quote=True)
    return _ended(shown) if _TURNS.search(shown) else shown


def _ended(text: str) -> str:
    """Return text in which every turn of direction ends, and nothing ends that has not begun."""
    open_ends: list[str] = []

    def kept(found: re.Match[str]) -> str:
        character = found[0]
        if character in _ENDS:
            open_ends.append(_ENDS[character])
        elif character not in open_ends or (character == _POP and open_ends[-1] != _POP):
            return ""
        else:
            while open_ends.pop() != character:
                pass  # to end an isolate ends all that began in it
        return character

    return _TURNS.sub(kept, text) + "".join(reversed(open_ends))


def percent(share: float) -> str:
    """Return a probability in whole percent; only what is certain is 0% or 100%.

    >>> percent(0.934), percent(0.9999), percent(0.0001), percent(1.0)
    ('93%', '&gt;99%', '&lt;1%', '100%')
    """
    if 0.0 < share < 0.005:
        return "&lt;1%"
    if 0.995 <= share < 1.0:
        return "&gt;99%"
    return f"{share:.0%}"
