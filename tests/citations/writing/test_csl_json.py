import json
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given, strategies as st

from reference_cases import REFERENCES, all_rendered
from trelliswork.citations import Name
from trelliswork.citations.records.csl import date_to_csl, work_to_csl
from trelliswork.citations.reference import Reference
from trelliswork.citations.writing.csl_json import to_csl, to_csl_json

SCHEMA = jsonschema.Draft202012Validator(
    json.loads(
        (Path(__file__).parents[2] / "support" / "csl_schema.json").read_text(encoding="utf-8")
    )
)


def item(kind="misc", **values):
    (found,) = to_csl([Reference("", 0, 0, (), 1.0, type=kind, **values)])
    SCHEMA.validate([found])
    return {name: value for name, value in found.items() if name not in ("id", "type")}


def test_the_schema_is_strict():
    SCHEMA.check_schema(SCHEMA.schema)
    for wrong in (
        [{"type": "book"}],
        [{"id": "a", "type": "film"}],
        [{"id": "a", "type": "book", "journal": "Nature"}],
        [{"id": "a", "type": "book", "author": [{}]}],
        [{"id": "a", "type": "book", "author": ["Shannon"]}],
        [{"id": "a", "type": "book", "issued": {"date-parts": [[]]}}],
        [{"id": "a", "type": "book", "title": 3}],
    ):
        assert not SCHEMA.is_valid(wrong)


def test_an_article():
    cited = Reference(
        "",
        0,
        0,
        (),
        1.0,
        type="article",
        authors=(Name("Neumann", "John", "von"), Name(literal="WHO")),
        editors=(Name("King", "Martin Luther", suffix="Jr."),),
        et_al=True,
        title="Games",
        container="Nature",
        volume="3",
        issue="2",
        pages="1-9",
        year="1948a",
        month="July",
        day="12",
        issn="0028-0836",
    )
    assert to_csl([cited]) == [
        {
            "id": "vonneumann1948games",
            "type": "article-journal",
            "author": [
                {"family": "Neumann", "given": "John", "non-dropping-particle": "von"},
                {"literal": "WHO"},
                {"literal": "others"},
            ],
            "editor": [{"family": "King", "given": "Martin Luther", "suffix": "Jr."}],
            "title": "Games",
            "container-title": "Nature",
            "volume": "3",
            "issue": "2",
            "page": "1-9",
            "ISSN": "0028-0836",
            "issued": {"date-parts": [[1948, 7, 12]]},
            "year-suffix": "a",
        }
    ]


@pytest.mark.parametrize(
    ("kind", "values", "variables"),
    [
        ("phdthesis", {"institution": "MIT"}, {"publisher": "MIT"}),
        (
            "techreport",
            {"institution": "OSRD", "publisher": "GPO", "number": "3", "genre": "Report"},
            {"authority": "OSRD", "publisher": "GPO", "number": "3", "genre": "Report"},
        ),
        ("preprint", {"arxiv": "1706.03762"}, {"number": "arXiv:1706.03762", "publisher": "arXiv"}),
        (
            "article",
            {"arxiv": "1706.03762"},
            {"archive_location": "1706.03762", "archive": "arXiv"},
        ),
        ("misc", {"year": "1994"}, {"issued": {"date-parts": [[1994]]}}),
        (
            "misc",
            {"year": "1994", "month": "Spring"},
            {"issued": {"date-parts": [[1994]], "season": 1}},
        ),
        ("misc", {"year": "in press"}, {"issued": {"literal": "in press"}}),
        ("misc", {"et_al": True}, {}),
        ("misc", {}, {}),
    ],
)
def test_variables(kind, values, variables):
    assert item(kind, **values) == variables


def test_types_are_those_of_works():
    for work, _, reference in all_rendered()[::20]:
        if reference.type == work.type:
            (found,) = to_csl([reference])
            assert found["type"] == work_to_csl(work)["type"]


def test_the_shipped_works_in_all_styles_are_valid():
    SCHEMA.validate(to_csl([reference for *_, reference in all_rendered()][::7]))


@given(st.lists(REFERENCES, max_size=3))
def test_any_reference_is_valid_and_read_back(references):
    items = to_csl(references)
    SCHEMA.validate(items)
    written = to_csl_json(references)
    assert json.loads(written) == items
    for found, cited in zip(items, references, strict=True):
        assert found.get("title", "") == cited.title
        named = [name for name in cited.authors if name != Name()]
        assert len(found.get("author", [])) == len(named) + (cited.et_al and bool(named))


def test_letters_stay_as_they_are():
    assert "Gödel 王" in to_csl_json([Reference("", 0, 0, (), 1.0, title="Gödel 王")])


def test_a_year_or_a_day_that_is_no_number_of_a_calendar():
    assert date_to_csl("1" * 5000) == {"literal": "1" * 5000}
    assert date_to_csl("1998", "July", "99") == {"date-parts": [[1998, 7]]}
