"""Compiled products on disk, so that the next process need not build them again.

One safetensors file a product, named by a hash of all that it depends on. Nothing in it is ever
executed, a file that cannot be read is as good as none, and a directory that cannot be written to
is no error: the cache saves time and holds nothing else.

The directory is ``TRELLISWORK_CACHE``, or else the user's cache directory of the platform;
``TRELLISWORK_CACHE=off`` does without.
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

from trelliswork.automaton import Automaton
from trelliswork.files import open_binary_for_writing

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

FORMAT = "trelliswork-product-2"
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
    digest = hashlib.sha256(json.dumps([FORMAT, *parts], ensure_ascii=False).encode())
    if model.is_chain:
        digest.update(b"chain")
    else:
        for name, array in sorted(_arrays(model).items()):
            digest.update(f"{name} {array.dtype} {array.shape}".encode())
            digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def load_arrays(name: str) -> dict[str, NDArray[Any]] | None:
    """Return the arrays that were stored under a name; None where there are no sound ones."""
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
    tensors = {key: np.ascontiguousarray(array) for key, array in arrays.items()}
    plain = safetensors.numpy.save(tensors)
    body = plain[8 + int.from_bytes(plain[:8], "little") :]
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        with open_binary_for_writing(folder / f"{name}.safetensors") as stream:
            stream.write(safetensors.numpy.save(tensors, metadata={"checksum": _checksum(body)}))


def load_automaton(name: str) -> Automaton | None:
    """Return the automaton that was stored under a name; None where there is no sound one."""
    arrays = load_arrays(name)
    if arrays is None:
        return None
    try:
        return _automaton(arrays)
    except (LookupError, ValueError):
        return None


def store_automaton(name: str, automaton: Automaton) -> None:
    """Keep an automaton for later processes, if that is possible."""
    store_arrays(name, _arrays(automaton))


def _checksum(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


def _arrays(automaton: Automaton) -> dict[str, NDArray[Any]]:
    arrays: dict[str, NDArray[Any]] = {
        "sizes": np.array(
            [automaton.n_states, automaton.n_labels, automaton.n_patterns, automaton.n_classes]
        ),
        "source": automaton.source,
        "label": automaton.label,
        "target": automaton.target,
        "pattern_offsets": automaton.pattern_offsets,
        "pattern_ids": automaton.pattern_ids,
        "initial": automaton.initial,
        "final": automaton.final,
    }
    optional = {"guards": automaton.guards, "contexts": automaton.contexts}
    return arrays | {name: array for name, array in optional.items() if array is not None}


def _automaton(arrays: dict[str, NDArray[Any]]) -> Automaton:
    n_states, n_labels, n_patterns, n_classes = (int(size) for size in arrays["sizes"])
    return Automaton(
        n_states,
        n_labels,
        arrays["source"],
        arrays["label"],
        arrays["target"],
        n_patterns=n_patterns,
        patterns=_fired(arrays["pattern_offsets"], arrays["pattern_ids"]),
        initial=arrays["initial"],
        final=arrays["final"],
        guards=arrays.get("guards"),
        n_classes=n_classes,
        contexts=arrays.get("contexts"),
    )


def _fired(
    offsets: NDArray[np.int64], ids: NDArray[np.int32]
) -> NDArray[np.int32] | list[list[int]]:
    """Return the patterns of each arc, as one array where no arc fires two."""
    counts = np.diff(offsets)
    if (counts > 1).any():
        return [part.tolist() for part in np.split(ids, offsets[1:-1])]
    fired = np.full(counts.size, -1, dtype=np.int32)
    fired[counts == 1] = ids
    return fired
