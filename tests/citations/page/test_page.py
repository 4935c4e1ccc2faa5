"""The page of references: content, safety, and legibility."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import given, strategies as st

from page_cases import (
    HEBREW,
    HOSTILE,
    NEUMANN,
    REFERENCES,
    SHANNON,
    VASWANI,
    contrast,
    reference,
)
from trelliswork.citations.fields import LABELS
from trelliswork.citations.page import render_page
from trelliswork.citations.page.card import rule_in_words
from trelliswork.citations.page.marks import (
    escape_text,
    fields_not_in,
    locate,
    mark_fields,
    percent,
)
from trelliswork.citations.page.palette import GROUNDS, INKS, OTHER, colour
from trelliswork.citations.page.render import MAX_OPEN
from trelliswork.citations.page.summary import counts_of
from trelliswork.citations.reference import Field, Reference

EMPTY = ("meta", "input", "br")  # elements without an end
OPENERS = "\u202a\u202b\u202d\u202e\u2066\u2067\u2068"


class Outline(HTMLParser):
    """The elements of a page, and whether they are nested as they should be."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[int, str] = {}  # by the number of the element in `tags`
        self._inside: list[int] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in EMPTY:
            self.open.append(tag)
            self._inside.append(len(self.tags) - 1)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
        self._inside.pop()

    def handle_data(self, text):
        for number in self._inside:
            self.texts[number] = self.texts.get(number, "") + text

    def text_of(self, tag: str, **wanted: str) -> list[str]:
        return [
            self.texts.get(number, "")
            for number, (name, attributes) in enumerate(self.tags)
            if name == tag and wanted.items() <= attributes.items()
        ]


@pytest.fixture(scope="module")
def page():
    return Outline(render_page(REFERENCES, title="My <list>", source="refs.txt"))


def test_the_head_sums_up(page):
    assert page.text_of("title")[0] == "My <list>"
    assert page.text_of("h1") == ["My <list>"]
    assert page.text_of("p", **{"class": "source"}) == ["refs.txt"]
    assert page.text_of("dd") == ["5", "51%", "1"]
    (picture,) = (attributes for tag, attributes in page.tags if tag == "svg")
    assert picture["aria-label"].startswith("References by confidence: 1 from 0% to 10%, 1 from 30")
    assert len(page.text_of("rect")) == 10


def test_every_reference_stands_there_as_it_is(page):
    texts = page.text_of("p", **{"class": "text"})
    assert texts[0] == SHANNON.text
    assert texts[1] == VASWANI.text
    assert texts[3] == HEBREW.text
    assert [tag for tag, _ in page.tags].count("article") == len(REFERENCES)
    assert page.text_of("span", **{"class": "type"})[:3] == [r.type for r in REFERENCES[:3]]


def test_fields_are_marked_with_label_and_confidence(page):
    marks = [
        (attributes["class"], attributes["data-t"], page.texts[number])
        for number, (tag, attributes) in enumerate(page.tags)
        if tag == "mark" and "data-t" in attributes
    ]
    assert marks[0] == ("author sure", "author >99%", "Shannon, C. E")
    assert marks[7] == (
        "doi sure",
        "doi 100%",
        "https://doi.org/10.1002/j.1538-7305.1948.tb01338.x",
    )
    assert ("location fair", "location 72%", "Long Beach, CA") in marks
    assert ("booktitle poor", "booktitle 47%", "In Automata Studies") in marks


def test_values_are_typed(page):
    rows = dict(zip(page.text_of("th", scope="row"), page.text_of("td", dir="auto"), strict=True))
    assert rows["pages"] == "5998-6008"
    table = page.text_of("table")
    assert "Vaswani, A.Shazeer, N.Parmar, N.et al." in table[1]  # set apart by the style
    assert "von Neumann, John, Jr.World Health Organization" in table[2]
    assert "December 2017" in table[1]
    assert "52%" in table[2]


def test_only_addresses_of_the_web_are_links(page):
    links = [attributes["href"] for tag, attributes in page.tags if tag == "a"]
    assert "https://doi.org/10.1002/j.1538-7305.1948.tb01338.x" in links
    for link in links:
        assert re.match(r"#r\d+$|https://(doi|arxiv)\.org/", link)
    found = Outline(
        render_page(
            [
                reference(("url", "http://a.org/x?y=1&z=2"), url="http://a.org/x?y=1&z=2"),
                reference(("doi", "10.1/<x>'y"), doi="10.1/<x>'y"),
                reference(("arxiv", "1706.03762"), arxiv="1706.03762"),
                reference(("arxiv", "../evil?"), arxiv="../evil?"),
            ]
        )
    )
    assert [a["href"] for tag, a in found.tags if tag == "a" and a.get("rel") == "noreferrer"] == [
        "http://a.org/x?y=1&z=2",
        "https://doi.org/10.1/%3Cx%3E%27y",
        "https://arxiv.org/abs/1706.03762",
    ]


def test_uninterpreted_text_is_shown_as_written():
    odd = Outline(render_page([reference(("date", "in the fall "), ("date", "of a year"))]))
    assert "in the fall · of a year" in odd.text_of("td", dir="auto")


def test_bibtex_has_the_keys_of_a_file_of_all():
    twice = Outline(render_page([SHANNON, SHANNON]))
    first, second = twice.text_of("pre")
    assert first.startswith("@article{shannon1948")
    assert second.startswith("@article{shannon1948")
    assert first.split(",")[0] != second.split(",")[0]
    assert first.endswith("}")


def test_the_rules_say_what_they_changed_and_why(page):
    (readings,) = page.text_of("div", **{"class": "readings"})
    assert "titleLogics and the synthesis of reliable organisms" in readings
    assert "journalfrom unreliable components" in readings
    assert "booktitleIn Automata Studies" in readings
    stressed = [a["class"] for tag, a in page.tags if tag == "mark" and "differs" in a["class"]]
    assert stressed == [
        "title differs",
        "journal differs",
        "title differs",
        "title differs",
        "booktitle differs",
    ]
    sections = page.text_of("section", **{"class": "rules"})
    assert "at most one title" in sections[0]
    assert "preferably, no journal together with publisher" in sections[0]
    assert sections[1] == "This reading breaks rules:at most one <b>"
    assert len(page.text_of("span", **{"class": "flag"})) == 1


def test_other_readings_show_what_is_different(page):
    assert page.text_of("ol", **{"class": "others"}) == [
        "18%publisherLong Beach, CA"
        "4%booktitlein Advances in Neural Information Processing Systems, vol. 30"
    ]
    same = replace(VASWANI, alternatives=(replace(VASWANI.alternatives[0], fields=VASWANI.fields),))
    assert "the same fields" in render_page([same])


def test_records_of_long_lists_are_folded():
    assert render_page([SHANNON] * MAX_OPEN).count("<details open>") == MAX_OPEN
    assert "<details open>" not in render_page([SHANNON] * (MAX_OPEN + 1))


def test_a_page_of_nothing():
    empty = Outline(render_page([]))
    assert empty.text_of("dd") == ["0"]
    assert "There are no references." in empty.text_of("main")[0]
    bare = Outline(render_page([Reference("no fields at all", 0, 16, (), 0.0)]))
    assert bare.text_of("p", **{"class": "text"}) == ["no fields at all"]


def test_labels_of_other_models_are_shown_too():
    odd = Outline(render_page([reference(("sup<er", "x "), ("title", "y"))]))
    assert odd.text_of("mark", **{"class": f"{OTHER} sure"}) == ["x"]
    assert "sup<er" in odd.text_of("ul", **{"aria-label": "Fields"})[0]


def test_nothing_is_loaded_and_no_other_script_runs(page):
    (policy,) = (a["content"] for _, a in page.tags if a.get("http-equiv"))
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy
    assert len(page.text_of("script")) == len(page.text_of("style")) == 1
    for _, attributes in page.tags:
        assert not {"src", "srcset", "style", "onload", "onerror"}.intersection(attributes)
    for part in page.text_of("style") + page.text_of("script"):
        assert not re.search(r"url\(|@import|fetch|http", part)


def test_hostile_text_stays_text(page):
    tags = {tag for tag, _ in page.tags}
    assert "img" not in tags
    assert "b" in tags  # ours: family names
    text = page.text_of("p", **{"class": "text"})[4]
    assert text.startswith("<script>document.title='owned'</script> & \"Q\" 'x', </style></script>")
    assert "\0" not in text
    assert "\u2400" in text
    render_page([HOSTILE]).encode()  # no half characters


@given(st.text(st.sampled_from("aא<&\"'\0\x1b\n\ud800\u202c\u2069" + OPENERS)))
def test_escaping(text):
    shown = escape_text(text)
    assert not set("<>\"'\0\x1b\ud800").intersection(shown)
    ends: list[str] = []
    for character in shown:
        if character in OPENERS:
            ends.append("\u202c" if character < "\u2060" else "\u2069")
        elif character in "\u202c\u2069":
            assert character in ends
            while ends.pop() != character:
                pass
    assert ends == []
    if not set(text).intersection("\0\x1b\ud800\u202c\u2069" + OPENERS):
        found = HTMLParser(convert_charrefs=True)
        seen: list[str] = []
        found.handle_data = seen.append
        found.feed(f"<p>{shown}</p>")
        assert "".join(seen) == text


def test_percentages():
    assert percent(0.0) == "0%"
    assert percent(1.0) == "100%"
    assert percent(0.99499) == "99%"
    assert counts_of([0.0, 0.05, 0.1, 0.999, 1.0, 1.0000001]) == [2, 1, 0, 0, 0, 0, 0, 0, 0, 3]


def test_fields_are_found_where_lines_were_joined():
    # "[7] A 2 com-\nmon 2" on one line: the mark of the list and the hyphen are gone.
    joined = Reference("A 2 common 2", 100, 118, (), 0.9)
    for start, place in ((106, (2, 3)), (117, (11, 12))):
        field = Field("volume", "2", start, start + 1, 0.9)
        assert locate(joined, [field]) == [(*place, field)]
    far = Reference("A 2", 0, 3, (), 0.9)
    assert [place[:2] for place in locate(far, (Field("volume", "2", 50, 51, 0.9),))] == [(2, 3)]
    lost = Field("title", "nowhere", 0, 7, 0.9), Field("title", "", 0, 0, 0.9)
    assert locate(far, lost) == []
    assert mark_fields(far, lost) == "A 2"


def test_readings_are_compared_by_place_and_label():
    assert fields_not_in(SHANNON.fields, SHANNON.fields) == []
    sure = [replace(field, confidence=0.1) for field in SHANNON.fields]
    assert fields_not_in(SHANNON.fields, sure) == []
    assert [f.label for f in fields_not_in(NEUMANN.unruled, NEUMANN.fields)] == [
        "title",
        "journal",
        "title",
    ]


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("at_most(2, 'date')", "at most two date"),
        ("at_least(1, 'title').soft()", "preferably, at least one title"),
        ("exactly(5, 'x')", "exactly 5 x"),
        ("requires('issue', 'journal').soft(0.2)", "preferably, issue only together with journal"),
        ("changes_only_at(token(regex='.')).per_token().soft(1.5)", "a field ends at a mark"),
        ("matches('a b*')", "matches('a b*')"),
    ],
)
def test_rules_in_words(rule, words):
    assert words in rule_in_words(rule)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_fields_can_be_read_on_their_colours(scheme):
    for label in (*LABELS, OTHER):
        ground, line = colour(label, scheme)
        assert contrast(INKS[scheme], ground) >= 4.5, label
        assert contrast(line, GROUNDS[scheme]) >= 3.0, label
    assert len({colour(label, scheme) for label in LABELS}) == len(LABELS)


def test_a_thousand_references_are_no_large_page():
    page = render_page([SHANNON, VASWANI, NEUMANN, HEBREW] * 250)
    assert len(page.encode()) < 5_000_000
