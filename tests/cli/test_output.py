"""What the commands show: no control character of a file reaches the terminal."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

import trelliswork.cli
from commands import run
from trelliswork.cli.output import show_json, visible

ESCAPE = "\x1b[2J\x9b31m\u202e\x07"
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


@given(st.text())
def test_visible_text_has_no_controls_and_is_else_the_same(text):
    found = visible(text)
    assert not CONTROLS.search(found)
    if not CONTROLS.search(text):
        assert found == text


@given(st.dictionaries(st.text(), st.text() | st.floats(allow_nan=False)))
def test_json_stays_the_same_value(record):
    written = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("typer.echo", written.append)
        show_json(record)
    assert json.loads(written[0]) == record
    assert not CONTROLS.search(written[0])


def test_all_output_goes_through_one_function():
    folder = Path(trelliswork.cli.__file__).parent
    writers = ("print", "typer.echo", "typer.secho", "sys.stdout.write", "sys.stderr.write")
    found = [
        f"{path.relative_to(folder)}:{node.lineno}"
        for path in sorted(folder.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in writers
    ]
    assert all(place.startswith("output.py:") for place in found), found


@pytest.fixture
def hostile(tmp_path):
    """A corpus, rules and a model whose labels, tokens and names would paint the terminal."""
    corpus = tmp_path / "\x1b[31mtrain.conll"
    lines = [f"Ann{ESCAPE}\tB-PER{ESCAPE}\nsings\tO\n\n", f"Rome{ESCAPE}\tB-LOC\nis\tO\n\n"] * 3
    corpus.write_text("".join(lines), encoding="utf-8")
    model = tmp_path / "\x1b[31mm.tw"
    return corpus, model


def test_labels_features_and_names_of_files_are_pictures(hostile, tmp_path):
    corpus, model = hostile
    missing = tmp_path / "\x1b[5mmissing.conll"
    rules = tmp_path / "\x1b[5mrules.txt"
    rules.write_text(f"at_most(1, PER{ESCAPE})\n", encoding="utf-8")
    commands = [
        ("train", corpus, "--out", model, "--features", "word[0]", "--max-iter", "3"),
        ("inspect", model),
        ("inspect", model, "--json"),
        ("evaluate", corpus, corpus),
        ("evaluate", corpus, corpus, "--json"),
        ("explain", "--data", corpus, "--rule", 'at_most(1, "PER")'),
        ("explain", model, corpus, "--rule", 'at_most(0, "LOC")'),
        ("train", corpus, "--out", model, "--rules", rules),
        ("tag", model, missing),
        ("cite", missing),
    ]
    for command in commands:
        result = run(*command)
        shown = result.stdout + result.stderr
        assert shown
        assert not CONTROLS.search(shown), (command, shown)
