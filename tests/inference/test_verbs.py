from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import chi2

from oracle import enumerate_paths, log_sum_exp, probabilities
from strategies import arrays, expressions, ordinary, sparse_chain, trellises
from trelliswork import inference
from trelliswork.automata.automaton import Automaton
from trelliswork.automata.product import product
from trelliswork.inference.trellis import derive
from trelliswork.inference.verbs import Trellis
from trelliswork.labels.label_set import LabelSet

jobs = st.sampled_from([1, 2])


def masks(trellis):
    shape = (trellis.n_tokens, trellis.automaton.n_labels)
    return st.one_of(
        st.none(),
        st.lists(st.booleans(), min_size=shape[0] * shape[1], max_size=shape[0] * shape[1]).map(
            lambda values: np.array(values, dtype=bool).reshape(shape)
        ),
    )


@settings(max_examples=300)
@given(data=st.data(), trellis=trellises(), n_jobs=jobs)
def test_log_partition_equals_enumeration(data, trellis, n_jobs):
    allowed = data.draw(masks(trellis))
    found = inference.log_partition(trellis, allowed=allowed, n_jobs=n_jobs)
    for b in range(trellis.n_sequences):
        paths = enumerate_paths(trellis, b, allowed)
        assert found[b] == pytest.approx(log_sum_exp([p.score for p in paths]), abs=1e-9)


@settings(max_examples=300)
@given(data=st.data(), trellis=trellises(), n_jobs=jobs, arcs=st.booleans())
def test_marginals_equal_enumeration(data, trellis, n_jobs, arcs):
    allowed = data.draw(masks(trellis))
    found = inference.marginals(trellis, allowed=allowed, arcs=arcs, n_jobs=n_jobs)
    segments = np.zeros(trellis.scores.shape)
    labels = np.zeros((trellis.n_tokens, trellis.automaton.n_labels))
    per_arc = np.zeros((trellis.n_tokens, trellis.automaton.n_arcs))
    for b, first in enumerate(trellis.offsets[:-1]):
        paths = enumerate_paths(trellis, b, allowed)
        entropy = 0.0
        for path, p in zip(paths, probabilities(paths) if paths else [], strict=True):
            entropy -= p * math.log(p) if p > 0 else 0.0
            for t, d, y in path.segments:
                segments[first + t, d - 1, y] += p
            for t, y in enumerate(path.labels):
                labels[first + t, y] += p
            for t, arc in path.arcs:
                per_arc[first + t, arc] += p
        assert found.entropy[b] == pytest.approx(entropy, abs=1e-9)
    counts = np.zeros(trellis.automaton.n_patterns)
    for arc, total in enumerate(per_arc.sum(axis=0)):
        offsets = trellis.automaton.pattern_offsets
        for pattern in trellis.automaton.pattern_ids[offsets[arc] : offsets[arc + 1]]:
            counts[pattern] += total
    np.testing.assert_allclose(found.segments, segments, atol=1e-9)
    np.testing.assert_allclose(found.labels, labels, atol=1e-9)
    np.testing.assert_allclose(found.pattern_counts, counts, atol=1e-9)
    if arcs:
        np.testing.assert_allclose(found.arcs, per_arc, atol=1e-9)


@settings(max_examples=300)
@given(data=st.data(), trellis=trellises(), n_jobs=jobs)
def test_viterbi_equals_enumeration(data, trellis, n_jobs):
    allowed = data.draw(masks(trellis))
    found = inference.viterbi(trellis, allowed=allowed, n_jobs=n_jobs)
    for b in range(trellis.n_sequences):
        span = slice(trellis.offsets[b], trellis.offsets[b + 1])
        paths = enumerate_paths(trellis, b, allowed)
        if not paths:
            assert found.scores[b] == -np.inf
            assert (found.labels[span] == -1).all()
            continue
        assert found.scores[b] == pytest.approx(max(p.score for p in paths), abs=1e-9)
        chosen = (tuple(found.labels[span].tolist()), tuple(found.begins[span].tolist()))
        scores = [p.score for p in paths if (p.labels, p.begins) == chosen]
        assert max(scores) == pytest.approx(found.scores[b], abs=1e-9)


@settings(max_examples=200)
@given(trellis=trellises(), k=st.integers(1, 12), n_jobs=jobs)
def test_kbest_equals_enumeration(trellis, k, n_jobs):
    found = inference.kbest(trellis, k, n_jobs=n_jobs)
    for b in range(trellis.n_sequences):
        span = slice(trellis.offsets[b], trellis.offsets[b + 1])
        best: dict[tuple, float] = {}
        for path in enumerate_paths(trellis, b):
            key = (path.labels, path.begins)
            best[key] = max(best.get(key, -math.inf), path.score)
        expected = sorted(best.values(), reverse=True)[:k]
        assert len(found.labels) <= k
        n = len(expected)
        assert found.scores[b, :n] == pytest.approx(expected, abs=1e-9)
        assert (found.scores[b, n:] == -np.inf).all()
        assert (found.labels[n:, span] == -1).all()
        keys = [
            (tuple(found.labels[i, span].tolist()), tuple(found.begins[i, span].tolist()))
            for i in range(n)
        ]
        assert len(set(keys)) == n
        for key, score in zip(keys, found.scores[b], strict=False):
            assert best[key] == pytest.approx(score, abs=1e-9)


@given(trellis=trellises(), n_jobs=jobs)
def test_kbest_begins_with_viterbi(trellis, n_jobs):
    best = inference.viterbi(trellis, n_jobs=n_jobs)
    np.testing.assert_array_equal(inference.kbest(trellis, 2, n_jobs=n_jobs).labels[0], best.labels)


@settings(max_examples=200)
@given(trellis=trellises(), n_jobs=jobs)
def test_entropy_equals_enumeration(trellis, n_jobs):
    found = inference.entropy(trellis, n_jobs=n_jobs)
    for b in range(trellis.n_sequences):
        paths = enumerate_paths(trellis, b)
        if not paths:
            assert math.isnan(found[b])
            continue
        expected = -math.fsum(p * math.log(p) for p in probabilities(paths) if p > 0)
        assert found[b] == pytest.approx(expected, abs=1e-6)


@settings(max_examples=200)
@given(data=st.data(), trellis=trellises(), n_jobs=jobs)
def test_log_probability_equals_enumeration(data, trellis, n_jobs):
    n_labels = trellis.automaton.n_labels
    labels = data.draw(
        st.lists(st.integers(0, n_labels - 1), min_size=trellis.n_tokens, max_size=trellis.n_tokens)
    )
    found = inference.log_probability(trellis, np.array(labels, dtype=int), n_jobs=n_jobs)
    for b in range(trellis.n_sequences):
        wanted = tuple(labels[trellis.offsets[b] : trellis.offsets[b + 1]])
        paths = enumerate_paths(trellis, b)
        inside = log_sum_exp([p.score for p in paths if p.labels == wanted])
        total = log_sum_exp([p.score for p in paths])
        expected = inside - total if inside > -math.inf else -math.inf
        assert found[b] == pytest.approx(expected, abs=1e-8)


@given(trellis=trellises(), n_jobs=jobs)
def test_max_marginal_takes_the_most_probable_label(trellis, n_jobs):
    labels, confidence = inference.max_marginal(trellis, n_jobs=n_jobs)
    posterior = inference.marginals(trellis, n_jobs=1).labels
    for t in range(trellis.n_tokens):
        if posterior[t].max() == 0.0:
            assert labels[t] == -1
        else:
            assert posterior[t, labels[t]] == pytest.approx(posterior[t].max(), abs=1e-9)
            assert confidence[t] == pytest.approx(posterior[t].max(), abs=1e-9)


@settings(max_examples=100)
@given(trellis=trellises(dense=True))
def test_the_dense_path_agrees_with_the_sparse_path(trellis):
    other = sparse_chain(trellis.automaton.n_labels)
    assert trellis.automaton.is_chain
    assert not other.is_chain
    sparse = Trellis(
        trellis.scores,
        other,
        offsets=trellis.offsets,
        weights=None if trellis.weights is None else [*trellis.weights, 0.0],
        start=trellis.start,
        end=trellis.end,
        classes=trellis.classes,
    )
    one, two = inference.marginals(trellis), inference.marginals(sparse)
    np.testing.assert_allclose(one.log_partition, two.log_partition, rtol=1e-12, atol=1e-10)
    np.testing.assert_allclose(one.segments, two.segments, atol=1e-10)
    np.testing.assert_allclose(one.pattern_counts, two.pattern_counts[:-1], atol=1e-10)
    # Of labellings that tie, the last bits of sums decide.
    answers = [inference.viterbi(either) for either in (trellis, sparse)]
    np.testing.assert_allclose(*(found.scores for found in answers), rtol=1e-12, atol=1e-9)
    worth = [inference.log_probability(trellis, np.maximum(found.labels, 0)) for found in answers]
    np.testing.assert_allclose(*worth, atol=1e-9)


@given(trellis=trellises(elements=st.floats(-3, 3)))
def test_marginals_are_the_gradient_of_log_partition(trellis):
    step = 1e-5
    found = inference.marginals(trellis)
    direction = np.random.default_rng(0).normal(size=trellis.scores.shape)
    shifted = [
        Trellis(
            trellis.scores + sign * step * direction,
            trellis.automaton,
            offsets=trellis.offsets,
            weights=trellis.weights,
            position_weights=trellis.position_weights,
            start=trellis.start,
            end=trellis.end,
            classes=trellis.classes,
        )
        for sign in (1, -1)
    ]
    up, down = (inference.log_partition(t) for t in shifted)
    finite = np.isfinite(up)
    numeric = ((up[finite] - down[finite]) / (2 * step)).sum()
    assert (found.segments * direction).sum() == pytest.approx(numeric, abs=1e-6)


def sampling_cases():
    rng = np.random.default_rng(7)
    scores, weights = rng.normal(size=(4, 2)), rng.normal(size=(2, 2))
    forbidden = scores.copy()
    forbidden[1, 0] = -np.inf
    loops = Automaton(2, 2, [0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 1, 0], initial=[-900.0, -900.5])
    return {
        "dense": Trellis(scores, weights=weights),
        "dense, weights far below 0": Trellis(scores, weights=weights - 800.0),
        "dense, weights far above 0": Trellis(scores, weights=weights + 800.0),
        "dense, denormal weights": Trellis(scores, weights=weights - 742.0),
        "dense, by position": Trellis(
            scores, weights=weights, position_weights=rng.normal(size=(4, 4)) - 800.0
        ),
        "dense, forbidden": Trellis(forbidden, weights=weights),
        "sparse": Trellis(scores, sparse_chain(2), weights=[*weights.ravel(), 0.0]),
        "sparse, in logarithms": Trellis(scores * [[1.0, 400.0]], sparse_chain(2)),
        "segments": Trellis(rng.normal(size=(4, 3, 2)), weights=weights),
        "initial weights": Trellis(scores, loops),
        "checkpoints": Trellis(scores, weights=weights, memory_limit=0),
    }


@pytest.mark.parametrize("case", sampling_cases())
def test_samples_follow_the_distribution(case):
    trellis = sampling_cases()[case]
    n = 20_000
    labels, begins = inference.sample(trellis, n, random_state=3)
    seen = Counter(zip(map(tuple, labels.tolist()), map(tuple, begins.tolist()), strict=True))
    paths = enumerate_paths(trellis)
    expected: Counter[tuple] = Counter()
    for path, p in zip(paths, probabilities(paths), strict=True):
        expected[path.labels, path.begins] += n * p
    assert set(seen) <= set(expected)
    # Chi-square over the paths that are expected often enough; the rest are one class.
    common = [key for key, count in expected.items() if count >= 5]
    pairs = [(seen[key], expected[key]) for key in common]
    rest = (n - sum(found for found, _ in pairs), n - sum(wanted for _, wanted in pairs))
    statistic = sum((found - wanted) ** 2 / wanted for found, wanted in pairs)
    if rest[1] > 1:
        statistic += (rest[0] - rest[1]) ** 2 / rest[1]
    # The seed is fixed; this leaves a right sampler one chance in ten thousand to fail.
    assert statistic < chi2.ppf(0.9999, max(1, len(common)))


def test_samples_do_not_depend_on_threads():
    rng = np.random.default_rng(1)
    trellis = Trellis(rng.normal(size=(90, 3)), offsets=np.arange(0, 91, 3))
    one, _ = inference.sample(trellis, 5, random_state=11, n_jobs=1)
    two, _ = inference.sample(trellis, 5, random_state=11, n_jobs=2)
    np.testing.assert_array_equal(one, two)


def test_wrong_arguments_of_verbs_are_refused():
    trellis = Trellis(np.zeros((2, 2)))
    with pytest.raises(ValueError, match="allowed: expected shape"):
        inference.viterbi(trellis, allowed=np.ones((3, 2), dtype=bool))
    with pytest.raises(ValueError, match="k: expected a whole number from 1 up"):
        inference.kbest(trellis, 0)
    with pytest.raises(ValueError, match="labels: expected ids from 0 to 1, got 5 at token 1"):
        inference.log_probability(trellis, [0, 5])
    with pytest.raises(ValueError, match="n_jobs"):
        inference.viterbi(trellis, n_jobs=0)


def test_segments_may_be_longer_than_the_sequence():
    found = inference.marginals(Trellis(np.zeros((2, 5, 2)))).labels
    np.testing.assert_allclose(found, 0.5)


def test_ties_go_to_the_lowest_label():
    best = inference.viterbi(Trellis(np.zeros((4, 3))))
    np.testing.assert_array_equal(best.labels, 0)


@given(trellises(dense=True, elements=ordinary), expressions("ab"))
def test_probability_of_a_language(trellis, expression):
    names = list("abc"[: trellis.automaton.n_labels])
    if len(names) < 2:
        return
    language = Automaton.from_regex(expression, names)
    found = inference.language_probability(trellis, language, n_jobs=1)
    logs = inference.language_probability(trellis, language, log=True, n_jobs=1)
    for b in range(trellis.n_sequences):
        paths = enumerate_paths(trellis, b)
        inside = [path.score for path in paths if language.accepts(path.labels)]
        expected = log_sum_exp(inside) - log_sum_exp([path.score for path in paths])
        assert logs[b] == pytest.approx(expected, abs=1e-9)
        assert found[b] == pytest.approx(math.exp(expected), abs=1e-12)


@settings(max_examples=30)
@given(trellises(dense=True, elements=ordinary), expressions("ab"), expressions("ab"))
def test_probability_of_a_language_inside_another(trellis, within, expression):
    names = list("abc"[: trellis.automaton.n_labels])
    if len(names) < 2:
        return
    outer, inner = (Automaton.from_regex(text, names) for text in (within, expression))
    inside = derive(trellis, automaton=product(trellis.automaton, outer).automaton)
    found = inference.language_probability(inside, inner, log=True, n_jobs=1)
    for b in range(trellis.n_sequences):
        paths = [path for path in enumerate_paths(trellis, b) if outer.accepts(path.labels)]
        both = [path.score for path in paths if inner.accepts(path.labels)]
        total = log_sum_exp([path.score for path in paths])
        expected = log_sum_exp(both) - total if both else -math.inf
        assert found[b] == pytest.approx(expected, abs=1e-9)


def test_probability_of_a_language_in_the_far_tail():
    trellis = Trellis([[0.0, -2000.0], [0.0, -2000.0]])
    language = Automaton.from_regex("b b", ["a", "b"])
    assert inference.language_probability(trellis, language, log=True)[0] == pytest.approx(-4000)
    assert inference.language_probability(trellis, language)[0] == 0.0


SCHEMES = [
    LabelSet(["a", "b"]),
    LabelSet(["O", "a"], outside="O"),
    LabelSet(["B-x", "I-x", "O", "I-y"], scheme="bio"),
    LabelSet(["B-x", "E-x", "S-x", "O"], scheme="bioes"),
    LabelSet(["B-x", "I-x/B-y", "I-x/I-y", "O"], scheme="path"),
]


@settings(max_examples=25)
@given(st.data(), st.sampled_from(SCHEMES))
def test_probability_of_spans(data, labels):
    n_labels = len(labels)
    lengths = data.draw(st.lists(st.integers(0, 3), min_size=1, max_size=2))
    scores = [data.draw(arrays((n, n_labels), ordinary)) for n in lengths]
    weights = data.draw(arrays((n_labels, n_labels), ordinary))
    trellis = Trellis.from_sequences(scores, weights=weights)
    spans = [
        [
            (i, j, name)
            for i in range(n)
            for j in range(i + 1, n + 1)
            for name in labels.segment_names
        ]
        for n in lengths
    ]
    found = inference.span_probability(trellis, labels, spans, n_jobs=1)
    for b, own in enumerate(spans):
        paths = enumerate_paths(trellis, b)
        weight = dict(zip(paths, probabilities(paths), strict=True))
        held = {
            path: {tuple(s) for s in labels.spans(labels.decode(path.labels))} for path in paths
        }
        assert len(found[b]) == len(own)
        for span, p in zip(own, found[b], strict=True):
            expected = sum(weight[path] for path in paths if span in held[path])
            assert p == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("span", [(0, 3, "a"), (1, 1, "a"), (0, 1, "z")])
def test_spans_that_cannot_be_are_refused(span):
    with pytest.raises(ValueError, match="spans: sequence 0"):
        inference.span_probability(Trellis(np.zeros((2, 2))), SCHEMES[0], [[span]])
    with pytest.raises(ValueError, match="a list for each of the 1 sequences"):
        inference.span_probability(Trellis(np.zeros((2, 2))), SCHEMES[0], [])
