from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

import trelliswork as tw
from codl_cases import BASES, U_MORE, X_MORE, Y_MORE, U, X, Y
from same_weights import check_same_weights
from trelliswork.constraints import at_least, at_most, starts_with
from trelliswork.learn.codl import Settings, learn_with_unlabelled
from trelliswork.learn.learner import Learned
from trelliswork.learn.penalties.counts import DOUBT
from trelliswork.learn.pool import UnlabelledPool


def counted(**parameters) -> tw.HMMTagger:
    """Return an HMM with next to no smoothing: probabilities are shares of counts."""
    return tw.HMMTagger(smoothing=1e-9, transition_smoothing=1e-9, **parameters)


def probabilities(tagger: tw.CODLTagger) -> dict[str, list[float]]:
    """Return the probabilities of an HMM of two labels, by kind."""
    model = tagger.model_
    table = np.exp(model.state.weights.reshape(-1, 2)).round(6).tolist()
    found = dict(zip(model.encoder.feature_names(), table, strict=True))
    steps = np.exp(model.transitions).round(6).tolist()
    return {**found, "A →": steps[0], "B →": steps[1]}


class Recording:
    """A learner that remembers its calls."""

    def __init__(self, learner):
        self._learner = learner
        self.structure, self.encoder = learner.structure, learner.encoder
        self.learned, self.shares = [], []

    def learn(self, sequences, names, weights=None):
        self.learned.append((list(sequences), [list(own) for own in names], weights))
        return self._learner.learn(sequences, names, weights)

    def mix(self, first, second, share):
        self.shares.append(share)
        return self._learner.mix(first, second, share)


def recording(base, sequences=X, names=Y, unlabelled=U) -> Recording:
    labels = tw.LabelSet.infer(names)
    return Recording(base._learner(labels, sequences, names, unlabelled))


def test_algorithm_2_by_hand():
    # L, counted:  first A 1/2, B 1/2;  P(a|A) = 1, P(b|B) = 1;  A → B, B → end.
    # "c" was never seen, and a single token ends: A → end has probability 0, so the model says B.
    base = counted(training="L+CI", constraints=starts_with("A"))
    alone = clone(base).fit(X, Y).with_constraints(())
    assert alone.predict(U) == [["B"]]
    tagger = tw.CODLTagger(base, gamma=0.5, cycles=1).fit(X, Y, unlabelled=U)
    # Under the rule it is A, and learn(T):  first A 1;  P(c|A) = 1;  A → end;  B never seen, so
    # that each of its three ways on has 1/3. Half of each:
    found = probabilities(tagger)
    assert found["first"] == [0.75, 0.25]
    assert found["word=a"][0] == 0.5
    assert found["word=c"][0] == 0.5
    assert found["A →"] == [0.0, 0.5]
    assert found["last"] == [0.5, pytest.approx(2 / 3, abs=1e-6)]
    assert found["B →"] == pytest.approx([1 / 6, 1 / 6], abs=1e-6)
    # The weights have learned the rule by now.
    assert tagger.with_constraints(()).predict(U) == [["A"]]
    first, second = tagger.curve_
    assert (first.iteration, first.changed, first.violations_before) == (0, None, None)
    assert (second.iteration, second.changed) == (1, 1.0)
    assert (second.violations_before, second.violations_after) == (1.0, 0.0)
    assert tagger.stop_reason_ == "cycles"
    # The second cycle finds the labels of the first again, and learns the same from them.
    longer = tw.CODLTagger(base, gamma=0.5, cycles=9, tol=0.0).fit(X, Y, unlabelled=U)
    assert probabilities(longer) == found
    assert (longer.n_iter_, longer.stop_reason_) == (2, "converged")
    assert [cycle.changed for cycle in longer.curve_] == [None, 1.0, 0.0]
    assert longer.curve_[2].violations_before == 0.0


def test_every_cycle_learns_from_the_unlabelled_part_alone():
    learner = recording(counted(training="L+CI", constraints=starts_with("A")))
    settings = Settings(gamma=0.25, cycles=2, tol=-1.0)
    run = learn_with_unlabelled(learner, (X, Y), UnlabelledPool(U), settings)
    assert [(own, names) for own, names, _ in learner.learned] == [
        (X, Y),
        (U, [["A"]]),
        (U, [["A"]]),
    ]
    assert learner.shares == [0.25, 0.25]
    assert (run.reason, run.kept) == ("cycles", 2)


def test_the_labelled_part_too():
    learner = recording(counted(training="L+CI", constraints=starts_with("A")))
    settings = Settings(gamma=0.5, cycles=1, include_labelled=True)
    learn_with_unlabelled(learner, (X, Y), UnlabelledPool(U), settings)
    assert learner.learned[1][:2] == (U + X, [["A"], *Y])


def test_penalties_are_mixed():
    rule = at_most(1, "B").soft()
    names = [*Y, ["B", "A", "B"]]
    tagger = tw.CODLTagger(counted(constraints=rule), gamma=0.25, cycles=1)
    tagger.fit([*X, ["b", "a", "b"]], names, unlabelled=[["a"], ["a", "b"]])
    labelled, guessed = np.log(3 / (1 + DOUBT)), np.log(3 / DOUBT)  # 1 of 3 breaks it; 0 of 2
    assert tagger.penalties_[repr(rule)] == pytest.approx(0.25 * labelled + 0.75 * guessed)


def test_hard_rules_stay_hard():
    tagger = tw.CODLTagger(counted(constraints=starts_with("A")), cycles=1)
    assert tagger.fit(X, Y, unlabelled=U).plan_.penalties.tolist() == [np.inf]


@pytest.mark.parametrize("base", BASES)
def test_all_of_gamma_is_the_supervised_model(base):
    learner = recording(BASES[base], X_MORE, Y_MORE, U_MORE)
    alone = learner.learn(X_MORE, Y_MORE).model
    tagger = tw.CODLTagger(BASES[base], gamma=1.0, cycles=2)
    tagger.fit(X_MORE, Y_MORE, unlabelled=U_MORE)
    found, expected = tagger.model_.trellis(U_MORE), alone.trellis(U_MORE)
    assert found.scores == pytest.approx(expected.scores, abs=1e-9)
    assert tagger.model_.transitions == pytest.approx(alone.transitions, abs=1e-9)


@pytest.mark.parametrize("base", BASES)
def test_any_base_learns_and_keeps_to_the_rules(base):
    rule = starts_with("A")
    tagger = tw.CODLTagger(BASES[base], rule, gamma=0.5, cycles=3)
    tagger.fit(X_MORE, Y_MORE, unlabelled=U_MORE)
    assert all(labels[0] == "A" for labels in tagger.predict(U_MORE))
    assert tagger.curve_[1].violations_before > 0
    assert tagger.curve_[1].violations_after == 0
    assert BASES[base].constraints == ()
    assert not hasattr(BASES[base], "model_")
    again = clone(tagger).fit(X_MORE, Y_MORE, unlabelled=U_MORE)
    check_same_weights(again, tagger, counted=base != "crf")


def test_labels_of_the_unlabelled_part_are_never_read():
    lies = tw.Corpus.from_lists(U_MORE, [["Z"] * len(own) for own in U_MORE])
    base = BASES["hmm"]
    told = tw.CODLTagger(base, cycles=2).fit(X_MORE, Y_MORE, unlabelled=lies)
    plain = tw.CODLTagger(base, cycles=2).fit(X_MORE, Y_MORE, unlabelled=U_MORE)
    assert told.labels_.names == ("A", "B", "C")
    assert np.array_equal(told.model_.state.weights, plain.model_.state.weights)


def test_constraints_replace_those_of_the_base():
    base = counted(training="L+CI", constraints=starts_with("A"))
    free = tw.CODLTagger(base, (), gamma=0.5, cycles=1).fit(X, Y, unlabelled=U)
    assert free.plan_.constraints == ()  # self-training
    assert free.predict(U) == [["B"]]


@pytest.mark.parametrize("k", [2, 3, 50])
def test_weights_of_the_best_labellings(k):
    tagger = clone(BASES["hmm"]).set_params(constraints=starts_with("A")).fit(X_MORE, Y_MORE)
    found = UnlabelledPool(U_MORE).label(Learned(tagger.model_, tagger.plan_), k, temperature=2.0)
    for u, best in enumerate(tagger.decode_nbest(U_MORE, k)):
        own = [i for i, number in enumerate(found.numbers) if number == u]
        share = np.exp(np.array([one.score for one in best]) / 2.0)
        assert [found.names[i] for i in own] == [one.labels for one in best]
        assert found.weights[own] == pytest.approx(share / share.sum())
        assert found.weights[own].sum() == pytest.approx(1.0)
        assert found.best[u] == best[0].labels


def test_the_k_best_are_learned_from_by_weight():
    learner = recording(counted(training="L+CI"))
    settings = Settings(gamma=0.5, cycles=1, labelling="topk", k=2)
    learn_with_unlabelled(learner, (X, Y), UnlabelledPool([["c"], ["b"]]), settings)
    sequences, names, weights = learner.learned[1]
    assert sequences == [["c"], ["c"], ["b"], ["b"]]
    assert names[2:] == [["B"], ["A"]]
    assert weights.reshape(2, 2).sum(axis=1) == pytest.approx([1.0, 1.0])


def test_posteriors_are_expectation_maximisation():
    base = tw.HMMTagger()
    tagger = tw.CODLTagger(base, (), gamma=0.5, cycles=1, labelling="posterior")
    tagger.fit(X_MORE, Y_MORE, unlabelled=U_MORE)
    learner = base._learner(tw.LabelSet.infer(Y_MORE), X_MORE, Y_MORE, U_MORE)
    first = learner.learn(X_MORE, Y_MORE)
    expected = learner.mix(first.model, learner.learn_expected(U_MORE, first).model, 0.5)
    assert tagger.model_.state.weights == pytest.approx(expected.state.weights)
    assert tagger.model_.pattern_weights == pytest.approx(expected.pattern_weights)


def test_posteriors_under_constraints():
    rule = starts_with("A")
    tagger = tw.CODLTagger(tw.HMMTagger(training="L+CI"), rule, labelling="posterior", cycles=1)
    tagger.fit(X_MORE, Y_MORE, unlabelled=U_MORE)
    base = tw.HMMTagger(training="L+CI", constraints=rule)
    learner = base._learner(tw.LabelSet.infer(Y_MORE), X_MORE, Y_MORE, U_MORE)
    first = learner.learn(X_MORE, Y_MORE)
    expected = learner.mix(first.model, learner.learn_expected(U_MORE, first).model, 0.9)
    assert tagger.model_.state.weights == pytest.approx(expected.state.weights)
    assert all(labels[0] == "A" for labels in tagger.predict(U_MORE))


@pytest.mark.parametrize("is_soft", [True, False])
def test_posteriors_under_too_many_constraints(is_soft):
    names = [f"L{i}" for i in range(14)]
    rules = [at_most(2, name).soft() if is_soft else at_most(2, name) for name in names]
    base = tw.HMMTagger(constraints=rules, labels=names)
    with pytest.raises(tw.TooLargeError, match="Use labelling='topk'"):
        tw.CODLTagger(base, labelling="posterior").fit(X, Y, unlabelled=[["a"] * 6])


def test_labels_that_training_does_not_show():
    rule = starts_with("A", "editor").soft()
    with pytest.raises(tw.LabelError, match="editor"):
        tw.CODLTagger(counted(constraints=rule)).fit(X, Y, unlabelled=U)
    tagger = tw.CODLTagger(counted(constraints=rule, labels=["editor"]), cycles=1)
    assert tagger.fit(X, Y, unlabelled=U).labels_.names == ("A", "B", "editor")


def test_unsatisfiable_sentences_are_left_out(caplog):
    base = counted(training="L+CI", constraints=at_least(2, "A"))
    tagger = tw.CODLTagger(base, cycles=1).fit(
        X_MORE, Y_MORE, unlabelled=[["a"], ["a", "b", "a"], ["b"]]
    )
    assert tagger.curve_[1].n_infeasible == 2
    assert "2 of 3 unlabelled sequences" in caplog.text
    with pytest.raises(tw.DataError, match="no labelling of any"):
        tw.CODLTagger(base, cycles=1).fit(X_MORE, Y_MORE, unlabelled=[["a"]])


@pytest.mark.parametrize("labelling", ["top1", "topk", "posterior"])
def test_unsatisfiable_sentences_teach_nothing(labelling):
    both = [at_least(1, "A"), at_least(1, "B")]
    fits = ["a", "zz"]  # one token cannot have both labels

    def learned(unlabelled):
        tagger = tw.CODLTagger(counted(constraints=both), gamma=0.0, cycles=1, labelling=labelling)
        return tagger.fit(X, Y, unlabelled=unlabelled)

    with_one, without = learned([["a"], fits]), learned([fits])
    assert with_one.curve_[1].n_infeasible == 1
    assert with_one.model_.transitions == pytest.approx(without.model_.transitions)
    with pytest.raises(tw.DataError, match="no labelling of any of them does"):
        learned([["a"], ["b"]])


def test_several_labellings_settle_with_their_scores():
    tagger = tw.CODLTagger(tw.HMMTagger(), gamma=0.5, cycles=100, labelling="posterior", tol=1e-4)
    tagger.fit(X_MORE, Y_MORE, unlabelled=U_MORE)
    # The best labels are those of the cycle before long before the shares of the others settle.
    assert tagger.curve_[2].changed == 0.0
    scores = np.array([cycle.mean_score for cycle in tagger.curve_[1:]])
    changes = np.abs(np.diff(scores)) / (1 + np.abs(scores[1:]))
    assert changes[-1] <= 1e-4 < changes[:-1].min()
