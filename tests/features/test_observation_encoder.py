"""Observations of tokens: words, shapes of unknown ones, and where a sequence begins and ends."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, strategies as st

from trelliswork.data.corpus import Sentence
from trelliswork.features import ObservationEncoder, restore
from trelliswork.features.shapes import word_shape

words = st.text(alphabet="aBé1.-", min_size=1, max_size=4)
corpora = st.lists(st.lists(words, max_size=4), max_size=4)


def observed(encoder, sequences) -> list[list[str]]:
    """The names of the features of every token."""
    names, matrix = encoder.feature_names(), encoder.transform(sequences).state
    rows = np.split(matrix.indices, matrix.indptr[1:-1])
    return [[names[f] for f in row] for row in rows]


@pytest.mark.parametrize(
    ("word", "shape"),
    [
        ("Smith", "Xx"),
        ("J", "X"),
        ("ACM", "XX"),
        ("McCallum", "XxXx"),
        ("1999", "9999"),
        ("1234567", "99999"),
        ("12-34", "99-99"),
        ("...", "."),
        ("Élan", "Xx"),
        ("東京", "x"),
        ("", ""),
    ],
)
def test_shapes(word, shape):
    assert word_shape(word) == shape


def test_a_token_has_its_word_or_else_its_shape():
    encoder = ObservationEncoder()
    encoder.fit([["Ann", "sings", "."], ["1999"]])
    assert observed(encoder, [["Ann", "Bob", "!"], [], ["."], ["x1", "8"]]) == [
        ["word=Ann", "first"],
        ["shape=Xx"],
        ["shape unknown", "last"],
        ["word=.", "first", "last"],
        ["shape unknown", "first"],
        ["shape unknown", "last"],
    ]


def test_rare_words_are_known_by_their_shape():
    encoder = ObservationEncoder()
    encoder.fit([["a", "a", "b"]], min_count=2)
    assert encoder.feature_names() == ["word=a", "shape=x", "shape unknown", "first", "last"]
    # Two tokens of "a", one of a rare word, one added for the one word learned.
    np.testing.assert_allclose(encoder.shares, [2 / 4, 2 / 4, 1])


def test_lower_case_keeps_the_most_frequent_shape():
    encoder = ObservationEncoder(lowercase=True)
    encoder.fit([["The", "the", "the", "AN", "an"]])
    names = encoder.feature_names()
    assert names[:2] == ["word=an", "word=the"]
    shapes = [names[2 + s] for s in encoder.shape_of[:2]]
    assert shapes == ["shape=XX", "shape=x"]  # of equally frequent ones the first
    assert observed(encoder, [["THE", "Xy"]]) == [["word=the", "first"], ["shape=Xx", "last"]]


def test_without_shapes_all_unknown_words_are_one():
    encoder = ObservationEncoder(shapes=False)
    encoder.fit([["Ann", "1999"]])
    assert observed(encoder, [["Bob", "?"]]) == [["shape=any", "first"], ["shape=any", "last"]]


@given(corpora, st.integers(1, 3), st.booleans(), st.booleans())
def test_shares_of_a_shape_sum_to_one(corpus, min_count, lowercase, shapes):
    encoder = ObservationEncoder(lowercase=lowercase, shapes=shapes)
    encoder.fit(corpus, min_count=min_count)
    assert (encoder.shares > 0).all()
    np.testing.assert_allclose(np.bincount(encoder.shape_of, encoder.shares), 1.0)


@given(corpora, corpora, st.booleans(), st.booleans())
def test_stored_encoders_encode_the_same(corpus, other, lowercase, shapes):
    encoder = ObservationEncoder(lowercase=lowercase, shapes=shapes)
    encoder.fit(corpus)
    again = restore(encoder.settings(), encoder.arrays())
    assert again.feature_names() == encoder.feature_names()
    np.testing.assert_array_equal(again.shares, encoder.shares)
    expected = encoder.transform(other)
    for copy in (again, pickle.loads(pickle.dumps(encoder))):
        found = copy.transform(other)
        np.testing.assert_array_equal(found.offsets, expected.offsets)
        np.testing.assert_array_equal(found.state.indptr, expected.state.indptr)
        np.testing.assert_array_equal(found.state.indices, expected.state.indices)


def test_an_encoder_without_words_is_pickled_as_it_is():
    copy = pickle.loads(pickle.dumps(ObservationEncoder(lowercase=True, shapes=False)))
    assert (copy.lowercase, copy.shapes) == (True, False)
    with pytest.raises(ValueError, match="call fit first"):
        ObservationEncoder().transform([["a"]])


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("shape_of", np.array([7]), "shape_of: expected one of 1 shapes"),
        ("shares", np.array([0.5, 0.5]), "shares: expected a probability"),
        ("shares", np.array([0.5, 0.0, 1.0]), "shares: expected a probability"),
        ("word_offsets", np.array([0, 2]), "word_offsets: expected numbers that rise"),
        ("word_offsets", np.array([0, 0, 1, 1]), "word_bytes: expected every word once"),
    ],
)
def test_damaged_arrays_are_refused(name, value, message):
    encoder = ObservationEncoder()
    encoder.fit([["a"]])
    with pytest.raises(ValueError, match=message):
        ObservationEncoder.restore(encoder.settings(), encoder.arrays() | {name: value})
    with pytest.raises(ValueError, match="lowercase"):
        ObservationEncoder.restore({"kind": "hmm"}, encoder.arrays())


@pytest.mark.parametrize("sequence", [np.zeros((2, 3)), [{"word": "a"}], [["a", "b"]], [3], "abc"])
def test_only_tokens_are_read(sequence):
    with pytest.raises(TypeError, match="sequence 1: expected token strings"):
        ObservationEncoder().fit([["a"], sequence])


def test_sentences_and_rows_are_read_as_their_tokens():
    encoder = ObservationEncoder()
    encoder.fit([["a", "b"]])
    expected = observed(encoder, [["a", "b"]])
    assert observed(encoder, [Sentence(["a", "b"])]) == expected
    assert observed(encoder, [[("a", "DT"), ("b", "NN")]]) == expected


def test_observations_are_words_or_shapes():
    encoder = ObservationEncoder()
    encoder.fit([["a", "B", "a"]])
    templates, template_of = encoder.feature_templates()["state"]
    assert template_of.size == encoder.feature_counts()["state"]
    for name, template in zip(encoder.feature_names(), template_of, strict=True):
        assert name.startswith(templates[template])


def test_no_observation_can_be_left_out():
    encoder = ObservationEncoder()
    encoder.fit([["a"]])
    with pytest.raises(ValueError, match="all observations"):
        encoder.select([True])
