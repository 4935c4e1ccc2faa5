"""Learning CRFs on one structure, and mixing models."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

import trelliswork as tw
from trelliswork.constraints import at_most
from trelliswork.learn.mixing import mix_pairs, mix_penalties
from trelliswork.learn.penalties.counts import DOUBT
from trelliswork.models.pair_weights import PairWeights

X = [["a", "b", "b"], ["a", "c"], ["b", "c", "b"], ["a", "a", "c"]]
Y = [["A", "B", "B"], ["A", "C"], ["B", "C", "B"], ["A", "A", "C"]]
U = [["d", "b"], ["d", "e", "a"]]
LABELS = tw.LabelSet.infer(Y)


@st.composite
def pair_weights(draw, n_features=3, n_outputs=3):
    """Draw weights of some pairs, and the same as a table."""
    table = np.zeros((n_features, n_outputs))
    offsets, outputs, weights = [0], [], []
    for feature in range(n_features):
        chosen = sorted(draw(st.sets(st.integers(0, n_outputs - 1))))
        outputs += chosen
        for output in chosen:
            table[feature, output] = draw(st.floats(-3, 3))
            weights.append(table[feature, output])
        offsets.append(len(outputs))
    made = PairWeights(
        np.array(offsets, dtype=np.int64), np.array(outputs, dtype=np.int32), np.array(weights)
    )
    return made, table


def as_table(pairs, shape):
    table = np.zeros(shape)
    table[pairs.features, pairs.outputs] = pairs.weights
    return table


@given(pair_weights(), pair_weights(), st.floats(0, 1))
def test_mixing_is_that_of_tables(first, second, share):
    mixed = mix_pairs(first[0], second[0], share)
    expected = share * first[1] + (1 - share) * second[1]
    assert as_table(mixed, expected.shape) == pytest.approx(expected, abs=1e-12)
    for feature in range(len(expected)):
        own = mixed.outputs[mixed.offsets[feature] : mixed.offsets[feature + 1]]
        assert (np.diff(own) > 0).all()


def test_infinite_penalties_are_not_mixed():
    first, second = np.array([np.inf, 2.0, 0.0]), np.array([np.inf, 4.0, 1.0])
    for share, expected in ((1.0, [np.inf, 2, 0]), (0.0, [np.inf, 4, 1]), (0.5, [np.inf, 3, 0.5])):
        assert mix_penalties(first, second, share).tolist() == expected


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"order": 2},
        {"max_segment": "auto"},
        {"constraints": at_most(2, "B").soft()},
        {"class_weight": {"A": 2.0, "B": 1.0, "C": 0.5}},
    ],
)
def test_a_mix_of_models_scores_as_the_mix_of_their_scores(parameters):
    tagger = tw.CRFTagger(features="word[-1..0]", l2=0.1, **parameters)
    learner = tagger._learner(LABELS, X, Y, U)
    first = learner.learn(X, Y)
    second = learner.learn(U, [["A", "B"], ["A", "B", "B"]])
    assert first.model.structure is second.model.structure
    mixed = learner.mix(first.model, second.model, 0.25)
    sequences = [*X, *U]
    one, other, both = (m.trellis(sequences) for m in (first.model, second.model, mixed))
    assert both.scores == pytest.approx(0.25 * one.scores + 0.75 * other.scores, abs=1e-9)
    assert mixed.pattern_weights == pytest.approx(
        0.25 * first.model.pattern_weights + 0.75 * second.model.pattern_weights
    )


def test_models_of_two_learners_cannot_be_mixed():
    tagger = tw.CRFTagger(features="word[0]")
    learner, other = (tagger._learner(LABELS, X, Y) for _ in range(2))
    first, second = learner.learn(X, Y), other.learn(X, Y)
    with pytest.raises(ValueError, match="one structure and one encoder"):
        learner.mix(first.model, second.model, 0.5)


def test_features_of_unlabelled_sequences():
    learner = tw.CRFTagger(features="word[0]")._learner(LABELS, X, Y, U)
    assert {"word[0]=d", "word[0]=e"} <= set(learner.encoder.feature_names())
    # Nothing has been seen with them yet, and the other weights are as without them.
    alone = tw.CRFTagger(features="word[0]").fit(X, Y)
    found = learner.learn(X, Y).model
    assert found.trellis(X).scores == pytest.approx(alone.model_.trellis(X).scores)
    assert (found.trellis([["d"]]).scores == 0.0).all()


def test_learning_again_starts_near_the_end():
    learner = tw.CRFTagger(features="word[-1..0]", l2=0.1)._learner(LABELS, X, Y)
    first, second = learner.learn(X, Y), learner.learn(X, Y)
    assert len(second.run.log) < len(first.run.log)
    assert second.run.loss == pytest.approx(first.run.loss, rel=1e-4)


def test_weights_of_sequences_are_repetitions():
    weights = np.array([1.0, 2.0, 0.0, 1.0])
    tagger = tw.CRFTagger(
        features="word[0]",
        pairs="all",
        transitions="all",
        penalties="counts",
        constraints=at_most(1, "A").soft(),
        tol=1e-9,
    )
    weighted = tagger._learner(LABELS, X, Y).learn(X, Y, weights)
    places = [0, 1, 1, 3]
    repeated = tagger._learner(LABELS, X, Y).learn([X[b] for b in places], [Y[b] for b in places])
    assert weighted.model.trellis(X).scores == pytest.approx(
        repeated.model.trellis(X).scores, abs=1e-3
    )
    assert weighted.plan.penalties == pytest.approx(repeated.plan.penalties)


@pytest.mark.parametrize("method", ["counts", "perceptron", "ssvm"])
def test_labels_beyond_training_with_any_penalties(method):
    rule = at_most(1, "Z").soft()
    tagger = tw.CRFTagger(
        features="word[0]", labels=["Z"], constraints=rule, penalties=method, random_state=1
    )
    tagger.fit(X * 3, Y * 3)
    assert tagger.labels_.names == ("A", "B", "C", "Z")
    # No sentence breaks it, and no answer to a sentence that was held out has a Z.
    expected = np.log((len(X * 3) + 1) / DOUBT) if method == "counts" else 0.0
    assert tagger.penalties_[repr(rule)] == pytest.approx(expected)


@pytest.mark.parametrize("labels", ["Z", [1], [None]])
def test_labels_have_to_be_names(labels):
    with pytest.raises(TypeError, match="labels: expected a list of label names"):
        tw.CRFTagger(features="word[0]", labels=labels).fit(X, Y)


def test_labels_do_not_decide_the_scheme():
    tagger = tw.CRFTagger(features="word[0]", labels=["I-x", "B-x"])
    assert tagger.fit([["a", "b"]], [["B-y", "O"]]).labels_.scheme == "bio"
