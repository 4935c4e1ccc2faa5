"""Changes that constraints make to the answers of a tagger."""

from __future__ import annotations

import json
import math

import pytest

import trelliswork as tw
from commands import SENTENCES
from trelliswork.constraints import at_least, at_most, count, requires, starts_with
from trelliswork.taggers.changes import BATCH, compare, effects_table, empty_summaries

TOKENS = [[word for word, _, _ in sentence] for sentence in SENTENCES]
LABELS = [[label for _, _, label in sentence] for sentence in SENTENCES]
RULES = [
    at_most(1, "PER"),
    requires("LOC", "PER").soft(0.25),
    (count("LOC") - count("PER") <= 0).soft(0.5),
]


@pytest.fixture(scope="module")
def tagger():
    return tw.CRFTagger(features="word[0]", l2=0.01).fit(TOKENS, LABELS)


def sentence(text: str, labels: str | None = None) -> tw.Sentence:
    return tw.Sentence(text.split(), labels=None if labels is None else labels.split())


def test_answers_without_rules_and_under_them(tagger):
    under = tagger.with_constraints(RULES)
    mended, paying, same = compare(
        under, map(sentence, ["Ann and Bob", "the Rome sees Rome", "the cat"])
    )
    assert mended.before.labels == ["B-PER", "O", "B-PER"]
    assert mended.after.labels in (["B-PER", "O", "O"], ["O", "O", "B-PER"])
    assert len(mended.tokens) == 1
    one, *others = mended.effects
    assert (one.before, one.after, one.cost, one.penalty) == (1, 0, 0.0, math.inf)
    assert not any(effect.acts for effect in others)
    assert mended.loss == pytest.approx(mended.before.score - mended.after.score)
    assert mended.cost == 0.0
    # Two places without a person: cheaper to pay than to change a label.
    assert paying.tokens == []
    assert [effect.cost for effect in paying.effects] == [0.0, 0.25, 1.0]
    assert paying.cost == pytest.approx(1.25)
    assert paying.loss == pytest.approx(0.0, abs=1e-9)
    assert same.tokens == []
    assert not any(effect.acts for effect in same.effects)


def test_summaries_count_sentences(tagger):
    under = tagger.with_constraints(RULES)
    rules = empty_summaries(under)
    for change in compare(under, map(sentence, ["Ann and Bob", "Rome sees Rome", "Rome"] * 2)):
        for rule, effect in zip(rules, change.effects, strict=True):
            rule.add(effect, changed=bool(change.tokens))
    assert [(r.before, r.after, r.changed) for r in rules] == [(2, 0, 2), (4, 4, 0), (4, 4, 0)]
    assert [r.cost for r in rules] == pytest.approx([0.0, 1.0, 3.0])
    lines = effects_table(rules).splitlines()
    assert [line.split()[-4:] for line in lines[2:]] == [
        ["2", "0", "2", "-"],
        ["4", "4", "0", "1.00"],
        ["4", "4", "0", "3.00"],
    ]
    assert lines[3].split()[:3] == ["requires('LOC',", "'PER')", "0.25"]
    assert json.loads(json.dumps(rules[0].to_dict()))["penalty"] is None


def test_changes_as_dictionaries(tagger):
    under = tagger.with_constraints([at_least(1, "LOC").soft(100)])
    (change,) = compare(under, [sentence("the cat", "O O")])
    record = json.loads(json.dumps(change.to_dict()))
    assert record["tokens"] == ["the", "cat"]
    assert record["gold"] == record["before"] == ["O", "O"]
    assert len(record["changed"]) == 1
    assert record["status"] == "optimal"
    assert record["loss"] > 0
    (rule,) = record["rules"]
    assert rule["rule"] == "at_least(1, 'LOC').soft(100.0)"
    assert (rule["before"], rule["after"], rule["penalty"]) == (1, 0, 100.0)


def test_rules_that_cannot_all_hold(tagger):
    rules = [at_least(1, "LOC"), starts_with("PER")]
    under = tagger.with_constraints(rules, on_infeasible="relax")
    (change,) = compare(under, [sentence("Ann")])
    assert change.after.status == "relaxed"
    assert sum(effect.after for effect in change.effects) == 1
    assert change.cost == 0.0  # a rule that cannot hold costs nothing
    assert max(effect.cost for effect in change.effects) == math.inf


def test_any_number_of_sentences(tagger):
    under = tagger.with_constraints(RULES)
    read = []

    def sentences():
        for _ in range(2 * BATCH):
            read.append(1)
            yield sentence("Ann and Bob")

    changes = compare(under, sentences())
    next(changes)
    assert len(read) == BATCH
    assert sum(len(change.tokens) for change in changes) == 2 * BATCH - 1
