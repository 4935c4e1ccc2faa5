"""The parts of an objective: the (feature, letter) pairs and the patterns that have a weight."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np
import scipy.sparse

from trelliswork import _core
from trelliswork.learn.objective.layout import PairLayout
from trelliswork.models.model import length_rows, segment_rows

if TYPE_CHECKING:
    from trelliswork._typing import BoolArray, FloatArray, IdArray, IntArray
    from trelliswork.features import EncodedFeatures, FeatureMatrix
    from trelliswork.labels.gold import GoldLabels
    from trelliswork.models.structure import Structure


__all__ = ["Pairs", "Part", "PartsBuilder"]

Pairs = Literal["observed", "all"]

# The core numbers the outputs of a feature with 16 bits.
MAX_OUTPUTS = 2**16


@dataclass(frozen=True, eq=False)
class Part:
    """Features of one kind, with the outputs that they have weights for.

    Attributes
    ----------
    offsets, outputs : numpy.ndarray
        As in `PairWeights`.
    core : _core.FeaturePart
        The same with its rows, in the core.
    reach : tuple of numpy.ndarray
        Minimum and maximum of the sum of the values of each feature over any set of rows, shape
        ``(F,)``.
    """

    offsets: IntArray
    outputs: IdArray
    core: _core.FeaturePart
    reach: tuple[FloatArray, FloatArray]

    @property
    def n_pairs(self) -> int:
        """Number of weights."""
        return int(self.outputs.size)

    @property
    def features(self) -> IntArray:
        """Feature of each pair, shape ``(K,)``."""
        return np.repeat(np.arange(self.offsets.size - 1), np.diff(self.offsets))

    @property
    def layout(self) -> PairLayout:
        """The layout of the pairs."""
        return PairLayout(self.offsets.size - 1, self.features, self.outputs)


class PartsBuilder:
    """Determines which pairs and patterns have a weight.

    Parameters
    ----------
    features, gold
        The training set.
    structure
        The structure of the model.
    pairs
        The pairs of token features that have a weight.
    kept
        Mask of these pairs, and of the patterns after them, in the order of the parameters; see
        `trelliswork.learn.objective.objective`. Default: all.
    """

    def __init__(
        self,
        features: EncodedFeatures,
        gold: GoldLabels,
        structure: Structure,
        pairs: Pairs,
        kept: BoolArray | None = None,
    ) -> None:
        self._features = features
        self._gold = gold
        self._structure = structure
        self._all = pairs == "all"
        self._kept = kept
        self._n_asked = 0  # number of entries of `kept` already used

    def parts(self) -> dict[str, Part]:
        """Return the parts by kind, for the kinds that have features."""
        features, gold, structure = self._features, self._gold, self._structure
        parts = {"state": self._part(features.state, gold.ids, gold.evidence)}
        if structure.segmentation is None:
            return parts
        # Every pair has a weight here: rare pairs of a letter and a feature say most about the many
        # segments that are not in the gold labels.
        entries = None if features.segment is None else segment_rows(features.segment)
        for kind, rows in (
            ("begin", features.begin),
            ("end", features.end),
            ("segment", entries),
            ("length", length_rows(structure.n_durations, self.n_durations)),
        ):
            if rows is not None:
                parts[kind] = self._all_pairs(rows, structure.n_letters)
        return parts

    @property
    def n_durations(self) -> int:
        """Maximum number of tokens of a segment in this training set, ``D``."""
        return self._structure.durations_of(self._features.offsets)

    def edge(self) -> Part | None:
        """Return the features on patterns; None without any."""
        rows = self._features.edge
        if rows is None:
            return None
        n_outputs = self._structure.n_edge_patterns
        if n_outputs > MAX_OUTPUTS:
            raise ValueError(
                f"edge features: expected at most {MAX_OUTPUTS} patterns that read the "
                f"observation, got {n_outputs}. Lower edge_order, raise min_pattern_count, or "
                "leave out the features on transitions."
            )
        if n_outputs == 0:
            return None
        if self._all:
            return self._all_pairs(rows, n_outputs)
        fired_offsets, fired = self.gold_patterns
        seen = scipy.sparse.csr_array(
            (np.ones(fired.size), fired, fired_offsets),
            shape=(rows.shape[0], len(self._structure.patterns)),
        )[:, :n_outputs]
        ones = scipy.sparse.csr_array(
            (np.ones(rows.indices.size), rows.indices, rows.indptr), shape=rows.shape
        )
        together = (ones.T @ seen).tocsr()
        together.sort_indices()
        return self._make(
            rows,
            n_outputs,
            together.indptr.astype(np.int64),
            together.indices.astype(np.int32),
        )

    @cached_property
    def gold_patterns(self) -> tuple[IntArray, IdArray]:
        """Gold patterns that end with the segment that begins at a token: offsets (N + 1,), ids."""
        gold, structure, offsets = self._gold, self._structure, self._features.offsets
        letters = structure.letters_of(gold, offsets)
        found_offsets, found = structure.patterns.fired(letters.letters, letters.offsets)
        counts = np.zeros(gold.ids.size, dtype=np.int64)
        counts[letters.tokens] = np.diff(found_offsets)
        return np.concatenate([[0], np.cumsum(counts)]), found.astype(np.int32)

    def weighted_patterns(self, transitions: Pairs) -> IdArray:
        """Return the patterns that have a weight. In a chain, only observed transitions."""
        patterns = self._structure.patterns
        seen = np.ones(len(patterns), dtype=bool)
        if patterns.is_chain and transitions != "all":
            seen[:] = False
            seen[self.gold_patterns[1]] = True
            if self._gold.allowed is not None:
                seen |= self._gold.open_pairs(self._features.offsets).ravel()
        found = np.flatnonzero(seen).astype(np.int32)
        return found[self._next_kept(found.size)]

    def _part(self, matrix: FeatureMatrix, labels: IdArray, evidence: BoolArray | None) -> Part:
        rows = _rows(matrix)
        n_letters = self._structure.n_letters
        shown = None if evidence is None else np.ascontiguousarray(evidence).view(np.uint8)
        offsets, outputs = _core.observed_pairs(
            rows, matrix.n_features, n_letters, labels, shown, self._all
        )
        return self._make(matrix, n_letters, offsets, outputs)

    def _all_pairs(self, matrix: FeatureMatrix, n_outputs: int) -> Part:
        outputs = np.tile(np.arange(n_outputs, dtype=np.int32), matrix.n_features)
        offsets = np.arange(matrix.n_features + 1, dtype=np.int64) * n_outputs
        return self._make(matrix, n_outputs, offsets, outputs)

    def _make(
        self, matrix: FeatureMatrix, n_outputs: int, offsets: IntArray, outputs: IdArray
    ) -> Part:
        if self._kept is not None:
            kept = self._next_kept(outputs.size)
            offsets = np.concatenate([[0], np.cumsum(kept)])[offsets]
            outputs = np.ascontiguousarray(outputs[kept])
        core = _core.FeaturePart(_rows(matrix), n_outputs, offsets, outputs)
        return Part(offsets, outputs, core, _reach(matrix))

    def _next_kept(self, n: int) -> BoolArray:
        """Return the mask of the next `n` parameters."""
        first, self._n_asked = self._n_asked, self._n_asked + n
        if self._kept is None:
            return np.ones(n, dtype=bool)
        return self._kept[first : first + n]


def _rows(matrix: FeatureMatrix) -> _core.FeatureRows:
    return _core.FeatureRows(matrix.indptr, matrix.indices, matrix.values)


def _reach(matrix: FeatureMatrix) -> tuple[FloatArray, FloatArray]:
    """Return bounds on the expectation of each feature, lower and upper, ``(F,)`` each."""
    if matrix.values is None:
        counts = np.bincount(matrix.indices, minlength=matrix.n_features).astype(np.float64)
        return np.zeros(matrix.n_features), counts

    def total(values: FloatArray) -> FloatArray:
        sums = np.bincount(matrix.indices, values, minlength=matrix.n_features)
        return np.asarray(sums, dtype=np.float64)

    return total(np.minimum(matrix.values, 0.0)), total(np.maximum(matrix.values, 0.0))
