"""Rules on the command line: train, tag, evaluate and explain."""

from __future__ import annotations

import json

import pytest

import trelliswork as tw
from commands import conll, fail, run, train_model

RULES = """# what the labels must be
valid_scheme()
at_most(1, 'PER')

only_on(token(regex='[A-Z].*'), 'PER')   # names have a capital
"""


@pytest.fixture
def rules(tmp_path):
    path = tmp_path / "rules.txt"
    path.write_text(RULES)
    return path


def test_train_under_rules_and_tag(tmp_path, rules):
    model = train_model(tmp_path, "--rules", rules, "--rule", "at_most(1, 'LOC')")
    tagger = tw.load(model)
    assert [repr(c) for c in tagger.constraints] == [
        "valid_scheme()",
        "at_most(1, 'PER')",
        "only_on(token(regex='[A-Z].*'), 'PER')",
        "at_most(1, 'LOC')",
    ]
    result = run("tag", model, "--format", "jsonl", stdin="Ann x\nBob x\nAnn x\n\n")
    assert result.exit_code == 0, result.output
    record = json.loads(result.stdout)
    assert record["labels"].count("B-PER") <= 1
    assert "status" not in record
    shown = run("inspect", model)
    assert "at_most(1, 'LOC')" in shown.output


def test_summary_says_what_became_of_rules(tmp_path, rules):
    corpus = tmp_path / "train.conll"
    corpus.write_text(conll() + "Ann\tNNP\tB-PER\nand\tCC\tO\nBob\tNNP\tB-PER\n\n")
    out = tmp_path / "m.tw"
    command = ("train", corpus, "--out", out, "--rules", rules, "--dev", corpus)
    line = fail(*command)
    for text in ("sequence 5", "at_most(1, 'PER')", "set --on-conflict 'skip'"):
        assert text in line
    result = run(*command, "--on-conflict", "skip")
    assert result.exit_code == 0, result.output
    assert "3, of which 3 in training" in result.output
    assert "1 sentences that break a rule" in result.output
    assert "Sentences that break a rule" in result.output  # of the development set
    result = run(*command, "--decode-only-rules")
    assert "3, of which 0 in training" in result.output


def test_bad_rules_are_told_with_their_place(tmp_path, rules):
    corpus = tmp_path / "train.conll"
    corpus.write_text(conll())
    rules.write_text("at_most(1, 'PER')\nat_mots(1, 'PER')\n")
    assert "rules.txt:2" in fail("train", corpus, "--out", tmp_path / "m.tw", "--rules", rules)
    assert "--rule" in fail("train", corpus, "--out", tmp_path / "m.tw", "--rule", "1 + 1")
    line = fail("train", corpus, "--out", tmp_path / "m.tw", "--rule", "at_most(1, 'ORG')")
    assert "ORG" in line


IMPOSSIBLE = ("--rule", "at_least(1, 'LOC')", "--rule", "starts_with('PER')", "--decode-only-rules")


def test_tag_marks_what_cannot_satisfy_all_rules(tmp_path):
    model = train_model(tmp_path, *IMPOSSIBLE)
    text = "Ann x\nBob x\nRome x\n\nAnn x\n\n"
    result = run("tag", model, "--format", "jsonl", stdin=text)
    assert result.exit_code == 0, result.output
    first, second = map(json.loads, result.stdout.splitlines())
    assert "status" not in first
    assert second["status"] == "relaxed"
    assert second["violations"] == {"starts_with('PER')": 1}
    assert "1 of 2 sentences cannot satisfy all rules" in result.stderr
    result = run("tag", model, "--on-infeasible", "unconstrained", stdin=text)
    assert "# unconstrained: at_least(1, 'LOC')" in result.stdout
    result = run("tag", model, "--nbest", 2, stdin="Ann x\n\n")
    assert result.stdout.startswith("# relaxed: starts_with('PER')\n# 1 ")
    line = fail("tag", model, "--on-infeasible", "error", stdin=text)
    assert "No labelling of 1 token satisfies both" in line
    assert "set --on-infeasible 'relax'" in line


def test_evaluate_counts_broken_rules(tmp_path, rules):
    gold = tmp_path / "gold.conll"
    gold.write_text(conll())
    found = tmp_path / "found.conll"
    found.write_text(conll().replace("sings\tVBZ\tO", "sings\tVBZ\tB-PER"))
    result = run("evaluate", gold, found, "--rules", rules)
    assert result.exit_code == 0, result.output
    lines = [line for line in result.output.splitlines() if line.startswith("at_most")]
    assert lines[0].split()[-4:] == ["1", "20.00", "0", "0.00"]
    record = json.loads(run("evaluate", gold, found, "--rules", rules, "--json").output)
    assert [rule["broken"] for rule in record["rules"]] == [0, 1, 1]
    assert [rule["gold"]["broken"] for rule in record["rules"]] == [0, 0, 0]


def test_explain_rules_and_data(tmp_path, rules):
    corpus = tmp_path / "train.conll"
    corpus.write_text(conll() + "Ann\tNNP\tB-PER\nand\tCC\tO\nBob\tNNP\tB-PER\n\n")
    command = ("explain", "--rules", rules, "--rule", "at_most(3, 'PER')", "--data", corpus)
    result = run(*command)
    assert result.exit_code == 0, result.output
    for text in (
        "training in all",
        "mask",
        "at_most(3, 'PER') is implied",
        "sentence 5",
        "Ann/B-PER",
    ):
        assert text in result.output
    record = json.loads(run(*command, "--json").output)
    assert [p["where"] for p in record["plan"]] == ["training", "training", "mask", "training"]
    assert record["findings"][0]["kind"] == "implied"
    assert [g["broken"] for g in record["gold"]] == [0, 1, 0, 0]
    assert record["gold"][1]["example"] == 5


def test_explain_a_model(tmp_path, rules):
    model = train_model(tmp_path, "--rules", rules)
    assert "at_most(1, 'PER')" in run("explain", model).output
    assert "at_most(2, 'LOC')" in run("explain", model, "--rule", "at_most(2, 'LOC')").output
    bare = train_model(tmp_path)
    assert "expected rules" in fail("explain", bare)
    assert "expected a model or --data" in fail("explain", "--rules", rules)
