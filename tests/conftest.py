"""Settings and fixtures of all tests."""

from __future__ import annotations

import os
import signal
import threading
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
    # Where the checkout is read-only, the usual place of the database is worth a warning.
    **({} if os.access(Path.cwd(), os.W_OK) else {"database": None}),
)
settings.load_profile("trelliswork")

# Tests build their products themselves, and leave nothing behind.
os.environ["TRELLISWORK_CACHE"] = "off"

# Messages break where they do in a terminal of the usual width.
os.environ["COLUMNS"] = "80"

# The programs that tests start write UTF-8 in every locale, and tests decode it.
os.environ["PYTHONIOENCODING"] = "utf-8"

# Variables that have the programs of tests say more on standard error, or check less.
INTERPRETER_VARIABLES = (
    "LD_DEBUG",
    "PYTHONDEVMODE",
    "PYTHONMALLOCSTATS",
    "PYTHONOPTIMIZE",
    "PYTHONPROFILEIMPORTTIME",
    "PYTHONVERBOSE",
    "PYTHONWARNINGS",
)

# Variables by which typer and rich choose width, colours and panels. typer reads most of them when
# it is imported.
TERMINAL_VARIABLES = (
    "COLORTERM",
    "DATABRICKS_RUNTIME_VERSION",
    "FORCE_COLOR",
    "GITHUB_ACTIONS",
    "LINES",
    "NO_COLOR",
    "PY_COLORS",
    "TERMINAL_WIDTH",
    "TTY_COMPATIBLE",
    "TTY_INTERACTIVE",
    "TYPER_STANDARD_TRACEBACK",
    "TYPER_USE_RICH",
    "_TYPER_FORCE_DISABLE_TERMINAL",
    "_TYPER_STANDARD_TRACEBACK",
)


@pytest.hookimpl(trylast=True)  # after pytest has chosen its own colours
def pytest_configure() -> None:
    """Give help texts and messages one form on every terminal, and in every environment."""
    for name in (*TERMINAL_VARIABLES, *INTERPRETER_VARIABLES):
        os.environ.pop(name, None)


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
    """Have Ctrl-C raise, also where the tests run in the background: ignored, or blocked."""
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals need the main thread")
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    blocked = signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    yield
    signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
    signal.signal(signal.SIGINT, before or signal.SIG_DFL)  # None: a handler not set from Python
