"""Rules that are linear in counts: rows and their tables against the meaning, and arithmetic."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest
from hypothesis import given, strategies as st

import trelliswork as tw
from rule_strategies import LABEL_SETS, counts, leaves, linear_rules
from trelliswork import LabelError, LabelSet, RuleError
from trelliswork.constraints import (
    Row,
    at_least,
    at_most,
    contiguous,
    count,
    exactly,
    parse,
    requires,
)
from trelliswork.constraints.monitors_on_segments import compile_on_segments
from trelliswork.constraints.reading import Reading
from trelliswork.labels.segmentation import Segmentation
from trelliswork.planning.splitting import letter_table

PATH = LabelSet(
    ["O", "B-by", "I-by", "B-by/B-person", "I-by/B-person", "I-by/I-person", "B-person"],
    scheme="path",
)
LABEL_LISTS = st.lists(st.integers(0, 10**6), max_size=6)


def left_side(row: Row, labels: LabelSet, ids: list[int]) -> int:
    table = row.table(labels)
    return sum(int(table[p + 1, y]) for p, y in itertools.pairwise([-1, *ids]))


@pytest.mark.parametrize("name", LABEL_SETS)
def test_tables_agree_with_violations(name):
    labels = LABEL_SETS[name]

    @given(
        rule=st.one_of(linear_rules(["a", "b"], list(labels.names)), leaves(["a", "b"], ["a"])),
        drawn=LABEL_LISTS,
    )
    def check(rule, drawn):
        ids = [y % len(labels) for y in drawn]  # any sequence, those that break the scheme too
        names = labels.decode(ids)
        reading = Reading(names, scheme=labels)
        if rule.rows is None:
            return
        for row in rule.rows:
            total = left_side(row, labels, ids)
            assert row.violations(reading) == max(0, total - row.bound)
        assert rule.violations(names, scheme=labels) == sum(
            row.violations(reading) for row in rule.rows
        )

    check()


@given(labels=st.lists(st.sampled_from(PATH.names), max_size=6), name=counts(["**/person", "by/*"]))
def test_wildcards_count_all_that_match(labels, name):
    rule = name <= 1
    total = left_side(rule.rows[0], PATH, PATH.encode(labels).tolist())
    assert rule.violations(labels, scheme=PATH) == max(0, total - rule.rows[0].bound)


def test_counts_of_label_paths():
    labels = ["B-by/B-person", "I-by/I-person", "I-by/B-person", "O", "B-person"]
    for name, number in [("**/person", 3), ("by/person", 2), ("person", 1), ("by", 1), ("*", 2)]:
        assert count(name).equals(0).violations(labels, scheme=PATH) == number
        assert count(name).equals(number).violations(labels, scheme=PATH) == 0
    assert (count("**/person") - 3 * count("by") <= -1).violations(labels, scheme=PATH) == 1


@pytest.mark.parametrize(
    ("rule", "rows"),
    [
        (at_most(2, "a"), [Row(((1, "a", "segment"),), 2)]),
        (at_least(2, "a", unit="token"), [Row(((-1, "a", "token"),), -2)]),
        (exactly(1, "a"), [Row(((1, "a", "segment"),), 1), Row(((-1, "a", "segment"),), -1)]),
        (contiguous("a"), [Row(((1, "a", "segment"),), 1)]),
        (contiguous("a", unit="token"), [Row(((1, "a", "run"),), 1)]),
        (at_most(0, "a") & at_most(0, "b"), [Row(((1, n, "segment"),), 0) for n in "ab"]),
        (at_most(0, "a").soft(1), [Row(((1, "a", "segment"),), 0)]),
        (
            count("a") - count("b") >= 2,
            [Row(((-1, "a", "segment"), (1, "b", "segment")), -2)],
        ),
    ],
)
def test_rows_of_words(rule, rows):
    assert rule.rows == tuple(rows)


@pytest.mark.parametrize(
    "rule", [requires("a", "b"), at_most(1, "a") | at_most(1, "b"), ~at_most(1, "a")]
)
def test_nonlinear_rules_have_no_rows(rule):
    assert rule.rows is None
    assert (rule & at_most(1, "a")).rows is None
    assert rule.soft().rows is None


def test_terms_are_merged_in_the_order_of_their_first_mention():
    row = Row(((1, "b", "segment"), (2, "a", "token"), (-1, "b", "segment"), (1, "a", "token")), 0)
    assert row.terms == ((3, "a", "token"),)
    assert (count("b") + count("a") + count("b") <= 0).rows[0].terms == (
        (2, "b", "segment"),
        (1, "a", "segment"),
    )


def test_tables_are_shared_and_read_only():
    labels = LABEL_SETS["bio"]
    row = at_most(1, "a").rows[0]
    assert row.table(labels) is row.table(labels)
    assert row.table(labels).dtype == np.int64
    assert row.table(labels).shape == (len(labels) + 1, len(labels))
    with pytest.raises(ValueError, match="read-only"):
        row.table(labels)[0, 0] = 1


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (count("a") <= 1, "count('a') <= 1"),
        (count("a") < 1, "count('a') <= 0"),
        (count("a") > 1, "count('a') >= 2"),
        (5 - count("a") >= 4, "-count('a') >= -1"),
        (count("a") <= count("b"), "count('a') - count('b') <= 0"),
        (count("a") + 2 <= count("b") - 1, "count('a') - count('b') <= -3"),
        (3 - count("a") >= 0, "-count('a') >= -3"),
        (-2 * count("a") + count("b") * 3 <= 0, "-2 * count('a') + 3 * count('b') <= 0"),
        (count("a").equals(2), "count('a').equals(2)"),
        ((count("a") - count("b")).equals(0), "(count('a') - count('b')).equals(0)"),
        ((2 * count("a")).equals(count("b") + 1), "(2 * count('a') - count('b')).equals(1)"),
        (count("B-a", unit="token") <= 1, "count('B-a', unit='token') <= 1"),
        (
            (count("a") <= 1) & ~(count("b") >= 1) | count("c").equals(1),
            "(((count('a') <= 1) & ~(count('b') >= 1)) | count('c').equals(1))",
        ),
        ((count("a") <= 1).soft(), "(count('a') <= 1).soft()"),
        (count("a").equals(1).soft(0.5), "count('a').equals(1).soft(0.5)"),
    ],
)
def test_arithmetic_prints_as_its_source(rule, text):
    assert repr(rule) == text
    assert parse(text) == rule
    assert hash(parse(text)) == hash(rule)


@given(linear_rules(["a", "b"], ["B-a"]))
def test_linear_rules_are_read_back(rule):
    assert parse(repr(rule)) == rule


@given(
    rule=linear_rules(["a", "b"], []), drawn=LABEL_LISTS, name=st.sampled_from(sorted(LABEL_SETS))
)
def test_automata_accept_what_breaks_no_row(rule, drawn, name):
    labels = LABEL_SETS[name]
    ids = [y % len(labels) for y in drawn]
    table = rule.rows[0].table(labels)
    if table.min() < 0 < table.max():
        with pytest.raises(RuleError, match="no automaton for sequences of every length"):
            rule.compile(labels)
        return
    automaton = rule.compile(labels)
    accepted = automaton.accepts(labels.decode(ids))
    assert accepted == (rule.violations(labels.decode(ids), scheme=labels) == 0)


def test_signs_are_judged_by_what_labels_add():
    rule = count("**/person") - count("by/person") <= 0  # never negative
    assert rule.compile(PATH).accepts(["B-by/B-person"])
    assert not rule.compile(PATH).accepts(["B-person"])


def test_explanations_show_the_sum():
    rule = count("a") - 2 * count("b") >= 1
    assert rule.explain(["a", "b", "a", "b"]) == [
        "count('a') - 2 * count('b') = 2 - 2 * 2 = -2; at least 1 expected."
    ]
    assert (count("a") <= 0).explain(["a"]) == ["count('a') = 1; at most 0 expected."]
    assert rule.explain(["a"]) == []


def test_exported_at_the_top():
    assert tw.count is count


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: count("a") <= 1.5, "expected a whole number or another count with <=, got float"),
        (lambda: count("a") <= True, "got bool True"),
        (lambda: count("a") < "b", "with <, got str 'b'"),
        (lambda: count("a").equals(None), "with equals, got NoneType"),
        (lambda: count("a") * 0.5, r"with \*, got float 0.5"),
        (lambda: count("a") * count("b"), "Rules are linear in counts"),
        (lambda: count("a") == 1, r"makes no rule\. Write count\('a'\)\.equals\(1\)"),
        (lambda: count("a") + 1 == 1, r"Write \(count\('a'\) \+ 1\)\.equals\(1\)"),
        (lambda: {count("a")}, "unhashable"),
        (lambda: bool(count("a")), "neither true nor false"),
        (lambda: bool(count("a") <= 1), "count('a') <= 1 is a rule, neither true nor false"),
        (lambda: 0 <= count("a") <= 1, "Give two rules instead of a chain"),
        (lambda: (count("a") <= 1) and (count("b") <= 1), "instead of 'and', 'or' and 'not'"),
        (lambda: not (count("a") <= 1), "instead of 'and', 'or' and 'not'"),
        (lambda: count(1), "count: expected a label, got int 1"),
    ],
)
def test_invalid_linear_rules_are_refused(make, message):
    pattern = message if "\\" in message else re.escape(message)
    with pytest.raises(TypeError, match=pattern):
        make()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: count(""), "expected a label, got an empty string"),
        (lambda: count("a", unit="word"), "expected unit 'segment' or 'token'"),
        (lambda: count("a") - count("a") <= 1, "all counts cancel out"),
        (lambda: 0 * count("a") <= 1, "all counts cancel out"),
        (lambda: count("a") <= 10**10, "expected numbers of at most 1,000,000,000"),
    ],
)
def test_rules_without_sense_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_unknown_names():
    labels = LABEL_SETS["bio"]
    rule = count("a") - count("aa") <= 0
    for ask in (rule.check, rule.compile, rule.soft().check):
        with pytest.raises(LabelError, match=r"<= 0: there is no segment 'aa'\. Did you mean 'a'"):
            ask(labels)
    with pytest.raises(LabelError, match="'B-a' is a token label and no segment"):
        (count("B-a") <= 1).check(labels)


@pytest.mark.parametrize("adjacent", [False, True])
@pytest.mark.parametrize("scheme", ["plain", "outside", "bio"])
def test_segments_add_what_their_tokens_do(scheme, adjacent):
    labels = LABEL_SETS[scheme]
    segmentation = Segmentation.choose(labels, [], 3, adjacent=adjacent)

    @given(
        rule=linear_rules(["a", "b"], []), drawn=LABEL_LISTS, lengths=st.lists(st.integers(1, 3))
    )
    def check(rule, drawn, lengths):
        letters = [y % segmentation.n_letters for y in drawn]
        if not segmentation.repeats.all():  # neighbours of one letter are one segment
            letters = [y for y, _ in itertools.groupby(letters)]
        first, rest = segmentation.token_of_tag.reshape(2, -1).tolist()
        ids = []
        for y, n in zip(letters, itertools.chain(lengths, itertools.repeat(1)), strict=False):
            ids += [first[y]] + [rest[y]] * (n - 1)
        for row in rule.rows:
            if any(unit == "token" for _, _, unit in row.terms):
                with pytest.raises(RuleError, match="depends on how many tokens"):
                    letter_table(row, segmentation.labels, segmentation)
                continue
            table = letter_table(row, segmentation.labels, segmentation)
            total = sum(int(table[p + 1, y]) for p, y in itertools.pairwise([-1, *letters]))
            names = segmentation.labels.decode(ids)
            reading = Reading(names, scheme=segmentation.labels)
            assert row.violations(reading) == max(0, total - row.bound)

    check()


def test_rules_on_segments():
    segmentation = Segmentation.choose(LABEL_SETS["bio"], [], 3)
    rule = 2 * count("a") + count("b") <= 3
    automaton = compile_on_segments(rule.soft(), segmentation, 100)
    assert automaton == compile_on_segments(rule, segmentation, 100)
    assert automaton.accepts(["B-a", "O", "B-b"])
    assert not automaton.accepts(["B-a", "B-a"])
    with pytest.raises(RuleError, match="depends on how many tokens a segment of 'a' has"):
        compile_on_segments(count("a", unit="token") <= 2, segmentation, 100)
    with pytest.raises(RuleError, match="no automaton"):
        compile_on_segments(count("a") - count("b") <= 2, segmentation, 100)
