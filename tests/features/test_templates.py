"""The template language, the files of CRF++ and Wapiti, and the bundles."""

from __future__ import annotations

import json

import pytest

from template_cases import EVERYTHING
from trelliswork.errors import TemplateError
from trelliswork.features import BUNDLES, Lexicon, TemplateEncoder, Templates, bundle, resolve


def names(templates):
    return [t.group for t in templates.templates]


def features(text, sentence):
    encoder = TemplateEncoder(Templates.parse(text))
    encoded = encoder.fit([sentence])
    known = encoder.feature_names()
    rows = zip(encoded.state.indptr[:-1], encoded.state.indptr[1:], strict=True)
    return [[known[i] for i in encoded.state.indices[a:b]] for a, b in rows]


def test_windows_ngrams_and_ranges_expand():
    templates = Templates.parse("word[-1..0] | pos[0..1]\nngrams(word[-1..1], 2..3)")
    assert names(templates) == [
        "word[-1]|pos[0]",
        "word[-1]|pos[1]",
        "word[0]|pos[0]",
        "word[0]|pos[1]",
        "word[-1]|word[0]",
        "word[0]|word[1]",
        "word[-1]|word[0]|word[1]",
    ]
    assert names(Templates.parse("suffix(word[0..1], 1..2)")) == [
        "suffix(word[0], 1)",
        "suffix(word[0], 2)",
        "suffix(word[1], 1)",
        "suffix(word[1], 2)",
    ]


def test_text_and_dict_round_trip():
    templates = Templates.parse(EVERYTHING)
    assert Templates.parse(str(templates)) == templates
    assert str(Templates.parse(str(templates))) == str(templates)
    assert Templates.from_dict(json.loads(json.dumps(templates.to_dict()))) == templates
    assert templates.lexicons["months"].phrases == ("January", 'Feb "ruary"', "March")
    assert templates.patterns["slash"].expression == "a/b"
    assert templates.has_edges
    assert templates.pad
    assert hash(templates) == hash(Templates.parse(EVERYTHING))


def test_repeated_rules_count_once():
    assert len(Templates.parse("word\nword[0]\nword[0..1]").templates) == 2


def test_lexicons_from_outside_are_embedded(tmp_path):
    path = tmp_path / "cities.txt"
    path.write_text("New  York\n\nRome\n", encoding="utf-8")
    lexicons = {"cities": path, "names": ["Ann"], "caps": Lexicon(("ACL",), cased=True), "no": []}
    text = "in(cities, word)\nin(names, word)\nin(caps, word)"
    templates = Templates.parse(text, lexicons=lexicons)
    assert templates.lexicons["cities"].phrases == ("New York", "Rome")
    assert "no" not in templates.lexicons
    assert Templates.from_dict(templates.to_dict()) == templates
    encoder = TemplateEncoder(templates)
    encoder.fit([["new", "york", "acl", "ACL", "ann", "york"]])
    assert encoder.feature_names() == [
        "in(cities, word[0])=B",
        "in(cities, word[0])=I",
        "in(caps, word[0])=B",
        "in(names, word[0])=B",
    ]


def test_longest_phrase_wins():
    text = 'lexicon x = "a" "a b c" "b"\nin(x, word)'
    rows = features(text, ["a", "b", "a", "b", "c"])
    assert [r[0][-1] if r else "" for r in rows] == ["B", "B", "B", "I", "I"]


def test_segments_of_a_reference():
    text = "A. Cau , R. Kuiper . Formalising refinement . In Proc. of ZUM , volume 9 , 1996 ."
    rows = features("segment_start()", text.split())
    starts = [token for token, row in zip(text.split(), rows, strict=True) if row]
    assert starts == ["A.", "R.", "Formalising", "In", "Proc.", "of", "volume", "9", "1996"]


def test_file_names_its_place(tmp_path):
    path = tmp_path / "a.templates"
    path.write_text("word[0]\nword[", encoding="utf-8")
    with pytest.raises(TemplateError, match=r"a\.templates:2:6: expected an offset, got the end"):
        Templates.from_file(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "at least one template"),
        ("# nothing", "at least one template"),
        ("word[0", r"1:7: expected '\]', got the end of the line"),
        ("word[2..1]", "1:9: expected an offset of at least 2, got 1"),
        ("word[-500]", "1:6: expected an offset from -100 to 100, got -500"),
        ("word[99999999999999999999]", "1:6: expected an offset from"),
        ("word[0] word[1]", "1:9: expected the end of the line, got 'word'"),
        ("word[0] |", "1:10: expected a column or a function, got the end"),
        ("\n\nupper(word)", "3:1: unknown function 'upper'; known are bias, first, in"),
        ("match(year, word)", "1:7: unknown pattern 'year'; declared before this line: none"),
        ("in(x, word)", "1:4: unknown lexicon 'x'"),
        ("pattern a = /(b/", "1:14: .*close this group"),
        (r"pattern a = /\/\b/", "1:16: .*escape"),
        ("pattern a = b", "1:13: expected a regular expression between slashes, got 'b'"),
        ("pattern a = /b/\npattern a = /b/", "2:9: pattern 'a' is declared twice"),
        ("lexicon a = b", "1:13: expected a phrase in double quotes, got 'b'"),
        ('lexicon a = "b', "1:13: a string that is not closed"),
        ("word ; pos", "1:6: unexpected character ';'"),
        ("outside: maybe", "1:10: expected 'pad' or 'skip', got 'maybe'"),
        ("position(0)", "1:10: expected a number of bins from 1"),
        ("prefix(word, 0)", "1:14: expected a length from 1"),
        ("lower(position(3))", r"1:1: lower\(…\) needs the text of a column, not position\(3\)"),
        ("in(x, lower(word))\n", "1:4: unknown lexicon"),
        ("lower(ngrams(word[0..1], 2))", "1:7: ngrams.*not put inside"),
        ("ngrams(word[0..1], 3)", "1:1: no 3-grams in a window of 2"),
        ("word[-100..100] | word[-100..100]", "1:1: more than 10000 templates"),
    ],
)
def test_errors_point_at_the_place(text, message):
    with pytest.raises(TemplateError, match=message):
        Templates.parse(text)


CRFPP = """# Unigram
U00:%x[-1,0]
U01:%x[0,0]
U02:%x[-1,0]/%x[0,0]
U03:%x[0,1]

# Bigram
B
B01:%x[0,1]
"""


def test_crfpp_file():
    templates = Templates.parse(CRFPP)
    assert templates.plain_transitions
    assert templates.has_edges
    encoder = TemplateEncoder(templates)
    encoded = encoder.fit([[("He", "PRP"), ("runs", "VBZ")]])
    assert encoder.feature_names() == [
        "U00:_B-1", "U01:He", "U02:_B-1/He", "U03:PRP",
        "U00:He", "U01:runs", "U02:He/runs", "U03:VBZ",
    ]  # fmt: skip
    assert encoder.edge_feature_names() == ["B01:VBZ"]
    assert encoded.edge.indptr.tolist() == [0, 0, 1]
    assert Templates.parse(str(templates)) == templates


def test_crfpp_lines_without_a_place_are_a_bag_of_words():
    encoder = TemplateEncoder("U:%x[-1,0]\nU:%x[0,0]\nU:%x[1,0]")
    encoded = encoder.fit([["a", "b", "a"]])
    assert encoder.feature_names() == ["U:_B-1", "U:a", "U:b", "U:_B+1"]
    dense = encoded.state.to_scipy().toarray().tolist()
    assert dense == [[1, 1, 1, 0], [0, 2, 1, 0], [0, 1, 1, 1]]


def test_crfpp_comments():
    encoder = TemplateEncoder("# all\nU#1|(a):%x[0,0]  # the word\n\n")
    encoder.fit([["a"]])
    assert encoder.feature_names() == ["U#1|(a):a"]


def test_numbered_columns_of_sentences():
    class Row:
        tokens = ("a",)
        columns = {"word": ("a",), "pos": ("N",)}  # noqa: RUF012

    encoder = TemplateEncoder("U1:%x[0,0]\nU2:%x[0,1]")
    encoder.fit([Row()])
    assert encoder.feature_names() == ["U1:a", "U2:N"]
    with pytest.raises(TemplateError, match="no column 2; it has"):
        TemplateEncoder("U2:%x[0,2]").fit([Row()])


def test_wapiti_file():
    text = '*\n*:Pos=%X[ 0,0]\nU:Caps=%t[0,0,"^\\u"]\nU:Suf=%M[ 0,0,".?.?$"]\nU:%m[0,0,"\\d*"]\nB'
    templates = Templates.parse(text)
    assert templates.plain_transitions
    encoder = TemplateEncoder(templates)
    encoder.fit([["Été", "99x"]])
    assert encoder.feature_names() == [
        "*", "*:Pos=été", "U:Caps=true", "U:Suf=té", "U:",
        "*:Pos=99x", "U:Caps=false", "U:Suf=9x", "U:99",
    ]  # fmt: skip
    assert encoder.edge_feature_names() == ["*:Pos=99x"]
    assert Templates.parse(str(templates)) == templates


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("U1:%x[0,0]\nword[0]", "2:1: expected a line that starts with U, B or \\*, got 'w'"),
        ("U1:%x[0]", r"1:4: expected %x\[row,column\], got '%x\[0\]'"),
        ("U1:%x[0,0]%x[a,0]", "1:11: expected %x"),
        ("U1:%x[500,0]", "1:4: expected a row within"),
        ("U1:%t[0,0]", "1:4: %t needs an expression"),
        ('U1:%x[0,0,"a"]', "1:4: %x takes no expression"),
        ('U1:%t[0,0,"*"]', "1:12: nothing to repeat"),
    ],
)
def test_pattern_file_errors(text, message):
    with pytest.raises(TemplateError, match=message):
        Templates.parse(text)


def test_bundles_and_resolve():
    assert len(bundle("chunking").templates) == 21
    for name in BUNDLES:
        assert resolve(name) is bundle(name)
        assert Templates.parse(str(bundle(name))) == bundle(name)
    assert resolve(None) is bundle("ner")
    assert resolve(bundle("ner")) is bundle("ner")
    assert names(resolve("word[0]\n")) == ["word[0]"]
    with pytest.raises(TemplateError, match="unknown bundle 'nre'; there are chunking"):
        resolve("nre")
    with pytest.raises(TemplateError, match="expected one of the bundles"):
        bundle("x")
    with pytest.raises(TypeError, match="got int"):
        resolve(3)


def test_chunking_is_the_usual_set():
    rows = [("He", "PRP"), ("runs", "VBZ"), (".", ".")]
    encoder = TemplateEncoder("chunking")
    encoded = encoder.fit([rows])
    known = encoder.feature_names()
    first = [known[i] for i in encoded.state.indices[: encoded.state.indptr[1]]]
    assert first == [
        "word[0]=He", "word[1]=runs", "word[2]=.", "word[0]=He|word[1]=runs",
        "pos[0]=PRP", "pos[1]=VBZ", "pos[2]=.", "pos[0]=PRP|pos[1]=VBZ", "pos[1]=VBZ|pos[2]=.",
        "pos[0]=PRP|pos[1]=VBZ|pos[2]=.", "first()",
    ]  # fmt: skip
