"""Constraint-driven learning (CoDL) from few labels, constraints and unlabelled sequences.

    (w, ρ) = (w₀, ρ₀) = learn(L)
    for N cycles:
        T = { (x, argmax_y score_w(x, y) − Σ_c ρ_c v_c(x, y)) : x ∈ U }
        (w, ρ) = γ (w₀, ρ₀) + (1 − γ) learn(T)

Algorithm 2 of Chang, Ratinov and Roth, "Constraints as Prior Knowledge" (2008). The supervised
model keeps the share ``γ`` in every cycle, so that the many predicted labels do not outweigh the
few gold ones. Without constraints this is self-training.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from trelliswork.errors import DataError, TooLargeError
from trelliswork.evaluation.report import report
from trelliswork.learn.hmm import HMMLearner
from trelliswork.learn.learner import Learned
from trelliswork.learn.mixing import mix_penalties
from trelliswork.planning.plan import TRAINING_BUDGET, Plan
from trelliswork.planning.training import USUAL_LENGTH

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from trelliswork.learn.learner import Learner
    from trelliswork.learn.pool import Labelling, UnlabelledPool

    Labelled = tuple[list[Any], Sequence[Sequence[str]]]

__all__ = ["CODLRun", "Cycle", "Settings", "learn_with_unlabelled"]

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Settings:
    """Settings of a CoDL run; see `trelliswork.CODLTagger`."""

    gamma: float
    cycles: int
    labelling: str = "top1"
    k: int = 1
    temperature: float = 1.0
    include_labelled: bool = False
    tol: float = 0.0
    patience: int = 3
    n_jobs: int | None = None


@dataclass(frozen=True)
class Cycle:
    """One cycle of the learning curve.

    Attributes
    ----------
    iteration : int
        Number of the cycle, from 1; 0 is the supervised model.
    changed : float or None
        Share of the unlabelled tokens whose best label differs from the previous cycle; 1 in the
        first cycle.
    violations_before, violations_after : float or None
        Mean violations of an unlabelled sequence, ``Σ_c v_c``: of the best labelling by score
        alone, and of the best under constraints. Sequences that cannot satisfy all constraints are
        included. None without constraints.
    mean_score : float or None
        Mean score of the best labellings under constraints, less their penalties.
    n_infeasible : int
        Number of unlabelled sequences that cannot satisfy all constraints. They are left out of
        learning.
    dev_score : float or None
        Token accuracy on the development set after the cycle; None without one.
    seconds : float
        Time since the start of training.
    """

    iteration: int
    changed: float | None
    violations_before: float | None
    violations_after: float | None
    mean_score: float | None
    n_infeasible: int
    dev_score: float | None
    seconds: float

    def summary(self) -> str:
        """Return a summary of the cycle in a few words."""
        if self.changed is None:
            return "supervised"
        found = [] if self.iteration == 1 else [f"changed {self.changed:.2%}"]
        if self.violations_before is not None:
            found.append(f"violations {self.violations_before:.2f} → {self.violations_after:.2f}")
        if self.n_infeasible:
            found.append(f"infeasible {self.n_infeasible:,} (counted, not learned from)")
        return ", ".join(found) or "first labels"


@dataclass(frozen=True, eq=False)
class CODLRun:
    """Result of a CoDL run: best model, its cycle, stop reason and learning curve."""

    learned: Learned
    kept: int
    reason: str
    curve: list[Cycle]


def learn_with_unlabelled(
    learner: Learner,
    labelled: Labelled,
    pool: UnlabelledPool,
    settings: Settings,
    *,
    dev: Labelled | None = None,
    on_cycle: Callable[[Cycle], object] | None = None,
) -> CODLRun:
    """Run constraint-driven learning.

    Ctrl-C ends the run and keeps the last model. Before the supervised model is learned, the
    interruption is raised.

    Parameters
    ----------
    learner
        The learner.
    labelled
        ``L``, the labelled sequences and their labels.
    pool
        ``U``, the unlabelled sequences.
    settings
        The settings of the run.
    dev
        Development set, as sequences and labels: keep the best model on it, and stop early.
    on_cycle
        Called with the supervised model and after every cycle.

    Raises
    ------
    DataError
        If no unlabelled sequence has a labelling that satisfies the constraints.
    """
    began = time.perf_counter()
    first = now = learner.learn(*labelled)
    reached = 0
    curve: list[Cycle] = []
    best: tuple[float, int, Learned] | None = None
    labels: Labelling | None = None
    reason = "interrupted"

    def note(number: int, changed: float | None) -> None:
        nonlocal best
        accuracy = None if dev is None else _accuracy(now, dev, settings.n_jobs)
        if accuracy is not None and (best is None or accuracy > best[0]):
            best = accuracy, number, now
        curve.append(
            Cycle(
                number,
                changed,
                None if labels is None else labels.violations_before,
                None if labels is None else labels.violations_after,
                None if labels is None else labels.mean_score,
                0 if labels is None else labels.n_infeasible,
                accuracy,
                time.perf_counter() - began,
            )
        )
        logger.info("cycle %d: %s", number, curve[-1].summary())
        if on_cycle is not None:
            on_cycle(curve[-1])

    try:
        note(0, None)
        if not first.interrupted:
            reason = "cycles"
            for number in range(1, settings.cycles + 1):
                earlier, labels = labels, pool.label(now, settings.k, settings.temperature)
                changed = labels.changed_since(earlier)
                logger.info("cycle %d: learns from %d labellings", number, len(labels.names))
                found = _learn_from(learner, labels, pool, labelled, now, settings)
                now, reached = _mix(learner, first, found, settings.gamma), number
                note(number, changed)
                if found.interrupted:
                    reason = "interrupted"
                    break
                if changed <= settings.tol and _is_settled(labels, earlier, settings):
                    reason = "converged"
                    break
                if best is not None and number - best[1] >= settings.patience:
                    reason = "early_stopping"
                    break
    except KeyboardInterrupt:
        reason = "interrupted"
    if labels is not None and labels.n_infeasible:
        logger.warning(
            "%d of %d unlabelled sequences cannot satisfy all constraints and were not learned "
            "from",
            labels.n_infeasible,
            len(pool.sequences),
        )
    if best is not None:
        return CODLRun(best[2], best[1], reason, curve)
    return CODLRun(now, reached, reason, curve)


def _is_settled(labels: Labelling, earlier: Labelling | None, settings: Settings) -> bool:
    """Return whether the labellings to learn from have converged, given that the best have.

    ``"top1"`` learns from the best labellings alone. Otherwise the weights of the others may still
    change, which shows in the mean score.
    """
    if settings.labelling == "top1" or earlier is None:
        return True
    moved = abs(labels.mean_score - earlier.mean_score)
    return moved <= settings.tol * (1.0 + abs(labels.mean_score))


def _learn_from(
    learner: Learner,
    labels: Labelling,
    pool: UnlabelledPool,
    labelled: Labelled,
    now: Learned,
    settings: Settings,
) -> Learned:
    """Return ``learn(T)``."""
    if not labels.numbers:
        raise DataError(
            "unlabelled: expected sequences that satisfy the constraints, but no labelling of any "
            "of them does. Make constraints soft, or drop some."
        )
    if settings.labelling == "posterior":
        assert isinstance(learner, HMMLearner)  # checked by the tagger
        known = learner.count(*labelled) if settings.include_labelled else None
        feasible = [pool.sequences[u] for u in dict.fromkeys(labels.numbers)]
        found = learner.learn_expected(feasible, _with_summation_plan(now), labelled=known)
        return Learned(found.model, now.plan)
    sequences = [pool.sequences[u] for u in labels.numbers]
    names: list[Sequence[Any]] = list(labels.names)
    weights = labels.weights
    if settings.include_labelled:
        sequences += labelled[0]
        names += labelled[1]
        weights = np.concatenate([weights, np.ones(len(labelled[1]))])
    return learner.learn(sequences, names, None if (weights == 1.0).all() else weights)


def _with_summation_plan(learned: Learned) -> Learned:
    """Return the model under a plan whose decoding budget is that of training.

    Raises
    ------
    TooLargeError
        If the product for sums over all labellings exceeds that budget.
    """
    plan = learned.plan
    if not plan.constraints:
        return learned
    limited = Plan(plan.labels, plan.constraints, model=plan.model, decoding_budget=TRAINING_BUDGET)
    limited = limited.with_penalties(plan.penalties)
    try:
        if limited.soft:
            limited.terms.product(range(len(limited.terms)), USUAL_LENGTH)
        else:
            _ = limited.hard.product()
    except TooLargeError as error:
        raise TooLargeError(
            f"labelling='posterior': sums over all labellings need a product of more than "
            f"{TRAINING_BUDGET:,} arcs with these {len(plan.constraints)} constraints. Use "
            "labelling='topk', which does without, or fewer constraints."
        ) from error
    return Learned(learned.model, limited)


def _mix(learner: Learner, first: Learned, found: Learned, gamma: float) -> Learned:
    """Return ``γ (w₀, ρ₀) + (1 − γ) (w, ρ)``."""
    penalties = mix_penalties(first.plan.penalties, found.plan.penalties, gamma)
    return Learned(
        learner.mix(first.model, found.model, gamma), first.plan.with_penalties(penalties)
    )


def _accuracy(learned: Learned, dev: Labelled, n_jobs: int | None) -> float:
    found = learned.model.decode(dev[0], learned.plan, n_jobs=n_jobs)
    return report(dev[1], found).token_accuracy
