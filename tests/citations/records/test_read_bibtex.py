"""Works from BibTeX files, and names as BibTeX has them."""

import sys

import pytest
from hypothesis import given, strategies as st

from trelliswork.citations import Name, Work, load_works
from trelliswork.citations.documents.latex import encode_latex
from trelliswork.citations.records.bibtex_names import parse_names
from trelliswork.citations.records.read_bibtex import read_bibtex

pytest.importorskip("bibtexparser")


BIBTEX_TYPES = {"preprint": "misc", "webpage": "online"}


SAME_NAMES = "series volume publisher school institution edition note isbn"


def to_bibtex(work):
    """Write a work as an entry, in the simplest way."""

    def person(name):
        if name.literal:
            return "{" + encode_latex(name.literal) + "}"
        family = " ".join(filter(None, [name.particle, name.family]))
        return encode_latex(", ".join(filter(None, [family, name.suffix, name.given])))

    names = {role: " and ".join(map(person, getattr(work, role))) for role in ("author", "editor")}
    plain = {
        "title": work.title,
        "year": work.year,
        "journal" if work.type == "article" else "booktitle": work.container,
        "number": work.number or work.issue,
        "address": work.place,
        "eprint": work.arxiv,
        "month": work.month,
        "pages": work.pages,
        **{field: getattr(work, field) for field in SAME_NAMES.split()},
    }
    values = names | {field: encode_latex(value) for field, value in plain.items()}
    values |= {"doi": work.doi, "url": work.url}
    body = ",\n".join(f"  {name} = {{{value}}}" for name, value in values.items() if value)
    return f"@{BIBTEX_TYPES.get(work.type, work.type)}{{{work.id},\n{body}\n}}\n"


def test_shipped_works_come_back_from_bibtex():
    works = [work for work in load_works() if not work.translator]
    records = read_bibtex("\n".join(map(to_bibtex, works)), source="f.bib")
    assert records.skipped == ()
    assert list(records.works) == works


BIB = r"""
@string{jmlr = "Journal of Machine Learning" # { Research}}
@string(pub = "Springer")
@comment{left out}
@preamble{"\newcommand{\x}{}"}
@article{a, author={von Neumann, John and {WHO} and others}, doi={https://doi.org/10.1000/a\_b},
  title="The {TeX}book of G{\"o}del \& 50\% -- x", journal=jmlr # ", Part A", year=1998,
  month="10~" # jan, pages={1--23}, number=3, volume = 12}
@inproceedings{b, title={X}, crossref={C}, author="Foo, Bar", pages={12-15}}
@proceedings{c, title={Proc. of Y}, editor={Ed Itor}, publisher=pub, year=2001, series={LNCS},
  number=77} @misc{e, title = {Attention}, author={Vaswani, A.}, eprint={1706.03762}, year=2017,
  archivePrefix={arXiv}}
@article{f, title={CoRR}, title={twice}, author={A B}, year={2000}, journal={CoRR},
  volume={abs/1706.03762}}
@thesis{i, title={T}, author={A B}, date={2001-05-03}, institution={MIT}, type={mathesis}}
@manual{j, title={R}, organization={R Core Team}, year=2020, url={https://r.org/a%20_b~c}}
@misc{k, title={Page}, author={A B}, year=2003, howpublished={\url{http://x.org/a_b}}, note=2004}
@misc{s, title={Tool}, author={A B}, year=2003, howpublished={Software}}
@book{n, title={T}, subtitle={Sub}, editor={A B}, year=1999, edition={2nd ed.}, address={Berlin}}
"""


def test_a_bibtex_file():
    records = read_bibtex(BIB, source="f.bib")
    assert records.skipped == ()
    works = {work.id: work for work in records.works}
    ab = (Name("B", "A"),)
    editor = (Name("Itor", "Ed"),)
    assert works == {
        "a": Work(
            "a",
            "article",
            "The TeXbook of Gödel & 50% – x",
            "1998",
            (Name("Neumann", "John", "von"), Name(literal="WHO")),
            container="Journal of Machine Learning Research, Part A",
            volume="12",
            issue="3",
            pages="1-23",
            month="January",
            doi="10.1000/a_b",
        ),
        "b": Work(
            "b",
            "inproceedings",
            "X",
            "2001",
            (Name("Foo", "Bar"),),
            editor,
            container="Proc. of Y",
            series="LNCS",
            volume="77",
            publisher="Springer",
            pages="12-15",
        ),
        "c": Work(
            "c",
            "collection",
            "Proc. of Y",
            "2001",
            editor=editor,
            series="LNCS",
            volume="77",
            publisher="Springer",
        ),
        "e": Work(
            "e", "preprint", "Attention", "2017", (Name("Vaswani", "A."),), arxiv="1706.03762"
        ),
        "f": Work("f", "preprint", "CoRR", "2000", ab, arxiv="1706.03762"),
        "i": Work("i", "mastersthesis", "T", "2001", ab, month="May", day="3", school="MIT"),
        "j": Work(
            "j",
            "techreport",
            "R",
            "2020",
            (Name(literal="R Core Team"),),
            url="https://r.org/a%20_b~c",
        ),
        "k": Work("k", "webpage", "Page", "2003", ab, url="http://x.org/a_b", note="2004"),
        "s": Work("s", "software", "Tool", "2003", ab),
        "n": Work("n", "collection", "T: Sub", "1999", editor=ab, edition="2nd", place="Berlin"),
    }


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ("@book{b, author={A B}, year=1999}", "f.bib:2: 'b' has no title."),
        ("@book{b, title={T}}", "f.bib:2: 'b' has no year and no author, editor or organisation."),
        ("@book{a, title={T}, author={A B}, year=1}", "f.bib:2: 'a' is the key of a record"),
        ("@court{b, title={T}}", "f.bib:2: 'b' has the type 'court', which no style is for."),
        ("@book{b title={T}}", "f.bib:2: expected an entry, got '@book{b title="),
        ("@book{b, title={T", "f.bib:2: expected an entry, got '@book{b, title={T'."),
    ],
)
def test_entries_are_skipped_with_a_reason(entry, reason, capsys):
    good = "@book{a, title={T}, author={A B}, year=1999}\n"
    records = read_bibtex(good + entry, source="f.bib")
    assert len(records.works) == 1
    (message,) = records.skipped
    assert message.startswith(reason)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("text", ["", "no entry at all", "@", "}{", "@article{", "\x00"])
def test_files_without_entries_hold_no_works(text):
    assert read_bibtex(text, source="f.bib").works == ()


def test_bibtexparser_is_asked_for(monkeypatch):
    monkeypatch.setitem(sys.modules, "bibtexparser.entrypoint", None)
    with pytest.raises(ImportError, match=r"trelliswork\[cite\]"):
        read_bibtex("", source="f.bib")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Donald E. Knuth", [Name("Knuth", "Donald E.")]),
        ("Knuth, Donald E.", [Name("Knuth", "Donald E.")]),
        ("Ludwig van Beethoven", [Name("Beethoven", "Ludwig", "van")]),
        (r"de la Vall{\'e}e Poussin, C.", [Name("Vallée Poussin", "C.", "de la")]),
        ("Ortega y Gasset, José", [Name("Ortega y Gasset", "José")]),
        ("King, Jr., Martin", [Name("King", "Martin", "", "Jr.")]),
        ("King, Martin, Jr.", [Name("King", "Martin", "", "Jr.")]),
        ("Martin Luther King Jr.", [Name("King", "Martin Luther", "", "Jr.")]),
        ("J.~R. R.~Tolkien", [Name("Tolkien", "J. R. R.")]),
        ("{van Berg}, X", [Name("van Berg", "X")]),
        (r"{\"O}zg{\"u}r", [Name("Özgür")]),
        ("{Barnes and Noble}", [Name(literal="Barnes and Noble")]),
        ("University of Toronto", [Name(literal="University of Toronto")]),
        ("A B and\nC D AND others", [Name("B", "A"), Name("D", "C")]),
        ("and A B and and", [Name("B", "A")]),
        ("others", []),
        (" and {} and", []),
    ],
)
def test_names(text, expected):
    assert list(parse_names(text)) == expected


@given(st.text('abAB {},~\\"and', max_size=40))
def test_any_text_is_read_as_names(text):
    for name in parse_names(text):
        assert name.family or name.literal


@given(st.text('@{}"=,#%\\ \nabookticle1998', max_size=60))
def test_any_text_is_read_as_bibtex(text):
    read_bibtex("@book{a, title={T}, author={A B}, year=1999}\n" + text, source="f.bib")


def test_many_blanks_between_names_are_read():
    assert len(parse_names("A. Smith" + " " * 50_000 + "and B. Jones")) == 2


def test_macros_that_double_are_cut():
    macros = ["@string{m0 = {abc}}", *(f"@string{{m{i + 1} = m{i} # m{i}}}" for i in range(40))]
    entry = "@book{a, title = m40, author = {A}, year = 1990}"
    (work,) = read_bibtex("\n".join([*macros, entry]), source="a.bib").works
    assert len(work.title) == 10_000
