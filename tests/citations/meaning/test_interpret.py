import pytest
from hypothesis import given, strategies as st

from reference_cases import all_rendered
from trelliswork.citations import Name
from trelliswork.citations.fields import LABELS
from trelliswork.citations.meaning.interpret import interpret
from trelliswork.citations.records import WORK_TYPES
from trelliswork.citations.reference import Alternative, Field, Reference


def read(*fields, **known):
    """Interpret (label, text) pairs."""
    return interpret(
        " ".join(text for _, text in fields),
        [Field(label, text, 0, len(text), 1.0) for label, text in fields],
        **known,
    )


def test_an_article():
    reference = read(
        ("number", "[12]"),
        ("author", "Shannon, C. E."),
        ("date", "(1948a, July)"),
        ("title", "“A Mathematical Theory of Communication,”"),
        ("journal", "Bell System Technical Journal"),
        ("volume", "vol. 27, no. 3"),
        ("pages", "pp. 379–423"),
        ("doi", "https://doi.org/10.1002/j.1538-7305.1948.tb01338.x"),
    )
    assert reference == Reference(
        text=reference.text,
        start=0,
        end=len(reference.text),
        fields=reference.fields,
        confidence=1.0,
        type="article",
        key="12",
        authors=(Name("Shannon", "C. E."),),
        title="A Mathematical Theory of Communication",
        container="Bell System Technical Journal",
        volume="27",
        issue="3",
        pages="379-423",
        year="1948a",
        month="July",
        doi="10.1002/j.1538-7305.1948.tb01338.x",
    )


def test_a_chapter():
    reference = read(
        ("author", "McFadden, D. et al."),
        ("editor", "In P. Zarembka (Ed.)"),
        ("booktitle", "In Frontiers in Econometrics"),
        ("edition", "2nd ed."),
        ("translator", "trans. by J. Smith"),
        ("publisher", "New York: Academic Press"),
    )
    assert reference.et_al
    assert reference.editors == (Name("Zarembka", "P."),)
    assert reference.translators == (Name("Smith", "J."),)
    assert (reference.container, reference.edition) == ("Frontiers in Econometrics", "2nd")
    assert (reference.publisher, reference.place) == ("Academic Press", "New York")


def test_details_of_the_reading_are_kept():
    other = Alternative((), 0.25)
    field = Field("title", "T", 0, 1, 0.5)
    reference = read(
        ("title", "T"),
        start=7,
        end=19,
        key="Sha48",
        confidence=0.5,
        tokens=["T"],
        labels=["title"],
        alternatives=[other],
        unruled=[field],
        broken_rules=["rule"],
    )
    assert (reference.start, reference.end, reference.key) == (7, 19, "Sha48")
    assert (reference.tokens, reference.labels) == (("T",), ("title",))
    assert (reference.alternatives, reference.unruled) == ((other,), (field,))
    assert (reference.confidence, reference.broken_rules) == (0.5, ("rule",))


def test_fields_with_the_same_label():
    reference = read(
        ("author", "J. Smith"),
        ("title", "First"),
        ("author", "B. Jones et al."),
        ("title", "Second"),
        ("date", "2015"),
        ("date", "July 7-10"),
        ("note", "In German"),
        ("note", "Reprinted"),
        ("note", ""),
    )
    assert [name.family for name in reference.authors] == ["Smith", "Jones"]
    assert reference.et_al
    assert reference.title == "First"
    assert (reference.year, reference.month, reference.day) == ("2015", "July", "7")
    assert reference.note == "Second; In German; Reprinted"


@pytest.mark.parametrize(
    ("fields", "values"),
    [
        ([("url", "https://doi.org/10.1000/xyz")], {"doi": "10.1000/xyz", "url": ""}),
        ([("note", "doi: 10. 1000/xyz. 12")], {"doi": "10.1000/xyz.12", "note": ""}),
        (
            [("note", "In German, doi:10.1000/xyz")],
            {"doi": "10.1000/xyz", "note": "In German"},
        ),
        (
            [("note", "Available from: https://x.org/a")],
            {"url": "https://x.org/a", "note": "", "type": "webpage"},
        ),
        ([("note", "ISBN 0-262-03384-4")], {"isbn": "0-262-03384-4", "note": ""}),
        ([("note", "Print, ISBN 0-262-03384-4")], {"isbn": "0-262-03384-4", "note": "Print"}),
        ([("note", "ISSN 0028-0836")], {"issn": "0028-0836", "note": ""}),
        ([("isbn", "ISSN 0028-0836")], {"issn": "0028-0836", "isbn": ""}),
        ([("note", "DOI pending")], {"doi": "", "note": "DOI pending"}),
        (
            [("note", "doi:10.1/x"), ("doi", "10.1000/y")],
            {"doi": "10.1000/y", "note": "doi:10.1/x"},
        ),
        (
            [("tech", "arXiv preprint arXiv:1706.03762")],
            {"arxiv": "1706.03762", "genre": "arXiv preprint", "number": "", "type": "preprint"},
        ),
        (
            [("journal", "arXiv preprint arXiv:1706.03762")],
            {"arxiv": "1706.03762", "container": "", "type": "preprint"},
        ),
        (
            [("journal", "CoRR"), ("volume", "abs/1706.03762")],
            {"arxiv": "1706.03762", "volume": "", "container": "", "type": "preprint"},
        ),
        (
            [("arxiv", "hep-th/9711200"), ("journal", "Adv. Theor. Math. Phys.")],
            {"arxiv": "hep-th/9711200", "container": "Adv. Theor. Math. Phys.", "type": "article"},
        ),
        ([("doi", "10.48550/arXiv.1706.03762")], {"arxiv": "1706.03762", "type": "preprint"}),
        ([("volume", "127 (1): 79 – 183")], {"volume": "127", "issue": "1", "pages": "79-183"}),
        ([("pages", "345 pp.")], {"pages": "", "note": "345 pp."}),
        ([("date", "in press")], {"year": "", "note": "in press"}),
        ([("date", "n.d.")], {"year": "", "note": ""}),
        ([("volume", "27"), ("issue", "no. 3")], {"volume": "27", "issue": "3"}),
        ([("tech", "Tech. Rep. CS-94-12")], {"genre": "Tech. Rep.", "number": "CS-94-12"}),
        ([("publisher", "Springer: Berlin")], {"publisher": "Springer", "place": "Berlin"}),
        ([], {"type": "misc", "title": "", "authors": ()}),
    ],
)
def test_values_are_found_where_they_hide(fields, values):
    reference = read(*fields)
    assert {name: getattr(reference, name) for name in values} == values


def test_the_shipped_works_come_back_from_every_style():
    names = (
        "title",
        "volume",
        "issue",
        "year",
        "publisher",
        "place",
        "doi",
        "url",
        "arxiv",
        "note",
    )
    label_of = {"year": "date", "place": "location"}
    for work, style, reference in all_rendered():
        labels = {field.label for field in reference.fields}
        for name in names:
            if label_of.get(name, name) in labels:
                value = getattr(reference, name).casefold()
                assert value == getattr(work, name).casefold(), (style.name, work.id)
        if "pages" in labels and style.pages != "first":
            assert reference.pages == work.pages, (style.name, work.id)
        if style.venue == "full" and {"journal", "booktitle"} & labels:
            assert reference.container == work.container, (style.name, work.id)
        if reference.month:
            assert reference.month == work.month


@given(
    st.lists(
        st.tuples(
            st.sampled_from(LABELS),
            st.text(max_size=30) | st.text(alphabet="A1 .,:/(–10.1/x", max_size=30),
        ),
        max_size=8,
    )
)
def test_noise_is_read(fields):
    reference = read(*fields)
    assert reference.type in (*WORK_TYPES, "misc")
    assert reference.fields == tuple(
        Field(label, text, 0, len(text), 1.0) for label, text in fields
    )
    values = (reference.title, reference.volume, reference.pages, reference.doi, reference.url)
    assert all(value == value.strip() for value in values)


@pytest.mark.parametrize(
    "mark",
    ["(", "1 ", "a", "A", "A.", "A, ", "in ", "10.1000/", "http://", "1-", "[x", ". ", "and ", "'"],
)
def test_long_noise_is_read(mark):
    """A quadratic pattern would take minutes here, which nobody overlooks."""
    text = mark * (5000 // len(mark))
    reference = read(*((label, text) for label in LABELS))
    assert [field.text for field in reference.fields] == [text] * len(LABELS)


@pytest.mark.parametrize(
    ("label", "text"),
    [
        ("doi", "doi: unknown"),
        ("url", "Available online"),
        ("arxiv", "arXiv preprint"),
        ("isbn", "ISBN not assigned"),
        ("pages", "n. pag."),
        ("pages", "xii + 345 pp."),
    ],
)
def test_unreadable_values_are_notes(label, text):
    assert read(("title", "A title"), (label, text)).note == text


def test_a_second_container_is_a_note():
    reference = read(("journal", "Mind"), ("booktitle", "In Proc. ICML"))
    assert (reference.container, reference.note) == ("Mind", "In Proc. ICML")


def test_isbn_and_issn_in_one_field():
    reference = read(("isbn", "ISBN 0-262-03384-4, ISSN 0302-9743"))
    assert (reference.isbn, reference.issn) == ("0-262-03384-4", "0302-9743")


@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize("unit", ["A", "a.", "1-", "%", "A. ", "10.1234/", "((", " "])
def test_longer_noise_is_read(label, unit):
    """A pattern that tries every start and every end would take many seconds for these."""
    assert read((label, unit * (20_000 // len(unit)))).fields[0].label == label


def test_text_beside_an_identifier_is_a_note():
    def read(label, text):
        return interpret(text, [Field(label, text, 0, len(text), 1.0)])

    found = read("doi", "doi:10.1136/bmj.n71. PMID: 33782057")
    assert (found.doi, found.note) == ("10.1136/bmj.n71", "PMID: 33782057")
    found = read("url", "scikit-learn. https://github.com/scikit-learn/scikit-learn")
    assert found.url == "https://github.com/scikit-learn/scikit-learn"
    assert "scikit-learn" in found.note
    assert read("url", "Available at: https://example.org/a").note == ""
    assert read("doi", "https://doi.org/10.1000/182").note == ""


@pytest.mark.parametrize(
    ("fields", "values"),
    [
        (
            [("date", "(2010)"), ("date", "Recuperado el 3 de marzo de 2021")],
            {"year": "2010", "month": "", "day": "", "note": "Recuperado el 3 de marzo de 2021"},
        ),
        ([("date", "1968"), ("date", "March 1968")], {"year": "1968", "month": "March"}),
        ([("date", "[data set]. Luxembourg, 2021")], {"year": "2021", "month": ""}),
        ([("date", "set. 2021")], {"year": "2021", "month": "September"}),
        (
            [("date", "https://arxiv.org/abs/2004.01234v2, 2020")],
            {"year": "2020", "month": "", "arxiv": "2004.01234"},
        ),
        ([("tech", "ISBN-13: 978-1-4736-3746-7")], {"isbn": "978-1-4736-3746-7", "number": ""}),
        (
            [("editor", "Hirose, K., ed."), ("booktitle", "Speech Prosody")],
            {"title": "Speech Prosody", "container": ""},
        ),
        (
            [
                ("date", "(2015)"),
                ("title", "How to brew tea"),
                ("journal", "Retrieved May"),
                ("volume", "4"),
                ("date", "2019"),
                ("note", "from"),
                ("url", "https://a.org/tea"),
            ],
            {
                "year": "2015",
                "container": "",
                "volume": "",
                "note": "Retrieved May 4 2019 from",
                "url": "https://a.org/tea",
            },
        ),
        ([("volume", "431"), ("note", "pp.")], {"volume": "", "note": "431 pp."}),
        ([("volume", "12"), ("pages", "pp. 3-9")], {"volume": "12", "pages": "3-9"}),
        ([("title", "E\ufb03cient \ufb02ow")], {"title": "Efficient flow"}),
    ],
)
def test_values_implied_by_fields(fields, values):
    reference = read(*fields)
    assert {name: getattr(reference, name) for name in values} == values
