import builtins
import dataclasses
import json
import sys

import pytest
from hypothesis import given, strategies as st

import conlleval
from trelliswork.constraints import at_most, matches, only_on, starts_with, token
from trelliswork.data.corpus import Corpus, Sentence
from trelliswork.errors import DataError, LabelError
from trelliswork.evaluation.calibration import calibration
from trelliswork.evaluation.report import report

BIO = st.sampled_from(["O", "B-a", "I-a", "B-b", "I-b", "B-c-d", "I-c-d"])


@st.composite
def pairs(draw, labels=BIO):
    """Draw gold and predicted labels of the same lengths, predictions often right."""
    gold = draw(st.lists(st.lists(labels, min_size=1, max_size=8), min_size=1, max_size=5))
    predicted = [[draw(st.just(x) | labels) for x in sentence] for sentence in gold]
    return gold, predicted


@pytest.mark.parametrize("scheme", ["bio", "iob1"])
@given(pair=pairs())
def test_equals_conlleval(scheme, pair):
    """On any sequences, invalid ones included."""
    accuracy, fields = conlleval.evaluate(*pair)
    scores = report(*pair, scheme=scheme)
    assert scores.token_accuracy == accuracy
    assert {f.name: (f.correct, f.predicted, f.gold) for f in scores.fields} == fields


@given(pairs(st.sampled_from(["a", "b", "O"])))
def test_plain_equals_conlleval_on_runs(pair):
    def runs(side):
        return [["O" if x == "O" else f"I-{x}" for x in sentence] for sentence in side]

    _, fields = conlleval.evaluate(*map(runs, pair))
    scores = report(*pair, scheme="plain", outside="O")
    assert {f.name: (f.correct, f.predicted, f.gold) for f in scores.fields} == fields


@given(pairs())
def test_perfect_predictions(pair):
    gold, _ = pair
    scores = report(gold, gold)
    assert scores.token_accuracy == scores.sentence_accuracy == 1.0
    assert scores.f1 == scores.macro_f1 == (1.0 if scores.fields else 0.0)
    assert scores.confusion.errors() == []


GOLD = [["B-a", "I-a", "O"], ["O", "B-b"]]
PREDICTED = [["B-a", "I-a", "I-a"], ["O", "I-b"]]


def test_numbers_by_hand():
    scores = report(GOLD, PREDICTED)
    assert scores.scheme == "bio"
    assert scores.token_accuracy == 3 / 5
    assert scores.sentence_accuracy == 0.0
    assert (scores["a"].correct, scores["a"].predicted, scores["a"].gold) == (0, 1, 1)
    assert scores["b"].f1 == 1.0
    assert scores["unseen"].f1 == 0.0
    assert scores.micro.precision == scores.micro.recall == scores.f1 == 0.5
    assert scores.macro_precision == scores.macro_recall == scores.macro_f1 == 0.5
    assert scores.confusion.count("O", "I-a") == 1
    assert scores.confusion.count("O", "Z") == 0
    assert scores.confusion.errors() == [("B-b", "I-b", 1), ("O", "I-a", 1)]
    assert (scores.violations.sentences, scores.violations.tokens) == (1, 1)


def test_a_token_violates_once():
    broken = report([["O", "O"]], [["O", "I-a"]], scheme="bioes").violations
    assert (broken.sentences, broken.tokens) == (1, 1)


def test_strict_drops_invalid_segments():
    scores = report(GOLD, PREDICTED, strict=True)
    assert scores["b"].predicted == 0
    assert scores["b"].gold == 1


def test_fields_seen_on_one_side_only():
    scores = report([["B-a", "O"]], [["O", "B-b"]])
    assert [(f.name, f.correct, f.predicted, f.gold) for f in scores.fields] == [
        ("a", 0, 0, 1),
        ("b", 0, 1, 0),
    ]
    assert scores.f1 == scores.macro_f1 == 0.0


def test_levels_of_paths():
    gold = [["B-a/B-b", "I-a/I-b", "I-a/B-b"]]
    predicted = [["B-a/B-b", "I-a/B-b", "I-a/B-b"]]
    assert report(gold, predicted, level=1).f1 == 1.0
    deep = report(gold, predicted, level=2)
    assert [f.name for f in deep.fields] == ["a/b"]
    assert (deep.micro.correct, deep.micro.predicted, deep.micro.gold) == (1, 3, 2)
    assert report(gold, predicted).micro.gold == 3


def test_a_corpus_on_either_side():
    gold = Corpus.from_lists([["x", "y", "z"], ["x", "y"]], GOLD)
    predicted = Corpus.from_lists(gold.tokens, PREDICTED)
    assert report(gold, predicted) == report(GOLD, PREDICTED)
    with pytest.raises(DataError, match="gold, sentence 0: expected a sequence of labels"):
        report(Corpus.from_lists(gold.tokens), PREDICTED)


def test_unlabelled_tokens_are_left_out():
    gold = [["B-a", None, "O", {"O", "B-b"}], [None, None, None, None]]
    scores = report(gold, [["B-a", "B-a", "B-a", "O"], ["O", "O", "B-b", "O"]])
    assert (scores.tokens, scores.correct_tokens, scores.sentences) == (4 - 1, 2, 1)
    assert (scores["a"].correct, scores["a"].predicted, scores["a"].gold) == (1, 2, 1)
    assert scores["b"].predicted == 0
    assert scores.confusion.labels == ("B-a", "O")


@pytest.mark.parametrize(
    ("gold", "predicted", "message"),
    [
        ([["O"]], [], "as many predicted sentences as gold ones .1., got 0"),
        ([["O"], ["O"]], [["O"], ["O", "O"]], "sentence 1: expected 1 predicted labels"),
        ([["O"]], [[None]], "sentence 0, token 0: expected a predicted label"),
        (["O"], [["O"]], "gold, sentence 0"),
    ],
)
def test_mismatches_are_named(gold, predicted, message):
    with pytest.raises(DataError, match=message):
        report(gold, predicted)


def test_labels_outside_the_scheme():
    with pytest.raises(LabelError, match="'x' is no bio label"):
        report([["x"]], [["O"]], scheme="bio")
    with pytest.raises(LabelError, match="got 'iob9'"):
        report([["x"]], [["O"]], scheme="iob9")


def test_text_and_json():
    scores = report(GOLD, PREDICTED, level=1)
    lines = str(scores).splitlines()
    assert lines[0] == "token accuracy      60.00  (3 of 5)"
    assert lines[2] == "segments           bio, as conlleval, level 1"
    assert lines[5].split() == [
        "field",
        "precision",
        "recall",
        "F1",
        "correct",
        "predicted",
        "gold",
    ]
    assert lines[8].split() == ["b", "100.00", "100.00", "100.00", "1", "1", "1"]
    record = json.loads(scores.to_json())
    assert record == scores.to_dict()
    assert record["micro"]["f1"] == 0.5
    assert record["fields"]["b"]["gold"] == 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        scores.tokens = 3


def test_empty_reports():
    scores = report([], [])
    assert scores.token_accuracy == scores.sentence_accuracy == scores.f1 == scores.macro_f1 == 0.0
    assert "micro" in str(scores)


def test_plots(tmp_path):
    pytest.importorskip("matplotlib")
    report(GOLD, PREDICTED).plot(tmp_path / "report.png")
    report([], []).plot(tmp_path / "empty.png")
    calibration([["a", "b"]], [["a", "a"]], [[0.9, 0.6]]).plot(tmp_path / "calibration.png")
    for path in tmp_path.iterdir():
        assert path.read_bytes().startswith(b"\x89PNG")
    assert len(list(tmp_path.iterdir())) == 3


def test_plots_say_what_to_install(tmp_path, monkeypatch):
    real_import = builtins.__import__

    def refuse(name, *arguments, **options):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real_import(name, *arguments, **options)

    monkeypatch.delitem(sys.modules, "matplotlib.figure", raising=False)
    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(ImportError, match=r'pip install "\.\[plots\]"'):
        report(GOLD, PREDICTED).plot(tmp_path / "x.png")


def test_calibration_by_hand():
    table = calibration(
        [["a", "a", "b", None], ["b"]],
        [["a", "b", "b", "b"], ["b"]],
        [[0.95, 0.9, 0.5, 0.1], [1.0]],
        bins=10,
    )
    assert table.count == 4
    last, middle, first = table.bins[9], table.bins[5], table.bins[0]
    assert (last.count, last.accuracy) == (3, pytest.approx(2 / 3))
    assert last.confidence == pytest.approx((0.95 + 0.9 + 1.0) / 3)
    assert (middle.count, middle.accuracy, middle.confidence) == (1, 1.0, 0.5)
    assert (first.count, first.accuracy, first.confidence) == (0, None, None)
    assert table.expected_error == pytest.approx((3 * (2.85 / 3 - 2 / 3) + 0.5) / 4)
    assert json.loads(table.to_json()) == table.to_dict()
    assert "0.50–0.60" in str(table)


@given(st.lists(st.tuples(st.booleans(), st.floats(0, 1)), max_size=30), st.integers(1, 12))
def test_calibration_counts_everything(tokens, bins):
    gold = [["a" for _ in tokens]]
    predicted = [["a" if right else "b" for right, _ in tokens]]
    table = calibration(gold, predicted, [[c for _, c in tokens]], bins)
    assert table.count == len(tokens)
    assert len(table.bins) == bins
    for b in table.bins:
        if b.count:
            assert b.low - 1e-9 <= b.confidence <= b.high + 1e-9
    assert 0.0 <= table.expected_error <= 1.0


@pytest.mark.parametrize(
    ("confidences", "message"),
    [
        ([], "expected 1 sequences"),
        ([[0.5]], "sentence 0: expected 2 numbers"),
        ([[0.5, 1.5]], "token 1: expected a probability, got 1.5"),
        ([[float("nan"), 1.0]], "token 0: expected a probability, got nan"),
    ],
)
def test_calibration_errors(confidences, message):
    with pytest.raises(DataError, match=message):
        calibration([["a", "a"]], [["a", "a"]], confidences)
    with pytest.raises(ValueError, match="bins"):
        calibration([["a"]], [["a"]], [[1.0]], bins=0)


def test_rules_are_counted_on_both_sides():
    year = token(regex="[0-9]+")
    rules = [at_most(1, "A"), only_on(year, "Y"), matches("A* B* Y*")]
    gold = [["A", "B", "A"], ["A", "Y", None], ["B", "Y", "Y"]]
    predicted = [["A", "B", "B"], ["A", "B", "A"], ["Y", "Y", "Y"]]
    sentences = [["x", "y", "z"], ["x", "1", "z"], ["x", "1", "2"]]
    scores = report(gold, predicted, constraints=rules, sentences=sentences)
    assert [(r.broken, r.sentences, r.example) for r in scores.rules] == [
        (1, 3, 1),
        (1, 3, 2),
        (1, 3, 1),
    ]
    assert [(r.broken, r.sentences, r.example) for r in scores.gold_rules] == [
        (1, 2, 0),  # a sentence that is labelled in part is left out
        (0, 2, None),
        (1, 2, 0),
    ]
    assert "Sentences that break a rule:" in str(scores)
    assert scores.to_dict()["rules"][0]["rule"] == "at_most(1, 'A')"
    corpus = Corpus([Sentence(s, labels=y) for s, y in zip(sentences, gold, strict=True)])
    assert report(corpus, predicted, constraints=rules).rules == scores.rules
    with pytest.raises(DataError, match="sentences: expected one for each of the 3"):
        report(gold, predicted, constraints=rules, sentences=sentences[:2])


def test_rules_know_what_is_outside():
    assert report([["O"]], [["O"]], outside="O", constraints=at_most(0, "A")).rules[0].broken == 0
    scores = report([["A", "O"]], [["O", "A"]], outside="O", constraints=starts_with("A"))
    assert scores.rules[0].broken == 0
    assert report([["A"]], [["A"]]).rules == ()
