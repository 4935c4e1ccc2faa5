"""What a model under rules reads in references, and how sure it is.

A field is as sure as the probability that this very run of tokens is this very field,

    P(y_{i-1} ≠ f, y_i = … = y_{j-1} = f, y_j ≠ f | x, rules)

under the model and the rules in the lazily built product: those that the best labelling breaks,
those that the best labelling under these breaks, and so on. Rules that none of them breaks change
nothing about the best labelling; they may change probabilities a little, and ``exact`` takes them
in. Where a product is too large, the sums are over the best 50 labellings that rules allow.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from trelliswork.constraints.reading import Reading as JudgedLabels
from trelliswork.errors import TooLargeError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from trelliswork.sentence import Sentence
    from trelliswork.segments import Span
    from trelliswork.trained import TrainedTagger

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
    confidences : numpy.ndarray
        Of each of them, shape ``(n_spans,)``.
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
    confidences: NDArray[np.float64]
    confidence: float
    free_labels: list[str]
    broken: tuple[str, ...]
    others: list[tuple[list[str], float]]


class Reader:
    """A tagger with and without its rules.

    Parameters
    ----------
    tagger
        What was trained; its constraints are the rules.
    """

    def __init__(self, tagger: TrainedTagger) -> None:
        self.ruled = tagger
        self.rules = tuple(tagger.plan_.constraints)
        self.free = tagger.with_constraints(())
        self._under: dict[tuple[int, ...], TrainedTagger] = {(): self.free}

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
        free = self.free.predict(sentences)
        answers = self.ruled.decode(sentences) if self.rules else []
        found = [answer.labels for answer in answers] if answers else free
        everything = tuple(range(len(self.rules)))
        groups: dict[tuple[int, ...], list[int]] = defaultdict(list)
        broken: dict[int, tuple[str, ...]] = {}
        for i, (own, alone) in enumerate(zip(found, free, strict=True)):
            needed: tuple[int, ...] = ()
            if own != alone or (answers and answers[i].violations):
                needed = self._needed(sentences[i], alone)
            if own != alone:
                broken[i] = tuple(repr(self.rules[k]) for k in self._broken(sentences[i], alone))
            groups[everything if exact else needed].append(i)
        readings: dict[int, Reading] = {}
        for rules, members in groups.items():
            own_sentences = [sentences[i] for i in members]
            own_labels = [found[i] for i in members]
            spans = [self.ruled.labels_.spans(labels) for labels in own_labels]
            sure, whole = self._confidences(rules, own_sentences, own_labels, spans)
            others = self._others(rules, own_sentences, own_labels, alternatives)
            for place, i in enumerate(members):
                readings[i] = Reading(
                    found[i],
                    spans[place],
                    sure[place],
                    whole[place],
                    free[i],
                    broken.get(i, ()),
                    others[place],
                )
        return [readings[i] for i in range(len(sentences))]

    def _others(
        self,
        rules: tuple[int, ...],
        sentences: Sequence[Sentence],
        labels: Sequence[list[str]],
        k: int,
    ) -> list[list[tuple[list[str], float]]]:
        """Return the `k` best labellings of each sentence but the best one."""
        if not k:
            return [[] for _ in sentences]
        try:
            answers = self.ruled.decode_nbest(sentences, k + 1)
            best = [[answer.labels for answer in own] for own in answers]
        except TooLargeError:
            best = [
                [other for other, _ in self._filtered(sentence, _BEST)][: k + 1]
                for sentence in sentences
            ]
        found = [
            [other for other in own if other != first][:k]
            for own, first in zip(best, labels, strict=True)
        ]
        repeated = [sentence for sentence, own in zip(sentences, found, strict=True) for _ in own]
        if not repeated:
            return [[] for _ in sentences]
        flat = [other for own in found for other in own]
        _, chances = self._confidences(rules, repeated, flat, [[] for _ in flat])
        shares = iter(chances)
        return [[(other, next(shares)) for other in own] for own in found]

    def _confidences(
        self,
        rules: tuple[int, ...],
        sentences: Sequence[Sentence],
        labels: Sequence[list[str]],
        spans: Sequence[list[Span]],
    ) -> tuple[list[NDArray[np.float64]], list[float]]:
        tagger = self._tagger(rules)
        try:
            sure = tagger.span_probability(sentences, spans)
            whole = np.exp(tagger.log_probability(sentences, labels)).tolist()
        except TooLargeError:
            return self._counted(sentences, labels, spans)
        return sure, whole

    def _counted(
        self,
        sentences: Sequence[Sentence],
        labels: Sequence[list[str]],
        spans: Sequence[list[Span]],
    ) -> tuple[list[NDArray[np.float64]], list[float]]:
        """Return the probabilities among the best labellings alone."""
        sure, whole = [], []
        for sentence, own, wanted in zip(sentences, labels, spans, strict=True):
            best = _with_shares(self._filtered(sentence, _BEST, own))
            readings = [(set(self.ruled.labels_.spans(other)), share) for other, share in best]
            sure.append(
                np.array([sum(p for other, p in readings if span in other) for span in wanted])
            )
            whole.append(sum(share for other, share in best if other == own))
        return sure, whole

    def _filtered(
        self, sentence: Sentence, k: int, own: list[str] | None = None
    ) -> list[tuple[list[str], float]]:
        """Return those of the `k` best of the model alone that hard rules allow, and `own`."""
        problem = self.ruled.problem(sentence)
        (answers,) = self.free.decode_nbest([sentence], k)
        candidates = [answer.labels for answer in answers]
        if own is not None and own not in candidates:
            candidates.append(own)
        valued = [(labels, problem.value(labels)) for labels in candidates]
        return sorted((pair for pair in valued if pair[1] > -np.inf), key=lambda pair: -pair[1])

    def _needed(self, sentence: Sentence, labels: list[str]) -> tuple[int, ...]:
        """Return the rules of the lazily built product, from the answer of the model alone."""
        needed: set[int] = set()
        answer = labels
        while fresh := set(self._broken(sentence, answer)) - needed:
            needed |= fresh
            (answer,) = self._tagger(tuple(sorted(needed))).predict([sentence])
        return tuple(sorted(needed))

    def _broken(self, sentence: Sentence, labels: list[str]) -> list[int]:
        judged = JudgedLabels(labels, sentence, self.ruled.labels_)
        return [k for k, rule in enumerate(self.rules) if rule.degree(judged)]

    def _tagger(self, rules: tuple[int, ...]) -> TrainedTagger:
        if rules not in self._under:
            self._under[rules] = self.ruled.with_constraints([self.rules[k] for k in rules])
        return self._under[rules]


def _with_shares(ranked: list[tuple[list[str], float]]) -> list[tuple[list[str], float]]:
    """Turn scores, the best first, into shares of ``exp(score)``."""
    if not ranked:
        return []
    odds = np.exp(np.array([score for _, score in ranked]) - ranked[0][1])
    shares = (odds / odds.sum()).tolist()
    return [(labels, share) for (labels, _), share in zip(ranked, shares, strict=True)]
