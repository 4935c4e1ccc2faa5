"""Parameters of a tagger: which are refused, and how files keep them."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest
import safetensors.numpy
from sklearn.base import clone

import trelliswork as tw
from ruled_tagger import RULES, X, Y, fitted
from trelliswork.constraints import (
    at_least,
    at_most,
    starts_with,
)
from trelliswork.planning.plan import plan
from trelliswork.taggers.parameters import (
    check_crf_parameters,
    parameters_from_json,
    parameters_to_json,
)


def test_files_hold_the_constraints_that_answers_obey(tmp_path):
    tagger = fitted(at_most(1, "T"))
    expected = tagger.predict(X)
    tagger.set_params(constraints=[at_least(2, "Y"), starts_with("Y")])
    assert tagger.predict(X) == expected
    tagger.save(tmp_path / "m.tw")
    loaded = tw.load(tmp_path / "m.tw")
    assert loaded.constraints == loaded.plan_.constraints == (at_most(1, "T"),)
    assert loaded.predict(X) == expected


def test_budgets_are_kept_in_files_and_bind(tmp_path):
    rules = [at_most(1, "T"), at_most(2, "A")]
    tagger = fitted(rules, training_budget=16, decoding_budget=17, on_conflict="skip")
    assert tagger.plan_.training.hard_rules == (0,)
    with pytest.raises(tw.TooLargeError, match="raise decoding_budget"):
        tagger.predict_marginals(X)
    wide = tagger.with_constraints(rules, decoding_budget=1_000)
    assert len(wide.predict_marginals(X)) == len(X)
    tagger.save(tmp_path / "m.tw")
    loaded = tw.load(tmp_path / "m.tw")
    assert loaded.get_params() == tagger.get_params() | {"constraints": tuple(rules)}
    assert loaded.plan_.budgets() == {"training_budget": 16, "decoding_budget": 17}


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"constraints": at_most(1, "editor")}, tw.LabelError),
        ({"constraints": "(A | editor)*"}, ValueError),
        ({"constraints": 3}, TypeError),
        ({"on_conflict": "ignore"}, ValueError),
        ({"on_infeasible": "ignore"}, ValueError),
        ({"constrained_training": "yes"}, ValueError),
        ({"training_budget": -1}, ValueError),
        ({"decoding_budget": "all"}, ValueError),
    ],
)
def test_bad_options_are_refused(options, error):
    with pytest.raises(error):
        tw.CRFTagger(features="word[0]", **options).fit(X, Y)


def test_unknown_ways_out_are_refused_wherever_they_are_used():
    tagger = fitted()
    with pytest.raises(ValueError, match="on_infeasible: expected 'error' or"):
        tagger.with_constraints((), on_infeasible="ignore")
    tagger.set_params(on_infeasible="ignore")
    for verb in (tagger.predict, tagger.decode, tagger.predict_marginals, tagger.log_probability):
        with pytest.raises(ValueError, match="on_infeasible: expected 'error' or"):
            verb(X, Y) if verb == tagger.log_probability else verb(X)


def test_files_keep_constraints(tmp_path):
    rules = [*RULES, "(A | T)* Y?", at_most(2, "A").compile(tw.LabelSet(["A", "T", "Y"]))]
    tagger = fitted(rules, on_infeasible="relax", on_conflict="skip")
    tagger.save(tmp_path / "m.tw")
    back = tw.load(tmp_path / "m.tw")
    assert back.constraints == tagger.plan_.constraints
    assert (back.on_infeasible, back.on_conflict) == ("relax", "skip")
    new = [["b", "a", "b", "3"], ["a", "1", "a"], ["2", "2"]]
    assert back.decode(new) == tagger.decode(new)
    assert back.n_skipped_ == tagger.n_skipped_
    copy = pickle.loads(pickle.dumps(back))
    assert copy.predict(new) == back.predict(new)
    again = clone(back).fit(X, Y)
    assert again.plan_.constraints == back.plan_.constraints


def test_old_files_load_and_code_in_files_is_refused(tmp_path):
    fitted(()).save(tmp_path / "m.tw")
    _edit(tmp_path / "m.tw", lambda parameters: [parameters.pop(k) for k in NEW_PARAMETERS])
    assert tw.load(tmp_path / "m.tw").constraints == ()
    _edit(
        tmp_path / "m.tw",
        lambda parameters: parameters.update(constraints=["__import__('os').getcwd()"]),
    )
    with pytest.raises(tw.ModelFileError, match="damaged"):
        tw.load(tmp_path / "m.tw")


@pytest.mark.parametrize("trained", [True, False])
def test_files_from_before_budgets_load(tmp_path, trained):
    tagger = fitted(constrained_training=trained)
    tagger.save(tmp_path / "m.tw")
    _edit(tmp_path / "m.tw", lambda parameters: [parameters.pop(k) for k in BUDGETS])
    loaded = tw.load(tmp_path / "m.tw")
    assert loaded.plan_.budgets() == tagger.plan_.budgets()
    assert loaded.get_params() == tagger.get_params()


BUDGETS = ("training_budget", "decoding_budget")
NEW_PARAMETERS = ("constraints", "constrained_training", "on_conflict", "on_infeasible", *BUDGETS)


def _edit(path, change):
    """Rewrite the parameters in a model file."""
    from trelliswork.taggers.model_file import read_model_file, write_model_file

    settings, arrays = read_model_file(path)
    change(settings["parameters"])
    settings["training"].pop("n_skipped", None)
    settings.pop("plan", None)
    write_model_file(path, settings, arrays)


def test_saved_settings_are_plain_json(tmp_path):
    fitted().save(tmp_path / "m.tw")
    with safetensors.safe_open(tmp_path / "m.tw", "np") as stream:
        settings = json.loads(stream.metadata()["settings"])
    assert settings["parameters"]["constraints"] == [repr(rule) for rule in RULES]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"order": 0, "edge_order": 0},
        {"order": 3, "max_patterns": 100},
        {"max_segment": np.int64(20)},
        {"max_segment": "auto", "adjacent": True},
        {"max_segment": {"title": 30, "date": 1}},
        {"patterns": [("a", "b"), ["b", "a", "b"]]},
        {"patterns": {("a", "b")}},
    ],
)
def test_structures_that_make_sense(options):
    check_crf_parameters(tw.CRFTagger(**options).get_params())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"order": -1}, "order: expected a whole number from 0 up, got -1"),
        ({"order": True}, "order: expected"),
        ({"max_segment": 0}, r"from 1 up \(of tokens\), such numbers by name, or 'auto', got 0"),
        ({"max_segment": "all"}, "max_segment: expected"),
        ({"max_segment": {"title": 0}}, r"max_segment\['title'\]: expected .* from 1 up, got 0"),
        ({"adjacent": "yes"}, "adjacent: expected True or False"),
        ({"min_pattern_count": 0}, "min_pattern_count: expected"),
        ({"max_patterns": 0}, "max_patterns: expected"),
        ({"edge_order": 1.5}, "edge_order: expected"),
        ({"patterns": "a b"}, "expected a list of tuples of names"),
        ({"patterns": (p for p in [("a", "b")])}, r"got <generator .* Put them in a list"),
        ({"patterns": [("a", "b"), "ab"]}, "got 'ab' at 1"),
        ({"patterns": [("a", 1)]}, "at 0"),
    ],
)
def test_structures_that_make_no_sense(options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        check_crf_parameters(tw.CRFTagger(**options).get_params())


@pytest.mark.parametrize(
    ("l2", "message"),
    [
        ({1: 0.5}, "expected a value for order 0"),
        ({0: 1.0, "2": 1.0}, "expected orders as keys"),
        ({0: -1.0}, r"l2\[0\]: expected a finite number"),
        (True, "l2: expected a finite number"),
    ],
)
def test_penalties_that_make_no_sense(l2, message):
    with pytest.raises(ValueError, match=message):
        check_crf_parameters(tw.CRFTagger().get_params() | {"l2": l2})


def test_files_keep_mappings_and_patterns():
    given = tw.CRFTagger().get_params() | {
        "l2": {0: np.float64(1.0), 2: 0.5},
        "max_segment": {"title": np.int64(3)},
        "patterns": [("a", "b")],
    }
    check_crf_parameters(given)
    saved = json.loads(json.dumps(parameters_to_json(given, plan(tw.LabelSet(["a", "b"]), ()))))
    restored = parameters_from_json(saved)
    assert restored == given | {"constraints": ()}
