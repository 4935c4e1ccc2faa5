from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from trelliswork.automaton import Automaton


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
    with pytest.raises(ValueError, match="read-only"):
        Automaton.chain(2).source[0] = 1


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
    ],
)
@pytest.mark.parametrize("through", [copy.deepcopy, lambda a: pickle.loads(pickle.dumps(a))])
def test_copies_are_equal(automaton, through):
    other = through(automaton)
    assert repr(other) == repr(automaton)
    assert (other.labels, other.n_classes) == (automaton.labels, automaton.n_classes)
    for name in ("source", "label", "target", "initial", "final", "pattern_ids", "guards"):
        assert np.array_equal(getattr(other, name), getattr(automaton, name)), name
    assert other.pattern_offsets.tolist() == automaton.pattern_offsets.tolist()
