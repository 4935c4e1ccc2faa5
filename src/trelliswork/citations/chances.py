"""Probabilities of fields and readings under rules, and the rules that matter for them.

Probabilities are sums over a product of the model with the automata of rules, which grows with each
of them. A rule ``r`` that is left out has a factor ``g_r(y) = exp(−ρ_r v_r(y))`` of at most 1; its
effect on the sum over the others ``N`` takes one more automaton to compute:

    δ_r = 1 − Z_{N+r} / Z_N,        |P_N(A) − P_all(A)| ≤ Σ_r δ_r   for every event A

(``E[1 − Π g_r] ≤ Σ E[1 − g_r]``). So probabilities under all rules to within a tolerance take only
those rules that are likely to be broken.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from trelliswork.decoding.on_products import constrained_trellis
from trelliswork.decoding.probabilities import span_probabilities
from trelliswork.errors import TooLargeError
from trelliswork.inference.trellis import derive
from trelliswork.inference.verbs import log_partition
from trelliswork.planning.plan import Plan

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trelliswork._typing import BoolArray, FloatArray, IdArray, IntArray
    from trelliswork.inference.trellis import Trellis
    from trelliswork.labels.segments import Span
    from trelliswork.planning.evidence import Evidence


TOLERANCE = 1e-3
"""Largest error of probabilities under all rules."""

ARCS = 50_000
"""Maximum number of arcs of a product that is summed over; bounds time and memory for odd texts."""

ARCS_EXACT = 1_000_000
"""The same for probabilities under all rules."""


@dataclass(frozen=True)
class Scored:
    """Sentences, their scores without rules, and the evidence for the rules."""

    trellis: Trellis
    evidence: Evidence

    def take(self, members: IntArray) -> Scored:
        """Return some of the sentences by index; an index may be repeated."""
        return Scored(derive(self.trellis, sequences=members), self.evidence.take(members))


class Chances:
    """Probabilities under rules of a plan.

    Parameters
    ----------
    plan
        The rules of a model. Those that are functions cannot be summed over and are left out.
    arcs
        Maximum number of arcs of a product.
    """

    def __init__(self, plan: Plan, arcs: int = ARCS) -> None:
        self._plan = Plan(
            plan.labels,
            plan.constraints,
            model=plan.model,
            segmentation=plan.segmentation,
            training_budget=0,
            decoding_budget=max(plan.model.n_arcs, min(arcs, plan.decoding_budget)),
        ).with_penalties(plan.penalties)

    def of(
        self,
        part: Scored,
        rules: Sequence[int],
        tags: Sequence[IdArray],
        spans: Sequence[list[Span]],
    ) -> tuple[list[list[float]], list[float]]:
        """Return the probabilities of spans and of one labelling of each sentence.

        Where the product of all these rules is too large, the last of them are left out until it
        fits. The labelling breaks none that is hard.
        """
        product = self._largest_product(part, rules)
        sure = [own.tolist() for own in span_probabilities(self._plan, product, spans)]
        return sure, np.exp(self._log_probabilities(product, tags)).tolist()

    def scores(self, trellis: Trellis, tags: Sequence[IdArray]) -> FloatArray:
        """Return the score of one labelling of each sentence, shape ``(B,)``."""
        labels = self._plan.labels.encode(self._plan.names(np.concatenate(list(tags))))
        allowed = np.zeros((trellis.n_tokens, len(self._plan.labels)), dtype=bool)
        allowed[np.arange(trellis.n_tokens), labels] = True
        return log_partition(trellis, allowed=self._plan.tag_mask(allowed))

    def rules_that_matter(
        self, scored: Scored, tags: Sequence[IdArray], needed: BoolArray, in_force: BoolArray
    ) -> BoolArray:
        """Return rules that suffice for all probabilities to within `TOLERANCE`.

        The sums are measured by the probability of one labelling, ``Z_{N+r} / Z_N = P_N / P_{N+r}``
        for each that does not break ``r``.

        Parameters
        ----------
        scored
            The sentences.
        tags
            A labelling of each that breaks no rule but those of `needed` that are soft.
        needed
            Rules to begin with, shape ``(B, C)``.
        in_force
            All rules that count, shape ``(B, C)``.
        """
        found = needed.copy()
        for rules, members in group_by_rules(needed, np.arange(len(needed))):
            part, own = scored.take(members), [tags[i] for i in members]
            before = self._under(part, rules, own)
            taken = np.zeros((len(members), needed.shape[1]))
            for rule in np.flatnonzero(in_force[members].any(axis=0) & ~needed[members[0]]):
                taken[:, rule] = 1.0 - np.exp(before - self._under(part, [*rules, int(rule)], own))
            taken[~in_force[members]] = 0.0
            found[members] |= self._chosen(part, own, needed[members], taken, before)
        return found

    def _chosen(
        self,
        part: Scored,
        tags: Sequence[IdArray],
        needed: BoolArray,
        taken: FloatArray,
        before: FloatArray,
    ) -> BoolArray:
        """Return the rules to sum over, given the effect of each on the sum over `needed`."""
        order = np.argsort(taken, axis=1)
        running = np.take_along_axis(taken, order, axis=1).cumsum(axis=1)
        left = np.ones(len(needed))  # of the sum, under the rules that are added
        while True:
            kept = needed.copy()
            np.put_along_axis(kept, order, running > TOLERANCE * left[:, None], axis=1)
            kept |= needed
            now = np.empty(len(needed))
            for rules, members in group_by_rules(kept, np.arange(len(needed))):
                now[members] = self._under(part.take(members), rules, [tags[i] for i in members])
            # What is left out weighs more in a sum that has become smaller.
            rest = np.exp(before - now)
            if (np.where(kept, 0.0, taken).sum(axis=1) <= TOLERANCE * rest).all():
                return kept
            left = np.minimum(left / 2.0, rest)

    def _under(self, part: Scored, rules: Sequence[int], tags: Sequence[IdArray]) -> FloatArray:
        return self._log_probabilities(self._largest_product(part, rules), tags)

    def _log_probabilities(self, product: Trellis, tags: Sequence[IdArray]) -> FloatArray:
        return np.minimum(self.scores(product, tags) - log_partition(product), 0.0)

    def _largest_product(self, part: Scored, rules: Sequence[int]) -> Trellis:
        """Return sentences on the product with as many rules as fit, in the given order."""
        summed = [rule for rule in rules if rule not in self._plan.predicates]
        fitting, too_many = -1, len(summed) + 1
        tried = len(summed)  # nearly always they all fit
        while True:
            try:
                found = constrained_trellis(self._plan, part.trellis, part.evidence, summed[:tried])
                fitting = tried
            except TooLargeError:
                too_many = tried
            if too_many - fitting == 1:
                break
            tried = (fitting + too_many) // 2
        return found


def group_by_rules(needed: BoolArray, numbers: IntArray) -> Iterator[tuple[list[int], IntArray]]:
    """Yield groups of sentences that need the same rules, each with its rules."""
    patterns, group_of = np.unique(needed, axis=0, return_inverse=True)
    for group, pattern in enumerate(patterns):
        yield np.flatnonzero(pattern).tolist(), numbers[group_of.ravel() == group]
