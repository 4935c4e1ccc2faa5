"""Rules about single tokens whose violations are counted one by one."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import safetensors
from hypothesis import given, strategies as st

import trelliswork as tw
from rule_strategies import LABEL_SETS, TOKENS, leaves, looking, tests
from strategies import arrays
from trelliswork.constraints import parse
from trelliswork.constraints.per_token import PerToken
from trelliswork.errors import RuleError
from trelliswork.planning.plan import Plan
from trelliswork.solving import solve

NUMBER = tw.token(regex="[0-9]+")
POINT = tw.token(regex="[.,]")
YEARS = tw.where(NUMBER).allow("year")
TOKENS_HERE = ["12", "cats", ".", "99"]


def test_tokens_are_counted_one_by_one():
    labels = ["title", "title", "title", "title"]
    assert YEARS.violations(labels, TOKENS_HERE) == 1
    assert YEARS.per_token().violations(labels, TOKENS_HERE) == 2
    assert YEARS.per_token().explain(labels, TOKENS_HERE) == YEARS.explain(labels, TOKENS_HERE)
    assert tw.at(0, "year").per_token().violations(labels) == 1


def test_changes_are_counted_one_by_one():
    rule = tw.changes_only_at(POINT)
    labels = ["year", "title", "title", "year"]
    assert rule.per_token().violations(labels, TOKENS_HERE) == 1
    assert rule.per_token().violations(["a", "b", "a", "b"], TOKENS_HERE) == 2
    assert rule.violations(["a", "b", "a", "b"], TOKENS_HERE) == 1


def test_it_prints_as_what_made_it():
    rule = YEARS.per_token().soft(1.5)
    assert repr(rule) == "where(token(regex='[0-9]+')).allow('year').per_token().soft(1.5)"
    assert parse(repr(rule)) == rule
    assert YEARS.soft(1.5).per_token() == rule
    assert rule.hard.per_token() == rule.hard


@pytest.mark.parametrize("rule", [tw.at_most(1, "a"), tw.precedes("a", "b"), YEARS & YEARS])
def test_other_rules_are_refused(rule):
    with pytest.raises(TypeError, match=r"per_token: expected a rule about single tokens, where"):
        rule.per_token()


@given(st.data())
def test_degrees_come_from_the_plan_as_from_the_rule(data):
    labels = data.draw(st.sampled_from(sorted(LABEL_SETS.values(), key=str)))
    rule = data.draw(looking([*labels.names])).per_token()
    sentences = data.draw(st.lists(st.lists(st.sampled_from(TOKENS), max_size=5), max_size=3))
    offsets = np.cumsum([0, *map(len, sentences)])
    ids = data.draw(
        st.lists(
            st.integers(0, len(labels) - 1), min_size=int(offsets[-1]), max_size=int(offsets[-1])
        )
    )
    plan = Plan(labels, (rule.soft(1.0), rule & rule))
    tags = np.array(ids, dtype=np.int32)
    found = plan.violations(tags, plan.evidence(sentences, offsets))
    names = [labels.names[y] for y in ids]
    expected = [
        rule.violations(names[first:last], sentence, scheme=labels)
        for sentence, (first, last) in zip(sentences, itertools.pairwise(offsets), strict=True)
    ]
    assert found[:, 0].tolist() == expected


def test_token_charges_need_no_automaton():
    rules = [
        tw.where(tw.token(regex=f"{i}.*")).allow("a", "b").per_token().soft(i) for i in range(1, 12)
    ]
    plan = tw.plan(tw.LabelSet(["a", "b", "c"]), rules)
    assert not len(plan.terms)
    assert "scores" in str(plan)
    problem = tw.Problem(
        np.tile([0.0, 0.0, 4.5], (4, 1)), plan, sentence=["1", "4", "5", "11"]
    )  # more tests than automata can read together
    assert solve(problem).labels[:2] == ["c", "c"]
    assert solve(problem).labels[2] in "ab"
    assert tw.verify(problem, solve(problem))


def test_one_wrong_token_less_is_worth_it():
    scores = np.array([[0.0, 9.0], [0.0, 0.5], [0.0, 0.5]])
    rule = tw.where(NUMBER).allow("year")
    common = {"sentence": ["1", "2", "3"], "labels": ["year", "title"]}
    as_bit = solve(tw.Problem(scores, None, rule.soft(1.0), **common))
    counted = solve(tw.Problem(scores, None, rule.per_token().soft(1.0), **common))
    assert as_bit.labels == ["title", "title", "title"]  # broken already
    assert counted.labels == ["title", "year", "year"]
    assert counted.score == pytest.approx(8.0)
    assert counted.violations == {repr(rule.per_token().soft(1.0)): 1}


def test_hard_rules_mean_the_same_with_or_without():
    scores = np.zeros((3, 2))
    scores[:, 1] = 1.0
    common = {"sentence": ["1", "x", "3"], "labels": ["year", "title"]}
    for rule in (YEARS, YEARS.per_token()):
        assert solve(tw.Problem(scores, None, rule, **common)).labels == ["year", "title", "year"]


def test_the_likelihood_does_not_learn_them():
    X, y = [TOKENS_HERE], [["year", "title", "title", "year"]]
    tagger = tw.CRFTagger(features="word", constraints=YEARS.per_token().soft())
    with pytest.raises(
        RuleError, match=r"the likelihood does not learn the penalties of where.*'perceptron'"
    ):
        tagger.fit(X, y)
    fitted = tw.CRFTagger(features="word", constraints=YEARS.per_token().soft(2.0)).fit(X, y)
    assert fitted.predict(X) == y


def test_decoding_learns_them():
    X = [["12", "x"], ["7", "y"], ["x", "5"]] * 4
    y = [["year", "title"], ["year", "title"], ["title", "year"]] * 4
    tagger = tw.CRFTagger(features="position(2)").fit(X, y)
    tagger = tagger.with_constraints(
        [YEARS.per_token().soft(), tw.changes_only_at(NUMBER).per_token().soft()]
    )
    learned = tw.learn_penalties(tagger, X, y, method="perceptron", random_state=0)
    first, second = learned.penalties_.values()
    assert first > 0.0
    assert second == 0.0  # two of three sentences break it
    assert learned.score(X, y) > tagger.with_constraints(()).score(X, y)


def test_a_semi_markov_model_counts_tokens_but_not_changes():
    labels = tw.LabelSet(["year", "title"])
    X = [["12", "13", "x"], ["7", "y"]]
    y = [["year", "year", "title"], ["year", "title"]]
    tagger = tw.CRFTagger(features="word", max_segment=2).fit(X, y)
    wrong = tw.where(NUMBER).allow("title").per_token().soft(30.0)
    assert tagger.with_constraints(wrong).predict([["12", "13", "y"]])[0][0] == "title"
    with pytest.raises(RuleError, match="a semi-Markov model does not count changes"):
        tagger.with_constraints(tw.changes_only_at(POINT).per_token().soft(1.0)).predict(X)
    assert PerToken(YEARS).allowed(labels, ["1"]).tolist() == [[True, False]]


@pytest.mark.parametrize("method", ["auto", "beam", "lazy", "product", "milp"])
@pytest.mark.parametrize(
    "rule",
    [
        tw.where(NUMBER).allow("title").per_token() & tw.at_most(3, "year"),
        tw.at(0, "title").per_token() & tw.at_most(1, "year"),
        tw.changes_only_at(POINT).per_token() & tw.at_least(1, "title"),
    ],
)
def test_hard_rules_joined_with_others(rule, method):
    scores = np.array([[3.0, 0.0], [3.0, 0.0], [0.0, 3.0]])
    problem = tw.Problem(scores, None, rule, ["1", ".", "3"], labels=["year", "title"])
    labellings = itertools.product(problem.labels, repeat=3)
    best = max(problem.value(list(labels)) for labels in labellings)
    assert solve(problem, method).score == pytest.approx(best)


def test_files_with_them_need_version_4(tmp_path):
    path = tmp_path / "m.tw"
    tagger = tw.CRFTagger(features="word", constraints=YEARS.per_token())
    tagger.fit([["1", "x"]], [["year", "title"]]).save(path)
    metadata = safetensors.safe_open(path, "np").metadata()
    assert int(metadata["version"]) == 4
    assert tw.load(path).constraints == (YEARS.per_token(),)


@given(st.data())
def test_counted_changes_beside_rules_of_all_kinds(data):
    labels = data.draw(st.sampled_from([tw.LabelSet(["a", "b", "c"]), LABEL_SETS["bio"]]))
    n_tokens = data.draw(st.integers(1, 4))
    values = st.floats(-3, 3)
    scores = data.draw(arrays((n_tokens, len(labels)), values))
    transitions = data.draw(st.none() | arrays((len(labels), len(labels)), values))
    sentence = data.draw(st.lists(st.sampled_from(TOKENS), min_size=n_tokens, max_size=n_tokens))
    some = st.sampled_from([0.3, 1.0, 2.5])
    changes = st.builds(
        lambda test, penalty: tw.changes_only_at(test).per_token().soft(penalty), tests, some
    )
    others = st.builds(
        lambda rule, penalty: rule.soft(penalty) if penalty else rule,
        leaves(["a", "b"], list(labels.names)) | looking(list(labels.names)),
        some | st.none(),
    )
    rules = [
        *data.draw(st.lists(changes, min_size=1, max_size=4)),
        *data.draw(st.lists(others, max_size=4)),
    ]
    problem = tw.Problem(scores, transitions, rules, sentence, labels=labels)
    every = itertools.product(labels.names, repeat=n_tokens)
    best = max((problem.value(list(names)) for names in every), default=-np.inf)
    if best == -np.inf:
        with pytest.raises(tw.InfeasibleError):
            solve(problem)
        return
    found = solve(problem)
    assert found.score == pytest.approx(best)
    assert found.status == "optimal"
    assert tw.verify(problem, found)
    assert solve(problem, "astar").score == pytest.approx(best)
    assert solve(problem, "branch").score == pytest.approx(best)
