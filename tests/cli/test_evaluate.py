from __future__ import annotations

import json
import re

import pytest

import trelliswork as tw
from commands import conll, fail, run, train_model, two_columns


@pytest.fixture
def files(tmp_path):
    """Gold labels, and predictions with one mistake."""
    gold, predicted = tmp_path / "gold.conll", tmp_path / "predicted.conll"
    gold.write_text(conll())
    predicted.write_text(conll().replace("I-PER", "O"))
    return gold, predicted


def scores(*args, stdin=None):
    result = run("evaluate", *args, "--json", stdin=stdin)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_two_files(files):
    result = run("evaluate", *files, "--confusion")
    assert result.exit_code == 0
    assert "token accuracy      92.86  (13 of 14)" in result.stdout
    assert result.stdout.splitlines()[-1].split() == ["I-PER", "O", "1", "100.00"]
    record = scores(*files)
    assert record["micro"]["correct"] == 5
    assert record["calibration"] is record["comparison"] is None


def test_no_confusion(files):
    result = run("evaluate", files[0], files[0], "--confusion")
    assert result.stdout.endswith("Confusions\nnone\n")


def test_many_confusions(tmp_path):
    path = tmp_path / "both.conll"
    path.write_text("".join(f"w a{i} b{i}\n" for i in range(25)))
    assert run("evaluate", path, "--confusion").stdout.endswith("and 5 more\n")


def test_one_file_as_conlleval_takes_it(tmp_path):
    model = train_model(tmp_path)
    tagged = run("tag", model, stdin=conll()).stdout
    record = scores("-", stdin=tagged)
    assert record["tokens"] == 14
    assert record["micro"]["f1"] == 1.0
    swapped = "B-PER w O\nO w O\n"
    record = scores("-", "--columns", "gold,word,predicted", stdin=swapped)
    assert record["fields"]["PER"]["gold"] == 1


def test_predictions_may_have_more_columns_than_gold(files, tmp_path):
    model = train_model(tmp_path)
    target = tmp_path / "tagged.conll"
    run("tag", model, files[0], "-o", target, "--marginals")
    options = ["--confidence-column", -1, "--columns", "word,pos,label"]
    record = scores(files[0], target, *options)
    assert record["micro"]["f1"] == 1.0
    assert sum(row["count"] for row in record["calibration"]["bins"]) == 14


def test_columns_in_any_order(tmp_path):
    gold, predicted = tmp_path / "gold", tmp_path / "predicted"
    gold.write_text("B-X a\n")
    predicted.write_text("O a\n")
    assert scores(gold, predicted, "--columns", "label,word")["token_accuracy"] == 0.0


def test_calibration_by_column_name_and_number(tmp_path):
    path = tmp_path / "both.conll"
    path.write_text("a 0.9 X X\nb 0.6 X Y\n")
    for options in (["--confidence-column", 2], ["--columns", "word,confidence,gold,predicted"]):
        table = scores(path, *options, "--bins", 2)["calibration"]
        assert table["bins"][1]["count"] == 2
        assert table["bins"][1]["confidence"] == pytest.approx(0.75)
    result = run("evaluate", path, "--confidence-column", 2)
    assert "expected calibration error" in result.stdout
    options = ["--columns", "w,sure,gold,predicted", "--confidence-column", "sure"]
    assert scores(path, *options)["calibration"] is not None


def test_json_lines_with_confidences(tmp_path):
    model = train_model(tmp_path)
    gold = tmp_path / "train.conll"
    tagged = run("tag", model, gold, "--marginals", "--format", "jsonl").stdout
    path = tmp_path / "tagged.jsonl"
    path.write_text(tagged)
    for args in ([gold, path], [path]):
        record = scores(*args)
        assert record["micro"]["f1"] == 1.0
        assert record["calibration"] is not None
    assert scores("-", "--format", "jsonl", stdin=tagged)["tokens"] == 14
    tw.write_jsonl(tw.read_conll(gold, ("word", "pos", "label")), tmp_path / "gold.jsonl")
    assert scores(tmp_path / "gold.jsonl", path)["micro"]["f1"] == 1.0
    assert 'under "gold"' in fail("evaluate", tmp_path / "gold.jsonl")


def test_comparison(files):
    record = scores(*files, "--compare", files[0], "--shuffles", 99, "--seed", 3)
    test = record["comparison"]
    assert (test["shuffles"], test["seed"]) == (99, 3)
    assert test["second"] == 1.0
    assert 0 < test["p_value"] <= 1
    result = run("evaluate", *files, "--compare", files[0])
    assert "p = " in result.stdout


def test_plots(files, tmp_path):
    plot, curve = tmp_path / "report.png", tmp_path / "calibration.png"
    text = "a X X 0.9\nb X Y 0.6\n"
    options = ["--confidence-column", -1, "--plot", plot, "--calibration-plot", curve]
    assert run("evaluate", "-", *options, stdin=text).exit_code == 0
    assert plot.read_bytes().startswith(b"\x89PNG")
    assert curve.read_bytes().startswith(b"\x89PNG")
    assert "has no confidences" in fail("evaluate", *files, "--calibration-plot", curve)
    assert "no such directory" in fail("evaluate", *files, "--plot", tmp_path / "no" / "x.png")


def test_segment_reading_options():
    broken = "a O I-X\nb B-X I-X\n"
    assert scores("-", stdin=broken)["fields"]["X"]["predicted"] == 1
    assert scores("-", "--strict", stdin=broken)["fields"]["X"]["predicted"] == 0
    assert set(scores("-", "--scheme", "plain", stdin=broken)["fields"]) == {"B-X", "I-X", "O"}
    options = ["--scheme", "plain", "--outside", "O"]
    assert set(scores("-", *options, stdin=broken)["fields"]) == {"B-X", "I-X"}
    paths = "a B-x/B-y B-x/B-z\n"
    assert scores("-", stdin=paths)["micro"]["gold"] == 2
    assert scores("-", "--level", 1, stdin=paths)["micro"]["f1"] == 1.0


def test_partial_gold_labels():
    record = scores("-", "--unknown", "?", "--alternatives", "|", stdin="a ? X\nb X|Y Y\n")
    assert (record["tokens"], record["token_accuracy"]) == (1, 1.0)


def test_a_label_never_seen_in_training_is_a_mistake(tmp_path):
    model = train_model(tmp_path)
    tagged = run("tag", model, stdin=conll().replace("B-LOC", "B-NEW")).stdout
    assert scores("-", stdin=tagged)["fields"]["NEW"]["recall"] == 0.0


def test_bad_input_ends_in_one_line(files, tmp_path):
    gold, _ = files
    bad = tmp_path / "bad.conll"
    bad.write_text("")
    assert "got 0 columns" in fail("evaluate", gold, bad)
    assert "got 0 columns" in fail("evaluate", bad)
    assert "file is empty" in fail("evaluate", bad, gold)
    bad.write_text("a X\n")
    assert "Expected as many predicted sentences as gold ones (5), got 1" in fail(
        "evaluate", gold, bad
    )
    bad.write_text("a X X\nb X\n")
    assert f"{bad}:2: expected 3 columns, got 2" in fail("evaluate", bad)
    bad.write_text("a X X high\n")
    assert "expected a confidence" in fail("evaluate", bad, "--confidence-column", 4)
    assert "no column 9" in fail("evaluate", bad, "--confidence-column", 9)
    assert "no column 0" in fail("evaluate", bad, "--confidence-column", 0)
    assert "expected a number or" in fail("evaluate", bad, "--confidence-column", "sure")
    assert "No such file" in fail("evaluate", tmp_path / "missing")
    assert "Expected a scheme" in fail("evaluate", gold, "--scheme", "nope")
    bad.write_text("a X 2.5\n")
    assert "expected a probability" in fail(
        "evaluate", "--columns", "gold,predicted,confidence", bad
    )


def test_other_tokens_are_refused(files, tmp_path):
    gold, predicted = files
    predicted.write_text(conll().replace("sees", "hears"))
    expected = f"{predicted}: sentence 1, token 2: expected 'sees' as in {gold}, got 'hears'"
    assert expected in fail("evaluate", gold, predicted)
    assert expected in fail("evaluate", gold, gold, "--compare", predicted)
    assert scores(gold, predicted, "--ignore-tokens")["token_accuracy"] == 1.0
    named = ["--columns", "word,pos,label"]
    assert expected in fail("evaluate", gold, predicted, *named)
    one, other = tmp_path / "one.jsonl", tmp_path / "other.jsonl"
    one.write_text('{"tokens": ["a"], "labels": ["X"]}\n')
    other.write_text('{"tokens": ["b"], "labels": ["X"]}\n')
    assert f"{other}: sentence 0, token 0: expected 'a'" in fail("evaluate", one, other)
    assert scores(one, other, "--ignore-tokens")["token_accuracy"] == 1.0


def test_labels_alone_have_no_tokens_to_check(files, tmp_path):
    labels = tmp_path / "labels"
    labels.write_text(re.sub(r".*\t", "", conll()))
    assert scores(files[0], labels)["token_accuracy"] == 1.0


def test_files_without_predictions_are_refused(files, tmp_path):
    gold, _ = files
    for width in (1, 2):
        bare = tmp_path / "bare.conll"
        bare.write_text(conll(width=width))
        assert f"{bare}: expected labels as in {gold}" in fail("evaluate", gold, bare)
    bare.write_text(two_columns())
    assert "expected tokens, gold and predicted labels, got 2 columns" in fail("evaluate", bare)
    assert scores(bare, "--columns", "gold,predicted")["token_accuracy"] == 0.0
    assert "expected labels as in" in run("evaluate", gold).stderr
    unlabelled = tmp_path / "bare.jsonl"
    unlabelled.write_text('{"tokens": ["Ann"]}\n')
    assert "expected a list of labels" in fail("evaluate", gold, unlabelled)


def test_columns_must_fit_a_file(files):
    names = ["--columns", "word,label"]
    expected = f"(3 in {files[0]}, 3 in {files[1]}), got 2: word,label"
    assert expected in fail("evaluate", *files, *names)
    assert f"(3 in {files[0]}), got 2" in fail("evaluate", files[0], *names)


def test_names_win_over_places(tmp_path):
    gold, both = tmp_path / "gold", tmp_path / "both"
    gold.write_text("a X\n")
    both.write_text("a Y X\n")
    columns = "--columns"
    assert scores(gold, both, columns, "word,predicted,label")["token_accuracy"] == 0.0
    assert scores(both, columns, "predicted,x,gold")["tokens"] == 1
    assert scores(both, both, columns, "word,gold,predicted")["token_accuracy"] == 0.0
    clash = [columns, "word,gold,predicted", "--confidence-column", 3]
    assert "also the column predicted" in fail("evaluate", both, *clash)


def test_comments(tmp_path):
    model = train_model(tmp_path, "--comment", "#", text=f"# one\n{conll()}")
    assert tw.load(model).metadata_["columns"] == ["word", "pos", "label"]
    ranked = run("tag", model, "--nbest", 1, stdin=conll()).stdout
    assert ranked.startswith("# 1 0.")
    assert scores("-", "--comment", "#", stdin=ranked)["token_accuracy"] == 1.0
    gold = tmp_path / "gold.conll"
    gold.write_text(f"# gold\n{conll()}")
    assert scores(gold, "-", "--comment", "#", stdin=ranked)["tokens"] == 14
    result = run("tag", model, "--comment", "#", stdin="# a\nAnn\tNNP\n")
    assert result.stdout == "Ann\tNNP\tB-PER\n\n"
