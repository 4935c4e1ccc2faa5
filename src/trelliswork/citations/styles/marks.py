"""Labels inside text: marks around fields, and their conversion to pieces.

A program that knows nothing of labels may write a reference with marks in it, characters of the
private use area; its output is then labelled by construction. Text outside all marks
joins a neighbour: punctuation the field before it, words and opening brackets the one after it.
"""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING

from trelliswork.citations.fields import LABELS
from trelliswork.citations.styles.template import Piece

if TYPE_CHECKING:
    from collections.abc import Iterator

_FIRST = 0xE100
_END = "\ue0ff"
_OF_MARK = {chr(_FIRST + i): label for i, label in enumerate(LABELS)}
_MARK_OF = {label: mark for mark, label in _OF_MARK.items()}
_MARKS = re.compile(f"[{_END}{''.join(_OF_MARK)}]")

_CLOSING = re.compile(r"""^[\s.,;:!?)\]}”’»"'/–—-]*""")
_REPEATED = frozenset(".,;: ")


def opening(label: str) -> str:
    """Return the mark that begins a field."""
    return _MARK_OF[label]


def closing() -> str:
    """Return the mark that ends the field begun last."""
    return _END


def unmark(text: str) -> list[Piece]:
    """Cut marked text into pieces with their labels.

    Fields may lie in one another; the innermost counts. At a mark, where the program could not see
    its own output, punctuation and blanks are not written twice.

    Examples
    --------
    >>> a, t, end = opening("author"), opening("title"), closing()
    >>> unmark(f"{a}Shannon, C.{end}. In {t}Title{end}.")
    [Piece(text='Shannon, C. ', label='author'), Piece(text='In Title.', label='title')]
    """
    stretches = [
        (label, "".join(character for character, _ in own))
        for label, own in groupby(_labelled_characters(text), key=lambda pair: pair[1])
    ]
    pieces: list[Piece] = []
    before = ""  # words that join the field after them
    for i, (label, own) in enumerate(stretches):
        if label and not (pieces and not before and _CLOSING.fullmatch(own)):
            pieces.append(Piece(before + own, label))
            before = ""
            continue
        # At the end there is no field to join but the one before.
        before = "" if pieces and i == len(stretches) - 1 else own
        if pieces:
            before = _CLOSING.sub("", before, count=1)
            pieces[-1] = Piece(pieces[-1].text + own.removesuffix(before), pieces[-1].label)
    return _merged(pieces)


def _labelled_characters(text: str) -> Iterator[tuple[str, str]]:
    """Yield each character with the label of the innermost field around it, or an empty one."""
    open_labels: list[str] = []
    last, at_mark = "", False
    for character in text:
        if character in _OF_MARK:
            open_labels.append(_OF_MARK[character])
            at_mark = True
        elif character == _END:
            open_labels.pop()
            at_mark = True
        elif not (at_mark and character == last and character in _REPEATED):
            yield character, open_labels[-1] if open_labels else ""
            last, at_mark = character, False


def _merged(pieces: list[Piece]) -> list[Piece]:
    return [
        Piece("".join(piece.text for piece in own), label)
        for label, own in groupby(pieces, key=lambda piece: piece.label)
    ]
