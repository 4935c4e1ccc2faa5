"""Shapes of words: what a word looks like, where nothing else is known of it."""

from __future__ import annotations

import re

__all__ = ["word_shape"]


def word_shape(word: str) -> str:
    """Return what a word looks like: which kinds of characters, and how many where it matters.

    ``X`` is one capital and ``XX`` are several, ``x`` is any number of other letters, digits are
    counted up to five, and anything else stays, once.

    Examples
    --------
    >>> [word_shape(word) for word in ("Smith", "J", "ACM", "1999", "123456", "pp", "--", "e.g.")]
    ['Xx', 'X', 'XX', '9999', '99999', 'x', '-', 'x.x.']
    """
    kinds = "".join(map(_kind, word))
    return _RUNS.sub(lambda run: run[0][: _LONGEST_RUN.get(run[1], 1)], kinds)


_RUNS = re.compile(r"(.)\1*", re.DOTALL)
_LONGEST_RUN = {"X": 2, "9": 5}


def _kind(character: str) -> str:
    if character.isupper():
        return "X"
    if character.isalpha():
        return "x"
    return "9" if character.isdecimal() else character
