"""The linter on soft rules and on sums of counts: by hand, and random rules by enumeration."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, strategies as st

from lint_cases import LABELS, Satisfied, messages
from rule_strategies import LABEL_SETS, leaves, linear_rules
from trelliswork.constraints import (
    at_least,
    at_most,
    count,
    exactly,
    excludes,
    find_contradiction,
    lint,
    precedes,
    requires,
    starts_with,
)

AUTHOR, TITLE, YEAR = map(count, LABELS)


def test_sound_rules_have_no_findings():
    rules = [
        at_most(1, "title").soft(),
        precedes("author", "title").soft(2.0),
        AUTHOR - TITLE <= 0,
        (TITLE - YEAR >= 0).soft(),
        at_least(1, "year"),
    ]
    assert messages(rules) == []


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ([at_most(1, "title").soft(0)], "free: at_most(1, 'title').soft(0.0) costs nothing"),
        ([at_most(1, "title").soft(), at_least(2, "title").soft()], None),
        (
            [at_most(1, "title").soft(1), at_most(1, "title").soft(2)],
            "implied: at_most(1, 'title').soft(2.0) is the same rule as "
            "at_most(1, 'title').soft(1.0): penalties add up.",
        ),
        (
            [at_most(1, "title").soft(), at_most(1, "title").soft()],
            "implied: at_most(1, 'title').soft() is given twice: penalties add up.",
        ),
        ([at_most(1, "title").soft(), at_most(1, "title").soft(0)], "free: "),
        (
            [at_most(1, "title"), at_most(2, "title").soft()],
            "implied: at_most(2, 'title').soft() is implied by at_most(1, 'title').",
        ),
        ([at_most(1, "title").soft(), at_most(2, "title")], None),
        (
            [exactly(2, "title").soft(), at_most(1, "title")],
            "broken: Every labelling that satisfies at_most(1, 'title') breaks "
            "exactly(2, 'title').soft().",
        ),
        (
            [(count("title") <= -1).soft()],
            "broken: Every labelling breaks (count('title') <= -1).soft().",
        ),
        (
            [starts_with("author", "title", "year").soft()],
            "dead: starts_with('author', 'title', 'year').soft() is never broken.",
        ),
        ([count("title") >= 0], "dead: count('title') >= 0 never excludes a labelling."),
    ],
)
def test_soft_rules(rules, message):
    found = messages(rules)
    assert len(found) == (message is not None)
    assert message is None or found[0].startswith(message)


@pytest.mark.parametrize(
    ("rules", "options", "message"),
    [
        # Segments of plain labels follow different ones: titles less authors may be anything.
        ([TITLE - AUTHOR <= 0], {}, None),
        ([TITLE - AUTHOR <= 5], {"lengths": range(1, 8)}, "dead: count('title') - count('author')"),
        ([TITLE - AUTHOR >= 5], {"lengths": [1, 2, 3]}, "contradictory: No labelling satisfies co"),
        (
            [(TITLE - AUTHOR >= 5).soft()],
            {"lengths": [1, 2, 3]},
            "broken: Every labelling breaks (count('title') - count('author') >= 5).soft().",
        ),
        (
            [TITLE - AUTHOR <= 0, TITLE - AUTHOR >= 2],
            {},
            "contradictory: No labelling satisfies all of count('title') - count('author') <= 0 "
            "and count('title') - count('author') >= 2. Drop one.",
        ),
        (
            [TITLE - AUTHOR <= 0, (TITLE - AUTHOR >= 2).soft()],
            {},
            "broken: Every labelling that satisfies count('title') - count('author') <= 0 breaks",
        ),
        (
            [TITLE - AUTHOR <= 2, TITLE - AUTHOR <= 0],
            {},
            "implied: count('title') - count('author') <= 2 is implied by count('title')",
        ),
        (
            [TITLE - AUTHOR <= 0, TITLE - AUTHOR <= 0],
            {},
            "implied: count('title') - count('author') <= 0 is given twice.",
        ),
        (
            [(TITLE - AUTHOR <= 0).soft(), (TITLE - AUTHOR <= 0).soft()],
            {},
            "implied: (count('title') - count('author') <= 0).soft() is given twice: penalties",
        ),
        (
            [at_most(1, "title"), TITLE - AUTHOR <= 1],
            {},
            "implied: count('title') - count('author') <= 1 is implied by at_most(1, 'title').",
        ),
        (
            [(TITLE - AUTHOR <= 0) | at_most(1, "title")],
            {},
            "unchecked: ((count('title') - count('author') <= 0) | at_most(1, 'title')) has no",
        ),
    ],
)
def test_sums_of_counts(rules, options, message):
    found = messages(rules, **options)
    assert len(found) == (message is not None)
    assert message is None or found[0].startswith(message)


def test_wildcards_tell_parts_from_wholes():
    labels = LABEL_SETS["path"]
    assert messages([count("**/b") - count("a/b") >= 0], labels) == [
        "dead: count('**/b') - count('a/b') >= 0 never excludes a labelling."
    ]
    # A part never begins more often than tokens are inside it.
    rule = count("a/b") - count("a/b", unit="token") <= 0
    assert [finding.kind for finding in lint(rule, labels)] == ["dead"]


def test_find_contradiction_looks_at_hard_rules_only():
    apart = [TITLE - AUTHOR <= 0, TITLE - AUTHOR >= 2]
    found = find_contradiction([at_most(1, "year"), *apart], LABELS)
    assert found.rules == tuple(apart)
    assert find_contradiction([apart[0], apart[1].soft()], LABELS) is None
    hard = [exactly(1, "title"), excludes("title", "year"), at_least(1, "year")]
    assert find_contradiction([apart[0], *hard], LABELS).rules == tuple(hard)
    soft = [rule.soft() for rule in hard]
    assert find_contradiction([hard[0], *soft], LABELS) is None
    assert find_contradiction([requires("title", "year")], LABELS) is None


@st.composite
def cases(draw):
    labels = LABEL_SETS[draw(st.sampled_from(["plain", "bio", "path"]))]
    rule = st.one_of(leaves(["a", "b"], ["a", "b"]), linear_rules(["a", "b"], []))
    softened = st.builds(lambda rule, soft: rule.soft(1.0) if soft else rule, rule, st.booleans())
    return draw(st.lists(softened, min_size=1, max_size=3, unique=True)), labels


@given(cases())
def test_findings_are_true(case):
    rules, labels = case
    good = Satisfied(rules, labels)
    for finding in lint(rules, labels, lengths=[1, 2, 3]):
        first, *others = finding.rules
        soft = [rule.is_soft for rule in finding.rules]
        match finding.kind:
            case "contradictory":
                assert not any(soft)
                assert not good.together(finding.rules)
            case "dead":
                assert len(good[first]) == len(good.all)
            case "implied":
                assert good.together(others) <= good[first]
                assert not any(soft[1:]) or first.hard == others[0].hard
            case "broken":
                assert soft == [True] + [False] * len(others)
                assert not good.together(others) & good[first]
            case "lengths":
                assert not any(soft)
                assert {len(w) for w in good.together(finding.rules)} < {1, 2, 3}
            case kind:
                assert kind == "unchecked"


@given(cases())
def test_rules_with_automata_are_judged_fully(case):
    rules, labels = case
    words = [w for n in (1, 2, 3) for w in itertools.product(labels.names, repeat=n)]
    for rule in rules:
        kinds = [f.kind for f in lint(rule, labels, lengths=[1, 2, 3])]
        broken = [w for w in words if rule.violations(w, scheme=labels)]
        assert ("dead" in kinds) == (not broken)
        expected = "broken" if rule.is_soft else "contradictory"
        single = rule.rows is None or len(rule.rows) < 2  # rows are judged one by one
        assert (expected in kinds) == (len(broken) == len(words)) or not single
