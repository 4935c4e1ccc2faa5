"""Venues of invented works: journals, proceedings, publishers, schools and institutes."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from trelliswork.citations.invention.stock import load_stock, pick
from trelliswork.citations.invention.titles import (
    GROUP_OF,
    invent_thing,
    invent_title,
    to_headline,
)
from trelliswork.citations.styles.wording import ordinal

if TYPE_CHECKING:
    from random import Random

_DROPPED_WORDS = "a an and at de del der des di du en et für for in la le les of on the to und & y"
_DROPPED = frozenset(_DROPPED_WORDS.split())
_TENS = ("", "", "Twenty", "Thirty", "Forty", "Fifty", "Sixty", "Seventy")
_ROUND = ("", "Tenth", "Twentieth", "Thirtieth", "Fortieth", "Fiftieth", "Sixtieth", "Seventieth")
_FIRST_ORDINALS = (
    "First Second Third Fourth Fifth Sixth Seventh Eighth Ninth Tenth Eleventh Twelfth Thirteenth "
    "Fourteenth Fifteenth Sixteenth Seventeenth Eighteenth Nineteenth"
)
_FIRST_NINETEEN = _FIRST_ORDINALS.split()
_AGENCY_FIELDS = {
    "computing": "computing",
    "formal": "computing",
    "science": "science",
    "medicine": "medicine",
    "social": "social",
    "humanities": "social",
}
# "{name}" is the conference, "{short}" its abbreviation, "{acronym}" "ICML"; the weights say how
# often bibliographies write it so.
_PROCEEDINGS = {
    "Proceedings of the {nth} {name}": 10,
    "Proceedings of the {nth} {name} ({acronym})": 4,
    "Proceedings of the {nth} {name} ({acronym} {year})": 4,
    "Proceedings of the {nth} {name} ({acronym}-{yy})": 2,
    "Proceedings of the {nth} {name}, {acronym} {year}": 2,
    "Proceedings of the {Nth} {name}": 7,
    "Proceedings of the {Nth} {name} ({acronym}-{yy})": 1,
    "Proceedings of the {year} {name}": 4,
    "Proceedings of the {name}": 6,
    "Proceedings of {acronym}": 2,
    "Proceedings of {acronym} {year}": 2,
    "Proceedings of {acronym}-{yy}": 2,
    "Proceedings {acronym}'{yy}": 1,
    "Proc. {nth} {short}": 4,
    "Proc. {short}": 4,
    "Proc. of the {nth} {name}": 2,
    "Proc. of {acronym}": 1,
    "Proc. {acronym}": 2,
    "Proc. {acronym} '{yy}": 1,
    "Proc. {acronym}-{yy}": 1,
    "{year} {name}": 3,
    "{year} {name} ({acronym})": 3,
    "{nth} {name}": 3,
    "{nth} {name} ({acronym} {year})": 1,
    "{name}": 6,
    "{name} ({acronym})": 2,
    "{short}": 2,
    "{acronym}": 4,
    "{acronym} {year}": 3,
    "{acronym} '{yy}": 2,
    "{acronym}-{yy}": 2,
    "{acronym}'{yy}": 1,
    "{acronym}{year}": 0.5,
    "Working Notes of the {nth} {name}": 0.5,
    "Extended Abstracts of the {nth} {name}": 0.5,
    "Companion to the {nth} {name}": 0.3,
    "Abstracts of the {nth} {name}": 0.5,
}
_WORKSHOPS = (
    "Proceedings of the {acronym} Workshop on {topic}",
    "Proceedings of the {nth} International Workshop on {topic}",
    "Proceedings of the {nth} Workshop on {topic}",
    "Proceedings of the International Symposium on {topic}",
    "Proceedings of the Workshop on {topic}",
    "Proc. Int. Workshop on {topic}",
    "{acronym} Workshop on {topic}",
    "{acronym}-{yy} Workshop on {topic}",
    "{year} International Conference on {topic}",
    "International Symposium on {topic}",
    "Working Notes of the AAAI Fall Symposium on {topic}",
    "NATO Advanced Study Institute on {topic}",
)


def pick_journal(rng: Random, stock: str, year: int, section: str = "journal") -> str:
    """Draw a journal of a discipline or a language, in full or abbreviated."""
    name, *known = load_stock(stock)[section].pick(rng, year).split("|")
    if rng.random() < 0.62:
        return name
    short = pick(rng, known) if known and rng.random() < 0.8 else abbreviate(name)
    return short.replace(".", "") if rng.random() < 0.15 else short


def invent_proceedings(rng: Random, discipline: str, year: int) -> str:
    """Draw a conference and write its proceedings in one of many forms."""
    name, acronym, first = load_stock(discipline)["conference"].pick(rng).split("|")
    number = year - int(first) + 1
    if number < 1 or rng.random() < 0.12:
        return _workshop(rng, discipline, acronym, year)
    if name.startswith("Advances in "):
        return rng.choice((name, name, f"{name} {number}", acronym, f"{acronym} {year}"))
    forms = tuple(_PROCEEDINGS)
    form = rng.choices(forms, tuple(_PROCEEDINGS.values()))[0]
    return form.format(
        name=name,
        short=abbreviate(name),
        acronym=acronym,
        nth=ordinal(number),
        Nth=ordinal_word(number),
        year=year,
        yy=f"{year % 100:02d}",
    )


def _workshop(rng: Random, discipline: str, acronym: str, year: int) -> str:
    return pick(rng, _WORKSHOPS).format(
        topic=to_headline(invent_thing(rng, discipline, year)),
        acronym=acronym,
        nth=ordinal(rng.randint(1, 15)),
        year=year,
        yy=f"{year % 100:02d}",
    )


def invent_collection(rng: Random, discipline: str, year: int) -> str:
    """Draw the title of an edited book."""
    return invent_title(rng, discipline, "container", year)


def pick_series(rng: Random, discipline: str) -> str:
    """Draw a series of books."""
    return load_stock(discipline)["series"].pick(rng)


def pick_publisher(rng: Random, stock: str) -> tuple[str, str]:
    """Draw a publisher of a stock, and one of the places where it is."""
    name, *places = load_stock(stock)["publisher"].pick(rng).split("|")
    return name, pick(rng, places)


def pick_meeting_place(rng: Random) -> str:
    """Draw the place of a conference."""
    places = load_stock("places")
    return places[pick(rng, ("city", "us", "world"))].pick(rng)


def pick_school(rng: Random, discipline: str) -> tuple[str, str, str]:
    """Draw a university, now and then with a department: its name, its short name, its place."""
    name, short, place = _parts(load_stock("institutions")["university"].pick(rng))
    chance = rng.random()
    if short and chance < 0.15:
        return short, short, place
    if chance > 0.85:
        department = load_stock(discipline)["department"].pick(rng)
        return f"{department}, {name}", short, place
    return name, short, place


def pick_agency(rng: Random, discipline: str) -> tuple[str, str, str]:
    """Draw an agency, an institute or a company: its name, its short name, its place."""
    field = _AGENCY_FIELDS[GROUP_OF[discipline]]
    return _parts(load_stock("institutions")[f"{field} agency"].pick(rng))


def _parts(entry: str) -> tuple[str, str, str]:
    name, short, place = (*entry.split("|"), "", "")[:3]
    # The names "University of Leeds" and "Kyoto University" include the place.
    return name, short, place or name.replace("University of ", "").replace(" University", "")


@cache
def abbreviate(name: str) -> str:
    """Shorten the words of a venue, as lists of journals do: "J. Am. Stat. Assoc."."""
    words = [word for word in name.split() if word.lower() not in _DROPPED]
    if len(words) < 2:
        return name
    return " ".join(_abbreviate_word(word) for word in words)


@cache
def _abbreviate_word(word: str) -> str:
    """Shorten a word by the longest stem that it begins with."""
    core = word.strip(".,:")
    for length in range(len(core), 2, -1):
        short = _stems().get(core[:length].lower())
        if short:
            return word.replace(core, short).replace("..", ".")
    return word


@cache
def _stems() -> dict[str, str]:
    entries = load_stock("abbreviations")["stem"].entries
    return {stem: short for stem, _, short in (entry.partition("|") for entry in entries)}


def ordinal_word(number: int) -> str:
    """Spell a number as its ordinal: "Twelfth", "Thirty-First"; digits from 80 on."""
    if number < 20:
        return _FIRST_NINETEEN[number - 1]
    if number >= 80:
        return ordinal(number)
    tens, units = divmod(number, 10)
    return f"{_TENS[tens]}-{_FIRST_NINETEEN[units - 1]}" if units else _ROUND[tens]
