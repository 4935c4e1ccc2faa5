from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import trelliswork as tw
from span_cases import best_value, span_problems
from trelliswork.labels.segments import Span
from trelliswork.spans.certificate import SpanCertificate, SpanLeaf
from trelliswork.spans.rules import compile_rules

TABLE = tw.SpanTable(
    [(0, 2), (1, 3), (3, 5)],
    ["Agent", "Theme", "Source"],
    [[2.0, 0.5, 0.0], [1.8, 0.1, 1.9], [0.0, 0.4, 1.0]],
)


@given(span_problems(most_spans=3, most_roles=3))
def test_the_best_of_all_assignments_is_found_and_proven(case):
    table, rules = case
    best = best_value(table, rules)
    if best == -np.inf:
        with pytest.raises(tw.InfeasibleError):
            tw.assign(table, rules)
        return
    found = tw.assign(table, rules)
    assert found.score == pytest.approx(best)
    assert found.status == "optimal"
    assert found.gap == pytest.approx(0.0, abs=1e-9)
    is_chain = compile_rules(table.roles, tuple(rules)).chains(table)
    assert found.method == ("chain" if is_chain else "branch")
    assert tw.verify(table, found)


@settings(max_examples=40)
@given(
    span_problems(most_spans=3, most_roles=3), st.booleans(), st.sampled_from(["branch", "milp"])
)
def test_graphs_find_the_same(case, soft_overlap, method):
    table, rules = case
    if soft_overlap:
        rules = [rule for rule in rules if rule != tw.no_overlap()] + [tw.no_overlap().soft(0.7)]
    best = best_value(table, rules)
    if best == -np.inf:
        with pytest.raises(tw.InfeasibleError):
            tw.assign(table, rules, method)
        return
    found = tw.assign(table, rules, method)
    assert found.score == pytest.approx(best, abs=1e-6)
    verdict = tw.verify(table, found)
    assert verdict.status == ("proven" if method == "branch" else "unverified")


@settings(max_examples=40)
@given(span_problems(most_spans=3, most_roles=3), st.sampled_from(["ad3", "lp"]))
def test_relaxations_bound_what_is_possible(case, method):
    table, rules = case
    best = best_value(table, rules)
    try:
        found = tw.assign(table, rules, method)
    except (tw.InfeasibleError, tw.SearchLimitError):
        return
    assert found.upper_bound >= best - 1e-6
    assert found.score <= best + 1e-9
    if found.status == "optimal":
        assert found.score == pytest.approx(best, abs=1e-6)
    assert tw.verify(table, found).status != "rejected"


def test_an_assignment_says_what_it_is_about():
    found = tw.assign(TABLE, [tw.no_overlap(), tw.requires("Agent", "Theme")])
    assert found.roles == {"Agent": (0, 2), "Theme": (3, 5), "Source": None}
    assert found.spans == (Span(0, 2, "Agent"), Span(3, 5, "Theme"))
    assert found.violations == {}
    assert found.constraints == (tw.no_overlap(), tw.requires("Agent", "Theme"))


def test_requires_is_one_way():
    rules = [tw.no_overlap(), tw.requires("Theme", "Agent")]
    assert tw.assign(TABLE, rules).roles["Agent"] == (0, 2)
    scores = TABLE.scores - [0.0, 5.0, 0.0]
    alone = tw.assign(tw.SpanTable(TABLE.spans, TABLE.roles, scores), rules)
    assert alone.roles["Theme"] is None
    assert alone.roles["Agent"] == (0, 2)


def test_without_no_overlap_every_role_takes_its_best_span():
    found = tw.assign(TABLE)
    assert found.roles == {"Agent": (0, 2), "Theme": (0, 2), "Source": (1, 3)}


def test_at_most_lets_a_role_be_filled_more_often():
    table = tw.SpanTable([(0, 1), (2, 3), (4, 5)], ["Theme"], [[1.0], [2.0], [3.0]])
    assert [s.start for s in tw.assign(table).spans] == [4]
    twice = tw.assign(table, tw.at_most(2, "Theme"))
    assert twice.spans == (Span(2, 3, "Theme"), Span(4, 5, "Theme"))
    assert twice.roles == {"Theme": (2, 3)}
    paid = tw.assign(table, tw.at_most(1, "Theme").soft(1.5))
    assert (paid.score, paid.violations) == (3.5, {"at_most(1, 'Theme').soft(1.5)": 1})


def test_rules_about_a_role_alone_set_its_limit():
    table = tw.SpanTable([(0, 1), (2, 3), (4, 5)], ["A"], [[1.0], [2.0], [-3.0]])
    for rule, score in [
        (tw.at_least(1, "A"), 2.0),
        (tw.at_least(2, "A"), 3.0),
        (tw.exactly(3, "A"), 0.0),
        (tw.count("A") <= 3, 3.0),
        (tw.count("A") >= 3, 0.0),
        (tw.at_least(3, "A").soft(1.0), 2.0),
    ]:
        assert tw.assign(table, rule).score == score


def test_roles_that_fill_often_are_filled_or_not():
    table = tw.SpanTable([(0, 1), (2, 3)], ["A", "B"], [[1.0, 0.5], [1.0, 0.5]], null=[0.0, 2.0])
    rules = [tw.at_most(2, "A"), tw.at_most(2, "B"), tw.requires("A", "B")]
    found = tw.assign(table, rules)
    assert (found.method, found.score) == ("branch", best_value(table, rules))
    assert tw.verify(table, found)


def test_null_spans_have_scores():
    table = tw.SpanTable([(0, 1)], ["A", "B"], [[1.0, 1.0]], null=[0.5, 2.0])
    found = tw.assign(table, tw.no_overlap())
    assert found.roles == {"A": (0, 1), "B": None}
    assert found.score == 3.0


def test_soft_overlaps_are_paid_for_at_every_token():
    rule = tw.no_overlap().soft(0.25)
    found = tw.assign(TABLE, rule)
    assert found.method == "branch"
    assert found.score == pytest.approx(best_value(TABLE, [rule]))
    assert tw.verify(TABLE, found)


def test_tables_are_their_own():
    scores = np.ones((2, 2))
    table = tw.SpanTable([(0, 1), (1, 2)], np.array(["A", "B"]), scores)
    scores[0, 0] = np.nan
    found = tw.assign(table)
    assert found.score == 2.0
    assert all(type(role) is str for role in found.roles)
    with pytest.raises(ValueError, match="read-only"):
        table.scores[0, 0] = np.nan


def test_offsets_may_be_large():
    spans = [(0, 10**12), (10**11, 10**12 + 3)]
    table = tw.SpanTable(spans, ["A", "B"], np.eye(2))
    for rule in (tw.no_overlap(), tw.no_overlap().soft(1e-13)):
        found = tw.assign(table, rule)
        assert tw.verify(table, found)
    assert found.violations == {"no_overlap().soft(1e-13)": 9 * 10**11}


def test_several_tables_and_rules_for_each():
    rules = [[tw.no_overlap()], [], tw.no_overlap() & tw.excludes("Agent", "Source")]
    with pytest.raises(ValueError, match="expected a list for each of the 2 tables, got 3"):
        tw.assign([TABLE, TABLE], rules)
    found = tw.assign([TABLE] * 3, rules, n_jobs=2)
    one_by_one = [tw.assign(TABLE, own) for own in rules]
    assert [f.roles for f in found] == [f.roles for f in one_by_one]
    assert [f.score for f in tw.assign([TABLE] * 9, tw.no_overlap())] == [found[0].score] * 9
    assert tw.assign([]) == []


def test_tables_without_spans_or_roles():
    assert tw.assign(tw.SpanTable([], ["A"], [])).roles == {"A": None}
    assert tw.assign(tw.SpanTable([(0, 1)], [], [[]])).score == 0.0
    with pytest.raises(tw.InfeasibleError, match="at_least"):
        tw.assign(tw.SpanTable([], ["A"], []), tw.at_least(1, "A"))


def test_unsatisfiable_rules_are_named():
    rules = [
        tw.no_overlap(),
        tw.excludes("Agent", "Theme"),
        tw.at_least(1, "Agent"),
        tw.at_least(1, "Theme"),
        tw.requires("Source", "Agent"),
    ]
    with pytest.raises(tw.InfeasibleError) as raised:
        tw.assign([TABLE, TABLE], [[], rules])
    message = str(raised.value)
    assert message.startswith("table 1: no assignment of 3 spans to 3 roles satisfies excludes")
    assert "requires" not in message
    assert "no_overlap" not in message


def hard_tables(n_tables: int, seed: int = 0) -> list[tw.SpanTable]:
    """Return tables with many roles and spans that compete."""
    random = np.random.default_rng(seed)
    found = []
    for _ in range(n_tables):
        starts = random.integers(0, 30, 50)
        spans = np.stack([starts, starts + random.integers(1, 6, 50)], axis=1)
        found.append(
            tw.SpanTable(spans, [f"r{i}" for i in range(12)], random.normal(size=(50, 12)))
        )
    return found


HARD_RULES = [
    tw.no_overlap(),
    *(tw.excludes(f"r{i}", f"r{i + 1}") for i in range(0, 10, 2)),
    *(tw.requires(f"r{i}", f"r{i + 2}") for i in range(0, 9, 3)),
]


def test_large_tables_agree_with_highs():
    tables = hard_tables(4)
    ours = tw.assign(tables, HARD_RULES)
    theirs = tw.assign(tables, HARD_RULES, "milp")
    np.testing.assert_allclose([f.score for f in ours], [f.score for f in theirs], atol=1e-6)
    assert any(f.nodes > 1 for f in tw.assign(hard_tables(8, seed=1), HARD_RULES))
    for table, found in zip(tables, ours, strict=True):
        assert tw.verify(table, found)


def test_limits_give_the_best_found_with_its_gap():
    tables = hard_tables(8, seed=1)
    exact = tw.assign(tables, HARD_RULES)
    limited = tw.assign(tables, HARD_RULES, max_nodes=1)
    assert {f.status for f in limited} == {"optimal", "feasible"}
    for table, best, found in zip(tables, exact, limited, strict=True):
        assert found.score - 1e-9 <= best.score <= found.upper_bound + 1e-9
        verdict = tw.verify(table, found)
        assert verdict.status == ("proven" if found.status == "optimal" else "unverified")


def test_branching_alone_is_exact_too():
    table = hard_tables(1)[0]
    assert tw.assign(table, HARD_RULES, "branch").score == pytest.approx(
        tw.assign(table, HARD_RULES).score
    )


def test_answers_that_were_changed_are_rejected():
    found = tw.assign(TABLE, tw.no_overlap())
    worse = tw.assign(TABLE, [tw.no_overlap(), tw.at_most(0, "Agent")])
    for wrong in (
        replace(found, score=found.score + 1.0),
        replace(found, spans=found.spans[:1]),
        replace(found, choices=found.choices[:1]),
        replace(found, choices=((99, 0), *found.choices[1:])),
        replace(found, roles={**found.roles, "Agent": None}),
        replace(found, spans=(*found.spans, Span(1, 3, "Agent"))),
        replace(found, upper_bound=found.score - 1.0),
        replace(found, upper_bound=found.score + 1.0),
        replace(found, violations={"no_overlap()": 1}),
        replace(worse, constraints=found.constraints, certificate=found.certificate),
        replace(found, certificate=SpanCertificate(None)),
        replace(found, certificate=SpanCertificate(())),
        replace(found, certificate=SpanCertificate((SpanLeaf((), np.full(3, np.nan)),))),
    ):
        assert tw.verify(TABLE, wrong).status == "rejected"
    assert tw.verify(TABLE, replace(found, certificate=None)).status == "unverified"


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (tw.precedes("Agent", "Theme"), "expected a rule about how often roles are filled"),
        (tw.at_most(1, "Agent", unit="token"), "expected a rule about how often"),
        (tw.excludes("Agent", "Theme") | tw.at_most(1, "Agent"), "expected a rule about how"),
        (tw.at_most(1, "Agent").soft(), "has no penalty"),
        (tw.at_most(1, "Nobody"), "'Nobody' is no role. There are: 'Agent', 'Theme', 'Source'"),
    ],
)
def test_other_rules_are_refused(rule, message):
    with pytest.raises((tw.RuleError, tw.LabelError), match=message):
        tw.assign(TABLE, rule)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([(2, 2)], ["A"], [[1.0]]), r"spans\[0\]: expected 0 <= start < end, got \(2, 2\)"),
        (([(0.5, 2)], ["A"], [[1.0]]), "expected pairs"),
        (([(0, 2)], ["A", "A"], [[1.0, 2.0]]), "'A' twice"),
        (([(0, 2)], ["A", "B"], [[1.0], [2.0]]), "Transpose it"),
        (
            ([(0, 2)], ["A"], [[math.nan]]),
            "expected a number up to 1e.150, got nan",
        ),
        (([(0, 2)], ["A"], [[math.inf]]), "at_least"),
        (([(0, 2)], ["A"], [[1.0]], [1.0, 2.0]), "a score for each of the 1 roles"),
        (([(0, 2)], ["A"], [[1.0]], [-math.inf]), "at_least"),
    ],
)
def test_wrong_tables_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        tw.SpanTable(*arguments)


def test_wrong_calls_are_refused():
    with pytest.raises(ValueError, match="method: expected one of"):
        tw.assign(TABLE, method="simplex")
    with pytest.raises(TypeError, match=r"expected a SpanTable or a list of these, got str at 0"):
        tw.assign("table")
    with pytest.raises(ValueError, match="max_nodes"):
        tw.assign(TABLE, max_nodes=0)
    with pytest.raises(TypeError, match="AD3Options"):
        tw.assign(TABLE, ad3={"eta": 1.0})
    with pytest.raises(ValueError, match="method='chain' needs no_overlap"):
        tw.assign(TABLE, tw.no_overlap().soft(1.0), "chain")
    with pytest.raises(TypeError, match="names"):
        tw.SpanTable([(0, 1)], "AB", [[1.0, 1.0]])


def test_infeasibility_is_found_without_enumeration():
    # Two roles must be filled, their only spans overlap, and there is much else to choose.
    random = np.random.default_rng(0)
    starts = random.integers(4, 40, 30)
    spans = np.concatenate([[(0, 3), (1, 4)], np.stack([starts, starts + 3], axis=1)])
    scores = random.normal(size=(32, 8))
    scores[2:, :2] = scores[0, 1] = scores[1, 0] = -np.inf
    table = tw.SpanTable(spans, [f"r{i}" for i in range(8)], scores)
    rules = [tw.no_overlap(), tw.at_least(1, "r0"), tw.at_least(1, "r1")]
    with pytest.raises(tw.InfeasibleError, match="no_overlap"):
        tw.assign(table, rules)
    # More roles than spans that fit side by side.
    spans = [(2 * i, 2 * i + 2) for i in range(9)] + [(2 * i + 1, 2 * i + 3) for i in range(8)]
    many = tw.SpanTable(spans, [f"r{i}" for i in range(10)], random.random((17, 10)))
    with pytest.raises(tw.InfeasibleError):
        tw.assign(many, [tw.no_overlap(), *(tw.at_least(1, role) for role in many.roles)])
