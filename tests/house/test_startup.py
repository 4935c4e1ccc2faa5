"""Imports at start-up: a program that needs little must not wait for all of the library."""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import trelliswork as tw
from commands import run, train_model, two_columns
from trelliswork import citations
from trelliswork.cli.app import COMMANDS
from trelliswork.taggers.load import KINDS, load_saved
from trelliswork.taggers.trained import TrainedTagger

SLOW = (
    "joblib",
    "matplotlib",
    "rich",
    "scipy.optimize",
    "scipy.sparse",
    "scipy.stats",
    "sklearn",
    "torch",
)


def imported_by(code: str, *args: object) -> set[str]:
    """Return the modules that some code imports into a fresh interpreter.

    Those that it has before do not count: hooks of other packages import what they need.
    """
    before = "import sys; at_start = set(sys.modules)\n"
    report = "\nimport json; print(json.dumps(sorted(set(sys.modules) - at_start)))"
    done = subprocess.run(
        [sys.executable, "-c", before + code + report, *map(str, args)],
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    return set(json.loads(done.stdout.splitlines()[-1]))


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    rules = ("--rule", "at_most(1, 'PER')", "--rule", "precedes('PER', 'LOC') : soft")
    folder = tmp_path_factory.mktemp("model")
    return train_model(folder, "--tokenizer", "words", *rules, text=two_columns())


def test_the_package_imports_nothing_but_itself():
    modules = imported_by("import trelliswork")
    assert "trelliswork" in modules
    assert not modules.intersection((*SLOW, "numpy", "trelliswork.constraints"))


def test_help_imports_no_command():
    code = (
        "from trelliswork.cli import main; import sys; sys.argv[1:] = ['--help']\n"
        "try: main()\nexcept SystemExit as end: assert end.code == 0"
    )
    modules = imported_by(code)
    assert "rich" in modules  # it was drawn
    assert not modules.intersection(f"trelliswork.cli.{name}" for name in COMMANDS)
    assert "numpy" not in modules


def test_tagging_with_a_saved_model_needs_no_learner(model, tmp_path):
    text = tmp_path / "in.txt"
    text.write_text("Ann sees Rome\n", encoding="utf-8")
    code = (
        "from trelliswork.cli import main; import sys\n"
        "sys.argv += ['--raw', '--jobs=1', '--marginals', '--output', sys.argv[2] + '.out']\n"
        "try: main()\nexcept SystemExit as end: assert end.code == 0"
    )
    modules = imported_by(code, "tag", model, text)
    assert '"labels": ["B-PER", "O", "B-LOC"]' in Path(f"{model}.out").read_text(encoding="utf-8")
    assert not modules.intersection((*SLOW, "trelliswork.taggers.crf", "trelliswork.learn.crf"))


def test_a_saved_tagger_answers_as_the_estimator_does(model):
    saved, estimator = load_saved(model), tw.load(model)
    X = [["Ann", "Lee", "sees", "Bob"], ["Rome", "Ann"], []]
    assert isinstance(saved, TrainedTagger)
    assert not hasattr(saved, "fit")
    assert saved.predict(X) == estimator.predict(X)
    assert saved.penalties_ == estimator.penalties_
    assert saved.metadata_ == estimator.metadata_
    assert saved.plan_.budgets() == estimator.plan_.budgets()
    assert saved.predict_nbest(X, 3) == estimator.predict_nbest(X, 3)
    freed = saved.with_constraints(())
    assert freed.predict(X) == estimator.with_constraints(()).predict(X)


def test_a_damaged_model_is_named(tmp_path, model):
    broken = tmp_path / "broken.tw"
    broken.write_bytes(model.read_bytes()[:-3])
    with pytest.raises(tw.ModelFileError, match=r"broken\.tw"):
        load_saved(broken)


def test_reading_references_needs_nothing_that_makes_them():
    code = (
        "from trelliswork.citations.parser import Parser; import sys\n"
        "(found,) = Parser.load().parse([sys.argv[1]])\n"
        "assert found.year == '1949' and found.authors"
    )
    modules = imported_by(code, "C. E. Shannon. A theory of secrecy. Bell, 28:656, 1949.")
    assert "trelliswork.citations.meaning.interpret" in modules
    rooms = {f"trelliswork.citations.{room}" for room in ("styles", "invention")}
    slow = {"sklearn", "scipy.stats", "scipy.optimize", "citeproc", "lxml"}
    assert not modules & (slow | rooms)


@pytest.mark.parametrize("package", [tw, citations])
def test_every_name_of_a_stub_is_served(package):
    """Type checkers, ``import *`` and attributes of the package have the same names."""
    stub = Path(package.__file__).with_suffix(".pyi")
    aliases = [
        (node.module, alias)
        for node in ast.parse(stub.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    ]
    assert all(alias.name == alias.asname for _, alias in aliases)  # re-exports, to mypy
    assert package.__all__ == sorted(alias.name for _, alias in aliases)
    assert set(package.__all__) <= set(dir(package))
    for module, alias in aliases:
        found = importlib.import_module(module)
        assert getattr(package, alias.name) is getattr(found, alias.name)


@pytest.mark.parametrize("package", [tw, citations])
def test_unknown_names_are_refused(package):
    with pytest.raises(AttributeError, match="no attribute 'nothing_like_it'"):
        _ = package.nothing_like_it


def test_modules_are_attributes():
    code = "import trelliswork as tw; assert tw.citations.Work and tw.constraints.lint"
    assert "trelliswork.citations" in imported_by(code)


def test_values_are_pickled_by_their_own_module():
    again = pickle.loads(pickle.dumps((tw.CRFTagger, tw.plan, tw.at_most(1, "X"))))
    assert again == (tw.CRFTagger, tw.plan, tw.at_most(1, "X"))


def test_kinds_of_taggers_are_where_they_are_said_to_be():
    for name, module in KINDS.items():
        assert getattr(importlib.import_module(module), name) is getattr(tw, name)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_all_commands_is_what_each_says(name):
    module = importlib.import_module(f"trelliswork.cli.{name}")
    assert COMMANDS[name] == inspect.getdoc(getattr(module, name)).split("\n\n")[0]
    result = run(name, "--help")
    assert result.exit_code == 0
    assert "Examples:" in result.stdout
