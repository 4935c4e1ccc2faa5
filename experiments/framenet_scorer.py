"""A log-linear scorer of spans for roles, trained by L-BFGS.

For a target of frame f with candidates s ∈ S and a role r of f,

    c(r, s) = Σ_k w[φ_k(s), kind of r] + w[φ_k(s), r] + w[φ_k(s), f, r]
    p(s | r) = exp c(r, s) / Σ_{s' ∈ S ∪ {∅}} exp c(r, s')

where ∅ leaves the role empty, all indices of w are hashed, and lexical features have no third term.
Training maximises Σ log p(gold | r) − λ/2 ‖w‖² over all targets and roles; of a role that is filled
more than once, Σ p over its spans counts: any of them is right. Gold spans that the filter missed are
added to the candidates, in training only.

The candidates of all targets of a frame are one sparse matrix X, and c is one product X W with the
weights of the frame gathered from w: F features × R roles.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from framenet_features import describe, describe_empty, role_codes
from framenet_spans import mix
from scipy import sparse

from trelliswork.learn import lbfgs

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from framenet_data import Frame, Target
    from framenet_spans import HashArray, IntArray
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

BITS = 22
MIN_COARSE = 20  # rows that a coarse feature needs; a lexical one needs a gold span


@dataclass(frozen=True)
class Block:
    """The targets of one frame: T targets, N spans, F features, C of them coarse, R roles.

    Attributes
    ----------
    members : numpy.ndarray
        Which targets these are, shape ``(T,)``.
    begins : numpy.ndarray
        First row of each target, shape ``(T + 1,)``.
    features : scipy.sparse.csr_matrix
        X, shape ``(N, F)``; the coarse columns come first.
    by_kind, by_role, by_frame, empty : numpy.ndarray
        Indices of weights, shapes ``(F, R)``, ``(F, R)``, ``(C, R)`` and ``(T, R, E)``; a frame that
        training does not have has no rows in ``by_frame``.
    gold : numpy.ndarray
        Gold spans of the roles, shape ``(N, R)``.
    """

    members: IntArray
    begins: IntArray
    features: sparse.csr_matrix
    by_kind: NDArray[np.int32]
    by_role: NDArray[np.int32]
    by_frame: NDArray[np.int32]
    empty: NDArray[np.int32]
    gold: NDArray[np.bool_]

    def scores(self, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return c(r, s), shape ``(N, R)``, and c(r, ∅), shape ``(T, R)``."""
        gathered = weights[self.by_role]
        gathered += weights[self.by_kind]
        gathered[: len(self.by_frame)] += weights[self.by_frame]
        return self.features @ gathered, weights[self.empty].sum(axis=2)

    def loss(self, weights: FloatArray, gradient: FloatArray) -> float:
        """Return −Σ log p(gold | r), and add its derivatives to ``gradient``."""
        scores, empty = self.scores(weights)
        first, lengths = self.begins[:-1], np.diff(self.begins)
        top = np.maximum(np.maximum.reduceat(scores, first, axis=0), empty)
        scores -= np.repeat(top, lengths, axis=0)
        np.exp(scores, out=scores)
        np.exp(np.subtract(empty, top, out=empty), out=empty)
        total = np.add.reduceat(scores, first, axis=0) + empty
        right = np.add.reduceat(np.where(self.gold, scores, 0.0), first, axis=0)
        is_empty = ~np.logical_or.reduceat(self.gold, first, axis=0)
        right = np.where(is_empty, empty, right)
        # d/dc = p(s | r) − p(s | r, gold)
        shares = np.repeat(1.0 / total, lengths, axis=0)
        np.subtract(shares, np.repeat(1.0 / right, lengths, axis=0), out=shares, where=self.gold)
        scores *= shares
        empty = empty / total - is_empty
        by_feature = self.features.T @ scores  # (F, R)
        for index in (self.by_kind, self.by_role):
            np.add.at(gradient, index.ravel(), by_feature.ravel())
        coarse = by_feature[: len(self.by_frame)]
        np.add.at(gradient, self.by_frame.ravel(), coarse.ravel())
        repeated = np.broadcast_to(empty[:, :, None], self.empty.shape)
        np.add.at(gradient, self.empty.ravel(), repeated.ravel())
        return float(np.sum(np.log(total) - np.log(right)))


class Scorer:
    """Scores spans for roles; :meth:`fit` learns how.

    Parameters
    ----------
    l2
        λ, the strength of the penalty.
    bits
        There are 2^bits weights.
    max_iter, tol
        When training ends, see :func:`trelliswork.learn.lbfgs.minimize`.
    """

    def __init__(
        self, l2: float = 1.0, *, bits: int = BITS, max_iter: int = 100, tol: float = 1e-3
    ) -> None:
        self.l2 = l2
        self.bits = bits
        self.max_iter = max_iter
        self.tol = tol
        self.weights = np.zeros(1 << bits)
        self.known: HashArray = np.zeros(0, dtype=np.uint64)  # sorted; coarse and lexical ones
        self.frames: frozenset[str] = frozenset()

    def fit(
        self,
        targets: Sequence[Target],
        candidates: Sequence[IntArray],
        on_step: Callable[[lbfgs.Iteration], bool] | None = None,
    ) -> Scorer:
        """Train on targets and their candidates; ``on_step`` is called after every iteration."""
        candidates = [_with_gold(*pair) for pair in zip(targets, candidates, strict=True)]
        rows, n_coarse = describe(targets, candidates)
        gold = np.concatenate(
            [_gold_of(*pair).any(axis=1) for pair in zip(targets, candidates, strict=True)]
        )
        self.known = _supported(rows, n_coarse, gold)
        self.frames = frozenset(target.frame.name for target in targets)
        blocks = self._blocks(targets, candidates, rows, n_coarse)
        found = lbfgs.minimize(
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
            self._block(
                np.array(members),
                [targets[i] for i in members],
                [candidates[i] for i in members],
                np.concatenate([rows[begins[i] : begins[i + 1]] for i in members]),
                n_coarse,
            )
            for members in by_frame.values()
        ]

    def _block(
        self,
        members: IntArray,
        targets: Sequence[Target],
        candidates: Sequence[IntArray],
        rows: HashArray,
        n_coarse: int,
    ) -> Block:
        frame = targets[0].frame
        begins = np.concatenate([[0], np.cumsum([len(spans) for spans in candidates])])
        features, local, n_local_coarse = self._matrix(rows, n_coarse)
        kinds, roles, frame_roles = role_codes(frame)
        is_known = frame.name in self.frames
        coarse = local[: n_local_coarse if is_known else 0]
        facts = np.array([describe_empty(target) for target in targets], dtype=np.uint64)
        levels = (kinds, roles, frame_roles) if is_known else (kinds, roles)
        empty = [self._buckets(facts[:, None, :], level[None, :, None]) for level in levels]
        return Block(
            members,
            begins,
            features,
            self._buckets(local[:, None], kinds[None, :]),
            self._buckets(local[:, None], roles[None, :]),
            self._buckets(coarse[:, None], frame_roles[None, :]),
            np.concatenate(empty, axis=2),
            np.concatenate([_gold_of(*pair) for pair in zip(targets, candidates, strict=True)]),
        )

    def _matrix(self, rows: HashArray, n_coarse: int) -> tuple[sparse.csr_matrix, HashArray, int]:
        """Return X, the features of its columns, and how many of them are coarse."""
        at = np.searchsorted(self.known, rows.ravel())
        at[at == len(self.known)] = 0
        is_known = (self.known[at] == rows.ravel()) if len(self.known) else at < 0
        is_known = is_known.reshape(rows.shape)
        parts = [rows[:, :n_coarse], rows[:, n_coarse:]]
        flags = [is_known[:, :n_coarse], is_known[:, n_coarse:]]
        groups = [np.unique(p[f], return_inverse=True) for p, f in zip(parts, flags, strict=True)]
        n_local = len(groups[0][0])
        columns = np.zeros(rows.shape, dtype=np.int32)
        columns[:, :n_coarse][flags[0]] = groups[0][1]
        columns[:, n_coarse:][flags[1]] = groups[1][1] + n_local
        pointers = np.concatenate([[0], np.cumsum(is_known.sum(axis=1))])
        local = np.concatenate([groups[0][0], groups[1][0]])
        indices = columns[is_known]
        matrix = sparse.csr_matrix(
            (np.ones(len(indices)), indices, pointers), shape=(len(rows), len(local))
        )
        return matrix, local, n_local

    def _buckets(self, features: HashArray, roles: HashArray) -> NDArray[np.int32]:
        return (mix(features, roles) >> np.uint64(64 - self.bits)).astype(np.int32)


def _supported(rows: HashArray, n_coarse: int, gold: NDArray[np.bool_]) -> HashArray:
    """Return the features that are worth a weight, sorted."""
    values, counts = np.unique(rows[:, :n_coarse], return_counts=True)
    return np.union1d(values[counts >= MIN_COARSE], rows[gold].ravel())


def _with_gold(target: Target, spans: IntArray) -> IntArray:
    gold = np.array([argument[1:] for argument in target.arguments], dtype=np.int64)
    return np.unique(np.concatenate([spans, gold.reshape(-1, 2)]), axis=0)


def _gold_of(target: Target, spans: IntArray) -> NDArray[np.bool_]:
    """Return which spans fill which roles, shape ``(S, R)``."""
    found = np.zeros((len(spans), len(target.frame.roles)), dtype=np.bool_)
    rows = {(int(start), int(end)): i for i, (start, end) in enumerate(spans)}
    for role, start, end in target.arguments:
        if (start, end) in rows:
            found[rows[start, end], target.frame.roles.index(role)] = True
    return found
