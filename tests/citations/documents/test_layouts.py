"""Lists of references in every layout are cut into the references that they were made of."""

import random
import textwrap

import pytest

from document_cases import assert_located
from trelliswork.citations import STYLES, load_works, render
from trelliswork.citations.documents import split_references

# In styles that put no mark in front: layouts do.
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


# Drawn at random but always the same: a few of millions of documents are cut wrongly.
@pytest.mark.parametrize("layout", LAYOUTS)
def test_references_come_back_from_every_layout(layout):
    key, render_list = LAYOUTS[layout]
    rng = random.Random(layout)
    for _ in range(40):
        style = REFERENCES[rng.choice(sorted(REFERENCES))]
        references = rng.sample(style, rng.randint(3, 30))
        document = render_list(references, rng.randint(50, 110))
        entries = split_references(document)
        assert [entry.text for entry in entries] == references
        assert [entry.key for entry in entries] == [
            KEYS[key](number) for number in range(1, len(references) + 1)
        ]
        for entry in entries:
            assert_located(document, entry)


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


def test_two_megabytes():
    lines = REFERENCES["apa"] * (2_000_000 // sum(map(len, REFERENCES["apa"])))
    assert len(split_references("\n".join(lines))) == len(lines)
