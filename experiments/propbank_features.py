"""PropBank sequences: what a model sees of a predicate and its sentence, and role sets.

A sequence is a sentence with one predicate, whose span ``V`` is given. Columns beside the words say
how each token relates to it; templates turn columns into features. No part of speech, no parse, no
vectors: words, affixes, shapes and distances.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from typing import TYPE_CHECKING, cast

import trelliswork as tw

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from trelliswork.constraints import Constraint

CORE = ("ARG0", "ARG1", "ARG2", "ARG3", "ARG4")
CONTINUATION = ("C-ARG1",)
N_OTHERS = 17  # non-core and reference roles of the paper's automaton; V is one of ours

TEMPLATES = """
bias
lower(word[-2..2])
lower(word[-1]) | lower(word[0])
lower(word[0]) | lower(word[1])
prefix(lower(word), 3)
suffix(lower(word), 2..3)
short_shape(word[-1..1])
side[0] | lower(word[-1])
side[0] | lower(word[0])
side[0] | lower(word[1])
side[0] | suffix(lower(word), 3)
side[0] | voice[0]
distance
distance[0] | voice[0]
distance[0] | lower(word[0])
distance[0] | stem[0]
distance[0] | ending[0]
side[0] | stem[0]
side[0] | predicate[0]
side[0] | voice[0] | stem[0]
stem[0] | lower(word[0])
stem[0] | lead[0] | side[0]
lead[0] | side[0]
lead[0] | distance[0]
between[0] | side[0]
between[0] | lead[0]
after_predicate[0] | side[0]
first()
last()
"""

LEADS = re.compile(
    r"about|above|across|after|against|along|among|around|as|at|because|before|behind|below|beside|between|"
    r"beyond|by|despite|down|during|except|for|from|if|in|inside|into|like|near|of|off|"
    r"on|onto|out|over|since|so|than|that|through|to|toward|towards|under|until|unless|up|"
    r"upon|when|where|whether|which|while|who|whom|whose|why|how|what|with|within|without|and|but|or"
)
BE = re.compile(r"be|is|are|was|were|been|being|am|'s|'re|'m|get|gets|got|getting")
STOPS = re.compile(r"[,;:.?!()\"-]|--|''|``")
ENDINGS = (("ies", "y"), ("ing", ""), ("ied", "y"), ("ed", ""), ("es", ""), ("s", ""))
DISTANCES = ((1, "1"), (2, "2"), (3, "3"), (5, "5"), (8, "8"), (15, "15"))


def with_columns(sentence: tw.Sentence) -> tw.Sentence:
    """Add the columns that tell how each token relates to the predicate."""
    words = [word.lower() for word in sentence.tokens]
    labels = cast("tuple[str, ...]", sentence.labels)
    mark = [label[0] if label in ("B-V", "I-V") else "-" for label in labels]
    at = mark.index("B")
    n = len(words)
    passive = words[at].endswith(("ed", "en", "wn", "nt", "ld", "ht", "ne", "de")) and any(
        BE.fullmatch(word) for word in words[max(0, at - 3) : at]
    )
    columns = {
        "mark": mark,
        "predicate": [words[at]] * n,
        "stem": [stem(words[at])] * n,
        "ending": [words[at][-3:]] * n,
        "voice": ["passive" if passive else "active"] * n,
        "after_predicate": [words[at + 1] if at + 1 < n else "_"] * n,
        "side": ["B" if t < at else "V" if t == at else "A" for t in range(n)],
        "distance": [bucket(t - at) for t in range(n)],
        "lead": leads(words),
        "between": between(words, at),
    }
    return tw.Sentence(sentence.tokens, columns, labels)


def stem(word: str) -> str:
    """Cut a verb's ending: not a lemma, but the same for most forms of a regular verb."""
    for ending, kept in (
        ("ies", "y"),
        ("ing", ""),
        ("ied", "y"),
        ("ed", ""),
        ("es", ""),
        ("s", ""),
    ):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)] + kept
    return word[:-1] if word.endswith("e") and len(word) > 3 else word


def bucket(offset: int) -> str:
    """Return the signed distance to the predicate, coarser the farther away."""
    sign = "-" if offset < 0 else "+"
    for limit, name in DISTANCES:
        if abs(offset) <= limit:
            return f"{sign}{name}" if offset else "0"
    return f"{sign}far"


def leads(words: Sequence[str]) -> list[str]:
    """Return for each token the last function word up to it since the last punctuation."""
    last, found = "_", []
    for word in words:
        if STOPS.fullmatch(word) or LEADS.fullmatch(word):
            last = word
        found.append(last)
    return found


def between(words: Sequence[str], at: int) -> list[str]:
    """Return how many punctuation marks lie between each token and the predicate, at most 3."""
    marks = [bool(STOPS.fullmatch(word)) for word in words]
    before = [0, *itertools.accumulate(marks)]  # marks before each token
    counts = [
        before[at] - before[t] if t < at else before[t + 1] - before[min(at, t) + 1]
        for t in range(len(words))
    ]
    return [str(min(3, count)) for count in counts]


def roles_of(sentences: Iterable[tw.Sentence]) -> Counter[str]:
    """Count the spans of each role, V included."""
    return Counter(
        str(label)[2:]
        for sentence in sentences
        for label in sentence.labels or ()
        if str(label).startswith("B-")
    )


def reduced_roles(counts: Counter[str]) -> tuple[str, ...]:
    """Return the other roles of the small model: V and the most frequent ones."""
    taken = {*CORE, *CONTINUATION}
    others = [
        role for role, _ in counts.most_common() if role not in taken and not role.startswith("C-")
    ]
    return tuple(others[:N_OTHERS])


def relabel(labels: Iterable[object], kept: frozenset[str]) -> list[str]:
    """Replace the labels of roles that are not kept by ``O``."""
    return [str(label) if str(label)[2:] in kept else "O" for label in labels]


def predicate_rules(labels: tw.LabelSet) -> tuple[Constraint, ...]:
    """Return the rules that give the span of the predicate to a model, as masks."""
    begin, inside = tw.token(regex="B", column="mark"), tw.token(regex="I", column="mark")
    rules = [tw.where(begin).allow("B-V"), tw.only_on(begin, "B-V")]
    if "I-V" in labels:  # a small sample may have no predicate of two words
        rules += [tw.where(inside).allow("I-V"), tw.only_on(inside, "I-V")]
    return tuple(rules)


def role_language(others: Sequence[str], labels: tw.LabelSet) -> tw.Automaton:
    """Return the paper's language over the labels of a model, for the roles that it knows."""
    known = {name[2:] for name in labels.names if name.startswith("B-")}
    groups = [[role for role in roles if role in known] for roles in (CORE, others, CONTINUATION)]
    return tw.srl_language(*groups, labels=labels.names)
