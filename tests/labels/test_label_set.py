import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from trelliswork.data.corpus import Corpus, read_conll
from trelliswork.errors import LabelError
from trelliswork.labels.label_set import LabelSet, convert, infer_scheme
from trelliswork.labels.schemes import continued_levels, parse, violations
from trelliswork.labels.segments import spans, tag_spans

FLAT = ["iob1", "bio", "bioes", "bilou"]
ALPHABETS = {
    "plain": ["O", "a", "b"],
    "iob1": ["O", "B-a", "I-a", "B-b", "I-b"],
    "bio": ["O", "B-a", "I-a", "B-b", "I-b"],
    "bioes": ["O", *(f"{tag}-{name}" for tag in "BIES" for name in "ab")],
    "bilou": ["O", *(f"{tag}-{name}" for tag in "BILU" for name in "ab")],
    "path": ["O", *(f"{t}-a" for t in "BI"), *(f"{t}-a/{u}-b" for t in "BI" for u in "BI")],
}


@st.composite
def segmentations(draw):
    """Draw a length and flat, disjoint segments."""
    pieces = draw(st.lists(st.tuples(st.sampled_from(["a", "b", "x-y", None]), st.integers(1, 3))))
    start, segments = 0, []
    for name, length in pieces:
        if name is not None:
            segments.append((start, start + length, name))
        start += length
    return start, segments


def label_lists(scheme):
    return st.lists(st.sampled_from(ALPHABETS[scheme]), max_size=8)


def test_ids_both_ways():
    labels = LabelSet(["O", "B-x", "I-x"], scheme="bio")
    assert len(labels) == 3
    assert list(labels) == ["O", "B-x", "I-x"]
    assert "B-x" in labels
    assert labels.id("I-x") == 2
    ids = labels.encode(["B-x", None, {"O", "B-x"}, "O"])
    assert ids.dtype == np.int32
    assert ids.tolist() == [1, -1, -1, 0]
    assert labels.decode(np.array([1, 2, 0])) == ["B-x", "I-x", "O"]
    assert labels.allowed(["I-x", None, frozenset({"O", "B-x"})]).tolist() == [
        [False, False, True],
        [True, True, True],
        [True, True, False],
    ]


def test_equality_and_saving():
    labels = LabelSet(["a", "O"], outside="O")
    assert labels == LabelSet(("a", "O"), outside="O")
    assert labels != LabelSet(("a", "O"))
    assert hash(labels) == hash(LabelSet(("a", "O"), outside="O"))
    assert LabelSet.from_dict(labels.to_dict()) == labels
    assert pickle.loads(pickle.dumps(labels)) == labels


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (([],), LabelError, "at least one label"),
        ((["a", "a"],), LabelError, "'a' twice"),
        (("ab",), TypeError, "got the string 'ab'"),
        (([1],), TypeError, "got int 1"),
        ((["a"], "bio"), LabelError, "'a' is no bio label: expected O or B-name, I-name"),
        ((["B-"], "bio"), LabelError, "'B-' is no bio label"),
        ((["S-a"], "bilou"), LabelError, "'S-a' is no bilou label"),
        ((["B-a/b"], "path"), LabelError, "'B-a/b' is no path label"),
        ((["a"], "iob3"), LabelError, "got 'iob3'"),
        ((["O"], "bio", "O"), LabelError, "outside"),
    ],
)
def test_bad_label_sets_are_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        LabelSet(*arguments)


def test_unknown_labels_are_named():
    labels = LabelSet([f"x{i}" for i in range(20)])
    with pytest.raises(LabelError, match=r"position 1: unknown label 'y'.*and 12 more"):
        labels.encode(["x0", "y"])
    with pytest.raises(LabelError, match="position 0: unknown label 'y'"):
        labels.allowed([frozenset({"y"})])
    with pytest.raises(LabelError, match="position 0: unknown label 'y'"):
        labels.validate(["y"])
    with pytest.raises(LabelError, match="Unknown label 'y'"):
        labels.id("y")
    with pytest.raises(LabelError, match="position 0: expected an id of 0 to 19, got -1"):
        labels.decode([-1])
    assert not labels.is_valid(["y"])


def test_infer_from_a_corpus():
    corpus = Corpus.from_lists([["a", "b"], ["c"]], [["B-x", "I-x"], [{"O", "B-y"}]])
    assert LabelSet.infer(corpus) == LabelSet(["B-x", "B-y", "I-x", "O"], "bio")
    assert LabelSet.infer([["t", "O"]], outside="O") == LabelSet(["O", "t"], outside="O")


@pytest.mark.parametrize(
    ("sequences", "scheme"),
    [
        ([["O", "author"]], "plain"),
        ([["O", "B-a", "I-a"]], "bio"),
        ([["O", "I-a", "B-a"]], "iob1"),
        ([["I-a", "I-b"]], "iob1"),
        ([["O", "I-a", "O", "B-a"]], "bio"),
        ([["B-a", "E-a"]], "bioes"),
        ([["O", "U-a"]], "bilou"),
        ([["S-a", "U-a"]], "plain"),
        ([["B-a/B-b", "O"]], "path"),
        ([["a/b", "O"]], "plain"),
        ([["O"]], "bio"),
        ([[]], "plain"),
        ([["B-a", None, "I-a", frozenset({"I-a", "O"})]], "bio"),
    ],
)
def test_infer_scheme(sequences, scheme):
    assert infer_scheme(sequences) == scheme


@pytest.mark.parametrize(
    ("scheme", "labels", "position", "why"),
    [
        ("bio", ["O", "I-a"], 1, "'I-a' after 'O' breaks bio: .* needs B-a"),
        ("bio", ["I-a"], 0, "'I-a' after the start"),
        ("bio", ["B-a", "I-b"], 1, "needs B-b"),
        ("iob1", ["O", "B-a"], 1, "use I-a"),
        ("iob1", ["I-b", "B-a"], 1, "use I-a"),
        ("bioes", ["B-a", "O"], 1, "expected I-a or E-a"),
        ("bioes", ["S-a", "E-a"], 1, "begins with B-a or S-a"),
        ("bilou", ["B-a", "I-a"], 1, "open at the end, expected L-a or U-a"),
        ("path", ["B-a/B-b", "B-a/I-b"], 1, "needs B-b"),
        ("path", ["B-a", "I-a/I-b"], 1, "needs B-b"),
        ("path", ["B-a/B-b", "I-a", "I-a/I-b"], 2, "needs B-b"),
    ],
)
def test_validate_says_where_and_why(scheme, labels, position, why):
    label_set = LabelSet(ALPHABETS[scheme], scheme)
    with pytest.raises(LabelError, match=f"position {position}: .*{why}"):
        label_set.validate(labels)
    assert not label_set.is_valid(labels)


@pytest.mark.parametrize(
    ("scheme", "labels"),
    [
        ("bio", ["B-a", "I-a", "B-a", "O", "B-b"]),
        ("bio", [None, "I-a", None, "I-b"]),
        ("iob1", ["I-a", "B-a", "I-a", "I-b", "O"]),
        ("bioes", ["B-a", "I-a", "E-a", "S-a", "O", "B-b", "E-b"]),
        ("path", ["B-a/B-b", "I-a/I-b", "I-a/B-b", "I-a", "B-a", "O"]),
        ("plain", ["a", "b", "a"]),
        ("bio", []),
    ],
)
def test_valid_sequences(scheme, labels):
    label_set = LabelSet(ALPHABETS[scheme], scheme)
    label_set.validate(labels)
    assert label_set.is_valid(labels)


@pytest.mark.parametrize("scheme", ALPHABETS)
def test_transitions_agree_with_validate(scheme):
    labels = LabelSet(ALPHABETS[scheme], scheme)
    start, step, end = labels.transitions
    for sequence in itertools.product(range(len(labels)), repeat=3):
        a, b, c = sequence
        expected = start[a] and step[a, b] and step[b, c] and end[c]
        assert labels.is_valid(labels.decode(sequence)) == expected
    with pytest.raises(ValueError, match="read-only"):
        step[0, 0] = False


@pytest.mark.parametrize(
    ("labels", "lenient", "strict"),
    [
        (["B-a", "I-a", "O"], [(0, 2, "a")], [(0, 2, "a")]),
        (["O", "I-a", "I-a"], [(1, 3, "a")], []),
        (["B-a", "I-b", "I-b"], [(0, 1, "a"), (1, 3, "b")], [(0, 1, "a")]),
        (["B-a", "B-a"], [(0, 1, "a"), (1, 2, "a")], [(0, 1, "a"), (1, 2, "a")]),
        ([None, "I-a", "B-a"], [(1, 2, "a"), (2, 3, "a")], [(2, 3, "a")]),
    ],
)
def test_bio_spans(labels, lenient, strict):
    assert spans(labels, "bio") == lenient
    assert spans(labels, "bio", strict=True) == strict


def test_strict_bioes_needs_both_ends():
    labels = ["B-a", "I-a", "O", "B-a", "E-a", "E-a", "S-b", "I-b", "B-a", "B-a", "E-a"]
    assert spans(labels, "bioes", strict=True) == [(3, 5, "a"), (6, 7, "b"), (9, 11, "a")]
    assert len(spans(labels, "bioes")) == 7


def test_strict_iob1():
    labels = ["B-a", "O", "I-a", "B-a", "I-b", "B-a"]
    assert spans(labels, "iob1", strict=True) == [(2, 3, "a"), (3, 4, "a"), (4, 5, "b")]


def test_plain_spans_are_maximal_runs():
    labels = ["a", "a", "O", "O", "b"]
    assert spans(labels, "plain") == [(0, 2, "a"), (2, 4, "O"), (4, 5, "b")]
    assert spans(labels, "plain", outside="O") == [(0, 2, "a"), (4, 5, "b")]


def test_path_spans():
    labels = [
        "B-authors/B-person/B-last",
        "I-authors/I-person/B-first",
        "I-authors/B-person/B-last",
        "I-authors",
        "B-authors/I-person",
        "O",
    ]
    assert spans(labels, "path") == [
        (0, 4, "authors"),
        (0, 2, "authors/person"),
        (0, 1, "authors/person/last"),
        (1, 2, "authors/person/first"),
        (2, 3, "authors/person"),
        (2, 3, "authors/person/last"),
        (4, 5, "authors"),
        (4, 5, "authors/person"),
    ]
    assert spans(labels, "path", level=1) == [(0, 4, "authors"), (4, 5, "authors")]
    assert (4, 5, "authors/person") not in spans(labels, "path", strict=True)
    with pytest.raises(ValueError, match="level"):
        spans(labels, "path", level=0)
    with pytest.raises(ValueError, match="one level"):
        spans(["B-a"], "bio", level=2)


@pytest.mark.parametrize("scheme", ALPHABETS)
@given(st.data())
def test_segments_begin_where_begins_says(scheme, data):
    labels = data.draw(label_lists(scheme))
    label_set = LabelSet(ALPHABETS[scheme], scheme)
    begun = [
        (position, name)
        for position, label in enumerate(labels)
        for name in label_set.begins(labels[position - 1] if position else None, label)
    ]
    found = label_set.spans(labels)
    assert begun == [(span.start, span.name) for span in found]
    assert {span.name for span in found} <= set(label_set.segment_names)


@pytest.mark.parametrize("scheme", ALPHABETS)
@given(st.data())
def test_strict_and_lenient_agree_on_valid_sequences(scheme, data):
    labels = data.draw(label_lists(scheme))
    lenient, strict = spans(labels, scheme), spans(labels, scheme, strict=True)
    assert set(strict) <= set(lenient)
    if not violations(labels, scheme):
        assert strict == lenient


@pytest.mark.parametrize("scheme", FLAT)
@given(segmentation=segmentations())
def test_tags_and_spans_are_inverse(scheme, segmentation):
    length, segments = segmentation
    labels = tag_spans(segments, length, scheme)
    assert not violations(labels, scheme)
    assert spans(labels, scheme, strict=True) == segments


@pytest.mark.parametrize(("source", "target"), list(itertools.product(FLAT, FLAT)))
@settings(max_examples=25)
@given(segmentation=segmentations())
def test_conversion_keeps_segments(source, target, segmentation):
    length, segments = segmentation
    labels = tag_spans(segments, length, source)
    converted = convert(labels, source, target)
    assert spans(converted, target) == segments
    assert convert(converted, target, source) == labels


def test_conversion_from_and_to_plain():
    assert convert(["a", "a", "O", "b"], "plain", "bioes") == ["B-a", "E-a", "O", "S-b"]
    assert convert(["B-a", "I-a", "O", "B-b"], "bio", "plain") == ["a", "a", "O", "b"]


def test_conversion_repairs_only_when_asked():
    with pytest.raises(LabelError, match="position 1"):
        convert(["O", "I-a"], "bio", "bioes")
    assert convert(["O", "I-a", "I-b"], "bio", "bio", repair=True) == ["O", "B-a", "B-b"]
    with pytest.raises(LabelError, match="paths nest"):
        convert(["B-a/B-b"], "path", "bio")


@pytest.mark.parametrize("segment", [(0, 0, "a"), (0, 4, "a"), (-1, 1, "a")])
def test_bad_segments_are_refused(segment):
    with pytest.raises(LabelError, match="overlaps another or leaves"):
        tag_spans([segment], 3, "bio")


def test_real_paths_are_valid(data_dir):
    corpus = read_conll(data_dir / "umass_citation_hier" / "train.conll")
    labels = LabelSet.infer(corpus)
    assert labels.scheme == "path"
    assert len(labels) == 126
    assert "authors/person/person-last" in labels.segment_names
    assert all(map(labels.is_valid, corpus.labels))


@given(st.data())
def test_segments_are_where_one_begins_and_none_goes_on(data):
    scheme = data.draw(st.sampled_from(["plain", *FLAT]))
    labels = data.draw(st.lists(st.sampled_from([None, *ALPHABETS[scheme]])))
    expected, start, before = [], 0, ()
    for position, label in enumerate([*labels, None]):
        levels = () if label is None else parse(label, scheme)
        if before and not continued_levels(before, levels):
            expected.append((start, position, before[0][1]))
        if levels and not continued_levels(before, levels):
            start = position
        before = levels
    assert spans(labels, scheme) == expected
