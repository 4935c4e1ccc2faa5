"""`Draft`: an unfinished invented work, and the fields that many types of works share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from trelliswork.citations.fields import MONTHS
from trelliswork.citations.invention.foreign import invent_foreign_title
from trelliswork.citations.invention.numbers import doi_is_likely, invent_doi, invent_month
from trelliswork.citations.invention.people import invent_people, pick_culture
from trelliswork.citations.invention.stock import pick
from trelliswork.citations.invention.titles import invent_title
from trelliswork.citations.invention.venues import pick_publisher, pick_series

if TYPE_CHECKING:
    from random import Random

    from trelliswork.citations.records import Name

_ACCESS_NOTES = (
    "accessed {day} {month} {year}",
    "Accessed {month} {day}, {year}",
    "Retrieved {month} {day}, {year}",
    "last accessed {year}-{n:02d}-{day:02d}",
    "[cited {year} {short} {day}]",
    "Accessed: {day}/{n:02d}/{year}",
)

_WITH_DAY = {"article": 0.4, "webpage": 0.6, "software": 0.4}  # of works with a month


@dataclass
class Draft:
    """An unfinished invented work.

    Attributes
    ----------
    rng : Random
        Random generator.
    type, discipline : str
        Drawn already.
    language : str
        Language of the title; empty for English.
    topic : str
        "science " for the works in another language that are about it; otherwise empty.
    year : int
        When it appears.
    culture : str
        Culture of most of its people.
    initials : bool
        Whether given names are initials.
    author, editor, translator : tuple of Name
        As in `Work`.
    fields : dict
        The other fields of the work.
    """

    rng: Random
    type: str
    discipline: str
    language: str
    year: int
    culture: str
    initials: bool
    topic: str = ""
    author: tuple[Name, ...] = ()
    editor: tuple[Name, ...] = ()
    translator: tuple[Name, ...] = ()
    fields: dict[str, str] = field(default_factory=dict)

    def chance(self, share: float) -> bool:
        """Return True with a given probability."""
        return self.rng.random() < share

    def people(self, n: int) -> tuple[Name, ...]:
        """Draw people for another role, written as the authors are."""
        culture = self.culture if self.language or self.chance(0.5) else pick_culture(self.rng)
        return invent_people(
            self.rng, n, culture, initials=self.initials, natives=bool(self.language)
        )

    def title(self, kind: str) -> str:
        """Compose a title in the language of the work."""
        if self.language:
            section = {"book": "book", "container": "book", "conference": kind}.get(kind, "pattern")
            return invent_foreign_title(self.rng, self.language, section, self.year, self.topic)
        return invent_title(self.rng, self.discipline, kind, self.year)

    def add_month(self, share: float) -> None:
        """Add a month to a share of works."""
        if self.chance(share):
            month = self.fields["month"] = invent_month(self.rng, of_journal=self.type == "article")
            if month in MONTHS and self.chance(_WITH_DAY.get(self.type, 0.1)):
                self.fields["day"] = str(self.rng.randint(1, 28))

    def add_publisher(self, share: float, place_share: float) -> None:
        """Add a publisher to a share of works, and its place to a share of those."""
        if not self.chance(share):
            return
        stock = self.language or "publishers"
        publisher, place = pick_publisher(self.rng, stock)
        self.fields["publisher"] = publisher
        if self.chance(place_share):
            self.fields["place"] = place

    def add_series(self, share: float) -> None:
        """Add a series, and mostly a volume in it, to a share of works."""
        if self.chance(share):
            self.fields["series"] = pick_series(self.rng, self.language or self.discipline)
            if self.chance(0.7):
                self.fields["volume"] = str(self.rng.randint(1, 400))

    def add_doi(self, share: float = 1.0) -> None:
        """Add a DOI to the works of a share that are likely to have one."""
        if doi_is_likely(self.rng, self.year) and self.chance(share):
            self.fields["doi"] = invent_doi(self.rng, self.type, self.discipline, self.year)

    def note_access(self) -> None:
        """Add a note on the date of access."""
        rng = self.rng
        day, month = rng.randint(1, 28), pick(rng, MONTHS)
        year = min(max(self.year, 1998) + rng.randint(0, 4), 2024)
        self.fields["note"] = pick(rng, _ACCESS_NOTES).format(
            day=day, month=month, year=year, short=month[:3], n=MONTHS.index(month) + 1
        )
