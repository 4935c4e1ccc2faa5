"""Numbers, keys and bullets in front of references, and numbers that only look like it."""

import random
import textwrap

import pytest

from document_cases import assert_located
from trelliswork.citations.documents import split_references


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ("[Sha48] A. (1948).\n[Online]. B.\n[Tur37] C. (1937).", ["Sha48", "Tur37"]),
        ("[Smith et al., 2003] S. (2003).\n[WHO] T. (2004).", ["Smith et al., 2003", "WHO"]),
        ("[3] Smith, J. (1998).\n[17] Jones, K. (2001).\nTitle.", ["3", "17"]),
        ("12. Smith, J. (1998). Title.", ["12"]),
        ("1984. Orwell, G. Secker, London.", [""]),
        ("12 Angry Men. (1957). United Artists.", [""]),
        ("1.\nSmith, J. (1998).\n2.\nJones, K. (2001).", ["1", "2"]),
        ("1\nSmith, J. (1998).\n2\nJones, K. (2001).", ["1", "2"]),
        (
            "8. A. Smith. 1998.\n9. B. Jones.\n10. Springer, 1999.\n10. C. Cohen. 2000.",
            ["8", "9", "10"],
        ),
        ("1. A. Smith. 1998.\n2. B. Jones. 1999.\n4. C. Cohen. 2000.", ["1", "2", "4"]),
        ("［1］王小明. 2003.\n［2］张三. 2005.", ["1", "2"]),
        ("[1] محمد، ۱۳۹۰.\n[2] حسن، ۱۳۸۵.", ["1", "2"]),
        (
            "tail of one, 1997.\n[7] A. Smith. 1998.\n[8] B. Jones. 1999.\n[9] C. C. 2000.",
            ["", *"789"],
        ),
    ],
)
def test_keys(document, expected):
    assert [entry.key for entry in split_references(document)] == expected


def test_numbers_may_begin_again():
    half = [f"{n}. A. Smith. Title number {n}, 1998." for n in range(1, 8)]
    entries = split_references("\n".join(half + half))
    assert [entry.key for entry in entries] == [str(n) for n in range(1, 8)] * 2


def test_numbers_inside_references_are_no_marks():
    lines = [f"Smith, J. (1998). A title that is long enough,\n{n}. Springer." for n in range(40)]
    random.Random(1).shuffle(lines)
    entries = split_references("\n".join(lines))
    assert {entry.key for entry in entries} == {""}
    assert len(entries) == 40


@pytest.mark.parametrize("mark", ["[{}]", "({})", "{})", "{}."])
@pytest.mark.parametrize("width", [10_000, 60])
def test_a_list_that_lost_its_line_breaks(mark, width):
    references = [
        "Smith A. Nets. J Nets. 1990;1:2-3.",
        "Jones, B.: More on nets [2]. In: Proc. of 3. Workshop, pp. 1-2 (1991).",
        "John Doe, A book. 2. ed. Springer, 2001.",
    ]
    marked = [f"{mark.format(n)} {text}" for n, text in enumerate(references, start=1)]
    document = textwrap.fill(" ".join(marked), width)
    entries = split_references(document)
    assert [entry.key for entry in entries] == ["1", "2", "3"]
    assert [entry.text for entry in entries] == references
    for entry in entries:
        assert_located(document, entry)


def test_marks_in_front_of_lines_go_before_those_inside():
    document = "[1] A. Smith, comment on [2] B. Jones, 1998.\n[2] B. Jones. Title. 1997."
    assert [entry.key for entry in split_references(document)] == ["1", "2"]
    assert split_references(document)[0].text.endswith("1998.")


def test_a_list_in_which_few_references_have_a_number_is_no_numbered_list():
    texts = [
        "[65] Harrison, A. 1975. Aspirin therapy. The Lancet 3, 12-19.",
        "Ramsey, G. 1995. Automating with shape from shading. Vision 7, 1-9.",
        "Nam G, Hartmann K. Optimal scene shape. Vision 2001;8:3-9.",
        "[66] Oh, I. H., “Enumerating circuit lower bounds,” Complexity, 1999.",
        "A. Longo and W. Verhoeven, Adaptive replication, Biology 16 (2003).",
        "55 Mason, J. & Scott, S. Search for wild numbers. Nature 5, 1-2 (1990).",
        "[67] Burns F, Ryan C. On inorganic synthesis. Chemistry 1987;3:2-8.",
        "Srivastava M (2009) Bank investment. Farnham: Ashgate.",
    ]
    for document in ("\n".join(texts), "\n\n".join(texts)):
        assert len(split_references(document)) == len(texts)


def test_second_lines_may_look_like_openings():
    document = (
        "[Abc01] Gamma, E. et al. (1994) Design Patterns. Addison-Wesley.\n"
        "[Abc02] Kernighan, B.W. and Ritchie, D.M. (1988) The C Programming Language. 2nd edn.\n"
        "Englewood Cliffs, NJ: Prentice Hall.\n"
        "[Abc03] Gödel, K. (1931) Über formal unentscheidbare Sätze der Principia und verwandter\n"
        "Systeme I. Monatshefte für Mathematik 38:173-198."
    )
    assert [entry.key for entry in split_references(document)] == ["Abc01", "Abc02", "Abc03"]
