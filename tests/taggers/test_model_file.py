"""Model files: round trips, versions, damaged bytes, and files that hold no model."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest
import safetensors.numpy

import trelliswork as tw
from trelliswork.taggers import model_file as files
from trelliswork.taggers.model_file import (
    FORMAT_VERSION,
    model_file,
    read_model_file,
    write_model_file,
)
from trelliswork.taggers.saving import SINCE_VERSION_2, SINCE_VERSION_3

X = [["the", "cat", "sat"], ["a", "dog", "ran"], ["cats", "run"]]
Y = [["D", "N", "V"], ["D", "N", "V"], ["N", "V"]]


@pytest.fixture(scope="module")
def tagger():
    return tw.CRFTagger(features="word[-1..1]\nsuffix(word[0], 1..2)", l2=0.1).fit(X, Y)


def test_round_trip(tagger, tmp_path):
    path = tmp_path / "model.tw"
    tagger.metadata_ = {"columns": ["word"]}
    tagger.save(path)
    loaded = tw.load(path)
    assert loaded.predict(X) == tagger.predict(X)
    assert loaded.get_params() == tagger.get_params()
    assert loaded.labels_ == tagger.labels_
    assert loaded.training_log_ == tagger.training_log_
    assert loaded.metadata_ == {"columns": ["word"]}
    for one, two in zip(loaded.predict_marginals(X), tagger.predict_marginals(X), strict=True):
        np.testing.assert_array_equal(one, two)


def test_the_same_model_is_the_same_file():
    arrays = {name: np.arange(n, dtype=np.int32) for n, name in enumerate("dbca")}
    settings = {"labels": ["x", "é"], "features": "word[0]"}
    assert len({model_file(settings, arrays) for _ in range(20)}) == 1


@pytest.mark.parametrize(
    "sequences",
    [
        [[{"word": w, "n": len(w)} for w in s] for s in X],
        [np.array([[len(w), 1.0] for w in s]) for s in X],
    ],
)
def test_every_kind_of_input_survives(sequences, tmp_path):
    tagger = tw.CRFTagger().fit(sequences, Y)
    tagger.save(tmp_path / "m.tw")
    assert tw.load(tmp_path / "m.tw").predict(sequences) == tagger.predict(sequences)


def test_edge_features_survive(tmp_path):
    tagger = tw.CRFTagger(features="word[0]\nedge: word[0]").fit(X, Y)
    assert tagger.model_.edge is not None
    tagger.save(tmp_path / "m.tw")
    assert tw.load(tmp_path / "m.tw").predict(X) == tagger.predict(X)


def test_pickle(tagger):
    assert pickle.loads(pickle.dumps(tagger)).predict(X) == tagger.predict(X)


def saved(tagger, tmp_path):
    path = tmp_path / "model.tw"
    tagger.save(path)
    return path, path.read_bytes()


@pytest.mark.parametrize("keep", [0.01, 0.3, 0.5, 0.9, 0.999])
def test_a_file_cut_short(tagger, tmp_path, keep):
    path, content = saved(tagger, tmp_path)
    path.write_bytes(content[: int(len(content) * keep)])
    with pytest.raises(tw.ModelFileError, match=r"model\.tw: the model file is cut short"):
        tw.load(path)


def test_a_damaged_byte(tagger, tmp_path):
    path, content = saved(tagger, tmp_path)
    path.write_bytes(content[:-9] + bytes([content[-9] ^ 1]) + content[-8:])
    with pytest.raises(tw.ModelFileError, match="checksum"):
        tw.load(path)


def test_every_damaged_byte_is_refused(tagger, tmp_path):
    path, content = saved(tagger, tmp_path)
    padding = content.rindex(b"}", 0, 8 + int.from_bytes(content[:8], "little")) + 1
    end_of_header = 8 + int.from_bytes(content[:8], "little")
    for position in range(0, len(content), 11):
        if padding <= position < end_of_header:
            continue  # blanks that say nothing
        damaged = bytearray(content)
        damaged[position] ^= 0x15
        path.write_bytes(bytes(damaged))
        with pytest.raises(tw.ModelFileError, match=r"model\.tw"):
            tw.load(path)


def test_numpy_numbers_among_the_parameters(tmp_path):
    tagger = tw.CRFTagger(
        features="word[0]",
        min_count=np.int64(1),
        l2=np.float32(0.5),
        class_weight={"D": np.float64(2)},
    )
    tagger.fit(X, Y).save(tmp_path / "m.tw")
    assert tw.load(tmp_path / "m.tw").get_params()["l2"] == 0.5


def test_a_newer_version(tagger, tmp_path):
    path = tmp_path / "model.tw"
    tensors = {"x": np.zeros(1)}
    metadata = {"format": "trelliswork-model", "version": str(FORMAT_VERSION + 1)}
    path.write_bytes(safetensors.numpy.save(tensors, metadata=metadata))
    with pytest.raises(tw.ModelFileError, match=r"got version 6\. Update trelliswork"):
        tw.load(path)


STRUCTURES = [
    {"order": 2},
    {"max_segment": 2},
    {"order": 0, "max_segment": "auto"},
    {"min_pattern_count": 2},
    {"max_patterns": 100},
    {"edge_order": 2},
]


@pytest.mark.parametrize("options", STRUCTURES, ids=str)
def test_earlier_versions_refuse_what_they_do_not_know(tmp_path, monkeypatch, options):
    path = tmp_path / "model.tw"
    tagger = tw.CRFTagger(features="word[0]", max_iter=3, **options).fit(X, Y)
    tagger.save(path)
    assert tw.load(path).predict(X) == tagger.predict(X)
    monkeypatch.setattr(files, "FORMAT_VERSION", 1)
    with pytest.raises(tw.ModelFileError, match=r"version 1 or lower, .* 2\. Update trelliswork"):
        tw.load(path)


def test_earlier_versions_read_chains(tagger, tmp_path, monkeypatch):
    monkeypatch.setattr(files, "FORMAT_VERSION", 1)
    path, _ = saved(tagger, tmp_path)
    settings, arrays = read_model_file(path)
    assert not settings["parameters"].keys() & SINCE_VERSION_2.keys()
    assert {name.partition(".")[0] for name in arrays} == {"state", "transitions", "encoder"}
    assert settings["model"].keys() == {"labels", "encoder"}
    assert tw.load(path).get_params() == tagger.get_params()


def test_parameters_missing_in_old_files_have_defaults():
    defaults = tw.CRFTagger().get_params()
    since = SINCE_VERSION_2 | SINCE_VERSION_3
    assert {name: defaults[name] for name in since} == since


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "got an empty file"),
        (b"The quick brown fox jumps over the lazy dog", "got something else"),
        (safetensors.numpy.save({"x": np.zeros(1)}), "got something else"),
        (b"PK\x03\x04\x14\x00\x00\x00\x08\x00\x00\x00", "got something else"),
    ],
)
def test_no_model_at_all(tmp_path, content, message):
    path = tmp_path / "model.tw"
    path.write_bytes(content)
    with pytest.raises(tw.ModelFileError, match=message):
        tw.load(path)


def test_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        tw.load(tmp_path / "nothing.tw")


@pytest.mark.parametrize("name", ["state.weights", "transitions", "encoder.value_bytes"])
def test_a_missing_array(tagger, tmp_path, name):
    path, _ = saved(tagger, tmp_path)
    settings, arrays = read_model_file(path)
    del arrays[name]
    write_model_file(path, settings, arrays)
    with pytest.raises(tw.ModelFileError, match="damaged"):
        tw.load(path)


def test_an_unknown_kind(tagger, tmp_path):
    path, _ = saved(tagger, tmp_path)
    settings, arrays = read_model_file(path)
    write_model_file(path, {**settings, "estimator": "Oracle"}, arrays)
    with pytest.raises(tw.ModelFileError, match=r"kind CRFTagger or .*, got 'Oracle'"):
        tw.load(path)


def test_a_failed_write_leaves_the_old_file(tagger, tmp_path):
    path, content = saved(tagger, tmp_path)
    with pytest.raises(TypeError):
        write_model_file(path, {"not JSON": object()}, {})
    assert path.read_bytes() == content
    assert json.loads(json.dumps([p.name for p in tmp_path.iterdir()])) == ["model.tw"]
