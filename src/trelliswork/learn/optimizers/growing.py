"""Growing batches: run the first iterations of training on a part of the sequences.

Far from the optimum, the gradient on a tenth of the sequences has about the direction of the full
gradient (growing batches: Friedlander and Schmidt 2012). So the same problem is first minimised on
a tenth, then on a third of the sequences, scaled to the whole, until progress slows down. The
optimiser on all sequences starts from there.

On CoNLL-2000 with l1, OWL-QN then needs 215 instead of 402 iterations to come within 0.1% of the
minimum, and two thirds of the total time.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, NamedTuple

from trelliswork.learn.optimizers.owlqn import minimize_owlqn

if TYPE_CHECKING:
    from trelliswork._typing import FloatArray
    from trelliswork.learn.objective.objective import Objective
    from trelliswork.learn.sparsity.regularizer import Regularizer


__all__ = ["StartingPoint", "begin_on_parts"]

logger = logging.getLogger(__name__)

_FEWEST = 2000  # sequences; training on fewer takes seconds
_PARTS = ((0.1, 150), (0.35, 60))  # share of the sequences, maximum number of iterations
_TOL = 1e-3


class StartingPoint(NamedTuple):
    """Initial parameters, number of iterations spent on them, and whether Ctrl-C was pressed."""

    x: FloatArray
    n_iterations: int
    interrupted: bool


def begin_on_parts(
    objective: Objective,
    start: FloatArray,
    regularizer: Regularizer,
    *,
    max_iter: int,
    n_jobs: int = 1,
) -> StartingPoint:
    """Return the starting point for training on all sequences.

    Parameters
    ----------
    objective, regularizer
        The objective, and l1 alone.
    start
        Initial parameters, shape ``(n,)``. Returned unchanged if they are not 0 (a warm start), or
        if there are few sequences.
    max_iter
        Maximum number of iterations on each part.
    n_jobs
        Number of threads.
    """
    n = objective.n_sequences
    if n < _FEWEST or start.any():
        return StartingPoint(start, 0, False)
    x, n_iterations = start, 0
    for share, most in _PARTS:
        try:
            found = minimize_owlqn(
                _Part(objective, int(share * n), n_jobs),
                x,
                regularizer,
                max_iter=min(max_iter, most),
                tol=_TOL,
            )
        except KeyboardInterrupt:
            if not n_iterations:
                raise
            return StartingPoint(x, n_iterations, True)
        logger.info("%d%% of the sequences: %d iterations", 100 * share, found.n_iterations)
        x = found.x
        n_iterations += found.n_iterations
        if found.reason == "interrupted":
            return StartingPoint(x, n_iterations, True)
    return StartingPoint(x, n_iterations, False)


class _Part:
    """The objective of the first ``m`` of ``B`` sequences, times ``B / m``, plus l2."""

    def __init__(self, objective: Objective, size: int, n_jobs: int) -> None:
        self._objective, self._sequences, self._n_jobs = objective, range(size), n_jobs
        self._factor = objective.n_sequences / size

    def __call__(self, x: FloatArray, gradient: FloatArray, /) -> float:
        # A range leaves l2 out.
        value = self._objective.value_and_grad(
            x, gradient, sequences=self._sequences, n_jobs=self._n_jobs
        )
        l2 = self._objective.l2
        gradient *= self._factor
        gradient += 2.0 * l2 * x
        return self._factor * value + float((l2 * x * x).sum())
