"""Works from CSL-JSON, and back to it."""

import json
from dataclasses import replace

import pytest
from hypothesis import given, strategies as st

from trelliswork.citations import Name, Work, load_works
from trelliswork.citations.records import WORK_TYPES
from trelliswork.citations.records.csl import work_to_csl
from trelliswork.citations.records.read_bibtex import read_bibtex
from trelliswork.citations.records.read_csl import WORK_TYPE_OF, read_csl
from trelliswork.errors import DataError

pytest.importorskip("bibtexparser")

# The variables of the CSL-JSON schema, version 1.0.2, that are used here, and their JSON types.
STRINGS = """
    type title container-title collection-title volume issue page publisher publisher-place number
    edition DOI URL ISBN note genre authority archive archive_location id
    """
LISTS = {"author": list, "editor": list, "translator": list}
CSL_SCHEMA = dict.fromkeys(STRINGS.split(), str) | LISTS | {"issued": dict}
NAME_SCHEMA = {"family", "given", "non-dropping-particle", "suffix", "literal"}


def csl(*items):
    return read_csl(json.dumps(items), source="f.json")


def one(records):
    assert records.skipped == ()
    (work,) = records.works
    return work


def test_shipped_works_are_valid_csl():
    for work in load_works():
        item = work_to_csl(work)
        assert item["type"] in WORK_TYPE_OF
        for variable, value in item.items():
            assert isinstance(value, CSL_SCHEMA[variable]), (work.id, variable)
            assert value, (work.id, variable)
        for role in ("author", "editor", "translator"):
            assert all(name.keys() <= NAME_SCHEMA for name in item.get(role, []))
        assert all(type(n) is int for part in item["issued"]["date-parts"] for n in part)


def documented(work):
    """Return a work without the fields that CSL-JSON lacks."""
    if work.type in {"techreport", "standard"} and work.publisher and not work.institution:
        return replace(work, institution=work.publisher, publisher="")
    return work


def test_shipped_works_come_back_from_csl():
    records = csl(*map(work_to_csl, load_works()))
    assert records.skipped == ()
    assert list(records.works) == [documented(work) for work in load_works()]
    assert sum(documented(work) != work for work in load_works()) < 5


WORDS = st.text("abcdefgßÉλ中", min_size=1, max_size=9)
NAMES = st.one_of(
    st.builds(
        Name,
        family=WORDS.map(str.capitalize),
        given=st.one_of(st.just(""), WORDS),
        particle=st.sampled_from(["", "von", "de la"]),
        suffix=st.sampled_from(["", "Jr."]),
    ),
    st.builds(Name, literal=WORDS),
)
WORKS = st.builds(
    Work,
    id=WORDS,
    type=st.sampled_from(WORK_TYPES),
    title=WORDS,
    year=st.one_of(st.integers(1400, 2099).map(str), st.sampled_from(["1998a", "in press"])),
    author=st.lists(NAMES, min_size=1, max_size=3).map(tuple),
    editor=st.lists(NAMES, max_size=2).map(tuple),
    container=st.one_of(st.just(""), WORDS),
    month=st.sampled_from(["", "January", "May", "December", "Spring", "Winter"]),
    volume=st.sampled_from(["", "12", "B"]),
    pages=st.sampled_from(["", "1-3", "061102"]),
    place=st.one_of(st.just(""), WORDS),
    series=st.one_of(st.just(""), WORDS),
    note=st.one_of(st.just(""), WORDS),
    isbn=st.sampled_from(["", "0-262-03384-4"]),
    arxiv=st.sampled_from(["", "1706.03762", "hep-th/9711200"]),
)


@given(WORKS)
def test_any_work_comes_back_from_csl(work):
    if work.type == "collection":
        work = replace(work, author=(), editor=work.author)
    if work.type == "preprint":
        work = replace(work, container="")
    if not work.year.isdecimal() and not work.year[0].isdigit():
        work = replace(work, month="")
    assert one(csl(work_to_csl(work))) == work


@pytest.mark.parametrize(
    "wrapped",
    [
        lambda items: json.dumps(items),
        lambda items: json.dumps({"items": items}),
        lambda items: json.dumps({"references": items}),
        lambda items: "\n".join(map(json.dumps, items)) + "\n",
        lambda items: "\ufeff" + json.dumps(items, indent=2),
    ],
)
def test_files_of_items(wrapped):
    items = [work_to_csl(work) for work in load_works()[:3]]
    records = read_csl(wrapped(items), source="f.json")
    assert list(records.works) == list(load_works()[:3])
    assert one(read_csl(json.dumps(items[0], indent=1), source="f")) == load_works()[0]


ITEM = {
    "id": 7,
    "type": "article-journal",
    "title": "A <i>title</i>  of\n<span class='nocase'>DNA</span>",
    "author": [
        {"family": "van der Maaten", "given": "L."},
        {
            "family": "Fontaine",
            "given": "J.",
            "dropping-particle": "de",
            "non-dropping-particle": "la",
        },
        {"given": "Plato"},
        {"literal": "WHO"},
        "NASA",
        7,
    ],
    "issued": {"date-parts": [["2003", "5", 12]]},
    "page": "12 – 15",
    "volume": 3,
    "note": "PMID: 123\nLetter to the editor\ntex.ids: a",
    "DOI": "https://doi.org/10.1000/X",
}


def test_an_item_as_zotero_has_it():
    assert one(csl(ITEM)) == Work(
        id="7",
        type="article",
        title="A title of DNA",
        year="2003",
        month="May",
        day="12",
        author=(
            Name("Maaten", "L.", "van der"),
            Name("Fontaine", "J.", "de la"),
            Name(literal="Plato"),
            Name(literal="WHO"),
            Name(literal="NASA"),
        ),
        pages="12-15",
        volume="3",
        note="Letter to the editor",
        doi="10.1000/X",
    )


@pytest.mark.parametrize(
    ("issued", "expected"),
    [
        ({"date-parts": [[2003]]}, ("2003", "")),
        ({"date-parts": [["2003", "07"], [2004]]}, ("2003", "July")),
        ({"date-parts": [[2003, 13]]}, ("2003", "Spring")),
        ({"date-parts": [[2003, 24]]}, ("2003", "Winter")),
        ({"date-parts": [[2003]], "season": "autumn"}, ("2003", "Autumn")),
        ({"raw": "2003-07-01"}, ("2003", "July")),
        ({"literal": "12 July 1998a"}, ("1998a", "July")),
        ({"literal": "in press"}, ("in press", "")),
        ("2003-07", ("2003", "July")),
        (2003, ("2003", "")),
    ],
)
def test_dates(issued, expected):
    work = one(csl(ITEM | {"issued": issued}))
    assert (work.year, work.month) == expected


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"type": "thesis", "genre": "Master's thesis"}, "mastersthesis"),
        ({"type": "thesis", "genre": "Dissertation"}, "phdthesis"),
        ({"type": "article", "number": "arXiv:1706.03762"}, "preprint"),
        ({"type": "article", "container-title": "Nature"}, "article"),
        ({"type": "book"}, "book"),
        ({"type": "book", "author": [], "editor": [{"family": "E"}]}, "collection"),
        ({"type": "dataset"}, "webpage"),
        ({"type": "article-journal", "container-title": "arXiv:1706.03762 [cs]"}, "preprint"),
    ],
)
def test_types(changes, expected):
    assert one(csl(ITEM | changes)).type == expected


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        (ITEM | {"title": ""}, "f.json: item 2: '7' has no title."),
        (ITEM | {"issued": {}}, "f.json: item 2: '7' has no year."),
        (ITEM | {"author": [{}], "title": 0.5 > 1}, "f.json: item 2: '7' has no title and no auth"),
        (
            ITEM | {"type": "song"},
            "f.json: item 2: '7' has the type 'song', which no style is for.",
        ),
        (ITEM | {"id": "first"}, "f.json: item 2: 'first' is the key of a record before it."),
        (["x"], "f.json: item 2: expected an object, got list."),
    ],
)
def test_items_are_skipped_with_a_reason(item, reason):
    records = csl(ITEM | {"id": "first"}, item)
    assert len(records.works) == 1
    (message,) = records.skipped
    assert message.startswith(reason)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "f: expected CSL-JSON, got an empty file"),
        ("@article{a}", "f:1: expected CSL-JSON"),
        ('{"a": 1}', "f: expected CSL-JSON, a list"),
        ("3", "f: expected CSL-JSON, a list"),
        ('[\n{"id": 1},\n', "f:3: expected CSL-JSON"),
        ('{"id": 1}\n{"id": 2\n', "f:2: expected CSL-JSON"),
    ],
)
def test_files_without_items_are_refused(text, message):
    with pytest.raises(DataError, match=message):
        read_csl(text, source="f")


@pytest.mark.parametrize(
    "text", ["[" * 100_000, '[{"id": ' + "9" * 5000 + "}]", "{}\n" + "[" * 9999]
)
def test_json_that_no_reader_takes_is_refused(text):
    with pytest.raises(DataError, match=r"a\.json"):
        read_csl(text, source="a.json")


@pytest.mark.parametrize(
    "issued", [{"date-parts": [["1990", "9" * 5000]]}, {"season": "9" * 5000}, {"season": "0"}]
)
def test_months_that_are_none(issued):
    item = {"id": "a", "type": "book", "title": "T", "author": [{"family": "A"}]}
    item["issued"] = {"date-parts": [[1990]], **issued}
    (work,) = read_csl(json.dumps([item]), source="a.json").works
    assert (work.year, work.month) == ("1990", "")
    entry = f"@book{{a, title={{T}}, author={{A}}, year={{1990}}, month={{{'9' * 5000}}}}}"
    assert read_bibtex(entry, source="a.bib").works[0].year == "1990"
