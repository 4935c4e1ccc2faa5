from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from language_oracle import NAMES, all_strings, expressions, matches, n_paths
from trelliswork.automata.automaton import Automaton
from trelliswork.automata.regex import (
    Both,
    Builder,
    Concat,
    Either,
    Labels,
    Not,
    Repeat,
    compile_node,
    parse,
)
from trelliswork.automata.regex_tree import simplify
from trelliswork.errors import RegexError, TooLargeError


@given(expressions(NAMES[:3]))
@settings(max_examples=150)
def test_automata_match_what_expressions_mean(node):
    automaton = compile_node(node, NAMES[:3])
    for string in all_strings(3, 4):
        names = tuple(NAMES[y] for y in string)
        # Exactly one path: an ambiguous expression does not count a labelling twice.
        assert n_paths(automaton, string) == matches(node, names), names


@given(expressions())
def test_writing_and_reading(node):
    text = str(node)
    read = parse(text)
    assert str(read) == text
    assert compile_node(read, NAMES).equivalent(compile_node(node, NAMES))


def test_precedence():
    a, b, c, d = (Labels((name,)) for name in NAMES)
    star = Repeat(a, 0, None)
    assert parse("~a* b | c & d") == Either((Concat((Not(star), b)), Both((c, d))))
    assert parse("a b & c | d") == Either((Both((Concat((a, b)), c)), d))
    assert parse("(a|b)c") == Concat((Either((a, b)), c))
    assert parse("~~a") == Not(Not(a))
    assert parse("a{2}?") == Repeat(Repeat(a, 2, 2), 0, 1)
    assert parse("a{,3}") == Repeat(a, 0, 3)
    assert parse("a { 1 , }") == Repeat(a, 1, None)


@pytest.mark.parametrize(
    "label",
    ["B-PER", "I-authors/B-person", "ARGM-TMP", "LOC.x", "C_1:2", "#$%", ",", "``", "-LRB-", "é"],
)
def test_bare_labels(label):
    assert parse(f"{label}*") == Repeat(Labels((label,)), 0, None)
    assert parse(f"({label}|{label})") == Either((Labels((label,)),) * 2)


@pytest.mark.parametrize("label", ["a b", "(", "it's", '"', "a\\b", ".", "..", "x^", "{1}", "\n"])
def test_odd_labels_are_quoted(label):
    node = Labels((label,))
    assert parse(str(node)) == node
    automaton = Automaton.from_regex(str(node), [label, "other"])
    assert automaton.accepts([label])
    assert not automaton.accepts(["other"])


def test_both_kinds_of_quotes():
    assert parse("""'it\\'s' "it's" """) == Concat((Labels(("it's",)),) * 2)


def test_dots_and_classes():
    anything = Labels((), negated=True)
    assert parse("..") == Concat((anything, anything))
    assert parse(".*") == Repeat(anything, 0, None)
    assert parse("[a b]") == Labels(("a", "b"))
    assert parse("[^a]") == Labels(("a",), negated=True)
    assert Automaton.from_regex("[]", ["a", "b"]).is_empty
    assert Automaton.from_regex("[^]", ["a", "b"]).count(1) == 2
    assert list(Automaton.from_regex("()", ["a", "b"]).strings(0)) == [()]


@pytest.mark.parametrize(
    ("expression", "column", "message"),
    [
        ("(a | b", 7, "the ')' that closes the '(' at column 1, got the end"),
        ("a )", 3, "expected the end or an operator, got ')'"),
        ("a | | b", 5, "expected a label, '.', '[', '(' or '~', got '|'"),
        ("* a", 1, "got '*'"),
        ("", 1, "got the end of the expression"),
        ("[a | b]", 4, "the ']' that closes the '[' at column 1, got '|'"),
        ("a ]", 3, "a ']' needs a '[' before"),
        ("a{3", 2, "expected a repetition"),
        ("a{}", 2, "expected a number"),
        ("a{3,2}", 2, "expected the smaller number first, got {3,2}"),
        ("a{99999999999}", 2, "below a thousand million"),
        ("a}", 2, "without its '{'"),
        ("a 'b", 3, "this quote is never closed"),
        ("a ''", 3, "Write () for the empty sequence"),
        ("a\\b", 2, "read only between quotes"),
        ("a aa | c", 3, "unknown label 'aa'. Did you mean 'a'?"),
        ("[a xyz]", 4, "unknown label 'xyz'. Known labels: a, b, c, d"),
        ("a.*", 1, "Put a space before it: 'a .'"),
        ("(" * 101 + "a" + ")" * 101, 101, "more than 100 operators inside each other"),
        ("a" + "*" * 101, 102, "more than 100 operators inside each other"),
        ("~" * 101 + "a", 101, "more than 100 operators inside each other"),
    ],
)
def test_errors_point_at_the_column(expression, column, message):
    with pytest.raises(RegexError) as caught:
        Automaton.from_regex(expression, NAMES)
    headline, shown, caret = str(caught.value).split("\n")
    assert headline.startswith(f"column {column}: ")
    assert message in headline
    assert shown == "    " + expression
    assert caret == " " * (3 + column) + "^"


def test_errors_show_the_line():
    with pytest.raises(RegexError, match="\n    b z\n      \\^"):
        Automaton.from_regex("a |\nb z", NAMES)
    with pytest.raises(RegexError, match=r"^Unknown label 'z'"):
        compile_node(Labels(("z",)), NAMES)


def test_the_smallest_of_three():
    # n-th from the end: deterministic only backwards.
    automaton = Automaton.from_regex(".* a .{30}", ["a", "b"], max_states=1000)
    assert automaton.n_states == 32
    assert automaton.is_unambiguous
    assert not automaton.is_deterministic
    assert Automaton.from_regex("(a | a)*", ["a", "b"]).n_arcs == 1


@pytest.mark.parametrize("expression", ["a{200000}", "(a{1000}){1000}", "a{1,999999999}"])
def test_large_repetitions_are_refused_before_they_grow(expression):
    with pytest.raises(TooLargeError, match=r"needs [\d,]+ states .* Use smaller numbers"):
        Automaton.from_regex(expression, ["a", "b"])


@pytest.mark.parametrize(
    ("written", "means"),
    [
        ("(){999999999}", "()"),
        ("(() ()){7}", "()"),
        ("a{0}", "()"),
        ("(a?){9}", "a{0,9}"),
        ("(a+){2,9}", "a{2,}"),
        ("(a{1,2}){3,4}", "a{3,8}"),
        ("(a{2,3}){4}", "a{8,12}"),
        ("(a{2,}){3,4}", "a{6,}"),
        ("(a{2,3}){0,2}", "a{2,3}{0,2}"),  # not once
        ("((a b)*){9}", "(a b)*"),
        ("(a? b?){9}", "(a? b?){0,9}"),
        ("(~a){9} (a & b){2}", "(~a){0,9} (a & b){2}"),
    ],
)
def test_repetitions_that_say_little(written, means):
    assert str(simplify(parse(written))) == means


@given(expressions(NAMES[:2]), st.integers(0, 2), st.integers(0, 3) | st.none())
@settings(max_examples=150)
def test_simplified_expressions_mean_the_same(node, low, high):
    whole = Repeat(node, low, high if high is None else low + high)
    short = simplify(whole)
    for string in all_strings(2, 4):
        names = tuple(NAMES[y] for y in string)
        assert matches(short, names) == matches(whole, names), names


@pytest.mark.parametrize("expression", ["(a? b?){400}", "(a* b?){400}", "((a | b)? a){0,400}"])
def test_optional_copies_have_few_arcs(expression):
    language = Builder(("a", "b"), None, 2000).language(parse(expression))
    assert language.n_arcs <= 400 * 9  # each copy is entered from the one before alone


def test_work_is_bounded_not_only_states():
    # Its 6,000 positions are all alive at once: few subsets, each of them thousands of states.
    with pytest.raises(TooLargeError, match=r"or looked at 20,000,000 arcs, and was given up"):
        Automaton.from_regex("(a? b?){3000}", ["a", "b"])


def test_blow_ups_are_refused():
    with pytest.raises(TooLargeError, match=r"unambiguous, forwards and backwards, passed 500"):
        Automaton.from_regex("(.* a .{30}) | (.{30} a .*)", ["a", "b"], max_states=500)
    with pytest.raises(TooLargeError, match=r"The complement ~\(.*either way round"):
        Automaton.from_regex("~(.* a .{30} | .{30} a .*)", ["a", "b"], max_states=500)
    with pytest.raises(TooLargeError, match=r"The intersection .* passed 10 states"):
        Automaton.from_regex("(a{5})* & (a{7})*", ["a", "b"], max_states=10)
    with pytest.raises(TooLargeError, match="needs 14,400 arcs"):
        Automaton.from_regex("(" + "|".join("a" * 120) + ")*", ["a", "b"], max_states=130)
