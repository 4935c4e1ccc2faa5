"""The meaning of every word, by hand; how rules print, explain themselves and refuse nonsense."""

from __future__ import annotations

import re

import pytest

from trelliswork import Automaton, LabelSet, Sentence
from trelliswork.constraints import (
    as_constraint,
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
    precedes,
    requires,
    starts_with,
    token,
    valid_scheme,
    where,
)
from trelliswork.errors import LabelError, RegexError

DIGITS = token(regex="[0-9]+")
COMMA = token(regex=".*,")
BIO = LabelSet(["O", "B-PER", "I-PER", "B-ORG", "I-ORG"], scheme="bio")
PLAIN = LabelSet(["author", "title", "year", "other"])
OUTSIDE = LabelSet(["author", "title", "year", "other"], outside="other")
PATH = LabelSet(
    ["O", "B-by", "I-by", "B-by/B-person", "I-by/B-person", "I-by/I-person", "B-person"],
    scheme="path",
)


@pytest.mark.parametrize(
    ("rule", "labels", "violations"),
    [
        # Degrees count the excess.
        (at_most(1, "PER"), "B-PER B-PER B-PER", 2),
        (at_most(1, "PER"), "B-PER I-PER O", 0),
        (at_most(0, "PER"), "O I-PER", 1),  # an I after O begins a segment, as in conlleval
        (at_most(0, "PER"), "", 0),
        (at_least(2, "PER"), "B-PER I-PER O", 1),
        (at_least(2, "PER"), "", 2),
        (at_least(2, "PER"), "B-PER B-PER", 0),
        (exactly(2, "PER"), "B-PER", 1),
        (exactly(2, "PER"), "B-PER B-PER O I-PER B-PER", 2),
        (contiguous("PER"), "B-PER B-PER O B-PER", 2),
        (contiguous("PER", unit="token"), "B-PER B-PER O B-PER", 1),
        (contiguous("B-PER", unit="token"), "B-PER I-PER B-PER", 1),
        (contiguous("PER"), "O O", 0),
        # Token units: an exact label, else every token of a segment.
        (at_most(1, "PER", unit="token"), "B-PER I-PER I-PER", 2),
        (at_most(1, "B-PER", unit="token"), "B-PER I-PER I-PER", 0),
        (exactly(1, "O", unit="token"), "O O O", 2),
        # In plain labels every maximal run is a segment.
        (at_most(1, "a"), "a a b a", 1),
        (at_least(1, "a", unit="token"), "b", 1),
        # Bits.
        (starts_with("PER"), "O B-PER B-ORG", 0),
        (starts_with("PER"), "O B-ORG B-PER", 1),
        (starts_with("PER", "ORG"), "O B-ORG B-PER", 0),
        (starts_with("PER"), "O O", 1),
        (starts_with("PER"), "", 1),
        (starts_with("O", unit="token"), "O B-PER", 0),
        (starts_with("PER", unit="token"), "I-PER O", 0),
        (starts_with("PER", unit="token"), "", 1),
        (ends_with("PER"), "B-ORG B-PER O", 0),
        (ends_with("PER"), "B-PER B-ORG O", 1),
        (ends_with("PER"), "", 1),
        (ends_with("PER", unit="token"), "B-PER O", 1),
        (precedes("PER", "ORG"), "B-PER B-ORG", 0),
        (precedes("PER", "ORG"), "B-ORG B-PER", 1),
        (precedes("PER", "ORG"), "B-ORG B-PER B-PER", 1),
        (precedes("PER", "ORG"), "B-PER B-ORG I-ORG B-PER", 1),
        (precedes("PER", "ORG"), "B-ORG O", 0),
        (precedes("PER", "ORG"), "B-PER O", 0),
        (requires("PER", "ORG"), "B-PER", 1),
        (requires("PER", "ORG"), "B-ORG", 0),
        (requires("PER", "ORG"), "B-ORG B-PER", 0),
        (requires("PER", "ORG"), "", 0),
        (excludes("PER", "ORG"), "B-ORG B-PER B-PER", 1),
        (excludes("ORG", "PER"), "B-ORG B-PER B-PER", 1),
        (excludes("PER", "ORG"), "B-ORG B-ORG", 0),
        (valid_scheme(), "O I-PER O I-ORG", 1),
        (valid_scheme(), "B-PER I-PER", 0),
        (valid_scheme(), "B-PER I-PER E-PER S-PER", 0),
        (valid_scheme(), "B-PER S-PER", 1),
        (valid_scheme(), "a b", 0),
        (matches("O* B-PER I-PER*"), "O B-PER I-PER", 0),
        (matches("O* B-PER I-PER*"), "O B-PER O", 1),
        (matches("PER+ O"), "B-PER I-PER O", 0),
        (matches(". .", unit="segment"), "O B-PER O B-PER O", 0),
        (matches(". .", unit="segment"), "O B-PER O", 1),
        (matches("()", unit="segment"), "O", 0),
        (matches("[^PER]*", unit="segment"), "O B-ORG", 0),
        (at(0, "PER"), "I-PER O", 0),
        (at(1, "PER"), "I-PER O", 1),
        (at(-1, "PER", "O"), "I-PER O", 0),
        (at(-2, "O"), "I-PER O", 1),
        (at(5, "PER"), "O", 0),
        (not_at(0, "O"), "O B-PER", 1),
        (not_at(-1, "O"), "O B-PER", 0),
        # & adds, | and ~ are bits.
        (at_most(0, "a") & at_most(0, "b"), "a b a", 3),
        (at_most(0, "a") | at_most(0, "b"), "a b a b", 1),
        (at_most(0, "a") | at_most(0, "b"), "a a", 0),
        (~at_most(0, "a"), "a b a", 0),
        (~at_most(0, "a"), "b", 1),
    ],
)
def test_violations(rule, labels, violations):
    assert rule.violations(labels.split()) == violations
    assert bool(rule.explain(labels.split())) == bool(violations)


@pytest.mark.parametrize(
    ("rule", "labels", "tokens", "violations"),
    [
        (where(DIGITS).allow("year", "other"), "year other title", "1 2 x", 0),
        (where(DIGITS).allow("year"), "year other title", "1 2 x", 1),
        (only_on(DIGITS, "year"), "year title", "1 2", 0),
        (only_on(DIGITS, "year"), "year year", "1 x", 1),
        (only_on(DIGITS, "PER"), "O I-PER", "x x", 1),
        # The last token of the segment being left decides.
        (changes_only_at(COMMA), "a a b", "x x, y", 0),
        (changes_only_at(COMMA), "a a b", "x, x y", 1),
        (changes_only_at(COMMA), "a a", "x x", 0),  # the end is no change
        (changes_only_at(COMMA), "O B-PER O", "x x, x", 0),  # leaving O is no leaving
        (changes_only_at(COMMA), "O B-PER O", "x, x x", 1),
        (changes_only_at(COMMA), "B-PER B-PER", "x x", 1),
        (changes_only_at(COMMA), "B-PER I-PER", "x x", 0),
    ],
)
def test_violations_that_look_at_the_input(rule, labels, tokens, violations):
    assert rule.violations(labels.split(), tokens.split()) == violations
    assert rule.violations(labels.split(), Sentence(tokens.split())) == violations
    assert bool(rule.explain(labels.split(), tokens.split())) == bool(violations)


def test_the_outside_label_of_plain_labels_is_no_segment():
    labels = ["other", "author", "other", "title"]
    assert starts_with("author").violations(labels, scheme=OUTSIDE) == 0
    assert starts_with("author").violations(labels, scheme=PLAIN) == 1
    assert matches("author title", unit="segment").violations(labels, scheme=OUTSIDE) == 0
    assert at_most(1, "other").violations(labels, scheme=PLAIN) == 1
    assert at_most(1, "other", unit="token").violations(labels, scheme=OUTSIDE) == 1
    with pytest.raises(LabelError, match=r"'other' is a token label and no segment"):
        at_most(1, "other").violations(labels, scheme=OUTSIDE)


def test_paths_count_prefixes_and_wildcards():
    labels = ["B-by/B-person", "I-by/I-person", "I-by", "I-by/B-person", "B-person", "O"]
    count = {"by": 1, "by/person": 2, "person": 1, "**/person": 3, "*/person": 2, "**": 4}
    for name, n in count.items():
        assert exactly(n, name).violations(labels, scheme=PATH) == 0, name
        assert exactly(n, name).violations(labels) == 0, name
    assert precedes("by/person", "person").violations(labels, scheme=PATH) == 0
    assert starts_with("by").violations(labels) == starts_with("by/person").violations(labels) == 0
    assert ends_with("by", unit="token").violations(labels[:3]) == 0
    assert matches("by by/person by/person person", unit="segment").violations(labels) == 0
    assert matches("by '**/person'+", unit="segment").violations(labels) == 0


def test_the_scheme_is_guessed_from_one_sequence():
    rule = at_most(1, "a")
    assert rule.violations(["S-a", "S-a"]) == 1  # bioes
    assert rule.violations(["U-a", "U-a"]) == 1  # bilou
    assert rule.violations(["I-a", "O", "I-a"]) == 1  # bio, though valid in iob1
    assert rule.violations(["B-a", "a", "b", "a"]) == 1  # plain: 'a' has two runs
    assert rule.violations(["B-a", "I-a", "B-a"], scheme="plain") == 0
    assert at_most(1, "x/y").violations(["B-x/y", "B-x/y"]) == 1  # a slash inside a name


def test_names_are_checked_where_the_labels_are_known():
    with pytest.raises(LabelError, match=r"at_most\(1, 'PRE'\).*'PRE'.*Did you mean 'PER'"):
        at_most(1, "PRE").violations(["O"], scheme=BIO)
    with pytest.raises(LabelError, match=r"no segment 'zzz'\. Known are 'ORG', 'PER'"):
        (at_most(1, "PER") & precedes("PER", "zzz")).compile(BIO)
    with pytest.raises(LabelError, match=r"'B-PER' is a token label.*Did you mean 'PER', or unit"):
        at_most(1, "B-PER").compile(BIO)
    with pytest.raises(LabelError, match=r"'O' is a token label and no segment\. Set unit='token'"):
        (~starts_with("O")).compile(BIO)
    with pytest.raises(LabelError, match=r"there is no label 'B-PRE'.*'B-PER'"):
        matches("B-PRE").compile(BIO)
    with pytest.raises(LabelError, match=r"there is no label 'x'"):
        where(DIGITS).allow("x").allowed(BIO, ["1"])
    with pytest.raises(LabelError, match=r"position 1: unknown label 'B-LOC'"):
        at_most(1, "PER").violations(["O", "B-LOC"], scheme=BIO)
    at_most(1, "PRE").violations(["O"])  # nothing is known here


def test_mistakes_are_named():
    with pytest.raises(ValueError, match=r"looks at the input.*sentence="):
        where(DIGITS).allow("year").violations(["year"])
    with pytest.raises(ValueError, match=r"looks at the input.*sentence="):
        (at_most(1, "year") | where(DIGITS).allow("year")).violations(["year"])
    with pytest.raises(ValueError, match=r"one label a token, got 1 labels for 2 tokens"):
        where(DIGITS).allow("year").violations(["year"], ["1", "2"])
    with pytest.raises(LabelError, match=r"position 1: expected a label, got None"):
        at_most(1, "a").violations(["a", None])
    with pytest.raises(TypeError, match=r"labels: expected a list of labels, got the string 'a b'"):
        at_most(1, "a").violations("a b")
    with pytest.raises(TypeError, match=r"labels: expected a list of labels, got NoneType"):
        at_most(1, "a").violations(None)
    for word, meant in ((precedes, "at_most(1"), (requires, "at_least(1"), (excludes, "at_most(0")):
        with pytest.raises(ValueError, match=r"'a' twice\. Did you mean " + re.escape(meant)):
            word("a", "a")
    with pytest.raises(TypeError, match=r"neither true nor false.*&"):
        bool(at_most(1, "a"))
    with pytest.raises(TypeError, match=r"neither true nor false"):
        bool(DIGITS)
    with pytest.raises(TypeError):
        at_most(1, "a") & DIGITS
    with pytest.raises(ValueError, match=r"at_most: expected 0 or more, got -1"):
        at_most(-1, "a")
    with pytest.raises(TypeError, match=r"at_most: expected a whole number, got str 'a'"):
        at_most("a", 1)
    with pytest.raises(TypeError, match=r"at_most: expected a whole number, got bool"):
        at_most(True, "a")
    with pytest.raises(ValueError, match=r"expected unit 'segment' or 'token', got 'word'"):
        at_most(1, "a", unit="word")
    with pytest.raises(ValueError, match=r"starts_with: expected at least one label"):
        starts_with()
    with pytest.raises(ValueError, match=r"got an empty string"):
        starts_with("")
    with pytest.raises(TypeError, match=r"starts_with: expected a label, got list"):
        starts_with(["a"])
    with pytest.raises(TypeError, match=r"at: expected a position first"):
        at("a")
    with pytest.raises(TypeError, match=r"where: expected a token test"):
        where("[0-9]")
    with pytest.raises(RegexError, match=r"column 3"):
        matches("a (b")
    with pytest.raises(TypeError, match=r"matches: expected a regular expression or an Automaton"):
        matches(3)
    with pytest.raises(ValueError, match=r"expected an automaton with label names"):
        matches(Automaton.chain(2))


def test_rules_are_values():
    assert at_most(1, "a") == at_most(1, "a") != at_least(1, "a")
    assert at_most(1, "a") != at_most(1, "a", unit="token")
    assert len({at_most(1, "a") & at_most(1, "b"), at_most(1, "a") & at_most(1, "b")}) == 1
    assert (at_most(1, "a") & at_most(1, "b")) & at_most(1, "c") == at_most(1, "a") & (
        at_most(1, "b") & at_most(1, "c")
    )
    assert (at_most(1, "a") & at_most(1, "b")).conjuncts == (at_most(1, "a"), at_most(1, "b"))
    assert (at_most(1, "a") | at_most(1, "b")).conjuncts == (at_most(1, "a") | at_most(1, "b"),)
    with pytest.raises(AttributeError):
        at_most(1, "a").n = 2


def test_as_constraint():
    rule = at_most(1, "a")
    assert as_constraint(rule) is rule
    assert as_constraint("a b*") == matches("a b*")
    automaton = Automaton.from_regex("a b*", ["a", "b"])
    assert as_constraint(automaton) == matches(automaton)
    assert as_constraint(automaton).violations(["a", "b", "b"]) == 0
    assert as_constraint(automaton).violations(["b"]) == 1


def test_tests_are_listed_once():
    rule = (where(DIGITS).allow("a") | changes_only_at(COMMA)) & ~only_on(DIGITS, "b")
    assert rule.tests == (DIGITS, COMMA)
    assert at_most(1, "a").tests == ()


def test_explanations():
    labels = ["B-PER", "I-PER", "O", "B-PER", "B-ORG"]

    def say(rule, tokens=None):
        return rule.explain(labels, tokens)

    assert say(at_most(1, "PER")) == [
        "'PER' has 2 segments, at tokens 0-1 and 3; at most 1 expected."
    ]
    assert say(at_least(1, "LOC")) == ["'LOC' has 0 segments; at least 1 expected."]
    assert say(exactly(2, "ORG")) == ["'ORG' has 1 segment, at token 4; exactly 2 expected."]
    assert say(at_most(0, "PER", unit="token")) == [
        "'PER' has 3 tokens, at tokens 0, 1 and 3; at most 0 expected."
    ]
    assert say(contiguous("PER")) == [
        "'PER' has 2 segments, at tokens 0-1 and 3; at most 1 expected."
    ]
    assert say(starts_with("ORG")) == ["the first segment is 'PER', at token 0; expected 'ORG'."]
    assert say(precedes("ORG", "PER")) == [
        "'ORG' at token 4 comes after 'PER' at token 0; expected every 'ORG' before."
    ]
    assert say(requires("PER", "LOC")) == [
        "'PER' occurs, at token 0, without 'LOC'; expected both."
    ]
    assert say(excludes("PER", "ORG")) == [
        "'PER', at token 0, and 'ORG', at token 4, occur together; expected one of them at most."
    ]
    assert say(matches("PER+", unit="segment")) == ["PER PER ORG does not match 'PER+'."]
    assert say(at(0, "O", "ORG")) == ["token 0 is 'B-PER'; 'O' or 'ORG' expected there."]
    assert say(not_at(-1, "ORG")) == ["token 4 is 'B-ORG'; anything but 'ORG' expected there."]
    assert say(~at_least(1, "PER")) == ["at_least(1, 'PER') holds; expected that it does not."]
    assert say(at_most(0, "ORG") & starts_with("ORG")) == [
        "'ORG' has 1 segment, at token 4; at most 0 expected.",
        "the first segment is 'PER', at token 0; expected 'ORG'.",
    ]
    assert say(at_most(0, "ORG") | at_least(1, "LOC")) == [
        "none of 2 alternatives holds: 'ORG' has 1 segment, at token 4; at most 0 expected; "
        "'LOC' has 0 segments; at least 1 expected."
    ]
    tokens = ["a", "b", "7", "c", "d"]
    assert say(where(DIGITS).allow("PER"), tokens) == [
        "token 2 passes token(regex='[0-9]+') and is 'O'; expected 'PER'."
    ]
    assert say(only_on(DIGITS, "ORG"), tokens) == [
        "token 4 is 'B-ORG' and does not pass token(regex='[0-9]+'); "
        "'ORG' expected only where tokens do."
    ]
    assert say(changes_only_at(DIGITS), tokens) == [
        "segments end at tokens 1 and 3, where token(regex='[0-9]+') does not pass; "
        "expected changes only where it does."
    ]
    assert at_most(1, "PER").explain(["O"]) == []
