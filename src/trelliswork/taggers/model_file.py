"""Model files: safetensors, versioned, written atomically, read without executing code.

The tensors are the weights and the feature vocabulary. The header's metadata holds the format name,
its version, a checksum of the tensors and one JSON document with everything else.
"""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import safetensors
import safetensors.numpy

from trelliswork.data.files import open_binary_for_writing
from trelliswork.errors import ModelFileError

if TYPE_CHECKING:
    import os

    from numpy.typing import NDArray

__all__ = ["FORMAT_VERSION", "model_file", "read_model_file", "write_model_file"]

FORMAT = "trelliswork-model"
# 1: first-order chains. 2: label patterns and segments. 3: soft constraints and rules that add up
# counts. 4: taggers other than CRFTagger, training protocols. 5: sparse training.
FORMAT_VERSION = 5


def write_model_file(
    path: str | os.PathLike[str],
    settings: dict[str, Any],
    arrays: dict[str, NDArray[Any]],
    version: int = FORMAT_VERSION,
) -> None:
    """Write a model file. Readers see either the old file or the complete new one.

    Parameters
    ----------
    path
        Path of the file.
    settings, arrays, version
        As for `model_file`.
    """
    with open_binary_for_writing(path) as stream:
        stream.write(model_file(settings, arrays, version))


def model_file(
    settings: dict[str, Any], arrays: dict[str, NDArray[Any]], version: int = FORMAT_VERSION
) -> bytes:
    """Return the content of a model file.

    Parameters
    ----------
    settings, arrays
        The settings and arrays that `read_model_file` returns.
    version
        The lowest format version that can hold the content. Older readers refuse the file and
        advise to update.
    """
    tensors = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    document = json.dumps(settings)
    metadata = {
        "format": FORMAT,
        "version": str(version),
        "checksum": _checksum(str(version), document, tensors),
        "settings": document,
    }
    return _in_order(safetensors.numpy.save(tensors, metadata=metadata))


def read_model_file(
    path: str | os.PathLike[str],
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the settings and arrays of a model file.

    Raises
    ------
    ModelFileError
        If the file is not a model, is truncated or damaged, or comes from a newer version.
    FileNotFoundError
        If there is no such file.
    """
    content = Path(path).read_bytes()
    metadata = _metadata(path, content)
    version = metadata.get("version", "")
    if not version.isdecimal():
        raise _damaged(path, "its version is missing")
    if int(version) > FORMAT_VERSION:
        raise ModelFileError(
            f"{path}: expected a model file of version {FORMAT_VERSION} or lower, got version "
            f"{version}. Update trelliswork to read it."
        )
    try:
        arrays = safetensors.numpy.load(content)
        settings = json.loads(metadata["settings"])
    except (safetensors.SafetensorError, KeyError, ValueError) as error:
        raise _damaged(path, str(error)) from error
    if not isinstance(settings, dict):
        raise _damaged(path, "its settings are no JSON object")
    if metadata.get("checksum") != _checksum(version, metadata["settings"], arrays):
        raise _damaged(path, "its checksum does not match its content")
    return settings, arrays


def _in_order(content: bytes) -> bytes:
    """Return a safetensors file with a sorted header; the library writes it in random order."""
    begin = 8 + int.from_bytes(content[:8], "little")
    header = json.dumps(json.loads(content[8:begin]), sort_keys=True).encode()
    header += b" " * (-len(header) % 8)  # tensors are aligned
    return len(header).to_bytes(8, "little") + header + content[begin:]


def _metadata(path: str | os.PathLike[str], content: bytes) -> dict[str, str]:
    """Check the layout of a safetensors file and return its metadata.

    The layout: 8 bytes with the length of the JSON header, the header, and the tensors it lists.
    """
    no_model = ModelFileError(
        f"{path}: expected a trelliswork model, got something else. "
        "Make one with the save method of a tagger or `trelliswork train`."
    )
    if not content:
        raise ModelFileError(f"{path}: expected a trelliswork model, got an empty file.")
    header_size = int.from_bytes(content[:8], "little")
    # A JSON header begins with a brace; otherwise the first 8 bytes are not its length.
    if len(content) > 8 and content[8:9] != b"{":
        raise no_model
    if len(content) < 9 or len(content) < 8 + header_size:
        raise _truncated(path)
    try:
        header = json.loads(content[8 : 8 + header_size])
        metadata = header.pop("__metadata__", {})
        is_model = metadata.get("format") == FORMAT
        expected = max((int(entry["data_offsets"][1]) for entry in header.values()), default=0)
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise _damaged(path, "its header cannot be read") from error
    if not is_model:
        raise no_model
    if len(content) < 8 + header_size + expected:
        raise _truncated(path)
    return {str(key): str(value) for key, value in metadata.items()}


def _truncated(path: str | os.PathLike[str]) -> ModelFileError:
    return ModelFileError(
        f"{path}: the model file is cut short. Copy it again, or train the model again."
    )


def _damaged(path: str | os.PathLike[str], why: str) -> ModelFileError:
    return ModelFileError(
        f"{path}: the model file is damaged: {why}. Copy it again, or train the model again."
    )


def _checksum(version: str, settings: str, arrays: dict[str, NDArray[Any]]) -> str:
    value = zlib.crc32(f"{version} {settings}".encode())
    for name in sorted(arrays):
        array = arrays[name]
        value = zlib.crc32(f"{name} {array.dtype} {array.shape}".encode(), value)
        value = zlib.crc32(np.ascontiguousarray(array).data, value)
    return f"{value:08x}"
