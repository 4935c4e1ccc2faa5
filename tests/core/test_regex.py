"""The native regular expressions against Python's own."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings, strategies as st

from trelliswork._core import Regex
from trelliswork.features.shapes import unicode_table

LETTERS = "abAB1_ .-é\nß"


def pattern(expression, *, wapiti=False):
    return Regex(expression, wapiti, unicode_table())


single = st.one_of(
    st.sampled_from("abAB1_é").map(re.escape),
    st.sampled_from([".", r"\d", r"\w", r"\s", r"\D", r"\W", r"\S", r"\.", r"\x61", r"\u0062"]),
    st.sampled_from(
        ["[ab]", "[^ab]", "[a-z]", r"[\d_]", r"[^\w]", "[]a]", "[^]]", "[a-]", "[é-ü]"]
    ),
)


def combine(inner):
    repeat = st.sampled_from(["*", "+", "?", "{2}", "{1,2}", "{,2}", "{1,}"])
    return st.one_of(
        st.lists(inner, min_size=1, max_size=3).map("".join),
        st.lists(inner, min_size=2, max_size=3).map("|".join).map("({})".format),
        st.tuples(inner, repeat).map(lambda p: f"(?:{p[0]}){p[1]}"),
        st.tuples(single, repeat).map("".join),
        inner.map("(?:^{})".format),
        inner.map("(?:{}$)".format),
    )


expressions = st.recursive(single, combine, max_leaves=6)


@settings(max_examples=500, deadline=None)
@given(expressions, st.lists(st.text(LETTERS, max_size=7), min_size=1, max_size=5), st.booleans())
def test_agrees_with_python(expression, texts, ignore_case):
    expression = ("(?i)" if ignore_case else "") + expression
    ours, theirs = pattern(expression), re.compile(expression)
    for text in texts:
        assert ours.fullmatch(text) == bool(theirs.fullmatch(text)), text
        found, expected = ours.search(text), theirs.search(text)
        assert (found is None) == (expected is None), text
        if found and expected:  # theirs prefers the first alternative, ours the longest
            assert found[0] == expected.start()
            assert found[1] >= expected.end()


@given(st.text("()[]{}|*+?^$.\\ab1,-dwx", max_size=8))
def test_any_text_is_compiled_or_refused(expression):
    try:
        ours = pattern(expression)
    except ValueError as error:
        message, column = error.args
        assert message
        assert 0 <= column <= len(expression)
        return
    ours.search("ab1{,}")


def test_classes_of_every_character():
    upper, decimal = pattern(r"\w"), pattern(r"\d")
    space, ignoring = pattern(r"\s"), pattern("(?i)[à-þ]")
    w, d, s, i = (re.compile(e) for e in (r"\w", r"\d", r"\s", "(?i)[à-þ]"))
    for code_point in [*range(0x3000), *range(0xFF00, 0x10400), *range(0x1D400, 0x1D800)]:
        c = chr(code_point)
        assert upper.fullmatch(c) == bool(w.fullmatch(c)), c
        assert decimal.fullmatch(c) == bool(d.fullmatch(c)), c
        assert space.fullmatch(c) == bool(s.fullmatch(c)), c
        assert ignoring.fullmatch(c) == bool(i.fullmatch(c)), c


@pytest.mark.parametrize(
    ("expression", "column", "message"),
    [
        ("a(b", 1, "close this group"),
        ("a)b", 1, "unbalanced"),
        ("[ab", 0, "close this class"),
        ("*a", 0, "nothing to repeat"),
        ("a**", 2, "repetition of a repetition"),
        ("a+?", 2, "lazy"),
        (r"ab\b", 2, "escape"),
        (r"(a)\1", 3, "escape"),
        ("(?=a)", 0, "supported"),
        ("a{3,2}", 1, "least count"),
        ("[z-a]", 1, "range"),
        ("a\\", 1, "backslash"),
        (r"\xg1", 0, "hexadecimal"),
        ("(a{1000}){1000}", 15, "too large"),
        ("(" * 300 + ")" * 300, 200, "deeply"),
    ],
)
def test_invalid_patterns_are_refused(expression, column, message):
    with pytest.raises(ValueError, match=message) as caught:
        pattern(expression)
    assert caught.value.args[1] == column


def test_nested_repetitions_terminate():
    text = "a" * 100_000
    assert not pattern("(a*)*b").fullmatch(text)
    assert not pattern("(a|aa)*$b").search(text)
    assert pattern("(((a?)?)?)*").fullmatch(text)


@pytest.mark.parametrize(
    ("expression", "text", "span"),
    [
        (r"^.?.?", "été", (0, 2)),
        (r".?.?$", "été", (1, 3)),
        (r"\u\u*", "aBCd", (1, 3)),
        (r"\p", "a.b", (1, 2)),
        (r"\P*", "ab.", (0, 2)),
        (r"^\d*$", "12a", None),
        (r"a|b", "a|b", (0, 3)),
        (r"\..", "a.(", (1, 3)),
        (r"a^b$c", "a^b$c", (0, 5)),
    ],
)
def test_wapiti_dialect(expression, text, span):
    assert pattern(expression, wapiti=True).search(text) == span
