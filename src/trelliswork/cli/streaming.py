"""Endless input in constant memory: sentences in batches, passed on as soon as input pauses."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, TypeAlias, cast

from trelliswork.data.files import read_lines, source_name, standard_input
from trelliswork.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from io import BufferedReader

    from trelliswork.cli.places import PlacedLines
    from trelliswork.data.sentence import Sentence
    from trelliswork.data.tokenizer import Tokenizer

__all__ = ["Lines", "RememberedLines", "StandardInput", "batches", "iter_raw"]

Lines: TypeAlias = "str | StandardInput | PlacedLines | RememberedLines"
"""Where lines come from: a path, standard input, or either of them placed or remembered."""

MOST_SENTENCES = 512
MOST_TOKENS = 20_000
CHUNK = 1 << 16  # what a pipe holds


class StandardInput:
    """The lines of standard input, with a way to ask whether the next one is already here."""

    name = "<stdin>"

    def __init__(self) -> None:
        self._waiting = 0

    @property
    def has_line(self) -> bool:
        """Whether the next line can be had without waiting for whoever writes them."""
        return self._waiting > 0

    def __iter__(self) -> Iterator[bytes]:
        # A buffered reader; what a test puts in its place reads alike.
        stream = cast("BufferedReader", standard_input())
        rest: list[bytes] = []  # pieces of a line that has not ended yet
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
    """Lines that can be had once more, each after the sentence in it has been read.

    A reader of JSON lines takes the tokens of a record and leaves the rest, an id for example.

    Parameters
    ----------
    source
        Where the lines come from.
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
        """Return the oldest line, blank ones aside, that was not recalled before."""
        return self._remembered.popleft()


def iter_raw(source: Lines, tokenizer: Tokenizer) -> Iterator[Sentence]:
    """Yield the tokens of each line of raw text, with their offsets in it."""
    for line in read_lines(source):
        yield tokenizer.tokenize(line)


def batches(
    sentences: Iterable[Sentence], standard_input: StandardInput | None
) -> Iterator[list[Sentence]]:
    """Yield sentences in lists of bounded size.

    A list ends early where the next sentence would have to be waited for, so that a program at the
    other end of a pipe gets its answer, and before a faulty line, so that what came before it is
    not lost.

    Parameters
    ----------
    sentences
        The sentences; any number of them.
    standard_input
        Where they come from, if from there.
    """
    batch: list[Sentence] = []
    tokens = 0
    try:
        for sentence in sentences:
            batch.append(sentence)
            tokens += len(sentence)
            must_wait = standard_input is not None and not standard_input.has_line
            if must_wait or len(batch) >= MOST_SENTENCES or tokens >= MOST_TOKENS:
                yield batch
                batch, tokens = [], 0
    except DataError:
        if batch:
            yield batch
        raise
    if batch:
        yield batch
