"""The structured support vector machine for penalties.

The margin-rescaled hinge loss with the Hamming loss ``Δ``, over ``ρ ≥ 0``:

    J(ρ) = ½‖ρ‖² + l1 Σ_c ρ_c + c Σ_b max_y [Δ(y, y*_b) + P_ρ(y) − P_ρ(y*_b)],
    P_ρ(y) = score(y) − ρ · v(y)

With ``d = v(y) − v(y*)`` and ``m = Δ(y, y*) + score(y) − score(y*)`` a labelling ``y`` bounds the
loss of its sentence from below by the plane ``m − ρ · d``. Each iteration decodes all sentences
exactly with the loss added to the scores, adds the cutting planes of the answers, and minimises
over all planes. ``J`` at any ``ρ`` is an upper bound and the minimum over planes a lower bound on
the minimum of ``J``: learning stops when they meet.

The minimum over planes is the maximum over ``α ≥ 0``, ``Σ_k α_bk ≤ c`` of the smooth dual

    F(α) = m · α − ½‖ρ(α)‖²,    ρ(α) = max(0, Dᵀα − l1),

found by accelerated projected gradient. A rule whose planes support it by at most l1 gets exactly
``ρ = 0`` by the truncation. ``R`` planes of ``B`` sentences, ``C`` rules.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse

from trelliswork.learn.penalties.run import PenaltyEpoch, PenaltyRun

if TYPE_CHECKING:
    from collections.abc import Callable

    from trelliswork._typing import FloatArray, IntArray
    from trelliswork.learn.penalties.run import LearningProblem


__all__ = ["Planes", "learn_by_svm"]

logger = logging.getLogger(__name__)

MAX_GRADIENT_STEPS = 5000
STEPS_BETWEEN_CHECKS = 20


def learn_by_svm(
    problem: LearningProblem,
    *,
    c: float = 1.0,
    l1: float = 0.0,
    n_epochs: int = 100,
    tol: float = 1e-4,
    on_epoch: Callable[[PenaltyEpoch], object] | None = None,
) -> PenaltyRun:
    """Minimise ``J`` by cutting planes.

    Parameters
    ----------
    problem
        The problem. Sentences whose gold labels have no finite score are left out.
    c
        Weight of the loss: the larger, the weaker the regularisation of the penalties.
    l1
        Coefficient of the sum of the penalties.
    n_epochs
        Maximum number of passes over the sentences.
    tol
        Stop when ``J`` is proven to be within this share of its minimum.
    on_epoch
        Called after every epoch.
    """
    began = time.perf_counter()
    usable = np.flatnonzero(np.isfinite(problem.gold_scores))
    if usable.size < problem.n_sequences:
        logger.warning(
            "%d of %d sentences have gold labels that the model rules out; they are left out",
            problem.n_sequences - usable.size,
            problem.n_sequences,
        )
    penalties = np.zeros(problem.n_rules)
    planes = Planes(c, problem.n_rules, l1)
    best, bound = (np.inf, penalties), 0.0
    log: list[PenaltyEpoch] = []
    reason = "max_epochs"
    for number in range(1, n_epochs + 1):
        found = problem.decode(penalties, usable, loss=True)
        margins = found.scores - problem.gold_scores[usable]
        directions = (found.violations - problem.gold[usable]).astype(np.float64)
        hinges = np.maximum(margins - directions @ penalties, 0.0)
        objective = planes.size(penalties) + c * float(hinges.sum())
        if objective < best[0]:
            best = objective, penalties
        allowed = tol * max(abs(best[0]), 1e-9)
        # Skip planes that do not tighten the bound.
        slack = planes.losses(penalties, problem.n_sequences)[usable]
        new = np.flatnonzero(hinges > slack + 0.1 * allowed / (c * max(usable.size, 1)))
        is_proven = best[0] - bound <= allowed
        done = is_proven or not new.size
        if not done:
            planes.add(usable[new], directions[new], margins[new])
            penalties, bound = planes.minimize(0.1 * allowed)
        epoch = PenaltyEpoch(
            number,
            int(new.size),
            int((best[1] > 0).sum()),
            time.perf_counter() - began,
            objective=best[0],
            bound=bound,
        )
        log.append(epoch)
        logger.info("round %d: %d new planes, J %.6g, bound %.6g", number, new.size, best[0], bound)
        if on_epoch is not None:
            on_epoch(epoch)
        if done:
            reason = (
                "converged" if is_proven else "stalled"
            )  # the minimum over planes was not accurate enough
            break
    return PenaltyRun(best[1], reason, tuple(log))


@dataclass(eq=False)
class Planes:
    """Cutting planes, and the minimum over them.

    Attributes
    ----------
    c
        Maximum total weight of the planes of a sentence.
    n_rules
        ``C``.
    l1
        Coefficient of the sum of the penalties.
    """

    c: float
    n_rules: int
    l1: float = 0.0

    def __post_init__(self) -> None:
        self._sentences: IntArray = np.zeros(0, dtype=np.int64)  # (R,)
        self._directions = scipy.sparse.csr_array((0, self.n_rules))  # (R, C)
        self._margins: FloatArray = np.zeros(0)  # (R,)
        self._weights: FloatArray = np.zeros(0)  # alpha, (R,)

    def add(self, sentences: IntArray, directions: FloatArray, margins: FloatArray) -> None:
        """Add planes ``margins − directions · ρ``, one for each of some sentences."""
        self._sentences = np.concatenate([self._sentences, sentences])
        self._directions = scipy.sparse.csr_array(
            scipy.sparse.vstack([self._directions, scipy.sparse.csr_array(directions)])
        )
        self._margins = np.concatenate([self._margins, margins])
        self._weights = np.concatenate([self._weights, np.zeros(len(margins))])

    def losses(self, penalties: FloatArray, n_sentences: int) -> FloatArray:
        """Return the lower bound of the planes on the loss of every sentence, shape ``(B,)``."""
        found = np.zeros(n_sentences)
        np.maximum.at(found, self._sentences, self._margins - self._directions @ penalties)
        return found

    def size(self, penalties: FloatArray) -> float:
        """Return ``½‖ρ‖² + l1 Σ ρ``."""
        return 0.5 * float(penalties @ penalties) + self.l1 * float(penalties.sum())

    def minimize(self, tol: float) -> tuple[FloatArray, float]:
        """Return the best penalties for these planes up to `tol`, and a lower bound."""
        matrix, margins = self._directions, self._margins
        transposed = scipy.sparse.csr_array(matrix.T)
        # Directions are integers, so a nonzero one has an eigenvalue of at least 1.
        step = 1.0 / max(_largest_eigenvalue(matrix, transposed), 1.0)
        project = _Projection(self._sentences, self.c)
        weights = ahead = self._weights
        momentum, value = 1.0, -np.inf
        best = np.inf, np.zeros(self.n_rules)
        for number in range(1, MAX_GRADIENT_STEPS + 1):
            penalties = _above(transposed @ ahead, self.l1)
            moved = project(ahead + step * (margins - matrix @ penalties))
            if (moved - weights) @ (moved - ahead) < 0:  # restart: the momentum points uphill
                momentum = 1.0
            following = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum**2))
            ahead = moved + (momentum - 1.0) / following * (moved - weights)
            weights, momentum = moved, following
            if number % STEPS_BETWEEN_CHECKS == 0:
                penalties = _above(transposed @ weights, self.l1)
                losses = self.losses(penalties, int(self._sentences.max()) + 1)
                value = max(value, float(margins @ weights) - 0.5 * float(penalties @ penalties))
                reached = self.size(penalties) + self.c * float(losses.sum())
                best = min(best, (reached, penalties), key=_first)
                if best[0] - value <= tol:
                    break
        self._weights = weights
        return best[1], value


class _Projection:
    """Projection on ``α ≥ 0``, ``Σ_k α_bk ≤ c`` for every sentence ``b``."""

    def __init__(self, sentences: IntArray, c: float) -> None:
        self._c = c
        self._order = np.argsort(sentences, kind="stable")
        _, counts = np.unique(sentences, return_counts=True)
        self._row = np.repeat(np.arange(counts.size), counts)
        starts = np.cumsum(counts) - counts
        self._column = np.arange(sentences.size) - np.repeat(starts, counts)
        self._shape = counts.size, int(counts.max(initial=0))

    def __call__(self, weights: FloatArray) -> FloatArray:
        table = np.full(self._shape, -np.inf)  # one row a sentence
        table[self._row, self._column] = weights[self._order]
        # If the sum of the positive part exceeds c, subtract θ: Σ max(0, α − θ) = c.
        ranked = -np.sort(-table, axis=1)
        sums = np.cumsum(np.where(np.isfinite(ranked), ranked, 0.0), axis=1)
        theta = (sums - self._c) / np.arange(1, self._shape[1] + 1)
        size = np.maximum((ranked > theta).sum(axis=1), 1)
        theta = np.maximum(theta[np.arange(self._shape[0]), size - 1], 0.0)
        found = np.empty_like(weights)
        found[self._order] = np.maximum(table - theta[:, None], 0.0)[self._row, self._column]
        return found


def _largest_eigenvalue(
    matrix: scipy.sparse.csr_array, transposed: scipy.sparse.csr_array
) -> float:
    """Return a bound on the largest eigenvalue of ``D Dᵀ``, by power iteration with a margin."""
    vector = np.random.default_rng(0).random(matrix.shape[0])  # in general position
    value = 0.0
    for _ in range(50):
        vector = matrix @ (transposed @ vector)
        value = float(np.linalg.norm(vector))
        if value == 0.0:
            return 0.0
        vector /= value
    return 1.2 * value


def _above(values: Any, least: float) -> FloatArray:
    """Return ``max(values − least, 0)``."""
    found: FloatArray = np.maximum(values - least, 0.0)
    return found


def _first(pair: tuple[float, FloatArray]) -> float:
    return pair[0]
