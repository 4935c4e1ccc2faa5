import re

import pytest
from hypothesis import given, strategies as st

from reference_cases import REFERENCES, all_rendered, reference
from trelliswork.citations import Name
from trelliswork.citations.records import WORK_TYPES
from trelliswork.citations.writing.ris import to_ris

LINE = re.compile(r"([A-Z][A-Z0-9])  - (.*)")


def records(written):
    """Read RIS as programs do: a tag a line, records between TY and ER."""
    found = []
    for line in written.split("\n"):
        if line:
            match = LINE.fullmatch(line)
            assert match is not None, line
            if match[1] == "TY":
                found.append([])
            found[-1].append((match[1], match[2]))
    assert all(record[0][0] == "TY" and record[-1] == ("ER", "") for record in found)
    assert all(tag not in ("TY", "ER") for record in found for tag, _ in record[1:-1])
    return found


def test_an_article():
    cited = reference(
        "article",
        authors=(Name("Neumann", "John", "von"), Name("King", "M. L.", suffix="Jr.")),
        et_al=True,
        title="Games",
        container="Nature",
        volume="3",
        issue="2",
        pages="379-423",
        year="1948a",
        month="July",
        day="3",
        doi="10.1000/x",
        issn="0028-0836",
    )
    assert (
        to_ris([cited])
        == """TY  - JOUR
AU  - von Neumann, John
AU  - King, M. L., Jr.
TI  - Games
T2  - Nature
VL  - 3
IS  - 2
SP  - 379
EP  - 423
PY  - 1948
DA  - 1948/07/03/
SN  - 0028-0836
DO  - 10.1000/x
N1  - et al.
ER  - \n"""
    )


@pytest.mark.parametrize(
    ("kind", "tag"),
    [
        ("inproceedings", "CPAPER"),
        ("incollection", "CHAP"),
        ("book", "BOOK"),
        ("collection", "EDBOOK"),
        ("phdthesis", "THES"),
        ("techreport", "RPRT"),
        ("standard", "STAND"),
        ("webpage", "ELEC"),
        ("software", "COMP"),
        ("preprint", "UNPB"),
        ("misc", "GEN"),
    ],
)
def test_types(kind, tag):
    assert records(to_ris([reference(kind)])) == [[("TY", tag), ("ER", "")]]


@pytest.mark.parametrize(
    ("values", "lines"),
    [
        ({"editors": (Name("A", "B."),)}, [("ED", "A, B.")]),
        ({"translators": (Name(literal="WHO"),)}, [("A4", "WHO")]),
        ({"authors": (Name("King", suffix="Jr."),)}, [("AU", "King, , Jr.")]),
        ({"pages": "12-15, 20-25"}, [("SP", "12-15, 20-25")]),
        ({"pages": "L69"}, [("SP", "L69")]),
        ({"institution": "MIT"}, [("PB", "MIT")]),
        ({"institution": "MIT", "publisher": "UMI"}, [("PB", "UMI"), ("N1", "MIT")]),
        ({"year": "1994", "month": "Spring"}, [("PY", "1994"), ("DA", "1994///Spring")]),
        ({"year": "1994", "month": "May"}, [("PY", "1994"), ("DA", "1994/05//")]),
        ({"number": "RM-3", "genre": "Memo"}, [("M1", "RM-3"), ("M3", "Memo")]),
        (
            {"arxiv": "1706.03762"},
            [("UR", "https://arxiv.org/abs/1706.03762"), ("N1", "arXiv:1706.03762")],
        ),
        ({"title": "A\nTY  - BOOK\r\nER  - "}, [("TI", "A TY - BOOK ER -")]),
    ],
)
def test_tags(values, lines):
    assert records(to_ris([reference(**values)])) == [[("TY", "GEN"), *lines, ("ER", "")]]


@given(st.lists(REFERENCES, max_size=4))
def test_no_value_ends_its_line(references):
    found = records(to_ris(references))
    assert len(found) == len(references)
    for record, cited in zip(found, references, strict=True):
        tags = [tag for tag, _ in record]
        assert tags.count("TI") == bool(dict(record).get("TI"))
        assert tags.count("AU") <= len(cited.authors) + cited.et_al


def test_the_shipped_works_in_all_styles():
    references = [cited for *_, cited in all_rendered()][::7]
    found = records(to_ris(references))
    assert len(found) == len(references)
    assert {cited.type for cited in references} >= set(WORK_TYPES)
    assert all(dict(record)["TI"] for record in found)


def test_isbn_and_issn_are_both_written():
    written = to_ris([reference(isbn="0-262-03384-4", issn="0302-9743")])
    assert "SN  - 0-262-03384-4\nSN  - 0302-9743\n" in written
