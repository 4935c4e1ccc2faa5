"""What a model under rules reads in references, and how sure it is.

A field is as sure as the probability that this very run of tokens is this very field,

    P(y_{i-1} ≠ f, y_i = … = y_{j-1} = f, y_j ≠ f | x, rules)

under the model and the rules in the lazily built product: those that the best labelling breaks,
those that the best labelling under these breaks, and so on. Rules that none of them breaks change
nothing about the best labelling; they may change probabilities a little, and ``exact`` takes them
in. Where a product is too large, the sums are over the best 50 labellings that rules allow.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from trelliswork.constrained import constrained_trellis
from trelliswork.decoding import decode_batch, decode_nbest_batch
from trelliswork.derived import derive
from trelliswork.errors import TooLargeError
from trelliswork.inference import kbest, log_partition
from trelliswork.posteriors import span_probabilities

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from trelliswork.evidence import Evidence
    from trelliswork.segments import Span
    from trelliswork.sentence import Sentence
    from trelliswork.trained import TrainedTagger
    from trelliswork.trellis import Trellis

    IntArray = NDArray[np.int64]
    BoolArray = NDArray[np.bool_]
    Tags = NDArray[np.int32]

_BEST = 50


@dataclass(frozen=True, slots=True)
class Reading:
    """One labelling of a reference.

    Attributes
    ----------
    labels : list of str
        One a token.
    spans : list of (int, int, str)
        Its runs of equal labels.
    confidences : list of float
        Of each of them.
    confidence : float
        Of the whole.
    free_labels : list of str
        What the model alone says.
    broken : tuple of str
        The rules that `free_labels` break, where `labels` are others.
    others : list of (list of str, float)
        The next best labellings, with their probabilities.
    """

    labels: list[str]
    spans: list[Span]
    confidences: list[float]
    confidence: float
    free_labels: list[str]
    broken: tuple[str, ...]
    others: list[tuple[list[str], float]]


@dataclass(frozen=True)
class _Scored:
    """Sentences, their scores without rules, and what the rules see of them."""

    trellis: Trellis
    evidence: Evidence

    def take(self, members: IntArray) -> _Scored:
        return _Scored(derive(self.trellis, sequences=members), self.evidence.take(members))


class Reader:
    """Reads under the rules of a tagger.

    Parameters
    ----------
    tagger
        What was trained; its constraints are the rules.
    """

    def __init__(self, tagger: TrainedTagger) -> None:
        self._model = tagger.model_
        self._plan = tagger.plan_
        self._labels = tagger.labels_
        self._rules = [repr(rule) for rule in tagger.plan_.constraints]

    def read(
        self, sentences: Sequence[Sentence], *, exact: bool = False, alternatives: int = 0
    ) -> list[Reading]:
        """Return the best labelling of each sentence and how sure it is.

        Parameters
        ----------
        sentences
            Tokens of references; none is empty.
        exact
            Whether probabilities take all rules in: slow, some references a second.
        alternatives
            How many other labellings to give of each.
        """
        if not sentences:
            return []
        own = list(sentences)
        trellis = self._model.trellis(own)
        scored = _Scored(trellis, self._plan.evidence(own, trellis.offsets, range(len(own))))
        free = decode_batch(self._plan, trellis, scored.evidence, constraints=()).tags
        broken = self._broken(free, scored.evidence)
        tags, needed = self._ruled(scored, free, broken)
        if exact:
            needed[:] = True
        bounds = list(pairwise(trellis.offsets.tolist()))
        readings: list[Reading | None] = [None] * len(own)
        for rules, members in _groups(needed, np.arange(len(own))):
            part = scored.take(members)
            chosen = [tags[bounds[i][0] : bounds[i][1]] for i in members]
            names = [self._plan.names(one) for one in chosen]
            spans = [self._labels.spans(labels) for labels in names]
            sure, whole = self._confidences(part, rules, chosen, spans)
            others = self._others(part, rules, chosen, alternatives)
            for place, i in enumerate(members.tolist()):
                alone = self._plan.names(free[slice(*bounds[i])])
                why = () if alone == names[place] else np.flatnonzero(broken[i])
                readings[i] = Reading(
                    names[place],
                    spans[place],
                    sure[place],
                    whole[place],
                    alone,
                    tuple(self._rules[k] for k in why),
                    others[place],
                )
        return [reading for reading in readings if reading is not None]

    def _ruled(self, scored: _Scored, free: Tags, broken: BoolArray) -> tuple[Tags, BoolArray]:
        """Return the best labelling under all rules, and the rules that it took.

        Rules are added where an answer breaks them, until none does: the best under some rules that
        breaks no other is the best under all.
        """
        tags, needed = free.copy(), broken.copy()
        pending = np.flatnonzero(broken.any(axis=1))
        while pending.size:
            unsettled = []
            for rules, members in _groups(needed[pending], pending):
                part = scored.take(members)
                found = decode_batch(
                    self._plan,
                    part.trellis,
                    part.evidence,
                    constraints=rules,
                    on_infeasible="relax",
                ).tags
                for place, (first, last) in enumerate(pairwise(part.trellis.offsets)):
                    start = scored.trellis.offsets[members[place]]
                    tags[start : start + last - first] = found[first:last]
                grown = needed[members] | self._broken(found, part.evidence)
                unsettled.append(members[(grown != needed[members]).any(axis=1)])
                needed[members] = grown
            pending = np.concatenate(unsettled)
        return tags, needed

    def _broken(self, tags: Tags, evidence: Evidence) -> BoolArray:
        """Return which rules each labelling breaks, shape ``(B, C)``."""
        if not self._rules:
            return np.zeros((len(evidence.offsets) - 1, 0), dtype=bool)
        found: BoolArray = self._plan.violations(tags, evidence) > 0
        return found

    def _confidences(
        self,
        part: _Scored,
        rules: Sequence[int],
        tags: Sequence[Tags],
        spans: Sequence[list[Span]],
    ) -> tuple[list[list[float]], list[float]]:
        """Return how probable the spans, and whole labellings, are under some rules."""
        try:
            product = constrained_trellis(self._plan, part.trellis, part.evidence, rules)
        except TooLargeError:
            return self._counted(part, tags, spans)
        sure = [own.tolist() for own in span_probabilities(self._plan, product, spans)]
        return sure, np.exp(self._log_probability(product, tags)).tolist()

    def _log_probability(self, product: Trellis, tags: Sequence[Tags]) -> NDArray[np.float64]:
        """Return the log-probability of one labelling of each sentence, shape ``(B,)``."""
        labels = self._labels.encode(self._plan.names(np.concatenate(list(tags))))
        allowed = np.zeros((product.n_tokens, len(self._labels)), dtype=bool)
        allowed[np.arange(product.n_tokens), labels] = True
        mask = self._plan.tag_mask(allowed)
        found: NDArray[np.float64] = log_partition(product, allowed=mask) - log_partition(product)
        return np.minimum(found, 0.0)

    def _others(
        self, part: _Scored, rules: Sequence[int], tags: Sequence[Tags], k: int
    ) -> list[list[tuple[list[str], float]]]:
        """Return the best labellings of each sentence but the first, at most `k`."""
        found: list[list[tuple[list[str], float]]] = [[] for _ in tags]
        if not k:
            return found
        ranked = decode_nbest_batch(
            self._plan, part.trellis, part.evidence, k + 1, on_infeasible="relax"
        )
        for b, (first, last) in enumerate(pairwise(part.trellis.offsets.tolist())):
            best = [own.tags[first:last] for own in ranked if np.isfinite(own.scores[b])]
            others = [own for own in best if (own != tags[b]).any()][:k]
            if others:
                same = part.take(np.full(len(others), b))
                _, chances = self._confidences(same, rules, others, [[] for _ in others])
                names = [self._plan.names(own) for own in others]
                pairs = zip(names, chances, strict=True)
                # Where no product is small enough, the list may have some that rules forbid.
                found[b] = [pair for pair in pairs if pair[1] > 0.0]
        return found

    def _counted(
        self, part: _Scored, tags: Sequence[Tags], spans: Sequence[list[Span]]
    ) -> tuple[list[list[float]], list[float]]:
        """Return the probabilities among the best labellings, the given one included."""
        penalties = self._plan.penalties
        sure, whole = [], []
        for b, wanted in enumerate(spans):
            best = kbest(part.take(np.array([b])).trellis, _BEST)
            found = best.tags[np.isfinite(best.scores[0])]
            rows = np.vstack([tags[b], found[(found != tags[b]).any(axis=1)]])
            same = part.take(np.full(len(rows), b))
            degrees = self._plan.violations(rows.ravel(), same.evidence)
            costs = np.where(degrees > 0, np.maximum(degrees, 1) * penalties, 0.0).sum(axis=1)
            scores = self._log_probability(same.trellis, list(rows)) - costs
            odds = np.exp(scores - scores.max())
            shares = odds / odds.sum()
            readings = [set(self._labels.spans(self._plan.names(row))) for row in rows]
            sure.append(
                [float(shares[[span in reading for reading in readings]].sum()) for span in wanted]
            )
            whole.append(float(shares[0]))
        return sure, whole


def _groups(needed: BoolArray, numbers: IntArray) -> Iterator[tuple[list[int], IntArray]]:
    """Yield the sentences that need the same rules, with these rules."""
    patterns, group_of = np.unique(needed, axis=0, return_inverse=True)
    for group, pattern in enumerate(patterns):
        yield np.flatnonzero(pattern).tolist(), numbers[group_of.ravel() == group]
