"""The structured perceptron for penalties.

Decode a sentence with the penalties so far, exactly, and compare the answer ``ŷ`` with the gold
labelling ``y*``:

    ρ_c ← max(0, ρ_c + η (v_c(ŷ) − v_c(y*)))

The penalty of a rule increases if the answer breaks it more than gold, and decreases if gold breaks
it more, but never below 0. ``B`` sentences, ``C`` rules whose penalty is learned.

With `l1` a proximal step, which subtracts ``η l1`` per epoch, follows every batch of ``b``
sentences:

    ρ_c ← max(0, ρ_c − η l1 b / B)

So a rule gets a penalty only if, in a pass over all sentences without it, answers have more than
`l1` violations beyond those of gold.

The result is the average over the second half of the epochs. An average of many iterates is hardly
ever exactly 0, but a penalty of 0 marks a useless rule. So the majority decides: a penalty is 0 if
it was 0 after most of the averaged steps, and the average otherwise. A penalty that never increased
is always 0. With `l1` the iterates after the proximal steps are averaged; those of weak rules are
mostly 0.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from trelliswork.learn.penalties.run import PenaltyEpoch, PenaltyRun

if TYPE_CHECKING:
    from collections.abc import Callable

    from trelliswork._typing import FloatArray, IntArray
    from trelliswork.learn.penalties.run import LearningProblem


__all__ = ["learn_by_perceptron"]

logger = logging.getLogger(__name__)


@dataclass
class _Average:
    """Sums of the iterates of each epoch, and counts of the positive penalties."""

    sums: list[FloatArray] = field(default_factory=list)
    positive: list[IntArray] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)

    def open_epoch(self, n_rules: int) -> None:
        self.sums.append(np.zeros(n_rules))
        self.positive.append(np.zeros(n_rules, dtype=np.int64))
        self.steps.append(0)

    def add(self, penalties: FloatArray) -> None:
        self.sums[-1] += penalties
        self.positive[-1] += penalties > 0
        self.steps[-1] += 1

    def value(self) -> FloatArray:
        """Return the average over the second half of the epochs, or 0 by majority."""
        half = len(self.steps) // 2
        steps = sum(self.steps[half:])
        mean = sum(self.sums[half:], np.zeros_like(self.sums[0])) / max(steps, 1)
        mostly = 2 * sum(self.positive[half:], np.zeros_like(self.positive[0])) > steps
        return np.where(mostly, mean, 0.0)


def learn_by_perceptron(
    problem: LearningProblem,
    *,
    n_epochs: int,
    learning_rate: float,
    l1: float = 0.0,
    average: bool,
    batch_size: int,
    rng: np.random.Generator,
    dev_score: Callable[[FloatArray], float] | None = None,
    patience: int = 3,
    on_epoch: Callable[[PenaltyEpoch], object] | None = None,
) -> PenaltyRun:
    """Learn penalties by the perceptron, starting from 0.

    Stops early after an epoch without a change, or after `patience` epochs without improvement on
    the development set. With a development set the best penalties are returned.

    Parameters
    ----------
    problem
        The problem.
    n_epochs
        Maximum number of passes over the sentences, each in a new random order.
    learning_rate
        ``η``.
    l1
        Number of violations per pass that a rule must prevent.
    average
        Whether to average; see the module. ``False``: return the last penalties.
    batch_size
        Number of sentences decoded with the same penalties; their updates are added.
    rng
        Random generator for the order.
    dev_score
        Maps penalties to a score; higher is better.
    patience
        Number of epochs without improvement before learning stops.
    on_epoch
        Called after every epoch.
    """
    began = time.perf_counter()
    penalties = np.zeros(problem.n_rules)
    iterates = _Average()
    log: list[PenaltyEpoch] = []
    found, best, reason = penalties, (-np.inf, penalties, 0), "max_epochs"
    for number in range(1, n_epochs + 1):
        iterates.open_epoch(problem.n_rules)
        updates, changed = 0, False
        order = rng.permutation(problem.n_sequences)
        for first in range(0, order.size, batch_size):
            batch = order[first : first + batch_size]
            change = problem.decode(penalties, batch).violations - problem.gold[batch]
            wrong = change.any(axis=1)
            before = penalties
            if wrong.any():
                penalties = np.maximum(0.0, before + learning_rate * change.sum(axis=0))
                updates += int(wrong.sum()) if (penalties != before).any() else 0
            if l1 > 0:
                share = batch.size / problem.n_sequences
                penalties = np.maximum(0.0, penalties - learning_rate * l1 * share)
            changed |= bool((penalties != before).any())
            iterates.add(penalties)
        # After an epoch without a change, averages converge to the last penalties.
        found = iterates.value() if average and changed else penalties
        score = None if dev_score is None else dev_score(found)
        epoch = PenaltyEpoch(
            number, updates, int((found > 0).sum()), time.perf_counter() - began, score
        )
        log.append(epoch)
        logger.info("epoch %d: %d updates, %d penalties above 0", number, updates, epoch.active)
        if on_epoch is not None:
            on_epoch(epoch)
        if score is not None and score > best[0]:
            best = score, found, number
        if not changed:
            reason = "converged"
            break
        if score is not None and number - best[2] >= patience:
            reason = "early_stopping"
            break
    return PenaltyRun(found if dev_score is None else best[1], reason, tuple(log))
