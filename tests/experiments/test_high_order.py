"""The experiments with high-order and semi-Markov models run, on small settings."""

from __future__ import annotations

import itertools
import json
import runpy
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import cora
import letters
import numpy as np
import punctuation
import pytest
from common import find_data, make_console
from hosemicrf import (
    ALL,
    Trials,
    field_scores,
    fold_divisions,
    growth_plot,
    growth_table,
    paper_tests,
    score_table,
    significance_table,
    token_accuracy,
)
from hypothesis import given, strategies as st
from trials import Trial

import trelliswork as tw

EXPERIMENTS = Path(__file__).resolve().parents[2] / "experiments"
SCRIPTS = ("cora", "letters", "punctuation")


def result(directory: Path, name: str) -> dict[str, Any]:
    assert (directory / f"{name}.md").read_text(encoding="utf-8").startswith(f"# {name}")
    assert (directory / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    return dict(json.loads((directory / f"{name}.json").read_text(encoding="utf-8")))


def data_or_skip() -> Path:
    data = find_data(None)
    if data is None:
        pytest.skip("needs the data sets: set TRELLISWORK_DATA")
    return data


def beginning(name: str, directory: Path, **parts: int) -> Path:
    """Copy the first sequences of the parts of a data set, and return the directory."""
    data = data_or_skip()
    (directory / name).mkdir()
    for part, n in parts.items():
        path = data / name / f"{part}.conll"
        first = itertools.islice(tw.iter_conll(path, ("word", "label"), "\t"), n)
        tw.write_conll(tw.Corpus(first), directory / name / f"{part}.conll", separator="\t")
    return directory


@given(st.integers(1, 40), st.integers(1, 6), st.integers(0, 9))
def test_folds_test_every_sequence_once(n: int, folds: int, seed: int) -> None:
    divisions = fold_divisions(n, folds, seed)
    assert sorted(i for _, test in divisions for i in test) == list(range(n))
    for train, test in divisions:
        assert sorted([*train, *test]) == list(range(n))


def fake_tagger(**notes: int) -> Any:
    model = SimpleNamespace(
        structure=SimpleNamespace(n_letters=2),
        pattern_weights=np.array([1.0, 0.0, 2.0, 0.5, 1.0]),
        automaton=SimpleNamespace(n_states=3, n_arcs=6),
    )
    return SimpleNamespace(
        training_log_=[SimpleNamespace(seconds=1.5)],
        n_iter_=3,
        stop_reason_="converged",
        model_=model,
        **notes,
    )


def test_trials_are_run_once(tmp_path: Path) -> None:
    gold = [["a", "b", "b"], ["a", "a"], ["b"]]
    asked: list[tuple[str, list[int]]] = []

    def learn(model: str, train: list[int], test: list[int]) -> tuple[Any, list[list[str]]]:
        asked.append((model, test))
        right = [gold[i] for i in test]
        return fake_tagger(), right if model == "good" else [["a"] * len(row) for row in right]

    divisions = [([2], [0, 1]), ([0, 1], [2])]
    settings = {"good": {}, "bad": {}, "never": {}}
    runner = Trials(gold, "plain", divisions, learn, tmp_path, settings)
    runner.run(["good", "bad"], make_console(), parallel=2)
    assert len(asked) == 4
    runner.run(["bad", "good"], make_console())
    assert len(asked) == 4
    found = runner.known(["good", "bad", "never"])
    assert list(found) == ["good", "bad"]
    assert field_scores(found["good"]) == {"a": 1.0, "b": 1.0, ALL: 1.0}
    assert field_scores(found["bad"]) == pytest.approx({"a": 2 / 5, "b": 0.0, ALL: 2 / 7})
    assert token_accuracy(found["bad"]) == 3 / 6
    assert found["bad"][0].notes["patterns"] == 6
    changed = Trials(gold, "plain", divisions, learn, tmp_path, {"good": {"l2": 2.0}})
    assert not changed.known(["good"])


def make_trial(model: str, counts: list[list[int]]) -> Trial:
    fields = {"x": np.sum(counts, axis=0).tolist()}
    notes = {"fields": fields, "tokens": [1, 2], "patterns": 7, "states": 3, "arcs": 9}
    return Trial(model, 0, counts, 0.0, 2.0, 0.0, {**notes, "iterations": 4})


def test_tables_have_the_papers_numbers() -> None:
    trials = {
        "C1": [make_trial("C1", [[0, 1, 1]] * 12)],
        "SC1": [make_trial("SC1", [[1, 1, 1]] * 12)],
    }
    scores = {model: field_scores(some) for model, some in trials.items()}
    table = score_table("T", ("x", ALL), scores, {"C1": {"x": 50.0, ALL: 51.5}})
    assert table.header == ["field", "C1 paper", "C1", "SC1"]
    assert table.rows == [["x", "50.00", "0.00", "100.00"], [ALL, "51.50", "0.00", "100.00"]]
    tests, values = significance_table("T", trials, {("C1", "SC1"): "0.004<"})
    assert tests.rows == [["C1", tests.rows[0][1]]]
    assert tests.rows[0][1].endswith("< (0.004<)")
    assert values["C1, SC1"]["p_value"] < 0.01


def test_papers_tests_are_read_by_rows() -> None:
    assert paper_tests("abc", "1< 2> 3<") == {("a", "b"): "1<", ("a", "c"): "2>", ("b", "c"): "3<"}
    assert cora.PAPER_P["SC2", "SC3"] == "0.025>"
    assert punctuation.PAPER_P["C3", "SC1"] == "0.378>"


def test_growth_is_shown(tmp_path: Path) -> None:
    trial = make_trial("SC2", [[1, 1, 1]])
    assert growth_table("T", {"SC2": trial}).rows == [
        ["SC2", "7", "3", "9", "4", "0.500", "2.0"],
    ]
    growth_plot({2: trial, 3: trial}, tmp_path / "growth.png")
    assert (tmp_path / "growth.png").stat().st_size > 0


def test_stretches_know_their_marks() -> None:
    # The paper's example: "no, she is working."
    assert punctuation.extend([",", "O", "O", "."]) == [
        *("Comma-Comma", "None-Period", "None", "Period"),
    ]
    assert punctuation.extend(["?", "O"]) == ["QMark-QMark", "None"]


@given(st.lists(st.sampled_from(["O", ",", ".", "?"])))
def test_the_marks_of_extended_labels_are_those_given(marks: list[str]) -> None:
    expected = ["O" if mark == "O" else f"B-{punctuation.MARKS[mark]}" for mark in marks]
    assert punctuation.scored(punctuation.extend(marks)) == expected


def test_names_of_models_stand_for_parameters() -> None:
    chain = cora.parameters_of("C3-BIO", 5)
    assert (chain["order"], chain["max_segment"], chain["l2"]) == (3, 1, 0.5)
    assert "begin:" not in chain["features"]
    weak = cora.parameters_of("SC3-10", 5)
    assert (weak["order"], weak["max_segment"], weak["l2"]) == (3, "auto", 0.005)
    rich = cora.parameters_of("R-SC2", 5)
    assert rich["order"] == 2
    assert "position(12)" in rich["features"]
    assert letters.parameters_of("order-4", 5)["order"] == 4


def test_words_are_divided_by_fold_or_by_spelling() -> None:
    texts = ["no", "on", "no", "oo", "on", "nn"]
    images = [np.zeros((len(text), 129)) for text in texts]
    words = letters.Words(images, [list(text) for text in texts], np.array([0, 1, 2, 0, 1, 2]))
    assert words.same_words(2) == [([0, 3], [1, 2, 4, 5]), ([1, 4], [0, 2, 3, 5])]
    for train, test in words.new_words(2, 0):
        assert len(train) == 2
        assert {texts[i] for i in train}.isdisjoint({texts[i] for i in test})
    assert words.share_seen(words.new_words(2, 0)) == 0.0
    assert words.share_seen([([0, 3], [1, 2])]) == 0.5


@pytest.mark.parametrize("name", SCRIPTS)
def test_help_teaches(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", [f"{name}.py", "--help"])
    with pytest.raises(SystemExit, match="0"):
        runpy.run_path(str(EXPERIMENTS / f"{name}.py"), run_name="__main__")
    text = capsys.readouterr().out
    assert f"python experiments/{name}.py" in text
    assert "--models" in text


def test_cora_on_a_few_references(tmp_path: Path) -> None:
    data = beginning("cora_hosemicrf", tmp_path, train=30, dev=6)
    arguments = ["--models", "C1", "C2-BIO", "SC2", "--folds", "2", "--max-iter", "4"]
    arguments += ["--orders", "2", "--data", str(data), "--output", str(tmp_path)]
    cora.main(arguments)
    found = result(tmp_path, "cora")
    scores = found["6 references of dev, trained on 30"]
    assert set(scores) == {"C1", "C2-BIO", "SC2"}
    assert found["growth"]["SC2"]["patterns"] > 13


def test_punctuation_on_a_few_texts(tmp_path: Path) -> None:
    data = beginning("punct_movie", tmp_path, train=60)
    arguments = ["--models", "C1", "SC2", "--folds", "2", "--max-iter", "4", "--orders", "2"]
    punctuation.main([*arguments, "--data", str(data), "--output", str(tmp_path)])
    found = result(tmp_path, "punctuation")
    assert set(found["f1"]) == {"C1", "SC2"}
    assert 0 < found["f1"]["C1"][ALL] < 1


def test_letters_on_a_few_words(tmp_path: Path) -> None:
    data = data_or_skip()
    (tmp_path / "letters").mkdir()
    with np.load(data / "letters" / "letters.npz") as stored:
        arrays = dict(stored)
    # Every hundredth word, for the first of all are the same.
    some = [slice(*ends) for ends in itertools.pairwise(arrays["word_start"].tolist())][::100]
    for key in ("pixels_packed", "label"):
        arrays[key] = np.concatenate([arrays[key][at] for at in some])
    arrays["word_start"] = np.cumsum([0, *(at.stop - at.start for at in some)])
    arrays["fold"] = np.arange(len(some)) % 2
    np.savez(tmp_path / "letters" / "letters.npz", **arrays)
    arguments = ["--models", "order-1", "order-2", "--folds", "2", "--max-iter", "4"]
    letters.main([*arguments, "--data", str(tmp_path), "--output", str(tmp_path)])
    found = result(tmp_path, "letters")
    assert set(found[letters.SAME]) == {"order-1", "order-2"}
    assert found[letters.SAME]["order-2"]["patterns"] > found[letters.SAME]["order-1"]["patterns"]
