import re
from itertools import pairwise

import pytest

from trelliswork.citations import LABELS, STYLES, Name, Work, load_works, render
from trelliswork.citations.styles.names import (
    FIRST_INVERTED,
    FULL,
    INVERTED,
    NameStyle,
    format_names,
)
from trelliswork.citations.styles.template import Piece, fill
from trelliswork.citations.styles.wording import (
    ENGLISH,
    SHORT,
    abbreviate_venue,
    format_edition,
    ordinal,
    sentence_case,
)

STYLE = {style.name: style for style in STYLES}
NEUMANN = Name(family="Neumann", given="John", particle="von")
BROOKS = Name(family="Brooks", given="Frederick P.", suffix="Jr.")
GAUDIOT = Name(family="Gaudiot", given="Jean-Luc")
WHO = Name(literal="World Health Organization")
VANCOUVER_NAMES = NameStyle(order="family", initial="", between_initials="", comma=" ")
PAPER = Work(
    id="p",
    type="inproceedings",
    title="Chess",
    year="1950",
    author=(NEUMANN,),
    editor=(BROOKS, GAUDIOT),
    container="Proceedings of the Conference on Games",
    pages="10-19",
    publisher="MIT Press",
)


def marked(pieces):
    return " ".join(f"<{piece.label}>{piece.text.strip()}" for piece in pieces)


def test_there_are_enough_styles_with_distinct_names():
    assert len(STYLE) == len(STYLES) >= 14


@pytest.mark.parametrize("style", STYLES, ids=lambda style: style.name)
def test_every_work_in_every_style_has_its_mandatory_fields(style):
    for work in load_works():
        pieces = render(work, style)
        labels = {piece.label for piece in pieces}
        assert labels <= set(LABELS)
        assert {"title", "date", "author" if work.author else "editor"} <= labels, work.id


@pytest.mark.parametrize("style", STYLES, ids=lambda style: style.name)
def test_punctuation_is_neither_doubled_nor_alone(style):
    for work in load_works():
        text = "".join(piece.text for piece in render(work, style))
        assert not re.search(r",,|[,.]”,|\. \.|\s,|  |\?\.|\$|\(\)|[{}]", text), text
        assert not re.match(r"[\s.,;:]", text), text


@pytest.mark.parametrize("style", STYLES, ids=lambda style: style.name)
def test_no_word_crosses_two_pieces(style):
    for work in load_works():
        pieces = render(work, style)
        for left, right in pairwise(pieces):
            assert not re.match(r"\w\w", left.text[-1] + right.text[0]), (left, right)


def test_styles_write_the_same_work_differently():
    texts = {"".join(piece.text for piece in render(PAPER, style)) for style in STYLES}
    assert len(texts) == len(STYLES)


def test_conventions():
    assert marked(render(PAPER, STYLE["apa"])) == (
        "<author>von Neumann, J. <date>(1950). <title>Chess. "
        "<editor>In F. P. Brooks Jr. & J.-L. Gaudiot (Eds.), "
        "<booktitle>Proceedings of the Conference on Games <pages>(pp. 10–19). <publisher>MIT Press"
    )
    thesis = Work(
        id="t", type="phdthesis", title="Nets", year="1954", author=(BROOKS,), school="Princeton"
    )
    assert marked(render(thesis, STYLE["bibtex-plain"], number=3)) == (
        "<number>[3] <author>Frederick P. Brooks Jr. <title>Nets. <tech>PhD thesis, "
        "<institution>Princeton, <date>1954."
    )
    article = Work("a", "article", "Nets", "1954", (BROOKS,), container="J", volume="2", issue="3")
    assert marked(render(article, STYLE["ieee"], number=4)) == (
        "<number>[4] <author>F. P. Brooks Jr., <title>“Nets,” <journal>J, <volume>vol. 2, "
        "<issue>no. 3, <date>1954."
    )


def test_slots_vanish_with_their_field_and_its_punctuation():
    template = "{$a}{. $b}{: $c|, see $c}!"
    values = {name: Piece(name.upper(), name) for name in "abc"}
    assert "".join(piece.text for piece in fill(template, values)) == "A. B: C!"
    del values["b"]
    assert fill(template, values) == [Piece("A, ", "a"), Piece("see C!", "c")]
    del values["a"]
    assert fill(template, values) == [Piece("see C!", "c")]


@pytest.mark.parametrize("template", ["", "$a", "{a}", "{$a} {$b}", "{$a$b}"])
def test_bad_templates_are_refused(template):
    with pytest.raises(ValueError, match="expected"):
        fill(template, {})


@pytest.mark.parametrize(
    ("names", "style", "expected"),
    [
        ([NEUMANN], INVERTED, "von Neumann, J."),
        ([BROOKS, GAUDIOT], FIRST_INVERTED, "Brooks, Frederick P., Jr., and Jean-Luc Gaudiot"),
        ([GAUDIOT, WHO, NEUMANN], FULL, f"Jean-Luc Gaudiot, {WHO.literal}, and John von Neumann"),
        ([GAUDIOT], VANCOUVER_NAMES, "Gaudiot JL"),
        ([NEUMANN, BROOKS, WHO], NameStyle(at_most=2), "J. von Neumann et al."),
        ([NEUMANN], NameStyle(capitals=True), "J. von NEUMANN"),
    ],
)
def test_names(names, style, expected):
    assert format_names(names, style) == expected


def test_wording():
    assert [ordinal(n) for n in (1, 2, 3, 4, 11, 22)] == [
        "1st",
        "2nd",
        "3rd",
        "4th",
        "11th",
        "22nd",
    ]
    assert format_edition("2", ENGLISH) == format_edition("2nd", ENGLISH) == "second edition"
    assert format_edition("Third", SHORT) == "3rd ed."
    assert format_edition("Revised edition", SHORT) == "Revised edition"
    assert (
        abbreviate_venue("Journal of the American Statistical Association") == "J. Am. Stat. Assoc."
    )
    assert abbreviate_venue("Nature") == "Nature"
    assert (
        abbreviate_venue("Proceedings of the Royal Society. Series A")
        == "Proc. Royal Soc. Series A"
    )
    assert sentence_case("The Structure of DNA: A Review") == "The structure of DNA: A review"
