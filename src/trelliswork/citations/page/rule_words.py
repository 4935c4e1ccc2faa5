"""Rules in words, as the page says them."""

from __future__ import annotations

import re

__all__ = ["rule_in_words"]

_SOFT = re.compile(r"\.soft\([^()]*\)$")
_COUNT = re.compile(r"(at_most|at_least|exactly)\((\d+), '([^']*)'\)")
_PAIR = re.compile(r"(excludes|precedes|requires)\('([^']*)', '([^']*)'\)")
_COUNTED = {"at_most": "at most", "at_least": "at least", "exactly": "exactly"}
_PAIRED = {
    "excludes": "no {0} together with {1}",
    "precedes": "{0} comes before {1}",
    "requires": "{0} only together with {1}",
}
_NUMBERS = {"0": "no", "1": "one", "2": "two", "3": "three"}


def rule_in_words(rule: str) -> str:
    """Say a rule in words; one that there are no words for is said as it is written.

    >>> rule_in_words("at_most(1, 'title')")
    'at most one title'
    >>> rule_in_words("precedes('author', 'title').soft(0.7)")
    'preferably, author comes before title'
    """
    hard = _SOFT.sub("", rule)
    preferably = "" if hard == rule else "preferably, "
    if found := _COUNT.fullmatch(hard):
        kind, number, label = found.groups()
        return f"{preferably}{_COUNTED[kind]} {_NUMBERS.get(number, number)} {label}"
    if found := _PAIR.fullmatch(hard):
        kind, *labels = found.groups()
        return preferably + _PAIRED[kind].format(*labels)
    if hard.startswith("changes_only_at("):
        return f"{preferably}a field ends at a mark"
    return rule
