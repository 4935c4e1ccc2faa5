"""Checks of the arguments and of the stored state of encoders."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import ArrayLike, NDArray

    from trelliswork._typing import IntArray

T = TypeVar("T")
S = TypeVar("S", bound=np.generic)


def require_fitted(index: T | None) -> T:
    """Return the index; raise an error if the encoder is not fitted yet."""
    if index is None:
        raise ValueError("this encoder has learned no features yet: call fit first.")
    return index


def as_list(sequences: Iterable[object]) -> list[object]:
    """Return the sequences as a list; raise a `TypeError` for a single string."""
    if isinstance(sequences, str):
        raise TypeError("expected a list of sentences, got one str.")
    return sequences if isinstance(sequences, list) else list(sequences)


def as_mask(keep: ArrayLike) -> NDArray[np.uint8]:
    """Return a mask of features as the bytes that the core reads."""
    return np.ascontiguousarray(keep, dtype=bool).view(np.uint8)


def check_min_count(min_count: int) -> None:
    """Raise a `ValueError` for a threshold below 1."""
    if min_count < 1:
        raise ValueError(f"expected min_count of at least 1, got {min_count}.")


def stored_array(
    arrays: Mapping[str, NDArray[np.generic]], name: str, dtype: type[S]
) -> NDArray[S]:
    """Return an array of a stored model after checking its presence and type."""
    array = arrays.get(name)
    if array is None:
        raise ValueError(f"the array {name!r} of the feature vocabulary is missing.")
    if array.dtype != dtype or array.ndim != 1:
        raise ValueError(
            f"expected the array {name!r} with one dimension of {np.dtype(dtype)}, "
            f"got {array.ndim} of {array.dtype}."
        )
    return np.ascontiguousarray(array, dtype=dtype)


def stored_texts(
    arrays: Mapping[str, NDArray[np.generic]], name: str
) -> tuple[NDArray[np.uint8], IntArray]:
    """Return the texts of a stored model, ``name_bytes`` and ``name_offsets``, checked as UTF-8."""
    content = stored_array(arrays, f"{name}_bytes", np.uint8)
    offsets = stored_array(arrays, f"{name}_offsets", np.int64)
    content.tobytes().decode("utf-8", "surrogatepass")  # else a ValueError
    inside = offsets[(offsets >= 0) & (offsets < content.size)]
    if (content[inside] & 0xC0 == 0x80).any():
        raise ValueError(f"the array '{name}_offsets' cuts a character in two.")
    return content, offsets
