"""The page of references in a real browser: it works, looks as it should, and runs nothing else."""

from __future__ import annotations

import io
import re
import sys

import pytest

from browser import Browser, find_chromium
from page_cases import NEUMANN, REFERENCES, SHANNON, contrast
from trelliswork.citations.page import render_page
from trelliswork.citations.page.palette import colour
from trelliswork.citations.page.render import MAX_OPEN

CHROMIUM = find_chromium()


@pytest.fixture(scope="module")
def browser():
    if CHROMIUM is None:
        pytest.skip("needs Chromium: install it, or name it in CHROMIUM")
    with Browser(CHROMIUM) as running:
        if not running.answers():
            pytest.skip(f"{CHROMIUM} does not answer as Chromium does")
        yield running


def test_programs_that_are_no_browser_do_not_answer(tmp_path):
    for program in (sys.executable, str(tmp_path / "missing")):
        with Browser(program) as running:
            assert not running.answers()


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
    """The contrast of all small text with its background, as computed by the browser."""
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
    path.write_text(render_page([SHANNON, NEUMANN] * MAX_OPEN), encoding="utf-8")
    page = browser.open(path.as_uri())
    count = "document.querySelectorAll('details[open]').length"
    page.evaluate("addEventListener('beforeprint', () => { window.seen = " + count + "; })")
    assert page.pdf().startswith(b"%PDF")
    assert page.evaluate("window.seen") == 2 * MAX_OPEN
    assert page.evaluate(count) == 0
    assert page.problems() == []
