"""Forms to correct references in: written, corrected, read back, and refused where ambiguous."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, strategies as st

from page_cases import HEBREW, NEUMANN, SHANNON, VASWANI, reference
from trelliswork.citations import TOKENIZER
from trelliswork.citations.fields import LABELS
from trelliswork.citations.reference import Field, Reference
from trelliswork.citations.review import UNSURE, read_review, write_review
from trelliswork.errors import DataError

ALL = (SHANNON, VASWANI, NEUMANN, HEBREW)


@st.composite
def labelled(draw):
    """A reference of any text, with any label on any token."""
    text = draw(st.text(max_size=60))
    tokens = TOKENIZER.tokenize(text).tokens
    few = st.sampled_from(draw(st.lists(st.sampled_from(LABELS), min_size=1, max_size=3)))
    labels = draw(st.lists(few, min_size=len(tokens), max_size=len(tokens)))
    sure = draw(st.floats(0, 1))
    fields = (Field(labels[0], tokens[0], 0, len(tokens[0]), sure),) if tokens else ()
    return Reference(text, 0, len(text), fields, sure, tokens=tokens, labels=tuple(labels))


def lines_of(form: str) -> list[str]:
    return [line for line in form.split("\n") if line and not line.startswith("#")]


def edited(form: str, *changes: tuple[str, str]) -> str:
    """Return a form in which each of the texts, which occurs once, is another."""
    for old, new in changes:
        assert form.count(old) == 1
        form = form.replace(old, new)
    return form


def line_number(form: str, text: str) -> int:
    (number,) = (i for i, line in enumerate(form.split("\n"), start=1) if text in line)
    return number


@given(st.lists(labelled(), max_size=4))
def test_unchanged_entries_are_confirmed(references):
    found = read_review(write_review(references), source="form")
    kept = sorted((r for r in references if r.tokens), key=lambda r: r.confidence)
    assert [(own.tokens, own.labels) for own in found] == [(r.tokens, r.labels) for r in kept]
    assert [own.text for own in found] == [" ".join(r.text.split()) for r in kept]
    for own in found:
        assert TOKENIZER.tokenize(own.text).tokens == own.tokens


def test_a_form_reads_well():
    form = lines_of(write_review([SHANNON]))
    assert form == [
        "=== 1, characters 0 to 160, confidence 0.96",
        "> Shannon, C. E. (1948). A mathematical theory of communication. Bell System Technical "
        "Journal, 27(3), 379–423. https://doi.org/10.1002/j.1538-7305.1948.tb01338.x",
        "  author:      Shannon, C. E.",
        "  date:        (1948).",
        "  title:       A mathematical theory of communication.",
        "  journal:     Bell System Technical Journal,",
        "  volume:      27",
        "  issue:       (3),",
        "  pages:       379–423.",
        "  doi:         https://doi.org/10.1002/j.1538-7305.1948.tb01338.x",
    ]


def test_the_least_certain_come_first():
    form = write_review(ALL, most=2)
    headers = [line for line in lines_of(form) if line.startswith("===")]
    assert [line.split(",")[0] for line in headers] == ["=== 3", "=== 4"]
    unsure = [line.split(":")[0] for line in lines_of(form) if line.startswith("?")]
    assert unsure[:2] == ["? title", "? booktitle"]
    assert len(unsure) == 2 + len([f for f in HEBREW.fields if f.confidence < UNSURE])
    with pytest.raises(ValueError, match="at least 1"):
        write_review(ALL, most=0)


def test_the_help_names_every_label():
    help_text = write_review([])
    assert all(line.startswith("#") for line in help_text.split("\n") if line)
    for label in LABELS:
        assert f"{label}," in help_text or f"{label}." in help_text
    assert read_review(help_text, source="form") == []


def test_corrections_are_taken_over():
    form = edited(
        write_review([VASWANI]),
        ("  number:      [2]\n", "  number:      [2] A.\n"),  # up from the next line
        ("  author:      A. Vaswani", "author:Vaswani"),
        ("? location:    Long Beach, CA,", "  location: Long Beach,\nlocation\tCA,"),
        ("  volume:      vol. 30,\n", ""),
        ("Information Processing Systems,\n", "Information Processing Systems,  vol.  30,\n"),
    )
    (found,) = read_review(form, source="form")
    assert found.tokens == VASWANI.tokens
    labels = dict(zip(found.tokens, found.labels, strict=True))
    assert found.labels[:4] == ("number",) * 4
    assert labels["A"] == "number"
    assert labels["vol"] == labels["30"] == "booktitle"
    assert labels["CA"] == "location"
    assert "volume" not in found.labels


def test_any_editor_may_have_written_it():
    form = write_review([SHANNON, HEBREW])
    for changed in ("\ufeff" + form, form.replace("\n", "\r\n"), form.replace("\n", "\n\n")):
        assert read_review(changed, source="form") == read_review(form, source="form")


def test_references_can_be_left_out():
    form = write_review(ALL)
    blocks = form.split("\n===")
    without = "\n===".join(blocks[:1] + blocks[2:])
    assert len(read_review(without, source="form")) == len(ALL) - 1
    skipped = edited(form, ("  author:      Shannon", "Skip\nauthor: lost"))
    found = read_review(skipped, source="form")
    assert SHANNON.tokens not in [own.tokens for own in found]
    assert len(found) == len(ALL) - 1


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("theory of comm", "theory, of comm", "expected 'of' after 'A mathematical theory', as"),
        ("A mathematical theory", "A theory", "expected 'mathematical' after ') . A', as"),
        ("Shannon, C. E.", "C. E.", "expected 'Shannon' at the beginning, as in"),
        ("379–423.", "379–423. 7", "expected 'https' after '– 423 .', as in"),
        ("tb01338.x", "tb01338.x y", "expected nothing more after 'tb01338 . x', as in"),
        ("tb01338.x", "tb01338.", "expected 'x' after '. tb01338 .', as in"),
    ],
)
def test_words_that_are_not_those_of_the_reference(old, new, message):
    form = write_review([SHANNON])
    head, fields = form.split("author: ", maxsplit=1)
    changed = head + "author: " + edited(fields, (old, new))
    with pytest.raises(DataError) as caught:
        read_review(changed, source="form.txt")
    assert message in str(caught.value)
    assert f"line {line_number(form, '> Shannon')}, got" in str(caught.value)


def test_the_line_of_an_error_is_named():
    form = write_review([SHANNON])
    volume = line_number(form, "volume:      27")
    with pytest.raises(
        DataError, match=rf"^form:{volume}: expected '27' after 'Technical Journal ,'.*got '28'"
    ):
        read_review(form.replace("volume:      27", "volume: 28"), source="form")
    last = line_number(form, "doi:  ")
    cut = "\n".join(form.split("\n")[: last - 1])
    with pytest.raises(DataError, match=rf"^form:{last - 1}: expected 'https' .*got nothing more"):
        read_review(cut, source="form")
    text = line_number(form, "> Shannon")
    bare = "\n".join(form.split("\n")[:text])
    with pytest.raises(DataError, match=rf"^form:{text}: expected 'Shannon' at the beginning"):
        read_review(bare, source="form")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("titel: A", r"unknown label 'titel'. Did you mean 'title'\? There are author, editor"),
        ("zzz: A", r"unknown label 'zzz'. There are author, editor"),
        ("A", r"expected a label, a colon and words.*got 'A mathematical theory of comm"),
    ],
)
def test_lines_that_are_no_fields(given, message):
    form = write_review([SHANNON])
    number = line_number(form, "title:  ")
    with pytest.raises(DataError, match=rf"^f:{number}: {message}"):
        read_review(form.replace("  title:       A", given, 1), source="f")


def test_labels_may_be_written_large():
    form = write_review([SHANNON]).replace("  title: ", "  Title: ")
    assert read_review(form, source="f")[0].labels == SHANNON.labels


def test_forms_that_have_lost_their_frame():
    form = write_review([SHANNON, VASWANI])
    with pytest.raises(DataError, match=r"^f:1: expected a line that begins with ==="):
        read_review("title: A\n", source="f")
    text = line_number(form, "> Shannon")
    lines = form.split("\n")
    without_text = "\n".join(lines[: text - 1] + lines[text:])
    with pytest.raises(DataError, match=rf"^f:{text - 1}: expected the text of the reference"):
        read_review(without_text, source="f")
    without_header = "\n".join(lines[: text - 2] + lines[text - 1 :])
    with pytest.raises(DataError, match=rf"^f:{text - 1}: expected one line with >"):
        read_review(without_header, source="f")


def test_references_that_were_not_read_are_not_asked_about():
    unread = Reference("?" * 9000, 0, 9000, (), 0.0)
    assert lines_of(write_review([unread])) == []


def test_tokens_that_are_not_those_of_the_text():
    with pytest.raises(DataError, match="at character 7: expected the tokens of its text"):
        write_review([replace(reference(("title", "A b")), tokens=("A",), start=7)])


def test_two_fields_of_one_label_side_by_side_are_one_line():
    """Each field has its own confidence; later lines keep theirs."""
    given = reference(
        ("note", "In press. "), ("note", "Draft 2. "), ("date", "1999."), sure=[0.9, 0.2, 0.3]
    )
    form = write_review([given])
    assert "? note:" in form
    assert "? date:" in form
