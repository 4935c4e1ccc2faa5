"""Every example runs by itself, without a warning of ours, and has something to say."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
# The demo trains on the whole collection of works; it has a make target of its own.
NOT_HERE = {"demo_citations.py"}
SCRIPTS = sorted(path.name for path in EXAMPLES.glob("*.py") if path.name not in NOT_HERE)


# Warnings of our code and of the example are errors; other libraries may warn of each other.
PROGRAM = r"""
import runpy, sys, warnings
warnings.filterwarnings("error", module=r"(trelliswork|__main__)\b")
runpy.run_path(sys.argv[1], run_name="__main__")
"""


@pytest.mark.parametrize("script", SCRIPTS)
def test_example_runs(script: str, tmp_path: Path) -> None:
    if script.startswith("torch_") and find_spec("torch") is None:
        pytest.skip("needs the torch extra: make test-torch")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(EXAMPLES / script)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
    assert not list(tmp_path.iterdir()), "an example leaves files behind"


@pytest.mark.parametrize("script", SCRIPTS)
def test_example_is_short(script: str) -> None:
    assert len((EXAMPLES / script).read_text(encoding="utf-8").splitlines()) < 80
