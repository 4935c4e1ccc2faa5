"""A tagger under rules, small enough to list all its labellings."""

from __future__ import annotations

import itertools

import trelliswork as tw
from trelliswork.constraints import (
    at_most,
    only_on,
    precedes,
    token,
)

YEAR = token(regex=r"\d+")
X = [["a", "b", "1"], ["b", "a", "2"], ["a", "a", "b"], ["b", "1"]]
Y = [["A", "T", "Y"], ["T", "A", "Y"], ["A", "A", "T"], ["T", "Y"]]
RULES = (at_most(1, "T"), only_on(YEAR, "Y"), precedes("A", "Y"))


def fitted(constraints=RULES, **options) -> tw.CRFTagger:
    options = {"features": "word[0]", "l2": 0.1, "transitions": "all", "max_iter": 30} | options
    return tw.CRFTagger(constraints=constraints, **options).fit(X, Y)


def labellings(tagger, sentence, rules):
    """All labellings that satisfy rules, with their scores under the model."""
    trellis = tagger.model_.trellis([sentence])
    found = {}
    for ids in itertools.product(range(len(tagger.labels_)), repeat=len(sentence)):
        names = tuple(tagger.labels_.names[y] for y in ids)
        if any(rule.violations(names, sentence, scheme=tagger.labels_) for rule in rules):
            continue
        score = sum(trellis.scores[t, 0, y] for t, y in enumerate(ids))
        score += sum(tagger.model_.transitions[a, y] for a, y in itertools.pairwise(ids))
        found[names] = float(score)
    return found
