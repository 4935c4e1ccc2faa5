"""Sparse weights: scores as a dense product, files of weights, and wrong files."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from trelliswork.errors import DataError
from trelliswork.features import FeatureMatrix
from trelliswork.models.pair_weights import PairWeights

numbers = st.sampled_from([-2.0, -0.5, 0.0, 0.25, 1.0, 3.0])


@st.composite
def pair_weights(draw, n_features: int, n_outputs: int) -> tuple[PairWeights, np.ndarray]:
    """Return weights of some pairs, and all weights as a table (F, O)."""
    table = np.zeros((n_features, n_outputs))
    pairs = draw(st.sets(st.sampled_from(list(np.ndindex(table.shape)))))
    for pair in pairs:
        table[pair] = draw(numbers)
    counts = [sum(f == feature for feature, _ in pairs) for f in range(n_features)]
    return PairWeights(
        np.cumsum([0, *counts], dtype=np.int64),
        np.array([output for _, output in sorted(pairs)], np.int32),
        np.array([table[pair] for pair in sorted(pairs)], float),
    ), table


@st.composite
def scored(draw):
    """Return weights, their table, and rows of features, some of which occur twice."""
    n_features, n_outputs = draw(st.integers(1, 5)), draw(st.integers(1, 9))
    weights, table = draw(pair_weights(n_features, n_outputs))
    rows = draw(st.lists(st.lists(st.integers(0, n_features - 1), max_size=4), max_size=5))
    flat = [feature for row in rows for feature in row]
    size = len(flat)
    values = draw(st.none() | st.lists(numbers, min_size=size, max_size=size).map(np.array))
    matrix = FeatureMatrix(
        np.cumsum([0, *map(len, rows)], dtype=np.int64),
        np.array(flat, np.int32),
        None if values is None else values.astype(float),
        n_features,
    )
    return weights, table, rows, matrix


@pytest.mark.parametrize("n_jobs", [1, 2])
@given(scored())
def test_scores_are_the_dense_product(n_jobs, case):
    weights, table, rows, matrix = case
    amounts = iter([1.0] * matrix.indices.size if matrix.values is None else matrix.values)
    expected = np.zeros((len(rows), table.shape[1]))  # (N, O)
    # φ[t] = Σ_f x[t, f] W[f]
    for t, row in enumerate(rows):
        for feature in row:
            expected[t] += next(amounts) * table[feature]
    found = weights.score(matrix, table.shape[1], n_jobs)
    np.testing.assert_allclose(found, expected, atol=1e-12)


@given(scored())
def test_features_of_the_pairs(case):
    weights, table, _, _ = case
    found = np.zeros_like(table)
    found[weights.features, weights.outputs] = weights.weights
    np.testing.assert_array_equal(found, table)


def stored(**changes) -> dict[str, np.ndarray]:
    """Return the arrays of three features with the outputs 0 and 2, none, and 1."""
    arrays = {
        "offsets": np.array([0, 2, 2, 3], np.int64),
        "outputs": np.array([0, 2, 1], np.int32),
        "weights": np.array([1.0, -1.0, 0.5]),
    }
    return {f"state.{name}": array for name, array in (arrays | changes).items()}


def test_stored_weights_come_back():
    found = PairWeights.restore("state", stored(), 3, 3)
    assert found.features.tolist() == [0, 0, 2]
    assert found.outputs.tolist() == [0, 2, 1]
    assert found.weights.tolist() == [1.0, -1.0, 0.5]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"offsets": np.array([0, 2, 3], np.int64)}, "state.offsets: expected 4 "),
        ({"offsets": np.array([1, 2, 2, 3], np.int64)}, "state.offsets"),
        ({"offsets": np.array([0, 3, 2, 3], np.int64)}, "state.offsets"),
        ({"offsets": np.array([0, 2, 2, 2], np.int64)}, "state.offsets"),
        ({"outputs": np.array([0, 3, 1], np.int32)}, "state.outputs: expected numbers from 0 to 2"),
        ({"outputs": np.array([-1, 2, 1], np.int32)}, "state.outputs"),
        ({"outputs": np.array([2, 0, 1], np.int32)}, "strictly increasing"),
        ({"outputs": np.array([2, 2, 1], np.int32)}, "strictly increasing"),
        ({"weights": np.array([1.0, -1.0])}, "state.weights: expected 3 weights, got 2"),
    ],
)
def test_wrong_files_are_refused(changes, message):
    with pytest.raises(DataError, match=message):
        PairWeights.restore("state", stored(**changes), 3, 3)
