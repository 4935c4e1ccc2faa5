"""Segments of a semi-Markov model against the token labels they are written as."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from oracle import segmentations
from trelliswork.errors import DataError, LabelError
from trelliswork.inference.verbs import Trellis, log_partition
from trelliswork.labels.label_set import LabelSet
from trelliswork.labels.segmentation import Segmentation

PLAIN = LabelSet(["author", "date", "title"])
WITH_OUTSIDE = LabelSet(["author", "other", "title"], outside="other")
BIO = LabelSet(["B-PER", "I-LOC", "O"], scheme="bio")


def tags_of(segmentation: Segmentation, gold) -> np.ndarray:
    return gold.ids + segmentation.n_letters * ~gold.begins


@st.composite
def labellings(draw):
    """A segmentation and label sequences that it can read."""
    labels = draw(st.sampled_from([PLAIN, WITH_OUTSIDE, BIO]))
    names = Segmentation.choose(labels, [], "auto").names
    sequences = []
    for _ in range(draw(st.integers(0, 3))):
        if labels.scheme == "plain":
            sequences.append(draw(st.lists(st.sampled_from(labels.names), max_size=6)))
            continue
        runs = draw(st.lists(st.tuples(st.sampled_from(names), st.integers(1, 3)), max_size=3))
        tagged = [
            ["O"] * n if name == "O" else [f"B-{name}"] + [f"I-{name}"] * (n - 1)
            for name, n in runs
        ]
        sequences.append([label for run in tagged for label in run])
    adjacent = draw(st.booleans())
    return Segmentation.choose(labels, sequences, "auto", adjacent=adjacent), sequences


@given(labellings())
def test_labels_become_segments_and_tags_and_labels_again(case):
    segmentation, sequences = case
    gold = segmentation.encode(sequences)
    tags = tags_of(segmentation, gold)
    names = [segmentation.tag_names[tag] for tag in tags]
    assert names == [label for sequence in sequences for label in sequence]
    offsets = np.cumsum([0, *map(len, sequences)])
    for sequence, first, last in zip(sequences, offsets, offsets[1:], strict=False):
        spans = segmentation.labels.spans(sequence)
        assert segmentation.spans(tags[first:last]) == spans
        assert all(
            s.end - s.start <= segmentation.limits[segmentation.names.index(s.name)] for s in spans
        )


@given(labellings())
def test_letters_are_one_a_segment_and_one_a_run_outside(case):
    segmentation, sequences = case
    gold = segmentation.encode(sequences)
    offsets = np.cumsum([0, *map(len, sequences)])
    letters = segmentation.letters_of(gold, offsets)
    begins = gold.begins
    for b, sequence in enumerate(sequences):
        own = slice(letters.offsets[b], letters.offsets[b + 1])
        expected = []
        for t, label in enumerate(sequence):
            position = offsets[b] + t
            outside = bool(segmentation.continues[gold.ids[position]])
            if begins[position] and not (outside and t and sequence[t - 1] == label):
                expected.append((int(gold.ids[position]), int(position)))
        found = zip(letters.letters[own].tolist(), letters.tokens[own].tolist(), strict=True)
        assert list(found) == expected


@given(labellings())
def test_one_letter_a_segment_reads_the_segments(case):
    segmentation, sequences = case
    for sequence in sequences:
        gold = segmentation.encode([sequence])
        letters = [segmentation.letter_set.names[y] for y in gold.ids[gold.begins]]
        names = [span.name for span in segmentation.letter_set.spans(letters)]
        assert names == [span.name for span in segmentation.labels.spans(sequence)]


@pytest.mark.parametrize(("adjacent", "count"), [(False, 3**8), (True, 49_152)])
def test_number_of_segmentations(adjacent, count):
    from trelliswork.automata.automaton import Automaton

    segmentation = Segmentation(PLAIN, (8, 8, 8), adjacent)
    arcs = [
        (state, y, y + 1)
        for state in range(4)
        for y in range(3)
        if state != y + 1 or segmentation.repeats[y]
    ]
    model = Automaton(4, 3, *zip(*arcs, strict=True))
    trellis = Trellis(segmentation.blank_scores(8), model)
    assert np.exp(log_partition(trellis))[0] == pytest.approx(count)
    by_hand = sum(
        3 * (3 if adjacent else 2) ** (len(durations) - 1) for durations in segmentations(8, 8)
    )
    assert by_hand == count


def test_blank_scores_stop_at_the_longest_segment():
    scores = Segmentation(PLAIN, (1, 2, 3)).blank_scores(2)
    assert scores.shape == (2, 3, 3)
    assert np.isfinite(scores[1]).tolist() == [
        [True, True, True],
        [False, True, True],
        [False, False, True],
    ]


def test_missing_tags_are_added_and_outside_is_a_letter():
    segmentation = Segmentation.choose(BIO, [["B-PER", "O"]], 3)
    assert segmentation.labels.names == ("B-PER", "I-LOC", "O", "B-LOC", "I-PER")
    assert segmentation.names == ("LOC", "PER", "O")
    assert segmentation.tag_names == ("B-LOC", "B-PER", "O", "I-LOC", "I-PER", "O")
    assert segmentation.limits == (3, 3, 1)
    assert segmentation.continues.tolist() == [False, False, True]
    assert segmentation.letter_set.names == ("B-LOC", "B-PER", "O")


def test_limits_by_name_and_as_seen():
    sequences = [["author"] * 4 + ["title"] * 2 + ["other"] * 9]
    chosen = Segmentation.choose(WITH_OUTSIDE, sequences, {"title": 5})
    assert chosen.limits == (4, 1, 5)
    assert chosen.max_duration == 5


def test_open_labels_may_belong_to_the_segments_beside_them():
    either = frozenset({"author", "title"})
    sequences = [["author", either, either, None, "title", either, "date", "author"]]
    assert Segmentation.choose(PLAIN, sequences, "auto").limits == (4, 1, 5)
    assert Segmentation.choose(PLAIN, [[None, None], ["title", None]], "auto").limits == (1, 1, 2)
    place = frozenset({"B-LOC", "I-LOC", "O"})
    bio = Segmentation.choose(BIO, [["O", "B-PER", None], [place, place, "B-PER"]], "auto")
    assert dict(zip(bio.names, bio.limits, strict=True)) == {"LOC": 2, "PER": 2, "O": 1}


def test_a_segment_that_is_too_long_is_named():
    sequences = [["title"], ["title"] + ["author"] * 4]
    message = "sequence 1, token 1: a segment of 'author' has 4 tokens, and max_segment allows 3"
    with pytest.raises(DataError, match=message):
        Segmentation.choose(PLAIN, sequences, 3)
    with pytest.raises(DataError, match="Raise it to 4 or more, or set max_segment='auto'"):
        Segmentation(PLAIN, (3, 3, 3)).encode(sequences)


def test_segments_that_are_too_long_are_summed_up():
    sequences = [["date"], ["title"] * 2 + ["author"] * 4, ["author"] * 5, ["title", "date"]]
    with pytest.raises(DataError, match="are author 5, title 2; 2 of 4 sequences have") as caught:
        Segmentation.choose(PLAIN, sequences, {"author": 2, "title": 1})
    assert caught.value.sequence == 1
    assert str(caught.value).startswith("y: sequence 1, token 0: a segment of 'title' has 2")


def test_labels_without_segments_are_the_fault_of_y():
    with pytest.raises(LabelError, match=r"^y: Expected two labels or more"):
        Segmentation.choose(LabelSet(["a"]), [["a", "a"]], "auto")
    with pytest.raises(LabelError, match=r"^y: Expected plain or bio labels"):
        Segmentation.choose(LabelSet(["B-a/B-b"], scheme="path"), [["B-a/B-b"]], "auto")


def test_open_labels_leave_tags_open():
    segmentation = Segmentation.choose(BIO, [], 2)
    sequences = [["B-PER", None, "I-PER"], ["B-PER", "I-PER"], [frozenset({"O", "B-PER"})]]
    gold = segmentation.encode(sequences)
    assert gold.ids.tolist() == [1, -1, 1, 1, 1, -1]
    assert gold.begins.tolist() == [True, True, False, True, False, True]
    per, outside = 1, 2
    assert gold.allowed[0].tolist() == [[False, True, False], [False] * 3]
    assert gold.allowed[1].all()
    assert gold.allowed[2].tolist() == [[False] * 3, [False, True, False]]
    assert gold.allowed[4].tolist() == [[False] * 3, [False, True, False]]
    assert gold.allowed[5, 0].nonzero()[0].tolist() == [per, outside]
    letters = segmentation.letters_of(gold, np.array([0, 3, 5, 6]))
    assert letters.letters.tolist() == [1, -1, 1, -1]
    assert letters.offsets.tolist() == [0, 2, 3, 4]


def test_plain_runs_beside_open_labels():
    segmentation = Segmentation(PLAIN, (2, 2, 2))
    gold = segmentation.encode([["author", None, "author", "author"], ["title", "title"]])
    assert gold.begins.tolist() == [True, True, True, False, True, False]
    # Partial labels may begin segments anywhere; full labels are read as maximal runs.
    assert gold.allowed[3].tolist() == [[True, False, False]] * 2
    assert gold.allowed[5].tolist() == [[False] * 3, [False, False, True]]


def test_settings_bring_it_back():
    segmentation = Segmentation.choose(BIO, [], {"PER": 4}, adjacent=True)
    again = Segmentation.restore(segmentation.labels, segmentation.settings())
    assert again == segmentation
    assert not again.is_hidden


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (LabelSet(["S-PER", "O"], scheme="bioes"), r"convert\(labels, 'bioes', 'bio'\)"),
        (LabelSet(["I-PER", "O"], scheme="iob1"), r"convert\(labels, 'iob1', 'bio'\)"),
        (LabelSet(["B-a/B-b"], scheme="path"), "Choose one level"),
        (LabelSet(["author"]), "two labels or more, got 'author' alone"),
    ],
)
def test_labels_that_segments_cannot_be_read_from(labels, message):
    with pytest.raises(LabelError, match=message):
        Segmentation.choose(labels, [], 3)


@pytest.mark.parametrize("max_segment", [1, 0, 2.5, "all", True, {"title": 0}])
def test_bounds_that_make_no_sense(max_segment):
    with pytest.raises(ValueError, match=r"max_segment: expected a number of tokens from \d up"):
        Segmentation.choose(PLAIN, [], max_segment)


def test_names_that_are_not_there():
    with pytest.raises(LabelError, match="unknown segment 'titel'"):
        Segmentation.choose(PLAIN, [], {"titel": 3})
    with pytest.raises(LabelError, match="sequence 1, position 0: unknown label 'x'"):
        Segmentation.choose(PLAIN, [["title"], ["x"]], 3)


def test_labels_that_break_bio_are_named():
    with pytest.raises(LabelError, match="sequence 1, position 1: 'I-LOC' after 'O' breaks bio"):
        Segmentation.choose(BIO, [["O"], ["O", "I-LOC"]], 3)
