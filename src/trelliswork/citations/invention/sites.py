"""The fields of invented web pages, programs and standards."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trelliswork.citations.invention.numbers import fill_shape, invent_standard, to_slug
from trelliswork.citations.invention.stock import pick
from trelliswork.citations.invention.venues import pick_agency
from trelliswork.citations.records import Name

if TYPE_CHECKING:
    from trelliswork.citations.invention.draft import Draft

_ENDINGS = (".html", "", "/", "", ".pdf", ".htm", "/index.html")
_FOLDERS = ("", "/en", "/publications", "/news", "/research", "/data", "/docs", "/blog", "/topics")
_AGENCY_HOSTS = ("www.{}.org", "{}.org", "www.{}.gov", "www.{}.int", "data.{}.org")
_OTHER_HOSTS = ("www.{}.com", "{}.io", "www.{}.net", "{}.org", "blog.{}.com")
_OF_ENGINEERS = frozenset({"ASTM", "BSI", "DIN"})
_REPOSITORIES = ("https://github.com/{}/{}", "https://gitlab.com/{}/{}", "https://{}.github.io/{}/")


def add_site(draft: Draft) -> None:
    """Fill a page on the web, of an organisation or a person."""
    rng, fields = draft.rng, draft.fields
    fields["title"] = draft.title("web")
    name, short, _ = pick_agency(rng, draft.discipline)
    host = pick(rng, _AGENCY_HOSTS).format(to_slug(short or name, 2).replace("-", ""))
    if draft.chance(0.6):
        draft.author = (Name(literal=short if short and draft.chance(0.3) else name),)
    else:
        draft.author = draft.author[:2]
        host = pick(rng, _OTHER_HOSTS).format(to_slug(fields["title"], 2).replace("-", ""))
    if draft.chance(0.4) and draft.author[0].literal != name:
        fields["publisher"] = name
    scheme = "https" if draft.year > 2013 or draft.chance(0.3) else "http"
    page = to_slug(fields["title"], rng.randint(1, 5)) + pick(rng, _ENDINGS)
    fields["url"] = f"{scheme}://{host}{pick(rng, _FOLDERS)}/{page}"
    draft.add_month(0.3)
    if draft.chance(0.5):
        draft.note_access()


def add_software(draft: Draft) -> None:
    """Fill a program."""
    rng, fields = draft.rng, draft.fields
    fields["title"] = draft.title("software")
    program = fields["title"].split(" ")[0].rstrip(":")
    name = program.lower()
    if draft.chance(0.25):
        draft.author = (Name(literal=f"{program} Development Team"),)
    if draft.chance(0.4):
        form = pick(rng, ("Version {}.{}", "version {}.{}.1", "v{}.{}"))
        if " R" in fields["title"]:
            form = "R package version {}.{}"
        fields["note"] = form.format(rng.randint(0, 5), rng.randint(0, 20))
    if draft.year >= 2014 and draft.chance(0.3):
        fields["doi"] = fill_shape("10.5281/zenodo.#######", draft.year, rng)
    if "doi" not in fields or draft.chance(0.5):
        owner = to_slug((draft.author[0].family or name), 1)
        form = pick(rng, _REPOSITORIES) if draft.year >= 2008 else "http://www.{}.org/{}/"
        fields["url"] = form.format(owner, name)


def add_standard(draft: Draft) -> None:
    """Fill a standard."""
    rng, fields = draft.rng, draft.fields
    short, fields["number"], issuer = invent_standard(rng, draft.year)
    draft.discipline = "engineering" if short in _OF_ENGINEERS else "systems"
    fields["title"] = draft.title("standard")
    if short == "IETF":
        draft.author = draft.author[:3]
        fields["institution"] = issuer
        if draft.chance(0.4):
            number = fields["number"].split()[1]
            fields["url"] = f"https://www.rfc-editor.org/rfc/rfc{number}"
    else:
        draft.author = (Name(literal=short if draft.chance(0.3) else issuer),)
        if draft.chance(0.5):
            fields["institution"] = issuer
    draft.add_month(0.3)
