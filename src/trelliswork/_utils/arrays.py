"""Checked access to the arrays of a model file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from trelliswork.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

__all__ = ["stored"]


def stored(arrays: Mapping[str, NDArray[Any]], name: str, dtype: type[np.generic]) -> NDArray[Any]:
    """Return an array of a model file: one axis, exactly this type, finite numbers.

    Raises
    ------
    DataError
        If the array is missing or is any different.
    """
    found = arrays.get(name)
    if found is None:
        raise DataError(f"the array {name!r} is missing.")
    if found.dtype != dtype or found.ndim != 1:
        raise DataError(
            f"{name}: expected one axis of {np.dtype(dtype)}, got {found.ndim} of {found.dtype}."
        )
    if not np.isfinite(found).all():
        raise DataError(f"{name}: expected finite numbers, got NaN or infinity.")
    return np.ascontiguousarray(found)
