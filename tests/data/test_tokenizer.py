import json

import pytest
from hypothesis import given, strategies as st

from trelliswork.data.tokenizer import Tokenizer

TOKENIZERS = [Tokenizer("whitespace"), Tokenizer("words"), Tokenizer("regex", r"\w*")]


def test_words_split_punctuation_off():
    sentence = Tokenizer("words").tokenize("E. W. Montroll, pp. 61--205 (1979)")
    assert " ".join(sentence.tokens) == "E . W . Montroll , pp . 61 - - 205 ( 1979 )"


def test_whitespace():
    assert Tokenizer("whitespace").tokenize(" a, \n b\u00a0c ").tokens == ("a,", "b", "c")


def test_regex_skips_what_does_not_match():
    sentence = Tokenizer("regex", r"\d+").tokenize("pp. 61-205")
    assert sentence.tokens == ("61", "205")
    assert sentence.offsets == ((4, 6), (7, 10))


@pytest.mark.parametrize("word", ["cafe\u0301s", "हिन्दी", "مُحَمَّد", "می\u200cخواهم", "naïve_x"])
def test_combining_marks_stay_with_their_word(word):
    assert Tokenizer("words").tokenize(f"({word}, {word})").tokens == ("(", word, ",", word, ")")


@given(st.text(), st.sampled_from(TOKENIZERS))
def test_offsets_cut_the_text(text, tokenizer):
    sentence = tokenizer.tokenize(text)
    assert sentence.text == text
    assert tuple(text[s:e] for s, e in sentence.offsets) == sentence.tokens
    assert all(sentence.tokens)


@given(st.text(), st.sampled_from(["whitespace", "words"]))
def test_nothing_but_white_space_is_lost(text, kind):
    assert "".join(Tokenizer(kind).tokenize(text).tokens) == "".join(text.split())


@pytest.mark.parametrize("tokenizer", TOKENIZERS)
def test_saved_as_plain_data(tokenizer):
    record = json.loads(json.dumps(tokenizer.to_dict()))
    assert Tokenizer.from_dict(record) == tokenizer


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"kind": "spacy"}, "expected one of whitespace, words, regex, got 'spacy'"),
        ({"kind": "regex"}, "expected a pattern"),
        ({"kind": "words", "pattern": "x"}, "expected a pattern"),
        ({"kind": "regex", "pattern": "("}, "not a regular expression"),
        ({"kind": "regex", "pattern": 3}, "expected a string"),
        ({"code": "x"}, "expected the keys"),
    ],
)
def test_bad_records_are_refused(record, message):
    with pytest.raises(ValueError, match=message):
        Tokenizer.from_dict(record)
