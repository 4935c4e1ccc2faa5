"""Places of sentences in files, for messages."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from trelliswork.data.conll import BLANK
from trelliswork.data.files import read_lines, source_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trelliswork.data.files import Source
    from trelliswork.data.sentence import Sentence

__all__ = ["PlacedLines", "PlacedSentences"]


class PlacedLines:
    """Lines that remember where the sentence last read begins.

    Parameters
    ----------
    source
        Source of the lines.
    one_each
        Whether every line is a sentence, as in JSON lines; else blank lines separate sentences.
    """

    def __init__(self, source: Source, *, one_each: bool) -> None:
        self.name = source_name(source)
        self.begin = 0
        self._lines = read_lines(source)
        self._one_each = one_each

    def __iter__(self) -> Iterator[str]:
        between = True
        for number, line in enumerate(self._lines, start=1):
            blank = not line.strip(BLANK)
            if self._one_each or (between and not blank):
                self.begin = number
            between = blank
            yield line


class PlacedSentences:
    """Sentences of a stream, each with the place where it begins.

    Parameters
    ----------
    sentences
        The sentences, read lazily from `lines`.
    lines
        The lines.
    """

    def __init__(self, sentences: Iterable[Sentence], lines: PlacedLines) -> None:
        self._sentences = sentences
        self._lines = lines
        self._begins: deque[int] = deque()

    def __iter__(self) -> Iterator[Sentence]:
        for sentence in self._sentences:
            self._begins.append(self._lines.begin)
            yield sentence

    @property
    def place(self) -> str:
        """File and line of the oldest unfinished sentence."""
        return f"{self._lines.name}:{self._begins[0]}"

    def done(self) -> None:
        """Finish the oldest sentence."""
        self._begins.popleft()
