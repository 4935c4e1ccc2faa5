import pytest
from hypothesis import given, strategies as st

from trelliswork.citations.fields import LABELS
from trelliswork.citations.meaning.trimming import trim, trim_text

SPANS = st.text(alphabet="ab J.,;:()[]“”‘’\"'«»-–&<>", max_size=25)


@pytest.mark.parametrize(
    ("label", "text", "field"),
    [
        ("author", "Smith, J., ", "Smith, J."),
        ("author", "Smith, J. A. Jr.: ", "Smith, J. A. Jr."),
        ("author", "Hochreiter S, Schmidhuber JA. ", "Hochreiter S, Schmidhuber JA"),
        ("author", "John Smith et al., ", "John Smith et al."),
        ("author", "Landau, Yu. ", "Landau, Yu."),
        ("author", "'t Hooft, G., ", "'t Hooft, G."),
        ("author", "John Smith. ", "John Smith"),
        ("editor", "(J. Smith and B. Jones, eds.), ", "J. Smith and B. Jones, eds."),
        ("editor", "In J. Smith (Ed.), ", "In J. Smith (Ed.)"),
        ("date", "(1991, July 3). ", "1991, July 3"),
        ("date", "Jan. 1993.", "Jan. 1993"),
        ("title", "“A Title,” ", "A Title"),
        ("title", "‘Newton’s Laws’, ", "Newton’s Laws"),
        ("title", "„Ein Titel“. ", "Ein Titel"),
        ("title", '"A Title," ', "A Title"),
        ("title", "‘A’ and ‘B’. ", "‘A’ and ‘B’"),
        ("title", "“‘Place’: Reflections.” ", "‘Place’: Reflections"),
        ("title", "Plan B. ", "Plan B"),
        ("title", "Made in the U.S. ", "Made in the U.S."),
        ("title", "Why? ", "Why?"),
        ("title", "C60 (a review). ", "C60 (a review)"),
        ("journal", "Mach. Learn. ", "Mach. Learn."),
        ("journal", "Proc. IEEE. ", "Proc. IEEE"),
        ("journal", "Nature. ", "Nature"),
        ("booktitle", "In: Proceedings of ICML. ", "In: Proceedings of ICML"),
        ("volume", ", vol. 27(3), ", "vol. 27(3)"),
        ("issue", "(3): ", "3"),
        ("pages", "(pp. 379–423). ", "pp. 379–423"),
        ("pages", "379 ff.", "379 ff."),
        ("edition", "(2nd ed.). ", "2nd ed."),
        ("publisher", "Wiley, Inc. ", "Wiley, Inc."),
        ("publisher", "(J. C. B. Mohr (Paul Siebeck), ", "J. C. B. Mohr (Paul Siebeck)"),
        ("location", "Washington, D.C.: ", "Washington, D.C."),
        ("location", "Lanham, Md.: ", "Lanham, Md."),
        ("location", "Gaithersburg, MD.", "Gaithersburg, MD"),
        ("tech", "(Tech. Rep. CS-94-12), ", "Tech. Rep. CS-94-12"),
        ("doi", "https://doi.org/10.1000/a(1)b. ", "https://doi.org/10.1000/a(1)b"),
        ("url", "<https://www.w3.org/>. ", "https://www.w3.org/"),
        ("number", "[12] ", "12"),
        ("note", "(in German).", "in German"),
        ("note", "., ", ""),
    ],
)
def test_separators_are_no_part_of_a_field(label, text, field):
    assert trim_text(text, label) == field


def test_a_stretch_of_a_longer_text():
    text = "Smith, J. (1990). A title."
    assert trim(text, 10, 18, "date") == (11, 15)


@given(SPANS, st.sampled_from(LABELS), st.integers(0, 5), st.integers(0, 5))
def test_trimming_shrinks_and_is_done_once(text, label, left, right):
    first, last = min(left, len(text)), max(min(left, len(text)), len(text) - right)
    start, end = trim(text, first, last, label)
    assert first <= start <= end <= last
    assert trim(text, start, end, label) == (start, end)
    kept = text[start:end]
    # Letters and digits are never lost.
    assert [c for c in kept if c.isalnum()] == [c for c in text[first:last] if c.isalnum()]


@given(st.text(max_size=30), st.sampled_from(LABELS))
def test_any_text(text, label):
    field = trim_text(text, label)
    assert field == field.strip(" ,;:")


@pytest.mark.parametrize("mark", ["(", ")", "(x", "“", "“”", ".", ". ", "'", "()", "[(", "-"])
@pytest.mark.parametrize("label", ["author", "title", "journal"])
def test_long_noise_is_trimmed(mark, label):
    text = mark * 5000
    start, end = trim(text, 0, len(text), label)
    assert (start, end) == trim(text, start, end, label)
