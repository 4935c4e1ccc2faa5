"""Correction by hand: the least certain references as a text form, and its corrected version.

A reference is a line with its number, a line with its text, and its fields, one a line with the
label in front. The fields hold all words of the reference in their order, marks included, so that
a corrected form can be aligned with the text word by word.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from difflib import get_close_matches
from itertools import groupby
from typing import TYPE_CHECKING

from trelliswork.citations.fields import LABELS, TOKENIZER
from trelliswork.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trelliswork.citations.reference import Reference

__all__ = ["LabelledText", "read_review", "write_review"]

UNSURE = 0.8
"""Fields with a lower confidence are pointed out."""

HELP = f"""\
# References to correct, the least certain first. What you leave as it is counts as right.
#
# Below each reference are its fields, one a line: the label, a colon, the words. A field that the
# parser is not sure of has a question mark in front, which means nothing when the file is read.
#
# - A wrong label: write another one. There are
#   {", ".join(LABELS[:11])},
#   {", ".join(LABELS[11:])}.
# - A field that ends too early or too late: move words to the line above or below.
# - Two fields in one line: break the line, and put a label in front of the rest. Two lines that are
#   one field: join them, or give them the same label.
# - The words of a reference have to stay, all of them and in their order: marks, too, which belong
#   to the field that they follow. Leave the lines that begin with === or > as they are.
# - A reference that you cannot judge: delete it, or write skip on a line of its own below it.
#
# Lines that begin with # are ignored. Then train with what you corrected:
# trelliswork cite train --add FILE --out mine.tw
"""

_HEADER, _TEXT, _COMMENT, _SKIP = "===", ">", "#", "skip"
_WIDTH = max(map(len, LABELS)) + 1
_LINE = re.compile(r"(?:\?\s*)?(?P<label>[^\s:?]+)\s*[:\t](?P<words>.*)", re.DOTALL)
_CONTEXT = 3  # words before a difference that a message shows


@dataclass(frozen=True, slots=True)
class LabelledText:
    """A reference with labels checked by hand.

    Attributes
    ----------
    text : str
        The reference on one line.
    tokens, labels : tuple of str
        The tokens that `trelliswork.citations.TOKENIZER` finds in it, and the label of each.
    """

    text: str
    tokens: tuple[str, ...]
    labels: tuple[str, ...]


def write_review(references: Sequence[Reference], *, most: int = 20) -> str:
    """Return the least certain references as text that can be corrected in an editor.

    Parameters
    ----------
    references
        Parsed references. Those without tokens, which the parser did not read, are left out.
    most
        Most references to write.
    """
    if most < 1:
        raise ValueError(f"most: expected at least 1 reference, got {most}.")
    read = [(number, own) for number, own in enumerate(references, start=1) if own.tokens]
    read.sort(key=lambda numbered: numbered[1].confidence)
    blocks = (_block(number, reference) for number, reference in read[:most])
    return "\n".join([HELP, *blocks])


def _block(number: int, reference: Reference) -> str:
    lines = [
        f"{_HEADER} {number}, characters {reference.start} to {reference.end}, "
        f"confidence {reference.confidence:.2f}",
        f"{_TEXT} {_on_one_line(reference.text)}",
    ]
    for label, words, is_unsure in _runs(reference):
        lines.append(f"{'?' if is_unsure else ' '} {label + ':':<{_WIDTH}} {words}")
    return "\n".join(lines) + "\n"


def _on_one_line(text: str) -> str:
    return " ".join(text.split())


def _runs(reference: Reference) -> Iterator[tuple[str, str, bool]]:
    """Yield the runs of equal labels of a reference: label, words, and whether they are unsure."""
    text, labels = reference.text, reference.labels
    sentence = TOKENIZER.tokenize(text)
    if sentence.tokens != reference.tokens or len(labels) != len(reference.tokens):
        raise DataError(
            f"reference at character {reference.start}: expected the tokens of its text and a "
            f"label for each, got {len(reference.tokens)} tokens and {len(labels)} labels for "
            f"{len(sentence.tokens)} words. Parse it again."
        )
    offsets = sentence.offsets or ()
    fields = list(reference.fields)
    for label, run in groupby(range(len(labels)), key=labels.__getitem__):
        places = list(run)
        # Fields are these runs without the marks around them; a run of marks alone is no field, and
        # two fields of one label may stand side by side.
        sure = 1.0
        while fields and fields[0].label == label:
            sure = min(sure, fields.pop(0).confidence)
        words = _on_one_line(text[offsets[places[0]][0] : offsets[places[-1]][1]])
        yield label, words, sure < UNSURE


@dataclass
class _Block:
    """A reference of a form: its lines, each with its number."""

    header: int
    text: str = ""
    text_line: int = 0
    is_skipped: bool = False
    fields: list[tuple[int, str, str]] = field(default_factory=list)  # line, label, words


def read_review(text: str, *, source: str) -> list[LabelledText]:
    """Read a corrected form of `write_review`.

    Parameters
    ----------
    text
        The form.
    source
        Name of the text in error messages, such as that of the file.

    Returns
    -------
    list of LabelledText
        In the order of the form, without references that were deleted or marked ``skip``.

    Raises
    ------
    DataError
        If a line is no field, a label is unknown, or the words are not those of the reference:
        the message names the line and the first difference.
    """
    return [_aligned(block, source) for block in _blocks(text, source) if not block.is_skipped]


def _blocks(text: str, source: str) -> list[_Block]:
    blocks: list[_Block] = []
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), start=1):
        line = line.strip()
        if not line or line.startswith(_COMMENT):
            continue
        if line.startswith(_HEADER):
            blocks.append(_Block(number))
        elif not blocks:
            raise DataError(
                f"{source}:{number}: expected a line that begins with {_HEADER} before the first "
                f"reference, got {line[:40]!r}. Use a form that `trelliswork cite review` wrote."
            )
        elif line.startswith(_TEXT):
            block = blocks[-1]
            if block.text_line:
                raise DataError(
                    f"{source}:{number}: expected one line with {_TEXT} for each reference, got "
                    f"another one after line {block.text_line}. Put back the line with {_HEADER} "
                    "that was between them."
                )
            block.text, block.text_line = line.removeprefix(_TEXT).strip(), number
        elif line.lower() == _SKIP:
            blocks[-1].is_skipped = True
        else:
            blocks[-1].fields.append((number, *_field(line, f"{source}:{number}")))
    return blocks


def _field(line: str, where: str) -> tuple[str, str]:
    """Return the label and the words of a line."""
    found = _LINE.fullmatch(line)
    if found is None:
        raise DataError(
            f"{where}: expected a label, a colon and words, as in 'title: On numbers', got "
            f"{line[:60]!r}. Put the label of the line above in front to continue it."
        )
    label = found["label"].lower()
    if label not in LABELS:
        near = get_close_matches(label, LABELS, n=1)
        hint = f"Did you mean {near[0]!r}? " if near else ""
        raise DataError(
            f"{where}: unknown label {found['label']!r}. {hint}There are {', '.join(LABELS)}."
        )
    return label, found["words"]


def _aligned(block: _Block, source: str) -> LabelledText:
    """Return the text of a block with a label for every token."""
    if not block.text_line:
        raise DataError(
            f"{source}:{block.header}: expected the text of the reference on a line that begins "
            f"with {_TEXT}, got none. Put it back, or delete the reference."
        )
    tokens = TOKENIZER.tokenize(block.text).tokens
    found = [
        (token, label, line)
        for line, label, words in block.fields
        for token in TOKENIZER.tokenize(words).tokens
    ]
    _check_words(tokens, found, block, source)
    return LabelledText(block.text, tokens, tuple(label for _, label, _ in found))


def _check_words(
    tokens: tuple[str, ...], found: list[tuple[str, str, int]], block: _Block, source: str
) -> None:
    """Raise a `DataError` at the first word of the fields that differs from the reference."""
    own = [token for token, _, _ in found]
    if own == list(tokens):
        return
    same = next(
        (i for i, pair in enumerate(zip(own, tokens, strict=False)) if pair[0] != pair[1]),
        min(len(own), len(tokens)),
    )
    before = " ".join(tokens[max(0, same - _CONTEXT) : same])
    place = f"after {before!r}" if before else "at the beginning"
    wanted = repr(tokens[same]) if same < len(tokens) else "nothing more"
    if same < len(found):
        line, got = found[same][2], repr(own[same])
    else:
        line, got = (block.fields[-1][0] if block.fields else block.text_line), "nothing more"
    raise DataError(
        f"{source}:{line}: expected {wanted} {place}, as in line {block.text_line}, got {got}. The "
        "fields have to hold the words of the reference, all of them and in its order. Correct "
        "the line, or leave the reference out with 'skip' on a line of its own."
    )
