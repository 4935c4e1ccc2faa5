import itertools

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from trelliswork.errors import DataError
from trelliswork.evaluation.report import report
from trelliswork.evaluation.significance import (
    compare_counts,
    randomization_test,
    shuffled_differences,
)

LABELS = ["O", "B-a", "I-a"]


def draw_labels(seed, sentences=8, length=6):
    rng = np.random.default_rng(seed)
    gold = [[LABELS[i] for i in rng.integers(0, 3, length)] for _ in range(sentences)]

    def system(noise):
        return [
            [LABELS[rng.integers(0, 3)] if rng.random() < noise else x for x in sentence]
            for sentence in gold
        ]

    return gold, system(0.3), system(0.6)


def exact_p_value(gold, first, second, metric):
    """Enumerate all assignments of outputs and score every one in full."""
    score = {"f1": lambda r: r.f1, "accuracy": lambda r: r.token_accuracy}[metric]

    def difference(a, b):
        return score(report(gold, b, scheme="bio")) - score(report(gold, a, scheme="bio"))

    observed = abs(difference(first, second))
    extreme = 0
    for swaps in itertools.product([False, True], repeat=len(gold)):
        pairs = [(b, a) if s else (a, b) for a, b, s in zip(first, second, swaps, strict=True)]
        a, b = zip(*pairs, strict=True)
        extreme += abs(difference(a, b)) >= observed - 1e-12
    return extreme / 2 ** len(gold)


@pytest.mark.parametrize("metric", ["f1", "accuracy"])
@pytest.mark.parametrize("seed", [0, 1])
def test_agrees_with_all_assignments(metric, seed):
    gold, first, second = draw_labels(seed)
    expected = exact_p_value(gold, first, second, metric)
    shuffles = 40_000
    found = randomization_test(
        gold, first, second, metric=metric, shuffles=shuffles, random_state=7, scheme="bio"
    )
    # Four standard errors of a proportion.
    assert found.p_value == pytest.approx(expected, abs=4 * (0.25 / shuffles) ** 0.5)


@settings(max_examples=30)
@given(st.integers(0, 10_000))
def test_shuffled_counts_equal_recounting(seed):
    """Every assignment, by matrix product and by adding up the swapped rows."""
    rng = np.random.default_rng(seed)
    n = 5
    gold = rng.integers(0, 4, n)
    first, second = (
        np.stack([rng.integers(0, gold + 1), gold + rng.integers(0, 3, n), gold], axis=1)
        for _ in range(2)
    )
    swaps = np.array(list(itertools.product([0, 1], repeat=n)), dtype=float)
    found = shuffled_differences(first.sum(0), second.sum(0), (second - first).astype(float), swaps)
    for row, difference in zip(swaps.astype(bool), found, strict=True):
        a = np.where(row[:, None], second, first).sum(0)
        b = np.where(row[:, None], first, second).sum(0)
        sizes = a[1] + a[2], b[1] + b[2]
        scores = [2 * x[0] / size if size else 0.0 for x, size in zip((a, b), sizes, strict=True)]
        assert difference == pytest.approx(scores[1] - scores[0])


def test_the_record():
    gold, first, second = draw_labels(3)
    found = randomization_test(gold, first, second, shuffles=99, random_state=5)
    assert found.first == report(gold, first).f1
    assert found.second == report(gold, second).f1
    assert found.difference == found.second - found.first
    assert (found.shuffles, found.seed, found.metric) == (99, 5, "f1")
    assert found.to_dict()["p_value"] == found.p_value
    assert "99 shuffles" in str(found)
    assert found == randomization_test(gold, first, second, shuffles=99, random_state=5)


def test_two_reports_compare():
    gold, first, second = draw_labels(3)
    found = report(gold, first).significance(report(gold, second), shuffles=99, random_state=5)
    assert found == randomization_test(gold, first, second, shuffles=99, random_state=5)
    with pytest.raises(DataError, match="same gold labels"):
        report(gold, first).significance(report(second, first))


def test_a_drawn_seed_gives_the_outcome_again():
    gold, first, second = draw_labels(4)
    found = randomization_test(gold, first, second, shuffles=50)
    again = randomization_test(gold, first, second, shuffles=50, random_state=found.seed)
    assert again == found


def test_equal_systems_do_not_differ():
    gold, first, _ = draw_labels(0)
    found = randomization_test(gold, first, first, shuffles=10)
    assert found.p_value == 1.0
    assert found.difference == 0.0


def test_a_clear_difference_is_found():
    gold, first, _ = draw_labels(0, sentences=60)
    found = randomization_test(gold, [["O"] * 6] * 60, first, shuffles=999, random_state=0)
    assert found.p_value == 1 / 1000
    assert found.difference > 0.3


def test_bad_arguments():
    with pytest.raises(ValueError, match="shuffles"):
        compare_counts(np.ones((2, 3)), np.ones((2, 3)), shuffles=0)
    with pytest.raises(ValueError, match="metric"):
        randomization_test([["a"]], [["a"]], [["a"]], metric="recall")
    with pytest.raises(DataError, match=r"\(n, 3\), got \(2, 3\) and \(3, 3\)"):
        compare_counts(np.ones((2, 3)), np.ones((3, 3)))
    with pytest.raises(DataError, match="sentence 0: expected 1 predicted"):
        randomization_test([["a"]], [["a"]], [["a", "b"]])
