"""Objectives of small random chains, and their loss by enumeration."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import strategies as st

from oracle import enumerate_paths, log_sum_exp
from trelliswork.features import EncodedFeatures, FeatureMatrix
from trelliswork.labels.gold import GoldLabels
from trelliswork.labels.label_set import LabelSet
from trelliswork.learn.objective.objective import Objective
from trelliswork.models.structure import Structure


class NoEncoder:
    """Stands in where only the weights of a model are wanted."""

    def __init__(self, features: EncodedFeatures) -> None:
        self.features = features

    def transform(self, sequences, *, n_jobs=1):
        return self.features


def matrices(draw, n_tokens: int, n_features: int, real: bool) -> FeatureMatrix:
    rows = [
        draw(st.lists(st.integers(0, n_features - 1), max_size=n_features, unique=True))
        for _ in range(n_tokens)
    ]
    indices = np.array([f for row in rows for f in row], dtype=np.int32)
    values = None
    if real:
        values = np.array(
            draw(st.lists(st.floats(-2, 2), min_size=indices.size, max_size=indices.size)),
            dtype=float,
        )
    indptr = np.cumsum([0, *(len(row) for row in rows)]).astype(np.int64)
    return FeatureMatrix(indptr, indices, values, n_features)


@st.composite
def problems(draw):
    names = ["A", "B", "C"][: draw(st.integers(1, 3))]
    lengths = draw(st.lists(st.integers(0, 3), min_size=1, max_size=3))
    n_tokens = sum(lengths)
    some = st.sets(st.sampled_from(names), min_size=1).map(frozenset)
    label = st.one_of(st.sampled_from(names), st.none(), some)
    kind = draw(st.sampled_from([st.sampled_from(names), label]))
    flat = draw(st.lists(kind, min_size=n_tokens, max_size=n_tokens))
    offsets = np.cumsum([0, *lengths]).astype(np.int64)
    features = EncodedFeatures(
        offsets,
        matrices(draw, n_tokens, draw(st.integers(1, 5)), draw(st.booleans())),
        matrices(draw, n_tokens, 2, draw(st.booleans())) if draw(st.booleans()) else None,
    )
    weights = draw(
        st.one_of(
            st.none(), st.lists(st.floats(0, 3), min_size=len(lengths), max_size=len(lengths))
        )
    )
    labels = LabelSet(names)
    sequences = [flat[a:b] for a, b in itertools.pairwise(offsets)]
    gold = GoldLabels.encode(labels, sequences)
    objective = Objective(
        features,
        gold,
        Structure.chain(labels),
        weights=None if weights is None else np.array(weights),
        l2=draw(st.sampled_from([0.0, 0.5])),
        pairs=draw(st.sampled_from(["observed", "all"])),
        transitions=draw(st.sampled_from(["observed", "all"])),
    )
    parameters = np.array(
        draw(
            st.lists(
                st.floats(-2, 2), min_size=objective.n_parameters, max_size=objective.n_parameters
            )
        ),
        dtype=float,
    )
    return features, labels, flat, weights, objective, parameters


def loss_by_enumeration(features, labels, flat, weights, objective, parameters) -> float:
    model = objective.model(parameters, NoEncoder(features))
    trellis = model.trellis([])
    allowed = labels.allowed(flat)
    total = float(objective.l2[0]) * float(parameters @ parameters)
    for b in range(trellis.n_sequences):
        weight = 1.0 if weights is None else weights[b]
        every = log_sum_exp([p.score for p in enumerate_paths(trellis, b)])
        inside = log_sum_exp([p.score for p in enumerate_paths(trellis, b, allowed)])
        total += weight * (every - inside)
    return total
