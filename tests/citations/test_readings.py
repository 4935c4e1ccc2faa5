"""Readings under rules against all labellings, one by one."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import trelliswork as tw
from trelliswork.citations.chances import TOLERANCE
from trelliswork.citations.readings import Reader
from trelliswork.data.sentence import Sentence

LABELS = ("author", "title", "date")
WORDS = ("ann", "bob", "1999", "on", "nets", ".")
RULES = [
    tw.at_most(1, "title"),
    tw.at_most(1, "author"),
    tw.at_least(1, "title").soft(0.7),
    tw.precedes("author", "date").soft(0.4),
]


@pytest.fixture(scope="module")
def tagger():
    X = [["ann", ".", "1999", "on", "nets"], ["on", "bob", ".", "ann", "1999"], ["bob", "nets"]]
    y = [
        ["author", "author", "date", "title", "title"],
        ["title", "title", "author", "author", "date"],
        ["author", "title"],
    ]
    return tw.CRFTagger(features="word[-1..1]\nbias", l2=2.0).fit(X, y)


def oracle(tagger, tokens, rules):
    """Return all labellings with their probabilities under some rules."""
    problem = tagger.with_constraints(rules).problem(list(tokens))
    found = {labels: problem.value(list(labels)) for labels in product(LABELS, repeat=len(tokens))}
    top = max(found.values())
    odds = {labels: np.exp(value - top) for labels, value in found.items()}
    total = sum(odds.values())
    return {labels: value / total for labels, value in odds.items()}


def span_probability(tagger, chances, span):
    return sum(
        chance for labels, chance in chances.items() if span in tagger.labels_.spans(list(labels))
    )


@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6))
@settings(max_examples=60)
def test_exact_confidences_are_those_of_all_rules(tagger, tokens):
    reader = Reader(tagger.with_constraints(RULES))
    (reading,) = reader.read([Sentence(tokens)], exact=True)
    chances = oracle(tagger, tokens, RULES)
    assert chances[tuple(reading.labels)] == pytest.approx(max(chances.values()))
    assert reading.confidence == pytest.approx(chances[tuple(reading.labels)], abs=TOLERANCE)
    assert reading.spans == tagger.labels_.spans(reading.labels)
    for span, sure in zip(reading.spans, reading.confidences, strict=True):
        assert sure == pytest.approx(span_probability(tagger, chances, span), abs=TOLERANCE)
    free = oracle(tagger, tokens, [])
    assert free[tuple(reading.free_labels)] == pytest.approx(max(free.values()))


@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6))
@settings(max_examples=60)
def test_other_confidences_are_those_of_the_rules_called_for(tagger, tokens):
    sentence = Sentence(tokens)
    (reading,) = Reader(tagger.with_constraints(RULES)).read([sentence])
    needed: list[tw.Constraint] = []
    while True:
        chances = oracle(tagger, tokens, needed)
        best = max(chances, key=chances.__getitem__)
        fresh = [
            rule
            for rule in RULES
            if rule not in needed and rule.violations(best, sentence, scheme=tagger.labels_)
        ]
        if not fresh:
            break
        needed += fresh
    assert chances[tuple(reading.labels)] == pytest.approx(max(chances.values()))
    assert reading.confidence == pytest.approx(chances[tuple(reading.labels)])
    for span, sure in zip(reading.spans, reading.confidences, strict=True):
        assert sure == pytest.approx(span_probability(tagger, chances, span))
    if reading.labels != reading.free_labels:
        assert reading.broken
        assert set(reading.broken) <= {repr(rule) for rule in needed}
    else:
        assert reading.broken == ()


def test_a_batch_is_read_as_one_by_one(tagger):
    reader = Reader(tagger.with_constraints(RULES))
    sentences = [Sentence(list(words)) for words in product(WORDS, repeat=3)]
    together = reader.read(sentences)
    for sentence, reading in zip(sentences, together, strict=True):
        (alone,) = reader.read([sentence])
        assert alone.labels == reading.labels
        assert alone.broken == reading.broken
        np.testing.assert_allclose(alone.confidences, reading.confidences)
    assert any(reading.labels != reading.free_labels for reading in together)


@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=4))
@settings(max_examples=30)
def test_alternatives_are_the_next_best(tagger, tokens):
    reader = Reader(tagger.with_constraints(RULES))
    (reading,) = reader.read([Sentence(tokens)], exact=True, alternatives=5)
    chances = oracle(tagger, tokens, RULES)
    expected = [chance for chance in sorted(chances.values(), reverse=True)[1:6] if chance > 0]
    assert [chance for _, chance in reading.others] == pytest.approx(expected, abs=TOLERANCE)
    for labels, chance in reading.others:
        assert labels != reading.labels
        assert chance == pytest.approx(chances[tuple(labels)], abs=TOLERANCE)


@pytest.mark.parametrize("arcs", [1, 30])
def test_rules_beyond_the_product_budget_do_not_count(tagger, arcs):
    tight = tagger.with_constraints(RULES, decoding_budget=arcs)
    tokens = ["on", "bob", "on"]
    (reading,) = Reader(tight).read([Sentence(tokens)], exact=True)
    chances = oracle(tagger, tokens, RULES)
    assert chances[tuple(reading.labels)] == pytest.approx(max(chances.values()))
    fits = [
        oracle(tagger, tokens, some) for n in range(len(RULES)) for some in combinations(RULES, n)
    ]
    assert any(
        reading.confidence == pytest.approx(under[tuple(reading.labels)])
        and reading.confidences
        == pytest.approx([span_probability(tagger, under, span) for span in reading.spans])
        for under in fits
    )
    assert reading.confidence < max(chances.values())


def test_rules_that_cannot_be_obeyed_together_are_relaxed(tagger):
    rules = [tw.at_least(2, "title"), *RULES]  # the second, at_most(1, "title"), goes
    reader = Reader(tagger.with_constraints(rules))
    for words in (["on"], ["on", "bob"], ["on", "bob", "on"]):
        for exact in (False, True):
            (reading,) = reader.read([Sentence(words)], alternatives=2, exact=exact)
            assert np.isfinite(reading.confidences).all()
            assert 0.0 < reading.confidence <= 1.0
            assert all(0.0 < chance <= reading.confidence for _, chance in reading.others)
    chances = oracle(tagger, words, [rules[0], *rules[2:]])
    assert chances[tuple(reading.labels)] == pytest.approx(max(chances.values()))
    assert reading.confidence == pytest.approx(max(chances.values()), abs=TOLERANCE)


def test_rules_on_single_tokens_are_obeyed(tagger):
    rules = [*RULES, tw.where(tw.token("nets")).allow("date")]
    tokens = ["ann", "on", "nets"]
    (reading,) = Reader(tagger.with_constraints(rules)).read([Sentence(tokens)])
    assert reading.free_labels[2] != "date"
    assert reading.labels[2] == "date"
    assert repr(rules[-1]) in reading.broken
    chances = oracle(tagger, tokens, rules)
    assert chances[tuple(reading.labels)] == pytest.approx(max(chances.values()))


@given(st.lists(st.sampled_from(WORDS), min_size=2, max_size=5))
@settings(max_examples=30)
def test_alternatives_come_in_the_order_of_their_probabilities(tagger, tokens):
    (reading,) = Reader(tagger.with_constraints(RULES)).read([Sentence(tokens)], alternatives=9)
    shares = [reading.confidence, *(share for _, share in reading.others)]
    assert shares == sorted(shares, reverse=True)
    assert sum(shares) <= 1.0 + 1e-9
    under_all = oracle(tagger, tokens, RULES)
    ratios = [under_all[tuple(labels)] / max(under_all.values()) for labels, _ in reading.others]
    assert [share / shares[0] for share in shares[1:]] == pytest.approx(ratios)


def test_fields_without_confidences_of_their_own_have_that_of_the_whole(tagger):
    reader = Reader(tagger.with_constraints(RULES))
    sentences = [Sentence(list(words)) for words in product(WORDS, repeat=2)]
    for quick, slow in zip(
        reader.read(sentences, by_field=False), reader.read(sentences), strict=True
    ):
        assert quick.labels == slow.labels
        assert quick.confidence == pytest.approx(slow.confidence)
        assert quick.confidences == [quick.confidence] * len(slow.confidences)
        assert all(
            p <= own + 1e-12 for p, own in zip(quick.confidences, slow.confidences, strict=True)
        )


def test_empty_inputs(tagger):
    assert Reader(tagger.with_constraints(RULES)).read([]) == []
    assert Reader(tagger).read([Sentence(["ann"])])[0].broken == ()
