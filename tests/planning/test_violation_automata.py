"""Violation automata against their definition, on all labellings up to the length they are for."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, strategies as st

from strategies import arrays, expressions
from trelliswork.automata.automaton import Automaton
from trelliswork.errors import TooLargeError
from trelliswork.planning.violation_automata import (
    ViolationAutomaton,
    bit_automaton,
    round_length,
    row_automaton,
    row_language,
)

MOST = 10_000


def steps(counter: ViolationAutomaton, word: tuple[int, ...]) -> list[int]:
    """Return the violations that each letter adds, along the one path."""
    made = counter.automaton
    state = int(np.argmax(made.initial == 0.0))
    found = []
    for letter in word:
        (arc,) = np.flatnonzero((made.source == state) & (made.label == letter))
        after = int(made.target[arc])
        y = letter % counter.added.shape[1]
        found.append(int(counter.added[state, y] + counter.value[after] - counter.value[state]))
        state = after
    return found


def left_side(table: np.ndarray, word: tuple[int, ...]) -> int:
    before = (0, *(y + 1 for y in word[:-1]))
    return int(sum(table[row, y] for row, y in zip(before, word, strict=False)))


tables = arrays((3, 2), st.integers(-3, 3)).map(lambda table: table.astype(np.int64))


@given(tables, st.integers(-9, 9), st.integers(1, 6))
def test_steps_of_a_row_are_changes_of_its_violation(table, bound, length):
    counter = row_automaton(table, bound, length, MOST)
    language = row_language(table, bound, length, MOST)
    assert counter.empty_violation == max(0, -bound)
    longest = min(length, 6) if table.min() < 0 < table.max() else 6
    for word in itertools.product(range(2), repeat=longest):
        values = [max(0, left_side(table, word[:t]) - bound) for t in range(longest + 1)]
        assert steps(counter, word) == np.diff(values).tolist()
        for t, value in enumerate(values):
            assert language.accepts(word[:t]) == (value == 0)


@given(tables, st.integers(-9, 9), st.integers(1, 40))
def test_counters_end_where_the_rest_can_no_longer_lead_back(table, bound, length):
    """Longer than the enumerated ones: one random labelling after the other."""
    rng = np.random.default_rng(0)
    counter = row_automaton(table, bound, length, MOST)
    for _ in range(5):
        word = tuple(rng.integers(0, 2, length).tolist())
        switch = int(rng.integers(0, length + 1))
        for tried in (word, (0,) * switch + (1,) * (length - switch)):
            total = max(0, left_side(table, tried) - bound)
            assert sum(steps(counter, tried)) == total - counter.empty_violation


def test_a_difference_of_counts_needs_as_many_states_as_tokens():
    table = np.array([[1, -1]] * 3)
    assert row_automaton(table, 0, 40, MOST).automaton.n_states == 41


def test_large_coefficients_are_refused_and_not_tried():
    table = np.array([[10**9, 1 - 10**9]] * 3)
    with pytest.raises(TooLargeError, match="more than 10000 states"):
        row_automaton(table, 0, 40, MOST)


@given(expressions("ab"))
def test_steps_of_a_bit_are_changes_of_membership(expression):
    language = Automaton.from_regex(expression, ["a", "b"])
    counter = bit_automaton(language, 2, MOST)
    assert counter.empty_violation == (not language.accepts([]))
    for word in itertools.product(range(2), repeat=4):
        values = [int(not language.accepts(word[:t])) for t in range(5)]
        assert steps(counter, word) == np.diff(values).tolist()


def test_lengths_are_rounded_up_to_few():
    rounded = [round_length(length) for length in range(1000)]
    assert all(length <= round_length(length) <= max(8, 1.5 * length) for length in range(1000))
    assert len(set(rounded)) == 15
