"""Streaming input: batches of sentences in constant memory, without delay when input pauses."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, TypeAlias, cast

from trelliswork.data.files import read_lines, source_name, standard_input
from trelliswork.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from io import BufferedReader

    from trelliswork.cli.errors import PlacedLines
    from trelliswork.data.sentence import Sentence
    from trelliswork.data.tokenizer import Tokenizer

__all__ = ["Lines", "RememberedLines", "StandardInput", "batches", "iter_raw"]

Lines: TypeAlias = "str | StandardInput | PlacedLines | RememberedLines"
"""Source of lines: a path, standard input, or either of them placed or remembered."""

MAX_SENTENCES = 512
MAX_TOKENS = 20_000
CHUNK = 1 << 16  # what a pipe holds


class StandardInput:
    """The lines of standard input; `has_line` tells whether the next one is available."""

    name = "<stdin>"

    def __init__(self) -> None:
        self._waiting = 0

    @property
    def has_line(self) -> bool:
        """Whether the next line is available without waiting."""
        return self._waiting > 0

    def __iter__(self) -> Iterator[bytes]:
        # A buffered reader, or a stand-in with the same methods in tests.
        stream = cast("BufferedReader", standard_input())
        rest: list[bytes] = []  # pieces of an unfinished line
        while chunk := stream.read1(CHUNK):
            first, *others = chunk.split(b"\n")
            rest.append(first)
            if others:
                lines = [b"".join(rest), *others[:-1]]
                rest = [others[-1]]
                self._waiting = len(lines)
                for line in lines:
                    self._waiting -= 1
                    yield line
        if any(rest):
            yield b"".join(rest)


class RememberedLines:
    """Lines that can be recalled after their sentences have been read.

    A reader of JSON lines keeps the tokens of a record but not the rest, such as an id.

    Parameters
    ----------
    source
        Source of the lines.
    """

    def __init__(self, source: Lines) -> None:
        self.name = source_name(source)
        self._lines = read_lines(source)
        self._remembered: deque[str] = deque()

    def __iter__(self) -> Iterator[str]:
        for line in self._lines:
            if line.strip():
                self._remembered.append(line)
            yield line

    def recall(self) -> str:
        """Return the oldest line, except blank ones, that has not been recalled yet."""
        return self._remembered.popleft()


def iter_raw(source: Lines, tokenizer: Tokenizer) -> Iterator[Sentence]:
    """Yield the tokens of each line of raw text, with their offsets."""
    for line in read_lines(source):
        yield tokenizer.tokenize(line)


def batches(
    sentences: Iterable[Sentence], standard_input: StandardInput | None
) -> Iterator[list[Sentence]]:
    """Yield sentences in lists of bounded size.

    A list ends early if the next sentence is not available yet, so that a program at the other end
    of a pipe gets its answer, and before a faulty line, so that earlier sentences are not lost.

    Parameters
    ----------
    sentences
        The sentences.
    standard_input
        Standard input, if the sentences come from it.
    """
    batch: list[Sentence] = []
    tokens = 0
    try:
        for sentence in sentences:
            batch.append(sentence)
            tokens += len(sentence)
            must_wait = standard_input is not None and not standard_input.has_line
            if must_wait or len(batch) >= MAX_SENTENCES or tokens >= MAX_TOKENS:
                yield batch
                batch, tokens = [], 0
    except DataError:
        if batch:
            yield batch
        raise
    if batch:
        yield batch
