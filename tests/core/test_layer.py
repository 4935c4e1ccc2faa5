"""The kernel under the torch layer, without torch: padded batches against ragged ones."""

from __future__ import annotations

import os
import platform

import numpy as np
import pytest
from hypothesis import given, strategies as st

from nested_tests import run_tests
from trelliswork import _core, inference
from trelliswork.automata.automaton import Automaton
from trelliswork.automata.product import product
from trelliswork.inference.trellis import Trellis

IGNORED = -100


def automata(n_tags):
    """The chain, and the chain on the labellings that never repeat tag 0 at once."""
    yield Automaton.chain(n_tags)
    arcs = [(s, y, 1 if y == 0 else 0) for s in (0, 1) for y in range(n_tags) if s * (y == 0) == 0]
    yield product(Automaton.chain(n_tags), Automaton(2, n_tags, *zip(*arcs, strict=True))).automaton


def run(automaton, phi, tags, mask, parameters, *, batch_first, weights=None, n_jobs=1):
    """Return log_z, gold and the four gradients."""
    call = _core.log_likelihood_float32 if phi.dtype == np.float32 else _core.log_likelihood_float64
    mask = None if mask is None else mask.view(np.uint8)
    options = _core.LayerOptions(
        batch_first=batch_first, ignored_tag=IGNORED, memory_limit=2**20, n_jobs=n_jobs
    )
    found = call(automaton._core, phi, tags, mask, *parameters, options, weights, True)
    return found.log_z, found.gold, found.gradient


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([np.float32, np.float64]),
    st.booleans(),
    st.booleans(),
    st.integers(1, 3),
)
def test_padded_equals_ragged(seed, dtype, batch_first, second_automaton, n_jobs):
    rng = np.random.default_rng(seed)
    n_tags, n_sequences, length = rng.integers(2, 12), rng.integers(1, 6), rng.integers(1, 7)
    automaton = list(automata(int(n_tags)))[second_automaton]
    phi = rng.normal(size=(n_sequences, length, n_tags)).astype(dtype)
    tags = rng.integers(1, n_tags, size=(n_sequences, length))
    tags[rng.random(tags.shape) < 0.2] = IGNORED
    mask = rng.random(tags.shape) < 0.8
    weights = rng.normal(size=n_sequences)
    start, end, pairs = (rng.normal(size=s) for s in ((n_tags,), (n_tags,), (n_tags, n_tags)))
    kept = mask & (tags != IGNORED)
    given_arrays = (phi, tags, mask)
    if not batch_first:
        given_arrays = tuple(np.ascontiguousarray(x.swapaxes(0, 1)) for x in given_arrays)
    log_z, gold, found = run(
        automaton,
        *given_arrays,
        (start, end, pairs),
        batch_first=batch_first,
        weights=weights,
        n_jobs=n_jobs,
    )
    expected = [np.zeros(x.shape) for x in (phi, start, end, pairs)]
    for b in range(n_sequences):
        ids, rows = tags[b, kept[b]], phi[b, kept[b]].astype(float)
        if not ids.size:
            assert log_z[b] == gold[b] == 0.0
            continue
        trellis = Trellis(rows, automaton, weights=pairs.ravel(), start=start, end=end)
        posterior = inference.marginals(trellis)
        assert log_z[b] == pytest.approx(posterior.log_partition[0], abs=1e-9)
        assert gold[b] - log_z[b] == pytest.approx(
            inference.log_probability(trellis, ids)[0], abs=1e-9
        )
        difference = (ids[:, None] == np.arange(n_tags)) - posterior.labels
        expected[0][b, kept[b]] = weights[b] * difference
        expected[1] += weights[b] * difference[0]
        expected[2] += weights[b] * difference[-1]
        expected[3] -= weights[b] * posterior.pattern_counts.reshape(n_tags, n_tags)
        np.add.at(expected[3], (ids[:-1], ids[1:]), weights[b])
    if not batch_first:
        expected[0] = expected[0].swapaxes(0, 1)
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-6 if dtype == np.float32 else 1e-9)


def test_wrong_shapes_and_tags():
    automaton = Automaton.chain(2)
    zeros = (np.zeros(2), np.zeros(2), np.zeros((2, 2)))
    phi, tags = np.zeros((1, 3, 2)), np.zeros((1, 3), dtype=np.int64)
    with pytest.raises(ValueError, match="tags, mask: wrong shape"):
        run(automaton, phi, tags[:, :2].copy(), None, zeros, batch_first=True)
    with pytest.raises(ValueError, match="start, end, transitions: wrong shape"):
        run(automaton, phi, tags, None, (np.zeros(3), *zeros[1:]), batch_first=True)
    with pytest.raises(ValueError, match="one pattern a pair of labels"):
        run(Automaton(1, 2, [0], [0], [0]), phi, tags, None, zeros, batch_first=True)
    with pytest.raises(IndexError, match="got 2 in sequence 0 at position 1"):
        run(automaton, phi, np.array([[0, 2, 0]]), None, zeros, batch_first=True)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the variable is one of glibc")
@pytest.mark.skipif("MALLOC_PERTURB_" in os.environ, reason="already on memory that is not zero")
def test_every_cell_of_the_answers_is_written():
    """The tests above once more, where glibc fills new memory with other bytes than 0."""
    run_tests(__file__, MALLOC_PERTURB_="85")
