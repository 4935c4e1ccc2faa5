from __future__ import annotations

import json

import pytest

import trelliswork as tw
from commands import SENTENCES, conll, fail, run, train_model, two_columns


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "train.conll"
    path.write_text(conll())
    return path


def test_a_run_tells_what_it_did(tmp_path, corpus):
    out = tmp_path / "m.tw"
    result = run(
        "train", corpus, "--dev", corpus, "--out", out, "--features", "chunking", "--l2", 0.01
    )
    assert result.exit_code == 0
    assert "iteration    1  loss" in result.stderr
    assert "dev F1" in result.stderr
    for fact in ("sentences   5", "tokens      14", "labels      4 (bio)", "iterations", "micro"):
        assert fact in result.stdout
    tagger = tw.load(out)
    assert tagger.metadata_ == {
        "columns": ["word", "pos", "label"],
        "separator": None,
        "tokenizer": None,
    }
    assert tagger.features == "chunking"


def test_options_reach_the_tagger(tmp_path, corpus):
    first = train_model(tmp_path, "--max-iter", 3)
    out = tmp_path / "options.tw"
    options = (
        "--l2 0.5 --min-count 2 --pairs all --transitions all --max-iter 7 --tol 1e-3 "
        "--dev 0.4 --dev-every 2 --patience 3 --jobs 1 --seed 4 --scheme plain"
    )
    result = run("train", corpus, "-o", out, "--init", first, *options.split())
    assert result.exit_code == 0, result.output
    assert "sentences   3" in result.stdout
    assert "Development set: 2 sentences" in result.stdout
    parameters = tw.load(out).get_params()
    expected = {
        "l2": 0.5,
        "min_count": 2,
        "pairs": "all",
        "transitions": "all",
        "max_iter": 7,
        "tol": 1e-3,
        "dev_every": 2,
        "patience": 3,
        "n_jobs": 1,
        "random_state": 4,
        "scheme": "plain",
    }
    assert expected.items() <= parameters.items()


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("1", 1),
        ("20", 20),
        ("auto", "auto"),
        ("NP=3", {"NP": 3}),
        ("a=b=3, year=12", {"a=b": 3, "year": 12}),
    ],
)
def test_the_shape_of_a_model_reaches_the_tagger(tmp_path, corpus, monkeypatch, given, expected):
    asked = {}

    def tagger(**parameters):
        asked.update(parameters)
        raise ValueError("enough")

    monkeypatch.setattr("trelliswork.cli.models.CRFTagger", tagger)
    options = ("--order", 3, "--max-segment", given, "--min-pattern-count", 2)
    fail("train", corpus, "-o", tmp_path / "m.tw", "--features", "segment: text", *options)
    assert asked["features"].has_segments
    assert (asked["order"], asked["max_segment"], asked["min_pattern_count"]) == (3, expected, 2)


@pytest.mark.parametrize(
    ("given", "expected"), [("0", 0.0), ("1e-3", 0.001), ("0:1,2:0.1", {0: 1.0, 2: 0.1})]
)
def test_penalties_and_patterns_reach_the_tagger(tmp_path, given, expected):
    shape = ("--order", 0, "--max-segment", 3, "--max-patterns", 2, "--edge-order", 2)
    tagger = tw.load(train_model(tmp_path, "--adjacent", *shape, "--l2", given))
    asked = {"order": 0, "max_patterns": 2, "edge_order": 2, "adjacent": True, "l2": expected}
    assert asked.items() <= tagger.get_params().items()


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("-1", "a number from 0 up"),
        ("nan", "a number from 0 up"),
        ("0:x", "a number from 0 up"),
        ("0:1,2", "order:number pairs"),
        ("a:1", "order:number pairs"),
        ("0:1,0:2", "every order once"),
        ("1:1", "a value for order 0"),
    ],
)
def test_a_penalty_that_is_none(tmp_path, corpus, given, expected):
    message = fail("train", corpus, "-o", tmp_path / "m.tw", f"--l2={given}")
    assert f"--l2: expected {expected}" in message


SEGMENTS = "a X\nb Y\n\nc X\nd X\ne Y\n"


def test_a_segment_that_is_too_long_has_a_place(tmp_path):
    path = tmp_path / "long.conll"
    path.write_text(SEGMENTS.replace("c X", "b X\nc X"))
    for command in ("train", path, "-o", tmp_path / "m.tw"), ("explain", "--data", path):
        rule = ("--rule", "at_most(1, 'X')")
        message = fail(*command, "--max-segment", 2, *rule)
        assert f"{path}:4: token 0: a segment of 'X' has 3 tokens, and --max-segment all" in message
        assert message.endswith("Raise it to 3 or more, or set --max-segment auto.")


def test_the_summary_tells_segments_and_patterns(tmp_path):
    path = tmp_path / "segments.conll"
    path.write_text(SEGMENTS)
    options = ("--max-segment", "auto", "--features", "word\nbegin: word", "--adjacent")
    result = run("train", path, "-o", tmp_path / "m.tw", *options)
    facts = ("segments    up to X 2, Y 1 tokens", "of up to 2 labels", "of tokens, ", "of segments")
    assert all(fact in result.stdout for fact in facts)


def test_warnings_speak_of_options(tmp_path):
    path = tmp_path / "outside.conll"
    path.write_text(SEGMENTS.replace("Y", "O"))
    result = run("train", path, "-o", tmp_path / "m.tw", "-q", "--max-segment", "auto")
    assert "trelliswork: warning: 'O' is a segment like any other" in result.stderr
    assert "set --outside O to read" in result.stderr


@pytest.mark.parametrize("given", ["0", "", "two", "NP", "NP=", "=3", "NP=0", "NP=3,", "NP=-1"])
def test_a_longest_segment_that_is_none(tmp_path, corpus, given):
    message = fail("train", corpus, "-o", tmp_path / "m.tw", f"--max-segment={given}")
    assert "--max-segment: expected a number of tokens, auto, or label=number pairs" in message


def test_every_label_has_one_longest_segment(tmp_path, corpus):
    message = fail("train", corpus, "-o", tmp_path / "m.tw", "--max-segment", "NP=3,NP=4")
    assert "got 'NP' twice" in message


def test_the_seed_decides_what_is_held_out(tmp_path, corpus):
    def trained(seed, name):
        run("train", corpus, "-o", tmp_path / name, "--dev", 0.4, "--seed", seed, "-q")
        return tw.load(tmp_path / name).model_.encoder.feature_names()

    assert trained(1, "a") == trained(1, "b")
    assert any(trained(1, "a") != trained(seed, "c") for seed in range(2, 6))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (two_columns(), ["word", "label"]),
        (conll(), ["word", "pos", "label"]),
        (conll().replace("\tB-", "\tx\tB-").replace("\tI-", "\tx\tI-").replace("\tO", "\tx\tO"),
         ["word", "col1", "col2", "label"]),
    ],
)  # fmt: skip
def test_columns_are_named_by_their_number(tmp_path, text, expected):
    assert tw.load(train_model(tmp_path, text=text)).metadata_["columns"] == expected


def test_columns_can_be_named(tmp_path):
    text = "".join(
        "".join(f"{label} {word}\n" for word, _, label in sentence) + "\n" for sentence in SENTENCES
    )
    tagger = tw.load(train_model(tmp_path, "--columns", "label,form", text=text))
    assert tagger.metadata_["columns"] == ["form", "label"]
    assert sorted(tagger.classes_) == ["B-LOC", "B-PER", "I-PER", "O"]


def test_json_lines_and_standard_input(tmp_path):
    records = [
        {"tokens": [w for w, _, _ in s], "pos": [p for _, p, _ in s], "labels": [y for *_, y in s]}
        for s in SENTENCES
    ]
    text = "".join(json.dumps(record) + "\n" for record in records)
    path = tmp_path / "train.jsonl"
    path.write_text(text)
    out = tmp_path / "m.tw"
    assert run("train", path, "-o", out, "-q", "--features", "chunking").exit_code == 0
    assert tw.load(out).metadata_["columns"] == ["word", "pos", "label"]
    result = run("train", "-", "--format", "jsonl", "-o", out, stdin=text)
    assert result.exit_code == 0, result.output
    assert run("train", "-", "-o", out, stdin=conll()).exit_code == 0


def test_partial_labels(tmp_path):
    text = "Ann B-PER\nLee ?\nsings O|B-PER\n\nBob B-PER\nsings O\n\n"
    tagger = tw.load(train_model(tmp_path, "--unknown", "?", "--alternatives", "|", text=text))
    assert sorted(tagger.classes_) == ["B-PER", "O"]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--tokenizer", "words"], {"kind": "words"}),
        (["--tokenizer", "whitespace"], {"kind": "whitespace"}),
        (["--token-pattern", r"\w+"], {"kind": "regex", "pattern": r"\w+"}),
        (["--tokenizer", "regex", "--token-pattern", "."], {"kind": "regex", "pattern": "."}),
    ],
)
def test_the_tokenizer_is_kept(tmp_path, options, expected):
    assert tw.load(train_model(tmp_path, *options)).metadata_["tokenizer"] == expected


def test_features_from_a_file_or_from_text(tmp_path):
    templates = tmp_path / "my.templates"
    templates.write_text("U0:%x[0,0]\nU1:%x[0,1]\nB\n")
    names = tw.load(train_model(tmp_path, "--features", templates)).model_.encoder.feature_names()
    assert "U1:NNP" in names
    names = tw.load(train_model(tmp_path, "--features", "word[0]")).model_.encoder.feature_names()
    assert "word[0]=Ann" in names


@pytest.mark.parametrize("word", ["word", "token", "bias"])
def test_a_word_may_be_a_template(tmp_path, word):
    (rule,) = str(tw.load(train_model(tmp_path, "--features", word)).features).split()
    assert rule == word


def test_an_old_model_is_replaced(tmp_path):
    model = train_model(tmp_path)
    model.write_bytes(b"old")
    assert len(tw.load(train_model(tmp_path)).classes_) == 4
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.tw", "train.conll"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--features", "chunkin"], "expected a bundle (chunking"),
        (["--features", "word["], "--features"),
        (["--columns", "word,pos,tag"], 'called "label"'),
        (["--columns", "word,,label"], "expected names"),
        (["--columns", "word,label"], "set --columns or --separator to match"),
        (["--tokenizer", "regex"], "expected a pattern"),
        (["--token-pattern", "("], "is not a regular expression"),
        (["--dev", "1.5"], "share between 0 and 1"),
        (["--dev", "0.99"], "more sentences than the 5 to hold out"),
        (["--dev", "missing.conll"], "missing.conll: No such file"),
        (["--init", "missing.tw"], "missing.tw: No such file"),
        (["--scheme", "bioo"], "Expected a scheme"),
        (["--jobs", "0"], "--jobs: expected a whole number other than 0, got 0"),
    ],
)
def test_bad_options_end_in_one_line(tmp_path, corpus, options, message):
    out = tmp_path / "m.tw"
    assert message in fail("train", corpus, "-o", out, "--quiet", *options)
    assert not out.exists()


def test_bad_input_ends_in_one_line(tmp_path):
    out = tmp_path / "m.tw"
    bad = tmp_path / "bad.conll"
    bad.write_text("")
    assert f"{bad}: expected one token a line" in fail("train", bad, "-o", out)
    bad.write_text("Ann\tB-PER\nLee\n\n")
    assert f"{bad}:2: expected 2 columns, got 1" in fail("train", bad, "-o", out)
    bad.write_text("Ann\n\n")
    assert f"{bad}:1: expected 2 columns" in fail("train", bad, "-o", out)
    bad.write_bytes(b"Ann\tB-PER\n\xff\tO\n\n")
    line = fail("train", bad, "-o", out)
    assert f"{bad}:2: expected UTF-8" in line
    assert line.endswith("Convert the file, or pipe it through iconv.")
    bad.write_text("Ann\t\n")
    assert '--unknown ""' in fail("train", bad, "-o", out)
    unlabelled = tmp_path / "bad.jsonl"
    unlabelled.write_text('{"tokens": ["Ann"]}\n')
    assert "sentence 0: expected a list of labels" in fail("train", unlabelled, "-o", out)
    bad.write_text(two_columns())
    assert "no column 'pos'" in fail("train", bad, "-o", out, "--features", "chunking")
    assert "No such file" in fail("train", tmp_path / "missing", "-o", out)


def test_the_place_of_the_model_is_checked_first(tmp_path):
    missing = tmp_path / "missing.conll"
    assert "no such directory" in fail("train", missing, "-o", tmp_path / "nowhere" / "m.tw")
    assert "got a directory" in fail("train", missing, "-o", tmp_path)


def test_weights_that_become_0_are_told_of(tmp_path, corpus):
    out = tmp_path / "m.tw"
    options = (
        "--l1 0.2 --group-lasso template:0.5 --group-lasso feature --norm linf --solver fista "
        "--debias --gap-tol 1e-3 --features chunking"
    )
    result = run("train", corpus, "--out", out, *options.split())
    assert result.exit_code == 0, result.output
    assert "  weights " in result.stderr
    tagger = tw.load(out)
    (line,) = [line for line in result.stdout.splitlines() if line.startswith("templates")]
    assert line.endswith(" of 21")
    assert (tagger.l1, tagger.solver, tagger.debias, tagger.gap_tol) == (0.2, "fista", True, 1e-3)
    expected = tw.GroupLasso(by=("template", "feature"), strength=(0.5, 1.0), norm="linf")
    assert tagger.regularizer == expected


def test_the_gap_is_printed(tmp_path, corpus):
    result = run("train", corpus, "--out", tmp_path / "m.tw", "--l1", 0.5)
    assert "above the least" in result.stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--group-lasso colour", "--group-lasso: expected template, feature, label, pattern or"),
        ("--group-lasso template:x", "--group-lasso: expected a number from 0 up after the colon"),
        ("--group-lasso template:-1", "--group-lasso: expected a number from 0 up after the"),
        ("--group-lasso label --group-lasso label:2", "--group-lasso: expected all groups once"),
        ("--norm linf", "--norm: expected with --group-lasso only"),
        ("--debias", "--debias: expected with --l1 or --group-lasso only"),
        ("--gap-tol 0.1", "--gap-tol: expected with --l1 or --group-lasso only"),
        ("--solver newton", "--solver: expected one of"),
        ("--l1 1 --solver lbfgs", "with --l1 or --group-lasso, which are not smooth, got 'lbfgs'"),
        ("--group-lasso label --solver owlqn", "with --group-lasso, got 'owlqn'"),
        ("--model hmm --l1 1", "--l1: expected with --model crf"),
        ("--model perceptron --solver fista", "--solver: expected with --model crf only"),
    ],
)
def test_sparsity_options_are_checked(tmp_path, corpus, options, message):
    assert message in fail("train", corpus, "--out", tmp_path / "m.tw", *options.split())


def test_a_perceptron_has_sparsity_where_it_can(tmp_path, corpus):
    has = "l1" in tw.PerceptronTagger().get_params()
    out = tmp_path / "m.tw"
    options = ["--model", "perceptron", "--l1", "0.5", "--epochs", "2", "--quiet"]
    if has:
        assert run("train", corpus, "--out", out, *options).exit_code == 0
        assert tw.load(out).l1 == 0.5
    else:
        assert "--l1: expected with --model crf only" in fail(
            "train", corpus, "--out", out, *options
        )
