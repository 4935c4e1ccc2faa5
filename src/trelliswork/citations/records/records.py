"""Common parts of the readers of records: collecting works, and the reasons for skipped records.

A record becomes a `Work` if it has a title, a year, and an author, an editor or an organisation;
otherwise it is skipped, and the reason is kept.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from trelliswork.citations.meaning.identifiers import find_arxiv, find_doi, find_isbn
from trelliswork.citations.meaning.values import parse_edition
from trelliswork.citations.records.works import Work

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trelliswork.citations.records.works import Name

_DASHES = re.compile(r"\s*[-\u2010-\u2015\u2212]+\s*")
_ARXIV_CONTAINER = re.compile(r"(?:arxiv|corr)\b", re.IGNORECASE)
_REPLACED_BY_ARXIV = ("container", "volume", "issue", "pages", "number")


@dataclass(frozen=True, slots=True)
class Records:
    """The result of reading a file of records.

    Attributes
    ----------
    works : tuple of Work
        In the order of the file.
    skipped : tuple of str
        Why a record is not among them, one message each: "my.bib:12: 'knuth84' has no year."
    """

    works: tuple[Work, ...]
    skipped: tuple[str, ...]


@dataclass
class RecordCollector:
    """A collector of works and of skipped records.

    Attributes
    ----------
    works : list of Work
        The records that are complete.
    skipped : list of str
        A message for each of the others.
    """

    works: list[Work] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    _ids: set[str] = field(default_factory=set)

    def add(
        self,
        where: str,
        key: str,
        type_: str,
        fields: Mapping[str, str],
        names: Mapping[str, tuple[Name, ...]],
    ) -> None:
        """Add a record, or note why it is skipped.

        Parameters
        ----------
        where : str
            File and line, for the message.
        key : str
            Its id; the second record of the same one is skipped.
        type_ : str
            One of `trelliswork.citations.records.works.WORK_TYPES`.
        fields : mapping
            Fields of `Work` that are text; they may be empty.
        names : mapping
            Authors, editors and translators.
        """
        missing = [name for name in ("title", "year") if not fields.get(name)]
        if not names.get("author") and not names.get("editor"):
            missing.append("author, editor or organisation")
        if missing:
            self.skip(where, f"{key!r} has no {' and no '.join(missing)}.")
        elif key in self._ids:
            self.skip(where, f"{key!r} is the key of a record before it.")
        else:
            self._ids.add(key)
            type_, tidy = _tidied(type_, dict(fields))
            self.works.append(Work(id=key, type=type_, **tidy, **names))  # type: ignore[arg-type]

    def skip(self, where: str, reason: str) -> None:
        """Note that a record was not read."""
        self.skipped.append(f"{where}: {reason}")

    def records(self) -> Records:
        """Return the collected works and skipped records."""
        return Records(tuple(self.works), tuple(self.skipped))


def _tidied(type_: str, fields: dict[str, str]) -> tuple[str, dict[str, str]]:
    """Return fields in the form of `Work`, and the type, which arXiv may change."""
    doi = fields.get("doi", "")
    fields["doi"] = find_doi(doi) or doi
    fields["pages"] = _DASHES.sub("-", fields.get("pages", ""))
    fields["edition"] = parse_edition(fields.get("edition", ""))
    fields["isbn"] = find_isbn(fields.get("isbn", ""))
    container = fields.get("container", "")
    if _ARXIV_CONTAINER.match(container):
        found = " ".join(fields.get(name, "") for name in _REPLACED_BY_ARXIV)
        fields["arxiv"] = fields.get("arxiv") or find_arxiv(found, labelled=True)
        if fields["arxiv"]:
            return "preprint", {**fields, **dict.fromkeys(_REPLACED_BY_ARXIV, "")}
    if not fields.get("arxiv") and type_ == "preprint":
        fields["arxiv"] = find_arxiv(f"{doi} {fields.get('url', '')}")
    return type_, fields
