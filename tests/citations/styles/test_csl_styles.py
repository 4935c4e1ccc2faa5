"""Works in CSL styles: the text of citeproc-py, with labels."""

from __future__ import annotations

import re
from itertools import pairwise
from random import Random

import pytest

from trelliswork.citations import LABELS, CslStyle, Name, Work, csl_styles, generate, load_works
from trelliswork.errors import DataError

PAPER = Work(
    id="p",
    type="article",
    title="Chess",
    year="1950",
    author=(Name(family="Neumann", given="John", particle="von"),),
    container="Journal of Games",
    volume="7",
    issue="2",
    pages="10-19",
    doi="10.1000/182",
)
SOME = (
    "american-chemical-society",
    "american-medical-association",
    "apa",
    "cell",
    "chicago-author-date",
    "elsevier-harvard",
    "harvard-cite-them-right",
    "ieee",
    "modern-language-association",
    "nature",
    "plos",
    "springer-basic-author-date",
)


def test_there_are_hundreds():
    names = csl_styles()
    assert len(names) > 1000
    assert {"ieee", "apa", "nature"} <= set(names)
    assert list(names) == sorted(set(names))


# In words, so that punctuation may differ from one edition of a style to the next.
@pytest.mark.parametrize(
    ("name", "order"),
    [
        ("apa", "author date title journal volume issue pages doi"),
        ("ieee", "number author title journal volume issue pages date doi"),
    ],
)
def test_labels_by_construction(name, order):
    values = {
        "number": "4",
        "author": "Neumann",
        "date": "1950",
        "title": "Chess",
        "journal": "Journal of Games",
        "volume": "7",
        "issue": "2",
        "pages": "10–19",
        "doi": "10.1000/182",
    }
    pieces = CslStyle(name).render(PAPER, number=4)
    assert [piece.label for piece in pieces] == order.split()
    for piece in pieces:
        others = [value for label, value in values.items() if label != piece.label]
        assert re.search(rf"\b{values[piece.label]}\b", piece.text)
        # The DOI has digits of other fields in it.
        assert piece.label == "doi" or not re.search(rf"\b({'|'.join(others)})\b", piece.text)


@pytest.mark.parametrize("name", SOME)
def test_works_are_written_whole(name):
    style = CslStyle(name)
    for work in Random(name).sample(load_works(), 10):
        pieces = style.render(work)
        text = "".join(piece.text for piece in pieces)
        assert not re.search("[\ue000-\uf8ff]", text)
        assert {piece.label for piece in pieces} <= set(LABELS)
        words = set(re.findall(r"\w+", " ".join(p.text for p in pieces if p.label == "title")))
        wanted = set(re.findall(r"\w+", work.title))
        if words:  # some styles leave titles out, many change capitals
            lowered = {word.casefold() for word in words}
            assert {word.casefold() for word in wanted} <= lowered, (work.title, words)
        for left, right in pairwise(pieces):
            assert left.label != right.label


def test_a_type_says_what_its_publisher_is():
    thesis = Work(
        "t", "phdthesis", "Nets", "1954", (Name(family="Ash"),), school="Princeton University"
    )
    labels = {piece.label: piece.text for piece in CslStyle("apa").render(thesis)}
    assert "Princeton University" in labels["institution"]
    assert "publisher" not in labels


def test_generated_with_noise():
    references = generate([PAPER], [CslStyle("apa"), CslStyle("ieee")], fields="parser", seed=3)
    assert len(references) == 2
    assert references == generate(
        [PAPER], [CslStyle("apa"), CslStyle("ieee")], fields="parser", seed=3
    )
    for reference in references:
        assert set(reference.labels) <= set(LABELS)
        assert "issue" not in generate([PAPER], [CslStyle("apa")], seed=3)[0].labels


def test_an_unknown_style_is_named():
    with pytest.raises(DataError, match=r"'no such style'.*csl_styles"):
        CslStyle("no such style")
