"""One name of a list of authors or editors: the form of its words, and the person.

Bibliographies write a person in few ways, which differ in the place of the initials: in front
("J. A. Smith"), behind ("Smith JA"), in the middle ("Thomas S. Kuhn"), alone after a comma
("Smith, J. A."), or nowhere. `Stretch` finds them; `trelliswork.citations.meaning.people` decides
which stretches form one name. The lists of words at the end distinguish the parts of names, and
organisations from people.
"""

from __future__ import annotations

import re

from trelliswork.citations.records import Name

JOINT = "\ue000"
"""Placeholder of a blank inside a word that must not be cut: "Ortega y Gasset"."""

COMMA = "\ue001"
"""Placeholder of a comma inside the name of an organisation."""

_WORD = re.compile(r"\w+")

_INNER_CAPITAL = re.compile(r"\d|(?!Ma?c|De|Di|Du|La|Le|Mc|O['’]|Van|Von)\w+[a-z][A-Z]")

_AFTER_PERIOD = re.compile(r"(?<=\.)(?=[^\W\d_])")

_DOTTED = re.compile(r"(?:[^\W\d_][^\W\d_A-Z]?\.[-‐–]?)+[^\W\d_]?")

_LETTERS = re.compile(r"[^\W\d_]+")

_SCOTTISH = re.compile(r"\bMc([a-z])")

_VOWEL = re.compile("[AEIOUY]")

_CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


class Stretch:
    """The text between two separators of a list of names.

    Attributes
    ----------
    text : str
        The text as written.
    words : list of str
        Its words, without a suffix at the end.
    suffix : str
        "Jr." and the like; the whole stretch if there are no other words.
    lead, tail : int
        Initials in front, and behind (before particles: "Berg C van der").
    last : int
        One past the last initial that a word follows, or 0.
    particles : int
        Particles at the end.
    capitals : bool
        Whether all words that are no initials are in capitals.

    Parameters
    ----------
    text : str
        Without separators at its ends.
    glued : int
        The letters of the longest word in capitals that may be initials: "JA".
    """

    __slots__ = ("capitals", "last", "lead", "particles", "suffix", "tail", "text", "words")

    def __init__(self, text: str, *, glued: int = 3) -> None:
        self.text = text
        words = (_AFTER_PERIOD.sub(" ", text) if "." in text else text).split()
        self.suffix = ""
        # "Ivanov II" has two initials, "Ivanov, II" and "John Smith II" have none.
        if words and (
            words[-1] in SUFFIXES
            or (words[-1] in NUMERALS and (len(words) != 2 or words[0][-1] == "."))
        ):
            self.suffix = words.pop()
        self.words = words
        self.lead = self.tail = self.last = self.particles = 0
        self.capitals = False
        end = len(words)
        if end == 0:
            return
        while end > 1 and words[end - 1] in PARTICLES:
            end -= 1
        self.particles = len(words) - end
        long_words = [word for word in words if len(word) > 2 and word not in PARTICLES]
        self.capitals = bool(long_words) and all(map(str.isupper, long_words))
        initial = [is_initial(word) and word not in PARTICLES for word in words]
        if glued and True not in initial:
            self._find_glued(end, glued)
            return
        lead, tail = 0, end
        while lead < end and initial[lead]:
            lead += 1
        self.lead = lead
        while tail > lead and initial[tail - 1]:
            tail -= 1
        self.tail = end - tail
        for i in range(tail - 1, lead, -1):
            if initial[i]:
                self.last = i + 1
                break

    def _find_glued(self, end: int, glued: int) -> None:
        """Find initials written without periods or blanks: "Smith JA", "JA Smith"."""
        words = self.words
        if not self.capitals and _is_glued(words[0], glued):
            place = 0
        # In capitals, three letters may be a name: "JOHN LEE".
        elif end > 1 and _is_glued(words[end - 1], 2 if self.capitals else glued):
            place = end - 1
        else:
            return
        letters = [words[place]]
        # Alone it may be a family name as well: "HE, Kaiming".
        if end > 1:
            letters = words[place : place + 1] = [f"{letter}." for letter in words[place]]
        if place:
            self.tail = len(letters)
        else:
            self.lead = len(letters)

    @property
    def is_given(self) -> bool:
        """Whether it is initials alone, as after a family name and a comma."""
        return 0 < self.lead == len(self.words) - self.particles

    @property
    def is_bare(self) -> bool:
        """Whether it has words and no initials."""
        return bool(self.words) and not (self.lead or self.tail or self.last)

    @property
    def may_be_family(self) -> bool:
        """Whether it may stand before a comma and a given name: no initials, or "HE", "LI"."""
        return self.is_bare or (len(self.words) == 1 and self.words[0].isalpha())

    @property
    def is_unclear(self) -> bool:
        """Whether it is like "J. Paul Getty" and "J. García Márquez"."""
        return self.lead == 1 and len(self.words) == 3 and not (self.tail or self.last)

    @property
    def starts_family(self) -> bool:
        """Whether its first word shows that it is a family name."""
        return self.words[0] in PARTICLES or self.words[0] in CAPITAL_PARTICLES

    @property
    def starts_given(self) -> bool:
        """Whether its first word is a common given name."""
        return bool(self.words) and self.words[0] in GIVEN_NAMES

    @property
    def is_all_given(self) -> bool:
        """Whether all words are common given names."""
        return GIVEN_NAMES.issuperset(self.words)

    @property
    def is_organisation(self) -> bool:
        """Whether it is the name of an organisation."""
        n = len(self.words)
        lowered = _WORD.findall(self.text.lower())
        if ORGANISATION_WORDS.isdisjoint(lowered):
            if (
                n > 2
                and self.is_bare
                and (lowered[0] == "the" or lowered[-1] in WEAK_ORGANISATION_WORDS)
            ):
                return True
            # People have fewer names, or particles among them.
            return n > 4 and self.is_bare and PARTICLES.isdisjoint(self.words)
        # "Council, J." and "Service RF" are people.
        return n > 2 or (n == 2 and self.is_bare)

    @property
    def opens_organisation(self) -> bool:
        """Whether it may go on after "and": "Institute of Electrical" "and ..."."""
        return self.is_organisation and not OPEN_PHRASES.isdisjoint(self.text.lower().split())


def hints_at_organisation(text: str) -> bool:
    """Return whether a list of names has a word that is typical of organisations."""
    return not ORGANISATION_HINTS.isdisjoint(_WORD.findall(text.lower()))


def is_initial(word: str) -> bool:
    """Return whether a word is an initial: "J.", "J", "J.-L.", "J-L" or "Yu."."""
    n = len(word)
    if n < 3:
        return word.isalpha() if n == 1 else word[1] == "." and word[0].isalpha()
    if word[-1] == "." or "." in word:
        return _DOTTED.fullmatch(word) is not None and word != "St."
    return n < 6 and word[1] == "-" and all(len(part) == 1 for part in word.split("-"))


def _is_glued(word: str, at_most: int) -> bool:
    """Return whether a word is several initials without anything between them."""
    n = len(word)
    if not 1 < n < 5 or not (word.isupper() and word.isalpha()):
        return False
    # Four capitals are rather a name: "Jun ZHAO", but "Watkins CJCH".
    return n <= at_most or _VOWEL.search(word) is None


def are_initials(word: str) -> bool:
    """Return whether a word is an initial, or several: "JA"."""
    return is_initial(word) or _is_glued(word, 3)


def has_ideographs(text: str) -> bool:
    """Return whether the text is Chinese, Japanese or Korean."""
    return not text.isascii() and _CJK.search(text) is not None


def lone_name(stretch: Stretch, *, full: bool) -> Name:
    """Return the name in a single stretch: given name first, or initials last.

    Parameters
    ----------
    stretch : Stretch
        With at least one word.
    full : bool
        Whether given names are spelled out in its list; decides on an unclear stretch.
    """
    words, n = stretch.words, len(stretch.words)
    if has_ideographs(stretch.text):
        # Only a blank says where the family name ends.
        if n == 2:
            return Name(family=words[0], given=words[1])
        return literal_name(stretch.text)
    if stretch.is_organisation:
        return literal_name(stretch.text)
    if n == 1:
        word = words[0]
        if (len(word) > 1 and word.isupper() and word.isalnum()) or _INNER_CAPITAL.match(word):
            return literal_name(stretch.text)
        return person(words, [], stretch.suffix)
    if stretch.is_given:
        return person(words[-1:], words[:-1], stretch.suffix)
    if stretch.tail and not stretch.lead:
        cut = n - stretch.particles - stretch.tail
        family = words[n - stretch.particles :] + words[:cut]
        return person(family, words[cut : n - stretch.particles], stretch.suffix)
    if stretch.is_bare and words[0].isupper() and len(words[0]) > 2 and not stretch.capitals:
        # "DELISLE Léopold"
        cut = next(i for i, word in enumerate(words) if not word.isupper())
        return person(words[:cut], words[cut:], stretch.suffix)
    cut = _family_start(stretch, full)
    return person(words[cut:], words[:cut], stretch.suffix)


def _family_start(stretch: Stretch, full: bool) -> int:
    """Return the index of the family name in a name that is not inverted."""
    words, n = stretch.words, len(stretch.words)
    first = max(stretch.lead, stretch.last)
    for i in range(max(first, 1), n - 1):
        if words[i] in PARTICLES or words[i].capitalize() in CAPITAL_PARTICLES:
            return i
    # Else all but family names are initials: "E. F. Tjong Kim Sang".
    middle = stretch.is_unclear and (full or words[first] in GIVEN_NAMES)
    return first if first and not middle else n - 1


def person(family: list[str], given: list[str], suffix: str) -> Name:
    """Return a person, with separate particles, initials with periods, and usual capitals."""
    start = 0
    while start < len(family) - 1 and family[start] in PARTICLES:
        start += 1
    particle = " ".join(family[:start])
    surname = " ".join(family[start:]).replace(JOINT, " ").replace(COMMA, ",")
    shouted = len(surname) > 1 and surname.isupper()
    return Name(
        family=_lower_capitals(surname) if shouted else surname,
        given=" ".join([_given_word(word, shouted) for word in given]),
        particle=particle,
        suffix=suffix,
    )


def literal_name(text: str) -> Name:
    """Return the name of an organisation."""
    return Name(literal=text.replace(JOINT, " ").replace(COMMA, ","))


def _given_word(word: str, shouted: bool) -> str:
    if is_initial(word):
        return "-".join([one if one[-1:] == "." else f"{one}." for one in word.split("-")])
    if _is_glued(word, 2 if shouted else 3):
        return " ".join(f"{letter}." for letter in word)
    if shouted and word.isupper():
        return _lower_capitals(word)
    return word.replace(JOINT, " ").replace(COMMA, ",")


def _lower_capitals(words: str) -> str:
    """Write "O'BRIEN-MCKAY Y SOTO" as "O'Brien-McKay y Soto"."""
    lowered = _LETTERS.sub(lambda match: match[0].capitalize(), words)
    lowered = _SCOTTISH.sub(lambda match: "Mc" + match[1].upper(), lowered)
    return lowered.replace(" Y ", " y ")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


PARTICLES = _words(
    "af al av bin da das de degli dei del della den der des di do dos du el het ibn la las le "
    "lo los op san te ten ter v. van vom von zu zum zur 't ’t"
)

CAPITAL_PARTICLES = _words(
    "Da De Degli Dei Del Della Delle Den Der Des Di Do Dos Du El La Le Lo Mac San St. Ter Ten Van "
    "Von Zu"
)

SUFFIXES = _words("Jr Jr. JR. jr jr. Jnr Jnr. Sr Sr. SR. sr sr. Esq Esq. 2nd 3rd")

NUMERALS = _words("II III IV II. III. IV.")

# Given names distinguish "J. Paul Getty" from "J. García Márquez", and "Gabriel José" after a comma
# from the next author.
GIVEN_NAMES = _words(
    """
    Adam Alan Albert Alexander Alfred Alice Andrea Andrew Angela Ann Anna Anne Anthony Antonio
    Arthur Barbara Benjamin Bernard Brian Bruce Carl Carlos Carol Caroline Catherine Charles
    Christian Christine Christopher Claude Claudia Daniel David Deborah Dennis Diana Donald Douglas
    Edward Elizabeth Emily Emma Eric Erik Eva Felix Fernando Francesco Francis Francisco Franz Fred
    Frederick Friedrich Gabriel Gary Geoffrey George Georg Gerald Giovanni Giuseppe Gordon Hans
    Harold Harry Heinrich Helen Henri Henry Herbert Howard Hugh Isaac Jack Jacob James Jan Jane
    Jason Javier Jean Jennifer Jessica Joan Johann John Jonathan Jorge José Joseph Juan Judith Julia
    Julie Karen Karl Katherine Keith Kenneth Kevin Kurt Larry Laura Lawrence Leonard Lewis Linda
    Lisa Louis Louise Luca Ludwig Luis Manuel Marco Margaret Maria María Marie Mario Mark Martin
    Mary Matthew Max Michael Michel Miguel Mohammad Mohammed Nancy Nicholas Oliver Oscar Otto
    Pablo Pamela Patricia Patrick Paul Paula Pedro Peter Philip Philippe Pierre Rachel Ralph Raymond
    Rebecca Richard Robert Roger Ronald Rosa Roy Ruth Samuel Sandra Sara Sarah Scott Sean Sergio
    Sharon Simon Sofia Sophie Stefan Stanley Stephen Steven Stuart Susan Teresa Theodore Thomas
    Timothy Tom Ursula Victor Victoria Vincent Virginia Walter Werner Wilhelm William Wolfgang
    """
)

ORGANISATION_WORDS = _words(
    """
    academy administration agency alliance arbeitsgruppe assembly associates association
    associação asociación associazione authority bundesamt bundesministerium bureau center centers
    centre centres centro collaboration collaborations collective college comité comitato
    commission committee company conference confederation congress consortium corp corporation
    council departamento department département directorate division enterprises faculty federation
    forum foundation gesellschaft gmbh government inc initiative institut institute institutes
    institution instituto international istituto laboratories laboratorium laboratory lab labs
    league libraries library ltd ministerio ministerium ministero ministry ministère museum nations
    network observatory office organisation organización organization panel parliament partnership
    program programme project secretariat service services sociedad society società société
    software standards survey systems task team technologies universidad universidade universita
    universitat universiteit university università universität université verband verein working
    of for für
    """
)

# These are family names as well: they count at the end of three words or more.
WEAK_ORGANISATION_WORDS = _words("bank board church group house press school staff union")

ORGANISATION_HINTS = ORGANISATION_WORDS | WEAK_ORGANISATION_WORDS | {"the"}

OPEN_PHRASES = _words("of for on für de des pour para")
