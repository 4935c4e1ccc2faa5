"""Decoding and sums under constraints, against enumeration of all labellings."""

from __future__ import annotations

import itertools
import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from constrained_cases import Case, cases
from strategies import arrays, expressions, ordinary
from trelliswork import inference
from trelliswork.automata.automaton import Automaton
from trelliswork.constraints import (
    at_least,
    at_most,
    ends_with,
    matches,
    predicate,
    starts_with,
)
from trelliswork.decoding.conflicts import find_conflict
from trelliswork.decoding.describe import describe_batch, describe_nbest
from trelliswork.decoding.exact import decode_batch, decode_nbest_batch
from trelliswork.decoding.on_products import constrained_trellis, feasible_trellises
from trelliswork.errors import InfeasibleError, TooLargeError
from trelliswork.inference.trellis import Trellis
from trelliswork.labels.label_set import LabelSet
from trelliswork.planning.plan import Plan


def prepared(case: Case):
    plan = Plan(case.labels, case.constraints)
    trellis = case.trellis
    return plan, trellis, plan.evidence(case.sentences, trellis.offsets)


@settings(max_examples=60)
@given(cases(), st.booleans())
def test_decoding_is_exact(case, compact):
    plan, trellis, evidence = prepared(case)
    if not compact:
        plan.hard.__dict__["together"] = None
    found = decode_batch(plan, trellis, evidence, on_infeasible="unconstrained", n_jobs=1)
    for b, sentence in enumerate(case.sentences):
        paths = case.paths(b)
        assert (b in found.kept) == (not paths)
        if not paths:
            paths = case.paths(b, ())
        first, last = trellis.offsets[b : b + 2]
        labels = tuple(found.tags[first:last].tolist())
        assert len(labels) == len(sentence)
        assert found.scores[b] == pytest.approx(max(paths.values()))
        assert paths[labels] == pytest.approx(found.scores[b])
        assert found.iterations[b] >= 1


@settings(max_examples=60)
@given(cases(), st.booleans(), st.integers(1, 6))
def test_lazy_best_lists_are_exact(case, compact, k):
    plan, trellis, evidence = prepared(case)
    if not compact:
        plan.hard.__dict__["together"] = None
    found = decode_nbest_batch(plan, trellis, evidence, k, on_infeasible="unconstrained", n_jobs=1)
    for b, answers in enumerate(describe_nbest(plan, evidence, found)):
        paths = case.paths(b) or case.paths(b, ())
        scores = [answer.score for answer in answers]
        assert scores == pytest.approx(sorted(paths.values(), reverse=True)[:k])
        ids = {tuple(case.labels.encode(answer.labels)) for answer in answers}
        assert len(ids) == len(scores)
        assert ids <= set(paths)


@settings(max_examples=60)
@given(cases())
def test_sums_best_lists_and_samples_are_exact(case):
    plan, trellis, evidence = prepared(case)
    together = constrained_trellis(plan, trellis, evidence)
    log_z = inference.log_partition(together, n_jobs=1)
    found = inference.marginals(together, n_jobs=1)
    best = inference.kbest(together, 5, n_jobs=1)
    counts = np.zeros_like(case.transitions)
    for b in range(len(case.sentences)):
        first, last = trellis.offsets[b : b + 2]
        paths = case.paths(b)
        assert log_z[b] == pytest.approx(case.log_z(b))
        expected = np.zeros((last - first, len(case.labels)))
        for ids, score in paths.items():
            p = math.exp(score - log_z[b])
            for t, y in enumerate(ids):
                expected[t, y] += p
            for a, y in itertools.pairwise(ids):
                counts[a, y] += p
        np.testing.assert_allclose(found.labels[first:last], expected, atol=1e-9)
        ranked = sorted(paths.values(), reverse=True)[:5]
        scores = best.scores[b][np.isfinite(best.scores[b])]
        np.testing.assert_allclose(scores, ranked[: len(scores)], atol=1e-9)
        assert len(scores) == min(5, len(paths))
        given_by = {tuple(best.labels[i, first:last].tolist()) for i in range(len(scores))}
        assert len(given_by) == len(scores)
        assert given_by <= set(paths)
    # The gradient of Σ log Z by the transitions.
    np.testing.assert_allclose(found.pattern_counts.reshape(counts.shape), counts, atol=1e-9)
    drawn, _ = inference.sample(together, 20, random_state=0, n_jobs=1)
    for b in range(len(case.sentences)):
        first, last = trellis.offsets[b : b + 2]
        paths = case.paths(b)
        if paths:
            assert {tuple(row) for row in drawn[:, first:last].tolist()} <= set(paths)


def test_samples_have_the_right_frequencies():
    labels = LabelSet(list("abc"))
    rng = np.random.default_rng(1)
    case = Case(
        labels,
        (at_most(1, "a"), ends_with("b", "c")),
        [["x"] * 3],
        [rng.normal(size=(3, 3))],
        rng.normal(size=(3, 3)),
    )
    plan, trellis, evidence = prepared(case)
    together = constrained_trellis(plan, trellis, evidence)
    n = 20_000
    drawn, _ = inference.sample(together, n, random_state=0)
    log_z = case.log_z(0)
    for ids, score in case.paths(0).items():
        share = (drawn == np.array(ids)).all(axis=1).mean()
        p = math.exp(score - log_z)
        assert abs(share - p) < 5 * math.sqrt(p * (1 - p) / n) + 1e-3


@settings(max_examples=60)
@given(cases())
def test_known_labels_count_too(case):
    plan, trellis, evidence = prepared(case)
    allowed = np.ones((trellis.n_tokens, len(case.labels)), dtype=bool)
    allowed[::2, 0] = False
    found = decode_batch(
        plan, trellis, evidence, allowed=allowed, on_infeasible="unconstrained", n_jobs=1
    )
    for b in range(len(case.sentences)):
        first, last = trellis.offsets[b : b + 2]
        own = allowed[first:last]

        def fits(ids, own=own):
            return all(own[t, y] for t, y in enumerate(ids))

        paths = {ids: s for ids, s in case.paths(b).items() if fits(ids)}
        assert (b in found.kept) == (not paths)
        if not paths:
            paths = {ids: s for ids, s in case.paths(b, ()).items() if fits(ids)}
        labels = tuple(found.tags[first:last].tolist())
        assert paths[labels] == pytest.approx(max(paths.values()))


@settings(max_examples=60)
@given(cases(rules=5, longest=3))
def test_conflicts_are_minimal(case):
    plan, _, evidence = prepared(case)
    everything = range(len(case.constraints))
    for b in range(len(case.sentences)):
        conflict = find_conflict(plan, evidence.take(np.array([b])), everything)
        assert (conflict is None) == bool(case.paths(b))
        if conflict is not None:
            chosen = [case.constraints[i] for i in conflict.constraints]
            assert not case.paths(b, tuple(chosen))
            for i in range(len(chosen)):
                assert case.paths(b, tuple(chosen[:i] + chosen[i + 1 :]))


@settings(max_examples=60)
@given(cases(rules=4, longest=3))
def test_relaxed_answers_keep_what_they_can(case):
    plan, trellis, evidence = prepared(case)
    found = decode_batch(plan, trellis, evidence, on_infeasible="relax", n_jobs=1)
    groups = feasible_trellises(plan, trellis, evidence, on_infeasible="relax", n_jobs=1)
    kept_by = {
        b: found.kept.get(b, tuple(range(len(case.constraints))))
        for b in range(len(case.sentences))
    }
    assert sorted(b for members, _ in groups for b in members.tolist()) == sorted(kept_by)
    for answer, (b, kept) in zip(
        describe_batch(plan, evidence, found), kept_by.items(), strict=True
    ):
        paths = case.paths(b, tuple(case.constraints[i] for i in kept))
        assert answer.score == answer.upper_bound == pytest.approx(max(paths.values()))
        assert answer.status == ("relaxed" if b in found.kept else "optimal")
        names, sentence = answer.labels, case.sentences[b]
        degrees = {
            repr(c): d
            for c in case.constraints
            if (d := c.violations(names, sentence, scheme=case.labels))
        }
        assert answer.violations == degrees
        if answer.status == "optimal":
            assert not degrees
    for members, part in groups:
        for b, log_z in zip(members.tolist(), inference.log_partition(part), strict=True):
            rules = tuple(case.constraints[i] for i in kept_by[b])
            scores = list(case.paths(b, rules).values())
            assert log_z == pytest.approx(math.log(sum(map(math.exp, scores))), abs=1e-6)


def test_infeasible_names_a_minimal_subset():
    labels = LabelSet(["author", "title"])
    rules = (at_most(3, "author"), at_least(2, "author"), starts_with("title"))
    case = Case(
        labels,
        rules,
        [["x"] * 6, ["x"] * 3],
        [np.zeros((6, 2)), np.zeros((3, 2))],
        np.zeros((2, 2)),
    )
    plan, trellis, evidence = prepared(case)
    expected = (
        r"sequence 1: No labelling of 3 tokens satisfies both at_least\(2, 'author'\) and "
        r"starts_with\('title'\)\. Drop one"
    )
    with pytest.raises(InfeasibleError, match=expected):
        decode_batch(plan, trellis, evidence)
    with pytest.raises(InfeasibleError, match=expected):
        feasible_trellises(plan, trellis, evidence)
    found = decode_batch(plan, trellis, evidence, on_infeasible="relax")
    assert found.kept == {1: (0, 1)}  # the last given is dropped


@settings(max_examples=60)
@given(cases(), st.data(), st.sampled_from(["relax", "unconstrained"]))
def test_some_constraints_are_heeded_as_if_there_were_no_others(case, data, on_infeasible):
    plan, trellis, evidence = prepared(case)
    n = len(case.constraints)
    flags = data.draw(st.lists(st.booleans(), min_size=n, max_size=n))
    chosen = [i for i, flag in enumerate(flags) if flag]
    alone = Plan(case.labels, [case.constraints[i] for i in chosen])
    found = decode_batch(
        plan, trellis, evidence, constraints=chosen, on_infeasible=on_infeasible, n_jobs=1
    )
    expected = decode_batch(
        alone,
        trellis,
        alone.evidence(case.sentences, trellis.offsets),
        on_infeasible=on_infeasible,
        n_jobs=1,
    )
    np.testing.assert_allclose(found.scores, expected.scores)
    assert found.kept == {b: tuple(chosen[i] for i in kept) for b, kept in expected.kept.items()}


def test_all_rules_are_dropped_if_scores_forbid_the_rest():
    rules = (starts_with("a"), starts_with("b"), at_least(1, "c"))
    scores = np.array([[0.0, 1.0, -np.inf]] * 2)
    case = Case(LabelSet(["a", "b", "c"]), rules, [["x", "x"]], [scores], np.zeros((3, 3)))
    plan, trellis, evidence = prepared(case)
    found = decode_batch(plan, trellis, evidence, on_infeasible="relax")
    lists = decode_nbest_batch(plan, trellis, evidence, 2, on_infeasible="relax")
    for one in (found, lists[0]):
        assert one.kept == {0: ()}
        assert one.tags.tolist() == [1, 1]
    assert sorted(lists[1].tags.tolist()) == [0, 1]


def test_predicates_outside_a_conflict_are_kept():
    ends_in_c = predicate(lambda names, sentence: int(names[-1] != "c"), "ends in c")
    rules = (starts_with("a"), ends_in_c, starts_with("b"))
    scores = np.array([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]])
    case = Case(LabelSet(["a", "b", "c"]), rules, [["x", "x"]], [scores], np.zeros((3, 3)))
    found = decode_batch(*prepared(case), on_infeasible="relax")
    assert found.tags.tolist() == [0, 2]
    assert found.kept == {0: (0, 1)}


def test_known_labels_in_a_conflict_are_said():
    labels = LabelSet(["author", "title"])
    case = Case(labels, (starts_with("title"),), [["x"]], [np.zeros((1, 2))], np.zeros((2, 2)))
    plan, trellis, evidence = prepared(case)
    with pytest.raises(InfeasibleError, match=r"starts_with\('title'\) and the labels given as"):
        decode_batch(plan, trellis, evidence, allowed=np.array([[True, False]]))


def test_a_product_beyond_the_budget_takes_nothing_from_the_others():
    names = [f"f{i}" for i in range(6)]
    rules = [~at_least(2, name) for name in names]  # no row: these become automata
    plan = Plan(LabelSet(names), rules, decoding_budget=300)
    # The first sequence breaks nothing, the second one rule, the third all.
    scores = np.zeros((2 + 3 + 24, 6))
    scores[[0, 1, 2, 3, 4], [0, 1, 2, 3, 2]] = 5.0
    scores[5:, :] = np.where(np.arange(24)[:, None] % 6 == np.arange(6), 5.0, 0.0)
    trellis = Trellis(scores, offsets=[0, 2, 5, 29])
    evidence = plan.evidence([["x"] * 2, ["x"] * 3, ["x"] * 24], trellis.offsets)
    with pytest.raises(TooLargeError, match=r"sequence 2: The product .* 300 arcs"):
        decode_batch(plan, trellis, evidence)
    alone = decode_batch(Plan(plan.labels, rules), trellis, evidence, on_infeasible="relax")
    for choice in ("relax", "unconstrained"):
        found = decode_batch(plan, trellis, evidence, on_infeasible=choice)
        np.testing.assert_array_equal(found.tags[:5], alone.tags[:5])
        assert set(found.kept) == {2}
        answer = describe_batch(plan, evidence, found)[2]
        assert answer.status == ("relaxed" if choice == "relax" else choice)
        assert answer.violations
        best_without = decode_batch(
            Plan(plan.labels, [rules[i] for i in found.kept[2]]), trellis, evidence
        )
        assert found.scores[2] == best_without.scores[2]


def test_scores_that_forbid_what_the_rules_leave():
    plan = Plan(LabelSet(["a", "b"]), [starts_with("a")])
    trellis = Trellis([[-np.inf, 0.0]])
    evidence = plan.evidence([["x"]], trellis.offsets)
    with pytest.raises(InfeasibleError, match=r"sequence 0: every labelling .* score of -inf"):
        decode_batch(plan, trellis, evidence)
    (answer,) = describe_batch(
        plan, evidence, decode_batch(plan, trellis, evidence, on_infeasible="relax")
    )
    assert (answer.labels, answer.status) == (["b"], "relaxed")


def test_satisfied_rules_are_not_compiled():
    labels = LabelSet(list("ab"))
    scores = np.array([[0.0, 5.0], [0.0, 5.0]])
    case = Case(labels, (at_most(1, "a"),), [["x", "y"]], [scores], np.zeros((2, 2)))
    plan, trellis, evidence = prepared(case)
    (answer,) = describe_batch(plan, evidence, decode_batch(plan, trellis, evidence))
    assert (answer.method, answer.iterations, answer.labels) == ("chain", 1, ["b", "b"])
    assert not plan._compiler._products


def test_threads_may_share_a_plan():
    labels = LabelSet(list("abcde"))
    rules = tuple(at_most(1, name) for name in labels)
    rng = np.random.default_rng(0)
    scores = [rng.normal(size=(12, 5)) for _ in range(40)]
    case = Case(labels, rules, [["x"] * 12] * 40, scores, np.zeros((5, 5)))
    plan, trellis, evidence = prepared(case)
    plan.hard.__dict__["together"] = None
    with ThreadPoolExecutor(4) as pool:
        found = [pool.submit(decode_batch, plan, trellis, evidence) for _ in range(8)]
    alone = decode_batch(Plan(labels, rules), trellis, evidence)
    for one in found:
        np.testing.assert_array_equal(one.result().scores, alone.scores)


@settings(max_examples=30)
@given(st.data(), st.integers(2, 4), st.integers(0, 6))
def test_random_languages_up_to_four_labels_and_six_tokens(data, n_labels, length):
    names = "abcd"[:n_labels]
    labels = LabelSet(list(names))
    rule = matches(data.draw(expressions(names)))
    scores = data.draw(arrays((length, n_labels), ordinary))
    weights = data.draw(arrays((n_labels, n_labels), ordinary))
    case = Case(labels, (rule,), [["x"] * length], [scores], weights)
    plan, trellis, evidence = prepared(case)
    together = constrained_trellis(plan, trellis, evidence)
    every = np.array(list(itertools.product(range(n_labels), repeat=length)), dtype=np.int32)
    every = every.reshape(n_labels**length, length)
    inside = Automaton.from_regex(rule.expression, list(names)).accepts_batch(
        every.ravel(), np.arange(len(every) + 1) * length
    )
    paths = every[inside]
    totals = scores[np.arange(length), paths].sum(axis=1)
    totals += weights[paths[:, :-1], paths[:, 1:]].sum(axis=1)
    (log_z,) = inference.log_partition(together)
    if not len(paths):
        assert log_z == -np.inf
        return
    assert log_z == pytest.approx(np.logaddexp.reduce(totals))
    p = np.exp(totals - log_z)
    found = inference.marginals(together)
    one_hot = paths[:, :, None] == np.arange(n_labels)
    np.testing.assert_allclose(found.labels, np.tensordot(p, one_hot, axes=1), atol=1e-9)
    pairs = paths[:, :-1] * n_labels + paths[:, 1:]
    counts = np.zeros(n_labels**2)
    np.add.at(counts, pairs, p[:, None])
    np.testing.assert_allclose(found.pattern_counts, counts, atol=1e-9)
    best = inference.viterbi(together)
    assert best.scores[0] == pytest.approx(totals.max())
    lazy = decode_batch(plan, trellis, evidence)
    assert lazy.scores[0] == pytest.approx(totals.max())
    ranked = inference.kbest(together, 6)
    listed = ranked.scores[0][np.isfinite(ranked.scores[0])]
    np.testing.assert_allclose(listed, np.sort(totals)[::-1][:6], atol=1e-9)
    drawn, _ = inference.sample(together, 5, random_state=1)
    assert {tuple(row) for row in drawn.tolist()} <= {tuple(row) for row in paths.tolist()}


@pytest.mark.parametrize("expression", ["(a | a a | a a a)*", "a* a* a*", "(a? a?)* a*"])
def test_ambiguous_expressions_count_a_labelling_once(expression):
    labels = LabelSet(["a", "b"])
    case = Case(labels, (matches(expression),), [["x"] * 9], [np.ones((9, 2))], np.zeros((2, 2)))
    together = constrained_trellis(*prepared(case))
    assert inference.log_partition(together)[0] == pytest.approx(9.0)
    assert np.isfinite(inference.kbest(together, 3).scores).sum() == 1
