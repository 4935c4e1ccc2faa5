"""Words that give evidence on the layout of a list of references, all in small letters."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


HEADINGS = _words("""
    references referencesandnotes referencescited selectedreferences listofreferences
    bibliography selectedbibliography workscited literaturecited citedliterature literature
    literatur literaturverzeichnis quellenverzeichnis quellen referenzen
    références référencesbibliographiques bibliographie
    referencias referenciasbibliográficas bibliografía obrascitadas
    referências referênciasbibliográficas bibliografia
    riferimenti riferimentibibliografici literatuur literatuurlijst referenties
    referenser referanser litteratur litteraturförteckning litteraturliste källor
    kirjallisuus lähteet literatura piśmiennictwo irodalom kaynaklar kaynakça
    литература списоклитературы библиография βιβλιογραφία
    参考文献 参考資料 引用文献 文献 參考文獻 참고문헌 المراجع المصادر منابع ביבליוגרפיה מקורות
    """)
"""Headings of lists of references, without blanks."""

PARTICLES = _words("""
    van von der den de del della di da du dos das des la le el al ter ten zu zur af av bin ibn
    vander
    """)
"""Particles in front of a family name."""

CONTINUING = _words("""
    in proceedings proc journal j transactions trans lecture advances annals bulletin volume vol
    no number issue pp p pages page chapter ch edition edn ed eds series university press
    publishing publishers springer cambridge oxford elsevier wiley academic mit kluwer routledge
    pearson mcgraw addison prentice morgan sage birkhäuser gruyter harvard princeton north london
    york berlin paris boston amsterdam heidelberg dordrecht available retrieved accessed online
    doi url http https www arxiv technical tech report phd ph master masters thesis dissertation
    doctoral department dept institute school conference symposium workshop ieee
    conf symp process natl acad annalen nature science lett res acm and und et y e with translated
    edited bd band heft jg hrsg dans tome fascicule
    """)
"""Words that open a later part of a reference."""

NO_KEYS = _words("""
    online internet accessed available retrieved cited in print web dissertation thesis
    """)
"""Words that open a remark in brackets, which is not a key."""

SUSPENDED = _words("and or und oder et ou y o e to bis")
"""Words after a hyphen that stands for the rest of a word: "pre- and"."""

FIRST_PARTS = _words("""
    non self well high low large small semi multi cross real first second third two three four
    five one half full short long fast state pre post anti ex quasi pseudo all open closed
    context data time model rule knowledge task domain part end user word
    """)
"""First parts of hyphenated compounds."""

SECOND_PARTS = _words("""
    based oriented driven order level scale time art free like type specific dimensional aware
    dependent independent wise related valued linear trained supervised parametric term state
    class learning to of in the
    """)
"""Second parts of hyphenated compounds."""
