"""Gold segments against the constraints that a semi-Markov model is trained under."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from oracle import log_sum_exp
from segment_cases import SegmentCase, segment_cases
from trelliswork.constraints import at_most, changes_only_at, ends_with, only_on, precedes, token
from trelliswork.errors import DataError, NotInLanguageError
from trelliswork.inference.trellis import derive
from trelliswork.inference.verbs import log_partition
from trelliswork.labels.label_set import LabelSet
from trelliswork.labels.segmentation import Segmentation
from trelliswork.learn.denominator import Denominator
from trelliswork.planning.plan import plan

PLAIN = Segmentation(LabelSet(["author", "title", "year"]), (3, 3, 1))
BIO = Segmentation(LabelSet(["B-PER", "I-PER", "O"], scheme="bio"), (3, 1))


@st.composite
def gold_of(draw, case: SegmentCase) -> list[list[str | frozenset[str] | None]]:
    """Labels that the segmentation can have, some of them hidden."""
    found = []
    for b in range(len(case.sentences)):
        path = draw(st.sampled_from(case.all_paths(b)))
        labels = case.labels_of(case.tags(path))
        hidden = draw(st.sampled_from([False, False, True]))
        other = draw(st.sampled_from(case.segmentation.labels.names))
        choices = st.sampled_from([0, 0, 1, 2]) if hidden else st.just(0)
        shown = [(label, None, frozenset({label, other}))[draw(choices)] for label in labels]
        found.append(shown)
    return found


def agrees(labels: list[str], gold) -> bool:
    return all(
        g is None or y in (g if isinstance(g, frozenset) else {g})
        for y, g in zip(labels, gold, strict=True)
    )


@given(segment_cases(rules=3), st.data())
@settings(max_examples=50)
def test_sequences_are_kept_where_the_judge_finds_a_labelling(case: SegmentCase, data):
    gold = data.draw(gold_of(case))
    try:
        case.segmentation.encode(gold)
    except DataError:  # neighbours of one name that read as one run, which is too long
        return
    fits = [
        {t: s for t, s in case.paths(b).items() if agrees(case.labels_of(t), own)}
        for b, own in enumerate(gold)
    ]
    expected = [bool(own) for own in fits]
    rules = case.plan
    if not any(expected):
        with pytest.raises(DataError, match="break one"):
            Denominator.choose(rules, case.sentences, gold, trained=True, on_conflict="skip")
        return
    under = Denominator.choose(rules, case.sentences, gold, trained=True, on_conflict="skip")
    assert under.kept.tolist() == expected
    if rules.training.hard_rules == rules.hard_rules:
        kept = np.flatnonzero(under.kept)
        trellis = derive(case.trellis, sequences=kept)
        trellis = derive(trellis, automaton=under.automaton, classes=under.classes)
        total = log_partition(trellis, allowed=under.open_labels)
        wanted = [log_sum_exp(list(case.paths(b).values())) for b in kept]
        np.testing.assert_allclose(total, wanted, atol=1e-9)


@pytest.mark.parametrize(
    ("segmentation", "rules", "labels", "tokens", "message"),
    [
        (
            PLAIN,
            at_most(1, "author"),
            ["author", "title", "author", "author"],
            "wxyz",
            r"sequence 1, token 2 \('author'\): the gold labels break at_most\(1, 'author'\)",
        ),
        (
            PLAIN,
            [precedes("author", "title"), only_on(token(regex="x"), "year")],
            ["author", "title", "title", "year"],
            "wxyz",
            r"sequence 1, token 3 \('year'\): the gold labels break only_on",
        ),
        (
            PLAIN,
            changes_only_at(token(regex="x")),
            ["author", "author", "title", "title"],
            "xyxx",
            r"sequence 1, token 2 \('title'\): the gold labels break changes_only_at",
        ),
        (
            BIO,
            ends_with("PER"),
            ["O", "O"],
            "xy",
            r"sequence 1, token 1 \('O'\): the gold labels break ends_with\('PER'\)",
        ),
    ],
)
def test_gold_that_breaks_a_rule_is_named(segmentation, rules, labels, tokens, message):
    found = plan(segmentation.labels, rules, segmentation=segmentation)
    good = ["B-PER"] if segmentation is BIO else ["title"]
    gold = [good, labels]
    with pytest.raises(NotInLanguageError, match=message):
        Denominator.choose(found, [["x"], list(tokens)], gold, trained=True, on_conflict="error")


def test_rules_beyond_the_budget_are_left_to_decoding(caplog):
    rules = [at_most(1, "author"), at_most(2, "title")]
    found = plan(PLAIN.labels, rules, segmentation=PLAIN, training_budget=12)
    under = Denominator.choose(
        found, [["x", "y"]], [["author", "title"]], trained=True, on_conflict="error"
    )
    assert found.training.hard_rules == (0,)
    assert under.automaton.n_arcs <= 12
    assert "training leaves out 1 constraints" in caplog.text


@pytest.mark.parametrize("trained", [True, False])
@pytest.mark.parametrize("rules", [(), at_most(3, "PER")])
def test_partial_labels_that_no_segments_fit(trained, rules):
    found = plan(BIO.labels, rules, segmentation=BIO)
    # Neither of the two can be gone on with.
    gold = [["O", None], [frozenset({"O", "B-PER"}), frozenset({"O"}), "I-PER", None]]
    X = [["x"] * 2, ["x"] * 4]
    with pytest.raises(
        NotInLanguageError, match=r"sequence 1, token 2 \('I-PER'\): no segments fit"
    ):
        Denominator.choose(found, X, gold, trained=trained, on_conflict="error")
    under = Denominator.choose(found, X, gold, trained=trained, on_conflict="skip")
    assert under.kept.tolist() == [True, False]
