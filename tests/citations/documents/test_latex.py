import unicodedata

import pytest
from hypothesis import given, strategies as st

from trelliswork.citations.documents.latex import decode_latex, decode_latex_spans, encode_latex


@pytest.mark.parametrize(
    ("latex", "plain"),
    [
        (r"G\"odel G\"{o}del G{\"o}del G{\"{o}}del", "Gödel Gödel Gödel Gödel"),
        (r"\'e \`a \^o \~n \=a \.z", "é à ô ñ ā ż"),
        (r"\c{c} \c c {\v s} \v{r} \u{g} \H{o} \k{a} \d{s} \b{d} \r{u}", "ç ç š ř ğ ő ą ṣ ḏ ů"),
        (r"\'{\i} \'\i{} \i{} \`{\j}", "í í ı j̀"),
        (r"\'{\^e} \t{oo}", "ế o͡o"),
        (r"\aa\AA\ae\AE\o\O\l\L\ss\oe\OE{}x", "åÅæÆøØłŁßœŒx"),
        (r"Stra\ss e, \O rsted", "Straße, Ørsted"),
        (r"J.~R.\,R. Tolkien", "J. R. R. Tolkien"),
        (r"379--423 --- x-y", "379–423 — x-y"),
        (r"``quoted'' `x' !`Hola! ?`Que?", "“quoted” `x' ¡Hola! ¿Que?"),
        (r"{\em On} \emph{Computable} \textbf{{N}umbers}", "On Computable Numbers"),
        (r"\textit {spaced} {\bf b}", "spaced b"),
        (r"\url{http://a_b.org/~c/%20--d\_e\%f}", "http://a_b.org/~c/%20--d_e%f"),
        (r"\href{http://a.org/%7E}{the text}", "the text"),
        (r"\href {http://a.org} {the text}", "the text"),
        (r"$O(n^{2})$ and $\alpha$-helix", "O(n^2) and α-helix"),
        (r"\$5 \& 3\% \# \_ \{x\}", "$5 & 3% # _ {x}"),
        (r"\^{} \~{} \"{}x \'", "^ ~ \"x '"),
        ("one % comment\n   two", "one two"),
        (r"\unknown{kept} \other  {too}", "kept too"),
        (r"\enquote{in {it}} out", "“in it” out"),
        (r"9\penalty0 (2):\penalty-100 3", "9(2):3"),
        (r"a.\hskip 1em plus 0.5em minus 0.4em\relax B", "a. B"),
        (r"A.\newblock B", "A. B"),
        (r"etc.\@ Mr.\ X \LaTeX{} \TeX", "etc. Mr. X LaTeX TeX"),
        (r"\bibinfo {author} {\bibfnamefont {J.}~Smith}\BibitemShut {NoStop}", "J. Smith"),
        (r"\ldots \dots\textendash\textquoteright", "……–’"),
        (r"\url{open", "open"),
        ("}{}\\", ""),
        ("naïve Ünïcode 中文 שלום", "naïve Ünïcode 中文 שלום"),
    ],
)
def test_decoded(latex, plain):
    assert decode_latex(latex)[0] == plain


def test_percent_signs_may_be_plain():
    assert decode_latex("50% of all", comments=False)[0] == "50% of all"
    assert decode_latex("50% of all")[0] == "50"


def test_places():
    latex = r"K. G{\"{o}}del, \emph{\"Uber} \url{a\_b}"
    plain, starts, ends = decode_latex_spans(latex)
    shown = {
        character: latex[start:end]
        for character, start, end in zip(plain, starts, ends, strict=True)
    }
    assert plain == "K. Gödel, Über a_b"
    assert shown["ö"] == r"\"{o}"
    assert shown["Ü"] == r"\"U"
    assert shown["d"] == "d"
    assert shown["_"] == r"\_"


PIECES = st.lists(
    st.one_of(
        st.text(max_size=4),
        st.sampled_from(list("\\{}$&%#_^~-`'!?\" \n")),
        st.sampled_from([r"\"", r"\'{", r"\v", r"\i", r"\c ", r"\newblock", r"\foo", "%\n", "---"]),
        st.sampled_from([r"\url{", r"\href{", r"\enquote{", r"\penalty", r"\hskip 1em"]),
    ),
    max_size=25,
).map("".join)


@given(PIECES)
def test_every_character_has_its_place(latex):
    plain, starts, ends = decode_latex_spans(latex)
    assert len(plain) == len(starts) == len(ends)
    assert list(starts) == sorted(starts)
    for character, start, end in zip(plain, starts, ends, strict=True):
        assert 0 <= start < end <= len(latex)
        if end == start + 1:
            assert character in {"~": "~ ", "}": "”"}.get(latex[start], latex[start])
    assert (plain, list(starts)) == (decode_latex(latex)[0], list(decode_latex(latex)[1]))


@given(st.one_of(st.text(), PIECES))
def test_encoded_text_is_decoded_to_itself(text):
    encoded = encode_latex(text)
    assert decode_latex(encoded)[0] == text
    assert encoded.count("{") == encoded.count("}")


def test_letters_are_not_escaped():
    text = "Ünïcode: 中文 “x” – Erdős"
    assert encode_latex(text) == text
    assert encode_latex("a_b & c") == r"a\_b \& c"


@pytest.mark.parametrize("accent", list("`'^\"~=.uvHckdbr"))
def test_accents_are_composed(accent):
    decoded = decode_latex(f"\\{accent}{{a}}")[0]
    assert decoded == unicodedata.normalize("NFC", decoded)
    assert unicodedata.normalize("NFD", decoded)[0] == "a"
    assert len(unicodedata.normalize("NFD", decoded)) == 2


def test_names_of_functions_are_printed():
    assert decode_latex(r"$O(n\log n)$, $\log_2 \max(x)$, \sin x")[0] == (
        "O(n log n), log_2 max(x), sin x"
    )


def test_many_percent_signs_are_read():
    assert decode_latex("%" * 100_000, comments=False)[0] == "%" * 100_000
