"""`Reader`: labellings of references under rules, and their probabilities.

The confidence of a field is the probability that exactly this run of tokens is the field: it begins
at the first of them and ends at the last,

    P(y_{i-1} ≠ f, y_i = … = y_{j-1} = f, y_j ≠ f | x, rules)

with plain labels; in other schemes a field may also follow one of the same name. The rules are
those in the lazily built product: those that the best labelling breaks, those that the best
labelling under these breaks, and so on. Rules that none of them breaks change nothing about the
best labelling; they do change probabilities, mostly little, and ``exact`` takes them in, to within
`trelliswork.citations.chances.TOLERANCE`. Where a product is too large, as it may be for a text
that is many references or none, the last rules are left out of probabilities, never of the answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from trelliswork.citations.chances import ARCS_EXACT, Chances, Scored, group_by_rules
from trelliswork.decoding.exact import decode_batch, decode_nbest_batch
from trelliswork.errors import InfeasibleError, SearchLimitError, TooLargeError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trelliswork._typing import BoolArray, FloatArray, IdArray, IntArray
    from trelliswork.data.sentence import Sentence
    from trelliswork.labels.segments import Span
    from trelliswork.planning.evidence import Evidence
    from trelliswork.taggers.trained import TrainedTagger


@dataclass(frozen=True, slots=True)
class Reading:
    """One labelling of a reference, with its probabilities.

    Attributes
    ----------
    labels : list of str
        The labels, one a token.
    spans : list of (int, int, str)
        Its runs of equal labels.
    confidences : list of float
        Probability of each of them.
    confidence : float
        Probability of the whole labelling.
    free_labels : list of str
        The labels of the model alone.
    broken : tuple of str
        The rules that `free_labels` break, if `labels` differ from them.
    others : list of (list of str, float)
        The next best labellings under all rules, with their probabilities, the highest first.
    """

    labels: list[str]
    spans: list[Span]
    confidences: list[float]
    confidence: float
    free_labels: list[str]
    broken: tuple[str, ...]
    others: list[tuple[list[str], float]]


class Reader:
    """A tagger that labels references under its rules.

    Parameters
    ----------
    tagger
        The tagger; its constraints are the rules. If no labelling obeys all of them, the
        last given of those that conflict are relaxed, whatever its ``on_infeasible`` says.
    """

    def __init__(self, tagger: TrainedTagger) -> None:
        self._model = tagger.model_
        self._plan = tagger.plan_
        self._labels = tagger.labels_
        self._rules = [repr(rule) for rule in tagger.plan_.constraints]
        self._is_hard = np.array([not rule.is_soft for rule in tagger.plan_.constraints], bool)

    @cached_property
    def _chances(self) -> Chances:
        return Chances(self._plan)

    @cached_property
    def _exact_chances(self) -> Chances:
        return Chances(self._plan, ARCS_EXACT)

    def read(
        self,
        sentences: Sequence[Sentence],
        *,
        exact: bool = False,
        alternatives: int = 0,
        by_field: bool = True,
    ) -> list[Reading]:
        """Return the best labelling of each sentence with its confidence.

        Parameters
        ----------
        sentences
            Tokens of references; none is empty.
        exact
            Whether probabilities include all rules, to within `TOLERANCE`: slow, some references a
            second.
        alternatives
            Most other labellings of each.
        by_field
            Whether to say how sure each field is. Otherwise each has the confidence of the whole,
            which is not above its own, at a fraction of the time.
        """
        if not sentences:
            return []
        own = list(sentences)
        trellis = self._model.trellis(own)
        scored = Scored(trellis, self._plan.evidence(own, trellis.offsets, range(len(own))))
        free = decode_batch(self._plan, trellis, scored.evidence, constraints=()).tags
        broken = self._broken(free, scored.evidence)
        tags, needed, in_force = self._ruled(scored, free, broken)
        bounds = list(pairwise(trellis.offsets.tolist()))
        answers = [tags[first:last] for first, last in bounds]
        chances = self._exact_chances if exact else self._chances
        if exact:
            needed = chances.rules_that_matter(scored, answers, needed, in_force)
        readings: list[Reading | None] = [None] * len(own)
        for rules, members in group_by_rules(needed, np.arange(len(own))):
            part = scored.take(members)
            chosen = [answers[i] for i in members]
            names = [self._plan.names(one) for one in chosen]
            spans = [self._labels.spans(labels) for labels in names]
            sure, whole = chances.of(
                part, rules, chosen, spans if by_field else [[] for _ in spans]
            )
            if not by_field:
                sure = [[p] * len(own_spans) for p, own_spans in zip(whole, spans, strict=True)]
            others = self._others(part, chosen, whole, in_force[members], alternatives)
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

    def _ruled(
        self, scored: Scored, free: IdArray, broken: BoolArray
    ) -> tuple[IdArray, BoolArray, BoolArray]:
        """Return the best labelling under all rules, the rules used for it, and those in force.

        Rules are added where an answer breaks them, until none does: the best under some rules that
        breaks no other is the best under all. Hard rules that a sentence cannot obey together are
        relaxed, the last given first, and are not in force there.
        """
        tags, needed = free.copy(), broken.copy()
        pending = np.flatnonzero(broken.any(axis=1))
        while pending.size:
            unsettled = []
            for rules, members in group_by_rules(needed[pending], pending):
                part = scored.take(members)
                found = self._best(part, rules)
                for place, (first, last) in enumerate(pairwise(part.trellis.offsets)):
                    start = scored.trellis.offsets[members[place]]
                    tags[start : start + last - first] = found[first:last]
                grown = needed[members] | self._broken(found, part.evidence)
                unsettled.append(members[(grown != needed[members]).any(axis=1)])
                needed[members] = grown
            pending = np.concatenate(unsettled)
        relaxed = self._broken(tags, scored.evidence) & self._is_hard
        return tags, needed & ~relaxed, ~relaxed

    def _best(self, part: Scored, rules: Sequence[int]) -> IdArray:
        """Return the best labellings under some rules; if there is none, under all that fit."""
        plan, trellis, evidence = self._plan, part.trellis, part.evidence
        try:
            return decode_batch(plan, trellis, evidence, constraints=rules).tags
        except (InfeasibleError, SearchLimitError, TooLargeError):
            return decode_batch(plan, trellis, evidence, on_infeasible="relax").tags

    def _broken(self, tags: IdArray, evidence: Evidence) -> BoolArray:
        """Return which rules each labelling breaks, shape ``(B, C)``."""
        return self._degrees(tags, evidence) > 0

    def _degrees(self, tags: IdArray, evidence: Evidence) -> IntArray:
        """Return the violations of each rule in each labelling, shape ``(B, C)``."""
        if not self._rules:
            return np.zeros((len(evidence.offsets) - 1, 0), dtype=np.int64)
        found: IntArray = self._plan.violations(tags, evidence)
        if self._plan.masks:  # whose violations the plan does not count
            names = self._plan.names(tags)
            for b, (first, last) in enumerate(pairwise(evidence.offsets.tolist())):
                for rule in self._plan.masks:
                    found[b, rule] = self._plan.constraints[rule].violations(
                        names[first:last], evidence.sentences[b], scheme=self._labels
                    )
        return found

    def _others(
        self,
        part: Scored,
        tags: Sequence[IdArray],
        whole: Sequence[float],
        in_force: BoolArray,
        k: int,
    ) -> list[list[tuple[list[str], float]]]:
        """Return up to `k` further labellings of each sentence, the best ones after the first.

        Each is as many times less probable than the first as its score under all rules is lower.
        """
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
                rows = [tags[b], *others]
                values = self._values(part.take(np.full(len(rows), b)), rows, in_force[b])
                odds = np.exp(np.minimum(values[1:] - values[0], 0.0)) * whole[b]
                # Where no product is small enough, the list may have some that rules forbid.
                kept = [i for i in np.argsort(-odds, kind="stable") if odds[i] > 0.0]
                found[b] = [(self._plan.names(others[i]), float(odds[i])) for i in kept]
        return found

    def _values(self, same: Scored, rows: Sequence[IdArray], in_force: BoolArray) -> FloatArray:
        """Return the scores of labellings of one sentence minus their penalties, shape ``(K,)``."""
        degrees = np.where(in_force, self._degrees(np.concatenate(list(rows)), same.evidence), 0)
        costs = np.where(degrees > 0, np.maximum(degrees, 1) * self._plan.penalties, 0.0)
        values: FloatArray = self._chances.scores(same.trellis, rows) - costs.sum(axis=1)
        return values
