"""Label schemes: segments, valid sequences, and conversion between schemes.

A label is read as a tuple of levels, each a pair ``(tag, name)``, outermost first:

========  =================================  ========================================
scheme    label                              levels
========  =================================  ========================================
plain     ``author``                         ``(("I", "author"),)``
iob1      ``O``, ``I-PER``                   ``()``, ``(("I", "PER"),)``
bio       ``B-PER``                          ``(("B", "PER"),)``
bioes     ``S-PER``                          ``(("S", "PER"),)``
bilou     ``U-PER``                          ``(("S", "PER"),)``: L is read as E, U as S
path      ``I-authors/B-person``             ``(("I", "authors"), ("B", "person"))``
========  =================================  ========================================

One rule then says where segments begin in every scheme. Level ``k`` of a label *continues* the
segment open before it iff all levels above it continue, the previous label has a level ``k`` of
the same name, this tag is I or E, and the previous tag is B or I; else it *begins* a segment. On
B, I and O these are the chunks of CoNLL's ``conlleval``, invalid sequences included; on plain
labels they are maximal runs.
"""

from __future__ import annotations

import logging
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, cast, get_args

from trelliswork.errors import LabelError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from trelliswork.data.sentence import Label

logger = logging.getLogger(__name__)

Scheme: TypeAlias = Literal["plain", "iob1", "bio", "bioes", "bilou", "path"]
Levels: TypeAlias = tuple[tuple[str, str], ...]

OUTSIDE = "O"
TAGS: dict[str, dict[str, str]] = {
    "iob1": {"B": "B", "I": "I"},
    "bio": {"B": "B", "I": "I"},
    "bioes": {"B": "B", "I": "I", "E": "E", "S": "S"},
    "bilou": {"B": "B", "I": "I", "L": "E", "U": "S"},
    "path": {"B": "B", "I": "I"},
}


class Violation(NamedTuple):
    """A position at which a sequence breaks its scheme, and the reason."""

    position: int
    reason: str


def check_scheme(scheme: str) -> Scheme:
    """Return the scheme, or raise a `ValueError` if there is none of that name."""
    if scheme not in get_args(Scheme):
        raise LabelError(f"Expected a scheme of {', '.join(get_args(Scheme))}, got {scheme!r}.")
    return cast("Scheme", scheme)


@lru_cache(maxsize=65536)
def parse(label: str, scheme: Scheme, outside: str | None = None) -> Levels:
    """Return the levels of a label, outermost first; see the table of the module.

    Parameters
    ----------
    label
        The label.
    scheme
        The scheme of the label.
    outside
        The plain label that is no segment; the other schemes have ``O``.

    Raises
    ------
    LabelError
        If the label is not one of the scheme.
    """
    if scheme == "plain":
        return () if label == outside else (("I", label),)
    if label == OUTSIDE:
        return ()
    parts = label.split("/") if scheme == "path" else [label]
    levels = []
    for part in parts:
        tag, dash, name = part.partition("-")
        if tag not in TAGS[scheme] or not dash or not name:
            tags = ", ".join(f"{tag}-name" for tag in TAGS[scheme])
            raise LabelError(
                f"{label!r} is no {scheme} label: expected {OUTSIDE} or {tags}"
                + (" at every level, joined by /." if scheme == "path" else ".")
                + " Choose another scheme, or correct the label."
            )
        levels.append((TAGS[scheme][tag], name))
    return tuple(levels)


def continued_levels(previous: Levels, levels: Levels) -> int:
    """Return the number of levels, from the outermost, that continue open segments.

    Parameters
    ----------
    previous, levels
        The levels of two neighbouring labels; ``()`` before the first token.
    """
    depth = 0
    for (tag_before, name_before), (tag, name) in zip(previous, levels, strict=False):
        if name != name_before or tag in "BS" or tag_before in "ES":
            break
        depth += 1
    return depth


@lru_cache(maxsize=65536)
def transition_fault(previous: str | None, label: str | None, scheme: Scheme) -> str | None:
    """Return the reason why `label` may not follow `previous`, or ``None`` if it may.

    Parameters
    ----------
    previous
        The label before, or ``None`` at the start of the sequence.
    label
        The label, or ``None`` at the end of the sequence.
    scheme
        The scheme of both.
    """
    if scheme == "plain":
        return None
    before = () if previous is None else parse(previous, scheme)
    levels = () if label is None else parse(label, scheme)
    depth = continued_levels(before, levels)
    if scheme == "iob1":
        if levels and levels[0][0] == "B" and [n for _, n in before] != [levels[0][1]]:
            name = levels[0][1]
            return f"B-{name} stands only right after another {name}; use I-{name}"
        return None
    if scheme in ("bioes", "bilou"):
        closing, single = ("E", "S") if scheme == "bioes" else ("L", "U")
        if before and before[0][0] in "BI" and depth == 0:
            name = before[0][1]
            if label is None:
                return (
                    f"the {name} is open at the end, expected {closing}-{name} or {single}-{name}"
                )
            return f"the {name} before is open, expected I-{name} or {closing}-{name}"
        if levels and levels[0][0] in "IE" and depth == 0:
            name = levels[0][1]
            return f"{name} begins with B-{name} or {single}-{name}"
        return None
    for tag, name in levels[depth:]:
        if tag == "I":
            return f"{name} begins here and needs B-{name}"
    return None


def violations(labels: Sequence[Label], scheme: Scheme) -> list[Violation]:
    """Return where a sequence breaks its scheme; a segment open at the end counts at its last.

    Nothing is checked next to a label that is ``None`` or a set: it is unknown.
    """
    if scheme == "plain":
        return []
    found = []
    previous: str | None = None
    known = True  # the start of the sequence is a known context
    for position, label in enumerate(labels):
        if isinstance(label, str):
            if known and (fault := transition_fault(previous, label, scheme)):
                found.append(Violation(position, fault))
            previous, known = label, True
        else:
            previous, known = None, False
    if previous is not None and (fault := transition_fault(previous, None, scheme)):
        found.append(Violation(len(labels) - 1, fault))
    return found


def check_sequence(labels: Sequence[Label], scheme: Scheme) -> None:
    """Raise a `LabelError` at the first label that breaks the scheme."""
    for position, reason in violations(labels, scheme):
        before = "the start" if position == 0 else repr(labels[position - 1])
        raise LabelError(
            f"position {position}: {labels[position]!r} after {before} breaks {scheme}: {reason}."
        )


def infer_scheme(sequences: Iterable[Sequence[Label]], others: Iterable[str] = ()) -> Scheme:
    """Guess the scheme of label sequences.

    The names decide between plain, bio, bioes, bilou and path. Between bio and iob1 the sequences
    decide: iob1 where they are all valid in it and not all valid in bio.

    Parameters
    ----------
    sequences
        Label sequences that are taken to be right.
    others
        Further labels of the same scheme, whose order says nothing (predictions, for example).
    """
    sequences = list(sequences)
    names = set(others).union(*map(names_in, sequences))
    if names and not any("/" in name for name in names):
        for scheme in ("bio", "bioes", "bilou"):
            if all(_fits(name, scheme) for name in names):
                return _bio_or_iob1(sequences) if scheme == "bio" else scheme
    elif names and all(_fits(name, "path") for name in names):
        return "path"
    _warn_of_odd_names(names)
    return "plain"


def _warn_of_odd_names(names: set[str]) -> None:
    """Warn if a few odd names keep labels that look like BIO from being read as BIO."""
    odd = sorted(name for name in names if not _fits(name, "bio"))
    if 0 < len(odd) <= len(names) // 4:
        logger.warning(
            "labels are read as plain, each name a field of its own, because of %s; "
            "the others look like BIO. Set the scheme to decide yourself.",
            ", ".join(map(repr, odd[:3])),
        )


def names_in(labels: Sequence[Label]) -> set[str]:
    """Return the label names of a sequence, those in sets of alternatives included."""
    names: set[str] = set()
    for label in labels:
        if isinstance(label, str):
            names.add(label)
        elif label is not None:
            names |= label
    return names


def _bio_or_iob1(sequences: list[Sequence[Label]]) -> Scheme:
    if not any(violations(sequence, "bio") for sequence in sequences):
        return "bio"
    return "bio" if any(violations(sequence, "iob1") for sequence in sequences) else "iob1"


def _fits(name: str, scheme: Scheme) -> bool:
    try:
        parse(name, scheme)
    except LabelError:
        return False
    return True
