"""Features of the baseline on UMass citations, after section 7 of the paper.

Word types, capitalisation, binned location, regular expressions, lexicons, and the rule-based
segmenter: all but the last two as in the paper. Its lexicons are external and not at hand; ours are
short lists of common knowledge, those of the ``citation`` bundle and the ones below. The segmenter
is ``segment_start()``: it cuts after closing punctuation, before words such as "in" or "volume",
and after words such as "pp.". ``wide`` adds words up to four places away and pairs of them, which
the paper does not speak of.
"""

from __future__ import annotations

from trelliswork.features.bundles import bundle

LEXICONS = r"""
lexicon given = "aaron" "adam" "alain" "alan" "albert" "alex" "alexander" "alexandre" "alfred"
    "alice" "amir" "ana" "andrea" "andreas" "andrei" "andrew" "andrzej" "angela" "ann" "anna"
    "anne" "anthony" "antonio" "arthur" "barbara" "benjamin" "bernard" "bernd" "bill" "bob"
    "boris" "brian" "bruce" "carl" "carlo" "carlos" "carol" "charles" "chris" "christian"
    "christine" "christoph" "christopher" "claude" "claudia" "craig" "dan" "daniel" "david"
    "dennis" "diego" "dieter" "dmitri" "dmitry" "don" "donald" "douglas" "edward" "elena"
    "elizabeth" "emmanuel" "eric" "erik" "eva" "fabio" "felix" "fernando" "francesco" "francis"
    "francois" "frank" "franz" "fred" "frederic" "gabriel" "gary" "george" "gerald" "gerard"
    "gerhard" "giovanni" "giuseppe" "gregory" "guy" "hans" "harold" "harry" "heinz" "helen"
    "henri" "henry" "herbert" "howard" "ian" "igor" "ivan" "jack" "jacob" "jacques" "james" "jan"
    "jane" "jason" "javier" "jean" "jeff" "jeffrey" "jennifer" "jim" "joan" "joe" "johan"
    "johannes" "john" "jon" "jonathan" "jorge" "jose" "joseph" "juan" "judea" "judith" "julia"
    "jun" "karen" "karl" "kathleen" "keith" "ken" "kenneth" "kevin" "klaus" "kurt" "larry" "lars"
    "laura" "laurent" "lawrence" "leo" "leonard" "leonid" "leslie" "lisa" "louis" "luca" "luis"
    "manfred" "manuel" "marc" "marco" "maria" "marie" "mario" "mark" "markus" "martin" "mary"
    "matthew" "matthias" "max" "michael" "michel" "miguel" "mike" "mikhail" "moshe" "nancy"
    "nathan" "neil" "nicholas" "nicolas" "nikolai" "olivier" "orna" "oscar" "otto" "paolo"
    "patrice" "patricia" "patrick" "paul" "pedro" "peter" "philip" "philippe" "pierre" "rachel"
    "rainer" "ralf" "ralph" "raymond" "rebecca" "rene" "ricardo" "richard" "robert" "roberto"
    "roger" "roland" "roman" "ronald" "roy" "rudolf" "russell" "ruth" "sam" "samuel" "sandra"
    "sara" "sarah" "scott" "sergei" "sergey" "shlomo" "simon" "stanley" "stefan" "stefano"
    "stephan" "stephane" "stephen" "steve" "steven" "stuart" "susan" "takashi" "ted" "theodore"
    "thierry" "thomas" "tim" "timothy" "todd" "tom" "tony" "ulrich" "victor" "vincent" "vladimir"
    "walter" "werner" "wei" "wilhelm" "william" "wolfgang" "yann" "yi" "yuri" "yves" "zhang"
lexicon particles = "van" "von" "de" "der" "den" "la" "le" "du" "di" "da" "del" "della" "dos"
    "ter" "ten" "van der" "van den" "von der" "de la" "el" "al" "jr" "jr." "sr" "sr." "ii" "iii"
lexicon ordinals = "first" "second" "third" "fourth" "fifth" "sixth" "seventh" "eighth" "ninth"
    "tenth" "revised" "edition" "ed" "edn"
lexicon journals = "phys" "rev" "lett" "math" "astrophys" "astron" "soc" "amer" "acad" "sci"
    "appl" "pure" "comm" "commun" "nucl" "mod" "ann" "bull" "nature" "science" "physica" "mnras"
    "apj" "a&a" "prl" "jetp" "jhep" "aj" "pasp" "theor" "comput" "statist" "probab" "biol" "chem"
    "geom" "topology" "trans" "journal" "j." "acta" "publ" "mon" "roy" "royal" "proceedings"
    "proc"
"""
PATTERNS = r"""
pattern archive = /(?i)(arxiv|astro-ph|hep-?(th|ph|ex|lat)|cond-mat|gr-qc|math(-ph)?)[:.\/]?.*/
pattern archive_too = /(?i)(quant-ph|nucl-?(th|ex)|physics|cs|nlin|q-bio|alg-geom)[:.\/]?.*/
pattern archive_number = /.*\d{4}\.\d{4,5}.*|.*\/\d{7}.*/
pattern review_number = /(?i)mr\d+|zbl.*/
pattern bracketed = /\[.*\]|\(.*\)/
pattern marker = /\[.*\]?|\d+|\(\d+\)|[A-Z][A-Za-z+]*\d\d[a-z]?/
pattern one_capital = /[A-Z]\.?/
pattern name_like = /[A-Z][a-z´¨`'’]+(-[A-Z][a-z]+)?/
pattern lower_word = /[a-z]+/
pattern big_number = /\d{5,}/
match(archive, word[-2..2])
match(archive_too, word[-2..2])
match(archive_number, word[-1..1])
match(review_number, word)
match(bracketed, word[-1..1])
match(marker, word) | first()
match(one_capital, word[-2..2])
match(name_like, word[-1]) | match(name_like, word)
match(name_like, word) | match(name_like, word[1])
match(lower_word, word[-1..1])
match(big_number, word)
in(given, word[-2..2])
in(given, word) | match(name_like, word[1])
in(particles, word[-1..1])
in(ordinals, word[-1..1])
in(journals, word[-2..2])
"""
WINDOW = """
lower(word[-4..-3])
lower(word[3..4])
lower(word[-2]) | lower(word[-1])
lower(word[1]) | lower(word[2])
ngrams(short_shape(word[-2..2]), 2..4)
"""

PAPER = f"{bundle('citation')}\n{LEXICONS}\n{PATTERNS}"
TEMPLATES = {"paper": PAPER, "wide": PAPER + WINDOW}
