"""Common types of penalty learning: the problem, its answers, the log and the result.

``B`` sentences, ``C`` rules whose penalty is learned.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from trelliswork._typing import FloatArray, IntArray


__all__ = ["Answers", "LearningProblem", "PenaltyEpoch", "PenaltyRun"]


class Answers(NamedTuple):
    """The best labellings of ``b`` sentences.

    Attributes
    ----------
    violations
        Their violations of the rules, shape ``(b, C)``.
    scores
        Their scores without the learned penalties, plus the loss if requested, shape ``(b,)``.
    """

    violations: IntArray
    scores: FloatArray


class LearningProblem(Protocol):
    """Sentences with gold labels, and exact decoding under any penalties.

    Attributes
    ----------
    n_sequences, n_rules
        ``B`` and ``C``.
    gold
        Violations of the rules by the gold labels, shape ``(B, C)``.
    gold_scores
        Scores of the gold labels without the learned penalties, shape ``(B,)``.
    """

    @property
    def n_sequences(self) -> int: ...  # noqa: D102
    @property
    def n_rules(self) -> int: ...  # noqa: D102
    @property
    def gold(self) -> IntArray: ...  # noqa: D102
    @property
    def gold_scores(self) -> FloatArray: ...  # noqa: D102

    def decode(self, penalties: FloatArray, sequences: IntArray, *, loss: bool = False) -> Answers:
        """Return ``argmax_y score(y) − ρ · v(y)`` of some sentences.

        Parameters
        ----------
        penalties
            ``ρ``, shape ``(C,)``.
        sequences
            Indices of the sentences, shape ``(b,)``.
        loss
            Whether to add the number of wrong tokens to the score.
        """
        ...


@dataclass(frozen=True)
class PenaltyEpoch:
    """One epoch in the log of penalty learning.

    Attributes
    ----------
    number : int
        Number of the epoch, from 1.
    updates : int
        Number of sentences that changed a penalty; for the SVM, that gave a new cutting plane.
    active : int
        Number of penalties above 0 after the epoch.
    seconds : float
        Time since the start of learning.
    dev_score : float or None
        Segment F1 on the development set; None without one.
    objective, bound : float or None
        For the SVM: the objective at the best penalties so far, and a lower bound on it.
    """

    number: int
    updates: int
    active: int
    seconds: float
    dev_score: float | None = None
    objective: float | None = None
    bound: float | None = None


@dataclass(frozen=True, eq=False)
class PenaltyRun:
    """Result of penalty learning: penalties of shape ``(C,)``, stop reason and log."""

    penalties: FloatArray
    reason: str
    log: tuple[PenaltyEpoch, ...]
