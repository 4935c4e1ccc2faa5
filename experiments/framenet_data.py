"""FrameNet 1.5: frames with their roles, and targets in sentences with their arguments.

A *target* is a word (or a few) that evokes a frame; its *arguments* are spans of the same sentence,
each in a role of that frame. Spans are token offsets, end exclusive.

What is read: arguments of the first layer only (rank 1: those of a target never overlap), targets
that somebody annotated, frames that the lexicon has. Both relations between roles are symmetric, as
in the paper: where the lexicon says that *a* excludes or requires *b*, *b* does so with *a*.
"""

from __future__ import annotations

import gzip
import json
import sys
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from common import find_data

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NAME = "framenet15"


@dataclass(frozen=True)
class Frame:
    """A frame of the lexicon.

    Attributes
    ----------
    name : str
        Its name.
    roles, coreness : tuple of str
        Its roles, and how central each is: ``Core``, ``Peripheral``, …
    excludes, requires : tuple of pairs of str
        Pairs of roles that must not, or must, be filled together; each pair once, sorted.
    """

    name: str
    roles: tuple[str, ...]
    coreness: tuple[str, ...]
    excludes: tuple[tuple[str, str], ...] = ()
    requires: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Sentence:
    """Words, their parts of speech in lower case, and the document that they are from."""

    tokens: tuple[str, ...]
    tags: tuple[str, ...]
    document: str


@dataclass(frozen=True)
class Target:
    """A target, the frame that it evokes, and its arguments.

    Attributes
    ----------
    sentence : Sentence
        Where it stands.
    frame : Frame
        What it evokes; given, as in the paper.
    unit : str
        The lexical unit, lemma and part of speech: ``give up.v``.
    start, end : int
        From its first token to behind its last.
    arguments : tuple of (role, start, end)
        The gold arguments; a role may be filled more than once.
    """

    sentence: Sentence
    frame: Frame
    unit: str
    start: int
    end: int
    arguments: tuple[tuple[str, int, int], ...]

    @cached_property
    def filled(self) -> dict[str, list[tuple[int, int]]]:
        """Return the gold spans of each role that has any."""
        found: dict[str, list[tuple[int, int]]] = {}
        for role, start, end in self.arguments:
            found.setdefault(role, []).append((start, end))
        return found


def directory_of(data: Path | None) -> Path:
    """Return the directory of the data set, or end the program with what is missing."""
    found = find_data(data)
    if found is None or not (found / NAME).is_dir():
        sys.exit(f"No {NAME} here: pass --data DIR or set TRELLISWORK_DATA.")
    return found / NAME


def read_frames(directory: Path) -> dict[str, Frame]:
    """Read the lexicon, ``frames.json[.gz]``."""
    with _open(directory, "frames.json") as file:
        raw = json.load(file)
    return {name: _frame(name, entry["fes"]) for name, entry in raw.items()}


def read_targets(directory: Path, part: str, frames: dict[str, Frame]) -> list[Target]:
    """Read the targets of a part, ``PART.jsonl[.gz]``."""
    with _open(directory, f"{part}.jsonl") as file:
        return [target for line in file for target in _targets(json.loads(line), frames)]


def split_documents(targets: list[Target], every: int = 5) -> tuple[list[Target], list[Target]]:
    """Hold the targets of every fifth document out; returns the others and them."""
    documents = sorted({target.sentence.document for target in targets})
    held_out = set(documents[every // 2 :: every])
    return (
        [target for target in targets if target.sentence.document not in held_out],
        [target for target in targets if target.sentence.document in held_out],
    )


def _open(directory: Path, name: str) -> Any:
    for path in (directory / f"{name}.gz", directory / name):
        if path.exists():
            opener = gzip.open if path.suffix == ".gz" else open
            return opener(path, "rt", encoding="utf-8")
    sys.exit(f"{directory}: expected {name}.gz or {name}, found neither.")


def _frame(name: str, elements: list[dict[str, Any]]) -> Frame:
    coreness = {
        element["name"]: element["core"] for element in elements
    }  # a role may be listed twice
    roles = tuple(coreness)

    def pairs(relation: str) -> tuple[tuple[str, str], ...]:
        found = {
            (min(element["name"], other), max(element["name"], other))
            for element in elements
            for other in element.get(relation, ())
            if other in roles and other != element["name"]
        }
        return tuple(sorted(found))

    return Frame(name, roles, tuple(coreness.values()), pairs("excludes"), pairs("requires"))


def _targets(line: dict[str, Any], frames: dict[str, Frame]) -> Iterator[Target]:
    tags = tuple(tag.lower() for tag in line["pos"].split(" "))
    sentence = Sentence(tuple(line["tokens"]), tags, line["doc"])
    for entry in line["frames"]:
        frame = frames.get(entry["frame"])
        if frame is None or entry.get("status") == "UNANN":
            continue
        arguments = tuple(
            (role, start, end)
            for role, start, end, *rank in entry["fes"]
            if rank in ([], [1]) and role in frame.roles
        )
        pieces = entry["target"]
        start, end = min(s for s, _ in pieces), max(e for _, e in pieces)
        yield Target(sentence, frame, entry["lu"], start, end, arguments)
