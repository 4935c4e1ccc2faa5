"""Templates and sentences to draw, and how encoded features are read."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace

from hypothesis import strategies as st

import reference_features as ref

PATTERNS = {"year": r"(19|20)\d\d[a-z]?", "caps": "[A-ZÀ-Þ]+", "dot": r".*[.,]", "low": "[a-z]"}
PHRASES = ("New York", "york", "in", "new york times", "ÉTÉ")

words = st.one_of(
    st.sampled_from(
        ["New", "York", "new", "Times", "in", "1999", "2004b", ".", "a,", "ÉTÉ", "été"]
    ),
    st.text(max_size=6),
    st.text(alphabet="aA1-é", max_size=4),
)


@st.composite
def sentences(draw):
    tokens = draw(st.lists(words, max_size=7))
    tags = draw(st.lists(st.sampled_from("NVD"), min_size=len(tokens), max_size=len(tokens)))
    return {"word": tokens, "pos": tags}


offsets = st.integers(-3, 3)
columns = st.builds(ref.Column, st.sampled_from(["word", "pos"]), offsets)
changes = st.recursive(
    columns,
    lambda inner: st.one_of(
        st.builds(ref.Change, st.sampled_from(["lower", "shape", "short_shape"]), inner),
        st.builds(ref.Change, st.sampled_from(["prefix", "suffix"]), inner, st.integers(1, 4)),
    ),
    max_leaves=3,
)
tests = st.builds(
    lambda function, named, inner: ref.Test(function, named[0], named[1], inner),
    st.sampled_from(["match", "search"]),
    st.sampled_from(sorted(PATTERNS.items())),
    changes,
)
members = st.builds(ref.Member, st.just("places"), st.just(PHRASES), columns)
marks = st.one_of(
    st.builds(ref.Mark, st.sampled_from(["bias", "first", "last"])),
    st.builds(ref.Mark, st.just("position"), st.integers(1, 9)),
    st.builds(
        ref.SegmentStart,
        st.just(("dot", PATTERNS["dot"])),
        st.just(("low", PATTERNS["low"])),
        offsets,
    ),
)
terms = st.one_of(columns, changes, tests, members, marks)
template_lists = st.lists(
    st.lists(terms, min_size=1, max_size=3).map(tuple), min_size=1, max_size=8, unique=True
)


def template_text(templates, *, pad, edges=()):
    lines = [f"outside: {'pad' if pad else 'skip'}"]
    lines += [f"pattern {name} = /{expression}/" for name, expression in PATTERNS.items()]
    lines.append("lexicon places = " + " ".join(f'"{p}"' for p in PHRASES))
    lines += [" | ".join(term.text() for term in terms) for terms in templates]
    lines += ["edge: " + " | ".join(term.text() for term in terms) for terms in edges]
    return "\n".join(lines)


def as_sentence(columns):
    return SimpleNamespace(tokens=tuple(columns["word"]), columns=columns)


def rows_of(matrix, names):
    return [
        Counter(names[i] for i in matrix.indices[a:b])
        for a, b in zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True)
    ]
