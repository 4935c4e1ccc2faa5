"""Common parts of the tests of the command line: small data, and a way to run a command."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from typer.testing import CliRunner

from trelliswork.cli import app

if TYPE_CHECKING:
    from pathlib import Path

# A background job of a shell hands down that Ctrl-C is ignored, and others that it is blocked: not
# to the programs of the tests.
PROGRAM = [
    sys.executable,
    "-c",
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT}); "
    "from trelliswork.cli import main; main()",
]

SENTENCES = [
    [("Ann", "NNP", "B-PER"), ("Lee", "NNP", "I-PER"), ("sings", "VBZ", "O")],
    [("the", "DT", "O"), ("cat", "NN", "O"), ("sees", "VBZ", "O"), ("Bob", "NNP", "B-PER")],
    [("Bob", "NNP", "B-PER"), ("lives", "VBZ", "O"), ("in", "IN", "O"), ("Rome", "NNP", "B-LOC")],
    [("Rome", "NNP", "B-LOC"), ("sleeps", "VBZ", "O")],
    [("Ann", "NNP", "B-PER")],
]


def conll(width: int = 3) -> str:
    """Return the sentences with their tokens, tags and labels; without the last of them."""
    return "".join(
        "".join("\t".join(row[:width]) + "\n" for row in sentence) + "\n" for sentence in SENTENCES
    )


def two_columns() -> str:
    """Return the sentences with tokens and labels only."""
    return "".join(
        "".join(f"{word} {label}\n" for word, _, label in sentence) + "\n" for sentence in SENTENCES
    )


def run(*args: object, stdin: str | bytes | None = None) -> Any:
    """Run a command in this process."""
    return CliRunner().invoke(app, [str(arg) for arg in args], input=stdin)


def fail(*args: object, stdin: str | bytes | None = None) -> str:
    """Run a command that must end in one clear line, and return the line."""
    result = run(*args, stdin=stdin)
    assert result.exit_code == 2, result.output
    assert isinstance(result.exception, SystemExit)
    (line,) = result.stderr.splitlines()
    assert line.startswith("trelliswork: error: ")
    return line


def train_model(folder: Path, *options: object, text: str | None = None) -> Path:
    """Train on the sentences and return the path of the model."""
    corpus = folder / "train.conll"
    corpus.write_text(conll() if text is None else text)
    model = folder / "m.tw"
    result = run("train", corpus, "--out", model, "--quiet", "--l2", 0.01, *options)
    assert result.exit_code == 0, result.output
    assert result.stdout == ""  # warnings are told even so
    return model
