"""Weights of two trainings that should find the same."""

from __future__ import annotations

from typing import Any

import numpy as np


def check_same_weights(one: Any, other: Any, *, counted: bool = False) -> None:
    """Compare the weights of two taggers: exactly if counted, else but for rounding."""
    atol = 0.0 if counted else 1e-5
    found, expected = one.model_, other.model_
    np.testing.assert_allclose(found.state.weights, expected.state.weights, rtol=0.0, atol=atol)
    np.testing.assert_allclose(found.pattern_weights, expected.pattern_weights, rtol=0.0, atol=atol)
