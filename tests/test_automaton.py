from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from trelliswork.automata.automaton import Automaton
from trelliswork.inference.verbs import Trellis, log_partition


def test_a_chain_has_a_state_for_the_empty_context():
    chain = Automaton.chain(3)
    assert (chain.n_states, chain.n_arcs, chain.n_patterns) == (4, 12, 9)
    assert chain.is_chain
    for arc in range(chain.n_arcs):
        first, last = chain.pattern_offsets[arc : arc + 2]
        fired = chain.pattern_ids[first:last].tolist()
        before = chain.source[arc] - 1
        assert fired == ([] if before < 0 else [before * 3 + chain.label[arc]])


def test_arcs_are_sorted_and_keep_their_patterns():
    automaton = Automaton(
        2, 2, [1, 0, 0], [1, 0, 1], [0, 1, 0], n_patterns=3, patterns=[[2], [0, 1], []]
    )
    assert automaton.target.tolist() == [0, 0, 1]
    assert automaton.source.tolist() == [0, 1, 0]
    assert automaton.pattern_offsets.tolist() == [0, 0, 1, 3]
    assert automaton.pattern_ids.tolist() == [2, 0, 1]
    assert not automaton.is_chain
    assert repr(automaton) == "Automaton(states=2, labels=2, arcs=3, patterns=3)"


def test_arrays_cannot_be_changed():
    automaton = Automaton(
        1, 1, [0], [0], [0], n_patterns=1, patterns=[[0]], guards=[1], n_classes=2, contexts=[0]
    )
    arrays = [array for array in automaton._arrays() if isinstance(array, np.ndarray)]
    assert len(arrays) == 9
    for array in arrays:
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 0, 1]])
def test_given_arrays_stay_with_the_caller(order):
    source, label, target = (
        np.array(c, dtype=np.int32)[order] for c in ([0, 1, 0], [0, 0, 1], [0, 0, 0])
    )
    guards, contexts = np.ones(3, dtype=np.uint64), np.zeros(2, dtype=np.int32)
    automaton = Automaton(2, 2, source, label, target, guards=guards, contexts=contexts)
    for array in (source, label, target, guards, contexts):
        array[:] = 7
    assert (automaton.source.tolist(), automaton.label.tolist()) == ([0, 1, 0], [0, 0, 1])
    assert automaton.guards.tolist() == [1, 1, 1]
    assert automaton.contexts.tolist() == [0, 0]


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((1, 1, [0], [0], [1]), {}, "no such target state"),
        ((1, 1, [-1], [0], [0]), {}, "no such source state"),
        ((1, 1, [0], [1], [0]), {}, "no such label"),
        ((1, 1, [0, 0], [0, 0], [0, 0]), {}, "arcs must be distinct"),
        ((1, 1, [0], [0], [0]), {"patterns": [[0]]}, "pattern 0 does not exist"),
        ((1, 1, [0], [0], [0]), {"patterns": []}, "one source, label, target and pattern list"),
        ((1, 1, [0], [0, 0], [0]), {}, "one source, label, target and pattern list"),
        ((1, 1, [0], [0], [0]), {"final": [np.nan]}, "must be below \\+inf"),
        ((1, 1, [0], [0], [0]), {"initial": [0.0, 0.0]}, "one entry a state"),
        ((0, 1, [], [], []), {}, "n_states must be at least 1"),
        ((1, -1, [], [], []), {}, "n_labels and n_patterns at least 0"),
        ((1, 1, [0], [0], [0]), {"guards": [1, 1], "n_classes": 2}, r"shape \(1,\), got \(2,\)"),
        ((1, 1, [0], [0], [0]), {"contexts": [2**31 - 1]}, "contexts must be at least 0 and below"),
        ((1, 1, [0], [0], [0]), {"contexts": [-1]}, "contexts must be at least 0 and below"),
        ((1, 1, [0], [0], [0]), {"contexts": [0, 0]}, "contexts must have one entry a state"),
    ],
)
def test_bad_automata_are_refused(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        Automaton(*arguments, **options)


def test_labels_have_names():
    automaton = Automaton(1, 2, [0, 0], [0, 1], [0, 0], labels=["x", "y"])
    assert automaton.labels == ("x", "y")
    assert automaton.arcs == [(0, "x", 0), (0, "y", 0)]
    assert Automaton(1, 2, [0, 0], [0, 1], [0, 0]).arcs == [(0, 0, 0), (0, 1, 0)]
    assert list(Automaton.chain(2).states) == [0, 1, 2]


@pytest.mark.parametrize(
    ("labels", "error", "message"),
    [
        (["x"], ValueError, "expected 2 names, got 1"),
        (["x", "x"], ValueError, "got 'x' twice"),
        ("xy", TypeError, "got the string 'xy'"),
    ],
)
def test_bad_names_are_refused(labels, error, message):
    with pytest.raises(error, match=message):
        Automaton(1, 2, [0], [0], [0], labels=labels)


@pytest.mark.parametrize(
    "automaton",
    [
        Automaton.chain(2),
        Automaton(1, 1, [], [], [], labels=["x"]),
        Automaton(2, 2, [1, 0], [1, 0], [0, 1], n_patterns=3, patterns=[[2], [0, 1]]),
        Automaton(1, 2, [0, 0], [1, 0], [0, 0], guards=[1, 3], n_classes=2, final=[0.5]),
        Automaton(2, 1, [0, 1], [0, 0], [1, 1], contexts=[1, 1]),
    ],
)
@pytest.mark.parametrize("through", [copy.deepcopy, lambda a: pickle.loads(pickle.dumps(a))])
def test_copies_are_equal(automaton, through):
    other = through(automaton)
    assert repr(other) == repr(automaton)
    assert (other.labels, other.n_classes) == (automaton.labels, automaton.n_classes)
    for name in (
        "source",
        "label",
        "target",
        "initial",
        "final",
        "pattern_ids",
        "guards",
        "contexts",
    ):
        assert np.array_equal(getattr(other, name), getattr(automaton, name)), name
    assert other.pattern_offsets.tolist() == automaton.pattern_offsets.tolist()


def test_targets_that_share_sources_and_label():
    """Blocks hold one step a label: of three targets, each goes to a block of its own."""
    arcs = np.array([(s, y, 3 * y + k) for s in range(9) for y in range(3) for k in range(3)])
    scores = np.random.default_rng(1).normal(size=(4, 3))
    automaton = Automaton(9, 3, *arcs.T)
    expected = np.log(3 * np.exp(scores).sum(axis=1)).sum()
    assert log_partition(Trellis(scores, automaton))[0] == pytest.approx(expected)


def test_a_wide_fan_out():
    n = 40_000  # quadratic work would show
    zeros = np.zeros(n, dtype=int)
    fan = Automaton(n + 1, 1, zeros, zeros, np.arange(1, n + 1))
    assert log_partition(Trellis(np.zeros((1, 1)), fan))[0] == pytest.approx(np.log(n))
