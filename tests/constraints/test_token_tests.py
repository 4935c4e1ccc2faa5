"""Token tests: the tokens that pass, on every kind of sentence."""

from __future__ import annotations

import pytest

from trelliswork import Sentence
from trelliswork.constraints import token
from trelliswork.errors import DataError

SENTENCE = Sentence(["In", "1998", ",", "x1998"], {"pos": ["IN", "CD", ",", "NN"]})


def passes(test, sentence=SENTENCE) -> str:
    return "".join("+" if outcome else "-" for outcome in test.passes(sentence))


def test_the_whole_token_has_to_match():
    assert passes(token(regex="[0-9]{4}")) == "-+--"
    assert passes(token(regex=".*[0-9]{4}")) == "-+-+"
    assert passes(token(regex="in")) == "----"
    assert passes(token(regex="in", ignore_case=True)) == "+---"


def test_lexicons():
    assert passes(token(lexicon=["in", ","])) == "--+-"
    assert passes(token(lexicon={"iN", ","}, ignore_case=True)) == "+-+-"
    assert passes(token(regex=".", lexicon=["In", ","])) == "--+-"  # both


def test_columns():
    assert passes(token(regex="[A-Z]+", column="pos")) == "++-+"
    assert passes(token(regex="In", column="word")) == "+---"
    dicts = [{"word": "a", "n": 1}, {"word": "b", "n": 12}]
    assert passes(token(lexicon=["b"]), dicts) == "-+"
    assert passes(token(regex="[0-9]", column="n"), dicts) == "+-"
    assert passes(token(regex="a"), [("a", "DT"), ("b", "NN")]) == "+-"
    assert passes(token(regex="a"), []) == ""


def test_combinations():
    number, comma = token(regex="[0-9]+"), token(lexicon=[","])
    assert passes(number | comma) == "-++-"
    assert passes(~number & ~comma) == "+--+"
    assert passes(~(number | comma)) == "+--+"
    assert (number & comma & ~number) == ((number & comma) & ~number)
    assert hash(number & comma) == hash(number & comma)
    assert (number | comma).atoms == (number, comma)


def test_equal_tests_are_equal():
    assert token(lexicon=["a", "b"]) == token(lexicon={"b", "a"})
    assert token(lexicon=["A"], ignore_case=True) == token(lexicon=["a"], ignore_case=True)
    assert repr(token(lexicon=["b", "a"], column="pos")) == (
        "token(lexicon=['a', 'b'], column='pos')"
    )


def test_mistakes_are_named():
    with pytest.raises(ValueError, match="expected a regex, a lexicon or both"):
        token()
    with pytest.raises(ValueError, match=r"token: regex '\(a' at column \d"):
        token(regex="(a")
    with pytest.raises(TypeError, match="got the string 'a'"):
        token(lexicon="a")
    with pytest.raises(ValueError, match="expected words in the lexicon, got none"):
        token(lexicon=[])
    with pytest.raises(TypeError, match="expected words, got int 3"):
        token(lexicon=[3])
    with pytest.raises(TypeError, match="expected a string, got int 3"):
        token(regex=3)
    with pytest.raises(DataError, match=r"looks at 'lemma', which is not there.*'pos', 'word'"):
        token(regex="a", column="lemma").passes(SENTENCE)
    with pytest.raises(DataError, match=r"token 1: .*looks at 'word'.*Known are 'x'"):
        token(regex="a").passes([{"word": "a"}, {"x": 1}])
    assert passes(token(regex="N.*", column="pos"), [("a", "NN"), ("N", "b")]) == "+-"
    assert passes(token(regex="N.*", column="word"), [("a", "NN"), ("N", "b")]) == "-+"
    with pytest.raises(DataError, match=r"column 'pos', which has no known place in a row of 3"):
        token(regex="a", column="pos").passes([("a", "NN", "I")])
    with pytest.raises(TypeError, match="expected a string in the row at position 0, got int"):
        token(regex="a", column="pos").passes([("a", 1)])
    with pytest.raises(DataError, match="column 'pos', but the sentence is a list of tokens"):
        token(regex="a", column="pos").passes(["a"])
    with pytest.raises(TypeError, match="expected a list of tokens, got the string"):
        token(regex="a").passes("a b")
    with pytest.raises(TypeError, match="at position 0, got list"):
        token(regex="a").passes([["a"]])
