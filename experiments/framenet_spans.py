"""Candidate spans of a target: an over-generating heuristic from parts of speech alone.

Without a parse, every span of up to 40 tokens might be an argument. Each gets the sum of seven log
odds, counted on the training part: how much more often than others are spans with that left edge
(the tags on both sides of it), that right edge, that length and place beside the target, …
arguments of a target? The best 60 are the candidates. Evidence is counted as if all of it were
independent: this ranks spans, it does not give probabilities.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from framenet_data import Sentence, Target
    from numpy.typing import NDArray

    IntArray = NDArray[np.int64]
    HashArray = NDArray[np.uint64]

N_CANDIDATES = 60
MAX_LENGTH = 40
VERBS = frozenset("v")  # first letter of a verb's tag
MARKS = frozenset((",", ":", "(", ")", "sent"))

_BITS = 18
_SMOOTHING = 5.0
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)
# Places of a span beside its target.
FAR_BEFORE, NEAR_BEFORE, JUST_BEFORE, SAME, OVER, JUST_AFTER, NEAR_AFTER, FAR_AFTER = range(8)


def mix(*parts: HashArray | IntArray | int) -> HashArray:
    """Hash the rows of a few columns of integers into 64 bits each."""
    found = np.zeros(1, dtype=np.uint64)
    for part in parts:
        column = np.asarray(part).astype(np.uint64)
        found = (found ^ column) * _FACTOR
        found ^= found >> _SHIFT
    return found


def code(text: str) -> int:
    """Return a number for a string, the same in every run."""
    return zlib.crc32(text.encode())


def place(starts: IntArray, ends: IntArray, target: Target) -> IntArray:
    """Say where each span lies beside the target."""
    before, after = target.start - ends, starts - target.end
    found = np.full(len(starts), OVER)
    found[(starts == target.start) & (ends == target.end)] = SAME
    for gap, just, near, far in (
        (before, JUST_BEFORE, NEAR_BEFORE, FAR_BEFORE),
        (after, JUST_AFTER, NEAR_AFTER, FAR_AFTER),
    ):
        found[gap == 0] = just
        found[gap > 0] = near
        found[gap > 2] = far
    return found


class SpanFilter:
    """Finds candidate spans; :meth:`fit` learns what the edges of arguments look like."""

    def __init__(self, n_candidates: int = N_CANDIDATES) -> None:
        self.n_candidates = n_candidates
        self.log_odds = np.zeros(1 << _BITS)

    def fit(self, targets: Iterable[Target]) -> SpanFilter:
        """Count how often spans with each property are arguments."""
        arguments = np.full(1 << _BITS, 0.0)
        spans = np.full(1 << _BITS, 0.0)
        for target in targets:
            starts, ends, properties = _describe(target)
            gold = {(start, end) for _, start, end in target.arguments}
            is_gold = [span in gold for span in zip(starts.tolist(), ends.tolist(), strict=True)]
            np.add.at(spans, properties.ravel(), 1.0)
            np.add.at(arguments, properties[:, is_gold].ravel(), 1.0)
        share = arguments.sum() / max(spans.sum(), 1.0)
        if share > 0.0:
            self.log_odds = np.log(
                (arguments + _SMOOTHING * share)
                / (spans - arguments + _SMOOTHING * (1.0 - share))
                * ((1.0 - share) / share)
            )
        return self

    def propose(self, target: Target) -> IntArray:
        """Return the candidates of a target, sorted, shape ``(S, 2)``."""
        starts, ends, properties = _describe(target)
        scores = self.log_odds[properties].sum(axis=0)
        best = np.sort(np.argsort(-scores, kind="stable")[: self.n_candidates])
        return np.stack([starts[best], ends[best]], axis=1)


def recall(targets: Sequence[Target], candidates: Sequence[IntArray]) -> float:
    """Return the share of gold arguments whose span is a candidate."""
    found = total = 0
    for target, spans in zip(targets, candidates, strict=True):
        known = {(int(start), int(end)) for start, end in spans}
        found += sum((start, end) in known for _, start, end in target.arguments)
        total += len(target.arguments)
    return found / max(total, 1)


def _describe(target: Target) -> tuple[IntArray, IntArray, IntArray]:
    """Return starts, ends and hashed properties of all spans that do not cut into the target."""
    sentence = target.sentence
    starts, ends = _all_spans(len(sentence.tokens))
    cuts = (starts < target.start) & (ends > target.start) & (ends < target.end)
    cuts |= (starts > target.start) & (starts < target.end) & (ends > target.end)
    starts, ends = starts[~cuts], ends[~cuts]
    tags, verbs, marks = _tag_columns(sentence)  # tags[t + 1] is the tag of token t
    at = place(starts, ends, target)
    lengths = np.minimum(ends - starts, 8) + np.minimum((ends - starts) // 8, 5)
    inside = np.minimum(verbs[ends] - verbs[starts], 3) * 4
    inside += np.minimum(marks[ends] - marks[starts], 3)
    kind = code(target.unit.rpartition(".")[2])
    before, first, last, after = tags[starts], tags[starts + 1], tags[ends], tags[ends + 1]
    columns = [
        mix(1, at, before, first),
        mix(2, at, last, after),
        mix(3, at, lengths, kind),
        mix(4, first, last),
        mix(5, inside, lengths),
        mix(6, at, first, tags[target.start + 1]),
        mix(7, before, after),
    ]
    properties = np.stack(columns) >> np.uint64(64 - _BITS)
    return starts, ends, properties.astype(np.int64)


def _all_spans(n: int) -> tuple[IntArray, IntArray]:
    first, last = np.triu_indices(n)
    short = last - first < MAX_LENGTH
    return first[short], last[short] + 1


def _tag_columns(sentence: Sentence) -> tuple[HashArray, IntArray, IntArray]:
    """Return hashed tags with a border on both sides, and verbs and marks before each token."""
    tags = np.array([1, *map(code, sentence.tags), 2], dtype=np.uint64)
    verbs = np.cumsum([0, *(tag[:1] in VERBS or tag == "md" for tag in sentence.tags)])
    marks = np.cumsum([0, *(tag in MARKS for tag in sentence.tags)])
    return tags, verbs, marks
