"""Run an optimiser on an objective, with a development set and a training log."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from threadpoolctl import threadpool_limits

from trelliswork._utils.progress import TrainingStep

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from trelliswork._typing import FloatArray
    from trelliswork.learn.objective.objective import Objective
    from trelliswork.learn.optimizers.common import Iteration, OptimizeResult
    from trelliswork.learn.optimizers.minimizer import Minimizer
    from trelliswork.learn.sparsity.regularizer import Regularizer


__all__ = ["DevCheck", "TrainingRun", "train"]

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class DevCheck:
    """Early stopping on a development set.

    Attributes
    ----------
    score : callable
        Maps a parameter vector to a score; higher is better.
    every : int
        Number of iterations between two measurements.
    patience : int
        Number of measurements without improvement before training stops.
    """

    score: Callable[[FloatArray], float]
    every: int
    patience: int


@dataclass
class TrainingRun:
    """Result of a training run: parameters, stop reason, loss and log."""

    parameters: FloatArray
    reason: str
    loss: float
    log: list[TrainingStep] = field(default_factory=list)
    best_dev_score: float | None = None
    gap: float | None = None


def train(
    objective: Objective,
    start: FloatArray,
    minimizer: Minimizer,
    *,
    regularizer: Regularizer | None = None,
    dev: DevCheck | None = None,
    on_step: Callable[[TrainingStep], object] | None = None,
    earlier: Sequence[TrainingStep] = (),
) -> TrainingRun:
    """Minimise an objective.

    Returns the last parameters or, with a development set, those with the best score; training may
    then stop early. Ctrl-C ends training and keeps the parameters so far.

    Parameters
    ----------
    objective
        The smooth objective.
    start
        Initial parameters.
    minimizer
        The optimiser.
    regularizer
        The non-smooth part. Default: none.
    dev
        The development set.
    on_step
        Called with every step of the log.
    earlier
        Steps of an earlier run; the log continues from them.
    """
    n_before = earlier[-1].iteration if earlier else 0
    began = time.perf_counter() - (earlier[-1].seconds if earlier else 0.0)
    log: list[TrainingStep] = list(earlier)
    best: tuple[float, FloatArray, float] | None = None  # dev score, parameters, loss
    misses = 0

    def after(iteration: Iteration) -> bool:
        nonlocal best, misses
        dev_score = None
        if dev is not None and iteration.number % dev.every == 0:
            dev_score = dev.score(iteration.x)
            if best is None or dev_score > best[0]:
                best, misses = (dev_score, iteration.x.copy(), iteration.value), 0
            else:
                misses += 1
        seconds = time.perf_counter() - began
        step = TrainingStep(
            n_before + iteration.number,
            iteration.value,
            iteration.gradient_norm,
            seconds,
            dev_score,
            None if regularizer is None else int(np.count_nonzero(iteration.x)),
        )
        log.append(step)
        if on_step is not None:
            on_step(step)
        return dev is not None and misses >= dev.patience

    # Idle BLAS threads spin and would take cores from the threads of the objective.
    with threadpool_limits(1, user_api="blas"):
        result = minimizer.run(objective, start, regularizer, after)
    if result.reason == "interrupted" and result.n_iterations == 0:
        raise KeyboardInterrupt
    logger.info(
        "training stopped after %d iterations (%s), loss %.4f",
        result.n_iterations,
        result.reason,
        result.value,
    )
    return _finish(result, log, best, dev)


def _finish(
    result: OptimizeResult,
    log: list[TrainingStep],
    best: tuple[float, FloatArray, float] | None,
    dev: DevCheck | None,
) -> TrainingRun:
    if dev is None:
        return TrainingRun(result.x, result.reason, result.value, log, gap=result.gap)
    reason = "early_stopping" if result.reason == "stopped" else result.reason
    if reason != "interrupted":
        # The last point may be the best but was not measured yet.
        last = dev.score(result.x)
        if best is None or last > best[0]:
            best = last, result.x, result.value
    if best is None:
        return TrainingRun(result.x, reason, result.value, log, gap=result.gap)
    # The gap holds for the last point only.
    gap = result.gap if best[1] is result.x else None
    return TrainingRun(best[1], reason, best[2], log, best[0], gap)
