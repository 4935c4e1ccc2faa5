import unicodedata
from importlib import resources
from random import Random

import pytest

from trelliswork.citations.invention.foreign import CULTURE_OF
from trelliswork.citations.invention.stock import Section, load_stock, parse_stock
from trelliswork.citations.invention.titles import GROUP_OF
from trelliswork.errors import DataError

STOCKS = sorted(
    resources.files("trelliswork.citations.invention").joinpath("stock").iterdir(),
    key=lambda path: path.name,
)
LARGER = ("ai", "systems", "theory", "mathematics", "condensed", "biology", "chemistry", "earth")


def entries(section, *stocks):
    return {entry for stock in stocks for entry in load_stock(stock)[section].entries}


@pytest.mark.parametrize("path", STOCKS, ids=lambda path: path.name)
def test_stocks_are_sorted_without_duplicates_and_composed(path):
    text = path.read_text(encoding="utf-8")
    assert unicodedata.is_normalized("NFC", text)
    assert text.endswith("\n")
    block = []
    for line in text.splitlines():
        assert line == line.strip() != ""
        block = [] if line.startswith("[") else [*block, line]
        assert block == sorted(block)
    for name, section in load_stock(path.name.removesuffix(".txt")).items():
        assert len(set(section.entries)) == len(section), name


def test_stocks_are_small():
    assert sum(len(path.read_bytes()) for path in STOCKS) < 150_000


def test_stocks_are_large_enough():
    people = load_stock("people")
    families = {entry for name in people if "family" in name for entry in people[name].entries}
    given = {entry for name in people if "given" in name for entry in people[name].entries}
    assert len(families) >= 1200
    assert len(given) >= 600
    journals = {entry.split("|")[0] for entry in entries("journal", *GROUP_OF, *CULTURE_OF)}
    assert len(journals) >= 700
    with_conferences = [stock for stock in GROUP_OF if "conference" in load_stock(stock)]
    assert len(entries("conference", *with_conferences)) >= 200
    publishers = entries("publisher", "publishers", "proceedings", *CULTURE_OF)
    assert len({entry.split("|")[0] for entry in publishers}) >= 300
    assert len({place for entry in publishers for place in entry.split("|")[1:]}) >= 100
    assert sum(map(len, load_stock("places").values())) >= 250
    assert sum(map(len, load_stock("institutions").values())) >= 250


@pytest.mark.parametrize("discipline", LARGER)
def test_larger_disciplines_have_many_words(discipline):
    stock, groups = load_stock(discipline), load_stock("groups")
    own = [
        word for name in ("adj", "mod", "head", "thing", "method") for word in stock[name].entries
    ]
    own += [word for name in ("setting", "name") for word in stock[name].entries]
    shared = [len(groups[f"{GROUP_OF[discipline]} {name}"]) for name in ("aspect", "doing")]
    assert len(set(own)) + sum(shared) >= 150


def test_words_of_later_years_are_not_used_before():
    section = Section(["computers@1950", "looms", "web pages@1993"])
    assert section.entries == ("computers", "looms", "web pages")
    assert {section.pick(Random(seed), 1900) for seed in range(50)} == {"looms"}
    assert len({section.pick(Random(seed), 2000) for seed in range(50)}) == 3


def test_shared_words_stand_in_the_heading():
    sections = parse_stock(["[a]", "x", "[a: Journal of]", "Y"], source="s")
    assert sections["a"].entries == ("x", "Journal of Y")


@pytest.mark.parametrize(
    ("lines", "message"),
    [(["x"], r"s:1: expected a section such as \[given\], got 'x'"), (["[a]"], r"s: .*\[a\]")],
)
def test_bad_stocks_are_refused(lines, message):
    with pytest.raises(DataError, match=message):
        parse_stock(lines, source="s")
