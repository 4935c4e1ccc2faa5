"""Every compiled form agrees with `violations`, on all short labellings and inputs."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings

from rule_strategies import LABEL_SETS, TOKENS, XY, X, rules
from trelliswork import Automaton, LabelSet
from trelliswork.constraints import (
    Constraint,
    at,
    at_least,
    at_most,
    changes_only_at,
    contiguous,
    ends_with,
    exactly,
    excludes,
    matches,
    not_at,
    only_on,
    parse,
    precedes,
    requires,
    starts_with,
    token,
    valid_scheme,
    where,
)
from trelliswork.errors import TooLargeError


def labellings(labels: LabelSet, longest: int) -> list[tuple[int, ...]]:
    lengths = range(longest + 1)
    return [w for n in lengths for w in itertools.product(range(len(labels)), repeat=n)]


def check(rule: Constraint, labels: LabelSet, longest: int = 3) -> None:
    """Compare with the meaning on all labellings."""
    automaton = rule.compile(labels)
    assert automaton.is_unambiguous
    assert automaton.labels == labels.names
    words = labellings(labels, longest)
    ids = np.array([y for word in words for y in word], dtype=np.int32)
    accepted = automaton.accepts_batch(ids, np.cumsum([0, *map(len, words)]))
    for word, is_accepted in zip(words, accepted, strict=True):
        names = labels.decode(word)
        assert is_accepted == (rule.violations(names, scheme=labels) == 0), (rule, names)


def check_with_input(rule: Constraint, labels: LabelSet, longest: int = 2) -> None:
    """Compare with the meaning on all labellings of all inputs, and the mask with both."""
    automaton = rule.compile(labels)
    assert automaton.n_labels == len(labels) * 2 ** len(rule.tests)
    assert automaton.is_unambiguous
    for word in labellings(labels, longest):
        names = labels.decode(word)
        for sentence in itertools.product(TOKENS, repeat=len(word)):
            classes = np.zeros(len(word), dtype=np.int64)
            for bit, test in enumerate(rule.tests):
                classes += test.passes(sentence).astype(np.int64) << bit
            letters = (classes * len(labels) + word).tolist() if word else []
            holds = rule.violations(names, sentence, scheme=labels) == 0
            assert automaton.accepts(letters) == holds, (rule, names, sentence)
            mask = rule.allowed(labels, sentence)
            if mask is not None:
                assert bool(mask[range(len(word)), word].all()) == holds, (rule, names, sentence)


def words_of(unit: str) -> list[Constraint]:
    return [
        at_most(0, "a", unit=unit),
        at_most(2, "a", unit=unit),
        at_least(2, "b", unit=unit),
        at_least(0, "b", unit=unit),
        exactly(1, "a", unit=unit),
        contiguous("a", unit=unit),
        starts_with("a", unit=unit),
        starts_with("a", "b", unit=unit),
        ends_with("b", unit=unit),
        precedes("a", "b", unit=unit),
        precedes("b", "a", unit=unit),
        requires("a", "b", unit=unit),
        excludes("a", "b", unit=unit),
        matches("a (b | a)?", unit=unit),
        matches("~(a . a)", unit=unit),
        matches("[^a]* a & . .", unit=unit),
        matches(Automaton.from_regex("(a b)* | a a b", ["a", "b"]), unit=unit),
    ]


@pytest.mark.parametrize("scheme", LABEL_SETS)
@pytest.mark.parametrize("unit", ["segment", "token"])
def test_words_mean_what_they_compile_to(scheme, unit):
    labels = LABEL_SETS[scheme]
    for rule in words_of(unit):
        check(rule, labels, longest=5 if len(labels) == 3 else 3)


@pytest.mark.parametrize("scheme", LABEL_SETS)
def test_words_about_tokens(scheme):
    labels = LABEL_SETS[scheme]
    odd, even = labels.names[1], labels.names[2]
    rules = [valid_scheme(), at(0, "a"), not_at(1, "a", "b"), at(-1, "b"), not_at(-3, odd)]
    rules += [exactly(1, odd, unit="token"), starts_with(even, unit="token"), at(2, even)]
    rules += [contiguous(odd, unit="token"), matches(f"{odd}* [{even} a]")]
    for rule in rules:
        check(rule, labels, longest=4 if len(labels) <= 5 else 3)


@pytest.mark.parametrize("unit", ["segment", "token"])
def test_long_invalid_bio(unit):
    for rule in words_of(unit):
        check(rule, LABEL_SETS["bio"], longest=4)


@pytest.mark.parametrize("scheme", ["outside", "bio", "bioes", "path"])
def test_words_that_look_at_the_input(scheme):
    labels = LABEL_SETS[scheme]
    odd = labels.names[1]
    for rule in (
        where(X).allow("a"),
        where(X | ~XY).allow("b", odd),
        only_on(XY, "a"),
        changes_only_at(X),
        where(X).allow("a") & only_on(XY, odd) & at(0, "a") & not_at(-1, "b"),
        where(X).allow("a") | changes_only_at(XY),
        ~changes_only_at(X),
        (at_most(1, "a") | where(XY).allow("b")) & ~only_on(X, odd),
        where(~X).allow("a") & (only_on(X, "a") | ~changes_only_at(XY)),
    ):
        check_with_input(rule, labels)


def test_wildcards_of_paths():
    for name in ("**/b", "*/b", "a/b", "**"):
        for rule in (at_most(1, name), precedes(name, "a"), starts_with(name), ends_with(name)):
            check(rule, LABEL_SETS["path"])
        check(contiguous(name, unit="token"), LABEL_SETS["path"])
    check(matches("a '**/b'*", unit="segment"), LABEL_SETS["path"])


@settings(max_examples=60, deadline=None)
@given(rules(with_input=False))
def test_combinations(case):
    rule, labels = case
    check(rule, labels, longest=4 if len(labels) == 3 else 3)


@settings(max_examples=40, deadline=None)
@given(rules(with_input=True))
def test_combinations_that_look_at_the_input(case):
    rule, labels = case
    if len(rule.tests) <= 3:
        check_with_input(rule, labels)


@settings(max_examples=60, deadline=None)
@given(rules(with_input=True))
def test_printed_rules_are_read_back(case):
    rule, _ = case
    again = parse(repr(rule))
    assert again == rule
    assert hash(again) == hash(rule)
    assert repr(again) == repr(rule)


def test_automata_are_small():
    bio = LabelSet(["O", *(f"{t}-{n}" for n in "abcdefgh" for t in "BI")], scheme="bio")
    assert at_most(1, "a").compile(bio).n_states <= 3
    assert at_most(1, "a", unit="token").compile(bio).n_states == 2
    assert precedes("a", "b").compile(bio).n_states <= 4
    assert valid_scheme().compile(bio).n_states <= 9
    assert at(-200, "O").compile(bio).n_states == 201
    assert (at(-200, "O") & at_most(3, "a")).compile(bio).n_states < 2000
    assert (~at(-200, "O")).compile(bio).n_states == 201
    assert where(X).allow("a").compile(bio).n_states == 1
    assert at_most(1, "a").compile(bio) is at_most(1, "a").compile(bio)  # cached


def test_blow_ups_are_refused():
    labels = LabelSet(list("abcdefghijklm"))
    each_once = at_most(1, "a")
    for name in "bcdefghijklm":
        each_once = each_once & at_most(1, name)
    with pytest.raises(TooLargeError, match="1,000"):
        each_once.compile(labels, max_states=1000)
    with pytest.raises(TooLargeError, match="more than 10 states"):
        at_most(20, "a").compile(labels, max_states=10)
    with pytest.raises(TooLargeError, match="more than 10 states"):
        at(-20, "a").compile(labels, max_states=10)
    many = where(X).allow("a")
    for character in "abcdefg":
        many = many | where(token(regex=character)).allow("a")
    with pytest.raises(TooLargeError, match="at most 6 token tests in one rule, got 8"):
        many.compile(labels)
