"""Small tables of spans and roles with rules, and the answer by enumeration."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from hypothesis import strategies as st

import trelliswork as tw
from trelliswork.spans.answers import value
from trelliswork.spans.rules import compile_rules

NAMES = ("A", "B", "C", "D")
EXACT_SCORES = st.integers(-6, 8).map(float)  # ties, and sums without rounding
SCORES = st.floats(-3.0, 3.0) | EXACT_SCORES | st.just(-np.inf)


@st.composite
def tables(draw: Any, most_spans: int = 4, most_roles: int = 4) -> tw.SpanTable:
    n_roles = draw(st.integers(0, most_roles))
    n_spans = draw(st.integers(0, most_spans))
    starts = draw(st.lists(st.integers(0, 5), min_size=n_spans, max_size=n_spans))
    spans = [(start, start + draw(st.integers(1, 4))) for start in starts]
    scores = [[draw(SCORES) for _ in range(n_roles)] for _ in spans]
    null = draw(st.none() | st.lists(st.floats(-2, 2), min_size=n_roles, max_size=n_roles))
    return tw.SpanTable(spans, NAMES[:n_roles], np.reshape(scores, (n_spans, n_roles)), null)


@st.composite
def role_rules(draw: Any, roles: tuple[str, ...]) -> list[tw.Constraint]:
    """Draw rules that speak of these roles."""
    rules: list[tw.Constraint] = []
    if draw(st.booleans()):
        rules.append(tw.no_overlap())
    if not roles:
        return rules
    name, number = st.sampled_from(roles), st.integers(0, 2)
    kinds = [
        st.builds(tw.at_most, number, name),
        st.builds(tw.at_least, st.integers(0, 1), name),
        st.builds(tw.exactly, number, name),
        st.builds(lambda a, n: 2 * tw.count(a) <= n, name, number),
    ]
    if len(roles) > 1:
        pair = st.permutations(roles).map(lambda names: names[:2])
        kinds += [pair.map(lambda p: tw.excludes(*p)), pair.map(lambda p: tw.requires(*p))]
        kinds.append(pair.map(lambda p: tw.excludes(*p) & tw.at_most(2, p[0])))
        kinds.append(pair.map(lambda p: 2 * tw.count(p[0]) - tw.count(p[1]) <= 1))
    penalty = st.none() | st.sampled_from([0.0, 0.5, 1.0, 2.5])
    for rule in draw(st.lists(st.one_of(kinds), max_size=4)):
        price = draw(penalty)
        rules += [rule if price is None else rule.soft(price)]
    return rules


@st.composite
def span_problems(draw: Any, **sizes: int) -> tuple[tw.SpanTable, list[tw.Constraint]]:
    table = draw(tables(**sizes))
    return table, draw(role_rules(table.roles))


def best_value(table: tw.SpanTable, rules: list[tw.Constraint]) -> float:
    """Return the largest value of all subsets of pairs of a span and a role."""
    book = compile_rules(table.roles, tuple(rules))
    pairs = [(int(s), int(r)) for s, r in np.argwhere(table.scores > -np.inf)]
    best = -np.inf
    for taken in product([False, True], repeat=len(pairs)):
        choices = [pair for pair, is_in in zip(pairs, taken, strict=True) if is_in]
        best = max(best, value(table, book, choices))
    return best
