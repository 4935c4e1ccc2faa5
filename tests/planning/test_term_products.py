"""Products that count violations, against `Constraint.violations` on all short labellings."""

from __future__ import annotations

import itertools
import pickle
from copy import copy
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from oracle import enumerate_paths
from rule_strategies import LABEL_SETS, TOKENS, combined, leaves, linear_rules, looking
from segment_cases import models, readable, segmentations_of
from trelliswork.automata.patterns import Patterns
from trelliswork.constraints import Constraint, at_least, at_most, count, exactly, requires
from trelliswork.constraints.reading import Reading
from trelliswork.errors import RuleError, TooLargeError
from trelliswork.inference.verbs import Trellis, log_partition
from trelliswork.labels.label_set import LabelSet
from trelliswork.labels.segmentation import Segmentation
from trelliswork.planning.plan import Plan, plan

LENGTHS = {3: 5, 4: 4, 5: 3, 6: 3, 7: 2}  # so that there are at most 256 labellings
PENALTIES = st.sampled_from([0.0, 0.5, 1.0, 3.25])


def wrapped(draw: Any, rule: Constraint) -> Constraint:
    return rule if draw(st.booleans()) else rule.soft(draw(PENALTIES))


@st.composite
def constraint_lists(draw: Any, labels: LabelSet) -> tuple[Constraint, ...]:
    names = list(labels.names)
    whole = combined(st.one_of(leaves(["a", "b"], names), looking(["a", "b", *names])))
    part = st.one_of(linear_rules(["a", "b"], names), leaves(["a", "b"], names))
    joined = st.builds(lambda a, b: a & b, part, part)
    rules = draw(st.lists(st.one_of(whole, part, joined), min_size=1, max_size=3))
    return tuple(wrapped(draw, rule) for rule in rules)


def degree(planned: Plan, item: int, names: list[str], sentence: list[str]) -> int:
    """Return v_i from the definition."""
    found = planned.terms[item]
    if found.row is not None:
        return found.row.violations(Reading(names, sentence, planned.labels))
    assert found.rule is not None
    return found.rule.violations(names, sentence, scheme=planned.labels)


def scores_of_all(
    planned: Plan, items: tuple[int, ...], tags: np.ndarray, sentence: list[str]
) -> np.ndarray:
    """Return the score of each labelling, a row of `tags`, on the product with some items."""
    n, length = tags.shape
    evidence = planned.evidence([sentence] * n, np.arange(n + 1) * length)
    made = planned.terms.product(items, length)
    blank = planned.blank_scores(n * length)
    trellis = Trellis(
        blank,
        made.automaton,
        offsets=evidence.offsets,
        weights=planned.costs.weights(None),
        classes=evidence.classes(made.tests),
    )
    n_letters = planned.model.n_labels
    allowed = np.zeros((n * length, n_letters), dtype=bool)
    if planned.segmentation is not None:
        allowed = np.zeros((n * length, 2 * n_letters), dtype=bool)
    allowed[np.arange(n * length), tags.ravel()] = True
    if planned.segmentation is not None:
        allowed = allowed.reshape(n * length, 2, n_letters)
    found = log_partition(trellis, allowed=allowed, n_jobs=1)
    return found + planned.costs.constant(made)


def check(
    planned: Plan, items: tuple[int, ...], length: int, sentence: list[str], tags: np.ndarray
) -> None:
    names = [[*map(str, planned.names(row))] for row in tags]
    found = scores_of_all(planned, items, tags, sentence)
    evidence = planned.evidence([sentence] * len(tags), np.arange(len(tags) + 1) * length)
    counted = planned.terms.violations(tags.ravel(), evidence)
    penalties = planned.costs.of_terms
    for row, own in enumerate(names):
        degrees = [degree(planned, i, own, sentence) for i in range(len(planned.terms))]
        assert counted[row].tolist() == degrees
        expected = 0.0
        for i in items:
            expected -= 0.0 if degrees[i] == 0 else penalties[i] * degrees[i]
        assert found[row] == pytest.approx(expected, abs=1e-9), own
    by_constraint = planned.violations(tags.ravel(), evidence)
    for c in range(len(planned.constraints)):
        if c not in planned.masks:
            rule = planned.constraints[c]
            degrees = [rule.violations(own, sentence, scheme=planned.labels) for own in names]
            assert by_constraint[:, c].tolist() == degrees


@given(st.data())
@settings(max_examples=60)
def test_products_score_every_labelling_by_its_violations(data):
    labels = LABEL_SETS[data.draw(st.sampled_from(sorted(LABEL_SETS)))]
    constraints = data.draw(constraint_lists(labels))
    model = None
    if data.draw(st.booleans()):
        words = st.lists(st.integers(0, len(labels) - 1), min_size=2, max_size=3)
        patterns = data.draw(st.lists(words.map(tuple), unique=True, max_size=5))
        model = Patterns.of(patterns, len(labels)).automaton()
    planned = Plan(labels, constraints, model=model)
    length = data.draw(st.integers(1, LENGTHS[len(labels)]))
    sentence = data.draw(st.lists(st.sampled_from(TOKENS), min_size=length, max_size=length))
    some = st.sets(st.sampled_from(range(len(planned.terms)))) if planned.terms else st.just(set())
    everything = range(len(planned.terms))
    items = tuple(everything) if data.draw(st.booleans()) else tuple(sorted(data.draw(some)))
    tags = np.array(list(itertools.product(range(len(labels)), repeat=length)), dtype=np.int32)
    check(planned, items, length, sentence, tags)


@given(st.data())
@settings(max_examples=60)
def test_products_of_segments_score_every_segmentation_by_its_violations(data):
    segmentation = data.draw(segmentations_of())
    model = data.draw(models(segmentation))
    labels = segmentation.labels
    names = list(labels.segment_names)[:2]
    part = st.one_of(linear_rules(names, list(labels.names)), leaves(names, list(labels.names)))
    drawn = data.draw(st.lists(st.one_of(part, looking([*names])), min_size=1, max_size=3))
    rules = tuple(wrapped(data.draw, rule) for rule in drawn if readable_items(rule, segmentation))
    planned = Plan(labels, rules, model=model, segmentation=segmentation)
    length = data.draw(st.integers(1, 4))
    sentence = data.draw(st.lists(st.sampled_from(TOKENS), min_size=length, max_size=length))
    free = Trellis(segmentation.blank_scores(length), model)
    n_letters = segmentation.n_letters
    tags = np.array(
        [
            [y + n_letters * (not begins) for y, begins in zip(p.labels, p.begins, strict=True)]
            for p in enumerate_paths(free)
        ],
        dtype=np.int32,
    )
    check(planned, tuple(range(len(planned.terms))), length, sentence, tags)


def readable_items(rule: Constraint, segmentation: Segmentation) -> bool:
    """Return whether the items of a rule can be read off segments."""
    one = Plan(segmentation.labels, (rule.soft(1.0),), segmentation=segmentation)
    try:
        one.terms.product(range(len(one.terms)), 8)
    except RuleError:
        return False
    return readable(rule, segmentation) or bool(one.terms)


def test_rows_of_tokens_are_refused_for_segments():
    segmentation = Segmentation(LabelSet(["a", "b"]), (2, 1))
    tokens_of_a = (count("a", unit="token") - count("b") <= 0).soft(1.0)
    with pytest.raises(RuleError, match="how many tokens a segment of 'a' has"):
        plan(segmentation.labels, tokens_of_a, segmentation=segmentation)
    plan(segmentation.labels, at_most(1, "b", unit="token").soft(1.0), segmentation=segmentation)


LETTERS = LabelSet(["a", "b", "c"])


def test_items_are_the_parts_of_constraints_with_their_penalties():
    rules = [
        exactly(1, "a").soft(2.0),
        (requires("a", "b") & at_most(1, "b")).soft(),
        at_least(1, "c"),
    ]
    planned = plan(LETTERS, rules)
    assert [item.constraint for item in planned.terms] == [0, 0, 1, 1, 2]
    assert [item.row is None for item in planned.terms] == [False, False, True, False, False]
    assert planned.hard_rules == (2,)
    assert planned.soft == (0, 1)
    np.testing.assert_array_equal(planned.penalties, [2.0, np.nan, np.inf])
    np.testing.assert_array_equal(planned.costs.of_terms, [2.0, 2.0, np.nan, np.nan, np.inf])


def test_other_penalties_share_what_is_compiled():
    planned = plan(LETTERS, [exactly(1, "a").soft(), at_least(1, "c")])
    with pytest.raises(RuleError, match="No penalty is known for exactly"):
        planned.costs.weights(None)
    learned = planned.with_penalties([1.5, np.inf])
    assert learned.terms.product((0, 1), 4) is planned.terms.product((0, 1), 4)
    assert learned.costs.weights(None)[-6:].tolist() == [-1.5, 1.5, -1.5, 1.5, 0.0, 0.0]
    assert np.isnan(planned.penalties[0])
    assert planned.with_penalties([0.5, np.inf]).costs.of_terms[0] == 0.5
    assert copy(learned).terms is learned.terms
    again = pickle.loads(pickle.dumps(learned))
    assert again.terms is not learned.terms
    np.testing.assert_array_equal(again.penalties, learned.penalties)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1.0], r"expected one per constraint, shape \(2,\)"),
        ([-1.0, np.inf], "0 or more for exactly"),
        ([np.inf, np.inf], "0 or more for exactly"),
        ([1.0, 1.0], "expected inf for at_least"),
    ],
)
def test_penalties_must_fit_the_constraints(values, message):
    planned = plan(LETTERS, [exactly(1, "a").soft(), at_least(1, "c")])
    with pytest.raises(ValueError, match=message):
        planned.with_penalties(values)


def test_products_beyond_the_budget_name_their_constraints():
    rules = [count("a") - count("b") <= 0, (count("b") - count("c") <= 0).soft(1.0)]
    planned = plan(LETTERS, rules, decoding_budget=500)
    with pytest.raises(TooLargeError, match=r"count\('a'\).*count\('b'\).*more than 500 arcs"):
        planned.terms.product((0, 1), 40)


def test_states_that_count_alike_share_a_context():
    planned = plan(LETTERS, at_most(3, "a").soft(1.0))
    made = planned.terms.product((0,), 8).automaton
    assert made.contexts is not None
    assert len(set(made.contexts.tolist())) < made.n_states


def test_violations_of_empty_sequences_are_those_of_nothing():
    planned = plan(LETTERS, [at_least(2, "a").soft(1.0), requires("a", "b").soft(1.0)])
    evidence = planned.evidence([[], ["x"]], np.array([0, 0, 1]))
    found = planned.terms.violations(np.zeros(1, dtype=np.int32), evidence)
    assert found.tolist() == [[2, 0], [1, 1]]
