"""What all tests share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Timing on a busy machine says nothing about correctness. Every run draws other cases, except where
# the same commit is to get the same verdict.
settings.register_profile(
    "trelliswork",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    max_examples=100,
    derandomize="CI" in os.environ,
)
settings.load_profile("trelliswork")

# Tests build their products themselves, and leave nothing behind.
os.environ["TRELLISWORK_CACHE"] = "off"


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """Return the directory of the public data sets, or skip the test."""
    given = os.environ.get("TRELLISWORK_DATA")
    path = Path(given) if given else Path(__file__).resolve().parents[2] / "shared" / "data"
    if not path.is_dir():
        pytest.skip("needs the public data sets: set TRELLISWORK_DATA to their directory")
    return path
