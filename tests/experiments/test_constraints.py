"""The experiments run, on small settings, and have the expected results."""

from __future__ import annotations

import itertools
import json
import math
import runpy
import sys
from pathlib import Path

import appendix_b
import figure2
import inequality
import markov_sources
import numpy as np
import propbank
import propbank_features
import pytest
import synthetic
import table1
import transducer
import usaddress
from common import ResultTable, find_data
from hypothesis import given, strategies as st
from trials import Trial, TrialStore, permutation_test

import trelliswork as tw

EXPERIMENTS = Path(__file__).resolve().parents[2] / "experiments"
SCRIPTS = (
    "appendix_b",
    "figure2",
    "inequality",
    "propbank",
    "synthetic",
    "table1",
    "transducer",
    "usaddress",
)


def result(directory: Path, name: str) -> dict[str, object]:
    assert (directory / f"{name}.md").read_text(encoding="utf-8").startswith(f"# {name}")
    return dict(json.loads((directory / f"{name}.json").read_text(encoding="utf-8")))


def beginning(name: str, directory: Path) -> Path:
    """Copy the first sequences of a data set, in the same layout, and return the directory."""
    data = find_data(None)
    if data is None:
        pytest.skip("needs the data sets: set TRELLISWORK_DATA")
    (directory / name).mkdir()
    for part, n in (("train", 300), ("dev", 30)):
        path = next((data / name).glob(f"{part}.conll*"))
        first = itertools.islice(tw.iter_conll(path, ("word", "label"), "\t"), n)
        tw.write_conll(tw.Corpus(first), directory / name / f"{part}.conll", separator="\t")
    return directory


def test_figure_2_shows_both_distributions(tmp_path: Path) -> None:
    assert figure2.main(["--max-k", "2", "--output", str(tmp_path)])
    rows = result(tmp_path, "figure2")["rows"]
    assert [row["k"] for row in rows] == [1, 2]
    assert rows[1]["decoding_probability"] == pytest.approx(0.9, abs=1e-6)
    assert rows[1]["training_nll"] == pytest.approx(rows[1]["entropy"], abs=1e-6)
    assert (tmp_path / "figure2.svg").read_text(encoding="utf-8").startswith("<?xml")


def test_table_1_agrees_to_two_decimals(tmp_path: Path) -> None:
    assert table1.main(["--output", str(tmp_path), "--seed", "5"])
    assert result(tmp_path, "table1")["modes"] == {
        "constrained decoding": "bcd",
        "constrained training": "acd",
    }


def test_appendix_b_agrees_to_the_printed_decimals(tmp_path: Path) -> None:
    assert appendix_b.main(["--output", str(tmp_path)])
    found = result(tmp_path, "appendix_b")
    assert found["log_z"]["ours"] == pytest.approx(12.696, abs=5e-4)
    assert found["table 13"]["differences"] == found["table 14"]["differences"] == []


def test_appendix_b_says_where_it_does_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(appendix_b, "SPOKEN_FOR", "PPOLOLOO")
    assert not appendix_b.main(["--output", str(tmp_path)])
    assert result(tmp_path, "appendix_b")["table 14"]["differences"]


def test_longer_patterns_help_on_sources_of_high_order(tmp_path: Path) -> None:
    few = ["--seeds", "1", "--sources", "2", "--sigmas", "0.1", "--sizes", "60", "--test", "40"]
    few += ["--orders", "1", "2", "3", "--max-iter", "60", "--output", str(tmp_path)]
    synthetic.main(few)
    found = result(tmp_path, "synthetic")
    first, second, third = found["rows"]
    assert first["accuracy"] < second["accuracy"]
    assert first["patterns"] < second["patterns"] < third["patterns"]
    (parts,) = found["exclusive"]
    for part in ("train", "test"):
        only, every = parts[part]
        assert 0 <= only < every <= 5 * 5 * 2**3
    assert (tmp_path / "synthetic.png").read_bytes().startswith(b"\x89PNG")


def test_markov_sources_have_few_next_states() -> None:
    rng = np.random.default_rng(0)
    source = markov_sources.Source.draw(2, rng)
    states = source.states(200, rng)
    following: dict[tuple[int, ...], set[int]] = {}
    for row in states.tolist():
        for t in range(2, len(row)):
            following.setdefault(tuple(row[t - 2 : t]), set()).add(row[t])
    assert {len(found) for found in following.values()} <= {1, 2}
    seen = source.observe(states, 0.0, rng)
    assert seen.shape == (200, 20, 10)
    np.testing.assert_allclose(seen[:, 1:, 3:6], source.means[states[:, :-1]])


def test_the_transducer_has_our_distribution(tmp_path: Path) -> None:
    assert transducer.main(["--cases", "15", "--output", str(tmp_path)])
    assert result(tmp_path, "transducer")["difference_to_transducer"] < 1e-12


def test_the_inequality_holds_on_random_languages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inequality, "find_data", lambda given: None)
    assert inequality.main(["--cases", "6", "--output", str(tmp_path)])
    assert result(tmp_path, "inequality")["usaddress"] is None


@pytest.mark.parametrize("losses", [(1.0, 2.0, 0.5), (2.0, 1.0, 1.5)])
def test_losses_out_of_order_are_noticed(losses: tuple[float, float, float]) -> None:
    assert not inequality.ordered(losses)


def test_the_inequality_holds_on_a_small_corpus() -> None:
    words = [["1", "Oak", "St"], ["2", "Elm", "Rd"], ["Elm", "St"], ["7", "A", "b", "St"]]
    labels = [["n", "s", "t"], ["n", "s", "t"], ["s", "t"], ["n", "s", "s", "t"]]
    corpus = tw.Corpus.from_lists(words, labels)
    found = inequality.real_case(corpus, corpus, rules=2, l2=1e-2, max_iter=300)
    assert inequality.ordered(found["train"], found["slack"] + found["left"])
    assert found["held_out"] == pytest.approx(found["train"])


def test_rules_of_addresses_come_from_gold() -> None:
    gold = [["n", "s", "n"], ["n", "s"], ["s", usaddress.CORNER, "s"]]
    never = usaddress.rules_from(gold, 0.0)
    assert never == [tw.contiguous("s") | tw.at_least(1, usaddress.CORNER)]
    assert len(usaddress.rules_from(gold, 0.5)) == 2


def test_columns_relate_tokens_to_the_predicate() -> None:
    words = ["He", ",", "I", "said", ",", "was", "denied", "by", "them", "."]
    labels = ["O"] * 6 + ["B-V"] + ["O"] * 3
    columns = propbank_features.with_columns(tw.Sentence(words, labels=labels)).columns
    assert columns["mark"].index("B") == 6
    assert columns["stem"][0] == "deny"
    assert columns["voice"][0] == "passive"
    assert columns["between"] == ("2", "2", "1", "1", "1", "0", "0", "0", "0", "1")
    assert columns["lead"][7:9] == ("by", "by")
    assert columns["distance"][:2] == ("-8", "-5")
    assert columns["distance"][-1] == "+3"


def test_roles_are_reduced_by_frequency() -> None:
    labels = ["B-V", "B-ARG0", "B-ARGM-TMP", "B-ARGM-TMP", "B-C-V", "I-C-V"]
    counts = propbank_features.roles_of([tw.Sentence(list("abcdef"), labels=labels)])
    assert propbank_features.reduced_roles(counts) == ("ARGM-TMP", "V")
    kept = frozenset({"V", "ARGM-TMP"})
    small = ["B-V", "O", "B-ARGM-TMP", "B-ARGM-TMP", "O", "O"]
    assert propbank_features.relabel(labels, kept) == small


def make_trial(seed: int, counts: list[list[int]]) -> Trial:
    return Trial("m", seed, counts, 0.0, 1.0, 1.0, {})


def test_trials_survive_an_interruption(tmp_path: Path) -> None:
    store = TrialStore(tmp_path, {"l2": 1.0})
    trial = store.save(make_trial(0, [[1, 2, 4], [1, 1, 0]]))
    assert store.load("m", 0) == trial
    assert store.load("m", 1) is None
    assert TrialStore(tmp_path, {"l2": 2.0}).load("m", 0) is None
    assert trial.scores == pytest.approx((2 / 3, 1 / 2, 4 / 7))


@given(st.lists(st.floats(0, 1), min_size=2, max_size=4))
def test_permutation_test_of_equal_trials_finds_nothing(values: list[float]) -> None:
    assert permutation_test(values, values) == pytest.approx(1.0)


def test_permutation_test_counts_divisions() -> None:
    low, high = [1.0, 2.0, 3.0, 4.0, 5.0], [11.0, 12.0, 13.0, 14.0, 15.0]
    assert permutation_test(low, high) == pytest.approx(2 / math.comb(10, 5))


def test_tables_are_markdown() -> None:
    table = ResultTable("Title", ("a", "b"), [["x", "1"]])
    assert table.markdown().splitlines()[2:] == ["| a | b |", "| --- | ---: |", "| x | 1 |"]


@pytest.mark.parametrize("name", SCRIPTS)
def test_help_teaches(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", [f"{name}.py", "--help"])
    with pytest.raises(SystemExit, match="0"):
        runpy.run_path(str(EXPERIMENTS / f"{name}.py"), run_name="__main__")
    text = capsys.readouterr().out
    assert f"python experiments/{name}.py" in text
    assert "--output" in text


def test_propbank_takes_up_where_it_ended(tmp_path: Path) -> None:
    data = beginning("propbank_ewt", tmp_path)
    arguments = ["--sequences", "60", "--max-iter", "3", "--seeds", "2"]
    arguments += ["--data", str(data), "--output", str(tmp_path)]
    assert propbank.main(arguments)
    first = result(tmp_path, "propbank")
    assert set(first["summary"]) == set(propbank.MODELS)
    assert 0.9 < first["recall_ceiling"] <= 1
    for model in propbank.MODELS:
        assert np.shape(first["summary"][model]["scores"]) == (2, 3)
    assert propbank.main(arguments)
    assert result(tmp_path, "propbank")["summary"] == first["summary"]


def test_penalties_of_propbank_are_compared_on_training_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(propbank, "PENALTIES", (1.0,))
    data = beginning("propbank_ewt", tmp_path)
    arguments = ["--tune", "--sequences", "60", "--max-iter", "3", "--data", str(data)]
    assert propbank.main([*arguments, "--output", str(tmp_path)])
    assert np.shape(result(tmp_path, "propbank_tuning")["rows"]) == (1, 5)


def test_addresses_break_no_rule(tmp_path: Path) -> None:
    data = beginning("usaddress", tmp_path)
    arguments = ["--max-iter", "6", "--training-arcs", "4000", "--folds", "2"]
    usaddress.main([*arguments, "--data", str(data), "--output", str(tmp_path)])
    found = result(tmp_path, "usaddress")
    assert found["folds"]["unconstrained"]["violations"] > 0
    assert found["folds"]["constrained decoding"]["violations"] == 0
    assert found["models"]["constrained training"]["violations"] == 0
