"""Rules as text: the rules read, and the places of mistakes."""

from __future__ import annotations

import numpy as np
import pytest

from trelliswork import Automaton, RuleError
from trelliswork.constraints import (
    at,
    at_most,
    changes_only_at,
    matches,
    only_on,
    parse,
    parse_rules,
    precedes,
    read_rules,
    starts_with,
    token,
    valid_scheme,
    where,
)

PUNCTUATION = token(regex="[.,;]") | ~token(lexicon=["a", "b"], column="pos", ignore_case=True)


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (at_most(1, "title"), "at_most(1, 'title')"),
        (at_most(1, "B-x", unit="token"), "at_most(1, 'B-x', unit='token')"),
        (matches("a b*", unit="segment"), "matches('a b*', unit='segment')"),
        (starts_with("it's", 'a"b', "é\n"), "starts_with(\"it's\", 'a\"b', 'é\\n')"),
        (at(-2, "a", "b"), "at(-2, 'a', 'b')"),
        (valid_scheme(), "valid_scheme()"),
        (
            precedes("author", "title") | ~matches("a b*"),
            "(precedes('author', 'title') | ~matches('a b*'))",
        ),
        (
            where(PUNCTUATION).allow("a"),
            "where((token(regex='[.,;]') | "
            "~token(lexicon=['a', 'b'], column='pos', ignore_case=True))).allow('a')",
        ),
        (
            only_on(token(regex="x"), "a") & changes_only_at(token(lexicon=["y"])),
            "(only_on(token(regex='x'), 'a') & changes_only_at(token(lexicon=['y'])))",
        ),
    ],
)
def test_rules_print_as_their_source(rule, text):
    assert repr(rule) == text
    assert parse(text) == rule


def test_automata_are_printed_arc_by_arc():
    rule = matches(Automaton.from_regex("(a 'it is')*", ["a", "it is", "c"]))
    assert repr(rule) == (
        "matches(arc_list([(0, 'a', 1), (1, 'it is', 0)], initial=[0], final=[0]))"
    )
    assert parse(repr(rule)) == rule
    nothing = matches(Automaton.from_regex("a & b", ["a", "b"]))
    assert parse(repr(nothing)) == nothing
    assert nothing.violations(["a"]) == nothing.violations([]) == 1


def test_precedence_is_that_of_python():
    a, b, c = (at_most(1, name) for name in "abc")
    assert parse(f"{a!r} | {b!r} & ~{c!r}") == a | (b & ~c)
    assert parse(f"  ({a!r} | {b!r}) & {c!r}  # why") == (a | b) & c


def test_rule_files(tmp_path):
    text = "\ufeff# rules\n\nat_most(1, 'title')  # one '#' title\n  ~starts_with('#')\r\n"
    path = tmp_path / "my.rules"
    path.write_bytes(text.encode())
    assert read_rules(path) == (at_most(1, "title"), ~starts_with("#"))
    path.write_bytes("\n\ufeffat_most(1, 'title')\n\ufeff\n".encode())  # below a blank line
    assert read_rules(path) == (at_most(1, "title"),)
    assert parse_rules("") == ()
    path.write_text("at_most(1, 'title')\nat_most(1 'title')\n")
    with pytest.raises(RuleError, match=r"my\.rules:2:11: expected a comma or \), got 'title'\."):
        read_rules(path)


def test_a_file_that_is_no_text(tmp_path):
    path = tmp_path / "m.tw"
    path.write_bytes(b"\x93\xff\x00")
    with pytest.raises(RuleError, match=r"m\.tw: expected rules as text in UTF-8"):
        read_rules(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("at_mots(1, 'a')", r"column 1: there is no word 'at_mots'\. Did you mean at_most"),
        ("zzz('a')", r"column 1: there is no word 'zzz'\. Known: matches"),
        ("at_most(1)", "column 1: at_most: expected label too"),
        ("  at_most(-1, 'a')", r"column 11: at_most: expected 0 or more, got -1"),
        ("at_most(1, 'é') & exactly('a', 1)", "column 27: exactly: expected a whole number"),
        ("at_most(1, 'a') and at_most(1, 'b')", "column 17: expected & instead of 'and'"),
        ("at_most(1, 'a') + at_most(1, 'b')", "column 1: expected counts or numbers, got at_most"),
        ("at_most(1, 'a') & token(regex='x')", r"column 19: expected two rules or two token tests"),
        ("token(regex='x')", r"column 1: expected a rule, got token\(regex='x'\)\. Say what"),
        ("where(token(regex='x'))", "column 1: expected a rule.*Follow it with .allow"),
        ("at_most(1, 'a').allow('b')", r"column 1: expected where\(test\) before .allow"),
        ("'a'", "column 1: expected a rule, got 'a'"),
        ("~'a'", "column 2: expected a rule or a token test after ~, got 'a'"),
        ("matches('a (b')", "column 9: matches: in the expression, column 5"),
        ("at_most(1, 'a'", r"column 8: expected a rule, but no \) closes this"),
        ("", "column 1: expected a rule, got the end of the rule"),
        ("at_most(*[1, 'a'])", r"column 10: expected a comma or \), got '\['"),
        ("at_most(**{})", r"column 11: expected a comma or \), got '\{'"),
        ("starts_with(f'{1}')", r"column 14: expected a comma or \), got '\{1\}'"),
        ("__import__('os').system('true')", "column 1: there is no word '__import__'"),
        ("at_most.__class__", "column 1: expected a rule, got at_most.__class__"),
        ("(lambda: at_most(1, 'a'))()", r"column 10: expected a comma or \), got at_most"),
        ("[at_most(1, 'a') for _ in 'a']", r"column 18: expected a comma or \], got for"),
        ("at_most(1.5, 'a')", "column 9: at_most: expected a whole number, got float 1.5"),
        ("a\0b", "column 1: expected a rule, got a\0b"),
        ("~" * 100_000 + "valid_scheme()", "column 61: expected a simpler rule"),
    ],
)
def test_mistakes_are_pointed_at(text, message):
    with pytest.raises(RuleError, match=message):
        parse(text)


def test_names_from_arrays_print_as_strings():
    names = np.array(["title", "author"])
    rule = at_most(1, names[0]) & precedes(names[1], names[0]) & matches(names[0])
    assert repr(rule) == "(at_most(1, 'title') & precedes('author', 'title') & matches('title'))"
    assert parse(repr(rule)) == rule
    test = token(lexicon=names, column=names[0])
    assert parse(repr(only_on(test, names[0]))) == only_on(test, "title")
