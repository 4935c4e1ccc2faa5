"""Taggers under constraints: every verb, infeasible sentences, other constraints."""

from __future__ import annotations

import logging

import numpy as np
import pytest
from sklearn.base import clone

import trelliswork as tw
from oracle import log_sum_exp
from ruled_tagger import RULES, YEAR, X, Y, fitted, labellings
from trelliswork import inference
from trelliswork.constraints import (
    at_least,
    at_most,
    changes_only_at,
    only_on,
    starts_with,
    where,
)


@pytest.mark.parametrize("trained", [True, False])
def test_every_verb_obeys(trained):
    tagger = fitted(constrained_training=trained)
    new = [["b", "a", "b", "3"], ["a", "1", "a"], ["b"]]
    for b, sentence in enumerate(new):
        paths = labellings(tagger, sentence, RULES)
        log_z = log_sum_exp(list(paths.values()))
        ranked = sorted(paths, key=paths.get, reverse=True)
        scores = [pytest.approx(paths[names], abs=1e-9) for names in ranked]
        assert paths[tuple(tagger.predict(new)[b])] == scores[0]
        decoding = tagger.decode(new)[b]
        assert isinstance(decoding, tw.Decoding)
        assert paths[tuple(decoding.labels)] == scores[0]
        assert decoding.score == decoding.upper_bound == scores[0]
        assert (decoding.gap, decoding.status, decoding.violations) == (0.0, "optimal", {})
        nbest = tagger.predict_nbest(new, 4)[b]
        assert [paths[tuple(labels)] for labels, _ in nbest] == scores[:4]
        assert len({tuple(labels) for labels, _ in nbest}) == len(nbest)
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
    assert ruled.plan_.training.hard_rules == ()
    refitted = clone(ruled).fit(X, [["A", "T", "Y"]] * 3 + [["T", "Y"]])
    assert refitted.plan_.training.hard_rules == (0,)
    ruled.save(tmp_path / "m.tw")
    loaded = tw.load(tmp_path / "m.tw")
    assert loaded.plan_.budgets() == {"training_budget": 0, "decoding_budget": 1_000}
    assert loaded.constrained_training is True


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
