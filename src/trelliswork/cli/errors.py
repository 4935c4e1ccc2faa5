"""Errors and warnings of the commands: one line on standard error, and an exit code.

Places of sentences in files, for messages.
"""

from __future__ import annotations

import logging
import os
import re
import sys
from collections import deque
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

from trelliswork.cli.help import PlainGroup
from trelliswork.cli.output import say
from trelliswork.data.conll import BLANK
from trelliswork.data.files import read_lines, source_name
from trelliswork.errors import TrellisworkError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trelliswork.data.files import Source
    from trelliswork.data.sentence import Sentence


__all__ = [
    "USER_ERROR",
    "PlacedLines",
    "PlacedSentences",
    "ReportingGroup",
    "no_warnings_of",
    "placed",
]


USER_ERROR = 2

# The library raises ValueError and TypeError for wrong input, ImportError for a missing extra.
_EXPECTED = (TrellisworkError, OSError, ValueError, TypeError, ImportError, MemoryError)

# Parameters in messages of the library, and the options that set them.
_OPTIONS = {
    "order": "--order",
    "max_segment": "--max-segment",
    "adjacent": "--adjacent",
    "min_pattern_count": "--min-pattern-count",
    "max_patterns": "--max-patterns",
    "edge_order": "--edge-order",
    "l1": "--l1",
    "l2": "--l2",
    "regularizer": "--group-lasso",
    "solver": "--solver",
    "debias": "--debias",
    "adaptive": "--adaptive",
    "gap_tol": "--gap-tol",
    "tolerance": "--tolerance",
    "strengths": "--strengths",
    "least": "--least",
    "training": "--training",
    "labels": "--labels",
    "labelling": "--labelling",
    "unlabelled": "--unlabelled",
    "smoothing": "--smoothing",
    "outside": "--outside",
    "n_jobs": "--jobs",
    "columns": "--columns",
    "separator": "--separator",
    "comment": "--comment",
    "unknown": "--unknown",
    "alternatives": "--alternatives",
    "penalties": "--penalties",
    "held_out": "--held-out",
    "on_conflict": "--on-conflict",
    "on_infeasible": "--on-infeasible",
}

_KEYWORD = re.compile(rf"\b({'|'.join(_OPTIONS)})=(?:'([\w+]+)'|(True)\b)?")

# Names with an underscore are never English words: replaced anywhere.
_NAME = re.compile(rf"\b({'|'.join(name for name in _OPTIONS if '_' in name)})\b")

# The library says constraint, the command line rule.
_CONSTRAINT = re.compile(r"\bconstraint(?=s?\b(?![=(._]))")

# Nor is l1 an English word; a regularizer is --group-lasso here.
_L1 = re.compile(r"(?<![\w-])l1\b")

_REGULARIZER = re.compile(r"\ba regularizer\b(?: of groups)?")

_CARET = re.compile(r"^ *\^$", re.MULTILINE)

_NONE = re.compile(r",? or None\b")

_ENCODING = ("pass a stream opened with its own encoding", "pipe it through iconv")


class ReportingGroup(PlainGroup):
    """The commands; errors are one line, with a traceback only after ``--debug``."""

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run the program; a closed pipe is not a failure, not even while help is written."""
        try:
            return super().main(*args, **extra)
        except SystemExit as end:
            # Help is written before `invoke`, by libraries that exit with 1 in this case.
            if not isinstance(end.__context__, BrokenPipeError):
                raise
            _discard_output()
            sys.exit(0)

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        try:
            with _warnings_told(debug=bool(ctx.params.get("debug"))):
                return super().invoke(ctx)
        except BrokenPipeError:
            # The reader of our output has closed it: the end, but not an error.
            _discard_output()
            raise typer.Exit(0) from None
        except _EXPECTED as error:
            if ctx.params.get("debug"):
                raise
            say(f"error: {_one_line(error)}")
            raise typer.Exit(USER_ERROR) from None


def placed(error: TrellisworkError, place: str) -> TrellisworkError:
    """Return the error of a sequence with file and line in place of its number."""
    number = error.sequence
    message = (
        str(error).removeprefix(f"y: sequence {number}, ").removeprefix(f"sequence {number}: ")
    )
    return type(error)(f"{place}: {message}")


class _Teller(logging.Handler):
    """Shows warnings of the library as messages of the program."""

    def emit(self, record: logging.LogRecord) -> None:
        say(f"warning: {_in_options(record.getMessage())}")


@contextmanager
def _warnings_told(*, debug: bool) -> Iterator[None]:
    """Show the warnings of the library; with ``--debug``, its log has them."""
    if debug:
        yield
        return
    library, teller = logging.getLogger("trelliswork"), _Teller(logging.WARNING)
    library.addHandler(teller)
    try:
        yield
    finally:
        library.removeHandler(teller)


@contextmanager
def no_warnings_of(module: str) -> Iterator[None]:
    """Silence the warnings of a module that a command replaces by its own."""
    logger = logging.getLogger(module)
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(before)


def _one_line(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    if isinstance(error, MemoryError):
        return "out of memory. Train on less data, or with fewer features (--min-count 2)."
    message = _in_options(str(error))
    if _CARET.search(message):
        return message  # the caret points into the line above
    return " ".join(message.split()) or type(error).__name__


def _in_options(message: str) -> str:
    """Replace parameters of Python functions by the options that set them."""
    name, colon, rest = message.partition(":")
    if colon and name in _OPTIONS:
        message = f"{_OPTIONS[name]}:{_NONE.sub('', rest)}"
    message = _KEYWORD.sub(_spell_option, message)
    message = _NAME.sub(lambda found: _OPTIONS[found[1]], message)
    message = _REGULARIZER.sub("--group-lasso", _L1.sub("--l1", message))
    return _CONSTRAINT.sub("rule", message).replace(*_ENCODING)


def _spell_option(found: re.Match[str]) -> str:
    option, value, is_flag = _OPTIONS[found[1]], found[2], found[3]
    return option if is_flag else f"{option} {value or ''}"


def _discard_output() -> None:
    """Discard buffered output, which would fail again when Python exits."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


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
