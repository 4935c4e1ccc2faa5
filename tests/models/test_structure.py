"""The structure of a model: patterns and segments that a training set shows, and length weights."""

from __future__ import annotations

import itertools
import json
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, strategies as st

from trelliswork.errors import DataError
from trelliswork.labels.label_set import LabelSet
from trelliswork.models.structure import Structure, length_buckets, n_length_buckets

PLAIN = LabelSet(["a", "b", "c"])
BIO = LabelSet(["O", "B-x", "I-x"], "bio")
NO_SEQUENCES: list[list[str]] = []

gold = st.lists(st.lists(st.sampled_from("abc"), max_size=6), min_size=1, max_size=4)


def grams(sequences, most: int) -> Counter[tuple[int, ...]]:
    """Count the runs of two to `most` neighbours."""
    ids = [["abc".index(label) for label in sequence] for sequence in sequences]
    return Counter(
        tuple(own[i : i + size])
        for own in ids
        for size in range(2, most + 1)
        for i in range(len(own) - size + 1)
    )


def runs(sequences) -> list[list[tuple[str, int, int]]]:
    """Return label, start and end of each maximal run, counted over the batch."""
    found, first = [], 0
    for sequence in sequences:
        found.append([])
        for label, own in itertools.groupby(sequence):
            last = first + len(list(own))
            found[-1].append((label, first, last))
            first = last
    return found


def test_a_chain_has_all_transitions():
    structure = Structure.chain(PLAIN)
    assert list(structure.patterns) == list(itertools.product(range(3), repeat=2))
    assert structure == Structure.choose(PLAIN, NO_SEQUENCES)
    assert (structure.n_letters, structure.letter_names) == (3, ("a", "b", "c"))
    assert (structure.n_durations, structure.segmentation) == (1, None)


@given(gold, st.sampled_from([0, 2, 3]), st.integers(1, 3))
def test_patterns_are_the_runs_of_labels_that_occur(sequences, order, min_count):
    structure = Structure.choose(PLAIN, sequences, order=order, min_count=min_count)
    expected = {gram for gram, count in grams(sequences, order + 1).items() if count >= min_count}
    assert set(structure.patterns) == expected
    every = Structure.choose(
        PLAIN, sequences, order=order, min_count=min_count, all_transitions=True
    )
    assert set(every.patterns) == expected | set(itertools.product(range(3), repeat=2))


@given(gold, st.integers(0, 6))
def test_the_most_frequent_patterns_are_kept(sequences, max_patterns):
    counts = grams(sequences, 3)
    found = Structure.choose(PLAIN, sequences, order=2, max_patterns=max_patterns)
    kept = sorted((counts[gram] for gram in found.patterns), reverse=True)
    assert kept == sorted(counts.values(), reverse=True)[:max_patterns]


@given(gold, st.integers(0, 3))
def test_the_first_patterns_have_weights_for_features(sequences, edge_order):
    structure = Structure.choose(PLAIN, sequences, order=3, edge_order=edge_order)
    short = [pattern for pattern in structure.patterns if len(pattern) <= edge_order + 1]
    assert list(structure.patterns)[: structure.n_edge_patterns] == short


@given(gold.filter(any))
def test_segments_are_the_runs_of_plain_labels(sequences):
    structure = Structure.choose(PLAIN, sequences, order=2, max_segment="auto")
    expected = runs(sequences)
    flat = [run for own in expected for run in own]
    assert structure.n_durations == max(end - start for _, start, end in flat)
    names = structure.letter_names
    letters = [[label for label, _, _ in own] for own in expected]
    assert {tuple(names[y] for y in pattern) for pattern in structure.patterns} == {
        tuple("abc"[y] for y in gram) for gram in grams(letters, 3)
    }
    spec = structure.known_segments(structure.encode(sequences), [len(s) for s in sequences])
    assert list(zip(spec.starts, spec.ends, strict=True)) == [run[1:] for run in flat]
    assert spec.max_duration == structure.n_durations


def test_tokens_outside_are_no_segments():
    sequences = [["O", "B-x", "I-x", "O", "O"], ["B-x", "B-x"]]
    structure = Structure.choose(BIO, sequences, max_segment="auto")
    spec = structure.known_segments(structure.encode(sequences), [5, 2])
    assert list(zip(spec.starts, spec.ends, strict=True)) == [(1, 3), (5, 6), (6, 7)]
    assert (
        Structure.chain(BIO).known_segments(Structure.chain(BIO).encode(sequences), [5, 2]) is None
    )


@given(gold.filter(any), st.integers(1, 6))
def test_no_segment_is_longer_than_its_sequence(sequences, max_segment):
    longest = max(end - start for own in runs(sequences) for _, start, end in own)
    limit = max(max_segment, longest)
    structure = Structure.choose(PLAIN, sequences, max_segment=limit)
    offsets = np.cumsum([0, *map(len, sequences)]).astype(np.int64)
    assert structure.durations_of(offsets) == min(limit, max(map(len, sequences)))


@given(
    gold.filter(any),
    st.integers(0, 3),
    st.sampled_from([1, "auto"]),
    st.integers(0, 2),
    st.booleans(),
)
def test_a_stored_structure_comes_back(sequences, order, max_segment, edge_order, all_transitions):
    structure = Structure.choose(
        PLAIN,
        sequences,
        order=order,
        max_segment=max_segment,
        adjacent=max_segment != 1,
        edge_order=edge_order,
        all_transitions=all_transitions,
    )
    settings = json.loads(json.dumps(structure.settings()))
    assert Structure.restore(settings, structure.arrays()) == structure


@pytest.mark.parametrize("edge_order", [-1, 1.5, True, "1", None])
def test_wrong_edge_orders_are_refused(edge_order):
    settings = Structure.chain(PLAIN).settings() | {"edge_order": edge_order}
    with pytest.raises(DataError, match="edge_order: expected a number from 0 up"):
        Structure.restore(settings, {})


def test_weights_of_lengths():
    """Lengths up to 8 have one weight each, and each doubling beyond has four of equal width."""
    expected = list(range(8))
    for power in (3, 4, 5, 6):  # lengths 2^k + 1 to 2^(k + 1)
        for _ in range(4):
            expected += [expected[-1] + 1] * (2**power // 4)
    assert length_buckets(128).tolist() == expected
    for longest in range(1, 129):
        assert length_buckets(longest).tolist() == expected[:longest]
        assert n_length_buckets(longest) == expected[longest - 1] + 1
