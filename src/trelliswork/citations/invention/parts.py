"""The fields of invented articles, papers, books, chapters, theses, reports and preprints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trelliswork.citations.fields import MONTHS
from trelliswork.citations.invention.numbers import (
    LAST_YEAR,
    fill_shape,
    invent_arxiv,
    invent_chapter_pages,
    invent_isbn,
    invent_issue,
    invent_pages,
    invent_report_number,
    invent_volume,
)
from trelliswork.citations.invention.stock import load_stock, pick
from trelliswork.citations.invention.titles import GROUP_OF
from trelliswork.citations.invention.venues import (
    invent_collection,
    invent_proceedings,
    pick_agency,
    pick_journal,
    pick_meeting_place,
    pick_publisher,
    pick_school,
)
from trelliswork.citations.records import Name

if TYPE_CHECKING:
    from trelliswork.citations.invention.draft import Draft

_FORTHCOMING = ("to appear", "in press", "forthcoming", "accepted for publication", "submitted")
_LANGUAGE_NOTES = ("in German", "in Russian", "In French", "in Japanese", "in Chinese", "in Polish")
_NOTES = (
    "Abstract only",
    "Erratum in later issue",
    "Invited paper",
    "Letter to the editor",
    "Reprinted with corrections",
    "Special issue",
    "With discussion",
)
_EDITION_NOTES = ("Originally published {before}", "First published {before}", "Reprinted {after}")
_EDITIONS = ("2", "2", "2", "2", "3", "3", "4", "5", "6", "8", "rev. ed.", "Revised")
_MANUSCRIPTS = ("Unpublished manuscript", "unpublished", "manuscript", "in preparation", "mimeo")
_SERVERS = {
    "biology": (("bioRxiv", "10.1101/######"), ("bioRxiv", "10.1101/{year}.0#.1#.4#####")),
    "economics": (("SSRN", "10.2139/ssrn.#######"), ("MPRA", "")),
}


def add_article(draft: Draft) -> None:
    """Fill an article in a journal."""
    rng, fields = draft.rng, draft.fields
    fields["title"] = draft.title("paper")
    fields["container"] = pick_journal(
        rng, draft.language or draft.discipline, draft.year, f"{draft.topic}journal"
    )
    _add_collaboration(draft)
    if draft.year >= 1990 and draft.chance(0.015):
        fields["note"] = pick(rng, _FORTHCOMING)
        return
    if draft.chance(0.97):
        fields["volume"] = invent_volume(rng, fields["container"], draft.year)
    if draft.chance(0.55):
        fields["issue"] = invent_issue(rng)
    if draft.chance(0.95):
        fields["pages"] = invent_pages(rng, draft.year)
    draft.add_month(0.18)
    draft.add_doi()
    if draft.year >= 1993 and draft.discipline in {"particles", "astro"} and draft.chance(0.25):
        fields["arxiv"] = invent_arxiv(rng, draft.discipline, draft.year)
    if draft.chance(0.03):
        fields["note"] = pick(rng, _NOTES)
    elif not draft.language and draft.chance(0.012):
        fields["note"] = pick(rng, _LANGUAGE_NOTES)
    elif draft.discipline in {"medicine", "biology"} and draft.chance(0.04):
        fields["note"] = fill_shape(pick(rng, ("PMID: ########", "PMID #######")), draft.year, rng)
    if draft.year >= 2000 and "doi" not in fields and draft.chance(0.03):
        fields["url"] = fill_shape(load_stock("shapes")["url"].pick(rng), draft.year, rng)


def add_paper(draft: Draft) -> None:
    """Fill a paper in proceedings."""
    rng, fields = draft.rng, draft.fields
    fields["title"] = draft.title("paper")
    if draft.language:
        fields["container"] = draft.title("conference")
    else:
        fields["container"] = invent_proceedings(rng, draft.discipline, draft.year)
    if draft.chance(0.85):
        fields["pages"] = invent_chapter_pages(rng)
    if draft.language:
        draft.add_publisher(0.5, 0.7)
    elif draft.chance(0.42):
        technical = GROUP_OF[draft.discipline] in {"computing", "formal", "science"}
        fields["publisher"], place = pick_publisher(
            rng, "proceedings" if technical else "publishers"
        )
        if draft.chance(0.25):
            fields["place"] = place
    if "place" not in fields and draft.chance(0.35):
        fields["place"] = pick_meeting_place(rng)
    if draft.chance(0.12):
        draft.editor = draft.people(rng.randint(1, 4))
    if draft.chance(0.12) and GROUP_OF[draft.discipline] in {"computing", "formal"}:
        fields["series"] = pick(rng, ("Lecture Notes in Computer Science", "LNCS", "LNAI", "PMLR"))
        fields["volume"] = str(rng.randint(10, 9999))
    elif draft.chance(0.07):
        fields["volume"] = str(rng.randint(1, 4))
    draft.add_month(0.3)
    draft.add_doi(0.8)


def add_book(draft: Draft) -> None:
    """Fill a book, or a collection that has editors only."""
    rng, fields = draft.rng, draft.fields
    edited = draft.type == "collection"
    fields["title"] = draft.title("container" if edited else "book")
    if edited:
        draft.author, draft.editor = (), draft.people(rng.randint(1, 4))
    draft.add_publisher(0.98, 0.8)
    if draft.chance(0.17):
        fields["edition"] = pick(rng, _EDITIONS)
    draft.add_series(0.16)
    if draft.chance(0.05):
        fields["volume"] = str(rng.randint(1, 6))
    if draft.year >= 1970 and draft.chance(0.15):
        fields["isbn"] = invent_isbn(rng, draft.language, draft.year)
    if GROUP_OF[draft.discipline] == "humanities" and not edited and draft.chance(0.2):
        draft.translator = draft.people(rng.choice((1, 1, 1, 2)))
    if draft.chance(0.03):
        fields["note"] = pick(rng, _EDITION_NOTES).format(
            before=draft.year - rng.randint(2, 60),
            after=min(draft.year + rng.randint(1, 40), LAST_YEAR),
        )
    draft.add_doi(0.15)


def add_chapter(draft: Draft) -> None:
    """Fill a chapter of an edited book."""
    rng, fields = draft.rng, draft.fields
    fields["title"] = draft.title("paper")
    if draft.language:
        fields["container"] = draft.title("container")
    else:
        fields["container"] = invent_collection(rng, draft.discipline, draft.year)
    if draft.chance(0.87):
        draft.editor = draft.people(rng.choice((1, 1, 2, 2, 2, 3, 4)))
    if draft.chance(0.85):
        fields["pages"] = invent_chapter_pages(rng)
    draft.add_publisher(0.97, 0.75)
    draft.add_series(0.12)
    if "volume" not in fields and draft.chance(0.1):
        fields["volume"] = str(rng.randint(1, 5))
    if draft.chance(0.03):
        fields["edition"] = pick(rng, _EDITIONS)
    if draft.chance(0.03):
        draft.translator = draft.people(1)
    draft.add_doi(0.4)


def add_thesis(draft: Draft) -> None:
    """Fill a doctoral or a master's thesis; `number` is the genre of a foreign one."""
    rng, fields = draft.rng, draft.fields
    fields["title"] = draft.title("thesis")
    if draft.language:
        stock = load_stock(draft.language)
        fields["school"], _, place = stock["university"].pick(rng).partition("|")
        if draft.chance(0.5):
            fields["number"] = stock[draft.type].pick(rng)
    else:
        fields["school"], _, place = pick_school(rng, draft.discipline)
    if draft.chance(0.3):
        fields["place"] = place
    draft.add_month(0.2)
    if draft.year >= 2000 and draft.chance(0.06):
        fields["url"] = fill_shape(load_stock("shapes")["url"].pick(rng), draft.year, rng)
    if draft.chance(0.04):
        fields["note"] = "unpublished"


def add_report(draft: Draft) -> None:
    """Fill a report of a university, an institute or an agency."""
    rng, fields = draft.rng, draft.fields
    fields["title"] = draft.title("report" if draft.chance(0.7) else "paper")
    by_schools = {"formal": 0.75, "computing": 0.75, "humanities": 1.0}
    if draft.chance(by_schools.get(GROUP_OF[draft.discipline], 0.25)):
        fields["institution"], short, place = pick_school(rng, draft.discipline)
    else:
        fields["institution"], short, place = pick_agency(rng, draft.discipline)
        if draft.chance(0.3):
            draft.author = (Name(literal=fields["institution"]),)
    if draft.chance(0.8):
        fields["number"] = invent_report_number(rng, draft.year, short)
    if draft.chance(0.4):
        fields["place"] = place
    draft.add_month(0.3)
    if draft.year >= 1996 and draft.chance(0.12):
        fields["url"] = fill_shape(load_stock("shapes")["url"].pick(rng), draft.year, rng)


def add_preprint(draft: Draft) -> None:
    """Fill a preprint: mostly on arXiv, else on another server, or a manuscript."""
    rng, fields = draft.rng, draft.fields
    fields["title"] = draft.title("paper")
    _add_collaboration(draft)
    if draft.chance(0.12):
        fields["note"] = pick(rng, _MANUSCRIPTS)
        return
    servers = _SERVERS.get(draft.discipline, ())
    if servers and draft.year >= 2013:
        fields["publisher"], shape = rng.choice(servers)
        if shape:
            fields["doi"] = fill_shape(shape, draft.year, rng)
        return
    fields["arxiv"] = invent_arxiv(rng, draft.discipline, draft.year)
    if draft.chance(0.25):
        # "1706.03762" is of June, "hep-th/9711200" of November.
        fields["month"] = MONTHS[int(fields["arxiv"].rpartition("/")[2][2:4]) - 1]
    if draft.chance(0.1):
        fields["url"] = f"https://arxiv.org/abs/{fields['arxiv']}"


def _add_collaboration(draft: Draft) -> None:
    """Add a collaboration, a group or a committee as author, alone or after its members."""
    shares = {"particles": 0.14, "astro": 0.06, "medicine": 0.05, "biology": 0.02}
    if not draft.language and draft.chance(shares.get(draft.discipline, 0.004)):
        section = "collaboration" if draft.discipline in {"particles", "astro"} else "group"
        group = Name(literal=load_stock("institutions")[section].pick(draft.rng))
        draft.author = (*draft.author, group) if draft.chance(0.4) else (group,)
