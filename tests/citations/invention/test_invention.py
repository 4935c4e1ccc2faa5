import json
import unicodedata
from collections import Counter
from dataclasses import asdict
from random import Random

import pytest
from hypothesis import given, strategies as st

from trelliswork.citations.invention import invent_works
from trelliswork.citations.invention.foreign import CULTURE_OF, invent_foreign_title
from trelliswork.citations.invention.numbers import (
    fill_shape,
    invent_isbn,
    isbn10_digit,
    isbn13_digit,
    to_roman,
    to_slug,
)
from trelliswork.citations.invention.people import invent_person, to_initials
from trelliswork.citations.invention.titles import GROUP_OF, invent_title, to_headline, to_sentence
from trelliswork.citations.invention.venues import abbreviate, invent_proceedings, ordinal_word
from trelliswork.citations.invention.works import TYPE_SHARES
from trelliswork.citations.records import WORK_TYPES
from trelliswork.citations.records.works import parse_works


@pytest.fixture(scope="module")
def works():
    return invent_works(4000)


def test_the_same_seed_gives_the_same_works():
    assert invent_works(30, seed=3) == invent_works(30, seed=3)
    assert invent_works(10, seed=3) == invent_works(30, seed=3)[:10]
    titles = [{work.title for work in invent_works(50, seed=seed)} for seed in (0, 1)]
    assert len(titles[0] & titles[1]) < 5


def test_works_are_valid_records_with_ids_of_their_own(works):
    lines = [json.dumps(asdict(work), ensure_ascii=False) for work in works]
    assert parse_works(lines, source="invented") == works
    assert not {work.id for work in works} & {work.id for work in invent_works(50, seed=1)}


def test_fields_are_clean(works):
    for work in works:
        texts = [value for value in asdict(work).values() if isinstance(value, str)]
        for name in work.author + work.editor + work.translator:
            texts += [name.family, name.given, name.particle, name.suffix, name.literal]
        for text in texts:
            assert text == " ".join(text.split()), work
            assert not set("{}|@#%~") & set(text), work
            assert unicodedata.is_normalized("NFC", text), work


def test_titles_differ(works):
    assert len({work.title for work in works}) > 0.95 * len(works)
    lengths = Counter(len(work.title.split()) for work in works)
    assert min(lengths) == 1
    assert 15 < max(lengths) < 40
    assert sum(count for length, count in lengths.items() if 2 <= length <= 25) > 0.97 * len(works)


def test_types_have_their_shares(works):
    assert set(TYPE_SHARES) == set(WORK_TYPES)
    assert sum(TYPE_SHARES.values()) == pytest.approx(1)
    counts = Counter(work.type for work in works)
    for type_, share in TYPE_SHARES.items():
        deviation = (len(works) * share * (1 - share)) ** 0.5
        assert abs(counts[type_] - len(works) * share) < 4 * deviation, type_


def test_years_are_mostly_recent(works):
    years = [int(work.year) for work in works]
    assert min(years) < 1930
    assert max(years) <= 2024
    assert 0.7 < sum(1975 <= year <= 2020 for year in years) / len(years) < 0.9


def test_numbers_of_authors_are_likely(works):
    counts = Counter(len(work.author) for work in works if work.type == "article")
    total = sum(counts.values())
    assert 0.25 < counts[1] / total < 0.5
    assert 0.02 < sum(n for count, n in counts.items() if count > 6) / total < 0.12
    assert 10 <= max(counts) <= 13


def test_every_type_has_the_fields_it_needs(works):
    for work in works:
        if work.type == "article":
            assert work.container
            assert not work.publisher
        elif work.type in {"inproceedings", "incollection"}:
            assert work.container
        elif work.type == "collection":
            assert work.editor
            assert not work.author
        elif work.type in {"phdthesis", "mastersthesis"}:
            assert work.school
            assert len(work.author) == 1
        elif work.type == "techreport":
            assert work.institution
        elif work.type == "webpage":
            assert work.url


@pytest.mark.parametrize(
    ("type_", "field", "low", "high"),
    [
        ("article", "volume", 0.9, 0.99),
        ("article", "issue", 0.45, 0.65),
        ("article", "pages", 0.88, 0.99),
        ("article", "month", 0.1, 0.3),
        ("article", "doi", 0.15, 0.5),
        ("inproceedings", "publisher", 0.3, 0.6),
        ("inproceedings", "place", 0.25, 0.6),
        ("book", "publisher", 0.93, 1.0),
        ("book", "place", 0.65, 0.9),
        ("book", "edition", 0.08, 0.3),
        ("incollection", "editor", 0.75, 0.95),
        ("techreport", "number", 0.6, 0.95),
        ("preprint", "arxiv", 0.6, 0.95),
    ],
)
def test_fields_are_missing_at_likely_rates(works, type_, field, low, high):
    having = [bool(getattr(work, field)) for work in works if work.type == type_]
    assert low < sum(having) / len(having) < high


@pytest.mark.parametrize("discipline", GROUP_OF)
@pytest.mark.parametrize(
    "kind", ["paper", "book", "container", "thesis", "report", "web", "software", "standard"]
)
def test_titles_of_every_kind_can_be_composed(discipline, kind):
    for seed in range(60):
        title = invent_title(Random(seed), discipline, kind, 1960 + seed)
        assert title.strip()
        assert not title[0].islower() or any(c.isupper() or c.isdigit() for c in title.split()[0])


@pytest.mark.parametrize("language", CULTURE_OF)
@pytest.mark.parametrize("kind", ["pattern", "book", "conference"])
def test_foreign_titles_have_no_open_slots(language, kind):
    for seed in range(60):
        title = invent_foreign_title(Random(seed), language, kind, 1950 + seed)
        assert not set("{}|") & set(title)


def test_prepositions_and_articles_are_drawn_together():
    titles = " ".join(
        invent_foreign_title(Random(seed), "french", "book", 1990) for seed in range(300)
    )
    assert " de le " not in titles
    assert " du " in titles


def test_check_digits_of_real_books():
    assert isbn10_digit("026203384") == "4"
    assert isbn10_digit("080442957") == "X"
    assert isbn13_digit("978026203384") == "8"


@given(seed=st.integers(0, 2**32), year=st.integers(1970, 2024))
def test_invented_isbns_are_valid(seed, year):
    digits = invent_isbn(Random(seed), "", year).replace("-", "")
    if year >= 2007:
        assert sum((1, 3)[i % 2] * int(d) for i, d in enumerate(digits)) % 10 == 0
        assert len(digits) == 13
    else:
        values = [10 if d == "X" else int(d) for d in digits]
        assert sum((10 - i) * value for i, value in enumerate(values)) % 11 == 0
        assert len(digits) == 10


@pytest.mark.parametrize(
    ("number", "roman"), [(4, "IV"), (9, "IX"), (48, "XLVIII"), (399, "CCCXCIX")]
)
def test_roman_numerals(number, roman):
    assert to_roman(number) == roman


def test_capitals_of_titles():
    title = "on p53 and the role of Escherichia_coli: a state-of-the-art review"
    assert to_headline(title) == (
        "On p53 and the Role of Escherichia coli: A State-of-the-Art Review"
    )
    assert to_sentence(title, after_colon=False) == (
        "On p53 and the role of Escherichia coli: a state-of-the-art review"
    )
    assert to_sentence(title, after_colon=True).endswith(": A state-of-the-art review")


def test_names_follow_their_culture():
    dutch = [invent_person(Random(seed), "dutch", initials=False) for seed in range(100)]
    assert {"van", "van der", "de"} <= {name.particle for name in dutch}
    korean = [invent_person(Random(seed), "korean", initials=False) for seed in range(100)]
    assert sum("-" in name.given for name in korean) > 30
    assert to_initials("Jean-Luc Pierre") == "J.-L. P."


def test_venues_are_abbreviated_by_their_stems():
    assert abbreviate("Journal of the American Statistical Association") == "J. Am. Stat. Assoc."
    assert abbreviate("Physical Review Letters") == "Phys. Rev. Lett."
    assert abbreviate("Nature") == "Nature"


def test_proceedings_are_written_in_many_forms():
    forms = {invent_proceedings(Random(seed), "ai", 1998) for seed in range(300)}
    assert any(form.startswith("Proceedings of the ") for form in forms)
    assert any(form.startswith("Proc. ") for form in forms)
    assert any(form.endswith("-98") for form in forms)
    assert len(forms) > 200


def test_small_helpers():
    assert [ordinal_word(n) for n in (1, 12, 20, 31)] == [
        "First",
        "Twelfth",
        "Twentieth",
        "Thirty-First",
    ]
    assert to_slug("Über die Städte: Rom") == "uber-die-stadte-rom"
    assert to_slug("漢字") == "index"
    assert fill_shape("TR-{yy}-{year}", 1994, Random(0)) == "TR-94-1994"
