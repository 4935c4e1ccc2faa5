"""`invent_works`: likely names, titles and venues, combined at random for training.

The works that ship with the package are few, and a model trained on them alone knows few words: not
that "Phys. Rev. Lett." is a journal, nor that Nakamura is a name. Invented works have thousands of
names and words in the right places. None of them exists. Titles follow patterns, and the parts of a
work agree with one another: a title of a discipline is in a journal of that discipline, a German
title with a German publisher.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from trelliswork.citations.invention.draft import Draft
from trelliswork.citations.invention.foreign import CULTURE_OF, pick_language, pick_topic
from trelliswork.citations.invention.numbers import invent_year
from trelliswork.citations.invention.parts import (
    add_article,
    add_book,
    add_chapter,
    add_paper,
    add_preprint,
    add_report,
    add_thesis,
)
from trelliswork.citations.invention.people import invent_people, pick_culture
from trelliswork.citations.invention.sites import add_site, add_software, add_standard
from trelliswork.citations.invention.titles import GROUP_OF
from trelliswork.citations.records import Work

if TYPE_CHECKING:
    from collections.abc import Callable

TYPE_SHARES = {
    "article": 0.50,
    "inproceedings": 0.18,
    "book": 0.10,
    "incollection": 0.07,
    "phdthesis": 0.03,
    "mastersthesis": 0.01,
    "techreport": 0.04,
    "preprint": 0.03,
    "webpage": 0.02,
    "collection": 0.01,
    "software": 0.005,
    "standard": 0.005,
}
"""The share of the works that are of each type."""

FOREIGN_SHARE = 0.11
"""The share of articles, books, chapters and theses in a language other than English."""

_COMPOSE: dict[str, Callable[[Draft], None]] = {
    "article": add_article,
    "inproceedings": add_paper,
    "book": add_book,
    "collection": add_book,
    "incollection": add_chapter,
    "phdthesis": add_thesis,
    "mastersthesis": add_thesis,
    "techreport": add_report,
    "preprint": add_preprint,
    "webpage": add_site,
    "software": add_software,
    "standard": add_standard,
}
_MAY_BE_FOREIGN = frozenset(
    {"article", "inproceedings", "book", "collection", "incollection", "phdthesis", "mastersthesis"}
)
_PAPER_DISCIPLINES = {
    "ai": 12,
    "systems": 8,
    "theory": 5,
    "mathematics": 6,
    "statistics": 4,
    "particles": 5,
    "condensed": 6,
    "astro": 5,
    "chemistry": 6,
    "biology": 9,
    "earth": 6,
    "engineering": 5,
    "medicine": 9,
    "psychology": 5,
    "economics": 6,
    "sociology": 4,
    "education": 3,
    "law": 2,
    "history": 4,
    "literature": 3,
    "philosophy": 3,
    "linguistics": 3,
    "arts": 2,
    "religion": 2,
}
# Few conferences print proceedings outside these, and few preprints are of other disciplines.
_OTHER_DISCIPLINES = {
    "inproceedings": {
        "ai": 34,
        "systems": 26,
        "theory": 14,
        "engineering": 10,
        "statistics": 3,
        "particles": 3,
        "condensed": 2,
        "astro": 2,
        "linguistics": 4,
        "education": 2,
    },
    "preprint": {
        "ai": 30,
        "particles": 15,
        "mathematics": 15,
        "astro": 10,
        "condensed": 10,
        "statistics": 8,
        "theory": 6,
        "biology": 5,
        "economics": 4,
    },
    "software": {"ai": 3, "systems": 4, "statistics": 4, "biology": 3, "astro": 1, "chemistry": 1},
    "standard": {"systems": 4, "engineering": 4},
}
# How often a work has one author, two authors and so on.
_AUTHOR_COUNTS = {
    "formal": (35, 35, 18, 8, 4),
    "computing": (16, 28, 26, 15, 7, 4, 2, 1, 0.5, 0.5),
    "science": (10, 18, 18, 16, 12, 9, 6, 4, 3, 2, 1, 1),
    "medicine": (12, 16, 17, 15, 12, 10, 6, 4, 3, 2, 1, 1),
    "social": (40, 33, 17, 7, 3),
    "humanities": (82, 13, 4, 1),
    "book": (66, 22, 8, 3, 1),
}
_SINGLE_AUTHOR_TYPES = frozenset({"phdthesis", "mastersthesis"})
# Before then, long lists of authors were rare.
_TEAMS_SINCE = 1965
_COMPUTERS_SINCE = {"ai": 1970, "systems": 1966, "theory": 1960}
_TYPE_SINCE = {
    "webpage": 1996,
    "software": 1994,
    "preprint": 1993,
    "standard": 1994,
    "techreport": 1948,
}


def invent_works(n: int, seed: int = 0) -> tuple[Work, ...]:
    """Invent bibliographic records.

    Parameters
    ----------
    n : int
        Number of works; the first ones do not depend on it.
    seed : int
        The same seed gives the same works.

    Returns
    -------
    tuple of Work
        With unique ids, that differ between seeds, too.

    Examples
    --------
    >>> work = invent_works(1)[0]
    >>> work.id
    'invented-0-0'
    """
    return tuple(_invent(f"invented-{seed}-{index}") for index in range(n))


def _invent(id_: str) -> Work:
    # A generator of its own for each work, so that a change in one leaves the others as they are.
    rng = Random(id_)
    type_ = _draw(rng, TYPE_SHARES)
    discipline = _draw(rng, _OTHER_DISCIPLINES.get(type_, _PAPER_DISCIPLINES))
    since = max(_COMPUTERS_SINCE.get(discipline, 0), _TYPE_SINCE.get(type_, 1900))
    language = ""
    foreign_share = FOREIGN_SHARE if type_ != "inproceedings" else FOREIGN_SHARE / 3
    if type_ in _MAY_BE_FOREIGN and rng.random() < foreign_share:
        language = pick_language(rng)
        # The foreign stocks mix all disciplines, without computer science.
        discipline, since = "history", 1900
    draft = Draft(
        rng=rng,
        type=type_,
        discipline=discipline,
        language=language,
        year=invent_year(rng, since),
        culture=CULTURE_OF[language] if language else pick_culture(rng),
        initials=rng.random() < 0.45,
        topic=pick_topic(rng, language) if language else "",
    )
    draft.author = invent_people(
        rng,
        _count_authors(draft),
        draft.culture,
        initials=draft.initials,
        natives=bool(language),
    )
    _COMPOSE[type_](draft)
    return Work(
        id=id_,
        type=type_,
        year=str(draft.year),
        author=draft.author,
        editor=draft.editor,
        translator=draft.translator,
        **draft.fields,
    )


def _count_authors(draft: Draft) -> int:
    if draft.type in _SINGLE_AUTHOR_TYPES:
        return 1
    group = GROUP_OF[draft.discipline]
    if draft.type in {"book", "collection", "incollection"} and group != "humanities":
        group = "book"
    counts = _AUTHOR_COUNTS[group]
    if draft.year < _TEAMS_SINCE:
        counts = counts[:3]
    return draft.rng.choices(range(1, len(counts) + 1), counts)[0]


def _draw(rng: Random, weights: dict[str, float] | dict[str, int]) -> str:
    return rng.choices(tuple(weights), tuple(weights.values()))[0]
