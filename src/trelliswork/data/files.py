"""Opening of sources and targets: a path, a ``.gz`` path, ``"-"`` or an open stream.

Reading yields decoded lines, so that an error can name the exact line. Writing to a path is
atomic: a reader sees the old file or the whole new one, never a part.
"""

from __future__ import annotations

import errno
import gzip
import io
import os
import stat
import sys
import uuid
import zlib
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, TypeAlias, cast

from trelliswork.data.other_formats import binary_format
from trelliswork.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Source: TypeAlias = "str | os.PathLike[str] | Iterable[str] | Iterable[bytes]"
"""A path, ``"-"`` (standard input), or an open stream of text or bytes."""

Target: TypeAlias = "str | os.PathLike[str] | IO[str]"
"""A path, ``"-"`` (standard output), or a text stream open for writing."""

BYTE_ORDER_MARK = "\ufeff"
ERRORS_OF_WRITING = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # no reader raises these


def source_name(source: Source | Target) -> str:
    """Return the name of a source for error messages."""
    if isinstance(source, (str, os.PathLike)):
        return "<stdin>" if source == "-" else os.fspath(source)
    name = getattr(source, "name", None)
    return name if isinstance(name, str) else "<stream>"


def read_lines(source: Source) -> Iterator[str]:
    r"""Yield the lines of a source without their line ends (``\n`` or ``\r\n``).

    Paths are UTF-8 (a byte order mark is dropped), compressed where the name ends in ``.gz``. For
    another encoding pass a stream: ``open(path, encoding="latin-1")``.

    Raises
    ------
    DataError
        If a line is not UTF-8 or a compressed file is damaged, naming the line.
    """
    name = source_name(source)
    number = 0
    line: str | bytes = ""
    try:
        with _open_lines(source) as lines:
            for number, line in enumerate(lines, start=1):
                if number == 1 and isinstance(line, bytes):
                    _refuse_binary(name, line)
                text = line if isinstance(line, str) else line.decode("utf-8")
                if number == 1:
                    text = text.removeprefix(BYTE_ORDER_MARK)
                yield text.rstrip("\r\n")
    except UnicodeDecodeError as error:
        where = f"{name}:{number}" if isinstance(line, bytes) else f"{name}: after line {number}"
        raise DataError(
            f"{where}: expected UTF-8, got byte 0x{error.object[error.start]:02x}. Convert the "
            "file, or pass a stream opened with its own encoding."
        ) from error
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DataError(
            f"{name}: after line {number}: damaged gzip data ({error}). Fetch the file again, or "
            "rename it if it is not compressed."
        ) from error


def _refuse_binary(name: str, beginning: bytes) -> None:
    kind = binary_format(beginning)
    if kind is not None:
        raise DataError(f"{name}: expected text, got {kind}. Convert it, or name another file.")


def standard_input() -> IO[bytes]:
    """Return standard input as bytes, so that the terminal's encoding does not matter.

    Raises
    ------
    OSError
        It is closed.
    """
    if sys.stdin is None:
        raise OSError(errno.EBADF, "standard input is closed; name a file, or pipe one in")
    return cast("IO[bytes]", getattr(sys.stdin, "buffer", sys.stdin))


@contextmanager
def _open_lines(source: Source) -> Iterator[Iterable[str | bytes]]:
    if source == "-":
        yield standard_input()
    elif isinstance(source, (str, os.PathLike)):
        path = Path(source)
        with path.open("rb") as raw:
            if path.suffix == ".gz":
                with io.BufferedReader(cast("io.RawIOBase", gzip.GzipFile(fileobj=raw))) as lines:
                    yield lines
            else:
                yield raw
    else:
        yield source


@contextmanager
def open_for_writing(target: Target) -> Iterator[IO[str]]:
    r"""Open a target for UTF-8 text with ``\n`` line ends.

    A path appears under its name only when the block ends without an error.
    """
    if target == "-":
        if sys.stdout is None:
            raise OSError(errno.EBADF, "standard output is closed; name a file to write to")
        buffer = getattr(sys.stdout, "buffer", None)
        if buffer is None:
            yield sys.stdout
            return
        sys.stdout.flush()
        text = io.TextIOWrapper(buffer, encoding="utf-8", newline="\n")
        try:
            with _errors_named("<stdout>"):
                yield text
                text.flush()
        finally:
            # Detached, or the wrapper would close standard output when it is collected.
            with suppress(OSError):
                text.detach()
    elif isinstance(target, (str, os.PathLike)):
        with open_binary_for_writing(target) as raw:
            compress = Path(target).suffix == ".gz"
            # No time stamp and no name in the header: equal data give equal bytes.
            binary = gzip.GzipFile("", "wb", fileobj=raw, mtime=0) if compress else raw
            text = io.TextIOWrapper(cast("IO[bytes]", binary), encoding="utf-8", newline="\n")
            yield text
            text.flush()
            text.detach()
            if compress:
                binary.close()
    else:
        yield target


@contextmanager
def open_binary_for_writing(
    path: str | os.PathLike[str], *, durable: bool = True
) -> Iterator[IO[bytes]]:
    """Open a path for bytes; the file appears only if the block ends without an error.

    Until then the bytes are in a file beside it, which has the permissions of the file that it
    replaces from its first byte on, and is removed on any error.

    Parameters
    ----------
    path
        The path.
    durable
        Whether the file is on disk when the block has ended, so that a power failure leaves the old
        file or the new one; otherwise it may leave an empty one.

    Raises
    ------
    OSError
        If nothing can be written there, naming the path or its directory as they were given.
    """
    given = Path(path)
    final = given.resolve()
    if not final.parent.is_dir():
        missing = final.parent if given.parent.is_dir() else given.parent  # of a link, or as given
        raise FileNotFoundError(errno.ENOENT, "no such directory; make it first", str(missing))
    if final.is_dir():
        raise IsADirectoryError(errno.EISDIR, "expected a file, got a directory", str(given))
    if final.exists() and not final.is_file():
        # A pipe or a device such as /dev/null: replacing it would destroy it.
        with _errors_named(str(given)), final.open("wb") as raw:
            yield raw
        return
    # Beside the final file, because os.replace is atomic within one file system only.
    partial = final.with_name(f".{final.name}.{uuid.uuid4().hex[:12]}.part")
    try:
        with _errors_named(str(given), partial):
            with os.fdopen(_create_like(final, partial), "wb") as raw:
                yield raw
                raw.flush()
                if durable:
                    os.fsync(raw.fileno())
            partial.replace(final)
            if durable:
                _sync_directory(final.parent)
    except BaseException:
        with suppress(OSError):
            partial.unlink()
        raise


def _create_like(final: Path, partial: Path) -> int:
    """Create a file with the permissions of another one, or with the usual ones; return it open."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    if not final.exists():
        return os.open(partial, flags, 0o666)
    descriptor = os.open(partial, flags, 0o600)
    try:
        partial.chmod(stat.S_IMODE(final.stat().st_mode))
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _sync_directory(folder: Path) -> None:
    """Bring the entries of a directory to disk, where a directory can be opened."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # not every file system can
            raise
    finally:
        os.close(descriptor)


@contextmanager
def _errors_named(name: str, partial: Path | None = None) -> Iterator[None]:
    """Name the target in errors of writing; those of a full disk name no file."""
    try:
        yield
    except OSError as error:
        is_nameless = error.filename is None and error.errno in ERRORS_OF_WRITING
        if is_nameless or (partial is not None and error.filename == str(partial)):
            raise type(error)(error.errno, error.strerror, name) from error
        raise
