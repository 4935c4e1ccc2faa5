"""The weights of the structured perceptron, with the average of all iterates.

    w ← w + a (Φ(x, y*) − Φ(x, ŷ)),      w̄ = (1/S) Σ_{s = 1 … S} w_s

with ``w_s`` the weights after ``s`` sentences and ``a`` the weight of the sentence. The sum is
computed lazily: an update ``Δ`` after ``s`` sentences is part of the ``S − s`` later iterates, so
that ``w̄ = w − (1/S) Σ s Δ``, and an update changes its own weights only.
``F`` features, ``L`` labels, ``P`` patterns, ``T`` tokens.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse

from trelliswork.errors import TooLargeError
from trelliswork.learn.objective.layout import PairLayout, ParameterLayout
from trelliswork.models.model import CRFModel
from trelliswork.models.pair_weights import PairWeights

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from trelliswork._typing import BoolArray, FloatArray, IdArray, IntArray
    from trelliswork.features import EncodedFeatures, Encoder, FeatureMatrix
    from trelliswork.models.structure import Structure

    Csr = scipy.sparse.csr_array

__all__ = [
    "MAX_WEIGHTS",
    "AveragedTable",
    "PerceptronWeights",
    "rows_of_sentences",
]

MAX_WEIGHTS = 2**28  # per kind of features: 2 GB, and the same for the average


class AveragedTable:
    """A dense table of weights, with the correction term of its average.

    Attributes
    ----------
    values : numpy.ndarray
        ``w``, shape ``(rows, columns)``.
    late : numpy.ndarray
        The correction ``Σ s Δ``, of the same shape.
    learned : numpy.ndarray or None
        Mask of the weights that updates may change, of the same shape; None: all.
    """

    def __init__(self, n_rows: int, n_columns: int, what: str) -> None:
        if n_rows * n_columns > MAX_WEIGHTS:
            raise TooLargeError(
                f"{what}: expected at most {MAX_WEIGHTS:,} weights, got {n_rows:,} features times "
                f"{n_columns:,} outputs. Raise min_count, or use fewer templates."
            )
        self.values: FloatArray = np.zeros((n_rows, n_columns))
        self.late: FloatArray = np.zeros((n_rows, n_columns))
        self.learned: BoolArray | None = None

    def add(self, places: IntArray, amounts: FloatArray, step: int) -> None:
        """Add to weights at flat indices, which may repeat."""
        if self.learned is not None:
            kept = self.learned.reshape(-1)[places]
            places, amounts = places[kept], amounts[kept]
        np.add.at(self.values.reshape(-1), places, amounts)
        np.add.at(self.late.reshape(-1), places, step * amounts)

    def move(self, places: IntArray, values: FloatArray, step: int) -> None:
        """Set weights at flat indices, which must not repeat."""
        flat = self.values.reshape(-1)
        self.late.reshape(-1)[places] += step * (values - flat[places])
        flat[places] = values

    def average(self, n_steps: int) -> FloatArray:
        """Return ``w̄`` after `n_steps` sentences."""
        return self.values - self.late / n_steps


class PerceptronWeights:
    """Weights of token features, of patterns, and of features on patterns.

    Every pair of a feature and a label has a weight: a wrong prediction gives a negative weight to
    a pair that never occurs in the gold labels.

    Parameters
    ----------
    structure
        A chain of any order.
    features
        The training set.
    """

    def __init__(self, structure: Structure, features: EncodedFeatures) -> None:
        self.structure = structure
        self.step = 0  # sentences seen, S
        self.state = AveragedTable(features.state.n_features, structure.n_letters, "features")
        self.patterns = AveragedTable(1, len(structure.patterns), "patterns")
        self.edge = None
        if features.edge is not None and structure.n_edge_patterns:
            n_outputs = structure.n_edge_patterns
            self.edge = AveragedTable(features.edge.n_features, n_outputs, "edge features")

    @property
    def tables(self) -> list[AveragedTable]:
        """All tables, in the order of `layout`."""
        return [self.state, self.patterns, *([] if self.edge is None else [self.edge])]

    def layout(self, n_penalties: int) -> ParameterLayout:
        """Return the layout of the weights of all tables, followed by penalties."""
        lengths = self.structure.patterns.lengths
        return ParameterLayout(
            {"state": PairLayout.table(*self.state.values.shape)},
            np.arange(lengths.size, dtype=np.int32),
            lengths,
            None if self.edge is None else PairLayout.table(*self.edge.values.shape),
            n_penalties,
        )

    def patterns_at(self, labels: IdArray) -> tuple[IntArray, IdArray]:
        """Return the patterns that end at each token of a sentence; see `Patterns.fired`."""
        return self.structure.patterns.fired(labels, np.array([0, labels.size]))

    def update(
        self,
        state: Csr,
        edge: Csr | None,
        gold: IdArray,
        found: IdArray,
        weight: float,
    ) -> None:
        """Move the weights from a wrong labelling of one sentence to the right one.

        Parameters
        ----------
        state, edge
            The features of its tokens and of the transitions into them, shapes ``(T, F)``.
        gold, found
            ``y*`` and ``ŷ``, shape ``(T,)``.
        weight
            ``a``, the weight of the sentence.
        """
        wrong = np.flatnonzero(gold != found)
        for labels, amount in ((gold, weight), (found, -weight)):
            self._add(self.state, state, wrong, labels[wrong], amount)
        counts = np.zeros(len(self.structure.patterns))
        n_edge = 0 if self.edge is None else self.structure.n_edge_patterns
        differs = np.zeros((gold.size, n_edge))
        for labels, amount in ((gold, 1.0), (found, -1.0)):
            offsets, ids = self.patterns_at(labels)
            np.add.at(counts, ids, amount)
            tokens = np.repeat(np.arange(gold.size), np.diff(offsets))
            reads = ids < n_edge
            np.add.at(differs, (tokens[reads], ids[reads]), amount)
        moved = np.flatnonzero(counts)
        self.patterns.add(moved, weight * counts[moved], self.step)
        if self.edge is not None and edge is not None:
            for sign in (1.0, -1.0):
                tokens, outputs = np.nonzero(differs == sign)
                self._add(self.edge, edge, tokens, outputs, sign * weight)

    def _add(
        self,
        table: AveragedTable,
        rows: Csr,
        tokens: IntArray,
        outputs: NDArray[Any],
        amount: float,
    ) -> None:
        """Add the features of some tokens to the weights of one output each."""
        counts = np.diff(rows.indptr)[tokens]
        ends = np.cumsum(counts)
        at = np.arange(counts.sum()) + np.repeat(rows.indptr[tokens] - (ends - counts), counts)
        n_columns = table.values.shape[1]
        places = rows.indices[at].astype(np.int64) * n_columns + np.repeat(outputs, counts)
        table.add(places, amount * rows.data[at], self.step)

    def model(
        self, encoder: Encoder, *, average: bool, support: Sequence[BoolArray] | None = None
    ) -> CRFModel:
        """Return the model with the averaged or the last weights, without zeros.

        Parameters
        ----------
        encoder
            The features.
        average
            Whether to average.
        support
            Mask of the weights that may be nonzero, for each of `tables`. Default: all.
        """
        is_average = average and self.step > 0
        read = [t.average(self.step) if is_average else t.values.copy() for t in self.tables]
        for values, alive in zip(read, support or (), strict=False):
            values[~alive] = 0.0
        state, patterns, *edges = read
        edge = _pairs(scipy.sparse.csr_array(edges[0])) if edges else None
        pairs = _pairs(scipy.sparse.csr_array(state))
        return CRFModel(self.structure, encoder, pairs, patterns[0], edge=edge)


def rows_of_sentences(matrix: FeatureMatrix, offsets: IntArray) -> list[Csr]:
    """Return the features of each sentence as a separate matrix."""
    values = np.ones(matrix.indices.size) if matrix.values is None else matrix.values
    made = []
    for first, last in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
        indptr = matrix.indptr[first : last + 1]
        own = slice(int(indptr[0]), int(indptr[-1]))
        made.append(
            scipy.sparse.csr_array(
                (values[own], matrix.indices[own], (indptr - indptr[0]).astype(np.int32)),
                shape=(last - first, matrix.n_features),
            )
        )
    return made


def _pairs(table: Csr) -> PairWeights:
    table.eliminate_zeros()
    table.sort_indices()
    return PairWeights(
        table.indptr.astype(np.int64), table.indices.astype(np.int32), table.data.astype(np.float64)
    )
