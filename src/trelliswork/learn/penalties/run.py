"""What the ways to learn penalties have in common: what they learn from, and what they return.

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
        How badly each breaks the rules, shape ``(b, C)``.
    scores
        Their scores without the penalties that are learned, and with their loss where that was
        asked for, shape ``(b,)``.
    """

    violations: IntArray
    scores: FloatArray


class LearningProblem(Protocol):
    """Sentences with gold labels, and exact decoding with any penalties.

    Attributes
    ----------
    n_sequences, n_rules
        ``B`` and ``C``.
    gold
        How badly gold labels break the rules, shape ``(B, C)``.
    gold_scores
        The scores of gold labels without the penalties that are learned, shape ``(B,)``.
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
            Which, shape ``(b,)``.
        loss
            Whether to add the number of tokens whose label is not the gold one to the score.
        """
        ...


@dataclass(frozen=True)
class PenaltyEpoch:
    """One line of the log of learning penalties.

    Attributes
    ----------
    number : int
        Counted from 1.
    updates : int
        Sentences that changed a penalty; for the SVM, that gave a new cutting plane.
    active : int
        Penalties above 0 after it.
    seconds : float
        Since learning began.
    dev_score : float or None
        Segment F1 on the development set, where there is one.
    objective, bound : float or None
        For the SVM: its value at the best penalties so far, and what no penalties go below.
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
    """What came of learning: the penalties, shape ``(C,)``, why it stopped, and the log."""

    penalties: FloatArray
    reason: str
    log: tuple[PenaltyEpoch, ...]
