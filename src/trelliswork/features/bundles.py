"""Bundles: ready sets of templates, by name."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from trelliswork.errors import TemplateError
from trelliswork.features.templates import Templates

# CRFsuite's set for CoNLL-2000: words and part-of-speech tags in a window of five; n-grams that
# reach outside the sentence are left out, its ends are marked instead.
_CHUNKING = """
outside: skip
word[-2..2]
word[-1] | word[0]
word[0] | word[1]
pos[-2..2]
ngrams(pos[-2..2], 2..3)
first()
last()
"""

_NER = r"""
pattern number = /[+-]?\d+([.,:]\d+)*%?/
pattern initial = /\w\./
pattern acronym = /[A-Z]{2,}s?|([A-Z]\.){2,}/
pattern inner_capital = /[a-z].*[A-Z].*/
pattern hyphenated = /\w+(-\w+)+/
pattern handle = /[@#].*/
pattern address = /https?:.*|www\..*|.+@.+\..+/
bias
word[-2..2]
lower(word[-2..2])
word[-1] | word[0]
word[0] | word[1]
shape(word[-1..1])
short_shape(word[-2..2])
ngrams(short_shape(word[-1..1]), 2..3)
short_shape(word[0]) | lower(word[-1])
short_shape(word[0]) | lower(word[1])
prefix(word, 1..4)
suffix(word, 1..4)
suffix(lower(word[-1..1]), 3)
match(number, word[-1..1])
match(initial, word[-1..1])
match(acronym, word[-1..1])
match(inner_capital, word)
match(hyphenated, word)
match(handle, word)
match(address, word)
"""

_CITATION = r"""
pattern year = /[(\[]?(1[6-9]|20)\d\d[a-z]?[)\].,;:]*/
pattern range = /\d+\s*(-|--|–|—)\s*\d+[.,;:]?/
pattern volume_issue = /\d+\(\d+([-–]\d+)?\)[.,;:]?/
pattern number = /\d+[.,;:]?/
pattern ordinal = /(?i)\d+(st|nd|rd|th)[.,]?/
pattern has_digit = /\d/
pattern initial = /[A-Z]\.?([- ]?[A-Z]\.?)*[,;:]?/
pattern capitalised = /[A-Z][a-z].*/
pattern all_capitals = /[A-Z]{2,}[.,;:]?/
pattern ends_in_point = /.*\./
pattern ends_in_comma = /.*,/
pattern punctuation = /[^\w\s]+/
pattern quote = /.*["“”«»`´‘’].*/
pattern address = /(?i)(https?|ftp):.*|www\..*|.+@.+\..+/
pattern identifier = /(?i)(doi|arxiv|isbn|issn):?.*|10\.\d{4,}.*/
pattern et_al = /(?i)et|al\.?,?/
pattern joint = /(?i)and|&|und|et/
pattern editor = /(?i)\(?eds?\.?\)?[.,:]?|editors?[.,:]?|edited/
pattern volume_word = /(?i)vol(ume)?s?\.?|no\.?|number|issue/
pattern page_word = /(?i)pp?\.?|pages?|pgs?\.?/
pattern preposition = /(?i)in:?|to|at|on|of/
lexicon months = "january" "february" "march" "april" "may" "june" "july" "august" "september"
    "october" "november" "december" "jan" "feb" "mar" "apr" "jun" "jul" "aug" "sep" "sept" "oct"
    "nov" "dec" "jan." "feb." "mar." "apr." "jun." "jul." "aug." "sep." "sept." "oct." "nov." "dec."
    "spring" "summer" "autumn" "fall" "winter"
lexicon venues = "proceedings" "proc" "proc." "conference" "conf" "conf." "symposium" "workshop"
    "journal" "j." "transactions" "trans" "trans." "annals" "letters" "review" "magazine"
    "bulletin" "lecture notes in computer science" "lncs" "advances in" "acm" "ieee"
    "communications" "international" "int." "annual" "meeting"
lexicon publishers = "press" "springer" "springer-verlag" "elsevier" "wiley" "john wiley"
    "academic press" "mit press" "cambridge university press" "oxford university press"
    "university press" "morgan kaufmann" "addison-wesley" "addison wesley" "prentice hall"
    "prentice-hall" "mcgraw-hill" "kluwer" "north-holland" "north holland" "birkhauser" "publishers"
    "publishing" "verlag" "inc." "ltd."
lexicon institutions = "university" "univ." "institute" "institut" "laboratory" "laboratories" "lab"
    "labs" "department" "dept" "dept." "school" "college" "center" "centre" "academy" "corporation"
    "research"
lexicon reports = "technical report" "tech. rep." "tech. report" "report" "tr" "memo" "manuscript"
    "phd thesis" "ph.d. thesis" "ph. d. thesis" "master 's thesis" "master's thesis" "thesis"
    "dissertation" "working paper" "preprint" "unpublished" "to appear" "in press" "submitted"
lexicon places = "new york" "london" "berlin" "cambridge" "oxford" "amsterdam" "boston" "paris"
    "san francisco" "los angeles" "chicago" "washington" "stanford" "san mateo" "new jersey"
    "heidelberg" "dordrecht" "philadelphia" "princeton" "ny" "ma" "ca" "nj" "uk" "usa" "germany"
    "france" "japan" "canada" "italy" "the netherlands"
bias
lower(word[-2..2])
lower(word[-1]) | lower(word[0])
lower(word[0]) | lower(word[1])
word
short_shape(word[-2..2])
ngrams(short_shape(word[-1..1]), 2..3)
shape(word)
prefix(lower(word), 1..4)
suffix(lower(word), 1..4)
position(12)
position(6) | short_shape(word)
first()
last()
match(year, word[-1..1])
match(range, word[-1..1])
match(volume_issue, word[-1..1])
match(number, word[-2..2])
match(ordinal, word)
search(has_digit, word[-1..1])
match(initial, word[-2..2])
match(capitalised, word[-2..2])
match(all_capitals, word[-1..1])
match(ends_in_point, word[-1..1])
match(ends_in_comma, word[-1..1])
match(punctuation, word[-1..1])
match(quote, word[-1..1])
match(address, word[-1..1])
match(identifier, word[-1..1])
match(et_al, word[-1..1])
match(joint, word[-1..1])
match(editor, word[-2..2])
match(volume_word, word[-2..2])
match(page_word, word[-2..2])
match(preposition, word[-1..1])
in(months, word[-1..1])
in(venues, word[-2..2])
in(publishers, word[-2..2])
in(institutions, word[-2..2])
in(reports, word[-2..2])
in(places, word[-1..1])
segment_start()[-1..1]
segment_start() | lower(word)
segment_start() | short_shape(word)
"""

_BUNDLES = {"chunking": _CHUNKING, "citation": _CITATION, "ner": _NER}

#: The names that :func:`bundle` knows.
BUNDLES = tuple(_BUNDLES)

# Words around the border of a segment, and the segment as a whole.
_SEGMENT_RULES = """
begin: lower(word[-1..0])
begin: short_shape(word)
end: lower(word[0..1])
segment: text
segment: shape
"""

# The default of an estimator: it needs tokens only.
DEFAULT_BUNDLE = "ner"


@cache
def bundle(name: str) -> Templates:
    """Return the templates of a bundle.

    Parameters
    ----------
    name : {"chunking", "citation", "ner"}
        ``chunking`` reads the column ``pos`` besides the tokens, the others the tokens only.
    """
    if name not in _BUNDLES:
        raise TemplateError(f"expected one of the bundles {', '.join(BUNDLES)}, got {name!r}.")
    return Templates.parse(_BUNDLES[name], origin=f"bundle {name}")


def with_segment_rules(templates: Templates) -> Templates:
    """Return templates with rules of whole segments, as bundles have in a semi-Markov model.

    These are the words around a segment's ends, the shape of its first token, its text and its
    shape as a whole, and its being a phrase of one of the lexicons. Templates that have rules of
    segments already are returned as they are.

    Parameters
    ----------
    templates : Templates
        In the template language, as those of :func:`bundle`.

    Raises
    ------
    TemplateError
        The templates come from a file of CRF++ or Wapiti, whose language has no such rules.
    """
    if templates.has_segments:
        return templates
    lexicons = "".join(f"segment: in({name})\n" for name in templates.lexicons)
    try:
        return Templates.parse(str(templates) + _SEGMENT_RULES + lexicons)
    except TemplateError as error:
        raise TemplateError(
            "rules of segments cannot be added to a file of CRF++ or Wapiti: expected templates "
            "in the language of trelliswork.features.templates."
        ) from error


def resolve(features: str | Templates | None, *, segments: bool = False) -> Templates:
    """Return the templates for an estimator's argument ``features``.

    Parameters
    ----------
    features : str, Templates or None
        The name of a bundle, template text, templates, or ``None`` for the default bundle.
    segments : bool, optional
        Whether the model is semi-Markov: bundles then get rules of segments
        (:func:`with_segment_rules`); your own templates are left as they are.
    """
    if features is None:
        features = DEFAULT_BUNDLE
    if isinstance(features, Templates):
        return features
    if not isinstance(features, str):
        raise TypeError(
            f"expected features as a bundle ({', '.join(BUNDLES)}), template text or Templates, "
            f"got {type(features).__name__}."
        )
    if features in _BUNDLES:
        return with_segment_rules(bundle(features)) if segments else bundle(features)
    if "\n" not in features and Path(features).is_file():
        raise TemplateError(
            f"{features!r} is a file: read it with Templates.from_file({features!r})."
        )
    # One plain word is a misspelt bundle more often than the name of a column.
    if features.strip().isidentifier() and features.strip() not in ("bias", "word", "token"):
        raise TemplateError(
            f"unknown bundle {features.strip()!r}; there are {', '.join(BUNDLES)}. "
            f"To use the column {features.strip()!r} as a template, write {features.strip()}[0]."
        )
    return Templates.parse(features)
