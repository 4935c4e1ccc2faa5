"""The averaged structured perceptron, with constraints inside or after it.

Sentence by sentence, in a new random order each epoch, with the exact decoder of the library:

    ŷ = argmax_y [ w·Φ(x, y) − Σ_c ρ_c v_c(x, y) ]
    w ← w + a (Φ(x, y*) − Φ(x, ŷ))
    ρ_c ← max(0, ρ_c + a (v_c(x, ŷ) − v_c(x, y*)))        wCIBT only, from ρ = 0

with ``a`` the weight of the sentence, 1 by default. This is algorithm 1 of Chang, Ratinov and Roth,
"Constraints as Prior Knowledge" (2008); without constraints it is that of Collins (2002). The paper
prints the last line with the opposite sign, which would reward what is to be avoided. Under CIBT
``ρ = ∞``: gold labels that break such a rule still are what the weights move to.

The result is the average of the iterates ``(w_s, ρ_s)`` after every sentence. Scores are linear in
``(w, ρ)``, so that this is the average of what the iterates would say. What is averaged are the
penalties *after* the cut at 0, with which sentences were decoded: so their average is not negative.
After an epoch without a mistake nothing changes any more. The epochs that are left are not run, but
count in the average, so that stopping early gives what not stopping would.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from trelliswork.learn.counted_penalties import count_penalties
from trelliswork.learn.learner import Learned
from trelliswork.learn.mixing import mix_weights
from trelliswork.learn.perceptron_answers import ConstrainedAnswers, FreeAnswers
from trelliswork.learn.perceptron_passes import CorePass, Penalties, SentencePass, Sentences
from trelliswork.learn.perceptron_weights import PerceptronWeights

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from trelliswork.conflicts import OnInfeasible
    from trelliswork.features import Encoder
    from trelliswork.learn.protocols import Protocol
    from trelliswork.model import CRFModel
    from trelliswork.plan import Plan
    from trelliswork.structure import Structure

    FloatArray = NDArray[np.float64]

__all__ = ["PerceptronEpoch", "PerceptronLearned", "PerceptronLearner"]

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class PerceptronEpoch:
    """One line of the log of a perceptron.

    Attributes
    ----------
    iteration : int
        The epoch, counted from 1.
    mistakes : int
        Sentences whose answer was not the gold labelling.
    wrong_tokens : int
        Tokens whose label was not the gold one.
    seconds : float
        Since training began.
    dev_score : float or None
        Segment F1 on the development set, where there is one.
    """

    iteration: int
    mistakes: int
    wrong_tokens: int
    seconds: float
    dev_score: float | None = None

    def summary(self) -> str:
        """Return how the epoch went, in a few words."""
        return f"mistakes {self.mistakes:,} ({self.wrong_tokens:,} tokens)"


@dataclass(frozen=True, eq=False)
class PerceptronLearned(Learned):
    """What was learned, and how it went: one entry an epoch, and why there are no more."""

    log: tuple[PerceptronEpoch, ...]
    reason: str
    dev_score: float | None = None

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended learning early."""
        return self.reason == "interrupted"


@dataclass(eq=False)
class PerceptronLearner:
    """The perceptron as a way to learn ``(w, ρ)``; see `trelliswork.learn.learner`.

    Attributes
    ----------
    structure, encoder
        A chain of any order, and the features, settled.
    plan : Plan
        The constraints, as `training` decodes under them.
    training : str
        The protocol.
    epochs : int
        Most passes over the sentences.
    average : bool
        Whether to return the average of all iterates instead of the last.
    random_state : int or None
        Seed of the order of sentences; every call of `learn` begins with it anew.
    on_infeasible : str
        What to do in training with a sentence that no labelling fits.
    n_jobs : int or None
        Threads that make features; learning itself goes sentence by sentence.
    on_epoch : callable or None
        Called after every epoch.
    dev_score : callable or None
        From what is learned so far to a score; the best epoch is kept.
    patience : int
        Stop after so many epochs without a better score.
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

    def learn(
        self,
        sequences: Sequence[Any],
        names: Sequence[Sequence[str]],
        weights: FloatArray | None = None,
    ) -> PerceptronLearned:
        """Learn from labelled sequences; see `trelliswork.learn.learner.Learner.learn`.

        A sequence of weight 0 is left out. Ctrl-C after the first epoch keeps what is learned.
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
        return _Run(self, plan, sentences).finish()

    def mix(self, first: CRFModel, second: CRFModel, share: float) -> CRFModel:
        """Return `share` of the weights of the first model plus the rest of the second's."""
        return mix_weights(first, second, share)


class _Run:
    """One run of the perceptron over labelled sentences."""

    def __init__(self, learner: PerceptronLearner, plan: Plan, sentences: Sentences) -> None:
        self._learner, self._plan, self._sentences = learner, plan, sentences
        structure, features = learner.structure, sentences.features
        self._weights = PerceptronWeights(structure, features)
        self._penalties = Penalties(np.zeros(0))
        self._pass: SentencePass | CorePass
        if learner.training in ("CIBT", "wCIBT") and plan.constraints:
            self._penalties = Penalties(plan.penalties)
            answers = ConstrainedAnswers(
                plan, sentences.sequences, features.offsets, sentences.gold, learner.on_infeasible
            )
            self._pass = SentencePass(self._weights, sentences, answers, self._penalties)
        elif self._weights.edge is not None:
            answers_of_model = FreeAnswers(len(sentences))
            self._pass = SentencePass(self._weights, sentences, answers_of_model, self._penalties)
        else:
            self._pass = CorePass(self._weights, sentences)

    def finish(self) -> PerceptronLearned:
        """Run all epochs and return what came of them."""
        learner, began = self._learner, time.perf_counter()
        rng = np.random.default_rng(learner.random_state)
        log: list[PerceptronEpoch] = []
        reason = "max_iter"
        best: tuple[float, Learned, int] | None = None
        try:
            for number in range(1, learner.epochs + 1):
                mistakes, wrong = self._pass.run(rng.permutation(len(self._sentences)))
                score = None
                if learner.dev_score is not None:
                    found = self._result()
                    score = learner.dev_score(found)
                    if best is None or score > best[0]:
                        best = score, found, number
                seconds = time.perf_counter() - began
                log.append(PerceptronEpoch(number, mistakes, wrong, seconds, score))
                logger.info("epoch %d: %s", number, log[-1].summary())
                if learner.on_epoch is not None:
                    learner.on_epoch(log[-1])
                if not mistakes:
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
        result = self._result() if best is None else best[1]
        return PerceptronLearned(
            result.model, result.plan, tuple(log), reason, None if best is None else best[0]
        )

    def _skip(self, n_visits: int) -> None:
        """Count visits that would change nothing: the average is the same as if they were made."""
        self._weights.step += n_visits
        self._penalties.count(n_visits)

    def _result(self) -> Learned:
        average = self._learner.average
        plan = self._plan
        if self._penalties.learned.size:
            plan = plan.with_penalties(self._penalties.result(average=average))
        return Learned(self._weights.model(self._learner.encoder, average=average), plan)
