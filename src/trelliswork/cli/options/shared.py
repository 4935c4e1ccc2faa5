"""Options shared by several commands."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, ClassVar

import typer

__all__ = [
    "Alternatives",
    "AsJson",
    "Comment",
    "Jobs",
    "LabelNames",
    "OnInfeasible",
    "Outside",
    "RunOptions",
    "SchemeName",
    "Seed",
    "Separator",
    "TokenPattern",
    "Unknown",
]


class OnInfeasible(StrEnum):
    """Treatment of sentences that cannot satisfy all rules."""

    ERROR = "error"
    RELAX = "relax"
    UNCONSTRAINED = "unconstrained"


SchemeName = Annotated[
    str | None,
    typer.Option(
        metavar="SCHEME",
        help="Label scheme: plain, iob1, bio, bioes, bilou or path. Default: inferred from the "
        "labels.",
    ),
]
Outside = Annotated[
    str | None,
    typer.Option(metavar="LABEL", help="Plain label of tokens outside any segment, such as O."),
]
Separator = Annotated[
    str | None,
    typer.Option(
        metavar="TEXT", help="Column separator. Default: a tab if there is one, else white space."
    ),
]
Comment = Annotated[
    str | None,
    typer.Option(
        metavar="TEXT", help='Skip CoNLL lines that begin with this, such as "#". Default: none.'
    ),
]
Unknown = Annotated[
    str | None,
    typer.Option(metavar="CELL", help='Label cell of an unlabelled token, such as "?".'),
]
Alternatives = Annotated[
    str | None,
    typer.Option(
        metavar="TEXT", help='Separator of alternative labels within a cell, such as "|".'
    ),
]
TokenPattern = Annotated[
    str | None,
    typer.Option(
        metavar="REGEX",
        help="Regular expression that matches one token; implies --tokenizer regex.",
    ),
]
Jobs = Annotated[
    int | None, typer.Option("--jobs", "-j", metavar="N", help="Threads. Default: one per core.")
]
Seed = Annotated[int, typer.Option(metavar="N", help="Random seed.")]
LabelNames = Annotated[
    str | None,
    typer.Option(
        "--labels",
        metavar="NAME,…",
        help="Additional labels that do not occur in the data; rules may name them.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Write JSON.")]


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """Options of a run."""

    panel: ClassVar[str] = "Run"

    jobs: Jobs = None
