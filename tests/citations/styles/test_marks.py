"""Marks in text: pieces come back as they were put in."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, strategies as st

from trelliswork.citations.fields import FIELDS, LABELS, to_cora
from trelliswork.citations.styles.marks import closing, opening, unmark
from trelliswork.citations.styles.template import Piece

WORDS = st.text("abcXYZ019", min_size=1, max_size=6)
PIECES = st.lists(st.tuples(WORDS, st.sampled_from(LABELS)), min_size=1, max_size=6)


def marked(text: str, label: str) -> str:
    return opening(label) + text + closing()


@given(PIECES)
def test_pieces_come_back(pieces):
    found = unmark(" ".join(marked(text, label) for text, label in pieces))
    assert "".join(piece.text for piece in found) == " ".join(text for text, _ in pieces)
    owners = [piece.label for piece in found for _ in piece.text]
    written = [label for text, label in pieces for _ in text + " "][:-1]
    assert owners == written  # a blank belongs to the field before it
    assert all(left.label != right.label for left, right in pairwise(found))


@given(WORDS, WORDS, WORDS)
def test_the_innermost_field_counts(before, inside, after):
    text = opening("volume") + before + marked(inside, "issue") + after + closing()
    assert unmark(text) == [
        Piece(before, "volume"),
        Piece(inside, "issue"),
        Piece(after, "volume"),
    ]


def test_unmarked_text_joins_a_neighbour():
    text = f"[1] {marked('Ann', 'author')}, in: {marked('Book', 'booktitle')} (pp. "
    text += f"{marked('1–2', 'pages')}). end"
    assert unmark(text) == [
        Piece("[1] Ann, ", "author"),
        Piece("in: Book ", "booktitle"),
        Piece("(pp. 1–2). end", "pages"),
    ]
    assert unmark("no marks") == []


def test_marks_hide_no_doubled_punctuation():
    text = f"{marked('Ann B.', 'author')}. {marked(' What...', 'title')}. "
    assert unmark(text) == [Piece("Ann B. ", "author"), Piece("What... ", "title")]


def test_labels_of_cora():
    assert to_cora(["number", "editor", "series", "arxiv"]) == [
        "editor",
        "editor",
        "booktitle",
        "tech",
    ]
    assert to_cora(["journal", "series", "number"]) == ["journal", "journal", "author"]
    assert set(to_cora(LABELS)) == set(FIELDS)
