"""Shapes of words, and the table of character classes behind them.

The shape of a word stands for it if the word is unknown. The table has the classes and the case of
every code point, for the core. It is computed from Python's own string methods, so that the core
agrees with the Python that it runs in; once a process, and only if a template needs case, shapes,
patterns or lexicons.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from trelliswork import _core

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from trelliswork._typing import BoolArray


__all__ = ["unicode_table", "word_shape"]


def word_shape(word: str) -> str:
    """Return the shape of a word: its kinds of characters, in runs of limited length.

    ``X`` is one capital, ``XX`` several; ``x`` is a run of other letters; digits are counted up to
    five; any other character stays, once a run.

    Examples
    --------
    >>> [word_shape(word) for word in ("Smith", "J", "ACM", "1999", "123456", "pp", "--", "e.g.")]
    ['Xx', 'X', 'XX', '9999', '99999', 'x', '-', 'x.x.']
    """
    kinds = "".join(map(_kind, word))
    return _RUNS.sub(lambda run: run[0][: _LONGEST_RUN.get(run[1], 1)], kinds)


def _kind(character: str) -> str:
    if character.isupper():
        return "X"
    if character.isalpha():
        return "x"
    return "9" if character.isdecimal() else character


_RUNS = re.compile(r"(.)\1*", re.DOTALL)

_LONGEST_RUN = {"X": 2, "9": 5}

_N_CODE_POINTS = 0x110000

# The order of the bits in the core's CharacterClass.
_CLASSES: tuple[Callable[[NDArray[np.str_]], BoolArray], ...] = (
    np.char.isupper,
    np.char.islower,
    np.char.isalpha,
    np.char.isdigit,
    np.char.isdecimal,
    np.char.isalnum,
    np.char.isspace,
)


@cache
def unicode_table() -> _core.UnicodeTable:
    """Build the table of characters on first use."""
    code_points = np.arange(_N_CODE_POINTS, dtype=np.uint32)
    characters = code_points.view("=U1")
    classes = np.zeros(_N_CODE_POINTS, np.uint8)
    for bit, has_class in enumerate(_CLASSES):
        classes |= has_class(characters).astype(np.uint8) << np.uint8(bit)

    lower = np.zeros(_N_CODE_POINTS, np.int32)
    upper = np.zeros(_N_CODE_POINTS, np.int32)
    expansions = {}
    # Only cased letters change. No class has title case, so all letters that may be are tested.
    for code_point in np.flatnonzero(_may_change_case(classes)).tolist():
        character = chr(code_point)
        lowered, raised = character.lower(), character.upper()
        lower[code_point] = ord(lowered[0]) - code_point
        if len(lowered) > 1:
            expansions[code_point] = lowered
        if len(raised) == 1:
            upper[code_point] = ord(raised) - code_point
    return _core.UnicodeTable(classes, lower, upper, expansions)


def _may_change_case(classes: NDArray[np.uint8]) -> BoolArray:
    """Return which code points may change in lower or upper case."""
    is_cased: BoolArray = (classes & 0b11) != 0
    # Title-case letters are neither upper nor lower; all of them lie below this bound.
    is_alpha = (classes & 0b100) != 0
    is_alpha[0x2000:] = False
    is_cased |= is_alpha
    return is_cased
