"""Operations on languages, against enumeration of all short sequences."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, strategies as st

from language_oracle import NAMES, all_strings, languages, members, n_paths
from trelliswork.automata import algebra
from trelliswork.automata.automaton import Automaton
from trelliswork.errors import LabelError, TooLargeError

LONGEST = 5


@given(languages(), languages())
def test_boolean_operations(a, b):
    in_a, in_b = members(a, LONGEST), members(b, LONGEST)
    assert members(a & b, LONGEST) == in_a & in_b
    assert members(a | b, LONGEST) == in_a | in_b
    assert members(~a, LONGEST) == set(all_strings(2, LONGEST)) - in_a
    assert (a & ~a).is_empty
    assert (a | ~a).is_empty is False


@given(languages(), languages())
def test_concatenation_and_star(a, b):
    in_a, in_b = members(a, LONGEST), members(b, LONGEST)
    both = {x + y for x in in_a for y in in_b if len(x + y) <= LONGEST}
    assert members(a.concatenate(b), LONGEST) == both
    closure = {()}
    while True:
        more = {x + y for x in closure for y in in_a if len(x + y) <= LONGEST} | closure
        if more == closure:
            break
        closure = more
    assert members(a.star(), LONGEST) == closure


@given(languages())
def test_other_shapes_of_the_same_language(a):
    expected = members(a, LONGEST)
    for other in (a.trim(), a.complete(), a.determinise(), a.minimise(), a.unambiguous()):
        assert members(other, LONGEST) == expected
        assert other.labels == a.labels
    assert members(a.reverse(), LONGEST) == {string[::-1] for string in expected}
    assert a.determinise().is_deterministic
    assert a.minimise().is_deterministic
    completed = a.complete()
    leaving = {(s, y) for s, y, _ in completed.arcs}
    assert len(leaving) == completed.n_states * 2


@given(languages())
def test_trimmed_states_lie_on_accepting_paths(a):
    trimmed = a.trim()
    if a.is_empty:
        assert (trimmed.n_states, trimmed.n_arcs) == (1, 0)
        return
    for state in trimmed.states:
        here = np.where(np.arange(trimmed.n_states) == state, 0.0, -np.inf)
        arcs = trimmed.source, trimmed.label, trimmed.target
        before = Automaton(trimmed.n_states, 2, *arcs, initial=trimmed.initial, final=here)
        after = Automaton(trimmed.n_states, 2, *arcs, initial=here, final=trimmed.final)
        assert not before.is_empty
        assert not after.is_empty


@given(languages(max_states=3))
def test_the_minimal_automaton_has_a_state_for_each_residual(a):
    # All states are reached and lead on; with 7 non-empty subsets at most, strings of length 6 tell
    # states apart if any do.
    minimal = a.minimise()
    assert minimal.trim().n_states == minimal.n_states
    residuals = {frozenset(from_state(minimal, s, 6)) for s in minimal.states}
    assert len(residuals) == minimal.n_states


def from_state(automaton, state, longest):
    here = np.where(np.arange(automaton.n_states) == state, 0.0, -np.inf)
    arcs = automaton.source, automaton.label, automaton.target
    started = Automaton(
        automaton.n_states, automaton.n_labels, *arcs, initial=here, final=automaton.final
    )
    return members(started, longest)


@given(languages(max_states=3))
def test_ambiguity_is_two_paths(a):
    # Two paths part and meet within the pairs of states: 9 of them.
    twice = any(n_paths(a, string) > 1 for string in all_strings(2, 8))
    assert a.is_unambiguous is not twice
    assert all(n_paths(a.unambiguous(), string) <= 1 for string in all_strings(2, LONGEST))


@given(languages(), languages())
def test_comparisons(a, b):
    # 2⁴ subsets each: a difference shows within 16² steps, and for drawn ones nearly always in 8.
    in_a, in_b = members(a, 8), members(b, 8)
    assert a.is_subset(b) == (a & ~b).is_empty
    assert a.equivalent(b) == (a.is_subset(b) and b.is_subset(a))
    if a.is_subset(b):
        assert in_a <= in_b
    if in_a != in_b:
        assert not a.equivalent(b)
    assert a.equivalent(a.reverse().reverse())
    assert a.equivalent(~~a)


@given(languages(n_labels=3), st.integers(0, 4))
def test_counting_and_listing(a, length):
    listed = list(a.strings(length))
    expected = [s for s in itertools.product(range(3), repeat=length) if n_paths(a, s)]
    assert listed == [tuple(NAMES[y] for y in string) for string in expected]
    assert a.count(length) == len(listed)
    assert list(a.strings(length, limit=2)) == listed[:2]


def test_counts_are_exact_beyond_machine_integers():
    assert Automaton.from_regex(".*", NAMES).count(100) == 4**100
    assert Automaton.from_regex("a .{99}", NAMES).count(100) == 4**99


@given(languages(n_labels=2), st.lists(st.lists(st.integers(0, 1), max_size=5), max_size=6))
def test_batches(a, sequences):
    ids = np.array([y for sequence in sequences for y in sequence], dtype=int)
    offsets = np.cumsum([0, *map(len, sequences)])
    expected = [n_paths(a, tuple(sequence)) > 0 for sequence in sequences]
    assert a.accepts_batch(ids, offsets).tolist() == expected
    for sequence, accepted in zip(sequences, expected, strict=True):
        assert a.accepts(sequence) is accepted
        assert a.accepts([NAMES[y] for y in sequence]) is accepted


def test_batches_check_what_they_get():
    a = Automaton.from_regex("a*", ["a", "b"])
    with pytest.raises(ValueError, match="position 1: label id 7 is not in 0 … 1"):
        a.accepts_batch([0, 7], [0, 2])
    with pytest.raises(ValueError, match="offsets must run from 0"):
        a.accepts_batch([0, 1], [0, 1])
    with pytest.raises(ValueError, match="must not decrease"):
        a.accepts_batch([0, 1], [0, 3, 2])
    with pytest.raises(ValueError, match=r"expected label_ids \(N,\)"):
        a.accepts_batch([0, 1], [])
    with pytest.raises(LabelError, match="position 1: unknown label 'z'"):
        a.accepts(["a", "z"])
    with pytest.raises(ValueError, match="position 0: label id 2 is not in 0 … 1"):
        a.accepts([2])
    with pytest.raises(ValueError, match="position 0: label id 4294967296 is not in 0 … 1"):
        a.accepts([2**32])
    with pytest.raises(TypeError, match="got the string 'ab'"):
        a.accepts("ab")


def test_fractions_are_no_ids():
    a = Automaton.from_regex("a*", ["a", "b"])
    with pytest.raises(LabelError, match=r"position 1: expected a label name or id, got 0\.7"):
        a.accepts([0, 0.7])
    with pytest.raises(TypeError, match="expected whole numbers as label_ids, got float64"):
        a.accepts_batch([0.7], [0, 1])
    assert a.accepts(np.array([0, 0], dtype=np.uint8))
    assert a.accepts([])


def test_different_labels_do_not_combine():
    a = Automaton.from_regex("a", ["a", "b"])
    with pytest.raises(LabelError, match="label 1 is 'b' in one and 'c' in the other"):
        a & Automaton.from_regex("a", ["a", "c"])
    with pytest.raises(LabelError, match="got 2 and 3 of them"):
        a | Automaton.from_regex("a", ["a", "b", "c"])
    nameless = Automaton(1, 2, [0], [0], [0])
    assert (nameless & a).labels == ("a", "b")
    with pytest.raises(LabelError, match="has no label names"):
        nameless.accepts(["a"])


def test_other_things_do_not_combine():
    a = Automaton.from_regex("a", ["a", "b"])
    with pytest.raises(TypeError, match="unsupported operand"):
        a & "a"
    with pytest.raises(TypeError, match="unsupported operand"):
        a | 3


def test_models_are_no_languages():
    with pytest.raises(TypeError, match="Expected a language"):
        Automaton.chain(2).minimise()
    with pytest.raises(TypeError, match="weights 0 or -inf"):
        Automaton(1, 1, [0], [0], [0], final=[0.5]).accepts([0])
    with pytest.raises(TypeError, match="without patterns and guards"):
        Automaton(1, 1, [0], [0], [0], guards=[1], n_classes=2).accepts([0])


def nth_from_the_end(n: int) -> Automaton:
    """'a' at the n-th place from the end: 2ⁿ states if deterministic, n + 1 backwards."""
    positions = np.arange(1, n)
    return Automaton(
        n + 1,
        2,
        [0, 0, 0, *np.repeat(positions, 2)],
        [0, 1, 0, *np.tile([0, 1], n - 1)],
        [0, 0, 1, *np.repeat(positions + 1, 2)],
        final=np.where(np.arange(n + 1) == n, 0.0, -np.inf),
        labels=("a", "b"),
    )


def test_a_blow_up_is_refused_early():
    a = nth_from_the_end(40)
    for operation in (a.determinise, a.minimise, a.complement):
        with pytest.raises(TooLargeError, match=r"passed 1,000 states .* raise max_states"):
            operation(max_states=1000)
    with pytest.raises(TooLargeError, match="The intersection passed 20 states"):
        a.intersect(a, max_states=20)
    small = a.unambiguous(max_states=1000)
    assert small.n_states == 41
    assert a.equivalent(nth_from_the_end(40), max_states=1000)
    assert a.is_subset(Automaton.from_regex(".*", ["a", "b"]), max_states=1000)
    with pytest.raises(TooLargeError, match=r"82 states unambiguous"):
        (a | a.reverse()).trim().unambiguous(max_states=30)


def test_few_states_with_many_arcs_are_refused_too():
    n = 70  # 4,900 pairs of states, and an arc from each to each
    source, target = np.mgrid[:n, :n].reshape(2, -1)
    dense = Automaton(n, 1, source, np.zeros(n * n, dtype=int), target)
    with pytest.raises(TooLargeError, match="looked at 20,000,000 arcs, and was given up"):
        dense.intersect(dense)
    assert dense.minimise().n_states == 1


def test_few_large_subsets_are_given_up_too(monkeypatch):
    far = Automaton.from_regex("~(.* a .{6} a .*)", NAMES)
    mirrored = far.reverse()._language
    assert mirrored.minimise(1000, 1000) is None
    whole = mirrored.minimise(1000)
    assert whole is not None
    # The mirror image is an offer: without it, there is the deterministic automaton.
    monkeypatch.setattr(algebra, "STEPS_TO_MIRROR", 10)
    counted = Automaton.from_regex(".* a .{6}", NAMES)
    assert (far | counted).unambiguous().equivalent(far | counted)


def test_the_ambiguity_test_counts_pairs_of_arcs():
    """Two states side by side read 100 labels together, and end by different ones."""
    shared = np.arange(100)
    a = Automaton(
        4,
        102,
        [*np.zeros(100, dtype=int), *np.ones(100, dtype=int), 0, 1],
        [*shared, *shared, 100, 101],
        [*np.zeros(100, dtype=int), *np.ones(100, dtype=int), 2, 3],
        initial=[0.0, 0.0, -np.inf, -np.inf],
        final=[-np.inf, -np.inf, 0.0, 0.0],
    )
    assert a._language.is_ambiguous(50) is None
    assert a._language.is_ambiguous(200) is False
    assert a.is_unambiguous


def test_complements_with_many_labels_are_refused():
    n_labels = 30_000
    a = Automaton(1000, n_labels, np.arange(999), np.zeros(999), np.arange(1, 1000))
    with pytest.raises(TooLargeError, match=r"The complement passed .* 20,000,000 arcs"):
        a.complement()
