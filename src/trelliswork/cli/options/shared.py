"""Options that several commands share, with one wording."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "Alternatives",
    "Comment",
    "Jobs",
    "LabelNames",
    "OnInfeasible",
    "Outside",
    "RuleFile",
    "RuleTexts",
    "SchemeName",
    "Separator",
    "TokenPattern",
    "Unknown",
]


class OnInfeasible(StrEnum):
    """What to do with a sentence that cannot satisfy all rules."""

    ERROR = "error"
    RELAX = "relax"
    UNCONSTRAINED = "unconstrained"


SchemeName = Annotated[
    str | None,
    typer.Option(help="plain, iob1, bio, bioes, bilou or path. Default: by the labels."),
]
Outside = Annotated[
    str | None,
    typer.Option(metavar="LABEL", help="The plain label that is no segment, O for example."),
]
Separator = Annotated[
    str | None,
    typer.Option(
        metavar="TEXT", help="What separates columns. Default: a tab, or else white space."
    ),
]
Comment = Annotated[
    str | None,
    typer.Option(
        metavar="TEXT",
        help='CoNLL lines that begin with this are skipped, "#" for example. Default: none.',
    ),
]
Unknown = Annotated[
    str | None,
    typer.Option(metavar="CELL", help='Label cell of an unlabelled token, "?" for example.'),
]
Alternatives = Annotated[
    str | None,
    typer.Option(
        metavar="TEXT", help='What separates alternative labels in a cell, "|" for example.'
    ),
]
TokenPattern = Annotated[
    str | None,
    typer.Option(metavar="REGEX", help="Expression of --tokenizer regex, which it implies."),
]
Jobs = Annotated[int | None, typer.Option("--jobs", "-j", help="Threads. Default: one a core.")]
LabelNames = Annotated[
    str | None,
    typer.Option(
        "--labels",
        metavar="NAME,…",
        help="Labels that there are besides those in the data: rules may name them.",
    ),
]
RuleFile = Annotated[
    Path | None,
    typer.Option(
        "--rules",
        metavar="FILE",
        help="Rules that labellings must satisfy, one a line: at_most(1, title). Those that end in "
        "': soft' may be broken for a penalty.",
    ),
]
RuleTexts = Annotated[
    list[str] | None,
    typer.Option("--rule", metavar="TEXT", help="One such rule; may be given again."),
]
