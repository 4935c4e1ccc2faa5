"""Names of authors and editors in a citation style."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trelliswork.citations.records import Name


@dataclass(frozen=True)
class NameStyle:
    """The form of names and lists of names in a style.

    Attributes
    ----------
    order : {"given", "family", "first"}
        Given name first, family name first, or family name first for the first name only.
    given : {"full", "initials"}
        Whether given names are spelled out.
    initial : str
        Text after an initial letter: "." or nothing.
    between_initials : str
        "J. R." or "J.R." or "JR".
    comma : str
        Text between a family name and the given name after it.
    capitals : bool
        Whether family names are in capitals.
    separator, last, pair : str
        Between names, before the last of three or more, and between exactly two.
    at_most, keep : int
        A list of more than `at_most` names is cut to its first `keep`, then `et_al`.
    et_al : str
        Text in place of the names that were cut, with its separator.
    """

    order: Literal["given", "family", "first"] = "given"
    given: Literal["full", "initials"] = "initials"
    initial: str = "."
    between_initials: str = " "
    comma: str = ", "
    capitals: bool = False
    separator: str = ", "
    last: str = ", and "
    pair: str = " and "
    at_most: int = 8
    keep: int = 1
    et_al: str = " et al."


INITIALS = NameStyle()
FULL = NameStyle(given="full")
INVERTED = NameStyle(order="family")
FIRST_INVERTED = NameStyle(order="first", given="full", pair=", and ", at_most=6)


def format_names(names: Sequence[Name], style: NameStyle) -> str:
    """Write a list of names.

    Examples
    --------
    >>> from trelliswork.citations.records.works import Name
    >>> format_names([Name("Church", "Alonzo"), Name("Turing", "Alan M.")], NameStyle())
    'A. Church and A. M. Turing'
    """
    kept = names if len(names) <= style.at_most else names[: style.keep]
    written = [format_name(name, style, first=index == 0) for index, name in enumerate(kept)]
    if len(kept) < len(names):
        return style.separator.join(written) + style.et_al
    if len(written) == 2:
        return style.pair.join(written)
    if len(written) > 2:
        return style.separator.join(written[:-1]) + style.last + written[-1]
    return "".join(written)


def format_name(name: Name, style: NameStyle, *, first: bool) -> str:
    """Write one name; `first` says whether it opens the list."""
    if name.literal:
        return name.literal
    given = name.given if style.given == "full" else to_initials(name.given, style)
    family = name.family.upper() if style.capitals else name.family
    surname = f"{name.particle} {family}".strip()
    if style.order == "given" or (style.order == "first" and not first):
        return " ".join(part for part in (given, surname, name.suffix) if part)
    inverted = style.comma.join(part for part in (surname, given) if part)
    return f"{inverted}{style.comma}{name.suffix}" if name.suffix else inverted


def to_initials(given: str, style: NameStyle) -> str:
    """Shorten given names to initials: "Jean-Luc Pierre" to "J.-L. P."."""
    # "J.R." is two names, "Jean-Luc" one with two initials.
    parts = re.sub(r"\.(?=\w)", ". ", given).split()
    hyphen = "-" if style.initial else ""
    initials = [
        hyphen.join(f"{piece[0]}{style.initial}" for piece in part.split("-") if piece)
        for part in parts
    ]
    return style.between_initials.join(initials)
