import json

import pytest

from trelliswork.citations import FRESH_REFERENCES, Name, load_works
from trelliswork.citations.records import WORK_TYPES
from trelliswork.citations.records.works import parse_works
from trelliswork.errors import DataError

VALID = {"id": "a", "type": "book", "title": "T", "year": "1950", "author": [{"family": "F"}]}


def test_shipped_works_are_many_and_of_all_types():
    works = load_works()
    assert len(works) >= 200
    assert {work.type for work in works} == set(WORK_TYPES)
    assert len({work.id for work in works}) == len(works)
    assert len({(work.title, work.year, work.author) for work in works}) == len(works)


def test_shipped_pages_have_plain_hyphens():
    assert not [work.id for work in load_works() if "–" in work.pages or "--" in work.pages]


def test_names_become_records():
    line = json.dumps(VALID | {"editor": [{"literal": "WHO"}]})
    (work,) = parse_works([line, ""], source="w")
    assert work.author == (Name(family="F"),)
    assert work.editor == (Name(literal="WHO"),)
    assert work.publisher == ""


def test_accents_are_composed():
    (work,) = parse_works(
        [json.dumps(VALID | {"title": "Go\u0308del"}, ensure_ascii=False)], source="w"
    )
    assert work.title == "Gödel"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", r"w:2: expected a JSON object"),
        ("[]", r"w:2: expected a JSON object, got list"),
        (json.dumps(VALID), r"w:2: expected a new id, got 'a', which line 1 has"),
        (json.dumps(VALID | {"id": ""}), r"w:2: expected a non-empty 'id'"),
        (json.dumps(VALID | {"id": "b", "type": "film"}), r"w:2: expected a type among .*'film'"),
        (json.dumps(VALID | {"id": "b", "year": 1950}), r"w:2: expected 'year' to be a string"),
        (
            json.dumps(VALID | {"id": "b", "colour": "red"}),
            r"w:2: expected fields .*'colour'",
        ),
        (json.dumps(VALID | {"id": "b", "author": []}), r"w:2: expected an author or an editor"),
        (json.dumps(VALID | {"id": "b", "author": "F"}), r"w:2: author: expected a list of names"),
        (json.dumps(VALID | {"id": "b", "author": ["F"]}), r"w:2: author: expected a name as an"),
        (json.dumps(VALID | {"id": "b", "author": [{"given": "G"}]}), r"w:2: author: .*'family'"),
    ],
)
def test_bad_records_are_refused_with_file_and_line(line, message):
    with pytest.raises(DataError, match=message):
        parse_works([json.dumps(VALID), line], source="w")


def test_fresh_references_are_of_no_shipped_work():
    def words(text):
        return " ".join("".join(c if c.isalnum() else " " for c in text.lower()).split())

    assert len(FRESH_REFERENCES) >= 10
    for reference in FRESH_REFERENCES:
        clean = f" {words(reference.replace('- ', ''))} "
        for work in load_works():
            names = [name.family or name.literal for name in work.author + work.editor]
            known = f" {words(work.title)} " in clean
            assert not (known and any(f" {words(name)} " in clean for name in names)), work.id
