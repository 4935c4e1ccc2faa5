"""The experiments on soft constraints run, on little data, and their parts are right."""

from __future__ import annotations

import itertools
import json
import runpy
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import plain_dual
import pytest
import soft_rules
import soft_small
import umass
import umass_tables
from common import find_data
from numpy.testing import assert_array_equal

import trelliswork as tw

if TYPE_CHECKING:
    from trelliswork.constraints import Constraint

EXPERIMENTS = Path(__file__).resolve().parents[2] / "experiments"
WORDS = [["a", "x", "b"], ["a", "b"], ["a", "b", "b"], ["x", "a", "b"]]
LABELS = [["B-t", "I-t", "B-u"], ["B-t", "B-u"], ["B-t", "B-u", "I-u"], ["B-t", "I-t", "B-u"]]


@pytest.fixture(scope="module")
def tagger() -> tw.CRFTagger:
    made = tw.CRFTagger(
        features="word[0]", l2=0.1, scheme="bio", constraints=tw.valid_scheme(), transitions="all"
    )
    return made.fit(WORDS, LABELS)


def beginning(name: str, directory: Path, n_train: int, n_dev: int) -> Path:
    """Copy the first sequences of a data set, in the same layout, and return the directory."""
    data = find_data(None)
    if data is None:
        pytest.skip("needs the data sets: set TRELLISWORK_DATA")
    (directory / name).mkdir()
    for part, n in (("train", n_train), ("dev", n_dev)):
        path = next((data / name).glob(f"{part}.conll*"))
        first = itertools.islice(tw.iter_conll(path, ("word", "label"), "\t"), n)
        tw.write_conll(tw.Corpus(first), directory / name / f"{part}.conll", separator="\t")
    return directory


def test_halves_divide_all_sentences_both_ways() -> None:
    (one, other), (again, back) = soft_rules.halves(9, 0)
    assert_array_equal(np.sort(np.concatenate([one, other])), np.arange(9))
    assert_array_equal(one, back)
    assert_array_equal(other, again)


def test_error_reduction_is_a_share_of_the_errors() -> None:
    assert soft_rules.error_reduction(0.9, 0.95) == pytest.approx(0.5)
    assert soft_rules.error_reduction(1.0, 1.0) == 0


def test_signed_rank_of_equal_reports_finds_nothing() -> None:
    report = tw.report(LABELS, LABELS, scheme="bio")
    assert soft_rules.signed_rank(report, report) == 1.0


def test_labels_count_the_segments_that_begin() -> None:
    labels = tw.LabelSet(["B-t", "B-u", "I-t", "I-u", "O"], "bio")
    rules = [tw.at_most(1, "t"), tw.count("u") - tw.count("t") <= 0]
    added, bounds = plain_dual.counts_of_labels(rules, labels)
    assert_array_equal(added, [[1, 0, 0, 0, 0], [-1, 1, 0, 0, 0]])
    assert_array_equal(bounds, [1, 0])


def test_labels_that_do_not_tell_where_segments_begin_are_refused() -> None:
    with pytest.raises(ValueError, match="which segments begin"):
        plain_dual.counts_of_labels([tw.at_most(1, "t")], tw.LabelSet(["t", "u"]))


@pytest.mark.parametrize("rules", [[], [tw.at_most(1, "t")], [tw.count("t") - tw.count("u") <= 0]])
def test_algorithm_1_converges_to_the_best_labelling(
    tagger: tw.CRFTagger, rules: list[Constraint]
) -> None:
    words = [["a", "b", "a", "b"], ["a", "x"], ["b"]]
    sentences = [tw.Sentence(own) for own in words]
    last = plain_dual.algorithm_1(tagger, rules, sentences, max_iter=200)
    best = tagger.with_constraints([tw.valid_scheme(), *rules]).decode(sentences)
    ruled = tagger.with_constraints([tw.valid_scheme(), *rules])
    chosen = np.flatnonzero(last.converged)
    assert chosen.size
    own = [sentences[i] for i in chosen]
    found = ruled.log_probability(own, [last.predicted[i] for i in chosen])
    expected = ruled.log_probability(own, [best[i].labels for i in chosen])
    np.testing.assert_allclose(found, expected, atol=1e-9)
    assert last.feasible[chosen].all()


def test_contradictory_rules_end_infeasible(tagger: tw.CRFTagger) -> None:
    rules = [tw.at_most(0, "t"), tw.at_least(1, "t")]
    last = plain_dual.algorithm_1(tagger, rules, [tw.Sentence(["a", "b"])], max_iter=7)
    assert last.iterations.tolist() == [7]
    assert not last.feasible[0]
    assert not last.converged[0]


def test_no_mined_rules_change_nothing(tagger: tw.CRFTagger) -> None:
    own = [tw.Sentence(w, labels=y) for w, y in zip(WORDS, LABELS, strict=True)]
    task = soft_rules.Task.make(tagger, own)
    divisions = soft_rules.halves(len(own), 0)
    outcome = soft_rules.apply(task, divisions, ("singleton",), soft_rules.Settings())
    assert outcome.predicted == task.predicted
    assert outcome.n_rules == outcome.sparsity == 0
    assert soft_rules.iteration_statistics(task, divisions, outcome)["changed"] == 0


def test_umass_runs(tmp_path: Path) -> None:
    data = beginning("umass_citation_hier", tmp_path, 150, 24)
    umass.main(["--quick", "--data", str(data), "--output", str(tmp_path)])
    found = json.loads((tmp_path / "umass.json").read_text(encoding="utf-8"))
    assert set(umass_tables.PAPER_TABLE_1) <= set(found["table 1"])
    assert found["statistics"]["verified"] == 1.0
    assert found["table 2"]["1"]["f1"] == pytest.approx(found["table 1"]["baseline"]["f1"])
    assert (tmp_path / "umass.png").read_bytes().startswith(b"\x89PNG")


def test_small_sets_run(tmp_path: Path) -> None:
    data = beginning("cora", tmp_path, 60, 30)
    options = ["--sets", "cora", "--quick", "--max-iter", "10"]
    assert soft_small.main([*options, "--data", str(data), "--output", str(tmp_path)])
    found = json.loads((tmp_path / "soft_small.json").read_text(encoding="utf-8"))
    assert found["cora"]["halves, all"]["f1"] > 0


@pytest.mark.parametrize("name", ["soft_small", "umass"])
def test_help_teaches(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", [name, "--help"])
    with pytest.raises(SystemExit, match="0"):
        runpy.run_path(str(EXPERIMENTS / f"{name}.py"), run_name="__main__")
    assert "python experiments/" in capsys.readouterr().out
