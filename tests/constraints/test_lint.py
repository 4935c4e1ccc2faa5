"""The linter: hand-made cases, and random rules against enumeration."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from lint_cases import LABELS, Satisfied, messages
from rule_strategies import LABEL_SETS, leaves
from trelliswork import LabelSet
from trelliswork.constraints import (
    at,
    at_least,
    at_most,
    changes_only_at,
    contiguous,
    ends_with,
    exactly,
    excludes,
    find_contradiction,
    lint,
    not_at,
    only_on,
    precedes,
    requires,
    starts_with,
    token,
    valid_scheme,
    where,
)

BIO = LabelSet(["O", "B-a", "I-a", "B-b", "I-b"], scheme="bio")
DIGITS, LONG = token(regex="[0-9]+"), token(regex=".{5,}")


def test_sound_rules_have_no_findings():
    rules = [at_most(1, "title"), precedes("author", "title"), where(DIGITS).allow("year", "title")]
    assert messages(rules) == []
    assert messages([valid_scheme(), at_most(1, "a")], BIO) == []
    assert messages([]) == []


def test_implied():
    assert messages([at_most(1, "title"), contiguous("title")]) == [
        "implied: contiguous('title') is implied by at_most(1, 'title')."
    ]
    assert messages([at_most(1, "title"), at_most(1, "title")]) == [
        "implied: at_most(1, 'title') is given twice."
    ]
    assert messages([at_most(3, "title"), at_most(1, "title"), at_most(2, "title")]) == [
        "implied: at_most(3, 'title') is implied by at_most(1, 'title').",
        "implied: at_most(2, 'title') is implied by at_most(1, 'title').",
    ]
    rules = [requires("author", "title"), requires("title", "year"), requires("author", "year")]
    assert messages(rules) == [
        "implied: requires('author', 'year') is implied by requires('author', 'title') and "
        "requires('title', 'year')."
    ]
    # By three others: no two of them do.
    labels = LabelSet(list("abcd"))
    chain = [requires("a", "b"), requires("b", "c"), requires("c", "d")]
    (finding,) = lint([requires("a", "d"), *chain, at_most(2, "a")], labels)
    assert finding.kind == "implied"
    assert finding.rules == (requires("a", "d"), *chain)


def test_dead():
    assert messages([valid_scheme(), starts_with("author", "title", "year")]) == [
        "dead: valid_scheme() never excludes a labelling.",
        "dead: starts_with('author', 'title', 'year') never excludes a labelling.",
    ]
    assert messages([at_most(5, "title")]) == []
    assert messages([at_most(5, "title")], lengths=range(1, 10)) == [
        "dead: at_most(5, 'title') never excludes a labelling."
    ]
    assert messages([at_most(5, "title")], lengths=range(1, 12)) == []
    assert messages([where(DIGITS).allow(*LABELS)]) == [
        f"dead: where({DIGITS!r}).allow('author', 'title', 'year') never excludes a labelling."
    ]


def test_contradictory():
    assert messages([starts_with("title"), at_most(0, "title"), at_most(1, "author")]) == [
        "contradictory: No labelling satisfies all of starts_with('title') and "
        "at_most(0, 'title'). Drop one."
    ]
    (finding,) = lint(
        [at_least(1, name) for name in LABELS] + [excludes("author", "title"), at_most(1, "year")],
        LABELS,
    )
    assert finding.kind == "contradictory"
    assert finding.rules == (
        at_least(1, "author"),
        at_least(1, "title"),
        excludes("author", "title"),
    )
    assert messages([at_most(1, "title") & at_least(2, "title")])[0] == (
        "contradictory: No labelling satisfies (at_most(1, 'title') & at_least(2, 'title'))."
    )
    assert messages([at_least(2, "title")], lengths=[1, 2]) == [
        "contradictory: No labelling of 1 or 2 tokens satisfies at_least(2, 'title')."
    ]


def test_lengths():
    rules = [at_least(1, "author"), at_least(1, "title"), at_most(1, "year")]
    assert messages(rules) == [
        "lengths: No labelling of fewer than 2 tokens satisfies at_least(1, 'author') and "
        "at_least(1, 'title')."
    ]
    assert messages(rules, lengths=range(2, 20)) == []
    assert messages(rules, lengths=range(1, 6)) == [
        "lengths: No labelling of 1 token satisfies at_least(1, 'author') and at_least(1, 'title')."
    ]
    rules = [at_least(1, name) for name in LABELS]
    assert [finding.rules for finding in lint(rules, LABELS)] == [tuple(rules)]
    each_twice = [at_most(2, name, unit="token") for name in LABELS]
    assert messages(each_twice) == [
        "lengths: No labelling of more than 6 tokens satisfies at_most(2, 'author', unit='token'), "
        "at_most(2, 'title', unit='token') and at_most(2, 'year', unit='token')."
    ]


def test_inputs():
    rules = [where(DIGITS).allow("year"), where(LONG).allow("title"), at_most(3, "author")]
    assert messages(rules) == [
        f"inputs: No labelling satisfies {rules[0]!r} and {rules[1]!r} where token 0 passes "
        f"{DIGITS!r} and {LONG!r}."
    ]
    # A test and its opposite never pass together.
    assert messages([where(DIGITS).allow("year"), where(~DIGITS).allow("title")]) == []
    assert messages([where(DIGITS).allow("year"), only_on(~DIGITS, "title", "author")]) == [
        f"implied: only_on(~{DIGITS!r}, 'title', 'author') is implied by "
        f"where({DIGITS!r}).allow('year')."
    ]
    rules = [at_most(1, "year"), where(DIGITS).allow("year"), only_on(DIGITS, "year")]
    assert messages(rules) == [
        f"inputs: No labelling satisfies {rules[0]!r}, {rules[1]!r} and {rules[2]!r} "
        f"where token 0 passes {DIGITS!r}, token 1 passes no test and token 2 passes {DIGITS!r}."
    ]
    assert messages([changes_only_at(DIGITS), changes_only_at(DIGITS | LONG)]) == [
        f"implied: changes_only_at(({DIGITS!r} | {LONG!r})) is implied by "
        f"changes_only_at({DIGITS!r})."
    ]


def test_rules_too_large_to_check_are_reported():
    labels = LabelSet(list("abcdefghijkl"))
    rules = [at_most(1, name) for name in labels]
    findings = lint(rules, labels, max_states=200)
    assert [finding.kind for finding in findings] == ["unchecked"]
    assert "12 rules together pass 200 states." in findings[0].message
    # Pairs are judged all the same.
    findings = lint([*rules, at_most(2, "a"), at(0, "a"), not_at(0, "a")], labels, max_states=200)
    assert [finding.kind for finding in findings][:1] == ["contradictory"]


def test_unknown_names():
    assert messages([at_most(1, "titel"), valid_scheme()]) == [
        "unknown: at_most(1, 'titel'): there is no segment 'titel'. Did you mean 'title'?",
        "dead: valid_scheme() never excludes a labelling.",
    ]


def test_bad_lengths():
    with pytest.raises(ValueError, match="lengths: expected numbers of tokens"):
        lint([at_most(1, "title")], LABELS, lengths=[])
    with pytest.raises(TypeError, match=r"labels: expected a LabelSet, got list"):
        lint([at_most(1, "title")], ["author", "title"])


def test_one_rule_alone():
    assert lint(at_least(0, "title"), LABELS) == lint([at_least(0, "title")], LABELS) != []


def test_find_contradiction_agrees_with_lint():
    rules = [at_most(3, "title"), exactly(2, "title"), at_most(1, "title")]
    assert find_contradiction(rules, LABELS) == lint(rules, LABELS)[0]
    assert find_contradiction(rules[:2], LABELS) is None
    assert find_contradiction(rules, LABELS, max_states=1) is None  # not known


@st.composite
def cases(draw):
    labels = LABEL_SETS[draw(st.sampled_from(["plain", "outside", "bio"]))]
    rules = draw(st.lists(leaves(["a", "b"], list(labels.names)), min_size=1, max_size=4))
    return rules, labels


@settings(max_examples=60, deadline=None)
@given(cases())
def test_findings_are_what_enumeration_says(case):
    rules, labels = case
    good = Satisfied(rules, labels)
    findings = lint(rules, labels, lengths=[1, 2, 3])
    kinds = [finding.kind for finding in findings]
    assert kinds.count("contradictory") == (not good.together(rules))
    dead = {f.rules[0] for f in findings if f.kind == "dead"}
    assert dead == {rule for rule in rules if len(good[rule]) == len(good.all)}
    kept = [rule for rule in rules if rule not in dead]
    for finding in findings:
        if finding.kind == "contradictory":
            assert not good.together(finding.rules)
            for rule in finding.rules:
                assert good.together([other for other in finding.rules if other is not rule])
        if finding.kind == "implied":
            implied, *reasons = finding.rules
            assert good.together(reasons) <= good[implied]
            kept.remove(implied)
        if finding.kind == "lengths":
            lengths = {len(w) for w in good.together(finding.rules)}
            assert lengths == {len(w) for w in good.together(rules)} < {1, 2, 3}
    if "contradictory" not in kinds:
        assert good.together(kept) == good.together(rules)
        for i, rule in enumerate(kept):
            assert not good.together(kept[:i] + kept[i + 1 :]) <= good[rule]
        missing = {1, 2, 3} - {len(w) for w in good.together(rules)}
        assert ("lengths" in kinds) == bool(missing)


def test_ends_and_precedence():
    rules = [precedes("author", "title"), ends_with("author"), at_least(1, "title")]
    assert [finding.kind for finding in lint(rules, LABELS)] == ["contradictory"]
    assert [finding.kind for finding in lint([exactly(2, "title")], LABELS)] == ["lengths"]
