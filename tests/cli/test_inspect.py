from __future__ import annotations

import json

import numpy as np
import pytest

import trelliswork as tw
from commands import fail, run, train_model
from trelliswork.taggers.inspection import (
    ModelSizes,
    PatternWeights,
    feature_names,
    top_edge_features,
    top_features,
    top_transitions,
)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    return train_model(folder, "--features", "chunking", "--tokenizer", "words", "--dev", 0.2)


def test_everything_is_shown(model):
    result = run("inspect", model, "--top", 2)
    assert result.exit_code == 0
    for part in (
        "4 (bio): B-LOC B-PER I-PER O",
        "columns     word, pos, label",
        "tokenizer   words",
        "of which",
        "stopped: ",
        "dev F1",
        "ngrams(pos[-2..2], 2..3)",
        "Transitions",
        "Features of B-LOC",
        "Features of O",
    ):
        assert part in result.stdout


def test_one_label(model):
    result = run("inspect", model, "--label", "B-PER")
    assert "Features of B-PER" in result.stdout
    assert "Features of O" not in result.stdout
    assert "Unknown label 'X'" in fail("inspect", model, "--label", "X")


def test_json(model):
    result = run("inspect", model, "--json", "--top", 3)
    record = json.loads(result.stdout)
    tagger = tw.load(model)
    assert record["sizes"] == ModelSizes.of(tagger).to_dict()
    assert record["training"]["stop_reason"] == tagger.stop_reason_
    assert len(record["training"]["log"]) == tagger.n_iter_
    assert record["bytes"] == model.stat().st_size
    assert set(record["features"]) == set(tagger.classes_)
    assert all(len(found["positive"]) <= 3 for found in record["features"].values())


def test_no_model(tmp_path):
    assert "No such file" in fail("inspect", tmp_path / "missing.tw")


def test_untrained_and_ready_features(tmp_path):
    path = tmp_path / "m.tw"
    tw.CRFTagger(max_iter=0).fit([[{"a": 1.0}, {"b": 1.0}]], [["X", "Y"]]).save(path)
    result = run("inspect", path)
    assert result.exit_code == 0
    assert "not recorded" in result.stdout
    assert "Templates" not in result.stdout
    assert "none" in result.stdout


def test_models_without_a_training_log(tmp_path):
    path = tmp_path / "hmm.tw"
    tw.HMMTagger().fit([["Ann", "sings"]], [["B-PER", "O"]]).save(path)
    shown = run("inspect", path).stdout
    assert "word=Ann" in shown
    assert "iterations" not in shown
    training = json.loads(run("inspect", path, "--json").stdout)["training"]
    assert training["iterations"] is None
    assert training["log"] == []
    tw.PerceptronTagger(features="word[0]").fit([["Ann", "sings"]], [["B-PER", "O"]]).save(path)
    assert "epochs in" in run("inspect", path).stdout


def test_features_of_transitions(tmp_path):
    model = train_model(tmp_path, "--features", "word[0]\nedge: word[0]")
    result = run("inspect", model)
    assert "Features of transitions" in result.stdout
    assert "word[0]=Lee  B-PER → I-PER" in result.stdout


def test_top_features_are_the_largest_weights():
    rng = np.random.default_rng(0)
    words = [[str(w) for w in rng.integers(0, 20, size=10)] for _ in range(8)]
    labels = [[str(y) for y in rng.choice(list("XYZ"), size=10)] for _ in range(8)]
    tagger = tw.CRFTagger(features="word[-1..1]\nedge: word[0]", l2=0.1).fit(words, labels)
    model = tagger.model_
    names = model.encoder.feature_names()
    weights = {
        (names[f], model.labels.names[y]): w
        for f, y, w in zip(
            model.state.features, model.state.outputs, model.state.weights, strict=True
        )
    }
    for label in "XYZ":
        mine = sorted((w, name) for (name, y), w in weights.items() if y == label)
        found = top_features(tagger, label, 4)
        assert [w for _, w in found.positive] == [w for w, _ in mine[:-5:-1]]
        assert [w for _, w in found.negative] == [w for w, _ in mine[:4]]
        assert all(weights[name, label] == w for name, w in found.positive + found.negative)
    best = top_transitions(tagger, 1).positive[0]
    before, after = best.name.split(" → ")
    place = model.labels.id(before), model.labels.id(after)
    assert best.weight == model.transitions.max() == model.transitions[place]
    assert model.edge is not None
    assert top_edge_features(tagger, 1).positive[0].weight == model.edge.weights.max()
    with pytest.raises(ValueError, match="expected 1 or more"):
        top_features(tagger, "X", 0)


def test_no_edge_features():
    tagger = tw.CRFTagger().fit([["a"]], [["X"]])
    assert top_edge_features(tagger) == ([], [])


def test_only_transitions_with_a_weight_are_counted():
    words, labels = [["a", "b", "c"]], [["X", "Y", "Z"]]
    tagger = tw.CRFTagger(features="word[0]").fit(words, labels)
    # Three words with a label each, X → Y and Y → Z.
    assert ModelSizes.of(tagger).weights == 3 + 2
    every = tw.CRFTagger(features="word[0]", transitions="all").fit(words, labels)
    assert ModelSizes.of(every).weights == 3 + 9


def test_the_loss_of_kept_weights_is_explained(tmp_path):
    corpus = tmp_path / "train.conll"
    # The development set is soon labelled without a mistake, and the loss falls on.
    model = train_model(tmp_path, "--dev", corpus, "--dev-every", 1)
    tagger = tw.load(model)
    assert tagger.loss_ > tagger.training_log_[-1].loss
    note = "weights with the best dev F1 were kept"
    assert note in run("inspect", model).stdout
    assert note not in run("inspect", train_model(tmp_path)).stdout


def test_sparse_patterns_are_shown_by_length(tmp_path):
    path = tmp_path / "m.tw"
    words, labels = [["a", "b", "c", "d"], ["a", "b", "d"]], [["W", "X", "Y", "Z"], ["W", "X", "Z"]]
    tagger = tw.CRFTagger(features="word[0]\nedge: word[0]", order=2).fit(words, labels)
    tagger.save(path)
    shown = " ".join(run("inspect", path, "--top", 1).stdout.split())
    assert "Sparse patterns" in shown
    assert "3 3 64 4.69% 100%" in shown  # W X Y, X Y Z, W X Z
    assert "7 states and 28 arcs" in shown
    assert "Patterns of 3 labels name weight" in shown
    assert "word[0]=b W → X" in shown
    record = json.loads(run("inspect", path, "--json").stdout)
    assert [own["patterns"] for own in record["patterns"]["lengths"]] == [4, 3]
    assert record["sizes"]["patterns"] == 7
    patterns = PatternWeights.of(tagger)
    best = int(patterns.weights[4:].argmax()) + 4
    name, weight = record["patterns"]["lengths"][1]["top"]["positive"][0]
    assert (name, weight) == (patterns.spell(best), patterns.weights[best])


def test_runs_outside_have_no_limit(tmp_path):
    path = tmp_path / "m.tw"
    tagger = tw.CRFTagger(features="word", max_segment=3).fit([["a", "b"]], [["B-X", "O"]])
    tagger.save(path)
    assert "segments    up to X: 3 O: any" in run("inspect", path).stdout
    assert json.loads(run("inspect", path, "--json").stdout)["segments"] == {"X": 3, "O": None}


def test_segments_have_features_of_their_own(tmp_path):
    path = tmp_path / "m.tw"
    words, labels = [["a", "b", "c"], ["a", "c"]], [["X", "X", "Y"], ["X", "Y"]]
    templates = "word[0]\nbegin: word[0]\nend: word[0]\nsegment: text"
    tagger = tw.CRFTagger(features=templates, max_segment=10, l2=0.1).fit(words, labels)
    tagger.save(path)
    shown = " ".join(run("inspect", path, "--top", 50).stdout.split())
    assert "segments up to X: 10 Y: 10" in shown
    assert "of segments" in shown
    for name in (
        "begin: word[0]=a",
        "end: word[0]=b",
        "segment: text=a b",
        "length 1",
    ):
        assert name in shown
    assert feature_names(tagger)[-1][-2:] == ["length 8", "length 9–10"]
    found = top_features(tagger, "X", 100)
    model = tagger.model_
    parts = (model.state, model.begin, model.end, model.segment, model.length)
    largest = max(part.weights[part.outputs == 0].max() for part in parts)
    assert found.positive[0].weight == largest
    assert "length 2" in dict(found.positive)
    with pytest.raises(tw.LabelError, match=r"Unknown label 'O'.*are X, Y"):
        top_features(tagger, "O")


def test_a_chain_has_no_section_of_patterns(model):
    assert "Sparse patterns" not in run("inspect", model).stdout
    (pairs,) = json.loads(run("inspect", model, "--json").stdout)["patterns"]["lengths"]
    assert (pairs["length"], pairs["patterns"], pairs["possible"]) == (2, 16, 16)


def test_templates_have_sizes(tmp_path):
    path = train_model(tmp_path, "--features", "word[-1..0]", "--group-lasso", "template:0.05")
    result = run("inspect", path)
    assert "Weights by template" in result.stdout
    record = json.loads(run("inspect", path, "--json").stdout)
    sizes = {own["name"]: (own["features"], own["weights"]) for own in record["template_sizes"]}
    model = tw.load(path).model_
    assert sum(weights for _, weights in sizes.values()) == model.state.weights.size
    assert sum(features for features, _ in sizes.values()) == len(model.encoder.feature_names())
    assert record["parameters"]["regularizer"]["by"] == "template"


def test_a_model_without_templates_says_so(tmp_path):
    path = train_model(tmp_path, "--features", "word[0]", "--group-lasso", "template:1000")
    assert "Weights by template: none" in run("inspect", path).stdout


def test_many_templates_are_cut_short(tmp_path):
    X = [[{f"key{i}": 1.0 for i in range(70)}, {"other": 1.0}]]
    tagger = tw.CRFTagger().fit(X, [["A", "B"]])
    tagger.save(tmp_path / "m.tw")
    assert "… and 11 more: --json has all" in run("inspect", tmp_path / "m.tw").stdout
