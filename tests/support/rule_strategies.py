"""Hypothesis strategies: rules of every kind over small label sets with the names a and b."""

from __future__ import annotations

from hypothesis import strategies as st

from trelliswork import LabelSet
from trelliswork.constraints import (
    Constraint,
    CountExpression,
    Linear,
    at,
    at_least,
    at_most,
    changes_only_at,
    contiguous,
    count,
    ends_with,
    exactly,
    excludes,
    matches,
    not_at,
    only_on,
    precedes,
    requires,
    starts_with,
    token,
    valid_scheme,
    where,
)

LABEL_SETS = {
    "plain": LabelSet(["a", "b", "c"]),
    "outside": LabelSet(["o", "a", "b"], outside="o"),
    "bio": LabelSet(["O", "B-a", "I-a", "B-b", "I-b"], scheme="bio"),
    "iob1": LabelSet(["O", "I-a", "B-a", "I-b"], scheme="iob1"),
    "bioes": LabelSet(["O", "B-a", "I-a", "E-a", "S-a", "I-b"], scheme="bioes"),
    "bilou": LabelSet(["O", "B-a", "L-a", "U-a", "L-b"], scheme="bilou"),
    "path": LabelSet(["O", "B-a", "I-a", "B-a/B-b", "I-a/B-b", "I-a/I-b", "B-b"], scheme="path"),
}
X, XY = token(regex="x"), token(lexicon=["x", "y"])
TOKENS = "xyz"


def leaves(names: list[str], labels: list[str]) -> st.SearchStrategy[Constraint]:
    name, label = st.sampled_from(names), st.sampled_from(names + labels)
    unit = st.sampled_from(["segment", "token"])
    two = st.permutations(names).map(lambda names: names[:2])
    small = st.integers(0, 2)
    expressions = st.sampled_from(["a*", "(a | b) .", "~(b .*)", ".* a .*", "[^b]{1,2}"])
    return st.one_of(
        st.builds(lambda n, a, u: at_most(n, a, unit=u), small, name, unit),
        st.builds(lambda n, a, u: at_least(n, a, unit=u), small, name, unit),
        st.builds(lambda n, a: exactly(n, a, unit="token"), small, label),
        st.builds(lambda a, u: contiguous(a, unit=u), name, unit),
        st.builds(lambda a, u: starts_with(a, unit=u), name, unit),
        st.builds(lambda a, u: ends_with(a, unit=u), name, unit),
        st.builds(lambda ab, u: precedes(*ab, unit=u), two, unit),
        two.map(lambda ab: requires(*ab)),
        two.map(lambda ab: excludes(*ab)),
        st.builds(lambda e, u: matches(e, unit=u), expressions, unit),
        st.builds(at, st.integers(-3, 3), label, label),
        st.builds(not_at, st.integers(-3, 3), label),
        st.just(valid_scheme()),
    )


def counts(names: list[str], labels: list[str] | None = None) -> st.SearchStrategy[CountExpression]:
    """Sums of one to three counts of segments of these names or of tokens of these labels."""
    kinds = [(name, "segment") for name in names] + [(name, "token") for name in labels or ()]
    term = st.builds(
        lambda kind, c: c * count(kind[0], unit=kind[1]),
        st.sampled_from(kinds),
        st.sampled_from([1, -1, 2, -3]),
    )
    different = st.lists(term, min_size=1, max_size=3, unique_by=lambda t: t.terms[0][1:])
    return different.map(lambda terms: sum(terms[1:], terms[0]))


def linear_rules(names: list[str], labels: list[str]) -> st.SearchStrategy[Linear]:
    compare = st.sampled_from([lambda s, n: s <= n, lambda s, n: s >= n, lambda s, n: s.equals(n)])
    tokens = [*names, *labels]
    return st.builds(lambda c, s, n: c(s, n), compare, counts(names, tokens), st.integers(-2, 3))


tests = st.recursive(
    st.sampled_from([X, XY, token(regex="Y|Z", ignore_case=True)]),
    lambda inner: st.one_of(
        st.builds(lambda a, b: a & b, inner, inner),
        st.builds(lambda a, b: a | b, inner, inner),
        inner.map(lambda a: ~a),
    ),
    max_leaves=2,
)


def looking(labels: list[str]) -> st.SearchStrategy[Constraint]:
    label = st.sampled_from(labels)
    rule = st.one_of(
        st.builds(lambda t, *a: where(t).allow(*a), tests, label, label),
        st.builds(only_on, tests, label),
        st.builds(changes_only_at, tests),
    )
    return rule | rule.map(lambda bit: bit.per_token())


def combined(base: st.SearchStrategy[Constraint]) -> st.SearchStrategy[Constraint]:
    return st.recursive(
        base,
        lambda inner: st.one_of(
            st.builds(lambda a, b: a & b, inner, inner),
            st.builds(lambda a, b: a | b, inner, inner),
            inner.map(lambda a: ~a),
        ),
        max_leaves=4,
    )


@st.composite
def rules(draw, with_input: bool) -> tuple[Constraint, LabelSet]:
    labels = LABEL_SETS[draw(st.sampled_from(sorted(LABEL_SETS)))]
    base = leaves(["a", "b"], list(labels.names))
    if with_input:
        base = st.one_of(base, looking(["a", "b", *labels.names]))
    return draw(combined(base)), labels
