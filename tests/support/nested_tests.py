"""Tests that run once more in a process of their own, under other variables of the environment."""

from __future__ import annotations

import os
import subprocess
import sys

# They are for the run from outside: its options may choose tests, or fail on what they lack.
OUTER = ("PYTEST_ADDOPTS", "PYTEST_PLUGINS")


def run_tests(file: str, **variables: str) -> None:
    """Run the tests of a file, and fail with their output if one of them does."""
    inherited = {name: value for name, value in os.environ.items() if name not in OUTER}
    plain = ["-p", "no:xdist", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *plain, file],
        env=inherited | variables,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
