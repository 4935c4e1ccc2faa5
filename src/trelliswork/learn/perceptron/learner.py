"""The averaged structured perceptron, with constraints inside or after it.

Sentence by sentence, in a new random order each epoch, with the exact decoder of the library:

    ŷ = argmax_y [ w·Φ(x, y) − Σ_c ρ_c v_c(x, y) ]
    w ← w + a (Φ(x, y*) − Φ(x, ŷ))
    ρ_c ← max(0, ρ_c + a (v_c(x, ŷ) − v_c(x, y*)))        wCIBT only, from ρ = 0

with ``a`` the weight of the sentence, 1 by default. This is algorithm 1 of Chang, Ratinov and Roth,
"Constraints as Prior Knowledge" (2008); without constraints it is that of Collins (2002). The paper
prints the last line with the opposite sign, which would reward violations. Under CIBT ``ρ = ∞``;
the weights move to the gold labels even if these break a rule.

The result is the average of the iterates ``(w_s, ρ_s)`` after every sentence. Scores are linear in
``(w, ρ)``, so this averages the scores of the iterates. Penalties are averaged *after* the
truncation at 0, so their average is not negative. After an epoch without a mistake nothing changes
any more: the remaining epochs are not run but counted in the average, so that stopping early gives
the same result. This does not hold with a regularizer, see
`trelliswork.learn.perceptron.shrinkage`.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from trelliswork.learn.learner import Learned
from trelliswork.learn.mixing import mix_weights
from trelliswork.learn.penalties.counts import count_penalties
from trelliswork.learn.perceptron.answers import ConstrainedAnswers, FreeAnswers
from trelliswork.learn.perceptron.passes import CorePass, Penalties, SentencePass, Sentences
from trelliswork.learn.perceptron.shrinkage import Shrinkage, Sparsity
from trelliswork.learn.perceptron.weights import PerceptronWeights

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from trelliswork._typing import FloatArray, IntArray
    from trelliswork.decoding.conflicts import OnInfeasible
    from trelliswork.features import Encoder
    from trelliswork.learn.perceptron.shrinkage import Support
    from trelliswork.learn.protocols import Protocol
    from trelliswork.models.model import CRFModel
    from trelliswork.models.structure import Structure
    from trelliswork.planning.plan import Plan


__all__ = ["PerceptronEpoch", "PerceptronLearned", "PerceptronLearner"]

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class PerceptronEpoch:
    """One epoch in the log of a perceptron.

    Attributes
    ----------
    iteration : int
        Number of the epoch, from 1.
    mistakes : int
        Number of sentences with a wrong answer.
    wrong_tokens : int
        Number of tokens with a wrong label.
    seconds : float
        Time since the start of training.
    dev_score : float or None
        Segment F1 on the development set; None without one.
    nonzero : int or None
        Number of nonzero weights, with l1 or a regularizer.
    """

    iteration: int
    mistakes: int
    wrong_tokens: int
    seconds: float
    dev_score: float | None = None
    nonzero: int | None = None

    def summary(self) -> str:
        """Return a summary of the epoch in a few words."""
        weights = "" if self.nonzero is None else f", weights {self.nonzero:,}"
        return f"mistakes {self.mistakes:,} ({self.wrong_tokens:,} tokens){weights}"


@dataclass(frozen=True, eq=False)
class PerceptronLearned(Learned):
    """A learned perceptron with its log, stop reason and score."""

    log: tuple[PerceptronEpoch, ...]
    reason: str
    dev_score: float | None = None

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C stopped learning."""
        return self.reason == "interrupted"


@dataclass(eq=False)
class PerceptronLearner:
    """Learns ``(w, ρ)`` by the averaged perceptron; see `trelliswork.learn.learner`.

    Attributes
    ----------
    structure, encoder
        The structure, a chain of any order, and the fitted encoder.
    plan : Plan
        The constraints for decoding under the protocol.
    training : str
        The protocol.
    epochs : int
        Maximum number of passes over the sentences.
    average : bool
        Whether to return the average of all iterates instead of the last.
    random_state : int or None
        Seed of the order of sentences; every call of `learn` starts from it.
    on_infeasible : str
        What to do in training with a sentence that cannot satisfy all constraints.
    n_jobs : int or None
        Number of threads for feature extraction; learning is sequential.
    on_epoch : callable or None
        Called after every epoch.
    dev_score : callable or None
        Maps the current result to a score; the best epoch is kept.
    patience : int
        Number of epochs without improvement before training stops.
    sparsity : Sparsity
        The regularizer. Default: none.
    """

    structure: Structure
    encoder: Encoder
    plan: Plan
    training: Protocol
    epochs: int = 20
    average: bool = True
    random_state: int | None = None
    on_infeasible: OnInfeasible = "error"
    n_jobs: int | None = None
    on_epoch: Callable[[PerceptronEpoch], object] | None = None
    dev_score: Callable[[Learned], float] | None = None
    patience: int = 3
    sparsity: Sparsity = field(default_factory=Sparsity)

    def learn(
        self,
        sequences: Sequence[Any],
        names: Sequence[Sequence[str]],
        weights: FloatArray | None = None,
    ) -> PerceptronLearned:
        """Learn from labelled sequences; see `trelliswork.learn.learner.Learner.learn`.

        Sequences of weight 0 are left out. Ctrl-C after the first epoch keeps the result so far.
        """
        used = range(len(names)) if weights is None else np.flatnonzero(weights).tolist()
        sequences, names = [sequences[b] for b in used], [names[b] for b in used]
        own = np.ones(len(names)) if weights is None else weights[weights > 0]
        plan = self.plan
        if self.training == "L+wCI" and plan.constraints:
            counted = count_penalties(plan.constraints, sequences, names, plan.labels, own)
            plan = plan.with_penalties(counted)
        sentences = Sentences(
            sequences,
            self.encoder.transform(sequences, n_jobs=self.n_jobs),
            self.structure.encode(names).ids,
            own,
        )
        run = _Run(self, plan, sentences)
        found = run.finish()
        if not (self.sparsity.debias and self.sparsity.is_on) or found.interrupted:
            return found
        again = _Run(self, plan, sentences, run.support, found.log)
        try:
            return again.finish()
        except KeyboardInterrupt:
            return replace(found, reason="interrupted")

    def mix(self, first: CRFModel, second: CRFModel, share: float) -> CRFModel:
        """Return the convex combination of the weights of two models."""
        return mix_weights(first, second, share)


class _Run:
    """One run of the perceptron over labelled sentences.

    Parameters
    ----------
    learner, plan, sentences
        The settings, the constraints and the training set.
    survivors
        Weights and penalties to learn, without a regularizer. Default: all, with the regularizer.
    earlier
        The log of an earlier run.

    Attributes
    ----------
    support : Support or None
        The nonzero weights and penalties of the result; None without a regularizer.
    """

    def __init__(
        self,
        learner: PerceptronLearner,
        plan: Plan,
        sentences: Sentences,
        survivors: Support | None = None,
        earlier: tuple[PerceptronEpoch, ...] = (),
    ) -> None:
        self._learner, self._plan, self._sentences = learner, plan, sentences
        self._earlier = earlier
        self.support: Support | None = None
        structure, features = learner.structure, sentences.features
        self._weights = PerceptronWeights(structure, features)
        self._penalties = Penalties(np.zeros(0))
        self._pass: SentencePass | CorePass
        if learner.training in ("CIBT", "wCIBT") and plan.constraints:
            given = plan.penalties
            self._penalties = Penalties(
                given if survivors is None else survivors.held_penalties(given)
            )
            answers = ConstrainedAnswers(
                plan, sentences.sequences, features.offsets, sentences.gold, learner.on_infeasible
            )
            self._pass = SentencePass(self._weights, sentences, answers, self._penalties)
        elif self._weights.edge is not None:
            answers_of_model = FreeAnswers(len(sentences))
            self._pass = SentencePass(self._weights, sentences, answers_of_model, self._penalties)
        else:
            self._pass = CorePass(self._weights, sentences)
        self._shrinkage = None
        if survivors is not None:
            survivors.hold(self._weights)
        elif learner.sparsity.is_on:
            self._shrinkage = Shrinkage(
                learner.sparsity, self._weights, self._penalties, learner.encoder, len(sentences)
            )

    def finish(self) -> PerceptronLearned:
        """Run all epochs and return the result."""
        learner, earlier = self._learner, self._earlier
        n_before = len(earlier)
        began = time.perf_counter() - (earlier[-1].seconds if earlier else 0.0)
        rng = np.random.default_rng(learner.random_state)
        log: list[PerceptronEpoch] = []
        reason = "max_iter"
        best: tuple[float, Learned, int, Support | None] | None = None
        try:
            for number in range(1, learner.epochs + 1):
                mistakes, wrong = self._epoch(rng.permutation(len(self._sentences)))
                score = None
                if learner.dev_score is not None:
                    found = self._result()
                    score = learner.dev_score(found)
                    if best is None or score > best[0]:
                        best = score, found, number, self.support
                seconds = time.perf_counter() - began
                alive = None if self._shrinkage is None else self._shrinkage.n_alive
                log.append(
                    PerceptronEpoch(n_before + number, mistakes, wrong, seconds, score, alive)
                )
                logger.info("epoch %d: %s", n_before + number, log[-1].summary())
                if learner.on_epoch is not None:
                    learner.on_epoch(log[-1])
                if not mistakes and self._shrinkage is None:
                    reason = "converged"
                    self._skip((learner.epochs - number) * len(self._sentences))
                    break
                if best is not None and number - best[2] >= learner.patience:
                    reason = "early_stopping"
                    break
        except KeyboardInterrupt:
            if not log:
                raise
            reason = "interrupted"
        if best is None:
            score, result = None, self._result()
        else:
            score, result, _, self.support = best
        return PerceptronLearned(result.model, result.plan, (*earlier, *log), reason, score)

    def _epoch(self, order: IntArray) -> tuple[int, int]:
        """Learn from sentences in this order; return the numbers of wrong sentences and tokens."""
        shrinkage = self._shrinkage
        if shrinkage is None:
            return self._pass.run(order)
        mistakes = wrong = 0
        for batch in shrinkage.batches(order):
            found = self._pass.run(batch)
            mistakes, wrong = mistakes + found[0], wrong + found[1]
            shrinkage.step(batch.size)
        return mistakes, wrong

    def _skip(self, n_visits: int) -> None:
        """Count visits without a change, as if they were made, in the average."""
        self._weights.step += n_visits
        self._penalties.count(n_visits)

    def _result(self) -> Learned:
        average, plan = self._learner.average, self._plan
        alive = self.support = None if self._shrinkage is None else self._shrinkage.support()
        if np.isnan(plan.penalties).any() and self._penalties.values.size:
            own = None if alive is None else alive.penalties
            plan = plan.with_penalties(self._penalties.result(average=average, support=own))
        tables = None if alive is None else alive.tables
        model = self._weights.model(self._learner.encoder, average=average, support=tables)
        return Learned(model, plan)
