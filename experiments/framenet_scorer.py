"""A log-linear scorer of spans for roles, trained by L-BFGS.

For a target of frame f with candidates s ∈ S and a role r of f,

    c(r, s) = Σ_k w[φ_k(s), kind of r] + w[φ_k(s), r] + w[φ_k(s), f, r]
    p(s | r) = exp c(r, s) / Σ_{s' ∈ S ∪ {∅}} exp c(r, s')

where ∅ leaves the role empty and all indices of w are hashed. A lexical feature has the second and
third term only where two gold spans of that role, or of that role in that frame, have it.

Training maximises Σ log p(gold | r) − λ/2 ‖w‖² over all targets and roles; of a role that is filled
more than once, Σ p over its spans counts: any of them is right. Gold spans that the filter missed
are added to the candidates, in training only.

The candidates of all targets of a frame are one sparse matrix X, and c is one product X W with the
weights of the frame gathered from w: F features × R roles.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from framenet_blocks import Block, Support
from framenet_features import describe

from trelliswork.learn.optimizers import lbfgs

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from framenet_data import Target
    from framenet_spans import HashArray, IntArray
    from numpy.typing import NDArray

    from trelliswork.learn.optimizers.common import Iteration

    FloatArray = NDArray[np.float64]

BITS = 22


class Scorer:
    """Scores spans for roles; :meth:`fit` learns how.

    Parameters
    ----------
    l2
        λ, the strength of the penalty.
    bits
        There are 2^bits weights.
    max_iter, tol
        When training ends, see :func:`trelliswork.learn.optimizers.lbfgs.minimize_lbfgs`.
    """

    def __init__(
        self, l2: float = 1.0, *, bits: int = BITS, max_iter: int = 100, tol: float = 1e-3
    ) -> None:
        self.l2 = l2
        self.bits = bits
        self.max_iter = max_iter
        self.tol = tol
        self.weights = np.zeros(1 << bits)
        self.support = Support()

    def fit(
        self,
        targets: Sequence[Target],
        candidates: Sequence[IntArray],
        on_step: Callable[[Iteration], bool] | None = None,
    ) -> Scorer:
        """Train on targets and their candidates; ``on_step`` is called after every iteration."""
        candidates = [with_gold(*pair) for pair in zip(targets, candidates, strict=True)]
        rows, n_coarse = describe(targets, candidates)
        self.support = Support.of(targets, candidates, rows, n_coarse)
        blocks = self._blocks(targets, candidates, rows, n_coarse)
        found = lbfgs.minimize_lbfgs(
            self.objective(blocks),
            self.weights,
            max_iter=self.max_iter,
            tol=self.tol,
            callback=on_step,
        )
        self.weights = found.x
        return self

    def objective(self, blocks: Sequence[Block]) -> Callable[[FloatArray, FloatArray], float]:
        """Return what training minimises, as a function of weights and gradient."""

        def value_and_gradient(weights: FloatArray, gradient: FloatArray) -> float:
            np.multiply(weights, self.l2, out=gradient)
            value = 0.5 * self.l2 * float(weights @ weights)
            return value + sum(block.loss(weights, gradient) for block in blocks)

        return value_and_gradient

    def score(
        self, targets: Sequence[Target], candidates: Sequence[IntArray]
    ) -> list[tuple[FloatArray, FloatArray]]:
        """Return c(r, s), shape ``(S, R)``, and c(r, ∅), shape ``(R,)``, of each target."""
        found: dict[int, tuple[FloatArray, FloatArray]] = {}
        for block in self._blocks(targets, candidates, *describe(targets, candidates)):
            scores, empty = block.scores(self.weights)
            for i, member in enumerate(block.members.tolist()):
                found[member] = (scores[block.begins[i] : block.begins[i + 1]], empty[i])
        return [found[i] for i in range(len(targets))]

    def _blocks(
        self,
        targets: Sequence[Target],
        candidates: Sequence[IntArray],
        rows: HashArray,
        n_coarse: int,
    ) -> list[Block]:
        begins = np.concatenate([[0], np.cumsum([len(spans) for spans in candidates])])
        by_frame: dict[str, list[int]] = {}
        for i, target in enumerate(targets):
            by_frame.setdefault(target.frame.name, []).append(i)
        return [
            Block.of(
                np.array(members),
                [targets[i] for i in members],
                [candidates[i] for i in members],
                np.concatenate([rows[begins[i] : begins[i + 1]] for i in members]),
                n_coarse,
                self.support,
                self.bits,
            )
            for members in by_frame.values()
        ]


def with_gold(target: Target, spans: IntArray) -> IntArray:
    """Add the gold spans of a target to its candidates."""
    gold = np.array([argument[1:] for argument in target.arguments], dtype=np.int64)
    return np.unique(np.concatenate([spans, gold.reshape(-1, 2)]), axis=0)
