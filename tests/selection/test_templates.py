"""Selection of templates: the useful ones are kept, by each rule, in a smaller model."""

from __future__ import annotations

import json

import numpy as np
import pytest

import trelliswork as tw
from trelliswork.evaluation.significance import f1_standard_error

FEATURES = "word[0]\nword[-3]\nshape(word[2])\nlast()"


def draw(seed: int, n: int) -> tuple[list[list[str]], list[list[str]]]:
    """Words tell their labels, all but one in ten; their neighbours tell nothing."""
    rng = np.random.default_rng(seed)
    X, Y = [], []
    for _ in range(n):
        labels = rng.choice(["A", "B"], size=6).tolist()
        flips = rng.random(6) < 0.1
        seen = ["BA"["AB".index(y)] if flip else y for y, flip in zip(labels, flips, strict=True)]
        X.append([f"{y}{rng.integers(4)}" for y in seen])
        Y.append(labels)
    return X, Y


TRAIN, DEV = draw(5, 40), draw(6, 20)


@pytest.fixture(scope="module")
def found() -> tw.TemplateSelection:
    return tw.select_templates(TRAIN, DEV, FEATURES, n=6)


def test_useful_templates_stay_and_others_go(found):
    assert found.kept == ("word[0]",)
    assert found.dropped == ("word[-3]", "shape(word[2])", "last()")
    assert found.templates == tw.Templates.parse("word[0]")
    assert found.tagger.debias
    assert found.rule == "within"
    assert found.tolerance == 0.003
    assert found.chosen.dev_score >= found.path.best.dev_score - 0.003
    assert not found.path[0].templates


def test_it_tells_what_it_found(found):
    first, *table = str(found).splitlines()
    assert first == found.sentence()
    assert first.startswith("kept 1 of 4 templates: dev F1 ")
    assert sum("←" in line for line in table) == 1
    assert first in repr(found)
    (row,) = [line for line in table if line.startswith("word[0] ")]
    assert row.split()[1].count("●") == sum("word[0]" in p.templates for p in found.path)


def test_the_result_can_be_used_and_kept(found, tmp_path):
    again = tw.CRFTagger(features=found.templates).fit(*TRAIN)
    assert again.model_.encoder.templates == found.templates
    found.tagger.save(tmp_path / "m.tw")
    assert tw.load(tmp_path / "m.tw").predict(DEV[0]) == found.tagger.predict(DEV[0])
    record = json.loads(json.dumps(found.to_dict()))
    assert record["kept"] == ["word[0]"]
    assert record["path"]["points"][record["chosen"]]["weights"] == found.chosen.weights
    assert tw.Templates.parse(record["templates"]) == found.templates
    found.plot(tmp_path / "path.png")
    assert (tmp_path / "path.png").stat().st_size > 1000


def test_rules(found):
    scores = [point.dev_score for point in found.path]
    best = tw.select_templates(TRAIN, DEV, FEATURES, n=6, rule="best")
    assert best.chosen.dev_score == max(scores)
    assert best.tolerance == 0.0
    loose = tw.select_templates(TRAIN, DEV, FEATURES, n=6, tolerance=0.99)
    assert loose.chosen.weights == min(point.weights for point in found.path)
    one = tw.select_templates(TRAIN, DEV, FEATURES, n=6, rule="one_se", random_state=1)
    again = tw.select_templates(TRAIN, DEV, FEATURES, n=6, rule="one_se", random_state=1)
    assert one.tolerance == again.tolerance > 0.0
    assert one.chosen.weights == again.chosen.weights
    assert one.chosen.dev_score >= max(scores) - one.tolerance
    expected = f1_standard_error(best.chosen.dev_report.sentence_counts, random_state=1)
    assert one.tolerance == pytest.approx(expected)


def test_a_share_is_held_out_by_the_seed():
    taken = [
        tw.select_templates(TRAIN, 0.25, FEATURES, n=3, random_state=seed) for seed in (1, 1, 2)
    ]
    losses = [[point.loss for point in one.path] for one in taken]
    assert losses[1] == pytest.approx(losses[0], rel=1e-5)
    assert losses[2] != pytest.approx(losses[0], rel=1e-3)
    assert taken[0].path.best.dev_report.sentences == 10


def test_a_corpus_and_a_tagger_of_ones_own():
    corpus = tw.Corpus.from_lists(*TRAIN)
    tagger = tw.CRFTagger(
        order=0, l2=0.5, features=FEATURES, regularizer=tw.GroupLasso(norm="linf")
    )
    found = tw.select_templates(corpus, tw.Corpus.from_lists(*DEV), tagger=tagger, n=4)
    assert found.tagger.order == 0
    assert found.tagger.regularizer.norm == "linf"
    assert "word[0]" in found.kept
    assert not tagger.debias  # it is not changed


def test_keys_of_feature_dicts():
    rng = np.random.default_rng(0)
    X = [[{"w": token, "noise": str(rng.integers(9))} for token in x] for x in TRAIN[0]]
    found = tw.select_templates((X, TRAIN[1]), 0.3)
    assert "w" in found.kept
    assert found.path.templates == ("w", "noise")
    assert found.templates is None
    assert found.to_dict()["templates"] is None


def test_one_template_is_always_left():
    found = tw.select_templates(TRAIN, DEV, FEATURES, strengths=[1e6])
    assert found.kept == ()
    assert found.sentence().startswith("kept 0 of 4 templates")
    assert len(found.templates.templates) == 1


def test_the_standard_error_of_f1():
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 2, size=(200, 3)) + np.array([0, 1, 1])
    small, large = (f1_standard_error(rows, random_state=0) for rows in (counts[:50], counts))
    assert 0.0 < large < small
    assert f1_standard_error(np.zeros((0, 3)), random_state=0) == 0.0
    assert f1_standard_error([[2, 2, 2]] * 9, random_state=0) == 0.0


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"rule": "smallest"}, "rule: expected 'best', 'within' or 'one_se'"),
        ({"tolerance": -1}, "tolerance: expected a finite number"),
        ({"tolerance": 3}, "tolerance: expected a share of at most 1"),
        ({"dev": 1.0}, "dev: expected a labelled corpus, a pair"),
        ({"dev": 0.999}, "train: expected more sequences than the 40"),
        ({"dev": ([], [])}, "dev: expected at least one sentence"),
        ({"dev": (1, 2, 3)}, "dev: expected a labelled corpus or a pair"),
        ({"train": (1, 2, 3)}, "train: expected a labelled corpus or a pair"),
        ({"tagger": tw.CRFTagger(regularizer=tw.GroupLasso(by="label"))}, "groups by template"),
    ],
)
def test_errors(given, message):
    with pytest.raises((ValueError, tw.DataError), match=message):
        tw.select_templates(**{"train": TRAIN, "dev": DEV, "features": FEATURES, **given})
