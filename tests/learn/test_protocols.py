from __future__ import annotations

import numpy as np
import pytest

import trelliswork as tw
from same_weights import check_same_weights
from trelliswork.constraints import at_least, at_most, starts_with
from trelliswork.learn.penalties.counts import count_penalties
from trelliswork.learn.protocols import (
    PROTOCOLS,
    check_protocol,
    rules_under,
    settle_protocol,
)

LABELS = tw.LabelSet(["A", "B"])
SOFT, PRICED, HARD = at_most(1, "A").soft(), starts_with("A").soft(0.7), at_least(1, "A")
RULES = (SOFT, PRICED, HARD)
X = [["a", "b"], ["a", "b", "a"], ["a", "a", "b"], ["a"], ["b", "a"], ["a", "b", "b"]]
Y = [["A", "B"], ["A", "B", "A"], ["A", "A", "B"], ["A"], ["B", "A"], ["A", "B", "B"]]


def crf(**parameters) -> tw.CRFTagger:
    return tw.CRFTagger(features="word[-1..0]", l2=0.1, constraints=RULES, **parameters)


@pytest.mark.parametrize(
    ("training", "expected"),
    [
        ("L", ()),
        ("L+CI", (at_most(1, "A"), starts_with("A"), HARD)),
        ("CIBT", (at_most(1, "A"), starts_with("A"), HARD)),
        ("L+wCI", RULES),
        ("wCIBT", RULES),
    ],
)
def test_rules_under_a_protocol(training, expected):
    assert rules_under(training, RULES) == expected


def test_names_of_protocols():
    assert [check_protocol(name) for name in PROTOCOLS] == list(PROTOCOLS)
    with pytest.raises(ValueError, match=r"training: expected one of 'L' \(without constraints\)"):
        check_protocol("CI")
    with pytest.raises(ValueError, match=r"got 'CIBT'\. No decoding here"):
        check_protocol("CIBT", allowed=("L",), because="No decoding here.")


@pytest.mark.parametrize("doubt", [1e-4, 0.5, 1.0])
def test_penalties_by_counting(doubt):
    # Of six labellings one has two segments of A; by hand, with 5 kept and 1 broken.
    found = count_penalties(RULES, X, Y, LABELS, doubt=doubt)
    assert found == pytest.approx([np.log((5 + 1) / (1 + doubt)), 0.7, np.inf])


def test_penalties_by_weighted_counting():
    weights = np.array([0.5, 2.0, 1.0, 0.0, 0.25, 0.25])
    (found,) = count_penalties([SOFT], X, Y, LABELS, weights, doubt=1.0)
    assert found == pytest.approx(max(0.0, np.log((2.0 + 1) / (2.0 + 1))))
    weights = np.array([3.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    (found,) = count_penalties([SOFT], X, Y, LABELS, weights, doubt=1.0)
    assert found == pytest.approx(np.log((7.0 + 1) / (1.0 + 1)))


def test_a_rule_that_is_wrong_half_the_time_costs_nothing():
    wrong = at_most(1, "A").soft()
    names = [["A"], ["A", "B", "A"]] * 20
    sequences = [["x"] * len(own) for own in names]
    (counted,) = count_penalties([wrong], sequences, names, LABELS)
    assert counted < 0.1
    for training in ("L+wCI", "wCIBT"):
        tagger = tw.CRFTagger(features="word[0]", constraints=wrong, training=training)
        assert tagger.fit(sequences, names).penalties_[repr(wrong)] < 0.1


@pytest.mark.parametrize("sign", ["L", "L+CI", "L+wCI"])
def test_weights_learned_without_constraints_are_the_same(sign):
    alone = tw.CRFTagger(features="word[-1..0]", l2=0.1).fit(X, Y)
    found = crf(training=sign).fit(X, Y)
    check_same_weights(found, alone)


@pytest.mark.parametrize(
    ("training", "same"),
    [
        ("L+wCI", {"constrained_training": False, "penalties": "counts"}),
        ("wCIBT", {"constrained_training": True, "penalties": "likelihood"}),
    ],
)
def test_soft_protocols_of_a_crf(training, same):
    found, expected = crf(training=training), crf(**same)
    for tagger in (found, expected):
        tagger.fit(X, Y)
    assert found.penalties_ == pytest.approx(expected.penalties_, abs=1e-5)
    assert found.plan_.constraints == RULES
    assert found.predict(X) == expected.predict(X)
    check_same_weights(found, expected)
    if training == "L+wCI":
        counted = count_penalties(RULES, X, Y, LABELS)
        assert found.plan_.penalties.tolist() == counted.tolist()


@pytest.mark.parametrize("training", ["L+CI", "CIBT"])
def test_hard_protocols_of_a_crf(training):
    # The gold labels have to fit where the model is a distribution over those that do.
    fits = [b for b, own in enumerate(Y) if own[0] == "A" and "".join(own) != "ABA"]
    sequences, names = [X[b] for b in fits], [Y[b] for b in fits]
    hard = rules_under(training, RULES)
    same = tw.CRFTagger(
        features="word[-1..0]",
        l2=0.1,
        constraints=hard,
        constrained_training=training == "CIBT",
    ).fit(sequences, names)
    found = crf(training=training).fit(sequences, names)
    assert found.plan_.constraints == hard
    assert found.plan_.soft == ()
    check_same_weights(found, same)
    assert [labels[0] for labels in found.predict(X)] == ["A"] * len(X)


def test_hard_constraints_in_training_refuse_labels_that_break_them():
    with pytest.raises(tw.NotInLanguageError):
        crf(training="CIBT").fit(X, Y)
    assert crf(training="CIBT", on_conflict="skip").fit(X, Y).n_skipped_ == 2


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"training": "CIBT", "constrained_training": False}, "constrained_training: expected"),
        ({"training": "wCIBT", "constrained_training": False}, "constrained_training: expected"),
        ({"training": "wCIBT", "penalties": "ssvm"}, "penalties: expected none to be set"),
        ({"training": "L", "penalties": "counts"}, "penalties: expected none to be set"),
        ({"training": "L+CI", "penalties": "perceptron"}, "penalties: expected none to be set"),
        ({"training": "none"}, "training: expected one of"),
    ],
)
def test_parameters_that_contradict_a_protocol(parameters, message):
    with pytest.raises(ValueError, match=message):
        crf(**parameters).fit(X, Y)


def test_parameters_that_agree_with_a_protocol():
    parameters = crf(training="L+wCI", penalties="counts", constrained_training=False).get_params()
    assert settle_protocol(parameters) == {**parameters, "constraints": RULES}
    assert settle_protocol(crf().get_params()) == crf().get_params()


def test_counts_leave_out_labels_that_are_known_in_part():
    partly = [*Y, ["A", None, "A"]]
    found = crf(penalties="counts", constrained_training=False).fit([*X, ["a", "b", "a"]], partly)
    assert found.plan_.penalties.tolist() == count_penalties(RULES, X, Y, LABELS).tolist()


@pytest.mark.parametrize("training", PROTOCOLS)
def test_a_protocol_is_saved(training, tmp_path):
    tagger = crf(training=training, on_conflict="skip").fit(X, Y)
    tagger.save(tmp_path / "m.tw")
    loaded = tw.load(tmp_path / "m.tw")
    assert loaded.training == training
    assert loaded.penalties_ == tagger.penalties_
    assert loaded.predict([["b"], ["a", "c"]]) == tagger.predict([["b"], ["a", "c"]])
    check_same_weights(loaded.fit(X, Y), tagger)


@pytest.mark.parametrize("kind", [tw.HMMTagger, tw.PerceptronTagger, tw.CRFTagger])
def test_rules_from_text_and_from_python_are_one(kind, tmp_path):
    path = tmp_path / "rules.txt"
    path.write_text("at_most(1, A): soft\nstarts_with(A): soft(0.7)\nat_least(1, A)\n")
    text = tw.read_rules(path)
    found, expected = (
        kind(training="L+wCI", constraints=rules).fit(X, Y) for rules in (text, RULES)
    )
    assert found.plan_.constraints == expected.plan_.constraints
    assert found.plan_.penalties.tolist() == expected.plan_.penalties.tolist()
    assert found.predict(X) == expected.predict(X)
