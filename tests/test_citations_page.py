"""The page of references: what it says, that it is safe, and how it looks in a real browser."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from browser import Browser, find_chromium
from page_cases import HEBREW, HOSTILE, NEUMANN, REFERENCES, SHANNON, VASWANI, reference
from trelliswork.citations.fields import LABELS
from trelliswork.citations.page import render_page
from trelliswork.citations.page.escape import escaped, percent
from trelliswork.citations.page.marked import changed, locate, marked
from trelliswork.citations.page.palette import GROUNDS, INKS, OTHER, colour
from trelliswork.citations.page.render import MOST_OPEN
from trelliswork.citations.page.rule_words import rule_in_words
from trelliswork.citations.page.summary import counts_of
from trelliswork.citations.reference import Field, Reference

CHROMIUM = find_chromium()
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


def test_what_cannot_be_interpreted_is_shown_as_written():
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
    assert render_page([SHANNON] * MOST_OPEN).count("<details open>") == MOST_OPEN
    assert "<details open>" not in render_page([SHANNON] * (MOST_OPEN + 1))


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
    shown = escaped(text)
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
    assert marked(far, lost) == "A 2"


def test_readings_are_compared_by_place_and_label():
    assert changed(SHANNON.fields, SHANNON.fields) == []
    sure = [replace(field, confidence=0.1) for field in SHANNON.fields]
    assert changed(SHANNON.fields, sure) == []
    assert [f.label for f in changed(NEUMANN.unruled, NEUMANN.fields)] == [
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


def luminance(shade: str) -> float:
    parts = [int(shade[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


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


# In a browser


@pytest.fixture(scope="module")
def browser():
    if CHROMIUM is None:
        pytest.skip("needs Chromium: install it, or name it in CHROMIUM")
    with Browser(CHROMIUM) as running:
        yield running


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "page.html"
    path.write_text(render_page(REFERENCES, title="References"), encoding="utf-8")
    return path.as_uri()


ORDER = "[...document.querySelectorAll('article:not([hidden])')].map((one) => one.id)"


def style_of(selector: str, name: str, pseudo: str = "") -> str:
    return f"getComputedStyle(document.querySelector({selector!r}), {pseudo!r}).{name}"


def test_the_script_sorts_and_filters(browser, address):
    assert browser.open(address).evaluate(ORDER) == ["r1", "r2", "r3", "r4", "r5"]
    sorted_page = browser.open(address + "#sort=confidence")
    assert sorted_page.evaluate(ORDER) == ["r5", "r3", "r4", "r2", "r1"]
    assert sorted_page.problems() == []
    assert browser.open(address + "#below=60").evaluate(ORDER) == ["r3", "r4", "r5"]
    # With a field, its own confidence counts.
    by_field = browser.open(address + "#field=booktitle&below=90&sort=confidence")
    assert by_field.evaluate(ORDER) == ["r3", "r2"]
    assert by_field.evaluate("document.querySelector('[role=status]').textContent") == (
        "2 of 5 shown"
    )
    assert browser.open(address + "#changed=1").evaluate(ORDER) == ["r3"]
    assert browser.open(address + "#text=ATTENTION").evaluate(ORDER) == ["r2"]
    assert browser.open(address + "#text=shannon1948").evaluate(ORDER) == ["r1"]
    assert browser.open(address + "#field=nonsense").evaluate(ORDER) == [
        f"r{number}" for number in range(1, 6)
    ]


def test_clicks_do_the_same(browser, address):
    page = browser.open(address)
    page.click("input[value=confidence]")
    assert page.evaluate(ORDER) == ["r5", "r3", "r4", "r2", "r1"]
    page.click(".legend button:has(.journal)")
    assert page.evaluate(ORDER) == ["r1"]
    assert page.evaluate("location.hash") == "#sort=confidence&field=journal"
    assert page.evaluate("document.querySelector('[aria-pressed=true]').textContent") == "journal"
    page.click(".legend button:has(.journal)")
    page.click("input[value='']")
    assert page.evaluate(ORDER) == ["r1", "r2", "r3", "r4", "r5"]
    assert page.problems() == []


def test_bibtex_can_be_copied(browser, address):
    page = browser.open(address + "#text=attention")
    page.allow("clipboardReadWrite")
    page.evaluate("document.querySelector('#r1 .bibtex button').click()")
    read = "(async () => { window.focus(); return navigator.clipboard.readText(); })()"
    assert page.evaluate(read).startswith("@article{shannon1948")
    page.evaluate("document.querySelector('.controls > button').click()")
    copied = page.evaluate(read)
    assert copied.count("@") == 1
    assert copied.startswith("@inproceedings{vaswani2017")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1100])
def test_it_looks_as_it_should(browser, address, scheme, width):
    imread = pytest.importorskip("matplotlib.image").imread
    page = browser.open(address, width=width, scheme=scheme)
    ground, line = colour("title", scheme)
    mark = "#r1 mark.title"
    assert page.evaluate(style_of(mark, "backgroundColor")) == rgb(ground)
    assert page.evaluate(style_of(mark, "borderBottomColor")) == rgb(line)
    assert page.evaluate(style_of(mark, "borderBottomStyle")) == "solid"
    assert page.evaluate(style_of("#r2 mark.location", "borderBottomStyle")) == "dashed"
    assert page.evaluate(style_of("#r3 mark.booktitle", "borderBottomStyle")) == "dotted"
    assert page.evaluate(style_of("#r4 .text", "direction")) == "rtl"
    assert page.evaluate(style_of(".controls", "display")) == "flex"
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    picture = imread(io.BytesIO(page.screenshot()), format="png")
    assert picture.shape[:2] == (900, width)
    assert len({tuple(shade) for shade in picture[::3, ::3, :3].reshape(-1, 3).tolist()}) > 50
    corner = picture[2, 2, :3].mean()
    assert corner > 0.9 if scheme == "light" else corner < 0.2
    assert page.problems() == []


def rgb(shade: str) -> str:
    return "rgb({}, {}, {})".format(*(int(shade[i : i + 2], 16) for i in (1, 3, 5)))


def test_text_is_legible_in_both_schemes(browser, address):
    """The contrast of all small text with what it stands on, as computed by the browser."""
    for scheme in ("light", "dark"):
        page = browser.open(address, scheme=scheme)
        for selector, behind in [
            (".source, dt", "body"),
            (".controls label:has(select)", "body"),
            ("article > header", "article"),
            (".flag", "article"),
            ("summary", "article"),
            ("td a", "article"),
            (".sure-of .poor", "article"),
            ("pre", "pre"),
            (".order label:has(:checked)", ".order label:has(:checked)"),
            ("mark.poor small, mark.differs small", "mark.differs"),
        ]:
            front = page.evaluate(style_of(selector, "color"))
            back = page.evaluate(style_of(behind, "backgroundColor"))
            assert contrast(from_rgb(front), from_rgb(back)) >= 4.5, (scheme, selector)


def from_rgb(shade: str) -> str:
    return "#" + "".join(f"{int(part):02x}" for part in re.findall(r"\d+", shade)[:3])


@pytest.mark.parametrize("width", [400, 1100])
def test_a_label_shows_when_a_field_is_pointed_at_or_focused(browser, address, width):
    page = browser.open(address, width=width)
    label = style_of("#r1 mark.title", "content", "::after")
    assert page.evaluate(label) == "none"
    page.evaluate("document.querySelector('#r1').scrollIntoView()")
    page.point_at("#r1 mark.title")
    assert page.evaluate(label) == '"title 99%"'
    page.evaluate("document.querySelector('#r1 mark.journal').focus()")
    assert page.evaluate(style_of("#r1 mark.journal", "content", "::after")) == '"journal >99%"'
    page.click(".names input")
    assert page.evaluate(style_of("#r1 mark.journal", "content", "::before")) == '"journal"'
    assert page.evaluate(style_of("#r3 mark.booktitle", "content", "::before")) == '"booktitle ?"'


def test_hostile_text_executes_nothing(browser, address, tmp_path):
    page = browser.open(address)
    assert page.evaluate("document.title") == "References"
    assert page.evaluate("document.images.length + document.scripts.length") == 1
    assert page.evaluate("document.querySelector('#r5 .text').textContent").startswith(
        "<script>document.title='owned'</script>"
    )
    assert page.problems() == []
    assert page.requests() == [address]
    # Were anything to slip through, the policy would stop it.
    hole = tmp_path / "hole.html"
    html = render_page(REFERENCES).replace(
        "</main>", "</main><script>document.title = 'owned'</script><img src='http://x.invalid/y'>"
    )
    hole.write_text(html, encoding="utf-8")
    pierced = browser.open(hole.as_uri())
    assert pierced.evaluate("document.title") == "References"
    assert pierced.requests() == [hole.as_uri()]
    assert any("Content Security Policy" in problem for problem in pierced.problems())


def test_the_page_reads_without_its_script(browser, address):
    page = browser.open(address + "#sort=confidence", scripts=False)
    assert page.evaluate(ORDER) == ["r1", "r2", "r3", "r4", "r5"]
    assert page.evaluate(style_of(".controls", "display")) == "none"
    assert page.evaluate("document.querySelector('#r1 .text').innerText") == SHANNON.text
    assert page.evaluate("document.querySelector('#r1 table').innerText").startswith("field")
    assert page.evaluate("document.querySelectorAll('main button').length") == 0
    page.click(".names input")
    assert page.evaluate(style_of("#r1 mark.journal", "content", "::before")) == '"journal"'


def test_folded_records_are_printed(browser, tmp_path):
    path = tmp_path / "long.html"
    path.write_text(render_page([SHANNON, NEUMANN] * MOST_OPEN), encoding="utf-8")
    page = browser.open(path.as_uri())
    count = "document.querySelectorAll('details[open]').length"
    page.evaluate("addEventListener('beforeprint', () => { window.seen = " + count + "; })")
    assert page.pdf().startswith(b"%PDF")
    assert page.evaluate("window.seen") == 2 * MOST_OPEN
    assert page.evaluate(count) == 0
    assert page.problems() == []
