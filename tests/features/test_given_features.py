"""Features that users bring: dicts, lists of names, matrices."""

from __future__ import annotations

import re
from collections import Counter, OrderedDict

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings, strategies as st

from trelliswork.features import DictEncoder, MatrixEncoder, restore

keys = st.one_of(st.text(max_size=3), st.text(alphabet="ab:=", max_size=4))
numbers = st.one_of(st.booleans(), st.integers(-3, 3), st.floats(-9, 9))
tokens = st.recursive(
    st.dictionaries(keys, st.one_of(keys, numbers, st.lists(keys, max_size=3), st.sets(keys))),
    lambda inner: st.dictionaries(keys, st.one_of(inner, keys), max_size=3),
    max_leaves=4,
)


def before_last_mark(name):
    """The key of a name that comes alone."""
    return re.fullmatch(r"(?s)(.*)[:=].*", name)[1] if re.search("[:=]", name) else name


def keyed_items(token, prefix=""):
    """The meaning of a token, item by item: name, weight, key."""
    if not isinstance(token, dict):
        return [
            (prefix + name, 1.0, prefix[:-1] if prefix else before_last_mark(name))
            for name in token
        ]
    out = []
    for key, value in token.items():
        own = prefix + key
        if isinstance(value, str):
            out.append((f"{own}:{value}", 1.0, own))
        elif isinstance(value, bool | int | float):
            out.append((own, float(value), own))
        else:
            out += keyed_items(value, f"{own}:")
    return [item for item in out if item[1] != 0]


def items(token):
    return [(name, weight) for name, weight, _ in keyed_items(token)]


def summed(token, known=None):
    out = Counter()
    for name, weight in items(token):
        if known is None or name in known:
            out[name] += weight
    return out


def rows_of(matrix, names):
    values = np.ones(len(matrix.indices)) if matrix.values is None else matrix.values
    out = []
    for a, b in zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True):
        row = Counter()
        for i, value in zip(matrix.indices[a:b], values[a:b], strict=True):
            row[names[i]] += value
        out.append(row)
    return out


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.lists(st.one_of(tokens, st.lists(keys)), max_size=4), max_size=3),
    st.lists(st.lists(tokens, max_size=3), max_size=2),
    st.integers(1, 3),
)
def test_dicts(train, test, min_count):
    encoder = DictEncoder()
    encoded = encoder.fit(train, min_count=min_count)
    counts = Counter(name for s in train for token in s for name, _ in items(token))
    kept = [name for name, n in counts.items() if n >= min_count]
    names = encoder.feature_names()
    assert names == kept
    assert rows_of(encoded.state, names) == [summed(t, set(kept)) for s in train for t in s]
    assert encoded.offsets.tolist() == np.cumsum([0, *map(len, train)]).tolist()
    rebuilt = restore(encoder.settings(), encoder.arrays())
    assert rows_of(rebuilt.transform(test).state, names) == [
        summed(t, set(kept)) for s in test for t in s
    ]
    every_second = np.arange(len(names)) % 2 == 0
    smaller = encoder.select(every_second)
    assert smaller.feature_names() == names[::2]

    key_of = {}
    for name, _, key in (item for s in train for token in s for item in keyed_items(token)):
        key_of.setdefault(name, key)
    for own, expected in (
        (encoder, [key_of[name] for name in names]),
        (smaller, [key_of[name] for name in names[::2]]),
        (rebuilt, [before_last_mark(name) for name in names]),
    ):
        templates, template_of = own.feature_templates()["state"]
        assert [templates[i] for i in template_of] == expected
        assert templates == list(dict.fromkeys(expected))
        assert template_of.dtype == np.int32


def test_the_key_of_a_dict_is_the_template():
    encoder = DictEncoder()
    token = {"word": "12:30", "tall": 3.0, "left": {"word": ":", "tags": ["a=b"]}}
    encoder.fit([[token, ["word=x", "pos:N", "title"]]])
    templates, template_of = encoder.feature_templates()["state"]
    assert dict(zip(encoder.feature_names(), (templates[i] for i in template_of), strict=True)) == {
        "word:12:30": "word",
        "tall": "tall",
        "left:word::": "left:word",
        "left:tags:a=b": "left:tags",
        "word=x": "word",
        "pos:N": "pos",
        "title": "title",
    }
    assert templates == ["word", "tall", "left:word", "left:tags", "pos", "title"]


def test_values_are_none_when_all_are_one():
    encoder = DictEncoder()
    assert encoder.fit([[{"a": "b", "c": True, "d": 1}, ["x", "y"]]]).state.values is None
    assert encoder.fit([[{"a": 2}]]).state.values.tolist() == [2.0]
    assert encoder.transform([[OrderedDict(a=np.float32(0.5))]]).state.values.tolist() == [0.5]
    assert encoder.edge_feature_names() == []


@pytest.mark.parametrize(
    ("sequences", "error", "message"),
    [
        ([[{"a": 1}, 3]], TypeError, "sequence 0, position 1: expected a feature dict"),
        ([["a"]], TypeError, "sequence 0, position 0: expected a feature dict.*got str"),
        ([{"a": 1}], TypeError, "sequence 0: expected a list of feature dicts, got dict"),
        ([[{1: "a"}]], TypeError, r"expected a feature name \(str\), got int"),
        ([[{"a": None}]], TypeError, "feature 'a' has a value of type NoneType"),
        ([[{"a": b"x"}]], TypeError, "feature 'a' has a value of type bytes"),
        ([[{"a": float("nan")}]], ValueError, "feature 'a' is not a finite number"),
        ([[{"a": [["b"]]}]], TypeError, "expected a feature name"),
    ],
)
def test_wrong_dicts_are_named(sequences, error, message):
    with pytest.raises(error, match=message):
        DictEncoder().fit(sequences)


def test_endless_nesting_is_refused():
    loop = {}
    loop["a"] = loop
    with pytest.raises(ValueError, match="nested too deeply"):
        DictEncoder().fit([[loop]])


@pytest.mark.parametrize("change", ["cut", "back", "twice", "dtype", "missing"])
def test_corrupt_names_are_refused(change):
    encoder = DictEncoder()
    encoder.fit([[["ab", "cd"]]])
    arrays = {name: array.copy() for name, array in encoder.arrays().items()}
    if change == "cut":
        arrays["name_bytes"] = arrays["name_bytes"][:-1]
    elif change == "back":
        arrays["name_offsets"][1] = 9
    elif change == "twice":
        arrays["name_bytes"][:] = ord("x")
    elif change == "dtype":
        arrays["name_offsets"] = arrays["name_offsets"].astype(np.int32)
    else:
        del arrays["name_bytes"]
    with pytest.raises(ValueError, match="name"):
        restore(encoder.settings(), arrays)


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.integers(0, 4), min_size=1, max_size=4), st.integers(0, 2**32), st.integers(1, 3)
)
def test_matrices(lengths, seed, min_count):
    rng = np.random.default_rng(seed)
    dense = [rng.integers(0, 3, (n, 5)) * rng.integers(0, 2, (n, 5)) for n in lengths]
    makers = [np.asarray, scipy.sparse.csr_matrix, scipy.sparse.coo_array, lambda m: m]
    given = [makers[i % len(makers)](m) for i, m in enumerate(dense)]
    encoder = MatrixEncoder()
    encoded = encoder.fit(given, min_count=min_count)
    stacked = np.concatenate(dense)
    columns = np.flatnonzero((stacked != 0).sum(axis=0) >= min_count)
    if min_count == 1:
        columns = np.arange(5)
    assert np.array_equal(encoded.state.to_scipy().toarray(), stacked[:, columns])
    assert encoder.feature_names() == [f"column {c}" for c in columns]
    templates, template_of = encoder.feature_templates()["state"]
    assert templates == encoder.feature_names()
    assert template_of.tolist() == list(range(len(columns)))
    rebuilt = restore(encoder.settings(), encoder.arrays())
    again = rebuilt.transform(given).state
    assert np.array_equal(again.indices, encoded.state.indices)
    assert again.indices.dtype == np.int32
    assert again.indptr.dtype == np.int64
    first = np.arange(len(columns)) < 1
    kept = rebuilt.select(first).transform(given).state.to_scipy().toarray()
    assert np.array_equal(kept, stacked[:, columns[:1]])


def test_wrong_matrices_are_named():
    encoder = MatrixEncoder()
    with pytest.raises(ValueError, match="at least one matrix"):
        encoder.fit([])
    encoder.fit([np.ones((1, 2))])
    with pytest.raises(ValueError, match="sequence 1: expected 2 feature columns, got 3"):
        encoder.transform([np.ones((1, 2)), np.ones((1, 3))])
    with pytest.raises(ValueError, match="sequence 0: expected a matrix"):
        encoder.transform([np.ones(2)])
    with pytest.raises(ValueError, match="finite"):
        encoder.transform([np.full((1, 2), np.nan)])
    with pytest.raises(ValueError, match="out of order"):
        restore(encoder.settings(), {"kept_columns": np.array([1, 0])})
    with pytest.raises(ValueError, match="number of feature columns"):
        restore({"kind": "matrices", "n_columns": "2"}, encoder.arrays())
