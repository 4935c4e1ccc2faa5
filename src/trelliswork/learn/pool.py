"""A pool of unlabelled sequences, labelled under constraints in every cycle of CoDL.

    ŷ_u = argmax_y score(y) − Σ_c ρ_c v_c(y)

or the ``k`` best of each, where the ``i``-th has the weight ``exp(P(y_i)/τ) / Σ_j exp(P(y_j)/τ)``.
``U`` sequences, ``C`` constraints.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from trelliswork.decoding.exact import decode_batch, decode_nbest_batch
from trelliswork.features.inputs import sequence_length
from trelliswork.models.batches import scored_batches
from trelliswork.planning.plan import Plan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trelliswork._typing import FloatArray, IdArray
    from trelliswork.learn.learner import Learned
    from trelliswork.planning.evidence import Evidence


__all__ = ["Labelling", "UnlabelledPool"]


@dataclass(frozen=True, eq=False)
class Labelling:
    """The labels that a model under constraints gives to unlabelled sequences.

    Attributes
    ----------
    best : list of list of str
        The best labelling of each sequence.
    numbers : list of int
        Index of the sequence of each labelling to learn from.
    names : list of list of str
        These labellings: one or more per sequence, none if it cannot satisfy all constraints.
    weights : numpy.ndarray
        Their weights, which sum to 1 for each sequence.
    n_infeasible : int
        Number of sequences that cannot satisfy all constraints.
    violations_before, violations_after : float or None
        Mean over sequences of ``Σ_c v_c``: of the best labelling by score alone, and of that under
        constraints. None without constraints.
    mean_score : float
        Mean of the scores of the best labellings under constraints.
    """

    best: list[list[str]]
    numbers: list[int]
    names: list[list[str]]
    weights: FloatArray
    n_infeasible: int
    violations_before: float | None
    violations_after: float | None
    mean_score: float

    def changed_since(self, earlier: Labelling | None) -> float:
        """Return the share of tokens whose best label has changed; 1 if there is no earlier one."""
        if earlier is None:
            return 1.0
        n_tokens = sum(map(len, self.best))
        changed = sum(
            now != before
            for own, old in zip(self.best, earlier.best, strict=True)
            for now, before in zip(own, old, strict=True)
        )
        return changed / max(1, n_tokens)


class UnlabelledPool:
    """Unlabelled sequences with their evidence, which is computed once.

    Parameters
    ----------
    sequences
        The sequences.
    n_jobs
        Threads.
    """

    def __init__(self, sequences: list[Any], n_jobs: int | None = None) -> None:
        self.sequences = sequences
        self._n_jobs = n_jobs
        self._evidence: dict[int, Evidence] = {}  # by the first sequence of a batch

    def label(self, learned: Learned, k: int = 1, temperature: float = 1.0) -> Labelling:
        """Return the best labellings of all sequences under constraints.

        Parameters
        ----------
        learned
            The model, and the constraints with their penalties.
        k
            Number of labellings per sequence.
        temperature
            ``τ`` in their weights.
        """
        plan = learned.plan
        bare = Plan(plan.labels, (), model=plan.model, segmentation=plan.segmentation)
        best: list[list[str]] = []
        numbers: list[int] = []
        names: list[list[str]] = []
        weights: list[float] = []
        before = after = total = 0.0
        n_infeasible = 0
        for batch in scored_batches(learned.model, plan, self.sequences, self._n_jobs):
            evidence = self._evidence_of(plan, batch.numbers, batch.sequences)
            ranks = decode_nbest_batch(
                plan, batch.trellis, evidence, k, on_infeasible="relax", n_jobs=self._n_jobs
            )
            free = decode_batch(bare, batch.trellis, evidence, n_jobs=self._n_jobs)
            before += _count(plan, free.tags, evidence)
            after += _count(plan, ranks[0].tags, evidence)
            total += float(ranks[0].scores.sum())
            n_infeasible += len(ranks[0].kept)
            share = softmax(np.stack([rank.scores for rank in ranks], axis=1) / temperature)
            # Tags of missing answers are -1; such labellings have weight 0.
            read = [plan.names(np.maximum(rank.tags, 0)) for rank in ranks]
            for b, (first, last) in enumerate(pairwise(evidence.offsets.tolist())):
                best.append(read[0][first:last])
                if b in ranks[0].kept:
                    continue
                for own, weight in zip(read, share[b].tolist(), strict=True):
                    if weight > 0.0:
                        numbers.append(batch.numbers[b])
                        names.append(own[first:last])
                        weights.append(weight)
        n_sequences = max(1, len(self.sequences))
        return Labelling(
            best,
            numbers,
            names,
            np.array(weights),
            n_infeasible,
            before / n_sequences if plan.constraints else None,
            after / n_sequences if plan.constraints else None,
            total / n_sequences,
        )

    def _evidence_of(self, plan: Plan, numbers: range, sequences: Sequence[Any]) -> Evidence:
        """Return the evidence of a batch, cached: token tests run once."""
        found = self._evidence.get(numbers.start)
        if found is None:
            lengths = [0, *map(sequence_length, sequences)]
            found = plan.evidence(sequences, np.cumsum(lengths).astype(np.int64), numbers)
            self._evidence[numbers.start] = found
        return found


def softmax(scores: FloatArray) -> FloatArray:
    """Return ``exp(s) / Σ exp(s)`` of each row.

    Examples
    --------
    >>> softmax(np.array([[0.0, np.log(3.0), -np.inf]])).round(6).tolist()
    [[0.25, 0.75, 0.0]]
    """
    shifted = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(shifted / shifted.sum(axis=1, keepdims=True))


def _count(plan: Plan, tags: IdArray, evidence: Evidence) -> float:
    """Return ``Σ_b Σ_c v_c`` of the labellings of a batch."""
    found = float(plan.violations(tags, evidence).sum())
    if not plan.masks or not tags.size:
        return found
    labels = plan.labels.encode(plan.names(tags))
    filled = evidence.offsets[:-1][np.diff(evidence.offsets) > 0]
    for constraint in plan.masks:
        mask = evidence.mask((plan.constraints[constraint],))
        assert mask is not None  # by the definition of plan.masks
        wrong = ~mask[np.arange(labels.size), labels]
        found += float(np.logical_or.reduceat(wrong, filled).sum())
    return found
