"""The words of a citation style: ordinals, thesis and report words, venue abbreviations."""

from __future__ import annotations

import re
from dataclasses import dataclass

from trelliswork.citations.fields import MONTHS

_ORDINAL_WORDS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")


@dataclass(frozen=True)
class Wording:
    """The words that a style adds to the fields.

    Attributes
    ----------
    editor, editors : str
        Text after one editor, or several.
    edition : str
        A format with `{nth}` ("2nd"), `{word}` ("second") or `{n}` ("2").
    phd, masters, report, standard, preprint, software : str
        Names of kinds of documents.
    """

    editor: str = ", editor"
    editors: str = ", editors"
    edition: str = "{word} edition"
    phd: str = "PhD thesis"
    masters: str = "Master's thesis"
    report: str = "Technical Report"
    standard: str = "Standard"
    preprint: str = "arXiv preprint"
    software: str = "Computer software"


ENGLISH = Wording()
SHORT = Wording(
    editor=", Ed.",
    editors=", Eds.",
    edition="{nth} ed.",
    phd="Ph.D. dissertation",
    masters="M.S. thesis",
    report="Tech. Rep.",
)
BRACKETED = Wording(
    editor=" (Ed.)",
    editors=" (Eds.)",
    edition="{nth} ed.",
    phd="Doctoral dissertation",
    report="Technical Report",
)
GERMAN = Wording(
    editor=" (Hrsg.)",
    editors=" (Hrsg.)",
    edition="{n}. Aufl.",
    phd="Dissertation",
    masters="Diplomarbeit",
    report="Forschungsbericht",
    standard="Norm",
    preprint="arXiv-Preprint",
    software="Software",
)

_VENUE_WORDS = {
    "academy": "Acad.",
    "advances": "Adv.",
    "american": "Am.",
    "analysis": "Anal.",
    "annals": "Ann.",
    "annual": "Annu.",
    "applications": "Appl.",
    "applied": "Appl.",
    "archives": "Arch.",
    "artificial": "Artif.",
    "association": "Assoc.",
    "astronomical": "Astron.",
    "biological": "Biol.",
    "biology": "Biol.",
    "bulletin": "Bull.",
    "chemical": "Chem.",
    "chemistry": "Chem.",
    "communication": "Commun.",
    "communications": "Commun.",
    "computation": "Comput.",
    "computational": "Comput.",
    "computer": "Comput.",
    "computing": "Comput.",
    "conference": "Conf.",
    "development": "Dev.",
    "economic": "Econ.",
    "economics": "Econ.",
    "engineering": "Eng.",
    "european": "Eur.",
    "experimental": "Exp.",
    "foundations": "Found.",
    "information": "Inf.",
    "institute": "Inst.",
    "intelligence": "Intell.",
    "international": "Int.",
    "journal": "J.",
    "knowledge": "Knowl.",
    "language": "Lang.",
    "languages": "Lang.",
    "learning": "Learn.",
    "letters": "Lett.",
    "linguistics": "Linguist.",
    "machine": "Mach.",
    "magazine": "Mag.",
    "mathematical": "Math.",
    "mathematics": "Math.",
    "mechanics": "Mech.",
    "medical": "Med.",
    "medicine": "Med.",
    "methods": "Methods",
    "modern": "Mod.",
    "national": "Natl.",
    "natural": "Nat.",
    "philosophical": "Philos.",
    "physical": "Phys.",
    "physics": "Phys.",
    "political": "Polit.",
    "proceedings": "Proc.",
    "processing": "Process.",
    "psychological": "Psychol.",
    "psychology": "Psychol.",
    "quarterly": "Q.",
    "recognition": "Recognit.",
    "record": "Rec.",
    "report": "Rep.",
    "reports": "Rep.",
    "research": "Res.",
    "review": "Rev.",
    "reviews": "Rev.",
    "science": "Sci.",
    "sciences": "Sci.",
    "scientific": "Sci.",
    "society": "Soc.",
    "software": "Softw.",
    "statistical": "Stat.",
    "statistics": "Stat.",
    "studies": "Stud.",
    "symposium": "Symp.",
    "systems": "Syst.",
    "technical": "Tech.",
    "technology": "Technol.",
    "theoretical": "Theor.",
    "transactions": "Trans.",
    "university": "Univ.",
    "workshop": "Workshop",
    "zeitschrift": "Z.",
}
_SMALL_WORDS = {"of", "the", "on", "in", "and", "for", "&", "de", "der", "für"}


def abbreviate_venue(name: str) -> str:
    """Shorten the words of a journal or a conference: "J. Am. Stat. Assoc.".

    A name of a single word ("Nature") stays as it is, as in real bibliographies.
    """
    words = name.split()
    if len([word for word in words if word.lower() not in _SMALL_WORDS]) < 2:
        return name
    shortened = []
    for word in words:
        core = word.strip(".,:()")
        if word.lower() in _SMALL_WORDS:
            continue
        short = _VENUE_WORDS.get(core.lower())
        shortened.append(word if short is None else _in_place(word, core, short))
    return " ".join(shortened)


def _in_place(word: str, core: str, short: str) -> str:
    # "Society," must become "Soc.,", and "Society." must not become "Soc..".
    return word.replace(core, short).replace("..", ".")


def ordinal(number: int) -> str:
    """Return "1st", "2nd", "3rd", "4th", "11th" and so on."""
    if number % 100 in (11, 12, 13):
        return f"{number}th"
    return f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th') }"


def format_edition(edition: str, wording: Wording) -> str:
    """Write an edition, given as "2", "2nd" or "second"; other text stays as it is."""
    digits = re.match(r"\d+", edition)
    if digits:
        number = int(digits[0])
    elif edition.lower() in _ORDINAL_WORDS:
        number = _ORDINAL_WORDS.index(edition.lower()) + 1
    else:
        return edition
    nth = ordinal(number)
    word = _ORDINAL_WORDS[number - 1] if 1 <= number <= len(_ORDINAL_WORDS) else nth
    return wording.edition.format(n=number, nth=nth, word=word)


def format_month(month: str, names: tuple[str, ...]) -> str:
    """Write a month, given as an English name; other text ("Spring") stays as it is."""
    return names[MONTHS.index(month)] if month in MONTHS else month


def sentence_case(title: str) -> str:
    """Lower-case the words of a headline, as many styles do.

    The first word, the first one of a subtitle, and words that are not simply capitalised ("DNA",
    "WordNet", "I") keep their letters. Proper nouns lose theirs, as they do in bibliographies
    that programs write.
    """

    def lower(match: re.Match[str]) -> str:
        word = match[0]
        opens = match.start() == 0 or title[: match.start()].rstrip(" \"“'").endswith(tuple(":?!."))
        return word if opens else word.lower()

    return re.sub(r"\b[A-Z][a-zà-ÿ]+\b", lower, title)
