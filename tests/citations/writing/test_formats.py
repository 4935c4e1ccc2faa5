import json
import math
from dataclasses import replace

import pytest
from hypothesis import given, strategies as st

from reference_cases import REFERENCES
from trelliswork.citations import Name
from trelliswork.citations.records import WORK_TYPES
from trelliswork.citations.reference import Alternative, Field, Reference
from trelliswork.citations.writing import FORMATS
from trelliswork.citations.writing.formats import to_conll, to_jsonl, write
from trelliswork.data.corpus import read_conll
from trelliswork.errors import DataError

TITLE = Field("title", "Gödel", 3, 8, 0.5)
CITED = Reference(
    "Kurt Gödel",
    0,
    10,
    (TITLE,),
    0.25,
    authors=(Name("Gödel", "Kurt"),),
    year="1931",
    alternatives=(Alternative((TITLE,), 0.125),),
    tokens=("Kurt", "Gödel"),
    labels=("author", "title"),
)


def test_formats():
    assert set(FORMATS) == {"bibtex", "csl-json", "ris", "jsonl", "conll"}
    for written in FORMATS.values():
        assert isinstance(written([CITED]), str)
        assert "Gödel" in written([CITED])


@pytest.mark.parametrize("name", FORMATS)
def test_half_a_surrogate_pair_can_be_written(name):
    broken = replace(CITED, title="a\udce9b", tokens=("a", "\udce9b"))
    assert FORMATS[name]([broken]).encode("utf-8")


def test_json_lines_hold_everything():
    (line,) = to_jsonl([CITED]).splitlines()
    record = json.loads(line)
    assert set(record) == set(Reference.__dataclass_fields__)
    assert record["authors"] == [{"family": "Gödel", "given": "Kurt"}]
    title = {"label": "title", "text": "Gödel", "start": 3, "end": 8, "confidence": 0.5}
    assert record["fields"] == [title]
    assert record["alternatives"] == [{"fields": [title], "confidence": 0.125}]
    assert (record["year"], record["confidence"], record["title"]) == ("1931", 0.25, "")
    assert record["tokens"] == ["Kurt", "Gödel"]


@given(st.lists(REFERENCES, max_size=3))
def test_any_reference_is_one_json_object_a_line(references):
    def refuse(name):
        raise AssertionError(name)

    lines = to_jsonl(references).split("\n")[:-1]
    assert len(lines) == len(references)
    for line, cited in zip(lines, references, strict=True):
        record = json.loads(line, parse_constant=refuse)
        assert record["title"] == cited.title
        expected = None if math.isnan(cited.confidence) else cited.confidence
        assert record["confidence"] == expected
        assert len(record["fields"]) == len(cited.fields)


def test_conll(tmp_path):
    empty = Reference("", 0, 0, (), 0.0)
    written = to_conll([CITED, empty, CITED])
    assert written == "Kurt\tauthor\nGödel\ttitle\n\n" * 2
    path = tmp_path / "cited.conll"
    path.write_text(written, encoding="utf-8")
    assert [sentence.labels for sentence in read_conll(path)] == [CITED.labels] * 2
    assert to_conll([]) == ""


def test_conll_refuses_tokens_that_would_not_be_read_back():
    broken = Reference("", 0, 0, (), 1.0, tokens=("a\tb",), labels=("title",))
    with pytest.raises(DataError, match="separator"):
        to_conll([broken])


@pytest.mark.parametrize("kind", [*WORK_TYPES, "misc"])
@pytest.mark.parametrize("form", ["bibtex", "csl-json", "ris"])
def test_every_typed_value_is_written(form, kind):
    typed = (
        *("title", "container", "series", "volume", "issue", "pages", "edition", "publisher"),
        *("place", "institution", "number", "genre", "doi", "url", "arxiv", "isbn", "issn", "note"),
    )
    values = {name: f"the{name}" for name in typed}
    people = {
        "authors": (Name("Berg", "Ann", "van", "Jr."),),
        "editors": (Name("Smith", "Eve"),),
        "translators": (Name(literal="Office"),),
    }
    date = {"year": "1998", "month": "July", "day": "17"}
    cited = Reference("x", 0, 1, (), 1.0, type=kind, **values, **people, **date)
    written = FORMATS[form]([cited])
    expected = [*values.values(), "van", "Berg", "Ann", "Jr.", "Smith", "Eve", "Office"]
    assert [value for value in [*expected, "1998", "17"] if value not in written] == []
    for name, value in values.items():
        alone = Reference("x", 0, 1, (), 1.0, type=kind, **{name: value})
        assert value in FORMATS[form]([alone])


def test_write_names_the_formats():
    assert write([CITED]) == FORMATS["bibtex"]([CITED])
    assert write([CITED], "ris") == FORMATS["ris"]([CITED])
    with pytest.raises(ValueError, match=r"to: expected 'bibtex', .*, got 'word'"):
        write([CITED], "word")
