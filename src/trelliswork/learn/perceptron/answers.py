"""Answers of the structured perceptron under the current weights and penalties.

    ŷ = argmax_y [ w·Φ(x, y) − Σ_c ρ_c v_c(x, y) ]

exactly, within the node limit of a short branch and bound. If the best labelling without
constraints is the gold one, and breaks no constraint with a positive penalty, one Viterbi pass is
enough: as ``ρ ≥ 0``, it is the best with constraints as well. ``C`` constraints, ``T`` tokens.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from trelliswork.decoding.exact import decode_batch
from trelliswork.decoding.masks import open_labels
from trelliswork.errors import InfeasibleError
from trelliswork.inference.verbs import viterbi

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trelliswork._typing import FloatArray, IdArray, IntArray
    from trelliswork.decoding.conflicts import OnInfeasible
    from trelliswork.inference.trellis import Trellis
    from trelliswork.planning.plan import Plan


__all__ = ["Answer", "ConstrainedAnswers", "FreeAnswers"]

MAX_NODES = 100  # of branch and bound: each sentence is decoded again in later epochs


class Answer(NamedTuple):
    """``ŷ``, shape ``(T,)``, and its violations, shape ``(C,)``.

    If no penalties are learned, the violations are not needed and those of ``y*`` are given.
    """

    labels: IdArray
    violations: IntArray


class FreeAnswers:
    """Answers without constraints."""

    gold_violations: IntArray
    """``v(y*)``, shape ``(B, 0)``."""

    def __init__(self, n_sequences: int) -> None:
        self.gold_violations = np.zeros((n_sequences, 0), dtype=np.int64)

    def best(self, sequence: int, trellis: Trellis, penalties: FloatArray) -> Answer:
        """Return the best labelling of a sentence with a given trellis."""
        labels = viterbi(trellis, n_jobs=1).labels
        return Answer(labels, self.gold_violations[sequence])


class ConstrainedAnswers:
    """Answers under constraints whose penalties change.

    Parameters
    ----------
    plan
        The constraints.
    sequences, offsets
        The sentences, and the offsets of their tokens.
    gold
        ``y*`` of all of them, shape ``(N,)``.
    on_infeasible
        What to do with a sentence that cannot satisfy all constraints, as in `decode_batch`.
    """

    def __init__(
        self,
        plan: Plan,
        sequences: Sequence[Any],
        offsets: IntArray,
        gold: IdArray,
        on_infeasible: OnInfeasible,
    ) -> None:
        self._plan = plan
        self._learns_penalties = bool(np.isnan(plan.penalties).any())
        self._on_infeasible = on_infeasible
        # For infeasible sentences, the constraints that can hold together; they do not depend on
        # the scores. None if a search under them reached its limit without an answer.
        self._fitting: dict[int, tuple[int, ...]] = {}
        everything = plan.evidence(sequences, offsets)
        self.gold_violations: IntArray = plan.violations(gold, everything)
        mask = open_labels(plan, everything, range(len(plan.constraints)))
        bounds = list(zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True))
        self._masks = [None if mask is None else mask[first:last] for first, last in bounds]
        self._gold = [gold[first:last] for first, last in bounds]
        # Split after the token tests have run, as the parts share their results.
        self._evidence = [everything.take(np.array([b])) for b in range(len(bounds))]

    def best(self, sequence: int, trellis: Trellis, penalties: FloatArray) -> Answer:
        """Return the best labelling of a sentence with a given trellis.

        Parameters
        ----------
        sequence
            Index of the sentence.
        trellis
            Its scores.
        penalties
            ``ρ`` of all constraints, shape ``(C,)``.
        """
        labels = viterbi(trellis, allowed=self._masks[sequence], n_jobs=1).labels
        gold, of_gold = self._gold[sequence], self.gold_violations[sequence]
        if (labels == gold).all() and not of_gold[penalties > 0].any():
            return Answer(labels, of_gold)
        if (penalties != self._plan.penalties).any():
            # Derived from the last plan, which shares its compiled products.
            self._plan = self._plan.with_penalties(penalties)
        evidence = self._evidence[sequence]
        try:
            found = decode_batch(
                self._plan,
                trellis,
                evidence,
                constraints=self._fitting.get(sequence),
                on_infeasible=self._on_infeasible,
                max_nodes=MAX_NODES,
                n_jobs=1,
            )
        except InfeasibleError as error:
            error.sequence = sequence
            raise
        tags = found.tags
        if found.kept:
            self._fitting[sequence] = found.kept[0]
        if not self._learns_penalties or (tags == gold).all():
            return Answer(tags, of_gold)
        return Answer(tags, self._plan.violations(tags, evidence)[0])
