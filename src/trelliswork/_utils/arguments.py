"""Checks of arguments: non-negative numbers, whole numbers, counts, time limits."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np

__all__ = ["NO_LIMIT", "check_number", "check_time_limit", "check_whole", "is_count", "is_whole"]

NO_LIMIT = 2**62  # of iterations and nodes, which the core counts in 64 bits


def check_number(name: str, value: Any) -> None:
    """Raise a `ValueError` unless the value is a finite number from 0 up."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0.0 <= float(value) < np.inf:
        raise ValueError(f"{name}: expected a finite number from 0 up, got {value!r}.")


def check_whole(name: str, value: Any, low: int, more: str = "") -> None:
    """Raise a `ValueError` unless the value is a whole number from `low` up."""
    if not is_whole(value, low):
        raise ValueError(f"{name}: expected a whole number from {low} up{more}, got {value!r}.")


def is_whole(value: Any, low: int) -> bool:
    """Return whether a value is a whole number from `low` up."""
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= low


def is_count(given: object) -> bool:
    """Return whether a value is a whole number from 1 to `NO_LIMIT`."""
    return (
        isinstance(given, Integral) and not isinstance(given, bool) and 1 <= int(given) <= NO_LIMIT
    )


def check_time_limit(given: Any) -> None:
    """Raise a `ValueError` unless the value is a positive number of seconds or None."""
    is_number = isinstance(given, int | float) and not isinstance(given, bool)
    if given is not None and not (is_number and given > 0):
        raise ValueError(f"time_limit: expected seconds, more than 0, or None, got {given!r}.")
