from string import ascii_lowercase

import bibtexparser
import pytest
from bibtexparser import middlewares
from hypothesis import given, strategies as st

from reference_cases import NAMES, REFERENCES, all_rendered, reference
from trelliswork.citations import Name
from trelliswork.citations.documents.latex import decode_latex
from trelliswork.citations.records import WORK_TYPES
from trelliswork.citations.writing.bibtex import to_bibtex

NOT_PRINTED = [*range(0x20), *range(0x7F, 0xA0), *range(0xFDD0, 0xFDF0), 0xFEFF, 0xFFFE, 0xFFFF]


def plain(text):
    """The text on one line, in plain characters."""
    return " ".join(text.translate(dict.fromkeys(NOT_PRINTED, " ")).split())


def decoded(value):
    return decode_latex(value, comments=False)[0]


def entries(written, middleware=()):
    library = bibtexparser.parse_string(written, append_middleware=list(middleware))
    assert library.failed_blocks == []
    assert len(library.blocks) == len(library.entries)
    return library.entries


def fields(cited):
    (entry,) = entries(to_bibtex([cited]))
    return {name: field.value for name, field in entry.fields_dict.items()}


def test_an_article():
    cited = reference(
        "article",
        authors=(Name("Shannon", "Claude E."),),
        title="A Mathematical Theory of Communication",
        container="Bell System Technical Journal",
        volume="27",
        issue="3",
        pages="379-423",
        year="1948",
        month="July",
        doi="10.1002/j.1538-7305.1948.tb01338.x",
    )
    assert (
        to_bibtex([cited])
        == """@article{shannon1948mathematical,
  author = {Shannon, Claude E.},
  title = {A Mathematical Theory of Communication},
  journal = {Bell System Technical Journal},
  volume = {27},
  number = {3},
  year = {1948},
  month = {July},
  pages = {379--423},
  doi = {10.1002/j.1538-7305.1948.tb01338.x},
}
"""
    )


def test_no_references():
    assert to_bibtex([]) == ""


@pytest.mark.parametrize(
    ("cited", "entry_type", "values"),
    [
        (
            reference("inproceedings", container="Proc. ICML", institution="ACM", series="LNCS"),
            "inproceedings",
            {"booktitle": "Proc. ICML", "organization": "ACM", "series": "LNCS"},
        ),
        (
            reference("incollection", container="Handbook", genre="Chapter", number="3"),
            "incollection",
            {"booktitle": "Handbook", "note": "Chapter; 3"},
        ),
        (
            reference("book", container="Studies", series="Series", note="N"),
            "book",
            {"series": "Studies", "note": "N; Series"},
        ),
        (
            reference("collection", publisher="P", place="B"),
            "book",
            {"publisher": "P", "address": "B"},
        ),
        (
            reference("phdthesis", institution="MIT", genre="PhD thesis", publisher="UMI"),
            "phdthesis",
            {"school": "MIT", "type": "PhD thesis", "publisher": "UMI"},
        ),
        (reference("mastersthesis", publisher="MIT"), "mastersthesis", {"school": "MIT"}),
        (
            reference("techreport", institution="RAND", number="RM-3", genre="Memo", issue="2"),
            "techreport",
            {"institution": "RAND", "number": "2", "type": "Memo", "note": "RM-3"},
        ),
        (
            reference("preprint", arxiv="1706.03762", genre="arXiv preprint"),
            "misc",
            {"eprint": "1706.03762", "archiveprefix": "arXiv"},
        ),
        (
            reference("standard", number="RFC 2616", institution="IETF"),
            "misc",
            {"howpublished": "RFC 2616", "publisher": "IETF"},
        ),
        (
            reference("webpage", container="Blog", genre="Post", url="https://x.org/a_b%20c"),
            "misc",
            {"howpublished": "Blog", "note": "Post", "url": "https://x.org/a_b%20c"},
        ),
        (
            reference("software", genre="Computer software", institution="A", publisher="B"),
            "misc",
            {"howpublished": "Computer software", "publisher": "B", "note": "A"},
        ),
        (
            reference("misc", isbn="0-262-03384-4", issn="0028-0836", edition="2nd", day="3"),
            "misc",
            {"isbn": "0-262-03384-4", "issn": "0028-0836", "edition": "2nd", "day": "3"},
        ),
    ],
)
def test_fields_fit_the_type(cited, entry_type, values):
    (entry,) = entries(to_bibtex([cited]))
    assert entry.entry_type == entry_type
    assert {name: field.value for name, field in entry.fields_dict.items()} == values


@pytest.mark.parametrize(
    ("title", "written"),
    [
        ("WordNet and DNA in C60: a 3D iPhone", "{WordNet} and {DNA} in C60: a {3D} {iPhone}"),
        ("The Structure of Back-Propagation", "The Structure of Back-Propagation"),
        ("A THEORY OF DNA", "A THEORY OF DNA"),
        (r"100% {sic} & a_b", r"100\% \textbraceleft{}sic\textbraceright{} \& a\_b"),
    ],
)
def test_only_capitals_inside_of_words_are_protected(title, written):
    assert fields(reference(title=title))["title"] == written


@pytest.mark.parametrize(
    ("names", "written"),
    [
        ([Name("Neumann", "John", "von")], "von Neumann, John"),
        ([Name("King", "Martin Luther", suffix="Jr.")], "King, Jr., Martin Luther"),
        ([Name("King", suffix="Jr.")], "{King Jr.}"),
        ([Name("Della Pietra")], "{Della Pietra}"),
        ([Name("Della Pietra", "V. J.")], "Della Pietra, V. J."),
        (
            [Name(literal="Food and Agriculture Organization")],
            "{Food and Agriculture Organization}",
        ),
        ([Name("Smith, and Sons", "J.")], "{Smith, and Sons}, J."),
        ([Name(given="Plato")], "{Plato}"),
        ([Name("A", "B."), Name("C", "D.")], "A, B. and C, D."),
    ],
)
def test_names(names, written):
    assert fields(reference(authors=tuple(names)))["author"] == written


def test_more_authors_are_others():
    cited = reference(authors=(Name("A", "B."),), et_al=True)
    assert fields(cited)["author"] == "A, B. and others"
    assert fields(reference(et_al=True)) == {}


@given(st.lists(NAMES, min_size=1, max_size=3))
def test_names_are_cut_where_they_were_joined(names):
    middleware = [middlewares.SeparateCoAuthors(), middlewares.SplitNameParts()]
    (entry,) = entries(to_bibtex([reference(authors=tuple(names))]), middleware)
    said = [
        name
        for name in names
        if plain(name.literal or name.family) or (not name.literal and plain(name.given))
    ]
    read = entry.fields_dict["author"].value if "author" in entry.fields_dict else []
    assert len(read) == len(said)
    for parts, name in zip(read, said, strict=True):
        if not name.literal and plain(name.family):
            assert plain(name.family) in decoded(" ".join([*parts.von, *parts.last]))
        else:
            assert decoded(" ".join(parts.last)) == plain(name.literal or name.given)


@given(st.lists(REFERENCES, max_size=4))
def test_any_reference_is_read_back(references):
    read = entries(to_bibtex(references))
    assert len(read) == len(references)
    for entry, cited in zip(read, references, strict=True):
        raw = {name: field.value for name, field in entry.fields_dict.items()}
        assert all(raw.values())
        for name, value in (("doi", cited.doi), ("url", cited.url), ("eprint", cited.arxiv)):
            address = "".join(character for character in plain(value) if character != " ")
            escaped = address.translate({ord("{"): "%7B", ord("}"): "%7D", ord("\\"): "%5C"})
            assert raw.pop(name, "") == escaped
        values = {name: decoded(value) for name, value in raw.items()}
        for name in ("title", "volume", "edition", "isbn", "issn", "month", "day"):
            assert values.get(name, "") == plain(getattr(cited, name))
        assert plain(cited.year).removeprefix(values.get("year", "")) in ("", *ascii_lowercase)
        assert values.get("address", "") == plain(cited.place)
        for note in (plain(cited.note), plain(cited.number), plain(cited.genre)):
            assert note in " ".join(values.values()) or cited.arxiv
        for field in entry.fields_dict.values():
            assert depth_is_balanced(field.value)
            assert "\n" not in field.value


def depth_is_balanced(value):
    """Count braces as BibTeX does, escaped or not."""
    depth = 0
    for character in value:
        depth += (character == "{") - (character == "}")
        if depth < 0:
            return False
    return depth == 0


def test_the_shipped_works_in_all_styles_are_read_back():
    references = [reference for *_, reference in all_rendered()][::7]
    read = entries(to_bibtex(references))
    assert len({entry.key for entry in read}) == len(references)
    assert {cited.type for cited in references} >= set(WORK_TYPES)


def test_the_number_of_a_preprint_stays_without_what_the_archive_says():
    written = to_bibtex(
        [reference("preprint", arxiv="1706.03762", genre="arXiv preprint", number="TR-5")]
    )
    assert "howpublished = {TR-5}" in written
