"""Taggers under constraints: training, every verb, conflicts, infeasible sentences, files."""

from __future__ import annotations

import itertools
import json
import logging
import pickle

import numpy as np
import pytest
import safetensors.numpy
from sklearn.base import clone

import trelliswork as tw
from oracle import log_sum_exp
from trelliswork import inference
from trelliswork.constraints import (
    at_least,
    at_most,
    changes_only_at,
    only_on,
    precedes,
    starts_with,
    token,
    where,
)
from trelliswork.learn.denominator import Denominator
from trelliswork.learn.objective import GoldLabels, Objective
from trelliswork.plan import plan

YEAR = token(regex=r"\d+")
X = [["a", "b", "1"], ["b", "a", "2"], ["a", "a", "b"], ["b", "1"]]
Y = [["A", "T", "Y"], ["T", "A", "Y"], ["A", "A", "T"], ["T", "Y"]]
RULES = (at_most(1, "T"), only_on(YEAR, "Y"), precedes("A", "Y"))


def fitted(constraints=RULES, **options) -> tw.CRFTagger:
    options = {"features": "word[0]", "l2": 0.1, "transitions": "all", "max_iter": 30} | options
    return tw.CRFTagger(constraints=constraints, **options).fit(X, Y)


def labellings(tagger, sentence, rules):
    """All labellings that satisfy rules, with their scores under the model."""
    trellis = tagger.model_.trellis([sentence])
    found = {}
    for ids in itertools.product(range(len(tagger.labels_)), repeat=len(sentence)):
        names = tuple(tagger.labels_.names[y] for y in ids)
        if any(rule.violations(names, sentence, scheme=tagger.labels_) for rule in rules):
            continue
        score = sum(trellis.scores[t, 0, y] for t, y in enumerate(ids))
        score += sum(tagger.model_.transitions[a, y] for a, y in itertools.pairwise(ids))
        found[names] = float(score)
    return found


@pytest.mark.parametrize("trained", [True, False])
def test_every_verb_obeys(trained):
    tagger = fitted(constrained_training=trained)
    new = [["b", "a", "b", "3"], ["a", "1", "a"], ["b"]]
    for b, sentence in enumerate(new):
        paths = labellings(tagger, sentence, RULES)
        log_z = log_sum_exp(list(paths.values()))
        ranked = sorted(paths, key=paths.get, reverse=True)
        assert tuple(tagger.predict(new)[b]) == ranked[0]
        decoding = tagger.decode(new)[b]
        assert isinstance(decoding, tw.Decoding)
        assert tuple(decoding.labels) == ranked[0]
        assert decoding.score == decoding.upper_bound == pytest.approx(paths[ranked[0]])
        assert (decoding.gap, decoding.status, decoding.violations) == (0.0, "optimal", {})
        nbest = tagger.predict_nbest(new, 4)[b]
        assert [tuple(labels) for labels, _ in nbest] == ranked[:4]
        for labels, p in nbest:
            assert p == pytest.approx(np.exp(paths[tuple(labels)] - log_z))
        marginals = np.zeros((len(sentence), 3))
        for names, score in paths.items():
            for t, name in enumerate(names):
                marginals[t, tagger.labels_.id(name)] += np.exp(score - log_z)
        np.testing.assert_allclose(tagger.predict_marginals(new)[b], marginals, atol=1e-9)
        given = [list(ranked[-1])]
        assert tagger.log_probability([sentence], given)[0] == pytest.approx(
            paths[ranked[-1]] - log_z
        )
    trellis = tagger.trellis(new)
    drawn, _ = inference.sample(trellis, 10, random_state=0)
    names = np.array(tagger.labels_.names)
    for row in drawn:
        for sentence, ids in zip(new, np.split(row, trellis.offsets[1:-1]), strict=True):
            assert tuple(names[ids]) in labellings(tagger, sentence, RULES)


def test_a_trained_tagger_takes_other_constraints(tmp_path):
    free = fitted(constraints=())
    rules = (starts_with("T"), at_least(2, "Y"))
    ruled = free.with_constraints(rules, on_infeasible="relax")
    sentence = ["a", "b", "1", "a"]
    inside = labellings(free, sentence, rules)
    assert tuple(ruled.predict([sentence])[0]) == max(inside, key=inside.get)
    assert free.predict([sentence]) == free.with_constraints(()).predict([sentence])
    assert free.on_infeasible == "error"
    assert ruled.decode([["a"]])[0].status == "relaxed"
    ruled.save(tmp_path / "m.tw")
    assert tw.load(tmp_path / "m.tw").predict([sentence]) == ruled.predict([sentence])


def test_other_constraints_leave_everything_else_as_it_was(tmp_path):
    trained = fitted()
    trained.metadata_["tags"] = ["old"]
    ruled = trained.with_constraints(at_most(1, "A"), decoding_budget=1_000)
    ruled.metadata_["tags"].append("new")
    assert trained.metadata_ == {"tags": ["old"]}
    assert ruled.get_params()["constrained_training"] is True
    assert ruled.plan_.trained_rules == ()
    assert clone(ruled).fit(X, [["A", "T", "Y"]] * 3 + [["T", "Y"]]).plan_.trained_rules == (0,)
    ruled.save(tmp_path / "m.tw")
    loaded = tw.load(tmp_path / "m.tw")
    assert loaded.plan_.budgets() == {"training_budget": 0, "decoding_budget": 1_000}
    assert loaded.constrained_training is True


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
    assert tagger.plan_.trained_rules == (0,)
    with pytest.raises(tw.TooLargeError, match="raise decoding_budget"):
        tagger.predict_marginals(X)
    wide = tagger.with_constraints(rules, decoding_budget=1_000)
    assert len(wide.predict_marginals(X)) == len(X)
    tagger.save(tmp_path / "m.tw")
    loaded = tw.load(tmp_path / "m.tw")
    assert loaded.get_params() == tagger.get_params() | {"constraints": tuple(rules)}
    assert loaded.plan_.budgets() == {"training_budget": 16, "decoding_budget": 17}


@pytest.mark.parametrize("k", [1, 3, 100])
def test_best_lists_without_probabilities_are_exact(k):
    rules = [at_most(1, "T"), at_most(1, "A"), only_on(YEAR, "Y"), at_least(1, "T")]
    tagger = fitted((), decoding_budget=60).with_constraints(rules, on_infeasible="relax")
    new = [["b", "a", "b", "3"], ["a", "1", "a"], ["b"], ["1", "2"]]
    with pytest.raises(tw.TooLargeError, match="decode_nbest"):
        tagger.with_constraints(rules, decoding_budget=17).predict_nbest(new, k)
    for sentence, found in zip(new, tagger.decode_nbest(new, k), strict=True):
        inside = labellings(tagger, sentence, rules)
        best = sorted(inside.values(), reverse=True)[:k]
        np.testing.assert_allclose([answer.score for answer in found], best)
        for answer in found:
            assert inside[tuple(answer.labels)] == pytest.approx(answer.score)
            assert (answer.status, answer.violations) == ("optimal", {})
    assert [a[0].labels for a in tagger.decode_nbest(new, k)] == tagger.predict(new)
    relaxed = tagger.with_constraints([at_least(2, "T"), at_most(1, "T")]).decode_nbest([["a"]], k)
    assert {answer.status for answer in relaxed[0]} == {"relaxed"}


@pytest.mark.parametrize("k", [0, 1.5, True])
def test_best_lists_of_impossible_lengths(k):
    for verb in (fitted().decode_nbest, fitted().predict_nbest):
        with pytest.raises(ValueError, match="k: expected a whole number from 1"):
            verb(X, k)


def test_labels_outside_the_language_have_probability_zero():
    assert fitted().log_probability([["a", "b", "b"]], [["T", "A", "T"]])[0] == -np.inf


def test_probability_of_a_constraint_is_under_the_free_model():
    tagger = fitted()
    sentence = ["b", "a", "b", "3"]
    everything = labellings(tagger, sentence, ())
    log_z = log_sum_exp(list(everything.values()))
    for asked in (at_most(1, "A"), where(YEAR).allow("Y"), "(A | T)* Y", changes_only_at(YEAR)):
        rules = tw.plan(tagger.labels_, asked).constraints
        inside = labellings(tagger, sentence, rules)
        expected = np.exp(log_sum_exp(list(inside.values())) - log_z)
        assert tagger.probability_of([sentence], asked) == pytest.approx(expected)
    both = tagger.probability_of([sentence], [at_most(1, "A"), at_least(2, "A")])
    assert both == pytest.approx(0.0)


def objective(rules, names):
    """The objective of a training set under rules, with all weights."""
    labels = tw.LabelSet(["A", "T", "Y"])
    encoder = tw.features.TemplateEncoder("word[0]")
    features = encoder.fit(X, min_count=1, n_jobs=1)
    under = Denominator.choose(plan(labels, rules), X, names, trained=True, on_conflict="error")
    made = Objective(
        features,
        GoldLabels.encode(labels, names),
        3,
        l2=0.3,
        pairs="all",
        transitions="all",
        automaton=under.automaton,
        classes=under.classes,
        open_labels=under.open_labels,
    )
    return labels, encoder, made


PARTIAL = [["A", None, "Y"], [frozenset({"T", "A"}), "A", None], Y[2], [None, None]]


@pytest.mark.parametrize("names", [Y, PARTIAL], ids=["full", "partial"])
@pytest.mark.parametrize(
    "rules",
    [
        RULES,
        (changes_only_at(token(regex="[ab0-9]")), at_most(2, "A")),
        ("(A | T)* Y?",),
        RULES[1:2],
    ],
    ids=["words", "classes", "regex", "mask"],
)
def test_loss_and_gradient_equal_enumeration(rules, names):
    labels, encoder, made = objective(rules, names)
    constraints = plan(labels, rules).constraints
    rng = np.random.default_rng(0)
    parameters = rng.normal(size=made.n_parameters)

    def loss(parameters):
        tagger = tw.CRFTagger()
        tagger.model_ = made.model(parameters, labels, encoder)
        tagger.labels_ = labels
        total = 0.3 * float(parameters @ parameters)
        for sentence, gold in zip(X, names, strict=True):
            paths = labellings(tagger, sentence, constraints)
            allowed = labels.allowed(gold)
            inside = [
                score
                for found, score in paths.items()
                if all(allowed[t, labels.id(name)] for t, name in enumerate(found))
            ]
            total += log_sum_exp(list(paths.values())) - log_sum_exp(inside)
        return total

    gradient = np.empty(made.n_parameters)
    assert made.value_and_grad(parameters, gradient) == pytest.approx(loss(parameters))
    for i in range(0, made.n_parameters, 3):
        step = np.zeros_like(parameters)
        step[i] = 1e-5
        slope = (loss(parameters + step) - loss(parameters - step)) / 2e-5
        assert gradient[i] == pytest.approx(slope, abs=1e-5)


def test_constrained_training_fits_better_under_the_constraints():
    rules = ("(A | T)* Y?",)
    nll = {
        trained: -fitted(rules, constrained_training=trained, l2=0.0, max_iter=100, tol=0)
        .log_probability(X, Y)
        .sum()
        for trained in (True, False)
    }
    free = -fitted((), l2=0.0, max_iter=100, tol=0).log_probability(X, Y).sum()
    assert nll[True] <= nll[False] + 1e-6
    assert nll[False] <= free + 1e-6


def test_conflicts_name_sentence_token_and_constraint():
    with pytest.raises(
        tw.NotInLanguageError, match=r"y: sequence 1, token 1 \('A'\).*precedes\('A', 'T'\)"
    ):
        fitted([at_most(1, "T"), precedes("A", "T")])
    with pytest.raises(tw.NotInLanguageError, match=r"sequence 2, at the end.*at_least\(1, 'Y'\)"):
        fitted(at_least(1, "Y"))
    with pytest.raises(tw.NotInLanguageError, match=r"sequence 0, token 1 \('T'\).*where"):
        fitted(where(token(regex="b")).allow("A"))


def test_conflicts_of_partial_labels():
    names = [["A", None, "Y"], ["T", None, None], Y[2], Y[3]]
    tagger = tw.CRFTagger(features="word[0]", constraints=[at_most(0, "Y"), at_least(1, "Y")])
    with pytest.raises(tw.NotInLanguageError, match="sequence 0"):
        tagger.fit(X, names)
    rules = [starts_with("A", "T"), ~at_least(2, "A")]
    with pytest.raises(tw.NotInLanguageError, match=r"sequence 2, .*at_least\(2, 'A'\)"):
        tw.CRFTagger(features="word[0]", constraints=rules).fit(
            X, [["A", None, "Y"], ["T", None, None], ["A", "T", {"A"}], Y[3]]
        )


def test_skipping_conflicts_counts_them(caplog):
    with caplog.at_level(logging.WARNING):
        tagger = fitted(precedes("A", "T"), on_conflict="skip")
    assert tagger.n_skipped_ == 1
    assert "1 of 4 training sequences" in caplog.text
    same = tw.CRFTagger(
        features="word[0]", l2=0.1, transitions="all", max_iter=30, constraints=precedes("A", "T")
    ).fit([X[0], *X[2:]], [Y[0], *Y[2:]])
    assert tagger.loss_ == pytest.approx(same.loss_)
    with pytest.raises(tw.DataError, match="all 4 break one") as raised:
        fitted(starts_with("Y"), on_conflict="skip")
    assert "on_conflict" not in str(raised.value)


def test_sequences_that_no_labels_would_fit_are_not_blamed_on_the_labels():
    message = r"y: sequence 0: no labelling of 5 tokens satisfies at_least\(6, 'A'\)\. Leave"
    with pytest.raises(tw.NotInLanguageError, match=message):
        tw.CRFTagger(features="word[0]", constraints=at_least(6, "A")).fit(
            [["a"] * 5, ["b"] * 6], [[None] * 5, ["A"] * 6]
        )


def test_sample_weights_follow_what_is_skipped():
    weights = [1.0, 5.0, 2.0, 0.5]
    options = {"features": "word[0]", "constraints": precedes("A", "T"), "max_iter": 20}
    tagger = tw.CRFTagger(on_conflict="skip", **options).fit(X, Y, sample_weight=weights)
    same = tw.CRFTagger(**options).fit(
        [X[0], *X[2:]], [Y[0], *Y[2:]], sample_weight=[1.0, 2.0, 0.5]
    )
    assert tagger.loss_ == pytest.approx(same.loss_)


def test_decode_only_constraints_may_contradict_the_gold_labels(caplog):
    with caplog.at_level(logging.WARNING):
        tagger = fitted(precedes("A", "T"), constrained_training=False)
    assert "1 of 4" in caplog.text
    assert tagger.n_skipped_ == 0
    assert tagger.predict([X[1]]) != [Y[1]]
    free = fitted(())
    np.testing.assert_allclose(tagger.model_.transitions, free.model_.transitions)


def test_constraints_beyond_the_budget_are_said(caplog):
    rules = plan(
        tw.LabelSet(["A", "T", "Y"]), [at_most(1, "T"), at_most(2, "A")], training_budget=16
    )
    with caplog.at_level(logging.WARNING):
        under = Denominator.choose(rules, X, Y, trained=True, on_conflict="error")
    assert "without 1 constraints" in caplog.text
    assert "at_most(2, 'A')" in caplog.text
    assert under.automaton.n_arcs == rules.training.automaton.n_arcs


def test_too_many_token_tests_are_said_in_training(caplog):
    rules = [changes_only_at(token(regex=f"x{i}") | YEAR | token(regex="[ab]")) for i in range(7)]
    with caplog.at_level(logging.WARNING):
        fitted(rules, max_iter=1)
    assert "without 1 constraints beyond 6 token tests: changes_only_at" in caplog.text
    assert "read 7 token tests, and 6 are the most" in caplog.text
    assert "Join tests" in caplog.text
    assert "arcs" not in caplog.text


INFEASIBLE = (at_least(2, "A"), starts_with("T"), at_most(5, "Y"))


def test_infeasible_sentences(caplog):
    tagger = fitted(INFEASIBLE, constrained_training=False)
    long, short = ["b", "a", "b", "a"], ["a", "b", "a"]
    message = r"sequence 1: No labelling of 3 tokens satisfies both at_least\(2, 'A'\) and starts"
    for verb in (tagger.predict, tagger.decode, tagger.predict_marginals):
        with pytest.raises(tw.InfeasibleError, match=message):
            verb([long, short])
    tagger.set_params(on_infeasible="relax")
    with caplog.at_level(logging.WARNING):
        first, second = tagger.decode([long, short])
    assert "1 of 2 sequences" in caplog.text
    assert (first.status, first.violations) == ("optimal", {})
    assert (second.status, second.violations) == ("relaxed", {"starts_with('T')": 1})
    assert tagger.predict([long, short]) == [first.labels, second.labels]
    kept = [*labellings(tagger, short, (INFEASIBLE[0], INFEASIBLE[2]))]
    assert tuple(second.labels) in kept
    probabilities = [p for _, p in tagger.predict_nbest([long, short], 50)[1]]
    assert len(probabilities) == len(kept)
    assert sum(probabilities) == pytest.approx(1.0)
    np.testing.assert_allclose(tagger.predict_marginals([long, short])[1].sum(axis=1), 1.0)
    assert np.isfinite(tagger.log_probability([long, short], [first.labels, second.labels])).all()
    tagger.set_params(on_infeasible="unconstrained")
    assert tagger.decode([short])[0].status == "unconstrained"
    assert tagger.predict([short]) == fitted(()).predict([short])


def test_known_labels_under_constraints():
    tagger = fitted()
    sentence = ["b", "a", "b", "3"]
    known = [["A", None, {"T", "A"}, None]]
    found = tagger.predict([sentence], known=known)[0]
    paths = {
        names: score
        for names, score in labellings(tagger, sentence, RULES).items()
        if names[0] == "A" and names[2] in ("T", "A")
    }
    assert tuple(found) == max(paths, key=paths.get)
    with pytest.raises(tw.InfeasibleError, match="labels given as known"):
        tagger.predict([sentence], known=[["T", "A", "T", None]])


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
    from trelliswork.persist import read_model_file, write_model_file

    settings, arrays = read_model_file(path)
    change(settings["parameters"])
    settings["training"].pop("n_skipped", None)
    settings.pop("plan", None)
    write_model_file(path, settings, arrays)


def test_dev_set_is_decoded_under_constraints():
    tagger = fitted(RULES, dev_every=1, patience=3)
    other = tw.CRFTagger(features="word[0]", constraints=RULES, dev_every=1).fit(
        X, Y, dev=(X[:2], [Y[0], Y[1]])
    )
    assert other.dev_score_ is not None
    assert tagger.plan_.placements == other.plan_.placements


def test_span_probability_of_a_tagger():
    tagger = fitted()
    sentence = ["b", "a", "a", "3"]
    paths = labellings(tagger, sentence, RULES)
    log_z = log_sum_exp(list(paths.values()))
    spans = [(i, j, n) for i in range(4) for j in range(i + 1, 5) for n in "ATY"]
    (found,) = tagger.span_probability([sentence], [spans])
    for span, p in zip(spans, found, strict=True):
        inside = [
            s
            for names, s in paths.items()
            if span in [tuple(x) for x in tagger.labels_.spans(names)]
        ]
        assert p == pytest.approx(np.exp(log_sum_exp(inside) - log_z))
    with pytest.raises(ValueError, match="spans"):
        tagger.span_probability([sentence], [])
    with pytest.raises(tw.DataError, match=r"expected a list of \(start, end, name\), got 0"):
        tagger.span_probability(X[:1], [(0, 1, "T")])


def test_saved_settings_are_plain_json(tmp_path):
    fitted().save(tmp_path / "m.tw")
    with safetensors.safe_open(tmp_path / "m.tw", "np") as stream:
        settings = json.loads(stream.metadata()["settings"])
    assert settings["parameters"]["constraints"] == [repr(rule) for rule in RULES]


@pytest.mark.parametrize("rules", [RULES, (changes_only_at(YEAR), at_most(1, "T"))])
def test_empty_batches_and_empty_sequences(rules):
    tagger = fitted(rules, constrained_training=False)
    assert tagger.predict([]) == tagger.decode([]) == tagger.predict_marginals([]) == []
    assert tagger.predict_nbest([], 2) == tagger.span_probability([], []) == []
    assert tagger.log_probability([], []).shape == tagger.probability_of([], rules).shape == (0,)
    assert tagger.predict([[]]) == [[]]
    assert tagger.predict_nbest([[]], 2) == [[([], 1.0)]]
    assert tagger.probability_of([[]], rules).tolist() == [1.0]


def test_other_kinds_of_input():
    dicts = [[{"word": word, "bias": 1.0} for word in sentence] for sentence in X]
    tagger = tw.CRFTagger(constraints=RULES).fit(dicts, Y)
    assert all(
        not rule.violations(y, x)
        for rule in RULES
        for x, y in zip(X, tagger.predict(dicts), strict=True)
    )
    matrices = [np.eye(4)[: len(sentence)] for sentence in X]
    tagger = tw.CRFTagger(constraints=at_most(1, "T")).fit(matrices, Y)
    assert len(tagger.predict(matrices)) == 4
    with pytest.raises((TypeError, ValueError)):
        tw.CRFTagger(constraints=only_on(YEAR, "Y")).fit(matrices, Y)
