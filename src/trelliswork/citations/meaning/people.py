"""Names of people from the text of an author, editor or translator field.

A list of names is cut twice: at marks and words that only separate names (";", "&", "and", "und"),
and at commas, which separate names or parts of one. The stretches on both sides decide on a comma:
initials after a family name belong to it; two stretches with a given and a family name each are two
people.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from trelliswork.citations.meaning.person import (
    COMMA,
    JOINT,
    Stretch,
    are_initials,
    has_ideographs,
    hints_at_organisation,
    lone_name,
    person,
)

if TYPE_CHECKING:
    from trelliswork.citations.records import Name

_ROLE = (
    r"(?:edited|editors?|éditeurs?|eds?|éds?|ed|herausgeber\w*|hrsg|hgg?|hg|a cura di|coords?"
    r"|comps?|compilers?|dirs?|orgs?|red|translat\w+|transl?|trads?|übers\w*|authors?|ред|пер"
    r"|[编編译譯著])(?!\w)\.?"
)
_BRACKETED_ROLE = re.compile(rf",?\s*[(\[]\s*{_ROLE}(?:[^()\[\]]*[)\]]|\s*$)", re.IGNORECASE)
_ROLE_BEHIND = re.compile(
    r"(?:,\s*|\s+)(?:[Ee]ds?\.|[ée]ds?|Eds|EDS?\.?|[Ee]ditors?|[Hh]rsg\.?|[Hh]g\.|[Cc]omps?\."
    r"|[Tt]ransl?\.|[Tt]ranslators?|[Cc]oords?\.)(?=\s*(?:[,;:]|$))"
)
_ROLE_IN_FRONT = re.compile(
    r"[\s,;:.(\[]*(?:in\s*:|in(?=\s)|dans\s*:?\s|en\s*:?\s|and\s|&|with\s|by\s|(?:ed\.|edited|hrsg\.|hg\.|éd\.|édité|"
    r"herausgegeben|editado|trans(?:l|lated)?\.?(?:\s+from\s[\w\s]{1,30})?|übers(?:etzt|\.)?|trad\."
    r"|traduit|traducido|tradu[cz]ione|compiled)\s+(?:by|von|v\.|par|por|di|de)\s|a cura di\s"
    r"|eds?\.\s|trans\.\s|trad\.\s|tr\.\s|übers\.\s|under the direction of\s)\s*",
    re.IGNORECASE,
)
_OTHERS = re.compile(
    r"(?<!\w)(?:(?-i:etal\b\.?)|et(?:\s|\.\s?)(?:al(?:ii|ia)?\b\.?|coll\.)|(?:and|&)\s+(?:\d+\s+)?others\b|und\s+andere\b"
    r"|y\s+otros\b|e\s+(?:outros|altri)\b|и\s+(?:др|соавт)\b\.?|m\.\s?fl\.|u\.\s?a\.?(?=\s*$)"
    r"|\.\s?\.\s?\.|…|ほか|等)|等$",
    re.IGNORECASE,
)
_BRACKETED = re.compile(r"[(\[][^()\[\]]*(?:[)\]]|$)")
_TOKENIZED = re.compile(r" (?=[.,;:)\]])")
_SPACED_JOINTS = re.compile(r"(?<=[\w.]) (['’‐-]) (?=\w)")
_SPACED_INITIALS = re.compile(r"\. ?- ?(?=[^\W\d_](?:\.|\b))")
_STRONG = re.compile(
    r"[;|/•×；、؛&+]|[\s,](?:and|AND|And|und|UND|et|ET|og|och|en|и|та|oraz|ve|with|mit|avec|[–—])(?=\s)"
)
_JOINING = re.compile(r"(?<=[\w.])\s(?:[yei]|(?<=[^\W\d_a-z]{2} )Y(?= [^\W\d_a-z]{2}))\s(?=\w)")
# "Jian SUN, Kaiming HE": short words in capitals are no initials.
_CAPITALS_LAST = re.compile(r"[a-zà-ÿ.] [A-ZÀ-Þ'’-]{5,}(?=\s?[,;&]| and |$)")
# "Jonkers IJAM, Smelt A": four capitals are initials where others are.
_FOUR_CAPITALS = re.compile(r"\b[A-Z]{4}\b")
_INITIAL_LAST = re.compile(r"[a-z] [A-Z](?=[,;]|$)")
# "Department of Health, Education, and Welfare"
_ENUMERATION = re.compile(r"([^,;&]+)(?:, \w+)+,? and \w+")
_SHORT_NAMES = frozenset(
    ("Ch.", "Jr.", "Ju.", "Kh.", "Ph.", "Sh.", "Sr.", "Th.", "Ts.", "Ya.", "Ye.", "Yu.", "Zh.")
)
_COMPANIES = ("Inc.", "Corp.", "Ltd.")
_EDGES = COMMA + " \t,;:.*†‡§¶\"“”'‘’`´"


def parse_people(text: str) -> tuple[tuple[Name, ...], bool]:
    """Return the names of a list in any style.

    Parameters
    ----------
    text : str
        Authors, editors or translators as in a reference, roles included: "In", "ed.
        by", "(Eds.)".

    Returns
    -------
    names : tuple of Name
        People, and organisations as a literal. Initials have periods and blanks ("J. A."), family
        names in capitals are written as usual.
    et_al : bool
        Whether "et al.", "and others", "u. a." or the like stands for more.

    Examples
    --------
    >>> names, et_al = parse_people("Smith, J.A., van der Berg, C. Jr. et al. (Eds.)")
    >>> names[0]
    Name(family='Smith', given='J. A.', particle='', suffix='', literal='')
    >>> names[1], et_al
    (Name(family='Berg', given='C.', particle='van der', suffix='Jr.', literal=''), True)
    """
    text = " ".join(text.split())
    if _TOKENIZED.search(text) is not None or _SPACED_JOINTS.search(text) is not None:
        text = _SPACED_JOINTS.sub(r"\1", _TOKENIZED.sub("", text))
    if ".-" in text or ". -" in text:
        text = _SPACED_INITIALS.sub(".-", text)
    text = _without_roles(text)
    text, et_al = _OTHERS.subn(" ; ", text)
    if "(" in text or "[" in text:
        text = _BRACKETED.sub("", text)
    if _JOINING.search(text) is not None:
        text = _join_surnames(text)
    if hints_at_organisation(text):
        text = _join_organisations(text)
    glued = 3 if _CAPITALS_LAST.search(text) is None else 0
    if glued and _FOUR_CAPITALS.search(text) is not None and _INITIAL_LAST.search(text) is not None:
        glued = 4
    segments = [_stretches(segment, glued) for segment in _STRONG.split(text)]
    segments = [segment for segment in segments if segment]
    return tuple(_read(segments, commas_only=";" not in text)), et_al > 0


def _read(segments: list[list[Stretch]], *, commas_only: bool) -> list[Name]:
    several = len(segments) > 1
    # BibTeX's own way: "García Márquez, Gabriel José and Vargas Llosa, Jorge Mario".
    inverted = several and all(len(segment) == 2 for segment in segments)
    stretches = [stretch for segment in segments for stretch in segment]
    # "Smith, Jones, and Lee"
    families = (
        several
        and commas_only
        and len(segments[-1]) == 1
        and all(stretch.is_bare and len(stretch.words) == 1 for stretch in stretches)
    )
    full = any(stretch.is_unclear for stretch in stretches) and _spells_out(segments)
    names: list[Name] = []
    for segment in segments:
        alone = not several and len(segment) == 2
        i, n = 0, len(segment)
        while i < n:
            one = segment[i]
            i += 1
            suffix = one.suffix
            if i < n and not segment[i].words:
                # "King, Jr., Martin Luther" or "Martin Luther King, Jr."
                suffix = suffix or segment[i].suffix
                i += 1
            if not one.words:
                continue
            after = segment[i] if i < n and not families else None
            if after is None or not (inverted or _is_inverted(one, after, alone=alone)):
                one.suffix = suffix
                names.append(lone_name(one, full=full))
                continue
            given = after.words[: len(after.words) - after.particles]
            family = after.words[len(given) :] + one.words
            suffix = suffix or after.suffix
            i += 1
            if i < n and not segment[i].words:
                suffix = suffix or segment[i].suffix
                i += 1
            names.append(person(family, given, suffix))
    return names


def _spells_out(segments: list[list[Stretch]]) -> bool:
    """Return whether some name of the list has a given name that is not an initial."""
    for segment in segments:
        for i, one in enumerate(segment):
            if one.last or (i and one.tail and not one.lead and segment[i - 1].is_bare):
                return True
            before_initials = i + 1 < len(segment) and segment[i + 1].is_given
            after_family = i > 0 and segment[i - 1].is_bare
            if one.is_bare and not before_initials and (len(one.words) > 1 or after_family):
                return True
    return False


def _without_roles(text: str) -> str:
    while text[:1] in "([" and text[-1:] in ")]" and len(text) > 1 and _wraps(text):
        text = text[1:-1].strip()
    if "(" in text or "[" in text:
        text = _BRACKETED_ROLE.sub("", text)
    text = _ROLE_BEHIND.sub("", text)
    while (match := _ROLE_IN_FRONT.match(text)) is not None:
        text = text[match.end() :]
    return text


def _wraps(text: str) -> bool:
    """Return whether the bracket that opens the text is closed by the one that ends it."""
    return not any(bracket in text[1:-1] for bracket in "()[]")


def _stretches(segment: str, glued: int) -> list[Stretch]:
    if "，" in segment or "،" in segment:
        segment = segment.replace("，", ",").replace("،", ",")
    if "." in segment and has_ideographs(segment):
        segment = segment.replace(".", ",")
    stretches = []
    for piece in segment.split(","):
        # The period of an initial stays, that of the sentence goes.
        core = piece.strip(_EDGES)
        if core[:2] == "t " and piece.lstrip()[0] in "'’‘`":
            # "'t Hooft" keeps its apostrophe.
            core = f"'{core}"
        if not core or not any(map(str.isalpha, core)):
            continue
        if piece.rstrip()[-1] == ".":
            core += "."
            if not _ends_in_abbreviation(core):
                core = core[:-1]
        stretches.append(Stretch(core, glued=glued))
    return stretches


def _ends_in_abbreviation(text: str) -> bool:
    word = text[text.rfind(" ") + 1 :]
    if len(word) > 2 and word[:-1].isupper() and word[:-1].isalpha():
        # "Smith JA." ends a list; "JR." does not.
        return word == "JR."
    if len(word) == 3 and word[:-1].isalpha():
        # "Fei-Fei Li." ends a list, "Landau Yu." does not.
        return word in _SHORT_NAMES
    return len(word) < 4 or "." in word[:-1] or word in _COMPANIES


def _is_inverted(one: Stretch, after: Stretch, *, alone: bool) -> bool:
    """Return whether a comma separates the family and the given name of one person."""
    if has_ideographs(one.text) or (one.is_organisation and len(one.words) > 1):
        return False
    if after.is_given:
        # "Li Y., J." is a slip, "LI, Y." is not.
        return one.is_bare or (one.capitals and not one.lead) or len(one.words) == 1
    if not one.may_be_family or after.is_organisation:
        return False
    if len(one.words) == 1 or one.starts_family:
        return True
    if after.tail and not after.lead:
        return True
    if one.capitals and not after.capitals:
        return True
    if not after.is_bare or one.starts_given:
        return False
    return len(after.words) == 1 or (alone and after.is_all_given)


def _join_surnames(text: str) -> str:
    """Protect the "y" of "Ortega y Gasset"; other conjunctions become "&"."""
    parts = []
    done = 0
    for match in _JOINING.finditer(text):
        *earlier, before = _STRONG.split(text[done : match.start()])[-1].split(",")
        after = re.split(r"[,;&]| (?:and|y|e|i|et|und) ", text[match.end() :], maxsplit=1)[0]
        word = match[0].strip()
        # A name begins here, and is no given name after a comma.
        opens = not earlier or all(map(are_initials, earlier[-1].split()[-1:]))
        joined = word == "Y" or _is_surname(before.split(), after.split(), opens=opens)
        parts += [text[done : match.start()], f"{JOINT}{word}{JOINT}" if joined else " & "]
        done = match.end()
    return "".join([*parts, text[done:]])


def _is_surname(before: list[str], after: list[str], *, opens: bool) -> bool:
    """Return whether "y" is part of a family name, given the words on both sides."""
    if not before or not after or are_initials(before[-1]):
        return False
    if len(after) == 1:
        return len(before) > 1 or opens
    return len(before) == 1 and opens and all(map(are_initials, after[1:]))


def _join_organisations(text: str) -> str:
    """Protect "and" and commas inside of "Department of Health, Education, and Welfare"."""
    match = _ENUMERATION.fullmatch(text.strip(_EDGES))
    if match is not None and Stretch(match[1]).opens_organisation:
        return match[0].replace(",", COMMA).replace(" and ", f" and{JOINT}")
    pieces: list[str] = []
    done = 0
    for match in _STRONG.finditer(text):
        if not any(map(str.isalpha, match[0])):
            continue
        *earlier, before = _STRONG.split(text[done : match.start()])[-1].split(",")
        left = Stretch(before.strip(_EDGES))
        right = Stretch(
            re.split(r"[,;&]| and | und ", text[match.end() :], maxsplit=1)[0].strip(_EDGES)
        )
        goes_on = (
            left.opens_organisation
            and right.is_bare
            and not right.is_organisation
            and not right.starts_given
        )
        begins = not earlier and len(left.words) == 1 and left.is_bare and right.is_organisation
        if goes_on or begins:
            pieces += [text[done : match.start()], match[0].replace(" ", JOINT)]
            done = match.end()
    return "".join([*pieces, text[done:]])
