"""Words that tell the parts of names apart, and organisations from people."""

from __future__ import annotations


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
# Given names that tell "J. Paul Getty" from "J. García Márquez", and "Gabriel José" after a comma
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
