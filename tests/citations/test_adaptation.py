"""Models that learn from references of one's own."""

from __future__ import annotations

import pytest

import trelliswork as tw
from same_weights import check_same_weights
from trelliswork.citations.adaptation import adapt, learn_labelled
from trelliswork.citations.fields import TOKENIZER, to_plain, to_scheme
from trelliswork.citations.fresh import FRESH_REFERENCES
from trelliswork.citations.learning import make_references
from trelliswork.citations.parser import Parser, model_path
from trelliswork.citations.records import load_works
from trelliswork.data.sentence import Sentence
from trelliswork.errors import DataError

SENTENCES = [TOKENIZER.tokenize(text) for text in FRESH_REFERENCES]


@pytest.fixture(scope="module")
def shipped():
    with model_path(None) as path:
        return tw.load(path)


def test_adapting_keeps_what_is_sure_and_the_rules(shipped):
    seen = []
    adapted = adapt(shipped, SENTENCES, cycles=2, on_cycle=lambda *step: seen.append(step))
    assert [(number, used) for number, used, _ in seen] == [(n, len(SENTENCES)) for n in (1, 2)]
    assert all(0.0 <= changed < 0.1 for *_, changed in seen)
    assert adapted.plan_ is shipped.plan_
    assert adapted.model_ is not shipped.model_
    before, after = shipped.predict(SENTENCES), adapted.predict(SENTENCES)
    flat = [[label for own in labels for label in own] for labels in (before, after)]
    assert sum(map(str.__eq__, *flat)) / len(flat[0]) > 0.95
    # It is surer than before of what it was sure of.
    free, moved = shipped.with_constraints(()), adapted.with_constraints(())
    sure = [
        [label if chance.max() > 0.9 else None for label, chance in zip(own, chances, strict=True)]
        for own, chances in zip(before, free.predict_marginals(SENTENCES), strict=True)
    ]
    assert (
        moved.log_probability(SENTENCES, sure).sum() > free.log_probability(SENTENCES, sure).sum()
    )


def test_a_correction_is_learned_and_saved(shipped, tmp_path):
    tokens = TOKENIZER.tokenize("Zork Quux. Frobnication of widgets. Blip Blop Bulletin 7 (1999).")
    (labels,) = shipped.predict([tokens])
    plain = to_plain(labels, shipped.labels_.scheme)
    wanted = ["note" if label == "title" else label for label in plain]
    assert wanted != plain
    moved = learn_labelled(shipped, [(tokens.tokens, wanted)])
    assert to_plain(moved.predict([tokens])[0], moved.labels_.scheme) == wanted
    moved.save(tmp_path / "mine.tw")
    (reference,) = Parser.load(tmp_path / "mine.tw").parse([" ".join(tokens.tokens)])
    assert list(reference.labels) == wanted


def test_records_become_references_to_learn_from(shipped):
    works = load_works()[:3]
    moved = learn_labelled(shipped, [], works)
    styles = ("apa", "cell", "ieee", "modern-language-association", "nature")
    made = list(make_references(works, styles, per_work=3))
    tokens = [list(one.tokens) for one in made]
    labels = [to_scheme(one.labels, shipped.labels_.scheme) for one in made]
    before, after = (
        tagger.with_constraints(()).log_probability(tokens, labels).sum()
        for tagger in (shipped, moved)
    )
    assert after > before


def test_no_corrections_are_an_error(shipped):
    with pytest.raises(DataError, match=r"got 2 texts, none of which is one \(2 are"):
        adapt(shipped, [Sentence([]), Sentence(["a"] * 301)])
    with pytest.raises(DataError, match="got 1 texts, none of which is one"):
        adapt(shipped, [TOKENIZER.tokenize("The quick brown fox jumps over the lazy dog.")])
    with pytest.raises(DataError, match="corrected references or records"):
        learn_labelled(shipped, [])


def test_non_references_are_not_learned_from(shipped):
    seen = []
    prose = TOKENIZER.tokenize("The quick brown fox jumps over the lazy dog.")
    both = adapt(shipped, [*SENTENCES, prose], on_cycle=lambda *step: seen.append(step))
    alone = adapt(shipped, SENTENCES)
    assert seen[0][1] == len(SENTENCES)
    check_same_weights(both, alone)
