"""The targets of one frame as matrices: which weight belongs where, scores, and derivatives.

T targets of a frame have N candidate spans with F features, C of them coarse, for R roles of K
kinds. The weights w of the scorer are one hashed vector; a block knows where its own are in it:

    W[k, r] = w[kind_index[k, kind of r]]                        every feature
            + w[role_index[k, r]] + w[frame_index[k, r]]         coarse ones
            + w[index of (k, r)] + w[index of (k, frame, r)]     lexical ones, where it was seen

The roles of a frame lie side by side in w, which is kinder to caches than R places.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from framenet_features import describe_empty, role_codes
from framenet_spans import code, mix
from scipy import sparse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from framenet_data import Target
    from framenet_spans import HashArray, IntArray
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]
    Index = NDArray[np.int32]

MIN_COARSE = 20  # rows that a coarse feature needs
MIN_GOLD = (
    2  # gold spans that a lexical feature, and its pair with a role, needs: one is no pattern
)
_FILTER_BITS = 26


class Support:
    """What training has seen: features, frames, and pairs of a lexical feature and a role.

    Pairs are kept as bits of a table by their hash: one in a hundred that was not seen passes.
    """

    def __init__(self) -> None:
        self.features: HashArray = np.zeros(0, dtype=np.uint64)  # sorted
        self.frames: frozenset[str] = frozenset()
        self.pairs = np.zeros(1 << _FILTER_BITS, dtype=np.bool_)

    @classmethod
    def of(
        cls,
        targets: Sequence[Target],
        candidates: Sequence[IntArray],
        rows: HashArray,
        n_coarse: int,
    ) -> Support:
        """Collect what some training targets have."""
        found = cls()
        counts = np.zeros(1 << _FILTER_BITS, dtype=np.uint8)
        begin = 0
        is_gold = np.zeros(len(rows), dtype=np.bool_)
        for target, spans in zip(targets, candidates, strict=True):
            gold = gold_of(target, spans)
            own = slice(begin, begin + len(spans))
            begin += len(spans)
            is_gold[own] = gold.any(axis=1)
            at, role = np.nonzero(gold)
            for level in role_codes(target.frame)[1:]:
                at_bits = cls._bits(rows[own][at, n_coarse:], level[role, None])
                counts[at_bits] = np.minimum(counts[at_bits], MIN_GOLD) + 1
        found.pairs = counts >= MIN_GOLD
        found.features = np.union1d(
            _frequent(rows[:, :n_coarse], MIN_COARSE), _frequent(rows[is_gold, n_coarse:], MIN_GOLD)
        )
        found.frames = frozenset(target.frame.name for target in targets)
        return found

    def has_features(self, rows: HashArray) -> NDArray[np.bool_]:
        """Return which features have been seen."""
        if not len(self.features):
            return np.zeros(rows.shape, dtype=np.bool_)
        at = np.searchsorted(self.features, rows)
        return np.asarray(self.features[np.minimum(at, len(self.features) - 1)] == rows)

    def has_pairs(self, features: HashArray, roles: HashArray) -> NDArray[np.bool_]:
        """Return which pairs have been seen, shape ``(features, roles)``."""
        return np.asarray(self.pairs[self._bits(features[:, None], roles[None, :])])

    @staticmethod
    def _bits(features: HashArray, roles: HashArray) -> HashArray:
        return mix(features, roles) & np.uint64((1 << _FILTER_BITS) - 1)


@dataclass(frozen=True)
class Block:
    """The targets of one frame.

    Attributes
    ----------
    members : numpy.ndarray
        Which targets these are, shape ``(T,)``.
    begins : numpy.ndarray
        First row of each target, shape ``(T + 1,)``.
    features : scipy.sparse.csr_matrix
        X, shape ``(N, F)``; the coarse columns come first.
    kinds : numpy.ndarray
        The kind of each role as a column a role, shape ``(K, R)``: 1 where it is that.
    kind_index, role_index, frame_index, empty_index : numpy.ndarray
        Shapes ``(F, K)``, ``(C, R)``, ``(C, R)`` (none for a frame that training does not have) and
        ``(T, R, E)``.
    pairs : list of (places, index)
        Lexical weights at flat places of W, once by role and once by frame and role.
    gold : numpy.ndarray
        Gold spans of the roles, shape ``(N, R)``.
    """

    members: IntArray
    begins: IntArray
    features: sparse.csr_matrix
    kinds: FloatArray
    kind_index: Index
    role_index: Index
    frame_index: Index
    empty_index: Index
    pairs: list[tuple[IntArray, Index]]
    gold: NDArray[np.bool_]

    @classmethod
    def of(
        cls,
        members: IntArray,
        targets: Sequence[Target],
        candidates: Sequence[IntArray],
        rows: HashArray,
        n_coarse: int,
        support: Support,
        bits: int,
    ) -> Block:
        """Arrange targets of one frame; ``rows`` are the features of their spans."""
        frame = targets[0].frame
        features, local, n_coarse = _compact(rows, n_coarse, support)
        coarse, lexical = local[:n_coarse], local[n_coarse:]
        kind_codes, roles, frame_roles = role_codes(frame)
        kinds, kind_of = np.unique(kind_codes, return_inverse=True)
        seen = frame.name in support.frames
        levels = (roles, frame_roles) if seen else (roles,)
        pairs = []
        for level in levels:
            k, r = np.nonzero(support.has_pairs(lexical, level))
            places = (k + n_coarse) * len(roles) + r
            pairs.append((places, _bucket(mix(lexical[k], level[r]), bits)))
        first = _bucket(mix(coarse[: None if seen else 0], code(frame.name)), bits)
        side_by_side = np.add.outer(first, np.arange(len(roles))) % (1 << bits)
        facts = np.array([describe_empty(target) for target in targets], dtype=np.uint64)
        empty = [
            _bucket(mix(facts[:, None, :], level[None, :, None]), bits)
            for level in (kind_codes, *levels)
        ]
        return cls(
            members,
            np.concatenate([[0], np.cumsum([len(spans) for spans in candidates])]),
            features,
            np.eye(len(kinds))[:, kind_of],
            _bucket(mix(local[:, None], kinds[None, :]), bits),
            _bucket(mix(coarse[:, None], roles[None, :]), bits),
            side_by_side.astype(np.int32),
            np.concatenate(empty, axis=2),
            pairs,
            np.concatenate([gold_of(*pair) for pair in zip(targets, candidates, strict=True)]),
        )

    def scores(self, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return c(r, s), shape ``(N, R)``, and c(r, ∅), shape ``(T, R)``."""
        own = weights[self.kind_index] @ self.kinds  # W, (F, R)
        own[: len(self.role_index)] += weights[self.role_index]
        own[: len(self.frame_index)] += weights[self.frame_index]
        for places, index in self.pairs:
            own.reshape(-1)[places] += weights[index]
        return self.features @ own, weights[self.empty_index].sum(axis=2)

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
        # ∂/∂c = p(s | r) − p(s | r, gold)
        shares = np.repeat(1.0 / total, lengths, axis=0)
        np.subtract(shares, np.repeat(1.0 / right, lengths, axis=0), out=shares, where=self.gold)
        scores *= shares
        self._add(gradient, self.features.T @ scores, empty / total - is_empty)
        return float(np.sum(np.log(total) - np.log(right)))

    def _add(self, gradient: FloatArray, by_feature: FloatArray, by_empty: FloatArray) -> None:
        """Add ∂/∂W, shape ``(F, R)``, and ∂/∂c(r, ∅), shape ``(T, R)``, where they belong."""
        parts = [
            (self.kind_index, by_feature @ self.kinds.T),
            (self.role_index, by_feature[: len(self.role_index)]),
            (self.frame_index, by_feature[: len(self.frame_index)]),
            (self.empty_index, np.broadcast_to(by_empty[:, :, None], self.empty_index.shape)),
            *((index, by_feature.reshape(-1)[places]) for places, index in self.pairs),
        ]
        for index, values in parts:
            np.add.at(gradient, index.ravel(), values.ravel())


def _frequent(rows: HashArray, least: int) -> HashArray:
    values, counts = np.unique(rows, return_counts=True)
    return values[counts >= least]


def gold_of(target: Target, spans: IntArray) -> NDArray[np.bool_]:
    """Return which spans fill which roles, shape ``(S, R)``."""
    found = np.zeros((len(spans), len(target.frame.roles)), dtype=np.bool_)
    rows = {(int(start), int(end)): i for i, (start, end) in enumerate(spans)}
    for role, start, end in target.arguments:
        if (start, end) in rows:
            found[rows[start, end], target.frame.roles.index(role)] = True
    return found


def _compact(
    rows: HashArray, n_coarse: int, support: Support
) -> tuple[sparse.csr_matrix, HashArray, int]:
    """Return X, the features of its columns, and how many of them are coarse."""
    is_known = support.has_features(rows)
    columns = np.zeros(rows.shape, dtype=np.int32)
    groups: list[HashArray] = []
    for part in (np.s_[:, :n_coarse], np.s_[:, n_coarse:]):
        values, inverse = np.unique(rows[part][is_known[part]], return_inverse=True)
        columns[part][is_known[part]] = inverse + sum(map(len, groups))
        groups.append(values)
    indices = columns[is_known]
    pointers = np.concatenate([[0], np.cumsum(is_known.sum(axis=1))])
    shape = (len(rows), sum(map(len, groups)))
    matrix = sparse.csr_matrix((np.ones(len(indices)), indices, pointers), shape=shape)
    return matrix, np.concatenate(groups), len(groups[0])


def _bucket(hashes: HashArray, bits: int) -> Index:
    return (hashes >> np.uint64(64 - bits)).astype(np.int32)
