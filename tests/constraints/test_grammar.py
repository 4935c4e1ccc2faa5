"""Rules in plain words: labels without quotes, sentences, suffixes; and text that is no rule."""

from __future__ import annotations

import pytest
from hypothesis import example, given, strategies as st

from rule_strategies import combined, leaves, linear_rules, looking
from trelliswork import LabelError, LabelSet, RegexError, RuleError
from trelliswork.constraints import (
    at_least,
    at_most,
    count,
    excludes,
    iter_rules,
    matches,
    only_on,
    parse,
    parse_rules,
    precedes,
    requires,
    starts_with,
    token,
    where,
)
from trelliswork.constraints.given import as_constraints

X = token(regex="x")


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("at_most(1, title)", at_most(1, "title")),
        ("at_most(1,title)", at_most(1, "title")),
        ("at_most (1, B-PER, unit=token)", at_most(1, "B-PER", unit="token")),
        ("at_most(1, label=title)", at_most(1, "title")),
        ("starts_with(author, 'a b', N.Y., ns:name, 1st)", None),
        ("at_most(1, -LRB-)", at_most(1, "-LRB-")),
        ("at_most(1, '1')", at_most(1, "1")),
        ("only_on(token(regex='x'), author)", only_on(X, "author")),
        ("where(token(regex='x')).allow(author, O)", where(X).allow("author", "O")),
        (r"only_on(token(regex='\d\.'), year)", only_on(token(regex=r"\d\."), "year")),
        (r"only_on(token(regex=r'\d\.'), year)", only_on(token(regex=r"\d\."), "year")),
        ("matches('a b', unit=segment)", matches("a b", unit="segment")),
        # Counts.
        ("count(a) <= 1", count("a") <= 1),
        ("count(a)<=1", count("a") <= 1),
        ("1 >= count(a)", count("a") <= 1),
        ("count(a) == 1", count("a").equals(1)),
        ("1 == count(a)", count("a").equals(1)),
        ("count(a).equals(count(b) - 1)", (count("a") - count("b")).equals(-1)),
        (
            "count(authors/person) - count(authors/person/person-first) <= 0",
            count("authors/person") - count("authors/person/person-first") <= 0,
        ),
        ("count(**/person) <= 3", count("**/person") <= 3),
        ("2*count(a)-3*count(*/b) < 4", 2 * count("a") - 3 * count("*/b") <= 3),
        ("-count(a) - -2 * count(b) > -4", -count("a") + 2 * count("b") >= -3),
        ("-(count(a) - count(b)) <= 0", -count("a") + count("b") <= 0),
        ("- count(a) <= 0", -count("a") <= 0),
        ("count(O, unit=token) >= 1", count("O", unit="token") >= 1),
        # Sentences.
        ("author before title", precedes("author", "title")),
        ("author precedes title", precedes("author", "title")),
        ("thesis requires school", requires("thesis", "school")),
        ("thesis excludes journal", excludes("thesis", "journal")),
        ("**/person before 'my title'", precedes("**/person", "my title")),
        ("before before after", precedes("before", "after")),
        ("~author before title", ~precedes("author", "title")),
        (
            "(author before title | title before author) & at_least(1, title)",
            (precedes("author", "title") | precedes("title", "author")) & at_least(1, "title"),
        ),
        # Suffixes.
        ("at_most(1, title) : soft", at_most(1, "title").soft()),
        ("at_most(1, title): soft(1.5)", at_most(1, "title").soft(1.5)),
        ("at_most(1, title) :soft ( penalty = 2 )", at_most(1, "title").soft(2)),
        ("at_most(1, title):soft()", at_most(1, "title").soft()),
        ("at_most(1, title) : hard", at_most(1, "title")),
        ("author before title : soft", precedes("author", "title").soft()),
        ("author before title:soft(1e-3)  # why", precedes("author", "title").soft(1e-3)),
        ("count(a) - count(b) <= 0 : soft", (count("a") - count("b") <= 0).soft()),
        ("a before b | b before a : soft", (precedes("a", "b") | precedes("b", "a")).soft()),
        ("(count(a) <= 1).soft(0)", (count("a") <= 1).soft(0)),
    ],
)
def test_plain_words(text, rule):
    if rule is None:
        rule = starts_with("author", "a b", "N.Y.", "ns:name", "1st")
    assert parse(text) == rule
    assert parse(repr(rule)) == rule
    assert parse_rules(f"\n  # comment\n\t{text} # comment\n") == (rule,)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("author before", "column 14: expected a label after before, got the end of the"),
        ("author before 3", "column 15: expected a label after before, got 3"),
        ("author after title", "column 8: expected before, requires or excludes after author, got"),
        ("author", "column 1: expected a rule, got author. A rule is a word such as"),
        ("author before title before year", r"column 21: expected & or \|, ': soft', or the end"),
        ("at_most(1, a title)", r"column 14: expected a comma or \), got title"),
        ("at_most(1, a", r"column 8: expected a rule, but no \) closes this"),
        ("at_most(1, a)) ", "column 14: expected & or"),
        ("at_most(unit=token, 1)", "column 21: at_most: expected name=value after unit="),
        ("at_most(1, a, unit=token, unit=token)", "column 27: at_most: expected unit= once"),
        ("at_most(1, a, n=1)", "column 1: .*multiple values for argument 'n'"),
        ("at_most(1, a) : sfot", r"column 17: expected soft, soft\(penalty\) or hard after the c"),
        ("at_most(1, a) : soft 2", "column 22: expected & or"),
        ("at_most(1, a) : soft(-2)", r"column 22: penalty: expected 0 or more, got -2\.0"),
        ("at_most(1, a) : soft(x)", "column 22: penalty: expected a number, got str 'x'"),
        ("at_most(1, a) : soft(1e999)", "column 22: penalty: expected a finite number, got inf"),
        (
            "at_most(1, a).soft(nan)",
            "column 20: .* got nan. Leave it out to have it learned",
        ),
        ("at_most(1, a) : soft(inf)", r"column 22: .* got inf\. A rule without \.soft\(\) is hard"),
        ("at_most(1, a) : soft(1,5)", r"column 22: .* Write a decimal point: soft\(1\.5\)"),
        ("at_most(1, a) : soft(1, x)", "column 25: soft: expected one value in parentheses, got 2"),
        ("at_most(1, a).soft() : soft", "column 24: expected a rule that is not soft yet"),
        ("at_most(1, a).soft() & a before b", "column 22: &: at_most.*Make the whole soft"),
        ("~at_most(1, a).soft()", "column 2: ~: at_most.*Make the whole soft"),
        (
            "at_most(1, a).sotf()",
            r"column 15: there is no \.sotf\. Known: \.allow, \.soft, ",
        ),
        ("at_most(1, a).soft", r"column 19: expected \( after \.soft, got the end of the rule"),
        ("count(a).soft()", "column 1: expected a rule before .soft, got count"),
        ("count(a)", r"column 1: expected a rule, got count\('a'\)\. Compare it with a number"),
        ("count(a) <= title", r"column 13: expected counts or numbers, got title. Write count\(t"),
        ("count(a) <= 1.5", "column 10: count: expected a whole number or another count with <=,"),
        ("count(a) <= True", "column 13: expected counts or numbers, got True"),
        ("0 <= count(a) <= 1", "column 15: expected one comparison, got a chain. Give two rules"),
        ("count(a) * count(b) <= 1", "column 10: .*Rules are linear in counts"),
        ("count(a) - count(a) <= 1", "column 21: count: .* all counts cancel out"),
        ("count(a) <= 1 & a before b", "column 17: expected two rules.*Put comparisons in paren"),
        ("count(a) != 1", "column 1: expected a rule, got .* Compare it with a number: <= 1"),
        ("a before b or b before a", r"column 12: expected \| instead of 'or'"),
        ("not a before b", "column 1: expected ~ instead of 'not'"),
        ("only_on(token(regex=x), a)", "column 21: token: expected a string, got x. Quote it: 'x'"),
        ("only_on(token(lexicon=[x]), a)", "column 24: a list: expected a string, got x. Quote it"),
        ("matches(a)", "column 9: matches: expected a string, got a. Quote it: 'a'"),
        ("at_most(" + "9" * 5000 + ", a)", "column 9: expected a smaller number, got 9999"),
        ("starts_with('\\xZ')", "column 13: expected a string, but"),
        ("matches('" + "(" * 5000 + "')", "column 9: "),
        ('at_most("1", title)', "column 9: at_most: expected a whole number, got str '1'"),
        ("at_most(1, 2)", "column 12: at_most: expected a label, got int 2"),
        ("at_most(1, a, b)", "column 15: at_most: expected 2 values in parentheses, got 3"),
        ("valid_scheme(a)", "column 14: valid_scheme: expected nothing in parentheses, got 1"),
        ("only_on(token(regx='x'), a)", "column 20: token: there is no regx=. Did you mean regex="),
        ("at_most(1, a, zzz=2)", "column 19: at_most: there is no zzz=. Known: n, label, unit"),
        ("at_most(1, 'title)", "column 12: expected a string, but no ' closes this"),
        ("before(author, title)", r"column 1: .* Write author before title, or precedes\(author"),
        ("AT_MOST(1, title)", r"column 1: there is no word 'AT_MOST'\. Did you mean at_most\?"),
        ("arc_lists(1)", r"column 1: there is no word 'arc_lists'\. (?!.*arc_list\b)"),
        ("// one title", "column 1: expected a rule. Comments begin with #"),
        ("at most 1 title", r"column 1: expected a rule\. Write at_most\(1, title\)"),
        ("only_on x", r"column 1: expected a rule\. Write only_on\(…\)"),
        ("(" * 5000, "column 61: expected a simpler rule"),
    ],
)
def test_mistakes_are_pointed_at(text, message):
    with pytest.raises(RuleError, match=message):
        parse(text)


def test_errors_of_files_tell_line_and_column():
    text = "at_most(1, title)\n# comment\n  author befor title : soft\n"
    with pytest.raises(RuleError, match=r"^rules\.txt:3:10: expected before, requires or excludes"):
        parse_rules(text, "rules.txt")


def test_unknown_labels_are_pointed_at():
    labels = LabelSet(["author", "title"])
    text = "author before title\nat_most(1, title) & 'author' before 'titel' : soft\n"
    good, bad = iter_rules(text, "rules.txt")
    good.check(labels)
    assert (good.place, good.rule) == ("rules.txt:1", precedes("author", "title"))
    with pytest.raises(LabelError, match=r"^rules\.txt:2:37: precedes.*Did you mean 'title'"):
        bad.check(labels)
    (expression,) = iter_rules("matches('author+ titel*')", "rules.txt")
    with pytest.raises(LabelError, match=r"^rules\.txt:1:18: matches.*'titel'"):
        expression.check(labels)


def test_strings_given_as_constraints_stay_regular_expressions():
    assert as_constraints("a before b") == (matches("a before b"),)
    assert as_constraints(["a -LRB-"]) == (matches("a -LRB-"),)
    for text in (
        "at_most(1, title)",
        "count(a) <= 1",
        "a before b : soft",
    ):
        with pytest.raises(RuleError, match=r"got the text of a rule.*Read it with trelliswork"):
            as_constraints(text)
    with pytest.raises(RegexError, match=r"constraints\[0\]: "):
        as_constraints(["a ) b"])


@given(
    combined(st.one_of(leaves(["a", "b"], ["B-a", "#"]), linear_rules(["a", "it's"], ["x y"])))
    | looking(["a", "x y"]),
    st.none() | st.just(True) | st.floats(0, 1e6),
)
def test_printed_rules_are_read_back(rule, penalty):
    if penalty is not None:
        rule = rule.soft(None if penalty is True else penalty)
    assert parse(repr(rule)) == rule


PIECES = r"""at_most count token where only_on matches precedes before requires soft hard allow
equals not and or True None title B-PER **/x a/b 'a' "b" '\d' ' r'x' 0 1 2.5 1e999 -1 ( ) [ ] { } ,
. : = == <= >= < > != & | ~ + - * ** / # unit regex lexicon \ é arc_list 9e9"""
pieces = st.sampled_from([*PIECES.split(), "\n", "\0", "\u2028"])


@given(st.text() | st.lists(pieces, max_size=14).map("".join) | st.lists(pieces).map(" ".join))
@example("count(a)" + " + count(a)" * 2000 + " <= 1")
@example("at_most(1, a)" + " & at_most(1, a)" * 2000)
@example("matches('" + "(" * 100_000 + "')")
@example("'\ud800' before b")
@example("only_on(token(regex='a{999999999999999999999}'), b)")
@example("at(99999999999999999999999, b)")
@example("at_most(1, a, unit=[a])")
@example("token(lexicon=[[1]])")
@example("arc_list(1, initial=2, final=3)")
def test_any_text_is_a_rule_or_a_rule_error(text):
    try:
        rule = parse(text)
    except RuleError as error:
        place, message = str(error).split(": ", 1)
        column = int(place.removeprefix("column "))
        assert 1 <= column <= len(text) + 1, message
        assert message
    else:
        assert parse(repr(rule)) == rule


@given(st.lists(pieces, max_size=20).map(" ".join))
def test_any_file_is_rules_or_a_rule_error(text):
    try:
        found = parse_rules(text, "my.rules")
    except RuleError as error:
        found = str(error)
    assert isinstance(found, tuple) or found.startswith("my.rules:")
