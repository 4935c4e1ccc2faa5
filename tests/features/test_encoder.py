"""The native extractor against a slow reference, and the corners of its input."""

from __future__ import annotations

import copy
import pickle
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import reference_features as ref
from feature_cases import as_sentence, rows_of, sentences, template_lists, template_text
from trelliswork.errors import TemplateError
from trelliswork.features import TemplateEncoder, Templates, bundle, restore


@settings(max_examples=150, deadline=None)
@given(
    template_lists,
    st.lists(sentences(), max_size=4),
    st.lists(sentences(), max_size=3),
    st.booleans(),
    st.integers(1, 3),
)
def test_extractor_agrees_with_reference(templates, train, test, pad, min_count):
    encoder = TemplateEncoder(template_text(templates, pad=pad))
    expected = [row for s in train for row in ref.features(templates, s, pad=pad)]
    counts = Counter(name for row in expected for name in row)
    # Numbered by first occurrence.
    kept = [name for name, n in counts.items() if n >= min_count]
    encoded = encoder.fit([as_sentence(s) for s in train], min_count=min_count)
    names = encoder.feature_names()
    assert names == kept
    assert rows_of(encoded.state, names) == [
        Counter(n for n in row if counts[n] >= min_count) for row in expected
    ]
    assert encoded.offsets.tolist() == np.cumsum([0, *(len(s["word"]) for s in train)]).tolist()

    known = set(names)
    unseen = [row for s in test for row in ref.features(templates, s, pad=pad)]
    for n_jobs in (1, 2):
        again = encoder.transform([as_sentence(s) for s in test], n_jobs=n_jobs)
        assert rows_of(again.state, names) == [Counter(n for n in r if n in known) for r in unseen]
    rebuilt = restore(encoder.settings(), encoder.arrays())
    assert rebuilt.feature_names() == names
    assert rebuilt.transform([as_sentence(s) for s in test]).state.indices.tolist() == (
        again.state.indices.tolist()
    )


@settings(max_examples=60, deadline=None)
@given(template_lists, template_lists, st.lists(sentences(), min_size=1, max_size=3), st.data())
def test_edges_and_selection(state, edge, train, data):
    encoder = TemplateEncoder(template_text(state, pad=True, edges=edge))
    corpus = [as_sentence(s) for s in train]
    encoded = encoder.fit(corpus)
    state_rows = [row for s in train for row in ref.features(state, s, pad=True)]
    edge_rows = [
        row if t else [] for s in train for t, row in enumerate(ref.features(edge, s, pad=True))
    ]
    names, edge_names = encoder.feature_names(), encoder.edge_feature_names()
    assert rows_of(encoded.state, names) == [Counter(row) for row in state_rows]
    assert rows_of(encoded.edge, edge_names) == [Counter(row) for row in edge_rows]

    keep = data.draw(st.lists(st.booleans(), min_size=len(names), max_size=len(names)))
    keep_edge = data.draw(
        st.lists(st.booleans(), min_size=len(edge_names), max_size=len(edge_names))
    )
    smaller = encoder.select(keep, keep_edge)
    left = [n for n, k in zip(names, keep, strict=True) if k]
    assert smaller.feature_names() == left
    again = smaller.transform(corpus)
    assert rows_of(again.state, left) == [Counter(n for n in r if n in left) for r in state_rows]
    assert sum(len(a) for a in smaller.arrays().values()) <= sum(
        len(a) for a in encoder.arrays().values()
    )


def test_many_sentences_cross_blocks():
    rng = np.random.default_rng(0)
    train = [[f"w{i}" for i in rng.integers(0, 50, n)] for n in rng.integers(0, 60, 300)]
    templates = [(ref.Column("word", -1), ref.Column("word", 1)), (ref.Column("word", 2),)]
    encoder = TemplateEncoder(template_text(templates, pad=True))
    encoded = encoder.fit(train)
    expected = [r for s in train for r in ref.features(templates, {"word": s}, pad=True)]
    assert rows_of(encoded.state, encoder.feature_names()) == [Counter(r) for r in expected]
    for n_jobs in (1, 2, 3, -1):
        again = encoder.transform(train, n_jobs=n_jobs)
        assert np.array_equal(again.state.indices, encoded.state.indices)
        assert np.array_equal(again.state.indptr, encoded.state.indptr)
    few = encoder.transform(train[:3], n_jobs=8)  # more jobs than sentences
    n_rows = sum(map(len, train[:3]))
    assert np.array_equal(few.state.indptr, encoded.state.indptr[: n_rows + 1])
    assert np.array_equal(few.state.indices, encoded.state.indices[: few.state.indptr[-1]])


def test_rows_of_tuples_are_read_like_columns():
    rows = [[("He", "PRP"), ("runs", "VBZ")], []]
    one, two = TemplateEncoder("chunking"), TemplateEncoder("chunking")
    one.fit(rows)
    two.fit([as_sentence({"word": ["He", "runs"], "pos": ["PRP", "VBZ"]})])
    assert one.feature_names() == two.feature_names()


def test_odd_texts():
    odd = ["", "\0", "\ud800", "😀", "a" * 100_000, "İ", "ΑΣ", "\n", "é" * 1000]
    text = (
        "pattern slow = /(a|a)*b/\npattern tail = /\\n$/\nword\nlower(word)\nshape(word)"
        "\nsuffix(word, 1..3)\nmatch(slow, word)\nsearch(tail, word)"
    )
    encoder = TemplateEncoder(text)
    encoder.fit([odd, [], ["x"]])
    names = encoder.feature_names()
    assert {"word[0]=\ud800", "word[0]=\0", "word[0]=", "lower(word[0])=i̇"} <= set(names)
    assert "suffix(word[0], 1)=😀" in names
    assert "search(tail, word[0])" in names
    assert "lower(word[0])=ασ" in names  # letter by letter: no final sigma
    rebuilt = restore(encoder.settings(), encoder.arrays())
    assert rebuilt.feature_names() == names


def test_input_is_any_iterable_of_sequences():
    encoder = TemplateEncoder("word[0]")
    encoder.fit(iter([("a", "b"), np.array(["c"])]))
    assert encoder.feature_names() == ["word[0]=a", "word[0]=b", "word[0]=c"]
    assert encoder.transform([]).state.shape == (0, 3)


@pytest.mark.parametrize(
    ("sentences", "error", "message"),
    [
        ([["a", 3]], TypeError, "sentence 0, position 1: expected a str, got int"),
        ([[], "text"], TypeError, "sentence 1: expected a list of tokens, got str"),
        ("text", TypeError, "list of sentences"),
        ([{"a": 1}], TypeError, "sentence 0: expected a list of tokens, got dict"),
        ([[("a", "b"), "c"]], TypeError, "sentence 0, position 1: expected a .*row"),
        ([["a"]], TemplateError, "sentence 0 has no column 'pos'"),
        ([[("a",)]], TemplateError, "sentence 0, position 0: column 'pos' is missing"),
        (
            [SimpleNamespace(tokens=["a"], columns={"word": ["a"], "tag": ["X"]})],
            TemplateError,
            r"sentence 0 has no column 'pos'; it has \['word', 'tag'\]",
        ),
        (
            [SimpleNamespace(tokens=["a"], columns={"pos": []})],
            TemplateError,
            "sentence 0: column 'pos' has 0 values for 1 tokens",
        ),
        ([3], TypeError, "sentence 0: expected a list of tokens, got int"),
    ],
)
def test_wrong_input_is_named(sentences, error, message):
    with pytest.raises(error, match=message):
        TemplateEncoder("word[0]\npos[0]").fit(sentences)


def test_unfitted_and_wrong_numbers():
    encoder = TemplateEncoder("word[0]")
    with pytest.raises(ValueError, match="call fit first"):
        encoder.transform([["a"]])
    with pytest.raises(ValueError, match="min_count"):
        encoder.fit([["a"]], min_count=0)
    encoder.fit([["a"]])
    with pytest.raises(ValueError, match="n_jobs"):
        encoder.transform([["a"]], n_jobs=0)
    with pytest.raises(ValueError, match="every feature"):
        encoder.select([True, False])


def small_encoder():
    encoder = TemplateEncoder("word[-1..1]\nword[0] | word[1]\nedge: word[0]")
    encoder.fit([["a", "b", "a"], ["c"]])
    return encoder


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_corrupt_arrays_are_refused_or_harmless(data):
    encoder = small_encoder()
    arrays = {name: array.copy() for name, array in encoder.arrays().items()}
    name = data.draw(st.sampled_from(sorted(arrays)))
    array = arrays[name]
    how = data.draw(st.sampled_from(["change", "cut", "grow", "dtype", "missing"]))
    if how == "change" and array.size:
        at = data.draw(st.integers(0, array.size - 1))
        info = np.iinfo(array.dtype)
        array[at] = data.draw(
            st.one_of(st.integers(-1, 9), st.integers(info.min, info.max)).filter(
                lambda v: info.min <= v <= info.max
            )
        )
    elif how == "cut":
        arrays[name] = array[: data.draw(st.integers(0, array.size))]
    elif how == "grow":
        arrays[name] = np.concatenate([array, array[:1]])
    elif how == "dtype":
        arrays[name] = array.astype(np.float32)
    else:
        del arrays[name]
    try:
        rebuilt = restore(encoder.settings(), arrays)
        rebuilt.feature_names()
    except ValueError:
        return
    encoded = rebuilt.transform([["a", "b", "c", "a"]])
    assert encoded.state.indices.size == 0 or encoded.state.indices.max() < encoded.state.n_features


def test_settings_of_another_program_are_refused():
    encoder = small_encoder()
    with pytest.raises(ValueError, match=r"attributes|kinds"):
        restore(TemplateEncoder("word[0]\nlower(word)").settings(), encoder.arrays())
    with pytest.raises(ValueError, match="expected an encoder"):
        restore({"kind": "pickle"}, {})
    with pytest.raises(ValueError, match="templates"):
        restore({"kind": "templates"}, encoder.arrays())


def test_copies_and_pickles_are_equal():
    for encoder in (small_encoder(), TemplateEncoder("word[0]")):
        for again in (copy.deepcopy(encoder), pickle.loads(pickle.dumps(encoder))):
            assert again.templates == encoder.templates
    assert again.templates.program.columns == (None,)
    encoder = small_encoder()
    assert copy.deepcopy(encoder).feature_names() == encoder.feature_names()


def test_transform_from_many_threads():
    rng = np.random.default_rng(1)
    train = [[f"Word{i}" for i in rng.integers(0, 400, 20)] for _ in range(200)]
    encoder = TemplateEncoder("citation")
    expected = encoder.fit(train).state.indices
    with ThreadPoolExecutor(4) as pool:
        for encoded in pool.map(lambda _: encoder.transform(train, n_jobs=2), range(8)):
            assert np.array_equal(encoded.state.indices, expected)


def test_bundles_work_on_plain_text():
    for name in ("ner", "citation"):
        encoder = TemplateEncoder(name)
        text = "J. Smith , A title . In Proceedings of ACL , pp. 1-9 , 1999 ."
        tokens = text.split()
        encoder.fit([tokens])
        assert len(encoder.feature_names()) > 100
        assert Templates.from_dict(encoder.templates.to_dict()) == bundle(name)
