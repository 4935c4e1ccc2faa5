"""Invented titles: patterns such as "on the {a} of {t}", filled with the words of a discipline.

A slot of one letter is a section of words: an aspect ("stability"), a thing ("lattices"), an
adjective, a method, a setting ("the wild"), a name ("BERT"), something one is doing ("learning").
Patterns and words are in small letters but for proper names. A title gets its capitals at the end,
as a headline or as a sentence; "_" joins words that take none ("Escherichia_coli").
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from trelliswork.citations.invention.numbers import to_roman
from trelliswork.citations.invention.people import invent_person, invent_surname, pick_culture
from trelliswork.citations.invention.stock import load_stock, pick
from trelliswork.citations.styles.wording import ordinal

if TYPE_CHECKING:
    from random import Random

GROUP_OF = {
    "ai": "computing",
    "systems": "computing",
    "theory": "formal",
    "mathematics": "formal",
    "statistics": "formal",
    "particles": "science",
    "condensed": "science",
    "astro": "science",
    "chemistry": "science",
    "biology": "science",
    "earth": "science",
    "engineering": "science",
    "medicine": "medicine",
    "psychology": "medicine",
    "economics": "social",
    "sociology": "social",
    "education": "social",
    "law": "social",
    "history": "humanities",
    "literature": "humanities",
    "philosophy": "humanities",
    "linguistics": "humanities",
    "arts": "humanities",
    "religion": "humanities",
}
"""The disciplines, and which patterns of titles are theirs."""

_SMALL_WORDS = (
    "a an and as at but by c. de des du during for from in into nor of on or over per the to und "
    "under versus via vs with without"
)
_SMALL = frozenset(_SMALL_WORDS.split())
_SLOT = re.compile(r"\{(\w+)\}")
_SECTIONS = {
    "a": "aspect",
    "d": "doing",
    "j": "adj",
    "m": "method",
    "n": "name",
    "s": "setting",
    "t": "thing",
}
# The first and the last part of names such as "GraphFlow".
_COINED_STARTS = (
    "Auto Bio Cyber Deep Dyna Fast Flex Geno Graph Hyper Info Meta Micro Multi Neuro Open Para "
    "Poly Proto Quick Smart Soft Star Sym Tele Trans Uni Web"
)
_COINED_ENDS = (
    "Align Base Bench DB Drive Flow Former GAN Graph Grid Lab LM Map Match Miner Nav Net OS Parse "
    "Plan Scan Scope Seq Sim Space Stream Talk Track Tree View Vis"
)
_COINED = (_COINED_STARTS.split(), _COINED_ENDS.split())
# Most things are composed of a head and what modifies it; the others are terms of their own.
_HOW_TO_HEAD = ("head", "head", "head", "thing")
_LANGUAGES = ("C++", "Fortran", "Java", "Julia", "MATLAB", "Prolog", "Python", "R", "Stata")
_VERBS = ("build", "choose", "evaluate", "explain", "improve", "measure", "teach", "use", "write")
_VOWELS, _CONSONANTS = "AAEEIOU", "BCDFGLMNPRSTV"


def invent_title(rng: Random, discipline: str, kind: str, year: int) -> str:
    """Compose an English title.

    Parameters
    ----------
    rng : Random
        Random generator.
    discipline : str
        One of `GROUP_OF`: the origin of the words.
    kind : str
        "paper", or a section of the stock of patterns: "book", "container", "thesis", "report",
        "web", "software", "standard".
    year : int
        When the work appears; the years in the title lie before it.
    """
    pattern = _paper_pattern(rng, GROUP_OF[discipline])
    if kind != "paper":
        pattern = load_stock("patterns")[kind].pick(rng)
    title = fill_pattern(rng, pattern, discipline, year)
    headline_share = 0.9 if kind in {"book", "container", "software"} else 0.5
    if rng.random() < headline_share:
        return to_headline(title)
    return to_sentence(title, after_colon=rng.random() < 0.5)


def _paper_pattern(rng: Random, group: str) -> str:
    """Draw the pattern of a paper's title, often with a tail or with a second one as subtitle."""
    patterns = load_stock("patterns")
    pattern = patterns["common" if rng.random() < 0.35 else group].pick(rng)
    chance = rng.random()
    if chance < 0.45 or pattern.endswith("?") or ":" in pattern:
        return pattern
    if chance < 0.85:
        tail = patterns[f"{group} tail"].pick(rng)
        return pattern + tail if tail[0] in ",:" else f"{pattern} {tail}"
    subtitle = patterns[group].pick(rng)
    return pattern if ":" in subtitle else f"{pattern}: {subtitle}"


def fill_pattern(rng: Random, pattern: str, discipline: str, year: int) -> str:
    """Fill the slots of a pattern with words of a discipline."""
    parts = _split(pattern)
    out: list[str] = []
    used: set[str] = set()
    for index, part in enumerate(parts):
        if not index % 2:
            out.append(part)
            continue
        word = _fill_slot(rng, part, discipline, year)
        # Neither "trees and trees" nor "optimal optimal trees" is a title.
        if word in used or word.split(" ")[0] in used:
            word = _fill_slot(rng, part, discipline, year)
        used.add(word)
        # Nor is "bright the Milky Way".
        if part == "t" and (parts[index - 2 :][:2] == ("j", " ") or out[-1].endswith(" a ")):
            word = word.removeprefix("the ")
        if out[-1].endswith(" a ") and (word[0].lower() in "aeio" or word == "R"):
            out[-1] = f"{out[-1][:-1]}n "
        out.append(word)
    return "".join(out).strip().replace("s's ", "s' ")


@cache
def _split(pattern: str) -> tuple[str, ...]:
    # The blank in front lets "a {adj}" become "an" at the start as elsewhere.
    return tuple(_SLOT.split(f" {pattern}"))


def _fill_slot(rng: Random, slot: str, discipline: str, year: int) -> str:
    section = _SECTIONS.get(slot)
    if section is None:
        return _general(rng, slot, discipline, year)
    if section == "thing":
        return invent_thing(rng, discipline, year)
    if section in {"aspect", "doing"}:
        return load_stock("groups")[f"{GROUP_OF[discipline]} {section}"].pick(rng, year)
    return load_stock(discipline)[section].pick(rng, year)


def invent_thing(rng: Random, discipline: str, year: int) -> str:
    """Compose the subject of a work: "spin glasses", "anisotropic spin waves", "magnetism"."""
    stock = load_stock(discipline)
    thing = stock[_HOW_TO_HEAD[int(rng.random() * len(_HOW_TO_HEAD))]].pick(rng, year)
    chance = rng.random()
    if chance < 0.25 or thing.startswith("the "):
        return thing
    modifier = stock["mod" if chance < 0.7 else "adj"].pick(rng, year)
    return f"{modifier} {thing}"


def _general(rng: Random, slot: str, discipline: str, year: int) -> str:
    """Fill a slot that has no words of its own."""
    humanities = GROUP_OF[discipline] == "humanities"
    match slot:
        case "year":
            return str(year - rng.randint(20, 150 if humanities else 40))
        case "next":
            return str(year - rng.randint(0, 19 if humanities else 5))
        case "now":
            return str(year - rng.randint(0, 2))
        case "century":
            return ordinal(rng.randint(12, 20))
        case "count":
            return str(rng.choice((2, 3, 4, 5, 6, 7, 10, 12, 15, 20, 25, 30, 40, 50, 100, 300)))
        case "n1":
            return str(rng.randint(1, 4))
        case "roman":
            return to_roman(rng.randint(1, 5))
        case "surname":
            return invent_surname(rng)
        case "person":
            person = invent_person(rng, pick_culture(rng), initials=rng.random() < 0.3)
            return " ".join(
                part for part in (person.given, person.particle, person.family) if part
            ).replace(" ", "_")
        case "place":
            return load_stock("places")["city"].pick(rng)
        case "language":
            return pick(rng, _LANGUAGES)
        case "verb":
            return pick(rng, _VERBS)
        case "acronym":
            return coin_acronym(rng)
        case _:
            raise KeyError(f"no stock and no rule fills the slot {{{slot}}}")


def coin_acronym(rng: Random) -> str:
    """Coin the name of a project, a program or a study: "GraphFlow", "MIRAS"."""
    chance = rng.random()
    if chance < 0.45:
        return pick(rng, _COINED[0]) + pick(rng, _COINED[1])
    letters = "".join(
        pick(rng, _CONSONANTS if index % 2 == 0 else _VOWELS) for index in range(rng.randint(3, 6))
    )
    return letters if chance < 0.85 else letters.capitalize()


def to_headline(title: str) -> str:
    """Give a title the capitals of a headline: all words but the small ones."""
    words = title.split(" ")
    opens = True
    for index, word in enumerate(words):
        bare = word.lstrip("“‘(")
        if opens or (bare.rstrip(",") not in _SMALL):
            words[index] = _capitalise(word)
        opens = word.endswith((":", "?", ".", "--"))
    return " ".join(words).replace("_", " ")


def to_sentence(title: str, *, after_colon: bool) -> str:
    """Give a title the capitals of a sentence; `after_colon` starts subtitles with one, too."""
    words = title.split(" ")
    opens = True
    for index, word in enumerate(words):
        if opens:
            words[index] = _capitalise(word, first_part_only=True)
        opens = word.endswith(("?", ".")) or (after_colon and word.endswith((":", "--")))
    return " ".join(words).replace("_", " ")


def _capitalise(word: str, *, first_part_only: bool = False) -> str:
    if any(letter.isupper() or letter.isdigit() for letter in word):
        return word
    parts = word.split("-")
    kept = 1 if first_part_only else len(parts)
    return "-".join(
        part if index >= kept or (index and part in _SMALL) else _upper_first(part)
        for index, part in enumerate(parts)
    )


def _upper_first(word: str) -> str:
    start = next((index for index, letter in enumerate(word) if letter.isalpha()), None)
    if start is None:
        return word
    return word[:start] + word[start].upper() + word[start + 1 :]
