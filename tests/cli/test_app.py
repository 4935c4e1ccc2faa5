"""The program as a whole: help, exit codes, pipes, signals."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

import trelliswork as tw
from commands import PROGRAM, run, train_model, two_columns
from trelliswork.cli.training_log import log_line


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return train_model(tmp_path_factory.mktemp("model"), "--tokenizer", "words", text=two_columns())


def start(*args, encoding="utf-8", **options):
    return subprocess.Popen(
        [*PROGRAM, *map(str, args)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding=encoding,
        **options,
    )


def test_version():
    result = run("--version")
    assert (result.exit_code, result.stdout) == (0, f"trelliswork {tw.__version__}\n")


@pytest.mark.parametrize("command", ["train", "tag", "evaluate", "inspect"])
def test_help_teaches(command):
    result = run(command, "--help")
    assert result.exit_code == 0
    assert f"trelliswork {command} " in result.stdout.split("Examples:")[1]


def test_usage_errors():
    assert run("train").exit_code == 2
    assert run("fly").exit_code == 2


def test_debug_shows_where_an_error_came_from(tmp_path):
    result = run("--debug", "tag", tmp_path / "missing.tw")
    assert isinstance(result.exception, FileNotFoundError)


def test_a_missing_extra_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    result = run("evaluate", "-", "--plot", tmp_path / "x.png", stdin="a X X\n")
    assert result.exit_code == 2
    assert "pip install" in result.stderr


def test_answers_come_before_the_input_ends(model):
    with start("tag", model, "--raw") as process:
        for text in ("Ann sings.", "Bob"):
            process.stdin.write(f"{text}\n")
            process.stdin.flush()
            assert f'"text": "{text}"' in process.stdout.readline()
        process.stdin.close()
        assert process.wait() == 0
        assert process.stderr.read() == ""


def test_a_closed_pipe_ends_quietly(model, tmp_path):
    source = tmp_path / "long.conll"
    source.write_text(two_columns() * 2000)
    with start("tag", model, source) as process:
        assert process.stdout.readline() == "Ann\tB-PER\tB-PER\n"
        process.stdout.close()
        assert process.stderr.read() == ""
        assert process.wait() == 0


@pytest.mark.parametrize("args", [["--help"], ["--version"], ["tag", "--help"]])
def test_help_into_a_closed_pipe(args):
    end, begin = os.pipe()
    os.close(end)
    with os.fdopen(begin, "wb") as pipe:
        result = subprocess.run([*PROGRAM, *args], stdout=pipe, stderr=subprocess.PIPE, check=False)
    assert (result.returncode, result.stderr) == (0, b"")


def test_interrupting_a_stream(model):
    with start("tag", model, "--raw") as process:
        process.stdin.write("Ann\n")
        process.stdin.flush()
        assert "Ann" in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate()  # ends the input too: nobody waits for ever
        assert (process.returncode, stderr) == (130, "trelliswork: interrupted\n")


@pytest.mark.usefixtures("control_c")
def test_interrupting_training_saves_the_model(tmp_path, monkeypatch):
    source, out = tmp_path / "train.conll", tmp_path / "m.tw"
    source.write_text(two_columns())

    def interrupt(step):
        log_line(step)
        if step.iteration == 3:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr("trelliswork.cli.train.log_line", interrupt)
    result = run("train", source, "--out", out, "--tol", 0)
    assert result.exit_code == 0
    first, *_, last = result.stderr.splitlines()
    assert first.startswith("iteration    1 ")
    assert last == f"trelliswork: training was interrupted; {out} holds the model reached so far"
    assert "(interrupted)" in result.stdout
    tagger = tw.load(out)
    assert (tagger.stop_reason_, tagger.n_iter_) == ("interrupted", 3)


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_request_to_end_keeps_the_model_too(tmp_path, monkeypatch, name):
    number = getattr(signal, name)
    before = signal.signal(number, signal.SIG_DFL)

    def end(step):
        if step.iteration == 3:
            signal.raise_signal(number)

    monkeypatch.setattr("trelliswork.cli.train.log_line", end)
    source, out = tmp_path / "train.conll", tmp_path / "m.tw"
    source.write_text(two_columns())
    try:
        result = run("train", source, "--out", out, "--tol", 0)
        assert signal.getsignal(number) == signal.SIG_DFL
    finally:
        signal.signal(number, before)
    assert result.exit_code == 0
    assert tw.load(out).n_iter_ == 3


def test_a_stream_that_is_ended_leaves_no_part_of_a_file(model, tmp_path, monkeypatch):
    before = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    source, output = tmp_path / "in.conll", tmp_path / "out.conll"
    source.write_text("Ann\n\n")
    output.write_text("old")

    def end(*args, **options):
        assert [path.name for path in tmp_path.glob(".out.conll.*.part")]
        signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr("trelliswork.cli.tag.batches", end)
    try:
        result = run("tag", model, source, "-o", output)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert (result.exit_code, result.stderr) == (143, "trelliswork: interrupted\n")
    assert output.read_text() == "old"
    assert not [path for path in tmp_path.iterdir() if path.name.endswith(".part")]


def test_interrupting_training_before_the_first_iteration(tmp_path, monkeypatch):
    model = train_model(tmp_path)
    old = model.read_bytes()

    def interrupted(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(tw.CRFTagger, "fit", interrupted)
    result = run("train", tmp_path / "train.conll", "-o", model)
    assert (result.exit_code, result.stdout) == (130, "")
    assert result.stderr == "trelliswork: interrupted\n"
    assert model.read_bytes() == old


# A stream that has no table characters gets question marks. typer takes ASCII for a lack of
# settings, and writes UTF-8.
@pytest.mark.parametrize(
    ("of_stream", "written", "line"), [("latin-1", "latin-1", "?"), ("ascii", "utf-8", "─")]
)
def test_streams_without_table_characters(model, of_stream, written, line):
    environment = os.environ | {"PYTHONIOENCODING": of_stream, "PYTHONUTF8": "0"}
    with start("inspect", model, env=environment, encoding=written) as process:
        stdout, stderr = process.communicate()
        assert (process.returncode, stderr) == (0, "")
        table = stdout.split("Features of B-PER\n")[1].splitlines()
        assert table[0].split() == ["name", "weight"]
        assert set(table[1]) == {line, " "}


def test_any_separator(tmp_path):
    source = tmp_path / "train.txt"
    source.write_text("a;X\nb;Y\n\nb;Y\n")
    model = tmp_path / "m.tw"
    options = ("--features", "word[0]", "--l2", 0.01, "-q")
    assert run("train", source, "-o", model, "--separator", ";", *options).exit_code == 0
    tagged = run("tag", model, source)
    assert tagged.stdout == "a;X;X\nb;Y;Y\n\nb;Y;Y\n\n"
    answers = tmp_path / "tagged.txt"
    answers.write_text(tagged.stdout)
    scored = run("evaluate", source, answers, "--separator", ";")
    assert "(3 of 3)" in scored.stdout
