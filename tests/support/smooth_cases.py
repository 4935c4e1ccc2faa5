"""Smooth convex functions to draw: quadratics and logistic regressions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Callable

    Smooth = Callable[[np.ndarray, np.ndarray], float]


def quadratic(rng: np.random.Generator, size: int) -> tuple[Smooth, np.ndarray, np.ndarray]:
    """Return ``½ x·P x − c·x``, and its ``P`` and ``c``."""
    basis = np.linalg.qr(rng.normal(size=(size, size)))[0]
    matrix = basis @ np.diag(rng.uniform(0.5, 20, size=size)) @ basis.T
    linear = matrix @ rng.normal(size=size)

    def function(x: np.ndarray, gradient: np.ndarray) -> float:
        gradient[:] = matrix @ x - linear
        return float(0.5 * x @ matrix @ x - linear @ x)

    return function, matrix, linear


def logistic(rng: np.random.Generator, size: int) -> Smooth:
    """Return the loss of a logistic regression on random data, with a little l2."""
    rows = rng.normal(size=(4 * size, size)) * rng.uniform(0.3, 3.0, size=size)
    signs = np.sign(rows @ rng.normal(size=size) + rng.normal(size=4 * size))

    def function(x: np.ndarray, gradient: np.ndarray) -> float:
        margins = signs * (rows @ x)
        gradient[:] = -rows.T @ (signs * np.exp(-np.logaddexp(0.0, margins))) + 0.02 * x
        return float(np.logaddexp(0.0, -margins).sum() + 0.01 * x @ x)

    return function


@st.composite
def smooth_functions(draw: Any, size: int) -> Smooth:
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    return logistic(rng, size) if draw(st.booleans()) else quadratic(rng, size)[0]


def gradient_of(function: Smooth, x: np.ndarray) -> np.ndarray:
    found = np.empty(x.size)
    function(x, found)
    return found


def easy(x: np.ndarray, gradient: np.ndarray) -> float:
    """Return ``‖x − 3‖²``."""
    gradient[:] = 2.0 * (x - 3.0)
    return float((x - 3.0) @ (x - 3.0))


def uphill(x: np.ndarray, gradient: np.ndarray) -> float:
    """Return the same, with a gradient that points the wrong way."""
    value = easy(x, gradient)
    gradient *= -1.0
    return value
