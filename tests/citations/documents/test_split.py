"""Documents are cut into references: joined lines, pages, headings, and any text at all."""

import itertools
import sys
import textwrap

import pytest
from hypothesis import given, strategies as st

from document_cases import assert_located
from trelliswork.citations.documents import Entry, split_references
from trelliswork.citations.documents.list_breaks import _best_breaks, _worth
from trelliswork.citations.documents.list_lines import BLANKS


@given(st.data(), st.integers(1, 8), st.sampled_from([0.0, 1.0, 3.5]))
def test_no_other_cut_is_worth_more(data, n, cost):
    evidence = [0.0, *data.draw(st.lists(st.integers(-4, 4), min_size=n - 1, max_size=n - 1))]
    dated = data.draw(st.lists(st.booleans(), min_size=n, max_size=n))
    cuts = [[0, *inner] for size in range(n) for inner in itertools.combinations(range(1, n), size)]
    best = _worth(_best_breaks(evidence, dated, cost), evidence, dated, cost)
    assert best == max(_worth(cut, evidence, dated, cost) for cut in cuts)


# Pieces that layouts are made of, and all else that may stand in a file.
JUNK = st.one_of(
    st.text(max_size=30),
    st.sampled_from(["\n", "\n\n", "\r\n", "\f", "    ", "\u00ad", "\u200b", "\ufeff", "\x00"]),
    st.sampled_from(["[1] ", "2. ", "(3) ", "4 ", "[Ab00] ", "• ", "- ", "References", "12"]),
    st.sampled_from(["co-", "Smith, J. (1998). ", "http://a.org/b-", "379-", "423", "Proc. ACM, "]),
    st.sampled_from(["中文", "، می\u200cخواهم", "\\", "{"]),
)


@given(st.lists(JUNK, max_size=40).map("".join))
def test_any_text_is_cut_and_located(document):
    entries = split_references(document)
    end = 0
    for entry in entries:
        assert entry.text == " ".join(entry.text.split(" "))
        assert entry.text.strip(BLANKS) == entry.text != ""
        assert end <= entry.start < entry.end <= len(document)
        end = entry.end
        if entry.origins is None:
            assert document[entry.start : entry.end] == entry.text
        assert_located(document, entry)


WORDS = st.lists(st.text("abcdéßЖ中م", min_size=1, max_size=8), min_size=1, max_size=9).map(
    " ".join
)


@given(st.lists(WORDS, max_size=9), st.sampled_from(["\n", "\n\n", "\n  ", ". \r\n", ",\n", "-\n"]))
def test_no_letter_is_lost(lines, separator):
    document = separator.join(lines)
    read = "".join(entry.text for entry in split_references(document))
    assert [c for c in read if c.isalpha()] == [c for c in document if c.isalpha()]


PDF = """\
7. R EFERENCES

[1] C. E. Shannon, “A mathematical theory of communi-
cation,” Bell System Technical Journal, vol. 27, pp. 379–
423, 1948.
[2] A. M. Turing, “On computable numbers, with an appli-
cation to the Entscheidungsproblem,” Proc. London Math.
Soc., vol. s2-42, no. 1, pp. 230–265, 1937.

12
\f13
[3] J. Lafferty, A. McCallum, and F. Pereira, “Condi-
tional random fields: probabilistic models for segmenting
and labeling sequence data,” in Proc. ICML, 2001, pp.
282–289. [Online]. Available: https://doi.org/10.1145/
800157.805047
[4] S. Sarawagi and W. W. Cohen, “Semi-
Markov conditional random fields,” in NIPS, 2004.
"""


def test_the_text_of_a_pdf():
    entries = split_references(PDF)
    assert [entry.key for entry in entries] == ["1", "2", "3", "4"]
    texts = [entry.text for entry in entries]
    assert texts[0] == (
        "C. E. Shannon, “A mathematical theory of communication,” Bell System Technical Journal, "
        "vol. 27, pp. 379–423, 1948."
    )
    assert texts[1].endswith("pp. 230–265, 1937.")
    assert "Conditional random" in texts[2]
    assert texts[2].endswith("https://doi.org/10.1145/800157.805047")
    assert "“Semi-Markov" in texts[3]
    first = texts[0].index("communication")
    start, end = entries[0].locate(first, first + len("communication"))
    assert PDF[start:end] == "communi-\ncation"


def test_a_page_ends_inside_a_paragraph():
    document = (
        "Bibliography\n\nKingma, D. P., & Ba, J. (2015). Adam: A method for sto-\nchastic "
        "optimization. In 3rd International Conference on Learning\n\n\f\nRepresentations.\n\n"
        "Hochreiter, S., & Schmidhuber, J. (1997). Long short-term\nmemory. Neural Computation, "
        "9(8), 1735–1780.\n"
    )
    texts = [entry.text for entry in split_references(document)]
    assert [text.split()[-2:] for text in texts] == [
        ["Learning", "Representations."],
        ["9(8),", "1735–1780."],
    ]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["computa-", "tion"], "computation"),
        (["computa\u00ad", "tion"], "computation"),
        (["com\u00adputa\u200btion"], "computation"),
        (["\ufeffcomputation"], "computation"),
        (["Semi-", "Markov"], "Semi-Markov"),
        (["state-of-the-", "art"], "state-of-the-art"),
        (["large-", "scale"], "large-scale"),
        (["pre-", "and post-processing"], "pre- and post-processing"),
        (["re-entry, re-", "entry"], "re-entry, re-entry"),
        (["rule based, rule-", "based"], "rule based, rule-based"),
        (["nonlinear, non-", "linear"], "nonlinear, nonlinear"),
        (["pp. 379-", "423"], "pp. 379-423"),
        (["pp. 379–", "423"], "pp. 379–423"),
        (["https://doi.org/10.1000/", "182.x"], "https://doi.org/10.1000/182.x"),
        (["https://a.org/b-", "c"], "https://a.org/b-c"),
        (["https://a.org/", "Accessed in May"], "https://a.org/ Accessed in May"),
        (["条件随机", "场"], "条件随机场"),
        (["한국어", "문장"], "한국어 문장"),
        (["a  b\tc\u00a0d", "  e"], "a b c d e"),
        (["می\u200cخواهم"], "می\u200cخواهم"),
        (["shelf\u200cful"], "shelfful"),
        (["\x00a\x01b\x00"], "a b"),
    ],
)
def test_lines_are_joined(lines, expected):
    document = "[1] " + "\n".join(lines) + "\n[2] End."
    entries = split_references(document)
    assert [entry.text for entry in entries] == [expected, "End."]
    assert_located(document, entries[0])


@pytest.mark.parametrize(
    "line",
    ["References", "REFERENCES:", "VII. Literatur", "# Works Cited", "6 Références", "参考文献"],
)
def test_headings_are_left_out(line):
    (entry,) = split_references(f"{line}\nSmith, J. (1998). Title.")
    assert entry.text == "Smith, J. (1998). Title."


@pytest.mark.parametrize("line", ["12", "- 12 -", "Page 12", "12 of 30", "1999"])
def test_page_numbers_are_left_out(line):
    document = f"Smith, J. (1998). Title.\n\n{line}\n\nJones, K. (2001). Title."
    assert [entry.text[:5] for entry in split_references(document)] == ["Smith", "Jones"]


@pytest.mark.parametrize(
    "heads",
    [
        ["TESTS, VOL. 3    117", "118    TESTS, VOL. 3", "TESTS, VOL. 3    119"],
        ["Lee et al. | Page 3 of 9", "Lee et al. | Page 4 of 9", "Lee et al. | Page 5 of 9"],
        ["12 | A paper", "A paper | 13", "14 | A paper"],
        ["A paper (1998)", "A paper (1998)", ""],
    ],
)
def test_running_heads_are_left_out(heads):
    pages = [
        f"{head}\n\n{name}, J. (199{n}). Title."
        for n, (head, name) in enumerate(zip(heads, ("Smith", "Jones", "Cohen"), strict=True))
    ]
    assert [entry.text for entry in split_references("\n\f".join(pages))] == [
        "Smith, J. (1990). Title.",
        "Jones, J. (1991). Title.",
        "Cohen, J. (1992). Title.",
    ]


@pytest.mark.parametrize(
    "ends",
    [
        ["https://a.org/13.508", "https://a.org/116.61"],
        ["Phys. Rev. Lett. 77, 1 (2003).", "Phys. Rev. Lett. 80, 4521 (2005)."],
        ["J Tree 2000", "J Tree 2001"],
        ["Journal of Tests 7", "Journal of Tests 12"],
    ],
)
def test_ends_of_references_are_no_running_heads(ends):
    pages = [f"[{n}] A. Smith, A title, \n{end}" for n, end in enumerate(ends, start=1)]
    for entry, end in zip(split_references("\n\f".join(pages)), ends, strict=True):
        assert entry.text.endswith(end)


def test_a_page_may_end_inside_a_reference_of_a_list_with_gaps():
    document = (
        "Smith, J. 1999. A study of the growth of several very long trees in the north of\n"
        "England. Journal of Trees 4, 1-20.\n\n"
        "Adams, B. 2001. The other study of the growth of several very short trees in the\n"
        "south of England. Journal of Trees 5, 3-9.\n\n"
        "Baker, C. 2003. Yet another study of the growth of several medium trees in the Great{}"
        "Britain Museum. Journal of Trees 6, 10-19.\n\n"
        "Clark, D. 2005. The last study of the growth of several broad trees in the west of\n"
        "England. Journal of Trees 7, 1-2.\n"
    )
    for page_break in ("\n", "\f", "\n\f"):
        assert len(split_references(document.format(page_break))) == 4


def test_a_year_on_a_line_of_its_own_stays():
    document = "\n".join(
        textwrap.fill(f"Smith, J. A title that runs on and on and on, {y}", 47) for y in "ab"
    )
    document = document.replace(" a", "\n1998").replace(" b", "\n1999")
    assert [entry.text[-4:] for entry in split_references(document)] == ["1998", "1999"]


@pytest.mark.parametrize("document", ["", " \n\t\r\n", "\ufeff", "\x00\x00\n\x01", "References\n"])
def test_empty_documents_hold_no_references(document):
    assert split_references(document) == []


def test_plain_lines_are_references():
    assert [entry.text for entry in split_references("foo\nbar\nbaz")] == ["foo", "bar", "baz"]


def test_a_long_line_is_one_reference():
    line = "Smith, J. (1998). " + "a long title " * 8000
    (entry,) = split_references(line)
    assert entry.text == line.strip()


@pytest.mark.parametrize(
    "unit",
    ["[", "a-\n", "1. a\n", "\f", "\u00ad\u200b", "a/", "http://a/\n", "{", "[Ab12", "a- b\n\n"],
)
@pytest.mark.parametrize("before", ["", "\\bibitem{a} ", "\\bibitem[{"])
def test_repetitions_take_steps_in_proportion(unit, before):
    """A pattern that tries all ways to cut a text would never end for the last of these."""
    half, document = (before + unit * n for n in (200, 400))
    steps, _ = split_with_steps(half)
    more, entries = split_with_steps(document)
    assert more <= 2 * steps + 100
    for entry in entries:
        assert_located(document, entry)
    assert all(a.end <= b.start for a, b in itertools.pairwise(entries))
    split_references(before + unit * 10_000)


def split_with_steps(document: str) -> tuple[int, list[Entry]]:
    """Split a document, and count the lines of Python that run."""
    steps = 0

    def count(*_):
        nonlocal steps
        steps += 1
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        entries = split_references(document)
    finally:
        sys.settrace(before)
    return steps, entries


def test_spans_outside_the_text_are_refused():
    entry = Entry("abc", 4, 7)
    assert entry.locate(1, 1) == (5, 5)
    with pytest.raises(ValueError, match="within the 3 characters"):
        entry.locate(2, 4)


PAPER = """\
A paper on nets

Abstract. We study things (Smith, 1990).

Introduction
We study things [1]. As Smith (1990) has shown, nets work. More text follows here
that is wrapped over lines, until the end of the paragraph.

5. Conclusion
We did it.

6. References

{}
"""


@pytest.mark.parametrize("mark", ["", "[1] ", "1. "])
def test_text_before_the_heading_of_a_list_is_left_out(mark):
    first = mark + "Smith, A. (1990). Nets. Journal of Nets, 1, 1-2."
    second = mark.replace("1", "2") + "Jones, B. (1991). More on nets. Springer."
    entries = split_references(PAPER.format(f"{first}\n{second}"))
    assert [entry.text[:5] for entry in entries] == ["Smith", "Jones"]


def test_a_list_before_a_heading_stays():
    document = "Smith, J. (1998). Title.\n\nLiterature\nJones, K. (2001). Title."
    assert [entry.text[:5] for entry in split_references(document)] == ["Smith", "Jones"]


def test_a_heading_without_a_list_leaves_all_else():
    document = "Smith, J. (1998). Title.\nReferences\nwe thank everybody for all that was done"
    assert split_references(document)[0].text.startswith("Smith, J. (1998). Title.")
