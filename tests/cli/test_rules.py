"""Rules on the command line: train, tag, evaluate and explain."""

from __future__ import annotations

import json
import subprocess

import pytest

import trelliswork as tw
from commands import PROGRAM, conll, fail, run, train_model


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
    for text in ("train.conll:20: token 2", "at_most(1, 'PER')", "set --on-conflict skip to"):
        assert text in line
    # Whichever sentences are held out, the line is that of the file.
    assert "train.conll:20: " in fail(*command[:-1], 0.2, "--seed", 1)
    piped = fail("train", "-", *command[2:], stdin=corpus.read_bytes())
    assert "<stdin>: sentence 5: " in piped
    lines = tmp_path / "train.jsonl"
    good, bad = (
        json.dumps({"tokens": ["A", "B"], "labels": [label, "B-PER"]}) + "\n"
        for label in ("O", "B-PER")
    )
    lines.write_text(good + "\n" + good + bad)
    assert "train.jsonl:4: token 1" in fail("train", lines, *command[2:-2], "--features", "word")
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
    rules.write_text("# a comment\n\nat_most(1, 'ORG')\n")
    for command in (("train", corpus, "--out", tmp_path / "m.tw"), ("explain", "--data", corpus)):
        line = fail(*command, "--rules", rules)
        assert "rules.txt:3:12: at_most(1, 'ORG'): there is no segment 'ORG'" in line
        line = fail(*command, "--rules", rules, "--rule", "at_most(1, 'B-PER')")
        assert "rules.txt:3" in line
        huge = "at_most(1, 'PER') & at_most(99999, 'LOC') & at_most(99999, 'PER')"
        line = fail(*command, "--rule", huge)
        assert "--rule:1: (at_most(1, 'PER')" in line
        assert "max_states" not in line


def test_rules_that_are_none(tmp_path, rules):
    corpus = tmp_path / "train.conll"
    corpus.write_text(conll())
    command = ("train", corpus, "--out", tmp_path / "m.tw")
    assert "--rule: expected a rule" in fail(*command, "--rule", " ")
    assert "--rules: expected a file, got -" in fail(*command, "--rules", "-")
    assert "--decode-only-rules: expected rules" in fail(*command, "--decode-only-rules")
    rules.write_text("# nothing yet\n")
    assert "rules.txt: expected one rule a line, got none" in fail(*command, "--rules", rules)
    rules.write_bytes(b"at_most(1, 'PER')\n\x93\xff\x00")
    assert "rules.txt:2: expected UTF-8" in fail(*command, "--rules", rules)
    contradiction = ("--rule", "at_least(2, 'PER')", "--rule", "at_most(1, 'PER')")
    for options in (contradiction, (*contradiction, "--decode-only-rules")):
        fail(*command, *options)
    assert "No labelling satisfies all of" in fail(*command, *contradiction, "--decode-only-rules")


def test_the_caret_stays_under_its_expression(tmp_path):
    corpus = tmp_path / "train.conll"
    corpus.write_text(conll())
    result = run("train", corpus, "--out", tmp_path / "m.tw", "--rule", "matches('O (O')")
    assert result.exit_code == 2
    assert result.stderr.splitlines()[1:] == ["    O (O", "        ^"]


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
    result = run("tag", model, "--on-infeasible", "unconstrained", "--mark", stdin=text)
    assert "# unconstrained: at_least(1, 'LOC')" in result.stdout
    result = run("tag", model, "--nbest", 2, "--mark", stdin="Ann x\n\n")
    assert result.stdout.startswith("# relaxed: starts_with('PER')\n# 1 ")


def test_tagged_sentences_have_no_marks_for_tokens(tmp_path):
    model = train_model(tmp_path, *IMPOSSIBLE)
    text = "Ann x B-PER\n\n# x O\nRome x B-LOC\n\n"
    found = run("tag", model, stdin=text).stdout
    scores = json.loads(run("evaluate", "-", "--json", stdin=found).output)
    assert (scores["tokens"], scores["sentences"]) == (3, 2)


@pytest.mark.parametrize("options", [(), ("--marginals", "--nbest", 2)])
def test_one_line_counts_what_cannot_satisfy_all_rules(tmp_path, options):
    model = train_model(tmp_path, *IMPOSSIBLE)
    source = tmp_path / "in.conll"
    source.write_text("Ann x\n\n" * 1100)
    result = subprocess.run(
        [*PROGRAM, "tag", str(model), str(source), *map(str, options)],
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    places = ", ".join(f"{source}:{2 * i + 1}" for i in range(5))
    assert result.stderr == (
        f"trelliswork: 1,100 of 1,100 sentences cannot satisfy all rules: {places} and 1,095 more\n"
    )


def test_tag_writes_everything_before_a_sentence_that_it_stops_at(tmp_path):
    model = train_model(tmp_path, *IMPOSSIBLE)
    good = "Ann x\nRome x\n\n"
    command = ("tag", model, "--on-infeasible", "error")
    result = run(*command, stdin=good * 600 + "\nAnn x\n\n" + good)
    assert result.exit_code == 2
    assert result.stdout.count("Rome") == 600
    for part in ("<stdin>:1802: No labelling of 1 token satisfies both", "--on-infeasible relax."):
        assert part in result.stderr
    source = tmp_path / "in.jsonl"
    source.write_text('{"tokens": ["Ann", "Rome"]}\n\n{"tokens": ["Ann"]}\n')
    assert f"{source}:3: No labelling" in run(*command, source).stderr


COLUMN_RULE = "only_on(token(regex='NNP', column='pos'), 'PER', 'LOC')"


def test_columns_that_rules_read(tmp_path):
    model = train_model(tmp_path, "--rule", COLUMN_RULE, "--tokenizer", "words")
    source = tmp_path / "in.jsonl"
    source.write_text('{"tokens": ["Ann", "Bob"], "pos": ["NNP", "VB"]}\n')
    (record,) = map(json.loads, run("tag", model, source).stdout.splitlines())
    assert record["labels"] == ["B-PER", "O"]
    assert record["pos"] == ["NNP", "VB"]
    assert "reads the column 'pos'" in fail("tag", model, "--raw", stdin="Ann\n")


def test_evaluate_under_rules_that_read_columns(tmp_path):
    gold, found = tmp_path / "gold.conll", tmp_path / "found.conll"
    gold.write_text(conll())
    found.write_text(conll().replace("sings\tVBZ\tO", "sings\tVBZ\tB-PER"))
    both = tmp_path / "both.conll"
    both.write_text("Ann\tNNP\tB-PER\tB-PER\nsings\tVBZ\tO\tB-PER\n\n")
    lines = tmp_path / "both.jsonl"
    lines.write_text(
        '{"tokens": ["a", "b"], "pos": ["NNP", "X"], "labels": ["PER", "PER"], '
        '"gold": ["PER", "x"], "confidences": [1, 1]}\n'
    )
    rule = "only_on(token(regex='NNP', column='pos'), 'PER')"
    for files in ((gold, found), (both,), (lines,)):
        result = run("evaluate", *files, "--rule", rule, "--json")
        assert result.exit_code == 0, result.output
        (counted,) = json.loads(result.output)["rules"]
        assert (counted["broken"], counted["gold"]["broken"]) == (1, 0)
    named = run("evaluate", both, "--columns", "word,tag,gold,predicted", "--rule", COLUMN_RULE)
    assert "looks at 'pos'" in named.stderr


def test_evaluate_warns_of_rules_about_other_labels(tmp_path, rules):
    gold = tmp_path / "gold.conll"
    gold.write_text(conll())
    rules.write_text("at_most(1, 'PER')\nat_most(1, 'PRE')\n")
    result = run("evaluate", gold, gold, "--rules", rules)
    assert result.exit_code == 0
    fault = "rules.txt:2:12: at_most(1, 'PRE'): there is no segment 'PRE'. Did you mean 'PER'?"
    assert fault in result.stderr


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


def test_tag_under_other_rules(tmp_path, rules):
    rules.write_text("at_most(0, PER)")
    model = train_model(tmp_path)
    text = "Ann x\nand x\nBob x\n\n"
    assert run("tag", model, stdin=text).stdout.count("B-PER") == 2
    assert run("tag", model, "--rules", rules, stdin=text).stdout.count("PER") == 0
    soft = run("tag", model, "--rule", "at_most(0, PER) : soft(0.1)", stdin=text)
    assert soft.stdout.count("B-PER") == 2
    assert soft.stderr == ""  # soft rules may be broken


@pytest.mark.parametrize("how", ["likelihood", "perceptron", "ssvm"])
def test_train_learns_penalties(tmp_path, how):
    corpus = tmp_path / "train.conll"
    corpus.write_text(conll() * 3)
    model = tmp_path / "m.tw"
    soft = ("--rule", "LOC requires PER : soft", "--rule", "at_most(1, PER) : soft")
    result = run("train", corpus, "--out", model, "--l2", 0.1, *soft, "--penalties", how)
    assert result.exit_code == 0, result.output
    (line,) = (line for line in result.stdout.splitlines() if line.startswith("penalties"))
    assert "2 learned (" in line
    inspected = json.loads(run("inspect", model, "--json").stdout)["rules"]
    assert [own["hard"] for own in inspected] == [False, False]
    learned = [own["penalty"] for own in inspected]
    assert all(penalty >= 0 for penalty in learned)
    # All commands show a rule and its penalty in the same words.
    text = f"at_most(1, 'PER') {learned[1]:.4g} "
    for shown in (("inspect", model), ("explain", model), ("explain", model, corpus)):
        assert text in f"{' '.join(run(*shown).stdout.split())} "
    shown = run("explain", model, "--data", corpus).stdout
    assert " ".join(shown.split()).count(text) >= 2
    assert f"{corpus}:15: requires('LOC', 'PER').soft(" in shown
    assert "2 learned (" in shown
    # The model keeps the penalties of its rules, also of those given again.
    text = "Ann x\nand x\nBob x\n\n"
    for options in ((), soft):
        record = json.loads(run("explain", model, "-", *options, "--json", stdin=text).stdout)
        assert [rule["penalty"] for rule in record["rules"]] == learned
    assert run("tag", model, "--rule", "at_most(1, PER) : soft", stdin=text).exit_code == 0
    line = fail("tag", model, "--rule", "at_most(2, PER) : soft", stdin=text)
    assert "has no penalty, and the model has learned none" in line


def test_penalties_that_nothing_learns(tmp_path):
    corpus = tmp_path / "train.conll"
    corpus.write_text(conll())
    command = ("train", corpus, "--out", tmp_path / "m.tw", "--max-iter", 3)
    soft = ("--rule", "at_most(1, PER) : soft")
    line = fail(*command, *soft, "--decode-only-rules")
    assert "--rule:1: at_most(1, 'PER').soft() has no penalty" in line
    assert "add --penalties perceptron; or leave out --decode-only-rules" in line
    options = ("--decode-only-rules", "--penalties", "perceptron", "--held-out", 0.5)
    assert run(*command, *soft, *options).exit_code == 0
    result = run(*command, "--penalties", "ssvm")
    assert result.exit_code == 0
    assert "warning: --penalties ssvm: no rule ends in ': soft'" in result.stderr


def test_settings_of_penalties_that_cannot_be(tmp_path):
    corpus = tmp_path / "train.conll"
    corpus.write_text(conll())
    command = ("train", corpus, "--out", tmp_path / "m.tw", "--rule", "at_most(1, PER) : soft")
    assert run(*command, "--penalties", "guess").exit_code == 2
    assert "--held-out: expected a share" in fail(*command, "--held-out", 2)
    for penalty in ("-1", "1e999", "x"):
        line = fail(*command, "--rule", f"at_most(1, LOC) : soft({penalty})")
        assert line.startswith("trelliswork: error: --rule:1:24: penalty: expected ")
