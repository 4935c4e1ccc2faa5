"""Mining: counts, candidates, importance, merging, and the table."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

import trelliswork as tw
from trelliswork.mining.counts import Columns, Occurrences
from trelliswork.mining.families import TEMPLATES, candidates
from trelliswork.mining.mine import mine
from trelliswork.mining.table import MinedRule, MinedRules

PATHS = tw.LabelSet(
    [
        "O",
        "B-authors/B-person/B-first",
        "I-authors/B-person/B-first",
        "I-authors/I-person/B-last",
        "B-editor/B-person/B-first",
        "I-editor/I-person/I-first",
        "B-title",
        "I-title",
    ],
    scheme="path",
)
PLAIN = tw.LabelSet(["author", "title", "date", "-"], outside="-")
BIO = tw.LabelSet(["O", "B-a", "I-a", "B-b", "I-b"], scheme="bio")


@st.composite
def labellings(draw) -> tuple[tw.LabelSet, list[list[str]]]:
    labels = draw(st.sampled_from([PATHS, PLAIN, BIO]))
    one = st.lists(st.sampled_from(labels.names), max_size=6)
    return labels, draw(st.lists(one, min_size=1, max_size=4))


@given(labellings(), st.sampled_from(TEMPLATES))
def test_degrees_are_violations(case, template):
    labels, sequences = case
    names = {span.name for sequence in sequences for span in labels.spans(sequence)}
    columns = Columns(labels, tuple(sorted(names)))
    found = candidates(template, columns)
    degrees = np.concatenate(
        [np.zeros((0, len(sequences))), *found.degrees(Occurrences.read(columns, sequences))]
    )
    rules = [found.constraint(columns, k) for k in range(len(found))]
    for rule, degree in zip(rules, degrees, strict=True):
        assert degree.tolist() == [rule.violations(s, scheme=labels) for s in sequences]
    assert len(set(rules)) == len(rules), "each rule comes once"
    broken = found.violation_counts(Occurrences.read(columns, sequences))
    assert broken.tolist() == (degrees > 0).sum(axis=1).tolist()


def test_pairwise_rules_of_two_names():
    found = candidates("pairwise", Columns(PLAIN, ("author", "title")))
    rules = {
        repr(found.constraint(Columns(PLAIN, ("author", "title")), k)) for k in range(len(found))
    }
    sums = {f"count('author') + count('title') <= {k}" for k in range(4)}
    sums |= {f"count('author') + count('title') >= {k}" for k in (1, 2, 3)}
    differences = {
        f"count('{a}') - count('{b}') {sign} {k}"
        for a, b in (("author", "title"), ("title", "author"))
        for sign, bounds in (("<=", range(4)), (">=", (1, 2, 3)))
        for k in bounds
    }
    # a - b >= 0 is b - a <= 0, and a sum is never below 0.
    assert rules == sums | differences


def test_hierarchical_rules_are_about_elements_and_about_one_parent():
    names = ("authors", "authors/person", "authors/person/first", "editor", "editor/person")
    columns = Columns(PATHS, names)
    found = candidates("hierarchical", columns)
    rules = {repr(found.constraint(columns, k)) for k in range(len(found))}
    assert "count('**/person') - count('authors/person/first') <= 0" in rules
    assert "count('authors/person/first') - count('**/person') <= 0" in rules
    assert "count('authors/person') - count('authors/person/first') <= 0" in rules
    assert "count('editor') - count('editor/person') <= 0" in rules
    assert "count('authors/person') - count('editor/person') <= 0" not in rules
    assert len(candidates("hierarchical", Columns(PLAIN, ("author", "title")))) == 0


GOLD = [
    ["author", "title", "date"],
    ["author", "title", "date"],
    ["title", "date"],
    ["author", "title"],
    ["author", "title", "author"],
]
PREDICTED = [
    ["author", "title", "author"],
    ["title", "author", "title"],
    ["title", "date"],
    ["author", "title"],
    ["author", "title", "author"],
]


def test_table_of_singletons():
    rules = mine(GOLD, PREDICTED, "singleton", cutoff=1.0, min_predicted=1)
    assert [rule.to_dict() for rule in rules] == [
        {
            "rule": "at_most(1, 'title')",
            "template": "singleton",
            "importance": 3.0,
            "penalty": None,
            "gold_violations": 0,
            "predicted_violations": 1,
            "examples": [1],
        },
        {
            "rule": "at_most(1, 'author')",
            "template": "singleton",
            "importance": pytest.approx(2.5 / 1.5),
            "penalty": None,
            "gold_violations": 1,
            "predicted_violations": 2,
            "examples": [0],
        },
    ]
    assert rules.constraints == (tw.at_most(1, "title").soft(), tw.at_most(1, "author").soft())


def test_importance_of_the_paper_is_infinite_where_gold_keeps_a_rule():
    rules = mine(GOLD, PREDICTED, "singleton", smoothing=0, cutoff=2.0, min_predicted=0)
    assert [rule.importance for rule in rules] == [np.inf, 2.0]  # date: 0 / 0 is worth nothing
    assert "inf" in str(rules)


def test_precedence():
    found = {
        repr(r.constraint.hard): r for r in mine(GOLD, PREDICTED, "precedence", min_predicted=1)
    }
    assert not found, "two of three against gold's one: below the cutoff"
    rules = mine(GOLD, PREDICTED, "precedence", cutoff=1.5, min_predicted=1)
    best = rules[0]
    assert repr(best.constraint) == "precedes('author', 'title').soft()"
    assert (best.gold_violations, best.predicted_violations, best.examples) == (1, 3, (0, 1))


def test_rules_that_break_alike_are_merged_into_the_simplest():
    gold, predicted = [["a", "b", "b"]] * 2, [["a", "b", "a"], ["a", "b", "b"]]
    merged = mine(gold, predicted, min_predicted=1)
    assert repr(merged[0].constraint.hard) == "at_most(1, 'a')"
    every = mine(gold, predicted, min_predicted=1, merge=False)
    alike = {repr(rule.constraint.hard) for rule in every}
    assert {"count('a') + count('b') <= 2", "count('a') - count('b') <= 0"} <= alike
    assert len(merged) < len(every)
    assert "count('a') - count('b') <= 0" in str(mine(gold, predicted, "pairwise", min_predicted=1))


def test_options():
    assert len(mine(GOLD, PREDICTED, cutoff=1.0, min_predicted=1, max_rules=2)) == 2
    assert not len(mine(GOLD, PREDICTED, cutoff=1.0, min_predicted=6))
    assert mine(GOLD, PREDICTED, "singleton", cutoff=1, examples=0)[0].examples == ()
    with_outside = mine(
        [["-", "author", "-"]],
        [["-", "author", "-"]],
        "singleton",
        cutoff=0,
        min_predicted=0,
        labels=PLAIN,
    )
    assert [repr(rule.constraint.hard) for rule in with_outside] == ["at_most(1, 'author')"]


def test_partial_gold_labels_are_left_out_and_indices_stay():
    rules = mine([["a", None], ["a", "b", "c"]], [["a", "a"], ["a", "b", "a"]], min_predicted=1)
    assert rules[0].examples == (1,)
    assert mine([[None]], [["a"]]) == MinedRules(())


def test_rules_name_what_the_label_set_knows():
    gold, predicted = [["author", "new", "new"]] * 2, [["author", "title", "author"]] * 2
    assert any("'new'" in repr(rule.constraint) for rule in mine(gold, predicted))
    known = mine(gold, predicted, labels=PLAIN)
    assert known[0].constraint == tw.at_most(1, "author").soft()
    assert not any("'new'" in repr(rule.constraint) for rule in known)


def test_a_corpus_and_paths():
    corpus = tw.Corpus.from_lists(
        [["J", "Doe"], ["J", "Doe"]],
        [["B-authors/B-person/B-first", "I-authors/I-person/B-last"]] * 2,
    )
    wrong = [["B-authors/B-person/B-first", "I-authors/B-person/B-first"]] * 2
    rules = mine(corpus, wrong, "hierarchical")
    assert repr(rules[0].constraint.hard).startswith("count('authors")
    assert all(rule.constraint.violations(wrong[0], scheme="path") for rule in rules)


def test_bad_input():
    with pytest.raises(ValueError, match="templates: expected some of singleton"):
        mine(GOLD, PREDICTED, ["pairs"])
    with pytest.raises(ValueError, match="smoothing: expected"):
        mine(GOLD, PREDICTED, smoothing=-1)
    with pytest.raises(tw.DataError, match="Expected as many predicted"):
        mine(GOLD, PREDICTED[:2])
    with pytest.raises(tw.DataError, match="expected at least one labelled sentence, got none"):
        mine([], [])


def test_penalties_in_the_table():
    rules = mine(GOLD, PREDICTED, "singleton", cutoff=1.0, min_predicted=1)
    learned = rules.with_penalties([1.5, 0.0])
    assert [rule.penalty for rule in learned] == [1.5, 0.0]
    assert learned.active == learned[:1]
    assert repr(learned) == "<MinedRules: 2 rules, 1 of 2 penalties are 0>"
    assert "penalties not learned" in repr(rules)
    assert "1.5" in learned.table()
    assert learned.table(1).endswith("… and 1 more")
    assert learned.to_markdown(1).splitlines()[2] == (
        "| `at_most(1, 'title')` | singleton | 3.00 | 1.5 | 0 | 1 | 1 |"
    )
    with pytest.raises(ValueError, match="expected 2 numbers"):
        rules.with_penalties([1.0])
    assert isinstance(learned[0], MinedRule)
    assert hash(learned) == hash(rules.with_penalties([1.5, 0.0]))
