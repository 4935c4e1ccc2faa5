"""Compiled products on disk, which the next process need not build again.

One safetensors file per product, named by a hash of all that it depends on. Nothing in it is ever
executed, an unreadable file is ignored, and a directory that cannot be written to
is no error: the cache saves time and holds nothing else.

The directory is ``TRELLISWORK_CACHE``, or else the user's cache directory of the platform;
``TRELLISWORK_CACHE=off`` disables the cache.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import safetensors
import safetensors.numpy

from trelliswork.automata.arrays import Arrays
from trelliswork.automata.automaton import Automaton
from trelliswork.data.files import open_binary_for_writing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

__all__ = [
    "cache_directory",
    "fingerprint",
    "load_arrays",
    "load_automaton",
    "store_arrays",
    "store_automaton",
]

logger = logging.getLogger(__name__)

FORMAT = "trelliswork-product-4"
VARIABLE = "TRELLISWORK_CACHE"


def cache_directory() -> Path | None:
    """Return where compiled products are kept between processes; None: nowhere."""
    given = os.environ.get(VARIABLE, "")
    if given.lower() == "off":
        return None
    if given:
        return Path(given)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "trelliswork"


def fingerprint(parts: Sequence[Any], model: Automaton) -> str:
    """Return a name for a product: SHA-256 over `parts`, as JSON, and the model automaton."""
    digest = hashlib.sha256(json.dumps([FORMAT, *parts]).encode())
    if model.is_chain:
        digest.update(b"chain")
    else:
        for name, array in sorted(_parts(model).items()):
            digest.update(f"{name} {array.dtype} {array.shape}".encode())
            digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def load_arrays(name: str) -> dict[str, NDArray[Any]] | None:
    """Return the arrays that were stored under a name; None if missing or damaged."""
    folder = cache_directory()
    if folder is None:
        return None
    path = folder / f"{name}.safetensors"
    try:
        content = path.read_bytes()
        header_size = int.from_bytes(content[:8], "little")
        header = json.loads(content[8 : 8 + header_size])
        if header["__metadata__"]["checksum"] != _checksum(content[8 + header_size :]):
            raise ValueError("its checksum does not match its content")
        return safetensors.numpy.load(content)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, LookupError, TypeError, safetensors.SafetensorError) as error:
        logger.info("%s: ignored and built again: %s", path, error)
        return None


def store_arrays(name: str, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Keep arrays for later processes, if that is possible."""
    folder = cache_directory()
    if folder is None:
        return
    tensors = {key: np.asarray(array, order="C") for key, array in arrays.items()}
    plain = safetensors.numpy.save(tensors)
    body = plain[8 + int.from_bytes(plain[:8], "little") :]
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{name}.safetensors"
        with open_binary_for_writing(path, durable=False) as stream:
            stream.write(safetensors.numpy.save(tensors, metadata={"checksum": _checksum(body)}))


def load_automaton(name: str) -> Automaton | None:
    """Return the automaton that was stored under a name; None where there is no sound one."""
    arrays = load_arrays(name)
    if arrays is None:
        return None
    try:
        return _automaton(arrays)
    except (TypeError, ValueError):
        return None


def store_automaton(name: str, automaton: Automaton) -> None:
    """Keep an automaton for later processes, if that is possible."""
    store_arrays(name, _parts(automaton))


def _checksum(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


def _parts(automaton: Automaton) -> dict[str, NDArray[Any]]:
    parts = automaton._arrays()._asdict().items()
    return {name: np.asarray(value) for name, value in parts if value is not None}


def _automaton(parts: dict[str, NDArray[Any]]) -> Automaton:
    values: dict[str, Any] = {n: part if part.ndim else int(part) for n, part in parts.items()}
    return Automaton._from_arrays(Arrays(**values))
