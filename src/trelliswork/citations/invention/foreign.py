"""Invented titles in languages other than English, with the venues and people that go with them."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from trelliswork.citations.invention.numbers import to_roman
from trelliswork.citations.invention.people import invent_surname
from trelliswork.citations.invention.stock import load_stock

if TYPE_CHECKING:
    from random import Random

CULTURE_OF = {
    "german": "german",
    "french": "french",
    "spanish": "spanish",
    "italian": "italian",
    "portuguese": "portuguese",
    "dutch": "dutch",
    "swedish": "nordic",
    "polish": "slavic",
}
"""The languages, and the origin of their authors."""

LANGUAGE_WEIGHTS = {
    "german": 30,
    "french": 28,
    "spanish": 15,
    "italian": 10,
    "portuguese": 7,
    "dutch": 5,
    "swedish": 3,
    "polish": 2,
}

_SLOT = re.compile(r"\{(\w+)\}")


def pick_language(rng: Random) -> str:
    """Draw a language, the frequent ones more often."""
    return rng.choices(tuple(LANGUAGE_WEIGHTS), tuple(LANGUAGE_WEIGHTS.values()))[0]


def pick_topic(rng: Random, language: str) -> str:
    """Draw whether a work is about science, where a language has words for it: "science " or ""."""
    return "science " if "science thing" in load_stock(language) and rng.random() < 0.3 else ""


def invent_foreign_title(rng: Random, language: str, kind: str, year: int, topic: str = "") -> str:
    """Compose a title in a language from the patterns of a kind: "pattern", "book", "conference".

    A thing is written with its article. Where the language declines it, as in "die Stadt|der
    Stadt", `{thing}` is the first form and `{of}` the second. The prepositions and articles that a
    language draws together ("de le|du") are in the section "contraction".
    """
    title = _fill_pattern(rng, language, kind, year, topic)
    if kind == "pattern" and len(title) < 50 and title[-1].isalpha() and rng.random() < 0.4:
        colon = " : " if language == "french" else ": "
        title += colon + _fill_pattern(rng, language, kind, year, topic)
    return title


def _fill_pattern(rng: Random, language: str, kind: str, year: int, topic: str) -> str:
    parts = _SLOT.split(load_stock(language)[kind].pick(rng))
    for index in range(1, len(parts), 2):
        parts[index] = _fill_slot(rng, language, parts[index], year, topic)
    # The blank in front lets a preposition be drawn together at the start as elsewhere.
    title = " " + "".join(parts)
    for written, spoken in _contractions(language):
        title = title.replace(written, spoken)
    title = title.strip()
    return title[0].upper() + title[1:]


@cache
def _contractions(language: str) -> tuple[tuple[str, str], ...]:
    stock = load_stock(language)
    if "contraction" not in stock:
        return ()
    pairs = (entry.partition("|") for entry in stock["contraction"].entries)
    return tuple(
        # "di l'arte" has no blank after its article, "di la storia" has one.
        (f" {apart}", f" {together}") if apart.endswith("'") else (f" {apart} ", f" {together} ")
        for apart, _, together in pairs
    )


def _fill_slot(rng: Random, language: str, slot: str, year: int, topic: str) -> str:
    stock = load_stock(language)
    match slot:
        case "thing":
            return stock[f"{topic}thing"].pick(rng).partition("|")[0]
        case "of":
            return stock[f"{topic}thing"].pick(rng).partition("|")[2]
        case "year":
            return str(rng.randint(year - 150, year - 20))
        case "next":
            return str(rng.randint(year - 19, year))
        case "n":
            return str(rng.randint(2, 40))
        case "roman":
            return to_roman(rng.randint(1, 6))
        case "surname":
            return invent_surname(rng)
        case _:
            return stock[slot].pick(rng)
