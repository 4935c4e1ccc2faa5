"""What the structured perceptron answers, under the weights and the penalties of the moment.

    ŷ = argmax_y [ w·Φ(x, y) − Σ_c ρ_c v_c(x, y) ]

exactly, as far as a short branch and bound goes. Where the best labelling without constraints is
the gold one, and breaks none that cost anything, one Viterbi pass is enough: as ``ρ ≥ 0``, it is
the best with them. ``C`` constraints, ``T`` tokens.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from trelliswork.decoding.conflicts import open_labels
from trelliswork.decoding.exact import decode_batch
from trelliswork.errors import InfeasibleError
from trelliswork.inference.verbs import viterbi

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trelliswork._typing import FloatArray, IdArray, IntArray
    from trelliswork.decoding.conflicts import OnInfeasible
    from trelliswork.inference.trellis import Trellis
    from trelliswork.planning.plan import Plan


__all__ = ["Answer", "ConstrainedAnswers", "FreeAnswers"]

MOST_NODES = 100  # of branch and bound: an answer is wanted many times, and better ones come later


class Answer(NamedTuple):
    """``ŷ``, shape ``(T,)``, and how badly it breaks the constraints, shape ``(C,)``.

    Violations are looked up where penalties are learned from them, and else those of ``y*``.
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
        """Return the best labelling of one sentence, whose trellis is given."""
        labels = viterbi(trellis, n_jobs=1).labels
        return Answer(labels, self.gold_violations[sequence])


class ConstrainedAnswers:
    """Answers under constraints whose penalties change.

    Parameters
    ----------
    plan
        The constraints.
    sequences, offsets
        The sentences, and where their tokens lie.
    gold
        ``y*`` of all of them, shape ``(N,)``.
    on_infeasible
        What to do with a sentence that no labelling fits, as in `decode_batch`.
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
        # Constraints that fit a sentence together, where not all do: whatever the scores are. None
        # where a search under them has once come to its limit with nothing in hand.
        self._fitting: dict[int, tuple[int, ...]] = {}
        everything = plan.evidence(sequences, offsets)
        self.gold_violations: IntArray = plan.violations(gold, everything)
        mask = open_labels(plan, everything, range(len(plan.constraints)))
        bounds = list(zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True))
        self._masks = [None if mask is None else mask[first:last] for first, last in bounds]
        self._gold = [gold[first:last] for first, last in bounds]
        # Split up only now: what tests say of the tokens is known, and goes with the parts.
        self._evidence = [everything.take(np.array([b])) for b in range(len(bounds))]

    def best(self, sequence: int, trellis: Trellis, penalties: FloatArray) -> Answer:
        """Return the best labelling of one sentence, whose trellis is given.

        Parameters
        ----------
        sequence
            Its number.
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
            # From the last plan: it has what was compiled for those before it.
            self._plan = self._plan.with_penalties(penalties)
        evidence = self._evidence[sequence]
        try:
            found = decode_batch(
                self._plan,
                trellis,
                evidence,
                constraints=self._fitting.get(sequence),
                on_infeasible=self._on_infeasible,
                max_nodes=MOST_NODES,
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
