"""The command ``explain``: rules, gold labels, and changes that rules make."""

from __future__ import annotations

import json

import pytest

from commands import conll, fail, run, train_model


def test_explain_rules_and_data(tmp_path, rules):
    corpus = tmp_path / "train.conll"
    corpus.write_text(conll() + "Ann\tNNP\tB-PER\nand\tCC\tO\nBob\tNNP\tB-PER\n\n")
    command = ("explain", "--rules", rules, "--rule", "at_most(3, 'PER')", "--data", corpus)
    result = run(*command)
    assert result.exit_code == 0, result.output
    for text in (
        "training product",
        "mask",
        "at_most(3, 'PER') is implied",
        "train.conll:20: at_most(1, 'PER'): ",
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
    assert "--labels, --scheme, --outside" in fail("explain", model, "--labels", "x")
    assert "--labels, --scheme, --outside" in fail("explain", model, "--outside", "O")
    assert "expected without a model" in fail("explain", model, "--max-segment", "auto")
    other = tmp_path / "other.conll"
    other.write_text("\nAnn x O\n\nLtd x B-ORG\n")
    line = fail("explain", bare, "--rules", rules, "--data", other)
    assert "other.conll:4: " in line
    assert "B-ORG" in line


def test_explain_rules_of_segments_without_a_model(tmp_path):
    corpus = tmp_path / "segments.conll"
    corpus.write_text("a X\nb X\nc Y\n")
    command = ("explain", "--rule", "matches('X Y')", "--data", corpus, "--json")
    for options, broken in (((), 1), (("--max-segment", "auto"), 0)):
        (gold,) = json.loads(run(*command, *options).stdout)["gold"]
        assert gold["broken"] == broken


SOFT = """valid_scheme()
at_most(1, PER)                    # one person
LOC requires PER : soft(0.25)
count(LOC) - count(PER) <= 0 : soft(0.5)
"""
INPUT = "Ann x B-PER\nand x O\nBob x O\n\nRome x B-LOC\nand x O\nRome x B-LOC\n\nthe x O\ncat x O\n"


def test_explain_what_rules_change(tmp_path, rules):
    rules.write_text(SOFT)
    model = train_model(tmp_path, "--rules", rules)
    source = tmp_path / "in.conll"
    source.write_text(INPUT)
    result = run("explain", model, source)
    assert result.exit_code == 0, result.output
    first, *_ = result.stdout.splitlines()
    assert first.startswith(f"{source}:1: 1 of 3 tokens changed; the model scores this ")
    for text in (
        "B-PER → O",
        "at_most(1, 'PER'): broken 1 → 0: mended",
        "1 of 3 sentences changed, in 1 tokens: ",
        "requires('LOC', 'PER')    0.25    1      1        0  0.25",
        "count('LOC') - count('PER') <= 0    0.5    1      1        0  1.00",
    ):
        assert " ".join(text.split()) in " ".join(result.stdout.split())
    # Other rules, unlabelled sentences, from standard input.
    unlabelled = "Ann x\nand x\nBob x\n\nAnn x\nRome x\n\n"
    result = run("explain", model, "-", "--rule", "at_most(0, PER) : soft(100)", stdin=unlabelled)
    assert "<stdin>:1: 2 of 3 tokens changed" in result.stdout
    assert "<stdin>:5: 1 of 2 tokens changed" in result.stdout
    assert "in 3 tokens.\n" in result.stdout
    result = run("explain", model, "-", "--rule", "at_most(0, PER)", "--limit", 1, stdin=unlabelled)
    assert "<stdin>:5" not in result.stdout
    assert "and 1 more; --limit shows more" in result.stdout


def test_explain_what_rules_change_as_json(tmp_path, rules):
    rules.write_text(SOFT)
    model = train_model(tmp_path)
    source = tmp_path / "in.jsonl"
    source.write_text('{"tokens": ["Ann", "and", "Bob"], "pos": ["x", "x", "x"]}\n')
    command = ("explain", model, source, "--rules", rules, "--json")
    record = json.loads(run(*command).stdout)
    assert (record["sentences"], record["changed"], record["tokens"]) == (1, 1, 1)
    (change,) = record["changes"]
    assert change["place"] == f"{source}:1"
    assert change["before"] == ["B-PER", "O", "B-PER"]
    assert [rule["rule"] for rule in change["rules"]] == ["at_most(1, 'PER')"]
    assert [rule["penalty"] for rule in record["rules"]] == [None, None, 0.25, 0.5]
    assert json.loads(run(*command, "--limit", 0).stdout)["changes"] == []


def test_explain_input_that_cannot_be(tmp_path, rules):
    model = train_model(tmp_path)
    source = tmp_path / "in.conll"
    source.write_text(INPUT)
    assert "expected rules" in fail("explain", model, source)
    assert "--limit: expected with INPUT" in fail("explain", model, "--limit", 1, "--rules", rules)
    line = fail("explain", model, source, "--rule", "at_most(1, ORG)")
    assert "--rule:1:12: at_most(1, 'ORG'): there is no segment 'ORG'" in line
    for command in ("explain", "tag"):
        line = fail(command, model, source, "--rule", "PER before LOC : soft")
        assert "--rule:1: precedes('PER', 'LOC').soft() has no penalty" in line
    result = run("explain", model, source, "--rule", "at_least(9, PER)")
    assert "at_least(9, 'PER'): broken" not in result.stdout  # dropped, and changes nothing
    assert "3 sentences cannot satisfy all rules" in result.stdout


def test_labels_that_the_data_do_not_show(tmp_path):
    corpus = tmp_path / "few.conll"
    corpus.write_text("A author\n. author\nOn title\nIt title\n\n")
    command = ("explain", "--rule", "at_most(1, note)", "--data", corpus)
    line = fail(*command)
    assert "there is no segment 'note'" in line
    assert "add --labels note." in line
    result = run(*command, "--labels", "note,editor")
    assert result.exit_code == 0, result.output
    assert "4 labels (plain): author editor note title" in result.output


@pytest.mark.parametrize("kind", ["hmm", "perceptron"])
def test_models_that_train_without_rules(tmp_path, kind):
    corpus, model = tmp_path / "train.conll", tmp_path / "m.tw"
    corpus.write_text(conll())
    trained = run(
        *("train", corpus, "--out", model, "--model", kind, "--rule", "at_most(1, PER)"), "--quiet"
    )
    assert trained.exit_code == 0, trained.output
    record = json.loads(run("explain", model, "--json").output)
    assert [p["where"] for p in record["plan"]] == ["decoding"]
    assert "training budget" not in run("explain", model).output
