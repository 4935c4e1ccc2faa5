"""Range, digits and memory: no dependence on the size of scores or the length of sequences."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from decimal import Decimal, localcontext
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from oracle import enumerate_paths, log_sum_exp
from strategies import arrays, sparse_chain, trellises
from trelliswork import inference
from trelliswork.automata.automaton import Automaton
from trelliswork.automata.product import product
from trelliswork.inference.trellis import Trellis


def test_scaled_sums_do_not_lose_a_path():
    scores = [[0.0, -760.0], [-400.0, 0.0], [-400.0, 0.0]]
    diagonal = [[0.0, -np.inf], [-np.inf, 0.0]]
    for phi in (scores, scores[::-1]):
        trellis = Trellis(phi, weights=diagonal)
        assert inference.log_partition(trellis)[0] == pytest.approx(-760.0)
        np.testing.assert_allclose(inference.marginals(trellis).labels[:, 1], 1.0, atol=1e-12)


@pytest.mark.parametrize("scale", [1e6, -1e6])
def test_huge_scores_are_exact(scale):
    phi = np.array([[scale, scale + 1.0], [scale + 2.0, scale]])
    trellis = Trellis(phi, weights=[[0.0, scale], [0.0, 0.0]])
    paths = enumerate_paths(trellis)
    log_z = log_sum_exp([p.score for p in paths])
    assert inference.log_partition(trellis)[0] == pytest.approx(log_z, rel=1e-15)
    assert inference.viterbi(trellis).scores[0] == max(p.score for p in paths)


@given(data=st.data())
def test_a_language_of_hopeless_labellings_loses_nothing(data):
    """Scores of ±1e4, and only the least likely labellings allowed, against 60 digits."""
    n_labels, length = 3, data.draw(st.integers(1, 5))
    huge = st.sampled_from([0.0, 1e4, -1e4, 9999.5, -9999.5, 3e3, 1.25])
    phi = data.draw(arrays((length, n_labels), huge))
    weights = data.draw(arrays((n_labels, n_labels), huge))
    free = Trellis(phi, weights=weights)
    worst = sorted(enumerate_paths(free), key=lambda path: path.score)
    kept = worst[: data.draw(st.integers(1, 4))]
    language = Automaton.from_regex(
        " | ".join("(" + " ".join("abc"[y] for y in path.labels) + ")" for path in kept),
        ("a", "b", "c"),
    )
    bound = Trellis(phi, product(Automaton.chain(n_labels), language).automaton, weights=weights)
    with localcontext(prec=60):
        masses = [Decimal(path.score).exp() for path in kept]
        log_z = float(sum(masses).ln())
        shares = [float(mass / sum(masses)) for mass in masses]
    found = inference.marginals(bound)
    assert found.log_partition[0] == pytest.approx(log_z, rel=1e-15, abs=1e-9)
    expected = np.zeros((length, n_labels))
    for path, share in zip(kept, shares, strict=True):
        expected[np.arange(length), path.labels] += share
    np.testing.assert_allclose(found.labels, expected, atol=1e-12)
    assert inference.viterbi(bound).scores[0] == max(path.score for path in kept)


@given(trellis=trellises(), offset=st.sampled_from([1e6, -1e6]))
def test_a_constant_added_to_every_score_changes_no_posterior(trellis, offset):
    # Every path collects it once a token, longer segments several times at once.
    lengths = np.arange(1, trellis.scores.shape[1] + 1)[None, :, None]
    shifted = Trellis(
        trellis.scores + offset * lengths,
        trellis.automaton,
        offsets=trellis.offsets,
        weights=trellis.weights,
        position_weights=trellis.position_weights,
        start=trellis.start,
        end=trellis.end,
        classes=trellis.classes,
    )
    for arcs in (False, True):
        one, two = (inference.marginals(t, arcs=arcs) for t in (trellis, shifted))
        np.testing.assert_allclose(one.segments, two.segments, atol=1e-8)
        np.testing.assert_allclose(one.entropy, two.entropy, atol=1e-7)


def test_digits_survive_long_sequences_of_huge_scores():
    rng = np.random.default_rng(0)
    scores, weights = rng.normal(size=(20_000, 3)), rng.normal(size=(3, 3))
    for automaton, psi in ((None, weights), (sparse_chain(3), [*weights.ravel(), 0.0])):
        plain = Trellis(scores, automaton, weights=psi)
        huge = Trellis(scores + 1e6, automaton, weights=psi)
        one, two = inference.marginals(plain), inference.marginals(huge)
        # The digits lost are those lost by adding 1e6 to a score: 1e-10 each.
        np.testing.assert_allclose(one.labels, two.labels, atol=1e-8)
        assert one.entropy[0] == pytest.approx(two.entropy[0], rel=1e-8)


# The highest memory of a process so far. (That of `resource` outlives the start of a program: it is
# the parent's, and nothing grows beyond it.)
STATUS = Path("/proc/self/status")
HIGHEST = re.compile(r"^VmHWM:\s*(\d+) kB$", re.MULTILINE)


def growth(kind: str, memory_limit: int) -> int:
    """Return the kilobytes that three verbs take in a process of its own, on 100,000 tokens."""
    program = f"""
import re, numpy as np
from pathlib import Path
from strategies import sparse_chain
from trelliswork import inference
from trelliswork.inference import Trellis

def highest():
    return int(re.search({HIGHEST.pattern!r}, Path({str(STATUS)!r}).read_text(), re.M)[1])

shape = (100_000, 4, 30) if {kind!r} == "segments" else (100_000, 30)
automaton = sparse_chain(30) if {kind!r} == "sparse" else None
scores = np.ones(shape)  # zeros would take memory only when they are read
trellis = Trellis(scores, automaton, memory_limit={memory_limit})
inference.log_partition(Trellis(np.zeros((10, 30))))
before = highest()
labels = inference.viterbi(trellis).labels
inference.log_partition(trellis)
samples = inference.sample(trellis, 1)
print(highest() - before)
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


@pytest.mark.skipif(
    not (STATUS.is_file() and HIGHEST.search(STATUS.read_text())),
    reason="the system does not tell the highest memory of a process",
)
@pytest.mark.skipif(
    "asan" in os.environ.get("LD_PRELOAD", ""), reason="the sanitizer keeps memory that was freed"
)
@pytest.mark.parametrize("kind", ["dense", "sparse", "segments"])
def test_long_sequences_keep_few_rows(kind):
    most = 12_000  # kilobytes; all rows are 24,000 and more
    assert growth(kind, memory_limit=2**20) < most < growth(kind, memory_limit=2**40)


def test_checkpoints_change_nothing():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(100_000, 5))
    weights = rng.normal(size=(5, 5))
    whole = Trellis(scores, weights=weights)
    blocks = Trellis(scores, weights=weights, memory_limit=2**14)
    one, two = inference.marginals(whole), inference.marginals(blocks)
    assert one.log_partition == pytest.approx(two.log_partition, rel=1e-12)
    np.testing.assert_allclose(one.labels, two.labels, atol=1e-10)
    np.testing.assert_array_equal(inference.viterbi(whole).labels, inference.viterbi(blocks).labels)
