"""Lazy intersection under hard, soft and linear constraints, against enumeration."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from soft_cases import SoftCase, soft_cases
from trelliswork.constraints import at_least, at_most, count, exactly, excludes, requires
from trelliswork.decoding.answers import METHODS
from trelliswork.decoding.lazy import LazyAnswers, best_lazily
from trelliswork.errors import RuleError, TooLargeError
from trelliswork.inference.verbs import Trellis
from trelliswork.labels.label_set import LabelSet
from trelliswork.planning.hard_rules import HardRules
from trelliswork.planning.plan import Plan, plan
from trelliswork.planning.terms import Terms

LABELS = LabelSet(["a", "b", "c"])


def answers(case: SoftCase, k: int = 1) -> LazyAnswers:
    trellis = case.trellis
    planned = Plan(case.labels, case.constraints)
    evidence = planned.evidence(case.sentences, trellis.offsets)
    everything = range(len(case.constraints))
    return best_lazily(planned, trellis, evidence, everything, k=k, n_jobs=1)


@given(soft_cases(), st.booleans())
@settings(max_examples=80)
def test_answers_are_the_best_of_all_labellings(case, all_at_once):
    with pytest.MonkeyPatch.context() as patch:
        if not all_at_once:
            patch.setattr(Terms, "are_compact", lambda *_: False)
            patch.setattr(HardRules, "together", None)
        found = answers(case)
    for b, (first, last) in enumerate(pairwise(case.trellis.offsets.tolist())):
        expected = case.priced(b)
        best = max(expected.values(), default=-np.inf)
        assert found.scores[b, 0] == pytest.approx(best, abs=1e-9)
        if expected:
            own = tuple(found.tags[0, first:last].tolist())
            assert expected[own] == pytest.approx(best, abs=1e-9)


@given(soft_cases(longest=3), st.integers(2, 6))
@settings(max_examples=50)
def test_several_best_are_the_best_of_all_labellings(case, k):
    found = answers(case, k)
    for b, (first, last) in enumerate(pairwise(case.trellis.offsets.tolist())):
        expected = case.priced(b)
        best = sorted(expected.values(), reverse=True)[:k]
        scores = found.scores[b][np.isfinite(found.scores[b])]
        np.testing.assert_allclose(scores, best, atol=1e-9)
        listed = [tuple(tags.tolist()) for tags in found.tags[: len(scores), first:last]]
        assert len(set(listed)) == len(listed)
        np.testing.assert_allclose([expected[tags] for tags in listed], scores, atol=1e-9)


def one(rules, scores, **options):
    planned = plan(LABELS, rules, **options)
    trellis = Trellis(np.array(scores, dtype=float))
    evidence = planned.evidence([["x"] * len(scores)], trellis.offsets)
    return planned, trellis, evidence


def test_a_penalty_is_paid_where_that_is_cheaper():
    scores = [[0, 2, 0], [1, 0, 0], [0, 2, 0]]  # b a b
    for penalty, tags in ((1.0, [1, 0, 1]), (1.5, [1, 1, 1])):
        planned, trellis, evidence = one(at_most(1, "b").soft(penalty), scores)
        found = best_lazily(planned, trellis, evidence, (0,))
        assert found.tags[0].tolist() == tags
        assert found.scores[0, 0] == pytest.approx(4.0)


def test_only_items_that_answers_break_are_added(monkeypatch):
    rules = [exactly(1, "b").soft(0.5), requires("a", "c").soft(0.5), excludes("a", "c").soft(9.0)]
    planned, trellis, evidence = one(rules, [[0, 2, 0], [1, 0, 0]])
    monkeypatch.setattr(Terms, "are_compact", lambda *_: False)
    asked = []
    build = Terms.product
    monkeypatch.setattr(Terms, "product", lambda self, *a: asked.append(a[0]) or build(self, *a))
    found = best_lazily(planned, trellis, evidence, (0, 1, 2))
    assert asked == [(2,)]  # of `requires`; `exactly` and `excludes` hold
    assert METHODS[found.methods[0]] == "lazy"
    assert found.scores[0, 0] == pytest.approx(2.5)
    assert found.iterations[0] == 2


def test_penalties_of_zero_are_no_constraints():
    planned, trellis, evidence = one(at_most(0, "b").soft(0.0), [[0, 2, 0]])
    found = best_lazily(planned, trellis, evidence, (0,))
    assert found.iterations[0] == 1
    assert found.scores[0, 0] == 2.0


def test_penalties_that_are_not_known_are_refused():
    planned, trellis, evidence = one(at_most(0, "b").soft(), [[0, 2, 0]])
    with pytest.raises(RuleError, match=r"No penalty is known for at_most\(0, 'b'\).soft\(\)"):
        best_lazily(planned, trellis, evidence, (0,))
    learned = planned.with_penalties([3.0])
    assert best_lazily(learned, trellis, evidence, (0,)).scores[0, 0] == 0.0


def test_counters_are_built_for_the_length_of_a_sequence():
    rule = count("a") - count("b") <= 0
    planned = plan(LABELS, rule)
    lengths = [3, 30, 0, 31]
    offsets = np.cumsum([0, *lengths])
    rng = np.random.default_rng(0)
    trellis = Trellis(rng.normal([1, 0, 0], size=(offsets[-1], 3)), offsets=offsets)
    evidence = planned.evidence([["x"] * n for n in lengths], offsets)
    found = best_lazily(planned, trellis, evidence, (0,))
    assert (planned.terms.violations(found.tags[0], evidence) == 0).all()


def test_sequences_beyond_the_budget_are_given_up_where_that_is_asked_for():
    rules = [at_least(1, "c"), (count("a") - count("b") <= 0).soft(9.0)]
    scores = [[2, 0, 0], [0, 0, 1]] * 10
    planned, trellis, evidence = one(rules, scores, decoding_budget=60)
    with pytest.raises(TooLargeError, match="sequence 0: The product"):
        best_lazily(planned, trellis, evidence, (0, 1))
    found = best_lazily(planned, trellis, evidence, (0, 1), give_up=True)
    assert found.given_up == {0: ()}
