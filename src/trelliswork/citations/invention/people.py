"""Invented people, and lists of them as authors and editors.

The names of a person, and their form, come from one culture: double family names in Spanish,
particles in Dutch, two syllables in Korean. Most people of a list share a culture.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from trelliswork.citations.invention.stock import load_stock, pick
from trelliswork.citations.records import Name

if TYPE_CHECKING:
    from random import Random

_CULTURES = {
    "english": 30,
    "german": 10,
    "french": 8,
    "chinese": 10,
    "japanese": 6,
    "indian": 6,
    "italian": 5,
    "slavic": 6,
    "spanish": 5,
    "dutch": 3,
    "nordic": 4,
    "korean": 3,
    "portuguese": 2,
    "hebrew": 3,
    "arabic": 3,
    "turkish": 1.2,
    "greek": 1.5,
    "vietnamese": 1,
    "african": 1.5,
    "hungarian": 1.5,
}
_NAMES, _WEIGHTS = tuple(_CULTURES), tuple(_CULTURES.values())

# How often a name has a particle, and which.
_PARTICLES: dict[str, tuple[float, tuple[str, ...]]] = {
    "dutch": (0.45, ("van", "van", "van der", "van der", "van den", "de", "de", "ten", "van 't")),
    "german": (0.04, ("von", "von", "von", "von der", "zu", "vom")),
    "french": (0.04, ("de", "de", "de la", "du")),
    "spanish": (0.05, ("de", "de la", "del", "de los")),
    "portuguese": (0.15, ("da", "dos", "de", "do")),
    "italian": (0.02, ("di", "de", "della", "dal")),
}
_SUFFIXES = ("Jr.", "Jr.", "Jr.", "Jr", "III", "II", "Sr.", "IV")
# "De Luca" has its own particle, double names take none, and "van Jansen" is not a name.
_NO_PARTICLE = re.compile(r"[ '-]|(sen|stra|sma|ers|ens|ema|mans)$")
_MIDDLE = "ABCDEFGHJKLMNPRSTVW"
# Among those who write in English, and among those who write in another language.
_SHARE_AT_HOME = 0.65
_SHARE_OF_NATIVES = 0.93


def pick_culture(rng: Random) -> str:
    """Draw a culture, the frequent ones more often."""
    return rng.choices(_NAMES, _WEIGHTS)[0]


def invent_people(
    rng: Random, n: int, culture: str, *, initials: bool, natives: bool = False
) -> tuple[Name, ...]:
    """Draw people who write or edit a work together.

    Parameters
    ----------
    rng : Random
        Random generator.
    n : int
        Number of people.
    culture : str
        Culture of most of them.
    initials : bool
        Whether their given names are initials.
    natives : bool
        Whether nearly all of them are of that culture.
    """
    share = _SHARE_OF_NATIVES if natives else _SHARE_AT_HOME
    return tuple(
        invent_person(
            rng, culture if rng.random() < share else pick_culture(rng), initials=initials
        )
        for _ in range(n)
    )


def invent_person(rng: Random, culture: str, *, initials: bool) -> Name:
    """Draw one person of a culture."""
    family = _family(rng, culture)
    particle = ""
    rate, particles = _PARTICLES.get(culture, (0.0, ()))
    if rng.random() < rate and not _NO_PARTICLE.search(family):
        particle = pick(rng, particles)
    given = _given(rng, culture)
    if initials:
        given = to_initials(given)
    suffix = pick(rng, _SUFFIXES) if culture == "english" and rng.random() < 0.02 else ""
    return Name(family=family, given=given, particle=particle, suffix=suffix)


def to_initials(given: str) -> str:
    """Shorten given names: "Jean-Luc P." to "J.-L. P."."""
    return " ".join(
        "-".join(f"{part[0]}." for part in name.split("-") if part) for name in given.split()
    )


def invent_surname(rng: Random) -> str:
    """Draw a family name, as in "a theorem of Kovács"."""
    return load_stock("people")[f"{pick_culture(rng)} family"].pick(rng)


def _family(rng: Random, culture: str) -> str:
    stock = load_stock("people")[f"{culture} family"]
    family = stock.pick(rng)
    chance = rng.random()
    if culture in {"spanish", "portuguese"} and chance < 0.4:
        second = stock.pick(rng)
        return f"{family}-{second}" if chance < 0.12 else f"{family} {second}"
    if chance < 0.012 and culture in {"english", "french", "german", "nordic"}:
        second = stock.pick(rng)
        return family if {" ", "-", "'"} & {*family, *second} else f"{family}-{second}"
    return family


def _given(rng: Random, culture: str) -> str:
    stock = load_stock("people")
    chance = rng.random()
    if culture in {"chinese", "korean"}:
        return _syllables(rng, culture)
    given = stock[f"{culture} given"].pick(rng)
    if culture == "vietnamese":
        return f"{stock['vietnamese given'].pick(rng)} {given}" if chance < 0.7 else given
    middle = 0.5 if culture in {"english", "hebrew", "african"} else 0.12
    if chance < middle:
        initial = pick(rng, _MIDDLE)
        return (
            f"{given} {initial}. {pick(rng, _MIDDLE)}." if chance < 0.02 else f"{given} {initial}."
        )
    if chance > 0.95:
        return f"{given} {stock[f'{culture} given'].pick(rng)}"
    return given


def _syllables(rng: Random, culture: str) -> str:
    stock = load_stock("people")[f"{culture} syllable"]
    first, second = stock.pick(rng), stock.pick(rng)
    chance = rng.random()
    if culture == "korean":
        form = "{}-{}" if chance < 0.6 else "{} {}" if chance < 0.75 else "{}{}"
    else:
        form = "{}-{}" if chance < 0.2 else "{}{}" if chance < 0.65 else "{}"
    if form == "{}{}":
        second = second.lower()
    return form.format(first, second)
