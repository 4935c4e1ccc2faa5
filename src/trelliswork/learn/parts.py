"""The parts of an objective: which (feature, letter) pairs and which patterns have a weight."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np
import scipy.sparse

from trelliswork import _core
from trelliswork.model import length_rows, segment_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from trelliswork.features import EncodedFeatures, FeatureMatrix, SegmentMatrix
    from trelliswork.learn.gold_labels import GoldLabels
    from trelliswork.pair_weights import PairWeights
    from trelliswork.structure import Structure

    IdArray = NDArray[np.int32]
    IntArray = NDArray[np.int64]

__all__ = ["Pairs", "Part", "PartsBuilder", "carry_over"]

Pairs = Literal["observed", "all"]

# The core numbers the outputs of a feature with 16 bits.
MOST_OUTPUTS = 2**16


@dataclass(frozen=True, eq=False)
class Part:
    """Features of one kind, and the outputs that each of them has a weight for.

    Attributes
    ----------
    offsets, outputs : numpy.ndarray
        As those of `PairWeights`.
    core : _core.FeaturePart
        The same with its rows, as the core takes it.
    """

    offsets: IntArray
    outputs: IdArray
    core: _core.FeaturePart

    @property
    def n_pairs(self) -> int:
        """Number of weights."""
        return int(self.outputs.size)


class PartsBuilder:
    """Finds out what has a weight.

    Parameters
    ----------
    features, gold
        The training set.
    structure
        The model without weights.
    pairs
        Which pairs have a weight.
    """

    def __init__(
        self, features: EncodedFeatures, gold: GoldLabels, structure: Structure, pairs: Pairs
    ) -> None:
        self._features = features
        self._gold = gold
        self._structure = structure
        self._all = pairs == "all"

    def parts(self) -> dict[str, Part]:
        """Return the parts by kind, as far as there are such features."""
        features, gold, structure = self._features, self._gold, self._structure
        parts = {"state": self._part(features.state, gold.ids, gold.evidence)}
        if structure.segmentation is None:
            return parts
        starts, ends = gold.segments(features.offsets)
        # What goes on after an open token began somewhere there.
        begins = starts if gold.begins is None else starts[gold.begins[starts]]
        for kind, rows, shown, evidence in (
            ("begin", features.begin, begins, gold.begin_evidence),
            ("end", features.end, ends - 1, gold.evidence),
        ):
            if rows is not None:
                labels = np.full(gold.ids.size, -1, dtype=np.int32)
                labels[shown] = gold.ids[shown]
                parts[kind] = self._part(rows, labels, evidence)
        if features.segment is not None:
            labels = _labels_of_entries(features.segment, starts, ends, gold.ids)
            parts["segment"] = self._part(segment_rows(features.segment), labels, None)
        rows = length_rows(structure.n_durations)
        n_letters = structure.n_letters
        outputs = np.tile(np.arange(n_letters, dtype=np.int32), rows.n_features)
        offsets = np.arange(rows.n_features + 1, dtype=np.int64) * n_letters
        parts["length"] = _make(rows, n_letters, offsets, outputs)
        return parts

    def edge(self) -> Part | None:
        """Return the features on patterns; None where there are none."""
        rows = self._features.edge
        if rows is None:
            return None
        n_outputs = self._structure.n_edge_patterns
        if n_outputs > MOST_OUTPUTS:
            raise ValueError(
                f"edge features: expected at most {MOST_OUTPUTS} patterns that read the "
                f"observation, got {n_outputs}. Lower edge_order, raise min_pattern_count, or "
                "leave out the features on transitions."
            )
        if n_outputs == 0:
            return None
        if self._all:
            outputs = np.tile(np.arange(n_outputs, dtype=np.int32), rows.n_features)
            offsets = np.arange(rows.n_features + 1, dtype=np.int64) * n_outputs
            return _make(rows, n_outputs, offsets, outputs)
        fired_offsets, fired = self.fired
        seen = scipy.sparse.csr_array(
            (np.ones(fired.size), fired, fired_offsets),
            shape=(rows.shape[0], len(self._structure.patterns)),
        )[:, :n_outputs]
        ones = scipy.sparse.csr_array(
            (np.ones(rows.indices.size), rows.indices, rows.indptr), shape=rows.shape
        )
        together = (ones.T @ seen).tocsr()
        together.sort_indices()
        return _make(
            rows,
            n_outputs,
            together.indptr.astype(np.int64),
            together.indices.astype(np.int32),
        )

    @cached_property
    def fired(self) -> tuple[IntArray, IdArray]:
        """Patterns that end with the segment that begins at each token: offsets (N + 1,), ids."""
        gold, structure, offsets = self._gold, self._structure, self._features.offsets
        letters = structure.letters_of(gold, offsets)
        found_offsets, found = structure.patterns.fired(letters.letters, letters.offsets)
        counts = np.zeros(gold.ids.size, dtype=np.int64)
        counts[letters.tokens] = np.diff(found_offsets)
        return np.concatenate([[0], np.cumsum(counts)]), found.astype(np.int32)

    def weighted_patterns(self, transitions: Pairs) -> IdArray:
        """Return the patterns that have a weight: of a chain's transitions only those seen."""
        patterns = self._structure.patterns
        if not patterns.is_chain or transitions == "all":
            return np.arange(len(patterns), dtype=np.int32)
        seen = np.zeros(len(patterns), dtype=bool)
        seen[self.fired[1]] = True
        if self._gold.allowed is not None:
            # Transitions that may occur between tokens whose labels are open.
            either = self._gold.allowed_somehow
            first = np.zeros(self._gold.ids.size, dtype=bool)
            offsets = self._features.offsets
            first[offsets[:-1][offsets[:-1] < offsets[1:]]] = True
            is_open = self._gold.ids < 0
            open_ends = np.flatnonzero(~first & (is_open | np.roll(is_open, 1)))
            matrix = seen.reshape(patterns.n_labels, -1)
            for i in open_ends[open_ends > 0]:
                matrix |= np.outer(either[i - 1], either[i])
        return np.flatnonzero(seen).astype(np.int32)

    def _part(
        self, matrix: FeatureMatrix, labels: IdArray, evidence: NDArray[np.bool_] | None
    ) -> Part:
        rows = _rows(matrix)
        n_letters = self._structure.n_letters
        shown = None if evidence is None else np.ascontiguousarray(evidence).view(np.uint8)
        offsets, outputs = _core.observed_pairs(
            rows, matrix.n_features, n_letters, labels, shown, self._all
        )
        return Part(offsets, outputs, _core.FeaturePart(rows, n_letters, offsets, outputs))


def carry_over(
    pairs: PairWeights,
    names: list[str],
    old_outputs: IntArray,
    earlier: PairWeights,
    earlier_names: list[str],
) -> None:
    """Copy the weights of the pairs that an earlier model has too."""
    place = {name: i for i, name in enumerate(earlier_names)}
    old_features = np.array([place.get(name, -1) for name in names], dtype=np.int64)
    feature = old_features[pairs.features]
    output = old_outputs[pairs.outputs]
    # Both (feature, output) and its place in the earlier model, as one sorted key.
    n_outputs = int(max(earlier.outputs.max(initial=0), output.max(initial=0))) + 1
    keys = earlier.features * n_outputs + earlier.outputs
    wanted = feature * n_outputs + output
    at = np.searchsorted(keys, wanted)
    at[at == keys.size] = 0
    found = (feature >= 0) & (output >= 0)
    if keys.size:
        found &= keys[at] == wanted
        pairs.weights[found] = earlier.weights[at[found]]


def _make(matrix: FeatureMatrix, n_outputs: int, offsets: IntArray, outputs: IdArray) -> Part:
    core = _core.FeaturePart(_rows(matrix), n_outputs, offsets, outputs)
    return Part(offsets, outputs, core)


def _rows(matrix: FeatureMatrix) -> _core.FeatureRows:
    return _core.FeatureRows(matrix.indptr, matrix.indices, matrix.values)


def _labels_of_entries(
    segments: SegmentMatrix, starts: IntArray, ends: IntArray, ids: IdArray
) -> IdArray:
    """Return the letter of the entries that are gold segments, -1 of the others, (nnz,)."""
    end_of = np.full(ids.size, -1, dtype=np.int64)
    end_of[starts] = ends
    first = segments.starts
    is_gold = end_of[first] == first + segments.durations
    return np.where(is_gold, ids[first], -1).astype(np.int32)
