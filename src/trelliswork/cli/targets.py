"""Files that a command is to write, checked before the work begins."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["check_targets"]


def check_targets(
    targets: Mapping[str, str | Path | None], inputs: Iterable[str | Path | None] = ()
) -> None:
    """Raise an error if a file could not be written, or if writing it would lose another one.

    Parameters
    ----------
    targets
        The files to write, by their options; None and ``"-"`` are no files.
    inputs
        The files that the command reads.

    Raises
    ------
    OSError
        A target is a directory, or its directory is missing or closed for writing.
    ValueError
        A target is an input or another target.
    """
    named = {option: path for option, given in targets.items() if (path := _file(given))}
    for path in named.values():
        _check_writable(path)
    read = [path for given in inputs if (path := _file(given))]
    written: dict[str, Path] = {}
    for option, path in named.items():
        if any(_are_same(path, other) for other in read):
            raise ValueError(f"{option}: {path} is also read, and would be lost. Name another.")
        for before, other in written.items():
            if _are_same(path, other):
                raise ValueError(f"{option}: {path} is also {before}. Name two files.")
        written[option] = path


def _file(given: str | Path | None) -> Path | None:
    return None if given is None or str(given) == "-" else Path(given)


def _check_writable(path: Path) -> None:
    folder = path.parent if path.parent.is_dir() else None
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, "expected a file, got a directory", str(path))
    if folder is None:
        raise FileNotFoundError(errno.ENOENT, "no such directory; make it first", str(path.parent))
    if path.exists() and not path.is_file():
        return  # a pipe or a device
    folder = path.resolve().parent  # where a link leads
    if not folder.is_dir():
        raise FileNotFoundError(errno.ENOENT, "no such directory; make it first", str(folder))
    if not os.access(folder, os.W_OK):
        raise PermissionError(errno.EACCES, "no permission to write here", str(folder))


def _are_same(one: Path, other: Path) -> bool:
    if one.exists() and not one.is_file():
        return False  # /dev/null may be read and written
    try:
        return one.samefile(other)
    except OSError:  # one of them is not there
        return one.resolve() == other.resolve()
