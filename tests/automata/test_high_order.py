"""Inference on random sets of patterns, with segments and languages, by enumeration."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

from oracle import log_sum_exp, probabilities
from pattern_oracle import PatternModel
from strategies import arrays, expressions, ordinary, pattern_sets
from trelliswork import inference
from trelliswork.automata.automaton import Automaton
from trelliswork.automata.patterns import Patterns
from trelliswork.automata.product import product
from trelliswork.inference.pattern_posteriors import pattern_marginals

LETTERS = "abc"


@st.composite
def pattern_models(draw, positional: bool | None = None, elements=ordinary) -> PatternModel:
    """One short sequence: patterns of up to five labels, segments of up to four tokens."""
    n_labels = draw(st.integers(1, 3))
    longest = draw(st.integers(1, 4))
    length = draw(st.integers(1, 7 - n_labels))
    patterns = draw(pattern_sets(n_labels))
    flags = st.lists(st.booleans(), min_size=n_labels, max_size=n_labels)
    always = st.just([True] * n_labels)
    never = st.just([False] * n_labels)
    language = accepts = None
    if draw(st.booleans()):
        names = LETTERS[:n_labels]
        language = Automaton.from_regex(draw(expressions(names)), list(names))
        read = language
        accepts = lambda letters: read.accepts([LETTERS[y] for y in letters])  # noqa: E731
    if positional is None:
        positional = draw(st.booleans())
    # Weights by token may be of the first patterns only; those of a chain are a matrix.
    fewest = len(patterns) if patterns.is_chain else 0
    columns = draw(st.integers(fewest, len(patterns))) if positional else 0
    return PatternModel(
        patterns,
        draw(arrays((length, longest, n_labels), elements)),
        draw(arrays((len(patterns),), elements)),
        draw(arrays((length, columns), elements)) if positional else None,
        draw(st.one_of(always, flags)),
        draw(st.one_of(never, flags)),
        accepts,
        language,
        draw(st.sampled_from([0, 2**20])),  # with checkpoints and without
    )


forbidding = st.one_of(ordinary, st.sampled_from([-np.inf, -800.0, 800.0]))


@given(pattern_models(elements=forbidding))
def test_log_partition(model):
    expected = log_sum_exp([path.score for path in model.paths()])
    found = inference.log_partition(model.trellis(), n_jobs=1)[0]
    assert found == pytest.approx(expected, rel=1e-10, abs=1e-10)


@given(pattern_models(elements=forbidding))
def test_marginals(model):
    paths = model.paths()
    segments = np.zeros(model.scores.shape)
    counts = np.zeros((*model.scores.shape[:2], len(model.patterns)))
    for path, p in zip(paths, probabilities(paths), strict=True):
        for t, d, y in path.segments:
            segments[t, d - 1, y] += p
        for t, d, z in path.fired:
            counts[t, d - 1, z] += p
    trellis = model.trellis()
    found = inference.marginals(trellis, n_jobs=1)
    np.testing.assert_allclose(found.segments, segments, atol=1e-10)
    np.testing.assert_allclose(found.pattern_counts, counts.sum(axis=(0, 1)), atol=1e-10)
    np.testing.assert_allclose(pattern_marginals(trellis, n_jobs=1), counts, atol=1e-10)


@given(pattern_models())
def test_entropy(model):
    paths = model.paths()
    assume(paths)
    expected = -math.fsum(p * math.log(p) for p in probabilities(paths) if p > 0)
    assert inference.entropy(model.trellis(), n_jobs=1)[0] == pytest.approx(expected, abs=1e-8)


@given(pattern_models(elements=forbidding), st.integers(1, 8))
def test_best_paths(model, k):
    paths = model.paths()
    scores = sorted((path.score for path in paths), reverse=True)
    by_spelling = {(path.labels, path.begins): path.score for path in paths}
    trellis = model.trellis()
    found = inference.kbest(trellis, k, n_jobs=1)
    n_found = int(np.isfinite(found.scores[0]).sum())
    assert n_found == min(k, len(paths))
    np.testing.assert_allclose(found.scores[0, :n_found], scores[:n_found], atol=1e-8)
    spelled = [
        (tuple(found.labels[i].tolist()), tuple(found.begins[i].tolist())) for i in range(n_found)
    ]
    assert len(set(spelled)) == n_found
    for spelling, score in zip(spelled, found.scores[0], strict=False):
        assert by_spelling[spelling] == pytest.approx(score, abs=1e-8)
    best = inference.viterbi(trellis, n_jobs=1)
    if not paths:
        assert best.scores[0] == -np.inf
        assert (best.labels == -1).all()
        return
    assert best.scores[0] == pytest.approx(scores[0], abs=1e-8)
    spelling = (tuple(best.labels.tolist()), tuple(best.begins.tolist()))
    assert by_spelling[spelling] == pytest.approx(scores[0], abs=1e-8)


@given(pattern_models(elements=forbidding), st.integers(0, 2**31))
def test_samples_are_paths(model, seed):
    paths = model.paths()
    assume(paths)
    likely = {
        (path.labels, path.begins): p for path, p in zip(paths, probabilities(paths), strict=True)
    }
    labels, begins = inference.sample(model.trellis(), 20, random_state=seed, n_jobs=1)
    for i in range(20):
        assert likely[tuple(labels[i].tolist()), tuple(begins[i].tolist())] > 0


def test_samples_are_as_frequent_as_they_are_likely():
    rng = np.random.default_rng(3)
    patterns = Patterns.of([(0, 1), (0, 1, 0), (1, 1, 1)], 2)
    free = [True, True]
    model = PatternModel(
        patterns, rng.normal(size=(3, 2, 2)), rng.normal(size=3), None, free, [0, 0]
    )
    paths = model.paths()
    n = 20_000
    labels, begins = inference.sample(model.trellis(), n, random_state=1, n_jobs=1)
    drawn = list(zip(map(tuple, labels.tolist()), map(tuple, begins.tolist()), strict=True))
    for path, p in zip(paths, probabilities(paths), strict=True):
        share = drawn.count((path.labels, path.begins)) / n
        assert share == pytest.approx(p, abs=5 * math.sqrt(p * (1 - p) / n))


@given(pattern_models(positional=True))
def test_gradients_by_finite_differences(model):
    trellis = model.trellis()
    assume(np.isfinite(inference.log_partition(trellis, n_jobs=1)[0]))
    found = inference.marginals(trellis, n_jobs=1)
    by_token = pattern_marginals(trellis, n_jobs=1)
    step = 1e-5

    def slope(name, values, index):
        sides = []
        for sign in (1, -1):
            moved = values.copy()
            moved[index] += sign * step
            changed = model.trellis(trellis.automaton, **{name: moved})
            sides.append(inference.log_partition(changed, n_jobs=1)[0])
        return (sides[0] - sides[1]) / (2 * step)

    for z in range(len(model.patterns)):
        assert found.pattern_counts[z] == pytest.approx(
            slope("weights", model.weights, z), abs=1e-6
        )
    for u, z in np.ndindex(model.position_weights.shape):
        # All segments that begin at u: d + 1 tokens end at u + d.
        begun = sum(
            by_token[u + d, d, z] for d in range(by_token.shape[1]) if u + d < len(by_token)
        )
        expected = slope("position_weights", model.position_weights, (u, z))
        assert begun == pytest.approx(expected, abs=1e-6)


def without_parents(automaton: Automaton) -> Automaton:
    return Automaton._from_arrays(automaton._arrays()._replace(parents=None))


@given(pattern_models(elements=forbidding), st.data())
def test_sharing_work_changes_nothing(model, data):
    """With failure links and without: the same answers of all verbs."""
    shared = model.trellis()
    plain = model.trellis(without_parents(shared.automaton))
    n_tokens, _, n_labels = model.scores.shape
    mask = st.lists(st.booleans(), min_size=n_tokens * n_labels, max_size=n_tokens * n_labels)
    allowed = data.draw(
        st.one_of(st.none(), mask.map(lambda m: np.reshape(m, (n_tokens, n_labels))))
    )
    assert agree(shared, plain, allowed) == []


def agree(one, other, allowed=None) -> list[str]:
    """Return the answers that differ by more than 1e-10."""
    answers = []
    for trellis in (one, other):
        posterior = inference.marginals(trellis, allowed=allowed, arcs=False, n_jobs=1)
        best = inference.viterbi(trellis, allowed=allowed, n_jobs=1)
        several = inference.kbest(trellis, 4, allowed=allowed, n_jobs=1)
        answers.append(
            {
                "partition": inference.log_partition(trellis, allowed=allowed, n_jobs=1),
                "posterior partition": posterior.log_partition,
                "segments": posterior.segments,
                "counts": posterior.pattern_counts,
                "entropy": posterior.entropy,
                "best": best.scores,
                "several": several.scores,
            }
        )
    return [
        name
        for name, found in answers[0].items()
        if not np.allclose(found, answers[1][name], rtol=1e-10, atol=1e-10)
    ]


@given(st.data())
def test_pairs_on_the_sparse_path_are_the_chain(data):
    """One idle pattern more takes first-order patterns down the sparse path."""
    n_labels, n_tokens = data.draw(st.integers(1, 4)), data.draw(st.integers(0, 5))
    scores = data.draw(arrays((n_tokens, n_labels), forbidding))
    weights = data.draw(arrays((n_labels * n_labels,), forbidding))
    idle = Patterns.of([(0,), *Patterns.chain(n_labels)], n_labels)
    sparse = inference.Trellis(scores, idle.automaton(), weights=[0.0, *weights])
    dense = inference.Trellis(scores, weights=weights)
    assert dense.automaton.is_chain
    assert not sparse.automaton.is_chain
    one, other = (inference.marginals(trellis, n_jobs=1) for trellis in (sparse, dense))
    np.testing.assert_allclose(one.pattern_counts[1:], other.pattern_counts, atol=1e-10)
    for name in ("log_partition", "segments", "entropy"):
        np.testing.assert_allclose(
            getattr(one, name), getattr(other, name), rtol=1e-10, atol=1e-10, err_msg=name
        )
    several = [inference.kbest(trellis, 3, n_jobs=1) for trellis in (sparse, dense)]
    np.testing.assert_allclose(several[0].scores, several[1].scores, rtol=1e-10, atol=1e-9)
    best = [inference.viterbi(trellis, n_jobs=1) for trellis in (sparse, dense)]
    np.testing.assert_allclose(best[0].scores, best[1].scores, rtol=1e-10, atol=1e-9)
    # Of labellings that tie, the last bits of sums decide.
    worth = [inference.log_probability(dense, np.maximum(found.labels, 0)) for found in best]
    np.testing.assert_allclose(*worth, atol=1e-9)


def test_products_keep_patterns_and_parents():
    """A language on top: the product fires the patterns of the model."""
    patterns = Patterns.of([(0, 1), (1, 0, 1)], 2)
    language = Automaton.from_regex("(a b)*", ["a", "b"])
    both = product(patterns.automaton(), language).automaton
    assert both.parents is not None
    trellis = inference.Trellis(np.zeros((4, 2)), both, weights=[1.0, 10.0])
    assert inference.log_partition(trellis, n_jobs=1)[0] == pytest.approx(12.0)
