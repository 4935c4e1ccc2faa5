import itertools
import random
import textwrap

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trelliswork.citations import STYLES, load_works, render
from trelliswork.citations.documents import Entry, split_references
from trelliswork.citations.documents.list_breaks import _best_breaks, _worth
from trelliswork.citations.documents.list_lines import BLANKS
from trelliswork.errors import DataError

# In styles that put no mark in front: the layouts below do.
REFERENCES = {
    style.name: [
        " ".join("".join(piece.text for piece in render(work, style)).split())
        for work in load_works()
    ]
    for style in STYLES
    if style.name in {"apa", "mla", "chicago-author-date", "harvard", "acl", "din", "aaai"}
}


def wrap(text, width, first="", rest=""):
    # Words with hyphens stay whole: whether a hyphen at a line's end is the word's own is a guess.
    return textwrap.fill(
        text,
        width,
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
    )


def marked(mark, separator="\n", rest=""):
    def layout(references, width):
        return separator.join(
            wrap(mark(number) + text, width, rest=rest)
            for number, text in enumerate(references, start=1)
        )

    return layout


def unmarked(separator, first="", rest=""):
    return lambda references, width: separator.join(
        wrap(text, width, first, rest) for text in references
    )


def with_pages(layout):
    """Cut a layout into pages of 5 lines with a running head and a number each."""

    def paged(references, width):
        lines = layout(references, width).split("\n")
        pages = [lines[i : i + 5] for i in range(0, len(lines), 5)]
        if len(pages) == 1:
            return "\n".join(lines)  # a head that is not repeated cannot be known
        return "\f".join(
            "\n".join(["A Paper on References", "", *page, "", str(number)])
            for number, page in enumerate(pages, start=11)
        )

    return paged


KEYS = {
    "number": lambda number: str(number),
    "key": lambda number: f"Abc{number:02}",
    "": lambda number: "",
}
LAYOUTS = {
    "a line each": ("", lambda references, width: "\n".join(references)),
    "a line each, Windows": ("", lambda references, width: "\r\n".join(references) + "\r\n"),
    "double spaced": ("", lambda references, width: "\n\n".join(references)),
    "paragraphs": ("", unmarked("\n\n")),
    "hanging indent": ("", unmarked("\n", rest="    ")),
    "hanging tab": ("", unmarked("\n", rest="\t")),
    "first line indent": ("", unmarked("\n", first="   ")),
    "1.": ("number", marked(lambda n: f"{n}. ")),
    "1)": ("number", marked(lambda n: f"{n}) ")),
    "(1)": ("number", marked(lambda n: f"({n}) ")),
    "[1]": ("number", marked(lambda n: f"[{n}] ")),
    "[1], hanging": ("number", marked(lambda n: f"[{n}] ", rest="    ")),
    "[1], paragraphs": ("number", marked(lambda n: f"[{n}]\t", separator="\n\n")),
    "1": ("number", marked(lambda n: f"{n} ")),
    "[Abc01]": ("key", marked(lambda n: f"[Abc{n:02}] ")),
    "bullets": ("", marked(lambda n: "• ")),
    "stars": ("", marked(lambda n: "* ", rest="  ")),
    "heading": ("", lambda references, width: "References\n\n" + "\n".join(references)),
    "[1], pages": ("number", with_pages(marked(lambda n: f"[{n}] "))),
    "hanging indent, pages": ("", with_pages(unmarked("\n", rest="   "))),
}


def some_references(least=3, most=30):
    return st.sampled_from(sorted(REFERENCES)).flatmap(
        lambda style: st.lists(
            st.sampled_from(REFERENCES[style]), min_size=least, max_size=most, unique=True
        )
    )


# Drawn at random but always the same: a few of millions of documents are cut wrongly.
@pytest.mark.parametrize("layout", LAYOUTS)
@settings(derandomize=True, max_examples=40)
@given(references=some_references(), width=st.integers(50, 110))
def test_references_come_back_from_every_layout(layout, references, width):
    key, render_list = LAYOUTS[layout]
    document = render_list(references, width)
    entries = split_references(document)
    assert [entry.text for entry in entries] == references
    assert [entry.key for entry in entries] == [
        KEYS[key](number) for number in range(1, len(references) + 1)
    ]
    for entry in entries:
        assert_located(document, entry)


def assert_located(document, entry):
    """Each character is where the entry says; a blank may be any white space there."""
    assert entry.locate(0, len(entry.text)) == (entry.start, entry.end)
    for place, character in enumerate(entry.text):
        start, end = entry.locate(place, place + 1)
        assert end == start + 1
        assert document[start] == character or (character == " " and document[start] in BLANKS)


@given(st.data(), st.integers(1, 8), st.sampled_from([0.0, 1.0, 3.5]))
def test_no_other_cut_is_worth_more(data, n, cost):
    evidence = [0.0, *data.draw(st.lists(st.integers(-4, 4), min_size=n - 1, max_size=n - 1))]
    dated = data.draw(st.lists(st.booleans(), min_size=n, max_size=n))
    cuts = [[0, *inner] for size in range(n) for inner in itertools.combinations(range(1, n), size)]
    best = _worth(_best_breaks(evidence, dated, cost), evidence, dated, cost)
    assert best == max(_worth(cut, evidence, dated, cost) for cut in cuts)


def test_most_references_come_back_without_any_layout():
    rng = random.Random(0)
    found = total = 0
    for _ in range(60):
        references = rng.sample(REFERENCES[rng.choice(sorted(REFERENCES))], 10)
        width = rng.choice([45, 60, 80, 100])
        document = "\n".join(wrap(text, width) for text in references)
        texts = {entry.text for entry in split_references(document)}
        found += sum(text in texts for text in references)
        total += len(references)
    assert found / total > 0.95


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


def test_running_heads_are_left_out():
    pages = [
        "TESTS, VOL. 3    117\n\nSmith, J. (1998). Title.",
        "118    TESTS, VOL. 3\n",
        "Jones, K.",
    ]
    assert [entry.text for entry in split_references("\n\f".join([*pages[:2], *pages[1:]]))] == [
        "Smith, J. (1998). Title.",
        "Jones, K.",
    ]


def test_a_year_on_a_line_of_its_own_stays():
    document = "\n".join(
        wrap(f"Smith, J. A title that runs on and on and on, {y}", 47) for y in "ab"
    )
    document = document.replace(" a", "\n1998").replace(" b", "\n1999")
    assert [entry.text[-4:] for entry in split_references(document)] == ["1998", "1999"]


@pytest.mark.parametrize("document", ["", " \n\t\r\n", "\ufeff", "\x00\x00\n\x01", "References\n"])
def test_nothing_is_found_in_nothing(document):
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
def test_repetitions_take_no_time(unit, before):
    """A pattern that tries all ways to cut a text would take hours for these."""
    split_references(before + unit * 10_000)


def test_two_megabytes():
    lines = REFERENCES["apa"] * (2_000_000 // sum(map(len, REFERENCES["apa"])))
    assert len(split_references("\n".join(lines))) == len(lines)


def test_spans_outside_the_text_are_refused():
    entry = Entry("abc", 4, 7)
    assert entry.locate(1, 1) == (5, 5)
    with pytest.raises(ValueError, match="within the 3 characters"):
        entry.locate(2, 4)


BBL = r"""
\begin{thebibliography}{10}
\providecommand{\natexlab}[1]{#1}

\bibitem[Erd{\H{o}}s and R{\'e}nyi(1959)]{erdos59}
Paul Erd{\H{o}}s and Alfr{\'e}d R{\'e}nyi.
\newblock On random graphs {I}.
\newblock \emph{Publicationes Mathematicae Debrecen}, 6:\penalty0 290--297,
  1959.
% \bibitem{old} gone
\bibitem[{van der Maaten} et~al.({2008})]{maaten}
Laurens {van der Maaten} and Geoffrey Hinton.
\newblock Visualizing data using {$t$-SNE}.
\newblock \emph{J. Mach. Learn. Res.}, 9\penalty0 (2):\penalty0 2579--2605,
  2008.
\newblock URL \url{https://ex.org/a_b%20c}.

\bibitem{empty}

\bibitem{knuth}
D.~E. Knuth, ``{\TeX} \& friends,'' 1984.\hskip 1em plus
  0.5em minus 0.4em\relax Addison.

\end{thebibliography}
afterwards
"""


def test_bbl():
    entries = split_references(BBL, name="paper.bbl")
    assert [(entry.key, entry.text) for entry in entries] == [
        (
            "erdos59",
            "Paul Erdős and Alfréd Rényi. On random graphs I. Publicationes Mathematicae "
            "Debrecen, 6:290–297, 1959.",
        ),
        (
            "maaten",
            "Laurens van der Maaten and Geoffrey Hinton. Visualizing data using t-SNE. "
            "J. Mach. Learn. Res., 9(2):2579–2605, 2008. URL https://ex.org/a_b%20c.",
        ),
        ("knuth", "D. E. Knuth, “TeX & friends,” 1984. Addison."),
    ]
    first = entries[0].text.index("Erdős")
    start, end = entries[0].locate(first, first + 5)
    assert BBL[start:end] == r"Erd{\H{o}}s"
    start, end = entries[0].locate(0, len(entries[0].text))
    assert BBL[start:end].startswith("Paul")
    assert BBL[start:end].endswith("1959.")
    assert entries[0].locate(2, 2) == (start + 2, start + 2)


def test_bbl_of_biblatex_is_refused():
    text = "% $ biblatex auxiliary file $\n\\refsection{0}\n\\entry{a}{article}{}\n\\endentry\n"
    with pytest.raises(DataError, match=r"p.bbl: expected .* biblatex.*--from"):
        split_references(text, name="p.bbl")


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
def test_what_precedes_the_heading_of_a_list_is_left_out(mark):
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
