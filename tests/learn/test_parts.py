"""Which (feature, letter) pairs have a weight."""

from __future__ import annotations

from types import MappingProxyType

import numpy as np
import pytest

import trelliswork as tw

FEATURES = "word[0]\nbegin: word[0]\nend: word[0]"
X = [["a", "b", "c", "d", "e"], ["u", "v", "w"]]
PLAIN = [["P", "P", "P", "Q", "Q"], ["P", "Q", "Q"]]
BIO = [["B-P", "I-P", "I-P", "B-Q", "I-Q"], ["B-P", "B-Q", "I-Q"]]


def trained(y, x=X, **options) -> tw.CRFTagger:
    options = {"max_segment": 3, "features": FEATURES, "max_iter": 2, **options}
    return tw.CRFTagger(**options).fit(x, y)


def pairs(tagger: tw.CRFTagger, kind: str) -> set[tuple[str, str]]:
    """Return the pairs of one kind as (word, letter)."""
    model = tagger.model_
    found = getattr(model, kind)
    names = getattr(model.encoder, f"{kind}_feature_names".removeprefix("state_"))()
    letters = model.structure.letter_names
    return {
        (names[f].rpartition("=")[2], letters[y])
        for f, y in zip(found.features, found.outputs, strict=True)
    }


@pytest.mark.parametrize("part", [False, True], ids=["whole", "part"])
@pytest.mark.parametrize("y", [PLAIN, BIO], ids=["plain", "bio"])
def test_features_of_segments_have_a_weight_for_every_letter(y, part):
    tagger = trained([y[0], [None, *y[1][1:]]] if part else y)
    words = [word for sentence in X for word in sentence]
    for kind in ("begin", "end"):
        assert pairs(tagger, kind) == {(word, letter) for word in words for letter in "PQ"}


@pytest.mark.parametrize("y", [PLAIN, BIO], ids=["plain", "bio"])
def test_a_sequence_labelled_in_part_changes_nothing_of_the_others(y):
    whole, part = trained(y[:1], X[:1]), trained([y[0], [None, *y[1][1:]]])
    assert {p for p in pairs(part, "state") if p[0] in X[0]} == pairs(whole, "state")
    assert "u" not in {word for word, _ in pairs(part, "state")}  # nothing is known of it


def test_alternatives_show_every_letter_among_them():
    tagger = trained([BIO[0], ["B-P", frozenset({"I-P", "B-Q"}), None]])
    own = {p for p in pairs(tagger, "state") if p[0] in X[1]}
    assert own == {("u", "P"), ("v", "P"), ("v", "Q")}


def test_penalties_by_order_from_any_mapping_and_of_any_order():
    x, y = [list("abcdefgh") * 10], [list("PPQPQQQP") * 10]
    options = {"features": "word[0]", "max_segment": 1, "order": 70, "max_patterns": 1000}
    by_order = MappingProxyType({0: 1.0, 3: 0.5})
    found = trained(y, x, l2=by_order, **options)
    assert found.model_.patterns.order == 70
    same = trained(y, x, l2=dict(by_order), **options)
    np.testing.assert_allclose(found.model_.pattern_weights, same.model_.pattern_weights, atol=1e-6)
    other = trained(y, x, l2=1.0, **options)
    assert not np.allclose(found.model_.pattern_weights, other.model_.pattern_weights, atol=1e-5)
