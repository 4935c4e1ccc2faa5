from __future__ import annotations

import gzip
import json

import pytest

import trelliswork as tw
from commands import SENTENCES, conll, fail, run, train_model, two_columns
from trelliswork.taggers.trained import TrainedTagger


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A model that reads the column pos."""
    return train_model(tmp_path_factory.mktemp("chunking"), "--features", "chunking")


@pytest.fixture(scope="module")
def words(tmp_path_factory):
    """A model that reads tokens only, and declares its tokeniser."""
    return train_model(tmp_path_factory.mktemp("ner"), "--tokenizer", "words", text=two_columns())


def records(result):
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_labels_become_the_last_column(model):
    result = run("tag", model, stdin=conll(width=2))
    assert result.exit_code == 0
    assert result.stdout == conll()


def test_labels_of_the_input_stay_before_the_new_ones(model):
    result = run("tag", model, stdin=conll())
    assert result.stdout.splitlines()[:2] == [
        "Ann\tNNP\tB-PER\tB-PER",
        "Lee\tNNP\tI-PER\tI-PER",
    ]


def test_files_in_and_out(model, tmp_path):
    source, target = tmp_path / "in.conll.gz", tmp_path / "out.jsonl"
    source.write_bytes(gzip.compress(conll(width=2).encode()))
    result = run("tag", model, source, "--output", target, "--format", "jsonl", "--jobs", 1)
    assert result.exit_code == 0
    assert result.stdout == ""
    corpus = tw.read_jsonl(target)
    assert corpus.labels == [tuple(y for *_, y in s) for s in SENTENCES]
    assert corpus[0].columns["pos"] == ("NNP", "NNP", "VBZ")


def test_json_lines_in_and_out(model, tmp_path):
    source = tmp_path / "in.jsonl"
    source.write_text('\n{"tokens": ["Bob"], "pos": ["NNP"], "labels": ["O"], "id": 7}\n')
    (record,) = records(run("tag", model, source))
    expected = {"tokens": ["Bob"], "pos": ["NNP"], "labels": ["B-PER"], "gold": ["O"], "id": 7}
    assert record == expected
    result = run("tag", model, source, "--format", "conll")
    assert result.stdout == "Bob\tNNP\tO\tB-PER\n\n"
    text = source.read_text()
    assert len(records(run("tag", model, "--input-format", "jsonl", stdin=text))) == 1


def test_own_output_can_be_tagged_again(words):
    first = run("tag", words, "--raw", "--marginals", stdin="Ann sings.\n").stdout
    (record,) = records(run("tag", words, "--input-format", "jsonl", stdin=first))
    assert record["gold"] == record["labels"]
    assert "confidences" not in record
    assert record["offsets"] == [[0, 3], [4, 9], [9, 10]]


def test_marginals(model):
    result = run("tag", model, "--marginals", stdin=conll(width=2))
    tagger = tw.load(model)
    tokens = [row.split("\t") for row in result.stdout.splitlines() if row]
    (expected,) = tagger.predict_marginals([tw.Sentence(["Ann"], {"pos": ["NNP"]})])
    assert float(tokens[-1][-1]) == pytest.approx(expected.max(), abs=1e-6)
    text = "Ann\tNNP\n\n"
    (record,) = records(run("tag", model, "--all-marginals", "--format", "jsonl", stdin=text))
    assert record["confidences"] == [pytest.approx(expected.max(), abs=1e-6)]
    (row,) = record["marginals"]
    assert list(row) == list(tagger.classes_)
    assert sum(row.values()) == pytest.approx(1.0, abs=1e-5)


def test_nbest(model):
    text = "Ann\tNNP\nsings\tVBZ\n\n"
    (record,) = records(run("tag", model, "--nbest", 3, "--format", "jsonl", stdin=text))
    assert record["labels"] == record["nbest"][0]["labels"] == ["B-PER", "O"]
    probabilities = [entry["probability"] for entry in record["nbest"]]
    assert len(probabilities) == 3
    assert probabilities == sorted(probabilities, reverse=True)
    blocks = run("tag", model, "--nbest", 2, "--marginals", stdin=text).stdout.split("\n\n")
    assert blocks[0].startswith("# 1 0.")
    assert blocks[1].startswith("# 2 0.")
    assert len(blocks[1].splitlines()[1].split("\t")) == 4


def test_fewer_labellings_than_asked_for(words):
    (record,) = records(run("tag", words, "--raw", "--nbest", 50, stdin="Ann\n"))
    assert len(record["nbest"]) == 4


def test_raw_text_keeps_its_offsets(words):
    text = "Ann  sings, Bob\tsees Rome.\n\n  Żółć\n"
    found = records(run("tag", words, "--raw", stdin=text))
    assert [record["text"] for record in found] == text.splitlines()
    for record in found:
        cut = [record["text"][start:end] for start, end in record["offsets"]]
        assert cut == record["tokens"]
        assert len(record["labels"]) == len(cut)
    assert found[0]["tokens"][:3] == ["Ann", "sings", ","]
    assert found[1]["tokens"] == []
    result = run("tag", words, "--raw", "--format", "conll", stdin="Ann sings\n\n")
    assert result.stdout == "Ann\t0\t3\tB-PER\nsings\t4\t9\tO\n\n\n"


def test_the_tokenizer_can_be_chosen(words):
    options = ["--raw", "--tokenizer", "whitespace"]
    (record,) = records(run("tag", words, *options, stdin="Ann, Bob"))
    assert record["tokens"] == ["Ann,", "Bob"]
    (record,) = records(run("tag", words, "--raw", "--token-pattern", r"\w", stdin="Bob"))
    assert record["tokens"] == ["B", "o", "b"]


def test_models_trained_in_python_know_the_columns_their_templates_read(tmp_path):
    tagger = tw.CRFTagger(features="pos[0]").fit(
        tw.Corpus.from_lists([["a", "b"]], [["X", "Y"]], pos=[["P", "Q"]])
    )
    tagger.save(tmp_path / "m.tw")
    assert run("tag", tmp_path / "m.tw", stdin="b Q\n").stdout == "b\tQ\tY\n\n"
    result = run("tag", tmp_path / "m.tw", "--columns", "pos,word", stdin="Q b\n")
    assert result.stdout == "Q\tb\tY\n\n"


def test_models_that_are_counted_read_tokens_alone(tmp_path):
    path = tmp_path / "hmm.tw"
    tw.HMMTagger().fit([["Ann", "sings"]], [["B-PER", "O"]]).save(path)
    assert run("tag", path, stdin="Bob\nsings\n").stdout == "Bob\tB-PER\nsings\tO\n\n"


def test_columns_by_number(tmp_path):
    model = train_model(tmp_path, "--features", "U:%x[0,1]")
    assert run("tag", model, stdin="Bob NNP\n").stdout.startswith("Bob\tNNP\t")
    text = '{"tokens": ["Bob"], "pos": ["NNP"]}'
    assert len(records(run("tag", model, "--input-format", "jsonl", stdin=text))) == 1
    assert "'pos'" in fail("tag", model, "--input-format", "jsonl", stdin='{"tokens": ["Bob"]}')


@pytest.mark.parametrize("text", ["", "\n\n\n"])
def test_empty_input_gives_empty_output(model, text):
    result = run("tag", model, stdin=text)
    assert (result.exit_code, result.output) == (0, "")


def test_sentences_before_a_bad_line_are_written(model):
    text = conll(width=2) + "Ann\tNNP\nLee\n\nBob\tNNP\n\n"
    result = run("tag", model, stdin=text)
    assert result.exit_code == 2
    assert result.stdout == conll()
    assert result.stderr.startswith("trelliswork: error: <stdin>:21: expected 2 columns, got 1")


def test_a_failed_run_leaves_the_old_file(model, tmp_path):
    target = tmp_path / "out.conll"
    target.write_text("old")
    fail("tag", model, "--output", target, stdin="Ann\tNNP\nLee\n\n")
    assert target.read_text() == "old"


def test_bad_models_end_in_one_line(model, tmp_path):
    bad = tmp_path / "bad.tw"
    assert "No such file" in fail("tag", bad)
    bad.write_text("no model at all")
    assert "expected a trelliswork model" in fail("tag", bad)
    bad.write_bytes(model.read_bytes()[:-100])
    assert "cut short" in fail("tag", bad)
    tw.CRFTagger().fit([[{"a": 1.0}]], [["X"]]).save(bad)
    assert "trained on feature dictionaries or matrices" in fail("tag", bad, stdin="a\n")


def test_bad_options_end_in_one_line(model, words, tmp_path):
    assert "reads the column 'pos'" in fail("tag", model, "--raw", "--tokenizer", "words")
    plain = train_model(tmp_path, text=two_columns())
    assert "without a tokenizer" in fail("tag", plain, "--raw")
    assert "--raw only" in fail("tag", words, "--tokenizer", "words")
    assert "--format jsonl only" in fail("tag", words, "--all-marginals")
    tab = ["--raw", "--token-pattern", ".+", "--format", "conll"]
    assert "holds a line end or the separator" in fail("tag", words, *tab, stdin="a\tb\n")
    assert "invalid JSON" in fail("tag", words, "--input-format", "jsonl", stdin="{\n")
    assert run("tag", words, "--nbest", "0").exit_code == 2


def test_rules_too_many_for_probabilities(tmp_path, monkeypatch):
    model = train_model(tmp_path, "--rule", "at_most(1, PER)")

    def too_large(*_):
        raise tw.TooLargeError("too many arcs")

    for name in ("predict_nbest", "predict_marginals"):
        monkeypatch.setattr(TrainedTagger, name, too_large)
    text = "Ann x\nBob x\n\n"
    line = fail("tag", model, "--marginals", stdin=text)
    assert "--marginals: the rules are too many" in line
    assert "Tag without --marginals" in line
    result = run("tag", model, "--nbest", 2, stdin=text)
    assert result.exit_code == 0, result.output
    assert result.stderr.count("scores are written instead") == 1
    assert [line.split()[1] for line in result.stdout.splitlines() if line[:1] == "#"] == ["1", "2"]
    lines = run("tag", model, "--nbest", 2, "--format", "jsonl", stdin=text).stdout
    first, second = json.loads(lines)["nbest"]
    assert first["score"] > second["score"]
    assert first["labels"] == json.loads(lines)["labels"]
