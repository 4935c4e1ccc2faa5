"""Features of segments against a slow reference, and refused inputs."""

from __future__ import annotations

import copy
import pickle
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import reference_features as ref
from trelliswork.errors import TemplateError
from trelliswork.features import (
    BUNDLES,
    DictEncoder,
    Lexicon,
    MatrixEncoder,
    SegmentSpec,
    TemplateEncoder,
    Templates,
    bundle,
    resolve,
    restore,
    with_segment_rules,
)

PLACES = ("New York", "york", "new york times", "ÉTÉ", "İ a")
NAMES = ("New", "Été a")
LEXICONS = {"places": Lexicon(PLACES), "names": Lexicon(NAMES, cased=True)}

words = st.one_of(
    st.sampled_from(["New", "York", "new", "Times", "ÉTÉ", "été", "Été", "a", "A", "İ", "1", ""]),
    st.text(max_size=3),
)
rules = st.lists(
    st.builds(
        ref.Whole, st.sampled_from(["text", "shape", "ends"]), st.sampled_from(["word", "pos"])
    )
    | st.builds(ref.Whole, st.just("places"), st.just("word"), st.just(PLACES))
    | st.builds(ref.Whole, st.just("names"), st.just("word"), st.just(NAMES), st.just(True)),
    min_size=1,
    max_size=5,
    unique=True,
)


@st.composite
def sentences(draw):
    tokens = draw(st.lists(words, max_size=7))
    tags = draw(st.lists(st.sampled_from("NV"), min_size=len(tokens), max_size=len(tokens)))
    return {"word": tokens, "pos": tags}


@st.composite
def segmented(draw, max_duration):
    """A corpus, and some of its segments as (sentence, start, end)."""
    corpus = draw(st.lists(sentences(), max_size=4))
    gold = []
    for b, sentence in enumerate(corpus):
        start = 0
        while start < len(sentence["word"]):
            longest = min(max_duration, len(sentence["word"]) - start)
            end = start + draw(st.integers(1, longest))
            if draw(st.integers(0, 4)):  # a sentence may be labelled in part
                gold.append((b, start, end))
            start = end
    return corpus, gold


def as_sentences(corpus):
    return [SimpleNamespace(tokens=tuple(s["word"]), columns=s) for s in corpus]


def spec(corpus, gold, max_duration):
    offsets = np.cumsum([0, *(len(s["word"]) for s in corpus)])
    starts = np.array([offsets[b] + start for b, start, _ in gold], np.int64)
    ends = np.array([offsets[b] + end for b, _, end in gold], np.int64)
    return SegmentSpec(starts, ends, max_duration)


def expected_entries(rules, corpus, max_duration, ids):
    """Entries by last token, a list of (duration, feature id) each."""
    rows = []
    for sentence in corpus:
        for last in range(len(sentence["word"])):
            found = []
            for duration in range(1, min(max_duration, last + 1) + 1):
                features = [r.feature(sentence, last - duration + 1, last + 1) for r in rules]
                found += [(duration, ids[f]) for f in features if f in ids]
            rows.append(found)
    return rows


def entries(matrix):
    pairs = list(zip(matrix.durations.tolist(), matrix.indices.tolist(), strict=True))
    bounds = zip(matrix.offsets[:-1], matrix.offsets[1:], strict=True)
    return [pairs[a:b] for a, b in bounds]


@settings(max_examples=150, deadline=None)
@given(rules, st.integers(1, 5), st.integers(1, 3), st.data())
def test_segments_agree_with_reference(rules, max_duration, min_count, data):
    train, gold = data.draw(segmented(max_duration))
    test = data.draw(st.lists(sentences(), max_size=3))
    text = "\n".join(rule.text() for rule in rules)
    encoder = TemplateEncoder(Templates.parse(text, lexicons=LEXICONS))
    encoded = encoder.fit(
        as_sentences(train), min_count=min_count, segments=spec(train, gold, max_duration)
    )
    learned = [rule for rule in rules if not rule.phrases]
    counts = Counter(
        (rule, rule.feature(train[b], start, end)) for b, start, end in gold for rule in learned
    )
    kept = [(rule, (rule.text(), ())) for rule in rules if rule.phrases]
    kept += [known for known, count in counts.items() if count >= min_count]
    names = [rule.name(feature) for rule, feature in kept]
    ids = {feature: i for i, (_, feature) in enumerate(kept)}
    assert encoder.segment_feature_names() == names
    assert encoder.feature_names() == []
    assert encoded.begin is None
    assert encoded.end is None
    assert encoded.segment.n_features == len(names)
    assert entries(encoded.segment) == expected_entries(rules, train, max_duration, ids)
    assert np.all(encoded.segment.starts >= 0)

    wanted = expected_entries(rules, test, max_duration, ids)
    rebuilt = restore(encoder.settings(), encoder.arrays())
    for again in (encoder, rebuilt, pickle.loads(pickle.dumps(encoder))):
        for n_jobs in (1, 3):
            matrix = again.transform(as_sentences(test), n_jobs=n_jobs).segment
            assert entries(matrix) == wanted
    assert rebuilt.segment_feature_names() == names

    keep = data.draw(st.lists(st.booleans(), min_size=len(names), max_size=len(names)))
    smaller = encoder.select([], keep_segment=keep)
    left = {f: i for i, (f, k) in enumerate(zip(ids, keep, strict=True)) if k}
    renumbered = {feature: i for i, feature in enumerate(left)}
    assert smaller.segment_feature_names() == [names[i] for i in left.values()]
    matrix = smaller.transform(as_sentences(test)).segment
    assert entries(matrix) == expected_entries(rules, test, max_duration, renumbered)
    again = restore(smaller.settings(), smaller.arrays())
    assert again.segment_feature_names() == smaller.segment_feature_names()


def corpus_of_cities():
    sentences = [["in", "New", "York", "and", "Rome"], [], ["new", "york"]]
    return sentences, SegmentSpec(np.array([1, 4, 5]), np.array([3, 5, 7]), 3)


def test_begins_and_ends_have_their_own_features():
    text = "lower(word)\nbegin: lower(word[-1]) | short_shape(word)\nend: lower(word[1])\nend: bias"
    sentences, segments = corpus_of_cities()
    encoder = TemplateEncoder(text)
    encoded = encoder.fit(sentences, segments=segments)
    assert encoded.state.shape == (7, 5)
    assert encoded.edge is None
    assert encoded.segment is None
    # The same rules on tokens, in encoders of their own.
    for part, names, rule in (
        (encoded.begin, encoder.begin_feature_names(), "lower(word[-1]) | short_shape(word)"),
        (encoded.end, encoder.end_feature_names(), "lower(word[1])\nbias"),
    ):
        alone = TemplateEncoder(rule)
        state = alone.fit(sentences).state
        assert np.array_equal(part.indptr, state.indptr)
        assert np.array_equal(part.indices, state.indices)
        assert [name.partition(": ")[2] for name in names] == alone.feature_names()
    assert encoder.begin_feature_names()[0] == "begin: lower(word[-1])=_B-1|short_shape(word[0])=x"
    again = copy.deepcopy(encoder).transform(sentences, n_jobs=2)
    assert np.array_equal(again.begin.indices, encoded.begin.indices)
    assert np.array_equal(again.end.indices, encoded.end.indices)
    smaller = encoder.select(np.ones(5), keep_begin=np.zeros(6), keep_end=[False, True] * 3)
    assert smaller.begin_feature_names() == []
    assert smaller.end_feature_names() == encoder.end_feature_names()[1::2]


def test_min_count_reaches_every_part():
    sentences, segments = corpus_of_cities()
    encoder = TemplateEncoder("begin: lower(word)\nend: lower(word)\nsegment: text")
    encoder.fit(sentences, min_count=2, segments=segments)
    assert encoder.begin_feature_names() == [
        "begin: lower(word[0])=new",
        "begin: lower(word[0])=york",
    ]
    assert encoder.end_feature_names() == ["end: lower(word[0])=new", "end: lower(word[0])=york"]
    assert encoder.segment_feature_names() == ["segment: text=new york"]


def test_a_chain_has_no_use_for_rules_of_segments():
    for rule in ("begin: word", "end: word", "segment: text"):
        with pytest.raises(ValueError, match="expected max_segment > 1"):
            TemplateEncoder(f"word\n{rule}").fit([["a"]])
    # Segments without such rules are fine, and so are encoders that know tokens only.
    one = SegmentSpec(np.array([0]), np.array([1]), 2)
    for encoder, given_token in (
        (TemplateEncoder("word"), "a"),
        (DictEncoder(), {"a": 1.0}),
        (MatrixEncoder(), [1.0]),
    ):
        encoded = encoder.fit([[given_token]], segments=one)
        assert encoded.begin is encoded.end is encoded.segment is None
        assert encoder.begin_feature_names() == encoder.end_feature_names() == []
        assert encoder.segment_feature_names() == []


@pytest.mark.parametrize(
    ("starts", "ends", "longest", "message"),
    [
        ([0], [4], 3, "segment 0, tokens 0:4: longer than 3 tokens"),
        ([0, 3], [1, 6], 9, "segment 1: tokens 3:6 are no part of one sequence"),
        ([2], [2], 9, "segment 0: tokens 2:2 are no part"),
        ([-1], [1], 9, "segment 0: tokens -1:1 are no part"),
        ([6], [8], 9, "segment 0: tokens 6:8 are no part"),
        ([7], [8], 9, "segment 0: tokens 7:8 are no part"),
        ([0, 1], [1], 9, "as many segment starts as ends"),
        ([0], [1], 0, "a longest segment of at least one token"),
    ],
)
def test_impossible_segments_are_named(starts, ends, longest, message):
    sentences, _ = corpus_of_cities()
    segments = SegmentSpec(np.array(starts), np.array(ends), longest)
    with pytest.raises(ValueError, match=message):
        TemplateEncoder("segment: text").fit(sentences, segments=segments)


def small_encoder():
    sentences, segments = corpus_of_cities()
    text = 'lexicon x = "rome"\nword\nsegment: text\nsegment: in(x)\nsegment: ends'
    encoder = TemplateEncoder(text)
    encoder.fit(sentences, segments=segments)
    return encoder


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_corrupt_arrays_are_refused_or_harmless(data):
    encoder = small_encoder()
    arrays = {name: array.copy() for name, array in encoder.arrays().items()}
    name = data.draw(st.sampled_from([n for n in sorted(arrays) if n.startswith("segment.")]))
    array = arrays[name]
    how = data.draw(st.sampled_from(["change", "cut", "grow", "missing"]))
    if how == "change" and array.size:
        at = data.draw(st.integers(0, array.size - 1))
        info = np.iinfo(array.dtype)
        array[at] = data.draw(
            st.one_of(st.integers(max(-1, info.min), 9), st.integers(info.min, info.max))
        )
    elif how == "cut":
        arrays[name] = array[: data.draw(st.integers(0, array.size))]
    elif how == "grow":
        arrays[name] = np.concatenate([array, array[:1]])
    else:
        del arrays[name]
    try:
        rebuilt = restore(encoder.settings(), arrays)
        rebuilt.segment_feature_names()
    except ValueError:
        return
    segment = rebuilt.transform([["New", "York", "Rome"]]).segment
    assert segment.indices.size == 0 or segment.indices.max() < segment.n_features


def test_the_longest_duration_is_kept_and_checked():
    encoder = small_encoder()
    assert encoder.settings()["max_duration"] == 3
    for wrong in (None, 0, "3", 2**40):
        with pytest.raises(ValueError, match="most tokens of a segment in max_duration"):
            restore(encoder.settings() | {"max_duration": wrong}, encoder.arrays())
    with pytest.raises(ValueError, match="every feature"):
        encoder.select(np.ones(7), keep_segment=[True])
    with pytest.raises(ValueError, match="a part that the templates do not describe"):
        encoder.select(np.ones(7), keep_begin=[True])


def test_rules_are_read_and_written():
    text = (
        'lexicon x = "a b"\nbegin: word\nend: word[0] | word[1]\nsegment: text\n'
        'segment: shape(pos)\nsegment: ends("p t")\nsegment: in(x)\nsegment: in(x, pos)\n'
    )
    templates = Templates.parse(text)
    assert Templates.parse(str(templates)) == templates
    assert [rule.name for rule in templates.segment_rules] == [
        "segment: text",
        "segment: shape(pos)",
        'segment: ends("p t")',
        "segment: in(x)",
        "segment: in(x, pos)",
    ]
    assert templates.has_segments
    assert not templates.has_edges
    assert templates.program.columns == (None, "pos", "p t")
    assert len(Templates.parse("segment: text\nsegment: text(word)").segment_rules) == 1
    # A column may be called as a part is.
    assert not Templates.parse("begin[0]\nsegment").has_segments


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("segment: lower(word)", r"1:10: expected text, shape, ends or in\(…\), got 'lower'"),
        ("segment:", r"1:9: expected text, shape, ends or in\(…\), got the end of the line"),
        ("segment: text[0]", r"1:14: expected the end of the line, got '\['"),
        ("segment: text | shape", r"1:15: expected the end of the line, got '\|'"),
        ("segment: text()", r"1:15: expected the name of a column, got '\)'"),
        ("segment: in(x)", "1:13: unknown lexicon 'x'"),
        ("begin:", "1:7: expected a column or a function, got the end"),
    ],
)
def test_errors_point_at_the_place(text, message):
    with pytest.raises(TemplateError, match=message):
        Templates.parse(text)


def test_bundles_with_rules_of_segments():
    for name in BUNDLES:
        templates = with_segment_rules(bundle(name))
        assert [rule.lexicon for rule in templates.segment_rules if rule.lexicon] == list(
            bundle(name).lexicons
        )
        assert templates.templates[: len(bundle(name).templates)] == bundle(name).templates
        assert with_segment_rules(templates) is templates
        assert resolve(name, segments=True) == templates
    assert resolve(None, segments=True) == with_segment_rules(bundle("ner"))
    assert not resolve("word[0]\n", segments=True).has_segments
    assert with_segment_rules(Templates.parse("pos[0]")).program.begin is not None
    with pytest.raises(TemplateError, match=r"a file of CRF\+\+ or Wapiti"):
        with_segment_rules(Templates.parse("U01:%x[0,0]"))
