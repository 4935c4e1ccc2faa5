from __future__ import annotations

import json
import sys

import pytest

import trelliswork as tw
from commands import conll, fail, run

FEATURES = "word[0]\npos[0]\nword[-3]"


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "train.conll"
    path.write_text(conll() * 3)
    return path


def test_everything_is_written_and_told(tmp_path, corpus):
    out, kept, plot = (tmp_path / name for name in ("m.tw", "kept.txt", "path.png"))
    options = ("--points", 4, "--rule", "best", "--seed", 3, "--tokenizer", "words", "--jobs", 1)
    result = run(
        *("select", corpus, "--dev", corpus, "--features", FEATURES, "--out", out),
        *("--templates", kept, "--plot", plot, *options),
    )
    assert result.exit_code == 0, result.output
    first, _, header, *_ = result.stdout.splitlines()
    assert first.startswith("kept ")
    assert " of 3 templates: dev F1 " in first
    assert header.split()[:4] == ["strength", "templates", "features", "weights"]
    assert "point    4  strength" in result.stderr
    tagger = tw.load(out)
    assert tagger.metadata_["columns"] == ["word", "pos", "label"]
    assert tagger.metadata_["tokenizer"]["kind"] == "words"
    assert tagger.debias
    assert tagger.random_state == 3
    assert plot.read_bytes().startswith(b"\x89PNG")
    assert tw.Templates.from_file(kept) == tagger.model_.encoder.templates
    again = run("train", corpus, "--features", kept, "--out", tmp_path / "again.tw")
    assert again.exit_code == 0, again.output


def test_options_reach_the_tagger(tmp_path, corpus):
    out = tmp_path / "m.tw"
    options = (
        "--dev 0.4 --order 0 --l2 0.5 --norm linf --min-count 2 --max-iter 30 --tol 1e-4 "
        "--gap-tol 1e-3 --no-debias --points 2 --least 0.1 --quiet --rule one_se --scheme plain"
    )
    result = run("select", corpus, "-o", out, "--features", FEATURES, *options.split())
    assert result.exit_code == 0, result.output
    assert result.output == ""
    expected = {
        "order": 0,
        "l2": 0.5,
        "min_count": 2,
        "max_iter": 30,
        "tol": 1e-4,
        "gap_tol": 1e-3,
        "debias": False,
        "scheme": "plain",
    }
    tagger = tw.load(out)
    assert expected.items() <= tagger.get_params().items()
    assert tagger.regularizer.norm == "linf"


def test_json(corpus):
    result = run("select", corpus, "--features", FEATURES, "--points", 3, "--json", "--quiet")
    record = json.loads(result.stdout)
    assert len(record["path"]["points"]) == 3
    assert sorted(record["kept"] + record["dropped"]) == sorted(FEATURES.splitlines())
    assert record["rule"] == "within"


def test_a_warning_if_no_template_is_kept(tmp_path, corpus):
    kept = tmp_path / "kept.txt"
    options = ("--features", FEATURES, "--tolerance", 1, "--points", 2)
    result = run("select", corpus, "--templates", kept, *options, "--quiet")
    assert "no template is worth its price" in result.stderr
    assert kept.read_text().splitlines()[-1] == "word[0]"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--dev 1.5", "--dev: expected a file or a share between 0 and 1"),
        ("--dev missing.conll", "missing.conll"),
        ("--features nonsense", "--features: expected a bundle"),
        ("--least 2", "--least: expected a share between 0 and 1"),
        ("--out nowhere/m.tw", "nowhere: no such directory"),
        ("--plot nowhere/p.png", "nowhere: no such directory"),
        ("--l2 x", "--l2: expected a number"),
    ],
)
def test_errors(corpus, options, message):
    assert message in fail("select", corpus, *options.split())


def test_figures_need_an_extra(tmp_path, corpus, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert "pip install" in fail("select", corpus, "--plot", tmp_path / "p.png")


def test_help_has_examples():
    result = run("select", "--help")
    assert "trelliswork select" in result.stdout
    assert "kept.txt" in result.stdout
