"""Help of the commands: panels, examples, width; and the program as a module."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from commands import run
from trelliswork.cli.app import COMMANDS
from trelliswork.cli.cite.cite import COMMANDS as CITE_COMMANDS

PANELS = {
    "train": [
        "Data",
        "Model",
        "Rules",
        "Sparsity",
        "Few labels",
        "Stopping",
        "Output",
        "Run",
    ],
    "tag": ["Input", "Output", "Rules", "Run"],
    "evaluate": ["Data", "Scoring", "Rules", "Comparison", "Calibration", "Output"],
    "explain": ["Data", "Rules", "Output", "Run"],
    "select": ["Data", "Model", "Selection", "Stopping", "Output", "Run"],
}
ALL_COMMANDS = [(name,) for name in COMMANDS] + [("cite", name) for name in CITE_COMMANDS]


def help_of(*command: str) -> str:
    """Return the help of a command, without colours."""
    result = run(*command, "--help")
    assert result.exit_code == 0
    return re.sub(r"\x1b\[[\d;]*m", "", result.stdout)


def panels(text: str) -> dict[str, list[str]]:
    """Return the names of the options in each panel of a help text."""
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        if title := re.match(r"╭─ ([\w ]+?) ─", line):
            found[title[1]] = options = []
        elif option := re.match(r"│ (?:[ *]  )?(--[\w-]+)", line):
            options.append(option[1])
    return found


@pytest.mark.parametrize("command", PANELS)
def test_every_option_is_in_a_named_panel(command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    found = panels(help_of(command))
    assert found.pop("Options") == ["--help"]
    del found["Arguments"]
    assert list(found) == PANELS[command]
    assert all(found.values())


def test_train_options_are_where_one_looks_for_them(monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    found = panels(help_of("train"))
    assert sum(map(len, found.values())) == 60 + len(["--help"])
    for panel, option in {
        "Output": "--out",
        "Data": "--dev",
        "Model": "--order",
        "Rules": "--penalties",
        "Sparsity": "--group-lasso",
        "Few labels": "--gamma",
        "Stopping": "--gap-tol",
        "Run": "--seed",
    }.items():
        assert option in found[panel]


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("command", ALL_COMMANDS, ids=" ".join)
def test_help_fits_the_terminal(command, width, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    text = help_of(*command)
    assert max(map(len, text.splitlines())) <= width
    assert "…│" not in text  # nothing is cut
    # No name of an option and no list of choices is broken over two lines.
    assert not re.search(r"│ +[\w|]+>", text)
    assert "trelliswork" in text.split("Examples:")[1]


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--help"], 0, "Usage: python -m trelliswork [OPTIONS] COMMAND"),
        (["fly"], 2, "No such command 'fly'"),
        (["tag", "missing.tw"], 2, "missing.tw"),
    ],
)
def test_the_package_runs_as_a_module(arguments, code, said):
    command = [sys.executable, "-m", "trelliswork", *arguments]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == code
    output, other = (done.stdout, done.stderr) if code == 0 else (done.stderr, done.stdout)
    assert said in output
    assert "Traceback" not in output
    assert other == ""
