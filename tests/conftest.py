"""What all tests share."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from collections.abc import Iterator

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

# Messages break where they do in a terminal of the usual width, whatever the one around.
os.environ["COLUMNS"] = "80"


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """Return the directory of the public data sets, or skip the test."""
    given = os.environ.get("TRELLISWORK_DATA")
    path = Path(given) if given else Path(__file__).resolve().parents[2] / "shared" / "data"
    if not path.is_dir():
        pytest.skip("needs the public data sets: set TRELLISWORK_DATA to their directory")
    return path


@pytest.fixture
def control_c() -> Iterator[None]:
    """Have Ctrl-C raise, also where the tests run in the background and it is ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
