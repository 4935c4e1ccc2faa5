"""Products of models and languages, against the labellings that both have."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from oracle import enumerate_paths, log_sum_exp
from strategies import arrays, automata, ordinary
from trelliswork import inference
from trelliswork.automata.automaton import Automaton
from trelliswork.automata.product import is_deterministic, product
from trelliswork.errors import TooLargeError
from trelliswork.inference.verbs import Trellis

EXPRESSIONS = (
    "a*",
    "(a | b)* c",
    "(a b | b a)*",
    "~(. . c .*)",
    ".* a .* b .*",
    "(a c)* | (b c)*",
    "[^a]* a? [^a]*",
    "(a | a b | b)*",  # ambiguous as written
)
NAMES = ("a", "b", "c")


@given(data=st.data(), expression=st.sampled_from(EXPRESSIONS))
def test_a_product_has_exactly_the_paths_of_the_language(expression, data):
    language = Automaton.from_regex(expression, NAMES)
    length = data.draw(st.integers(0, 4))
    phi = data.draw(arrays((length, 3), ordinary))
    weights = data.draw(arrays((3, 3), ordinary))
    free = Trellis(phi, weights=weights)
    inside = [p for p in enumerate_paths(free) if language.accepts(p.labels)]
    bound = Trellis(phi, product(Automaton.chain(3), language).automaton, weights=weights)
    kept = {p.labels: p.score for p in enumerate_paths(bound)}
    assert len(kept) == len(enumerate_paths(bound))  # one path a labelling
    assert kept == pytest.approx({p.labels: p.score for p in inside})
    log_z = inference.log_partition(bound)[0]
    assert log_z == pytest.approx(log_sum_exp([p.score for p in inside]), abs=1e-9)


@given(data=st.data())
def test_the_arc_map_keeps_labels_and_patterns(data):
    model = data.draw(automata(n_labels=2))
    language = Automaton.from_regex(
        data.draw(st.sampled_from(["(a b)*", "a* b*", ".*"])), ("a", "b")
    )
    found = product(model, language)
    patterns = np.split(model.pattern_ids, model.pattern_offsets[1:-1])
    for arc in range(found.automaton.n_arcs):
        came_from = found.arc_map[arc]
        assert found.automaton.label[arc] == model.label[came_from]
        first, last = found.automaton.pattern_offsets[arc : arc + 2]
        assert list(found.automaton.pattern_ids[first:last]) == list(patterns[came_from])


@given(data=st.data())
def test_every_state_of_a_product_is_on_some_path(data):
    model = data.draw(automata(n_labels=2))
    automaton = product(model, Automaton.from_regex("(a a | b)*", ("a", "b"))).automaton
    reached = set(np.flatnonzero(np.isfinite(automaton.initial)))
    ending = set(np.flatnonzero(np.isfinite(automaton.final)))
    arcs = list(zip(automaton.source, automaton.target, strict=True))
    for _ in range(automaton.n_states):
        reached |= {t for s, t in arcs if s in reached}
        ending |= {s for s, t in arcs if t in ending}
    if not ending:  # no labelling at all: one state, and no arc
        assert (automaton.n_states, automaton.n_arcs) == (1, 0)
        return
    assert reached == ending == set(range(automaton.n_states))


@given(data=st.data())
def test_classes_select_the_letters(data):
    """Letter c · L + y is label y at a token of class c."""
    n_labels, n_classes = 2, 3
    # b is read at tokens of class 1 only, and class 2 resets to where a must come next.
    letters = [(0, 0, 0), (0, 2, 0), (0, 3, 1), (1, 2, 0), (0, 4, 1), (1, 0, 0), (1, 4, 0)]
    source, letter, target = zip(*letters, strict=True)
    language = Automaton(2, n_labels * n_classes, source, letter, target)
    length = data.draw(st.integers(0, 4))
    classes = data.draw(st.lists(st.integers(0, 2), min_size=length, max_size=length))
    phi = data.draw(arrays((length, n_labels), ordinary))
    weights = data.draw(arrays((n_labels, n_labels), ordinary))
    bound = Trellis(
        phi,
        product(Automaton.chain(n_labels), language, n_classes=n_classes).automaton,
        weights=weights,
        classes=classes,
    )
    free = Trellis(phi, weights=weights)
    arcs = {(s, y): t for s, y, t in letters}

    def accepted(labels):
        state = 0
        for c, y in zip(classes, labels, strict=True):
            state = arcs.get((state, c * n_labels + y))
            if state is None:
                return False
        return True

    inside = [p for p in enumerate_paths(free) if accepted(p.labels)]
    found = inference.marginals(bound)
    assert found.log_partition[0] == pytest.approx(log_sum_exp([p.score for p in inside]), abs=1e-9)
    expected = np.zeros((length, n_labels))
    for path in inside:
        for t, y in enumerate(path.labels):
            expected[t, y] += np.exp(path.score - found.log_partition[0])
    np.testing.assert_allclose(found.labels, expected, atol=1e-9)
    without_entropy = np.empty((length, 1, n_labels))
    counts = np.zeros(n_labels * n_labels)
    bound._batch(None, 1).posteriors(np.empty(1), without_entropy, counts, None, None)
    np.testing.assert_allclose(without_entropy[:, 0], expected, atol=1e-9)
    np.testing.assert_allclose(counts, found.pattern_counts, atol=1e-9)
    if inside:
        best = inference.viterbi(bound)
        assert best.scores[0] == pytest.approx(max(p.score for p in inside))
        assert accepted(tuple(best.labels))


def test_a_product_beyond_its_budget_is_refused():
    language = Automaton.from_regex(".* a . . .", NAMES)
    with pytest.raises(TooLargeError, match=r"more than 10 arcs.*fewer or simpler constraints"):
        product(Automaton.chain(3), language, max_arcs=10)


def test_cells_of_states_and_labels_do_not_overflow():
    """State 4 times 2³⁰ labels is 2³², which 32 bits take for state 0."""
    model = Automaton(5, 2**30, [0, 4], [0, 0], [4, 4], n_patterns=2, patterns=[[0], [1]])
    assert is_deterministic(model)


def test_contexts_are_numbered_among_those_that_are_left():
    found = product(Automaton.chain(30), Automaton(1, 30, [0], [29], [0])).automaton
    assert found.n_states == 2
    assert found.contexts.tolist() == [0, 1]


def test_models_are_no_languages():
    with pytest.raises(TypeError, match="Expected a language"):
        product(Automaton.chain(2), Automaton.chain(2))


def test_letters_must_fit():
    with pytest.raises(ValueError, match=r"2 labels × 2 classes = 4 letters, got one over 3"):
        product(Automaton.chain(2), Automaton.chain(3), n_classes=2)
