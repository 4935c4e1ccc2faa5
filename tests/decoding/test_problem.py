"""Problems: arguments taken and refused, and the values of labellings."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

import trelliswork as tw
from problem_cases import cases
from ruled_tagger import RULES, fitted
from trelliswork.labels.segmentation import Segmentation
from trelliswork.planning.plan import Plan

SCORES = [[2.0, 0.0], [0.0, 1.0], [2.0, 0.0]]
LABELS = ["author", "title"]


@settings(max_examples=50)
@given(cases())
def test_values_are_those_of_enumeration(case):
    for names, value in case.values.items():
        assert case.problem.value(names) == pytest.approx(value, rel=1e-12, abs=1e-12)


def test_a_labelling_that_breaks_a_hard_rule_is_worth_nothing():
    problem = tw.Problem(SCORES, constraints=tw.at_most(1, "author"), labels=LABELS)
    assert problem.value(["author", "title", "author"]) == -np.inf
    assert problem.score(["author", "title", "author"]) == 5.0
    assert problem.violations(["author", "title", "author"]) == {0: 1}
    assert problem.value(["author", "title", "title"]) == 3.0


def test_transitions_start_and_end_count():
    problem = tw.Problem(
        SCORES, [[0.0, 1.0], [2.0, 0.0]], labels=LABELS, start=[0.5, 0.0], end=[0.25, 0.0]
    )
    assert problem.value(["author", "title", "author"]) == 5.0 + 3.0 + 0.75
    assert len(problem) == 3
    assert repr(problem) == "Problem(3 tokens, 2 labels, 0 constraints)"


def test_known_labels_restrict_values():
    problem = tw.Problem(SCORES, labels=LABELS, known=["author", None, {"title"}])
    assert problem.value(["author", "title", "title"]) == 3.0
    assert problem.value(["author", "title", "author"]) == -np.inf


def test_equal_problems_share_a_plan():
    rule = tw.at_most(1, "author").soft(2)
    one = tw.Problem(SCORES, constraints=rule, labels=LABELS)
    other = tw.Problem(SCORES[:2], constraints=[rule], labels=tw.LabelSet(LABELS))
    assert one.plan is other.plan


def test_problems_of_a_tagger():
    tagger = fitted()
    problem = tagger.problem(["a", "b", "1"])
    assert problem.constraints == RULES
    assert problem.plan is tagger.plan_
    (decoding,) = tagger.decode([["a", "b", "1"]])
    assert problem.value(decoding.labels) == pytest.approx(decoding.score)
    assert tagger.problem(["a", "b"], known=[None, "T"]).value(["A", "A"]) == -np.inf


def test_problems_of_a_tagger_that_is_not_trained():
    with pytest.raises(ValueError, match="not fitted"):
        tw.CRFTagger().problem(["a"])


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([[np.nan, 0.0]],), {}, "scores: expected finite numbers or -inf, got nan"),
        (([0.0, 1.0],), {}, "scores: expected shape"),
        (([[0.0, 1.0]], [[1.0]]), {}, r"model: expected transitions of shape \(L, L\), here"),
        (([[0.0, 1.0]],), {"labels": ["a"]}, "labels: expected 2 labels"),
        (([[0.0, 1.0]],), {"labels": None}, "labels: expected the names of the 2 labels"),
        (([[0.0, 1.0]],), {"sentence": ["x", "y"]}, "sentence: expected 1 tokens"),
        (([[0.0, 1.0]],), {"start": [0.0]}, "start: expected shape"),
        (([[0.0, 1.0]],), {"known": ["a", "a"]}, "known: expected a label"),
        ((np.zeros((2, 2, 2)),), {}, "scores of segments need a Plan"),
        ((tw.Trellis([[0.0, 1.0]]), np.zeros((2, 2))), {}, "a Trellis brings its weights"),
        ((tw.Trellis(np.zeros((2, 2)), offsets=[0, 1, 2]),), {}, "Trellis of one sequence, got 2"),
        (([[0.0, 1.0]],), {"constraints": tw.at_most(1, "a").soft()}, "No penalty is known"),
        (
            ([[0.0, 1.0]],),
            {"constraints": tw.only_on(tw.token(regex="x"), "a")},
            "sentence: .* looks at the input",
        ),
    ],
)
def test_wrong_arguments_are_refused(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        tw.Problem(*arguments, **{"labels": ["a", "b"]} | options)


def test_strings_are_no_lists():
    with pytest.raises(TypeError, match="labels: expected a sequence of names"):
        tw.Problem([[0.0, 1.0]], labels="ab")
    with pytest.raises(TypeError, match="sentence: expected a list of tokens"):
        tw.Problem([[0.0, 1.0]], sentence="x", labels=["a", "b"])
    with pytest.raises(TypeError, match="labels: expected a list of names"):
        tw.Problem([[0.0, 1.0]], labels=["a", "b"]).value("a")


@pytest.mark.parametrize("rules", [[tw.at_most(1, "a")], tw.at_most(1, "a"), "a b"])
def test_constraints_are_no_model(rules):
    with pytest.raises(TypeError, match=r"got constraints\. Pass them as constraints="):
        tw.Problem([[0.0, 1.0]], rules, labels=["a", "b"])


def test_unknown_labels_are_refused():
    with pytest.raises(tw.LabelError, match="there is no segment 'venue'"):
        tw.Problem(SCORES, constraints=tw.at_most(1, "venue").soft(1), labels=LABELS)
    with pytest.raises(tw.LabelError, match="venue"):
        tw.Problem(SCORES, labels=LABELS).value(["venue"] * 3)
    with pytest.raises(ValueError, match="expected 3 labels"):
        tw.Problem(SCORES, labels=LABELS).value(["author"])


def test_a_plan_brings_labels_and_constraints():
    plan = tw.plan(tw.LabelSet(LABELS), tw.at_most(1, "author"))
    assert tw.Problem(SCORES, plan).constraints == plan.constraints
    with pytest.raises(ValueError, match="a Plan brings its labels"):
        tw.Problem(SCORES, plan, labels=LABELS)
    with pytest.raises(ValueError, match="expected scores on the automaton of the plan"):
        tw.Problem(tw.Trellis(SCORES, tw.Automaton(1, 2, [0, 0], [0, 1], [0, 0])), plan)


def test_trellises_under_constraints_are_refused():
    tagger = fitted().with_constraints(tw.changes_only_at(tw.token(regex="a")))
    with pytest.raises(ValueError, match="without constraints"):
        tw.Problem(tagger.trellis([["a", "b"]]), labels=tagger.labels_)


def test_segments_are_scored_by_the_best_segmentation():
    labels = tw.LabelSet(["a", "b"])
    segmentation = Segmentation(labels, (2, 2), adjacent=True)
    scores = segmentation.blank_scores(2).copy()
    scores[1, 1, 0] = 3.0  # both tokens as one
    plan = Plan(labels, (tw.at_most(1, "a"),), segmentation=segmentation)
    problem = tw.Problem(tw.Trellis(scores, plan.model), plan)
    assert problem.value(["a", "a"]) == 3.0
