"""What the reference parser looks at: its templates, patterns and lexicons.

They stand in ``parser_features.txt``, in the template language, so that they can be read, changed
and given to a tagger of one's own. The lexicons are short lists of common knowledge: names of
people and places, publishers, the words of journals in full and abbreviated, and what announces
editors, theses, pages or notes in the languages references are mostly written in.
"""

from __future__ import annotations

from functools import cache
from importlib import resources

from trelliswork.features import Templates
from trelliswork.features.bundles import with_segment_rules

__all__ = ["parser_templates"]

_FILE = "parser_features.txt"


@cache
def parser_templates(*, segments: bool = False) -> Templates:
    """Return the templates of the reference parser; they read the tokens only.

    Parameters
    ----------
    segments
        Whether they are for a model of segments (``max_segment`` above 1): it also reads the words
        at both ends of a segment, its text and its shape, and whether it is a phrase of a lexicon.

    Examples
    --------
    >>> "in(months, word[0])" in parser_templates().names
    True
    """
    text = resources.files(__package__).joinpath(_FILE).read_text(encoding="utf-8")
    templates = Templates.parse(text, origin=_FILE)
    return with_segment_rules(templates) if segments else templates
