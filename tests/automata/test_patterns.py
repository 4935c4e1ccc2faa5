"""Sets of label patterns and their automata, against definitions spelled out."""

from __future__ import annotations

import itertools
import logging
import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import trelliswork as tw
from strategies import pattern_sets
from trelliswork.automata.automaton import Automaton
from trelliswork.automata.pattern_statistics import (
    PatternStatistics,
    growth_problem,
    warn_of_growth,
)
from trelliswork.automata.patterns import Patterns
from trelliswork.errors import DataError, LabelError


@st.composite
def letter_sequences(draw, n_labels: int):
    """Sequences of letters, some of them unknown."""
    letter = st.integers(-1, n_labels - 1)
    return draw(st.lists(st.lists(letter, max_size=8), min_size=1, max_size=4))


def flat(sequences):
    return [y for own in sequences for y in own], np.cumsum([0, *map(len, sequences)])


def all_patterns(sequences, order):
    """Every pattern of two or more letters, as often as it occurs."""
    return Counter(
        tuple(own[i : i + length])
        for own in sequences
        for length in range(2, order + 2)
        for i in range(len(own) - length + 1)
        if -1 not in own[i : i + length]
    )


@given(st.data())
def test_observes_what_occurs(data):
    n_labels = data.draw(st.integers(1, 3))
    sequences = data.draw(letter_sequences(n_labels))
    order, min_count = data.draw(st.integers(0, 4)), data.draw(st.integers(1, 3))
    seen = Patterns.observe(*flat(sequences), n_labels, order, min_count=min_count)
    expected = all_patterns(sequences, order)
    often = {z: n for z, n in expected.items() if n >= min_count}
    assert list(seen) == sorted(often, key=lambda z: (len(z), z))
    assert seen.counts.tolist() == [often[z] for z in seen]


@given(st.data())
def test_the_most_frequent_patterns_keep_their_parts(data):
    sequences = data.draw(letter_sequences(2))
    most = data.draw(st.integers(0, 8))
    every = Patterns.observe(*flat(sequences), 2, 4)
    kept = Patterns.observe(*flat(sequences), 2, 4, max_patterns=most)
    assert len(kept) == min(most, len(every))
    left_out = [n for z, n in zip(every, every.counts, strict=True) if z not in set(kept)]
    assert max(left_out, default=0) <= min(kept.counts, default=np.inf)
    for pattern in kept:
        if len(pattern) > 2:
            assert {pattern[1:], pattern[:-1]} <= set(kept)


@given(st.data())
def test_fired_patterns_end_at_their_segments(data):
    patterns = data.draw(st.one_of(pattern_sets(), st.integers(1, 3).map(Patterns.chain)))
    sequences = data.draw(letter_sequences(patterns.n_labels))
    offsets, ids = patterns.fired(*flat(sequences))
    ends = [tuple(own[: i + 1]) for own in sequences for i in range(len(own))]
    for m, read in enumerate(ends):
        expected = [i for i, z in enumerate(patterns) if read[-len(z) :] == z]
        assert ids[offsets[m] : offsets[m + 1]].tolist() == expected
    assert offsets.size == len(ends) + 1


def is_suffix(short, long):
    return len(short) <= len(long) and long[len(long) - len(short) :] == short


def states_of(patterns, repeats):
    """The states by definition, in their order."""
    possible = [z for z in patterns if all(a != b or repeats[a] for a, b in itertools.pairwise(z))]
    every = {(), *((y,) for y in range(patterns.n_labels))}
    every |= {z[:k] for z in possible for k in range(len(z))}
    # Short ones first, then by the last letter, so that the kernel can read them as vectors.
    return sorted(every, key=lambda s: (s[-1] if len(s) > 1 else -1, len(s), s))


@given(st.data())
def test_automaton_by_definition(data):
    patterns = data.draw(pattern_sets())
    flags = st.lists(st.booleans(), min_size=patterns.n_labels, max_size=patterns.n_labels)
    repeats, continues = data.draw(flags), data.draw(flags)
    automaton = patterns.automaton(repeats=repeats, continues=continues)
    may_repeat = [r and not c for r, c in zip(repeats, continues, strict=True)]
    states = states_of(patterns, may_repeat)
    assert automaton.n_states == len(states)
    assert automaton.n_patterns == len(patterns)
    expected = {}
    for s, state in enumerate(states):
        for y in range(patterns.n_labels):
            read = (*state, y)
            if state and state[-1] == y and (continues[y] or not repeats[y]):
                if continues[y]:
                    expected[s, y] = (s, [])
                continue
            target = max((t for t in states if is_suffix(t, read)), key=len)
            fires = [i for i, z in enumerate(patterns) if is_suffix(z, read)]
            expected[s, y] = (states.index(target), fires)
    found = {
        (int(automaton.source[a]), int(automaton.label[a])): (
            int(automaton.target[a]),
            automaton.pattern_ids[slice(*automaton.pattern_offsets[a : a + 2])].tolist(),
        )
        for a in range(automaton.n_arcs)
    }
    assert found == expected
    if not automaton.is_chain:
        suffixes = [
            max((t for t in states if t != s and is_suffix(t, s)), key=len) for s in states[1:]
        ]
        assert automaton.parents.tolist() == [-1, *map(states.index, suffixes)]
    assert automaton.initial.tolist() == [0.0] + [-np.inf] * (len(states) - 1)
    assert not automaton.final.any()


def test_all_pairs_are_the_chain():
    chain = Patterns.chain(3)
    assert list(chain) == list(itertools.product(range(3), repeat=2))
    assert chain.automaton() is Automaton.chain(3)
    assert Patterns.of(reversed(list(chain)), 3).automaton() is Automaton.chain(3)
    assert Patterns.chain(3) is chain
    assert chain.order == 1


def test_a_chain_without_repeats_is_no_chain():
    automaton = Patterns.chain(2).automaton(repeats=[True, False])
    assert automaton.n_arcs == 5
    assert (2, 1) not in zip(automaton.source, automaton.label, strict=True)


def test_without_patterns_letters_remain():
    empty = Patterns.of([], 2)
    assert (len(empty), empty.order, list(empty)) == (0, 0, [])
    assert empty.automaton().n_arcs == 6
    assert Patterns.observe([0, 1], [0, 2], 2, 0) == empty


def test_names_and_back():
    patterns = Patterns.named([("a", "b", "a"), ("b",)], ["a", "b"])
    assert list(patterns) == [(1,), (0, 1, 0)]
    assert patterns.names(["a", "b"]) == [("b",), ("a", "b", "a")]
    assert patterns.order == 2
    assert patterns.lengths.tolist() == [1, 3]


def test_places_in_another_set():
    patterns = Patterns.of([(0, 1), (1, 1), (1, 2, 0)], 3)
    other = Patterns.of([(0,), (1, 0), (2, 2), (0, 2, 1)], 3)  # 0 is 1 there, 1 is 0, 2 is 2
    assert patterns.places_in(other, [1, 0, 2]).tolist() == [1, -1, 3]
    assert patterns.places_in(other, [1, -1, 2]).tolist() == [-1, -1, -1]


@given(pattern_sets())
def test_arrays_and_back(patterns):
    again = Patterns.restore(patterns.n_labels, patterns.arrays())
    assert again == patterns
    assert hash(again) == hash(patterns)
    assert again.counts is None


def test_counts_are_kept_in_files():
    seen = Patterns.observe([0, 0, 0], [0, 3], 1, 2)
    assert Patterns.restore(1, seen.arrays()).counts.tolist() == [2, 1]


@pytest.mark.parametrize(
    ("patterns", "message"),
    [
        ([()], r"patterns\[0\]: expected at least one label"),
        ([(0,), (0, 2)], r"patterns\[1\]: expected labels from 0 to 1, got \(0, 2\)"),
        ([(0, 1), (0, 1)], r"patterns\[1\]: \(0, 1\) comes twice"),
    ],
)
def test_refuses_bad_lists(patterns, message):
    with pytest.raises(LabelError, match=message):
        Patterns.of(patterns, 2)


@pytest.mark.parametrize(
    ("patterns", "error", "message"),
    [
        (["ab"], TypeError, r"patterns\[0\]: expected a sequence of labels, got the string 'ab'"),
        ([("a", "c")], LabelError, r"patterns\[0\]: unknown label 'c' in .* labels are a, b"),
        ([("a",), ("b",), ("a",)], LabelError, r"patterns\[2\]: .* is also patterns\[0\]"),
    ],
)
def test_refuses_bad_names(patterns, error, message):
    with pytest.raises(error, match=message):
        Patterns.named(patterns, ["a", "b"])


@pytest.mark.parametrize(
    ("offsets", "letters", "counts", "message"),
    [
        ([], [], None, "offsets that begin with 0"),
        ([0, 0], [], None, "by one or more a pattern"),
        ([0, 1], [0, 1], None, "rise to 2"),
        ([0, 1], [2], None, "letters from 0 to 1"),
        ([0, 1, 2], [1, 0], None, "sorted by"),
        ([0, 2, 4], [0, 1, 0, 1], None, "sorted by"),
        ([0, 2, 3], [0, 1, 0], None, "sorted by"),
        ([0, 1], [0], [1, 2], "one count a pattern"),
    ],
)
def test_refuses_broken_arrays(offsets, letters, counts, message):
    with pytest.raises((DataError, LabelError), match=message):
        Patterns(2, offsets, letters, counts)


@pytest.mark.parametrize(
    ("letters", "offsets", "message"),
    [
        ([0, 2], [0, 2], "got 2 at segment 1"),
        ([0, -2], [0, 2], "got -2 at segment 1"),
        ([0, 1], [0, 1], "from 0 to 2, the number of letters"),
        ([0, 1], [0, 2, 1, 2], "expected to rise"),
    ],
)
def test_refuses_bad_sequences(letters, offsets, message):
    with pytest.raises((DataError, LabelError), match=message):
        Patterns.observe(letters, offsets, 2, 2)


def test_refuses_bad_settings():
    with pytest.raises(ValueError, match="order: expected 0 or more"):
        Patterns.observe([0], [0, 1], 1, -1)
    with pytest.raises(ValueError, match="min_count from 1"):
        Patterns.observe([0], [0, 1], 1, 1, min_count=0)
    with pytest.raises(ValueError, match=r"repeats: expected shape \(2,\)"):
        Patterns.chain(2).automaton(repeats=[True])


@settings(max_examples=5)
@given(st.integers(0, 2**32 - 1))
def test_large_sets_agree_with_small_steps(seed):
    """Many letters and long patterns: the automaton fires the patterns that the search finds."""
    rng = np.random.default_rng(seed)
    letters = rng.integers(0, 6, 400)
    seen = Patterns.observe(letters, [0, 150, 400], 6, 4)
    automaton = seen.automaton()
    step = {
        (int(s), int(y)): a
        for a, (s, y) in enumerate(zip(automaton.source, automaton.label, strict=True))
    }
    offsets, ids = seen.fired(letters, [0, 150, 400])
    state = 0
    for m, y in enumerate(letters):
        arc = step[0 if m == 150 else state, int(y)]
        fires = automaton.pattern_ids[slice(*automaton.pattern_offsets[arc : arc + 2])]
        assert fires.tolist() == ids[offsets[m] : offsets[m + 1]].tolist()
        state = int(automaton.target[arc])


def test_statistics_count_lengths():
    patterns = Patterns.observe([0, 1, 0, 1, 1, -1, 0, 1], [0, 8], 3, 2)
    found = PatternStatistics.of(patterns)
    assert found.to_dict()["labels"] == 3
    assert (found.patterns, found.arcs) == (len(patterns), patterns.automaton().n_arcs)
    assert found.states == patterns.automaton().n_states
    assert [
        (own.length, own.patterns, own.possible, own.occurrences, own.once) for own in found.lengths
    ] == [(2, 3, 9, 5, 2), (3, 3, 27, 3, 3)]
    assert PatternStatistics.of(Patterns.chain(2)).lengths[0].once is None
    assert growth_problem(PatternStatistics.of(Patterns.of([], 2))) is None


def test_warns_where_every_pattern_occurs(caplog):
    rng = np.random.default_rng(0)
    dense = Patterns.observe(rng.integers(0, 12, 20_000), [0, 20_000], 12, 3)
    warn_of_growth(PatternStatistics.of(dense))
    assert "1,728 of 3 labels, 12.0 times as many as of 2" in caplog.text
    assert "min_pattern_count" in caplog.text


def test_training_warns_too(caplog):
    rng = np.random.default_rng(0)
    labels = [[f"y{i}" for i in rng.integers(0, 12, 2_000)] for _ in range(5)]
    words = [["word"] * len(own) for own in labels]
    tw.CRFTagger(features="word[0]", order=2, max_iter=0).fit(words, labels)
    assert "grows exponentially" in caplog.text


def test_warns_of_large_automata_for_rare_patterns():
    rng = np.random.default_rng(0)
    rare = Patterns.observe(rng.integers(0, 60, 2_000), [0, 2_000], 60, 3)
    problem = growth_problem(PatternStatistics.of(rare))
    assert re.search(r"of the [0-9,]+ label patterns of three labels and more occur once", problem)
    assert "the longest has 4" in problem
    assert "arcs" in problem


def test_sparse_patterns_are_no_reason_to_warn(caplog):
    cycle = np.tile(np.arange(40), 500)
    sparse = Patterns.observe(cycle, [0, cycle.size], 40, 4)
    warn_of_growth(PatternStatistics.of(sparse))
    warn_of_growth(PatternStatistics.of(Patterns.chain(40)))
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]
