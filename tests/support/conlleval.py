"""The rules of CoNLL's evaluation, written down a second time as an oracle.

State machine over the tokens of all sentences, a boundary being an O: a chunk ends or begins
between two tokens by a table of tag pairs and by a change of type, and a chunk is right while both
sides began it together, with one type, and end it together.
"""

from __future__ import annotations

from collections import Counter

ENDS = {("B", "B"), ("B", "O"), ("I", "B"), ("I", "O")}
BEGINS = {("B", "B"), ("I", "B"), ("O", "B"), ("O", "I")}


def evaluate(gold, predicted):
    """Return token accuracy and ``{type: (right, predicted, gold)}``."""
    right, guessed, wanted = Counter(), Counter(), Counter()
    hits = tokens = 0
    before = (("O", ""), ("O", ""))
    together = False
    for pair in boundaries(gold, predicted):
        now = tuple(split(label) for label in pair)
        ended = [ends(a, b) for a, b in zip(before, now, strict=True)]
        begun = [begins(a, b) for a, b in zip(before, now, strict=True)]
        if together:
            if all(ended) and before[0][1] == before[1][1]:
                together = False
                right[before[0][1]] += 1
            elif ended[0] != ended[1] or now[0][1] != now[1][1]:
                together = False
        if all(begun) and now[0][1] == now[1][1]:
            together = True
        wanted[now[0][1]] += begun[0]
        guessed[now[1][1]] += begun[1]
        if pair != BOUNDARY:
            hits += now[0] == now[1]
            tokens += 1
        before = now
    types = {t for t in wanted | guessed if wanted[t] or guessed[t]}
    return hits / tokens if tokens else 0.0, {t: (right[t], guessed[t], wanted[t]) for t in types}


BOUNDARY = ("O ", "O ")  # unlike any label, so that it is not counted as a token


def boundaries(gold, predicted):
    for a, b in zip(gold, predicted, strict=True):
        yield from zip(a, b, strict=True)
        yield BOUNDARY


def split(label):
    tag, _, kind = label.strip().partition("-")
    return tag, kind


def ends(before, now):
    return (before[0], now[0]) in ENDS or (before[0] != "O" and before[1] != now[1])


def begins(before, now):
    return (before[0], now[0]) in BEGINS or (now[0] != "O" and before[1] != now[1])
