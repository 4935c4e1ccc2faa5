"""Errors and warnings about settings that contradict each other or the data."""

from __future__ import annotations

import logging

import pytest

import trelliswork as tw

X = [["a", "b", "c", "d"], ["a", "d"]]
PLAIN = [["A", "A", "B", "O"], ["A", "O"]]
BIO = [["B-A", "I-A", "B-B", "O"], ["B-A", "O"]]


def warnings_of(caplog):
    return [record for record in caplog.records if record.levelno >= logging.WARNING]


def fit(y=PLAIN, X=X, dev=None, **settings):  # noqa: N803
    return tw.CRFTagger(**{"features": "word", "max_iter": 2, **settings}).fit(X, y, dev=dev)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"max_segment": 3}, "'O' is a segment like any other here, of at most 3 tokens; set out"),
        ({"max_segment": 3, "outside": "O"}, None),
        ({"max_segment": 1}, None),
        ({"max_segment": 3, "y": BIO}, None),
        ({"max_segment": 3, "y": BIO, "adjacent": True}, "segments of bio labels may be adjacent"),
        ({"adjacent": True}, "adjacent=True has no effect in a chain"),
        ({"max_segment": 3, "outside": "O", "adjacent": True}, None),
        ({"min_pattern_count": 9}, "no label pattern occurs 9 times"),
        ({"min_pattern_count": 2, "y": [["A", "A", "A", "O"], ["A", "O"]]}, None),
        ({"min_pattern_count": 9, "transitions": "all"}, None),
        ({"order": 0}, None),
        ({"min_count": 9}, "no feature occurs 9 times"),
        ({"max_segment": 3, "outside": "O", "features": "begin: word"}, None),
        ({"max_segment": 3, "outside": "O", "features": "segment: text"}, None),
        ({"max_segment": 3, "outside": "O", "features": "end: word", "min_count": 9}, "no feature"),
    ],
)
def test_a_warning_where_one_is_due(caplog, settings, said):
    fit(**settings)
    found = [(record.levelname, record.getMessage()) for record in warnings_of(caplog)]
    assert [level for level, _ in found] == ([] if said is None else ["WARNING"])
    assert said is None or said in found[0][1]


def test_the_example_of_a_plain_outside_label(caplog):
    fit(max_segment="auto")
    assert "of at most 1 tokens; set outside='O' to read such tokens one by one" in caplog.text


DEV = ([["a"] * 5, ["b"], ["a"]], [["A", "A", "A", "B", "B"], ["B"], [None]])


@pytest.mark.parametrize(
    ("settings", "warned"),
    [({"max_segment": "auto"}, True), ({"max_segment": 3}, False), ({"max_segment": 1}, False)],
)
def test_segments_of_dev_that_are_too_long(caplog, settings, warned):
    fit(outside="O", dev=DEV, **settings)
    said = "1 of 3 dev sequences have segments longer than max_segment allows"
    assert (said in caplog.text) == warned


def test_touching_segments_read_as_a_longer_one(caplog):
    fit(outside="O", dev=DEV, max_segment="auto", adjacent=True)
    assert not warnings_of(caplog)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"patterns": [("A", "B"), ("A", "A")]},
            r"patterns\[1\]: \('A', 'A'\) can never.*adjacent",
        ),
        ({"patterns": [("O", "O")], "adjacent": True}, r"one segment\. Leave it out\.$"),
        ({"patterns": [("O", "O")], "y": BIO, "outside": None}, "can never occur"),
    ],
)
def test_patterns_that_can_never_occur(settings, message):
    with pytest.raises(tw.LabelError, match=message):
        fit(**{"max_segment": 3, "outside": "O", **settings})


@pytest.mark.parametrize(
    "settings",
    [
        {"patterns": [("A", "A")], "adjacent": True},
        {"patterns": [("A", "A")], "y": BIO, "outside": None},
        {"patterns": [("A", "A")], "max_segment": 1},
        {"patterns": [("A", "B", "O")], "order": 1},  # the list decides, not the order
    ],
)
def test_patterns_that_can(settings):
    tagger = fit(**{"max_segment": 3, "outside": "O", **settings})
    names = tagger.model_.structure.letter_names
    assert {*settings["patterns"]} <= {*tagger.model_.patterns.names(names)}


def test_an_unknown_outside_label():
    with pytest.raises(tw.LabelError, match=r"^outside: Unknown label 'nope'\. Known are 'A', 'B'"):
        fit(outside="nope")


@pytest.mark.parametrize("kind", [tw.CRFTagger, tw.HMMTagger, tw.PerceptronTagger])
@pytest.mark.parametrize(
    ("y", "missing"),
    [(["A", "B"], "labels=['note']"), (["B-A", "I-A"], "labels=['B-note', 'I-note']")],
)
def test_a_rule_about_a_label_that_is_not_seen(kind, y, missing):
    tagger = kind(constraints=tw.at_most(1, "note").soft(1.0))
    with pytest.raises(tw.LabelError, match="there is no segment 'note'") as found:
        tagger.fit([["x", "y"]], [y])
    assert missing in str(found.value)
    names = [name.strip("'") for name in missing[8:-1].split(", ")]
    assert tagger.set_params(labels=names).fit([["x", "y"]], [y]).labels_.names[-1] == names[-1]
