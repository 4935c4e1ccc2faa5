"""A template text with everything that the language knows."""

from __future__ import annotations

EVERYTHING = r"""
# Everything the language knows.
outside: pad
pattern year = /(19|20)\d\d[a-z]?/
pattern slash = /a\/b/
lexicon months = "January" "Feb \"ruary\""
    "March"                     # a continued line
cased lexicon names = "Ann Lee"
word[-2..2]
word[-1] | word[0]
word | "pos-tag"[+1]
ngrams(pos[-2..2], 2..3)
lower(word)
suffix(lower(word), 1..4)
prefix(word[-1..0], 2)
shape(word[-1..1])
short_shape(word)
position(8)
first()
last()
match(year, word[-1..1])
search(slash, word)
in(months, word)
in(names, word[-1])
segment_start()
segment_start(year, slash)[-1..1]
bias
edge: word[0] | pos[0]
"""
