"""Model files with wrong content: each is refused when it is read, or gives a model that works."""

from __future__ import annotations

import copy
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import trelliswork as tw
from trelliswork.constraints import at_least, at_most, count
from trelliswork.taggers.model_file import read_model_file, write_model_file

TOKENS = [["New", "York", "is", "a", "b"], ["the", "a", "b", "c"], ["York", "the"]]
PLAIN = [["P", "P", "Q", "Q", "R"], ["Q", "R", "R", "P"], ["P", "Q"]]
BIO = [["B-P", "I-P", "O", "B-Q", "I-Q"], ["B-Q", "B-P", "O", "O"], ["O", "B-Q"]]
DICTS = [[{"word": w, "length": len(w)} for w in s] for s in TOKENS]
MATRICES = [np.array([[len(w), 1.0, w == "a"] for w in s]) for s in TOKENS]
RULES = "word[0]\nsuffix(word[0], 1)\nedge: word[0]"
SEGMENT_RULES = f"{RULES}\nbegin: word[0]\nend: word[0]\nsegment: text\nsegment: shape"

SOFT = [at_most(1, "P").soft(), (count("P") - count("Q") <= 0).soft(0.5), at_least(0, "Q")]

MODELS: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "chain": (TOKENS, PLAIN, {"features": RULES}),
    "order 3": (TOKENS, BIO, {"features": RULES, "order": 3, "edge_order": 2}),
    "segments": (TOKENS, PLAIN, {"features": SEGMENT_RULES, "order": 2, "max_segment": 3}),
    "bio segments": (TOKENS, BIO, {"features": SEGMENT_RULES, "max_segment": "auto"}),
    "dicts": (DICTS, PLAIN, {}),
    "segments of dicts": (DICTS, PLAIN, {"max_segment": 2, "order": 0}),
    "matrices": (MATRICES, BIO, {"order": 2}),
    "soft": (TOKENS, PLAIN, {"features": RULES, "constraints": SOFT}),
    "soft segments": (TOKENS, BIO, {"max_segment": "auto", "constraints": SOFT}),
    "no edges": (TOKENS, PLAIN, {"features": RULES, "edge_order": 0}),
}


@cache
def content(kind: str, folder) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    x, y, options = MODELS[kind]
    path = folder / "good.tw"
    tw.CRFTagger(max_iter=3, **options).fit(x, y).save(path)
    return read_model_file(path)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("models")


def read_or_refused(kind: str, folder, document, arrays) -> bool:
    """Whether the file is refused; if not, the model must work."""
    path = folder / "bad.tw"
    write_model_file(path, document, arrays)
    try:
        tagger = tw.load(path)
    except tw.ModelFileError:
        return True
    x = MODELS[kind][0]
    assert list(map(len, tagger.predict(x))) == list(map(len, x))
    tagger.predict_marginals(x)
    tagger.predict_nbest(x, 2)
    tagger.model_.encoder.feature_names()
    return False


NUMBERS = st.sampled_from([-1, 0, 1, 2, 3, 5, 7, 100, 2**30, 2**31 - 1])


@st.composite
def damaged(draw, array: np.ndarray) -> np.ndarray | None:
    """Another array; None: it is lost."""
    how = draw(st.sampled_from(["number", "shorter", "longer", "axes", "turned", "type", "gone"]))
    if how == "gone":
        return None
    if how == "type":
        return array.astype(draw(st.sampled_from([np.float32, np.int64, np.int16, np.uint8])))
    if how == "axes":
        return array.reshape(-1, 1)
    flat = array.ravel().copy()
    if flat.size and how == "number":
        low = 0 if array.dtype.kind == "u" else None
        top = np.iinfo(array.dtype).max if array.dtype.kind in "iu" else None
        values = NUMBERS if array.dtype.kind in "iu" else st.sampled_from([np.nan, np.inf, 0.5])
        flat[draw(st.integers(0, flat.size - 1))] = np.clip(draw(values), low, top)
        return flat.reshape(array.shape)
    if how == "shorter":
        return flat[:-1]
    return np.append(flat, flat[-1:]) if how == "longer" else np.roll(flat, 1)


@pytest.mark.parametrize("kind", MODELS)
@given(data=st.data())
@settings(max_examples=40)
def test_damaged_arrays(folder, kind, data):
    document, arrays = content(kind, folder)
    name = data.draw(st.sampled_from(sorted(arrays)))
    other = data.draw(damaged(arrays[name]))
    changed = {**arrays, name: other} if other is not None else dict(arrays)
    if other is None:
        del changed[name]
    refused = read_or_refused(kind, folder, document, changed)
    if other is None or (other.dtype.kind == "f" and not np.isfinite(other).all()):
        assert refused or name.endswith("counts")


def places(value: Any, path: tuple = ()) -> list[tuple]:
    """Return the way to every value in a JSON document."""
    inner = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    return [path, *(p for key, own in inner for p in places(own, (*path, key)))]


@pytest.mark.parametrize("kind", MODELS)
@given(data=st.data())
@settings(max_examples=40)
def test_damaged_settings(folder, kind, data):
    document, arrays = content(kind, folder)
    changed = copy.deepcopy(document)
    # A model of matrices with more columns is another good one.
    free = [p for p in places(document["model"]) if p and p[-1] != "n_columns"]
    *way, last = data.draw(st.sampled_from(free))
    inner = changed["model"]
    for key in way:
        inner = inner[key]
    values = [None, -1, 0, 1, 2, 5, 2**40, 3.7, "x", [], {}, [1], True]
    if data.draw(st.booleans()):
        inner[last] = data.draw(st.sampled_from(values))
    else:
        del inner[last]
    read_or_refused(kind, folder, changed, arrays)


def change(document, **segmentation) -> dict[str, Any]:
    changed = copy.deepcopy(document)
    changed["model"]["segmentation"].update(segmentation)
    return changed


@pytest.mark.parametrize("kind", ["segments", "segments of dicts"])
@pytest.mark.parametrize(
    "limits", [[2**40, 1, 1], [10**7, 1, 1], [3.7, 1, 1], [True, 1, 1], [0, 1, 1], [1, 1, 1], None]
)
def test_limits_that_are_none(folder, kind, limits):
    document, arrays = content(kind, folder)
    assert read_or_refused(kind, folder, change(document, limits=limits), arrays)


@pytest.mark.parametrize("edge_order", [-1, 1.5, True, "x", None])
def test_edge_orders_that_are_none(folder, edge_order):
    document, arrays = content("order 3", folder)
    changed = copy.deepcopy(document)
    changed["model"]["edge_order"] = edge_order
    assert read_or_refused("order 3", folder, changed, arrays)


def test_letters_that_only_look_right(folder):
    document, arrays = content("order 3", folder)
    for name in ("patterns.letters", "patterns.offsets"):
        wide = arrays[name].astype(np.int64) + 2**32
        assert read_or_refused("order 3", folder, document, {**arrays, name: wide})
        assert read_or_refused("order 3", folder, document, {**arrays, name: arrays[name] + 0.4})


@pytest.mark.parametrize("kind", ["begin", "end", "segment", "length", "edge"])
def test_weights_of_one_kind_lost(folder, kind):
    document, arrays = content("segments", folder)
    kept = {name: array for name, array in arrays.items() if not name.startswith(f"{kind}.")}
    assert read_or_refused("segments", folder, document, kept)


def test_weights_of_a_kind_that_a_chain_does_not_have(folder):
    document, arrays = content("chain", folder)
    _, others = content("segments", folder)
    more = {name: array for name, array in others.items() if name.startswith("length.")}
    assert read_or_refused("chain", folder, document, arrays | more)


@pytest.mark.parametrize(
    ("name", "value"), [("on_infeasible", "x"), ("n_jobs", 0), ("n_jobs", "all"), ("patterns", 5)]
)
def test_parameters_that_make_no_sense(folder, name, value):
    document, arrays = content("chain", folder)
    changed = copy.deepcopy(document)
    changed["parameters"][name] = value
    assert read_or_refused("chain", folder, changed, arrays)


def test_settings_that_are_no_object(folder):
    path = folder / "bad.tw"
    write_model_file(path, [], {})  # type: ignore[arg-type]
    with pytest.raises(tw.ModelFileError, match="no JSON object"):
        tw.load(path)


@pytest.mark.parametrize("kind", ["soft", "soft segments"])
@pytest.mark.parametrize(
    "values",
    [
        *(None, "x", {"0": 1.0}, [], [1.0], [1.0, 1.0, 1.0]),
        *([value, 0.5] for value in (-1.0, np.nan, np.inf, True, None, "1")),
    ],
    ids=str,
)
def test_damaged_penalties(folder, kind, values):
    document, arrays = content(kind, folder)
    changed = {**document, "penalties": values}
    if values is None:
        del changed["penalties"]
    assert read_or_refused(kind, folder, changed, arrays)
