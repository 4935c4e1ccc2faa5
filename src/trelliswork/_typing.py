"""Names for arrays in signatures; shapes stand in the docstrings."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["BoolArray", "ByteArray", "FloatArray", "IdArray", "IntArray"]

BoolArray = NDArray[np.bool_]
ByteArray = NDArray[np.int8]
FloatArray = NDArray[np.float64]
IdArray = NDArray[np.int32]
IntArray = NDArray[np.int64]
