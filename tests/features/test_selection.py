"""Encoders of fewer features: nothing else changes, and templates without features are gone."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import reference_features as ref
from feature_cases import PHRASES, as_sentence, sentences, template_lists, template_text
from template_cases import EVERYTHING
from trelliswork.errors import TemplateError
from trelliswork.features import (
    BUNDLES,
    SegmentSpec,
    TemplateEncoder,
    Templates,
    bundle,
    restore,
    with_segment_rules,
)

PARTS = ("state", "edge", "begin", "end", "segment")
NAMES = {
    "state": TemplateEncoder.feature_names,
    "edge": TemplateEncoder.edge_feature_names,
    "begin": TemplateEncoder.begin_feature_names,
    "end": TemplateEncoder.end_feature_names,
    "segment": TemplateEncoder.segment_feature_names,
}
few_templates = st.one_of(st.just([]), template_lists)
whole_rules = st.lists(
    st.sampled_from(
        [
            ref.Whole("text"),
            ref.Whole("shape"),
            ref.Whole("ends", "pos"),
            ref.Whole("places", "word", PHRASES),
        ]
    ),
    max_size=4,
    unique=True,
)


def draw_masks(data, encoder):
    """Masks by part: some templates lose everything, the others lose some."""
    masks = {}
    for part, (names, template_of) in encoder.feature_templates().items():
        dead = data.draw(st.sets(st.integers(0, max(len(names) - 1, 0))))
        drawn = st.lists(
            st.sampled_from([True, True, False]),
            min_size=template_of.size,
            max_size=template_of.size,
        )
        masks[part] = np.array(data.draw(drawn), bool) & ~np.isin(template_of, list(dead))
    return masks


def select(encoder, masks):
    parts = {f"keep_{part}": mask for part, mask in masks.items()}
    return encoder.select(parts.pop("keep_state"), parts.pop("keep_edge", None), **parts)


def assert_same_features(encoder, smaller, masks, corpus):
    """Compare an encoder with a smaller one: names and extracted features."""
    whole, part_of_it = encoder.transform(corpus), smaller.transform(corpus)
    counts = smaller.feature_counts()
    for part, mask in masks.items():
        kept = [n for n, k in zip(NAMES[part](encoder), mask, strict=True) if k]
        assert NAMES[part](smaller) == kept
        assert counts.get(part, 0) == len(kept)
        every, some = getattr(whole, part), getattr(part_of_it, part)
        is_kept = mask[every.indices]
        expected = (np.cumsum(mask) - 1)[every.indices[is_kept]]
        if some is None:
            assert not kept
            continue
        assert some.n_features == len(kept)
        assert np.array_equal(some.indices, expected)
        bounds = every.offsets if part == "segment" else every.indptr
        smaller_bounds = some.offsets if part == "segment" else some.indptr
        assert np.array_equal(smaller_bounds, np.concatenate([[0], np.cumsum(is_kept)])[bounds])
        if part == "segment":
            assert np.array_equal(some.durations, every.durations[is_kept])


def assert_stored(smaller, masks, encoder, corpus):
    """Compare a smaller encoder with its copy from a file."""
    rebuilt = restore(json.loads(json.dumps(smaller.settings())), smaller.arrays())
    assert rebuilt.templates == smaller.templates
    assert str(rebuilt.templates) == str(smaller.templates)
    assert_same_features(encoder, rebuilt, masks, corpus)
    for part, (names, template_of) in smaller.feature_templates().items():
        again, template_of_again = rebuilt.feature_templates()[part]
        assert again == names
        assert np.array_equal(template_of_again, template_of)


def fit_with_segments(encoder, corpus, sizes):
    """Fit on segments of two tokens, or one where a sentence ends."""
    bounds = np.cumsum([0, *sizes])
    gold = [(s, min(s + 2, b)) for a, b in pairwise(bounds) for s in range(a, b, 2)]
    starts, stops = np.array(gold, np.int64).reshape(-1, 2).T
    encoder.fit(corpus, segments=SegmentSpec(starts, stops, 2))


def written(terms, part):
    text = "|".join(term.text() for term in terms)
    return text if part == "state" else f"{part}: {text}"


def names_made(terms, part, corpus, *, pad):
    """Return the names of all features that a template makes in a corpus."""
    found = set()
    for sentence in corpus:
        rows = ref.features([terms], sentence, pad=pad)
        for row in rows[1:] if part == "edge" else rows:
            found.update(f"{part}: {n}" if part in ("begin", "end") else n for n in row)
    return found


@settings(max_examples=150, deadline=None)
@given(
    template_lists,
    few_templates,
    few_templates,
    few_templates,
    whole_rules,
    st.lists(sentences(), max_size=3),
    st.lists(sentences(), max_size=3),
    st.booleans(),
    st.data(),
)
def test_selection(state, edge, begin, end, whole, train, test, pad, data):
    of_part = {"state": state, "edge": edge, "begin": begin, "end": end}
    lines = [written(terms, part) for part in ("begin", "end") for terms in of_part[part]]
    lines += [rule.text() for rule in whole]
    text = template_text(state, pad=pad, edges=edge) + "\n" + "\n".join(lines)
    encoder = TemplateEncoder(text)
    corpus = [as_sentence(s) for s in train]
    fit_with_segments(encoder, corpus, [len(s["word"]) for s in train])
    of_feature = encoder.feature_templates()
    assert {part: own[1].size for part, own in of_feature.items()} == encoder.feature_counts()
    for part, (names, template_of) in of_feature.items():
        assert template_of.dtype == np.int32
        if part == "segment":
            assert names == [rule.text() for rule in whole]
            assert all(
                name.startswith(names[i])
                for name, i in zip(NAMES[part](encoder), template_of, strict=True)
            )
        else:
            assert names == [written(terms, part) for terms in of_part[part]]
            made = [names_made(terms, part, train, pad=pad) for terms in of_part[part]]
            assert all(
                name in made[i] for name, i in zip(NAMES[part](encoder), template_of, strict=True)
            )

    masks = draw_masks(data, encoder)
    smaller = select(encoder, masks)
    fresh = [as_sentence(s) for s in test]
    assert_same_features(encoder, smaller, masks, fresh)
    assert_stored(smaller, masks, encoder, fresh)
    live = {
        part: [names[i] for i in np.unique(template_of[masks[part]])]
        for part, (names, template_of) in of_feature.items()
    }
    left = [*smaller.templates.names, *(rule.name for rule in smaller.templates.segment_rules)]
    expected = [name for part in PARTS for name in live.get(part, [])]
    assert left == (expected or [written(state[0], "state")])
    for part, (names, template_of) in smaller.feature_templates().items():
        assert names == (live[part] if expected else left)
        numbers = np.unique(of_feature[part][1][masks[part]], return_inverse=True)[1]
        assert np.array_equal(template_of, numbers)
    assert smaller.feature_counts().keys() == {"state", *(part for part in live if live[part])}


PATTERN_LINES = [
    "U:%x[-1,0]", "U:%x[0,0]", "U:%x[ 2,0]", "U:%x[0,1]", "U1:%x[-2,0]/%x[0,1]",
    "U1:%x[-1,0]/%x[1,1]", "U1:%x[-1,0]/%x[0,1]", "U", "U#2", "B", "B1:%x[0,1]", "B1:%x[-1,1]",
    "*", "*:%X[0,0]", "*:%X[-2,0]", "*:%x[-1,0]", 'U:%t[0,0,"^\\u"]', 'U:%M[0,1,".?$"] # "',
]  # fmt: skip


def shared(line):
    """Return the common part of lines that share their features."""
    rows = [int(row) for row in re.findall(r"%.\[ ?(-?\d+)", line)]
    text = re.sub(r"(%.\[) ?-?\d+", r"\1", line)
    return text, tuple(row - rows[0] for row in rows)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.sampled_from(PATTERN_LINES), max_size=8).filter(lambda x: "%" in str(x)),
    st.lists(sentences(), max_size=3),
    st.lists(sentences(), max_size=3),
    st.data(),
)
def test_selection_from_pattern_files(lines, train, test, data):
    encoder = TemplateEncoder("\n".join(lines))
    encoder.fit([as_sentence(s) for s in train])
    once = list(dict.fromkeys(lines))
    made_by = {
        "state": [line for line in once if line[0] in "U*"],
        "edge": [line for line in once if line[0] in "B*" and "%" in line],
    }
    of_feature = encoder.feature_templates()
    for part, (names, template_of) in of_feature.items():
        assert names == made_by[part]
        first = [names.index(next(n for n in names if shared(n) == shared(m))) for m in names]
        assert np.array_equal(np.take(first, template_of), template_of)

    masks = draw_masks(data, encoder)
    smaller = select(encoder, masks)
    fresh = [as_sentence(s) for s in test]
    live = {
        shared(names[i])
        for part, (names, template_of) in of_feature.items()
        for i in template_of[masks[part]]
    }
    assert smaller.templates.plain_transitions == encoder.templates.plain_transitions
    kept = [line for line in once if shared(line) in live]
    if not any("%" in line for line in kept):
        with_macro = next(line for line in once if "%" in line)
        kept = [line for line in once if line in kept or line == with_macro]
    names = dict.fromkeys(smaller.templates.names)
    assert sorted(names) == sorted(kept)
    assert_same_features(encoder, smaller, masks, fresh)
    assert_stored(smaller, masks, encoder, fresh)


def test_a_bag_of_words_keeps_all_its_lines():
    encoder = TemplateEncoder("U:%x[-1,0]\nU:%x[0,0]\nU2:%x[2,0]\n*:%x[0,0]\nB")
    encoder.fit([["a", "b"]])
    names = encoder.feature_names()
    lines, line_of = encoder.feature_templates()["state"]
    assert lines == ["U:%x[-1,0]", "U:%x[0,0]", "U2:%x[2,0]", "*:%x[0,0]"]
    assert dict(zip(names, line_of.tolist(), strict=True)) == {
        "U:_B-1": 0, "U:a": 0, "U:b": 0, "U2:_B+1": 2, "U2:_B+2": 2, "*:a": 3, "*:b": 3,
    }  # fmt: skip
    # No transition of a "*" line is kept, but its name is that of a line for both.
    smaller = encoder.select([n in ("U:b", "*:a") for n in names], [False])
    assert str(smaller.templates) == "U:%x[-1,0]\nU:%x[0,0]\n*:%x[0,0]\nB\n"
    assert smaller.feature_counts() == {"state": 2, "edge": 0}
    assert smaller.transform([["b", "b", "a"]]).state.indices.tolist() == [1, 1, 1, 1, 0]
    smaller = encoder.select([n == "U2:_B+1" for n in names], [False])
    assert str(smaller.templates) == "U2:%x[2,0]\nB\n"
    assert smaller.feature_names() == ["U2:_B+1"]


def test_encoders_without_features():
    encoder = TemplateEncoder('lexicon x = "b"\nword[-1..1]\nin(x, word)\nedge: word')
    encoder.fit([["a", "b"]])
    nothing = encoder.select(np.zeros(len(encoder.feature_names())), [False])
    assert str(nothing.templates) == "word[-1]\n"
    assert nothing.feature_counts() == {"state": 0}
    assert nothing.transform([["a"]]).state.indices.size == 0
    spans = TemplateEncoder("segment: text\nsegment: shape")
    spans.fit([["a"]], segments=SegmentSpec(np.array([0]), np.array([1]), 2))
    assert str(spans.select([], keep_segment=[False, False]).templates) == "segment: text\n"


def test_a_shorter_reach_leaves_the_ends_of_a_sentence_where_they_are():
    encoder = TemplateEncoder("word[-3..3]\nword[-1] | word[1]")
    encoder.fit([["a", "b"]])
    kept = ["word[-1]=_B-1", "word[1]=_B+1", "word[-1]=a|word[1]=_B+1"]
    smaller = encoder.select([name in kept for name in encoder.feature_names()])
    assert str(smaller.templates) == "word[-1]\nword[1]\nword[-1] | word[1]\n"
    assert smaller.feature_names() == kept
    assert smaller.transform([["x", "a", "y"], ["z"]]).state.indices.tolist() == [0, 1, 2, 0, 1]


def test_columns_that_nobody_reads_are_not_asked_for():
    encoder = TemplateEncoder("bias\nword[0] | pos[0]\npos[1]")
    encoder.fit([[("a", "N")]])
    assert encoder.feature_names()[0] == "bias"
    smaller = encoder.select([True, False, False])
    assert smaller.templates.program.columns == ()
    assert smaller.transform([["x", "y"], []]).state.indices.tolist() == [0, 0]


def test_the_last_of_several_columns_has_no_place_in_rows():
    encoder = TemplateEncoder("pos[0]\nchunk[0]")
    encoder.fit([SimpleNamespace(tokens=["a"], columns={"pos": ["N"], "chunk": ["B"]})])
    smaller = encoder.select([False, True])
    for own in (encoder, smaller, restore(smaller.settings(), smaller.arrays())):
        with pytest.raises(TemplateError, match="no known place in"):
            own.transform([[("a", "N", "B")]])
    tagged = TemplateEncoder("word\npos[0]")
    tagged.fit([[("a", "N")]])
    smaller = tagged.select([False, True])
    for own in (smaller, restore(smaller.settings(), smaller.arrays())):
        assert own.transform([[("b", "N")]]).state.indices.tolist() == [0]


@pytest.mark.parametrize(
    "templates",
    [
        Templates.parse(EVERYTHING),
        Templates.parse(
            'bias[0] | "a|b, \\"c"[-1]\nfirst[0..1]\nngrams("w:"[0..1], 2)\nbegin: edge'
        ),
        *(with_segment_rules(bundle(name)) for name in BUNDLES),
    ],
)
def test_every_template_can_be_kept_alone(templates):
    for template, name in zip(templates.templates, templates.names, strict=True):
        alone = templates.keep({template})
        assert alone.templates == (template,)
        assert alone.names == (name,)
        assert Templates.parse(str(alone)) == alone
        assert len(alone.rules) == 1
        # A pattern or a lexicon is there where the rule speaks of it.
        assert all(name in alone.rules[0] or "." in name for name in alone.patterns)
        assert all(name in alone.rules[0] for name in alone.lexicons)
    for rule in templates.segment_rules:
        alone = templates.keep(set(), {rule})
        assert (alone.templates, alone.segment_rules) == ((), (rule,))
        assert Templates.parse(str(alone)) == alone
    assert templates.keep(set(templates.templates), set(templates.segment_rules)) is templates


def test_selecting_twice_is_selecting_once():
    encoder = TemplateEncoder("word[-3..3]\nword[-1] | word[0] | word[2]\nsuffix(word, 1..2)")
    encoder.fit([["ab", "b", "cd"], ["e"]])
    n_features = len(encoder.feature_names())
    rng = np.random.default_rng(0)
    first = rng.random(n_features) < 0.5
    second = first & (rng.random(n_features) < 0.3)
    once, twice = encoder.select(second), encoder.select(first).select(second[first])
    assert once.templates == twice.templates
    for name, array in once.arrays().items():
        assert np.array_equal(array, twice.arrays()[name])
