"""Lexicons that users pass to templates."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from trelliswork.features.program import Lexicon

if TYPE_CHECKING:
    from collections.abc import Iterable

    LexiconSource: TypeAlias = Lexicon | str | os.PathLike[str] | Iterable[str]


def read_lexicon(source: LexiconSource) -> Lexicon:
    """Return a lexicon, given as one, as a file with one phrase a line, or as phrases."""
    if isinstance(source, Lexicon):
        return source
    if isinstance(source, str | os.PathLike):
        lines = Path(source).read_text(encoding="utf-8").splitlines()
        return Lexicon(tuple(line for line in lines if line.strip()))
    return Lexicon(tuple(source))


def normalise(lexicon: Lexicon) -> Lexicon:
    """Return the lexicon with single spaces between words and without empty phrases."""
    phrases = (" ".join(phrase.split()) for phrase in lexicon.phrases)
    return Lexicon(tuple(phrase for phrase in phrases if phrase), lexicon.cased)
